//! setup_meters, setup_metrics, setup_loggers: what MySQL's telemetry would export, and how often.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use tare_mysql::error::SqlError;
use tare_mysql::series::Series::V9_7;

use crate::cell::Cell;
use crate::describe::{Change, Key, Spec, Table, Update, YES_NO, col, null};
use crate::filter::Filter;
use crate::record::Rows;
use crate::telemetry::{LOGGERS as LOGGER_COUNT, METERS as METER_COUNT, Telemetry};
use crate::view::View;

/// MySQL's meters, in its order, each with what its metrics count.
#[rustfmt::skip] // One meter, one line.
const METERS: [(&str, &str); METER_COUNT] = [
    ("mysql.inno", "InnoDB"),
    ("mysql.inno.buffer_pool", "InnoDB's buffer pool"),
    ("mysql.inno.data", "what InnoDB reads and writes in its files"),
    ("mysql.TempTable", "engine TempTable"),
    ("mysql.stats", "the server as a whole"),
    ("mysql.stats.com", "statements by their command"),
    ("mysql.stats.connection", "connections, and those that failed"),
    ("mysql.stats.handler", "calls of storage engines"),
    ("mysql.stats.ssl", "TLS"),
    ("mysql.myisam", "MyISAM's key cache"),
    ("mysql.perf_schema", "what performance_schema lost"),
];

/// Meter, metric, kind, unit and status variable of each metric of MySQL 9.7.4.
const METRICS: &str = include_str!("metrics.tsv");

/// MySQL's loggers, in its order.
const LOGGERS: [(&str, &str); LOGGER_COUNT] = [
    ("logger/sql/error_log", "The error log."),
    ("logger/sql/slow_log", "The slow query log."),
    ("logger/sql/general_log", "The general query log."),
];

/// What a logger exports, from nothing to everything, by the enum's numbers less one.
const LEVELS: [&str; 5] = ["none", "error", "warn", "info", "debug"];

/// The largest MEDIUMINT UNSIGNED.
const MAX_SECONDS: i64 = 0xff_ffff;

/// The settings of a source that stores none.
fn defaults() -> &'static Telemetry {
    static DEFAULTS: OnceLock<Telemetry> = OnceLock::new();
    DEFAULTS.get_or_init(Telemetry::default)
}

/// The source's settings, or the defaults.
pub(crate) fn settings(view: &View) -> &Telemetry {
    match view.source.telemetry() {
        Some(settings) => settings,
        None => defaults(),
    }
}

/// The settings, where they can be changed.
fn writable_settings<'v>(view: &'v View, table: &str) -> Result<&'v Telemetry, SqlError> {
    let refused = || {
        let why = format!("{table} can be changed in a server only: no server answers here");
        SqlError::new(1235, why)
    };
    view.source.telemetry().ok_or_else(refused)
}

/// Loggers, meters and metrics beyond their limits.
pub(crate) fn lost(view: &View) -> [usize; 3] {
    let settings = settings(view);
    [
        LOGGER_COUNT.saturating_sub(settings.loggers()),
        METER_COUNT.saturating_sub(settings.meters()),
        METRICS.lines().count().saturating_sub(settings.metrics()),
    ]
}

struct Meter {
    at: usize,
    seconds: u32,
    enabled: bool,
}

fn meters(view: &View, _: &Filter) -> Result<Rows<Meter>, SqlError> {
    let settings = settings(view);
    let rows: [Meter; METER_COUNT] = std::array::from_fn(|at| Meter {
        at,
        seconds: settings.seconds[at].load(Relaxed),
        enabled: settings.enabled[at].load(Relaxed),
    });
    Ok(Box::new(rows.into_iter().take(settings.meters())))
}

/// A number of seconds: 1048, 1264 or 1366.
fn seconds(change: &Change) -> Result<u32, SqlError> {
    let (column, value) = (change.column, change.value.as_deref());
    let text = value
        .ok_or_else(|| SqlError::cannot_be_null(column))?
        .trim();
    let number: f64 = text.parse().map_err(|_| {
        let message = format!("Incorrect integer value: '{text}' for column '{column}' at row 1");
        SqlError::new(1366, message)
    })?;
    match number.round() as i64 {
        seconds @ 0..=MAX_SECONDS => Ok(seconds as u32),
        _ => Err(SqlError::out_of_range(column)),
    }
}

fn set_meter(view: &View, at: i64, changes: &[Change]) -> Result<(), SqlError> {
    let settings = writable_settings(view, "setup_meters")?;
    let at = at as usize;
    for change in changes {
        match change.column {
            "ENABLED" => settings.enabled[at].store(change.yes_no()?, Relaxed),
            _ => settings.seconds[at].store(seconds(change)?, Relaxed),
        }
    }
    Ok(())
}

#[rustfmt::skip] // One column, one line.
static SETUP_METERS: Spec<Meter> = Spec::new(
    "performance_schema",
    "setup_meters",
    "Groups of metrics, as MySQL's telemetry exports them. tare serve exports none: it keeps what \
     is set here until it ends, as a MySQL without the telemetry component.",
    &[&[
        col("NAME", "varchar(63)", "The meter.", |r: &Meter| METERS[r.at].0.into()),
        col("FREQUENCY", "mediumint unsigned", "Seconds between two exports; can be updated.", |r| i64::from(r.seconds).into()),
        col("ENABLED", YES_NO, "Whether it is exported; can be updated.", |r| Cell::yes_no(r.enabled)),
        null("DESCRIPTION", "varchar(1023)", "What it counts.", |r| Cell::owned(format!("Metrics of {}.", METERS[r.at].1))),
    ]],
    meters,
)
.keys(&[Key::Primary(&["NAME"])])
.expect(11)
.since(V9_7)
.update(
    |r| r.at as i64,
    Update {
        columns: &["FREQUENCY", "ENABLED"],
        apply: set_meter,
    },
);

