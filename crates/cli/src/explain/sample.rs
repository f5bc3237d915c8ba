//! The events that a server has counted, instrument by instrument, and their cost.

use std::collections::HashMap;

use super::calibrate::Host;
use super::stock;
use crate::observe::{About, ObservedServer, Product, QueryError, integer, real, text};
use crate::output::Cell;

/// The events of an instrument, up to a moment or in an interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meter {
    /// wait, stage, statement, transaction, memory, idle.
    pub event_type: String,
    /// Whether its events are timed.
    pub timed: bool,
    /// Events.
    pub count: f64,
    /// Timed events.
    pub count_timed: f64,
    /// The time that they measured, in nanoseconds.
    pub measured_ns: f64,
    /// Clock reads.
    pub reads: f64,
    /// CPU for the clock reads, in nanoseconds.
    pub timer_ns: f64,
    /// CPU for storing times.
    pub recording_ns: f64,
    /// CPU for counting.
    pub counting_ns: f64,
    /// Events of `count` that sampling did not observe.
    pub left_out: f64,
    /// Variance of `count`.
    pub variance: f64,
}

impl Meter {
    /// CPU that counting instead of timing would save.
    pub fn timing_ns(&self) -> f64 {
        (self.timer_ns + self.recording_ns).max(0.0)
    }

    /// The total cost.
    pub fn cost_ns(&self) -> f64 {
        self.timing_ns() + self.counting_ns
    }

    /// The observed share of its events.
    pub fn observed_share(&self) -> f64 {
        match self.count > 0.0 {
            true => ((self.count - self.left_out) / self.count).clamp(0.0, 1.0),
            false => 1.0,
        }
    }

    /// Half the 95 % interval of the count, in percent of the count, if the count is an estimate.
    pub fn error_percent(&self) -> Option<f64> {
        (self.left_out > 0.0).then(|| 100.0 * 1.96 * self.variance.sqrt() / self.count)
    }

    fn minus(&self, before: &Self) -> Self {
        // The counter was reset since `before`, so that its value is the growth.
        if before.count > self.count {
            return self.clone();
        }
        Self {
            count: self.count - before.count,
            count_timed: self.count_timed - before.count_timed,
            measured_ns: self.measured_ns - before.measured_ns,
            reads: (self.reads - before.reads).max(0.0),
            left_out: (self.left_out - before.left_out).max(0.0),
            variance: (self.variance - before.variance).max(0.0),
            ..self.clone()
        }
    }
}

/// Meters by instrument.
pub type Meters = HashMap<String, Meter>;

/// Reads the status variable Questions; `None` for a program that has none.
pub fn read_questions(observed: &mut ObservedServer) -> Result<Option<f64>, QueryError> {
    match observed.rows("SHOW GLOBAL STATUS LIKE 'Questions'") {
        Ok(rows) => Ok(rows.first().and_then(|row| text(row.get(1)?)?.parse().ok())),
        Err(QueryError::Refused(_)) => Ok(None),
        Err(lost) => Err(lost),
    }
}

/// Statements of an interval: the counted ones or, if their instruments are off, the growth of Questions.
pub fn statements(meters: &Meters, questions: Option<f64>) -> f64 {
    let counted = counted(meters);
    if counted > 0.0 {
        counted
    } else {
        questions.unwrap_or(0.0)
    }
}

/// Counted statements that clients sent.
fn counted(meters: &Meters) -> f64 {
    let statements = meters.iter().filter(|(name, _)| is_of_client(name));
    statements.fold(0.0, |sum, (_, meter)| sum + meter.count)
}

/// Whether an instrument counts statements that clients send.
fn is_of_client(name: &str) -> bool {
    name.starts_with("statement/")
        && !name.starts_with("statement/sp/")
        && !name.starts_with("statement/abstract/")
}

/// The growth between two moments.
pub fn growth(before: &Meters, after: &Meters) -> Meters {
    let nothing = Meter::default();
    let growth = after.iter().map(|(name, meter)| {
        (
            name.clone(),
            meter.minus(before.get(name).unwrap_or(&nothing)),
        )
    });
    growth.filter(|(_, meter)| meter.count > 0.0).collect()
}

