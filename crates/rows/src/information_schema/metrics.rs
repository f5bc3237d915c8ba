//! INNODB_METRICS: the counters and values that the host names itself.

use std::time::{Duration, UNIX_EPOCH};

use tare_reader::Metric;
use tare_reader::metrics::Figures;

use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::time::datetime;

const BIG: &str = "bigint(21)";
const TEXT: &str = "varchar(193)";

fn moment(seconds: Option<u64>) -> Cell<'static> {
    let at = seconds.and_then(|s| UNIX_EPOCH.checked_add(Duration::from_secs(s)));
    Cell::opt(at.map(datetime))
}

#[rustfmt::skip] // One column, one line.
macro_rules! figures {
    ($($part:ident $count:literal $max:literal $min:literal $average:literal $since:literal;)*) => {[$([
        col($count, BIG, concat!("The value ", $since, "."), |m: &Metric| m.$part.count.into()),
        null($max, BIG, concat!("The maximum ", $since, "."), |m| largest(&m.$part)),
        null($min, BIG, concat!("The minimum ", $since, "; NULL for a counter."), |m| Cell::opt(m.$part.min)),
        null($average, "float(12,0)", concat!("The average per second ", $since, "; NULL for a value."), |m| Cell::opt(m.$part.average)),
    ]),*]};
}

fn largest(figures: &Figures) -> Cell<'static> {
    Cell::opt(figures.max)
}

#[rustfmt::skip] // One column, one line.
const NAMES: &[Column<Metric>] = &[
    col("NAME", TEXT, "The metric.", |m| m.name.as_str().into()),
    col("SUBSYSTEM", TEXT, "The subsystem.", |m| m.subsystem.as_str().into()),
];

const FIGURES: [[Column<Metric>; 4]; 2] = figures! {
    ever "COUNT" "MAX_COUNT" "MIN_COUNT" "AVG_COUNT" "since the metric was first enabled";
    since_reset "COUNT_RESET" "MAX_COUNT_RESET" "MIN_COUNT_RESET" "AVG_COUNT_RESET" "since the last reset";
};

#[rustfmt::skip] // One column, one line.
const REST: &[Column<Metric>] = &[
    null("TIME_ENABLED", "datetime", "When the metric was last enabled.", |m| moment(m.enabled_s)),
    null("TIME_DISABLED", "datetime", "When the metric was last disabled.", |m| moment(m.disabled_s)),
    null("TIME_ELAPSED", BIG, "Seconds since the metric was enabled, or from then until it was disabled.", |m| Cell::opt(m.elapsed_s)),
    null("TIME_RESET", "datetime", "When the metric was last reset.", |m| moment(m.reset_s)),
    col("STATUS", TEXT, "enabled or disabled.", |m| Cell::text(if m.enabled { "enabled" } else { "disabled" })),
    col("TYPE", TEXT, "The type: counter, value, status_counter, set_owner or set_member.", |m| Cell::text(m.kind.text())),
    col("COMMENT", TEXT, "What the metric measures.", |m| m.documentation.as_str().into()),
];

static INNODB_METRICS: Spec<Metric> = Spec::new(
    "information_schema",
    "INNODB_METRICS",
    "Metrics that the instrumented program defines. SET GLOBAL innodb_monitor_enable, _disable, \
     _reset and _reset_all control them.",
    &[NAMES, &FIGURES[0], &FIGURES[1], REST],
    |view, _| view.snapshot.metrics(),
)
.expect(60);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&INNODB_METRICS];