struct Metric {
    meter: &'static str,
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    variable: &'static str,
}

fn metric(line: &'static str) -> Option<Metric> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    Some(Metric {
        meter: next()?,
        name: next()?,
        kind: match next()? {
            "gauge" => "ASYNC GAUGE COUNTER",
            _ => "ASYNC COUNTER",
        },
        unit: next()?,
        variable: next()?,
    })
}

#[rustfmt::skip] // One column, one line.
static SETUP_METRICS: Spec<Metric> = Spec::new(
    "performance_schema",
    "setup_metrics",
    "The metrics of setup_meters. Each is a status variable under another name.",
    &[&[
        col("NAME", "varchar(63)", "The metric.", |r: &Metric| r.name.into()),
        col("METER", "varchar(63)", "Its meter.", |r| r.meter.into()),
        col("METRIC_TYPE", "enum('ASYNC COUNTER','ASYNC UPDOWN COUNTER','ASYNC GAUGE COUNTER')", "Its type.", |r| r.kind.into()),
        col("NUM_TYPE", "enum('INTEGER','DOUBLE')", "What its values are.", |_| "INTEGER".into()),
        null("UNIT", "varchar(63)", "Its unit: By is bytes.", |r| r.unit.into()),
        null("DESCRIPTION", "varchar(1023)", "Its status variable.", |r| Cell::owned(format!("Status variable {}.", r.variable))),
    ]],
    |view, _| {
        let metrics = METRICS.lines().filter_map(metric);
        Ok(Box::new(metrics.take(settings(view).metrics())))
    },
)
.keys(&[Key::Primary(&["NAME"])])
.expect(369)
.since(V9_7);

struct Logger {
    at: usize,
    level: usize,
}

fn loggers(view: &View, _: &Filter) -> Result<Rows<Logger>, SqlError> {
    let settings = settings(view);
    let rows: [Logger; LOGGER_COUNT] = std::array::from_fn(|at| Logger {
        at,
        level: settings.levels[at].load(Relaxed).into(),
    });
    Ok(Box::new(rows.into_iter().take(settings.loggers())))
}

fn set_logger(view: &View, at: i64, changes: &[Change]) -> Result<(), SqlError> {
    let settings = writable_settings(view, "setup_loggers")?;
    for change in changes {
        let value = change.value.as_deref();
        let text = value.ok_or_else(|| SqlError::cannot_be_null(change.column))?;
        let text = text.trim();
        let by_number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
        let level = LEVELS
            .iter()
            .position(|level| level.eq_ignore_ascii_case(text));
        let level = level.or_else(|| by_number(text).filter(|n| *n < LEVELS.len()));
        let level = level.ok_or_else(|| SqlError::data_truncated(change.column))?;
        settings.levels[at as usize].store(level as u8, Relaxed);
    }
    Ok(())
}

/// MySQL's type of LEVEL.
const LEVEL: &str = "enum('none','error','warn','info','debug')";

#[rustfmt::skip] // One column, one line.
static SETUP_LOGGERS: Spec<Logger> = Spec::new(
    "performance_schema",
    "setup_loggers",
    "Logs, as MySQL's telemetry exports them. tare serve exports none: it keeps what is set here \
     until it ends, as a MySQL without the telemetry component.",
    &[&[
        col("NAME", "varchar(128)", "The logger.", |r: &Logger| LOGGERS[r.at].0.into()),
        col("LEVEL", LEVEL, "The least severe one exported; can be updated.", |r| LEVELS[r.level].into()),
        null("DESCRIPTION", "varchar(1023)", "The log.", |r| LOGGERS[r.at].1.into()),
    ]],
    loggers,
)
.expect(3)
.since(V9_7)
.update(
    |r| r.at as i64,
    Update {
        columns: &["LEVEL"],
        apply: set_logger,
    },
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&SETUP_LOGGERS, &SETUP_METERS, &SETUP_METRICS];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_is_of_a_meter_and_has_a_status_variable() {
        let metrics: Vec<Metric> = METRICS.lines().filter_map(metric).collect();
        assert_eq!(metrics.len(), 369);
        for metric in metrics {
            let of_meter = |(name, _): &(&str, &str)| *name == metric.meter;
            assert!(METERS.iter().any(of_meter), "{}", metric.meter);
            assert!(
                metric.variable.starts_with(char::is_uppercase),
                "{}",
                metric.name
            );
        }
    }

    #[test]
    fn seconds_are_a_mediumint() {
        let of = |value: Option<&str>| {
            seconds(&Change {
                column: "FREQUENCY",
                value: value.map(Into::into),
            })
            .map_err(|error| error.code)
        };
        assert_eq!(of(Some("0")), Ok(0));
        assert_eq!(of(Some("16777215")), Ok(16_777_215));
        for (value, code) in [
            (None, 1048),
            (Some("-1"), 1264),
            (Some("16777216"), 1264),
            (Some("abc"), 1366),
        ] {
            assert_eq!(of(value), Err(code), "{value:?}");
        }
    }
}