/// Event type, summary, column of counts, column of times.
const SUMMARIES: [(&str, &str, &str, &str); 5] = [
    (
        "wait",
        "events_waits_summary_global_by_event_name",
        "COUNT_STAR",
        "SUM_TIMER_WAIT",
    ),
    (
        "stage",
        "events_stages_summary_global_by_event_name",
        "COUNT_STAR",
        "SUM_TIMER_WAIT",
    ),
    (
        "statement",
        "events_statements_summary_global_by_event_name",
        "COUNT_STAR",
        "SUM_TIMER_WAIT",
    ),
    (
        "transaction",
        "events_transactions_summary_global_by_event_name",
        "COUNT_STAR",
        "SUM_TIMER_WAIT",
    ),
    (
        "memory",
        "memory_summary_global_by_event_name",
        "COUNT_ALLOC + COUNT_FREE",
        "0",
    ),
];

/// Reads all summaries.
pub fn read_meters(observed: &mut ObservedServer) -> Result<Meters, QueryError> {
    let mut meters = Meters::new();
    for (event_type, table, count, sum) in SUMMARIES {
        let question = format!(
            "SELECT EVENT_NAME, {count}, {sum} FROM performance_schema.{table} WHERE {count} > 0"
        );
        let rows = match observed.rows(&question) {
            Ok(rows) => rows,
            // Older servers lack some of these tables.
            Err(QueryError::Refused(_)) => continue,
            Err(lost) => return Err(lost),
        };
        for row in rows {
            let Some(name) = row.first().and_then(text) else {
                continue;
            };
            let number = |at: usize| row.get(at).and_then(integer).unwrap_or(0) as f64;
            let meter = Meter {
                event_type: if name == "idle" { "idle" } else { event_type }.to_owned(),
                count: number(1),
                measured_ns: number(2) / 1e3,
                ..Meter::default()
            };
            meters.insert(name, meter);
        }
    }
    match observed.about.product {
        Product::Tare => read_tare_costs(observed, &mut meters)?,
        _ => read_stock_timing(observed, &mut meters)?,
    }
    Ok(meters)
}

/// Reads the number of timed events from Tare's engine.
fn read_tare_costs(observed: &mut ObservedServer, meters: &mut Meters) -> Result<(), QueryError> {
    let question =
        "SELECT event_name, timed, count_timed, timer_reads FROM tare.cost_by_event_name";
    for row in observed.rows(question)? {
        let name = row.first().and_then(text).unwrap_or_default();
        let Some(meter) = meters.get_mut(&name) else {
            continue;
        };
        let number = |at: usize| row.get(at).and_then(integer).unwrap_or(0) as f64;
        meter.timed = row.get(1).and_then(text).as_deref() == Some("YES");
        meter.count_timed = number(2);
        meter.reads = number(3);
    }
    read_estimates(observed, meters)
}

/// Reads how many events sampling left out, and the errors of the estimates.
fn read_estimates(observed: &mut ObservedServer, meters: &mut Meters) -> Result<(), QueryError> {
    let question = "SELECT event_name, events_represented, events_observed, count_error FROM tare.sampling_by_instrument";
    let rows = match observed.rows(question) {
        Ok(rows) => rows,
        // An older version of Tare has no such table.
        Err(QueryError::Refused(_)) => return Ok(()),
        Err(lost) => return Err(lost),
    };
    for row in rows {
        let name = row.first().and_then(text).unwrap_or_default();
        if let Some(meter) = meters.get_mut(&name) {
            let number = |at: usize| row.get(at).and_then(real).unwrap_or(0.0);
            meter.left_out = (number(1) - number(2)).max(0.0);
            meter.variance = number(3) * number(3);
        }
    }
    Ok(())
}

/// Reads which instruments of a stock server are timed.
fn read_stock_timing(observed: &mut ObservedServer, meters: &mut Meters) -> Result<(), QueryError> {
    let timed = read_timed(observed)?;
    for (name, meter) in meters.iter_mut() {
        meter.timed = timed.get(name).copied().unwrap_or(false);
        if meter.timed {
            meter.count_timed = meter.count;
            meter.reads = meter.count * stock::reads(&meter.event_type);
        }
    }
    Ok(())
}

/// Reads how many texts Tare's engine has parsed for unknown digests.
pub fn count_texts_read(observed: &mut ObservedServer) -> Result<f64, QueryError> {
    let read = observed.text(
        "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Tare_digest_texts_read'",
    )?;
    Ok(read.and_then(|read| read.parse().ok()).unwrap_or(0.0))
}

/// Reads the mean length of a statement's text.
pub fn mean_text_bytes(observed: &mut ObservedServer) -> Result<f64, QueryError> {
    let bytes = observed.text(
        "SELECT SUM(COUNT_STAR * LENGTH(QUERY_SAMPLE_TEXT)) / SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_by_digest",
    )?;
    Ok(bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0.0))
}

/// Consumers that are on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consumers(Vec<String>);

impl Consumers {
    /// Consumers by their names.
    pub fn new(names: impl Iterator<Item = String>) -> Self {
        Self(names.collect())
    }

    /// Reads the consumers of a server.
    pub fn query(observed: &mut ObservedServer) -> Result<Self, QueryError> {
        let rows = observed
            .rows("SELECT NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES'")?;
        Ok(Self::new(rows.iter().filter_map(|row| text(row.first()?))))
    }

    /// The histories among them.
    pub fn histories(&self) -> impl Iterator<Item = &str> {
        let names = self.0.iter().map(String::as_str);
        names.filter(|name| name.starts_with("events_") && name.contains("_history"))
    }

    /// Whether one is on.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|on| on == name)
    }
}

/// Computes the cost of an interval's events. `consumers` are a stock server's.
pub fn price(
    meters: &mut Meters,
    about: &About,
    host: &Host,
    timers: &HashMap<String, String>,
    statements: f64,
    consumers: &Consumers,
) {
    // If the number of statements is unknown, every event counts as the first of its instrument in a statement.
    let firsts = if statements > 0.0 {
        statements
    } else {
        f64::INFINITY
    };
    for (name, meter) in meters.iter_mut() {
        let timer = timers
            .get(&meter.event_type)
            .map_or("CYCLE", String::as_str);
        meter.timer_ns = meter.reads * host.read(timer);
        (meter.counting_ns, meter.recording_ns) = match about.product {
            Product::Tare => {
                let unit = host.units.for_instrument(name);
                let (counting, timing) = unit.price(meter.count, meter.count_timed, firsts);
                let (counting, timing) = (
                    counting * meter.observed_share(),
                    timing * meter.observed_share(),
                );
                // The measured cost contains the clock reads.
                (counting, timing - meter.reads * host.read("CYCLE"))
            }
            _ => {
                let unit = stock::unit(about, &meter.event_type, consumers);
                let of_type = format!("events_{}s_history", meter.event_type);
                let written = (consumers.histories())
                    .filter(|name| name.starts_with(&of_type))
                    .count() as f64;
                let clients = if is_of_client(name) { meter.count } else { 0.0 };
                // A prepared statement's digest is computed when it is prepared.
                let texts = if name.starts_with("statement/sql/") {
                    meter.count
                } else {
                    0.0
                };
                let scale = match unit.read_ns > 0.0 {
                    true => host.read(timer) / unit.read_ns,
                    false => 1.0,
                };
                let first = firsts.min(meter.count);
                let first_timed = first * meter.count_timed / meter.count.max(1.0);
                let timing = meter.count_timed * unit.timing_ns + first_timed * unit.first_ns.1;
                (
                    meter.count * (unit.counting_ns + written * unit.history_ns)
                        + first * unit.first_ns.0
                        + clients * unit.client_ns
                        + texts * unit.digest_ns,
                    timing * scale - meter.timer_ns,
                )
            }
        };
    }
}

fn read_timed(observed: &mut ObservedServer) -> Result<HashMap<String, bool>, QueryError> {
    let rows = observed.rows(
        "SELECT NAME, TIMED FROM performance_schema.setup_instruments WHERE ENABLED = 'YES'",
    )?;
    let pair = |row: &Vec<Cell>| {
        Some((
            text(row.first()?)?,
            text(row.get(1)?).as_deref() == Some("YES"),
        ))
    };
    Ok(rows.iter().filter_map(pair).collect())
}

/// Reads the timer of each event type, and the name of the table where it can be changed: Tare's, or
/// that of MySQL up to 5.7 and MariaDB.
pub fn read_timers(
    observed: &mut ObservedServer,
) -> Result<(HashMap<String, String>, Option<&'static str>), QueryError> {
    for table in ["tare.setup_timers", "performance_schema.setup_timers"] {
        match observed.rows(&format!("SELECT NAME, TIMER_NAME FROM {table}")) {
            Ok(rows) if !rows.is_empty() => {
                let pair = |row: &Vec<Cell>| Some((text(row.first()?)?, text(row.get(1)?)?));
                return Ok((rows.iter().filter_map(pair).collect(), Some(table)));
            }
            Ok(_) | Err(QueryError::Refused(_)) => {}
            Err(lost) => return Err(lost),
        }
    }
    Ok((fixed_timers(), None))
}

/// The default timers of stock servers.
pub fn fixed_timers() -> HashMap<String, String> {
    let fixed = [
        ("idle", "MICROSECOND"),
        ("wait", "CYCLE"),
        ("stage", "NANOSECOND"),
        ("statement", "NANOSECOND"),
        ("transaction", "NANOSECOND"),
    ];
    (fixed.into_iter())
        .map(|(event, timer)| (event.to_owned(), timer.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_counted_or_else_the_growth_of_questions() {
        let of = |name: &str, count: f64| {
            let meter = Meter {
                count,
                ..Meter::default()
            };
            (name.to_owned(), meter)
        };
        let waits: Meters = [of("wait/io/file/a", 70.0)].into();
        assert_eq!(statements(&waits, Some(7.0)), 7.0);
        assert_eq!(statements(&waits, None), 0.0);
        let both: Meters = [of("wait/io/file/a", 70.0), of("statement/sql/select", 6.0)].into();
        assert_eq!(statements(&both, Some(7.0)), 6.0);
    }

    #[test]
    fn a_clients_statement_and_an_event_in_a_history_cost_more() {
        let about = About::from_version(Product::MySql, "5.7.22");
        let cost = |name: &str, event_type: &str, histories: &[&str]| {
            let meter = Meter {
                event_type: event_type.into(),
                count: 100.0,
                ..Meter::default()
            };
            let mut meters: Meters = [(name.to_owned(), meter)].into();
            let consumers = Consumers::new(histories.iter().map(|&name| name.to_owned()));
            let (host, timers) = (Host::default(), HashMap::new());
            price(&mut meters, &about, &host, &timers, 100.0, &consumers);
            meters[name].cost_ns()
        };
        let none = Consumers::default();
        let wait = stock::unit(&about, "wait", &none);
        let statement = stock::unit(&about, "statement", &none);
        let plain = 100.0 * statement.counting_ns;
        assert_eq!(cost("statement/sp/stmt", "statement", &[]), plain);
        assert_eq!(
            cost(
                "statement/sql/select",
                "statement",
                &["events_waits_history"]
            ),
            plain + 100.0 * statement.client_ns
        );
        let histories = [
            "events_waits_history",
            "events_waits_history_long",
            "events_stages_history",
        ];
        let extra =
            cost("wait/io/file/a", "wait", &histories) - cost("wait/io/file/a", "wait", &[]);
        assert!(wait.history_ns > 0.0 && (extra - 200.0 * wait.history_ns).abs() < 1e-6);
    }

    #[test]
    fn only_growth_costs() {
        let at = |count: f64| -> Meters {
            [(
                "wait/a".to_owned(),
                Meter {
                    count,
                    reads: count * 2.0,
                    ..Meter::default()
                },
            )]
            .into()
        };
        let growth_of_5 = growth(&at(10.0), &at(15.0));
        let meter = &growth_of_5["wait/a"];
        assert_eq!((meter.count, meter.reads), (5.0, 10.0));
        assert_eq!(growth(&at(10.0), &at(4.0))["wait/a"].count, 4.0);
        assert!(growth(&at(10.0), &at(10.0)).is_empty());
    }
}
