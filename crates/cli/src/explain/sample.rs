//! What a server has counted, instrument by instrument, and what that cost it.

use std::collections::HashMap;

use super::calibrate::{Factors, Host};
use super::stock;
use crate::observe::{Kind, Observed, Trouble, text, whole};
use crate::output::Cell;

/// An instrument up to a moment, or in an interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meter {
    /// wait, stage, statement, transaction, memory, idle.
    pub event_type: String,
    /// Whether its events are timed.
    pub timed: bool,
    /// Events.
    pub count: f64,
    /// What they told: the time that they measured, in nanoseconds.
    pub told_ns: f64,
    /// Clock reads.
    pub reads: f64,
    /// CPU for these, in nanoseconds.
    pub timer_ns: f64,
    /// CPU for keeping times.
    pub recording_ns: f64,
    /// CPU for counting.
    pub counting_ns: f64,
}

impl Meter {
    /// What counting instead of timing would save.
    pub fn timing_ns(&self) -> f64 {
        (self.timer_ns + self.recording_ns).max(0.0)
    }

    /// All of it.
    pub fn cost_ns(&self) -> f64 {
        self.timing_ns() + self.counting_ns
    }

    fn minus(&self, before: &Self) -> Self {
        // Truncated meanwhile: what is there came since.
        if before.count > self.count {
            return self.clone();
        }
        Self {
            count: self.count - before.count,
            told_ns: self.told_ns - before.told_ns,
            reads: self.reads - before.reads,
            timer_ns: self.timer_ns - before.timer_ns,
            recording_ns: self.recording_ns - before.recording_ns,
            counting_ns: self.counting_ns - before.counting_ns,
            ..self.clone()
        }
    }
}

/// The instruments at one moment, by name.
pub type Meters = HashMap<String, Meter>;

/// What came between two moments.
pub fn between(before: &Meters, after: &Meters) -> Meters {
    let nothing = Meter::default();
    let came = after.iter().map(|(name, meter)| {
        (
            name.clone(),
            meter.minus(before.get(name).unwrap_or(&nothing)),
        )
    });
    came.filter(|(_, meter)| meter.count > 0.0).collect()
}

/// Type, summary, what is counted, what is measured.
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

/// Asks.
pub fn take(
    observed: &mut Observed,
    host: &Host,
    timers: &HashMap<String, String>,
) -> Result<Meters, Trouble> {
    let mut meters = Meters::new();
    let is_tare = observed.about.kind == Kind::Tare;
    let timed = if is_tare {
        HashMap::new()
    } else {
        timed(observed)?
    };
    for (event_type, table, count, sum) in SUMMARIES {
        let question = format!(
            "SELECT EVENT_NAME, {count}, {sum} FROM performance_schema.{table} WHERE {count} > 0"
        );
        let rows = match observed.rows(&question) {
            Ok(rows) => rows,
            // Older servers have fewer.
            Err(Trouble::Refused(_)) => continue,
            Err(lost) => return Err(lost),
        };
        for row in rows {
            let Some(name) = row.first().and_then(text) else {
                continue;
            };
            let number = |at: usize| row.get(at).and_then(whole).unwrap_or(0) as f64;
            let event_type = if name == "idle" { "idle" } else { event_type };
            let mut meter = Meter {
                event_type: event_type.to_owned(),
                timed: timed.get(&name).copied().unwrap_or(false),
                count: number(1),
                told_ns: number(2) / 1e3,
                ..Meter::default()
            };
            if !is_tare {
                let unit = stock::unit(&observed.about, event_type);
                let count = if meter.timed { meter.count } else { 0.0 };
                meter.reads = count * unit.reads;
                meter.timer_ns =
                    meter.reads * host.read(timers.get(event_type).map_or("CYCLE", String::as_str));
                meter.recording_ns = count * unit.recording_ns;
                meter.counting_ns = meter.count * unit.counting_ns;
            }
            meters.insert(name, meter);
        }
    }
    if is_tare {
        tares(observed, host, &mut meters)?;
    }
    Ok(meters)
}

/// Tare's engine knows its own cost; what was measured on this host refines it.
fn tares(observed: &mut Observed, host: &Host, meters: &mut Meters) -> Result<(), Trouble> {
    let question = "SELECT event_name, timed, timer_reads, sum_cost_timer, sum_cost_recording, sum_cost_counting FROM tare.cost_by_event_name";
    for row in observed.rows(question)? {
        let Some(meter) = row
            .first()
            .and_then(text)
            .and_then(|name| meters.get_mut(&name))
        else {
            continue;
        };
        let number = |at: usize| row.get(at).and_then(whole).unwrap_or(0) as f64;
        let name = row.first().and_then(text).unwrap_or_default();
        let factor = host.factors.map_or(1.0, |factors| factor(factors, &name));
        meter.timed = row.get(1).and_then(text).as_deref() == Some("YES");
        meter.reads = number(2);
        meter.timer_ns = number(3) / 1e3;
        meter.recording_ns = number(4) / 1e3
            * if meter.event_type == "stage" {
                1.0
            } else {
                factor
            };
        meter.counting_ns = number(5) / 1e3 * factor;
    }
    Ok(())
}

fn factor(factors: Factors, name: &str) -> f64 {
    let is = |prefix: &str| name.starts_with(prefix);
    if is("wait/synch/mutex/") || is("wait/synch/rwlock/") || is("wait/synch/sxlock/") {
        factors.lock
    } else if is("stage/") {
        factors.stage
    } else if is("statement/") {
        factors.statement
    } else {
        factors.wait
    }
}

fn timed(observed: &mut Observed) -> Result<HashMap<String, bool>, Trouble> {
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

/// Which timer each type of event has. From 8.0 on that cannot be chosen.
pub fn timers(observed: &mut Observed) -> Result<(HashMap<String, String>, bool), Trouble> {
    match observed.rows("SELECT NAME, TIMER_NAME FROM performance_schema.setup_timers") {
        Ok(rows) if !rows.is_empty() => {
            let pair = |row: &Vec<Cell>| Some((text(row.first()?)?, text(row.get(1)?)?));
            Ok((rows.iter().filter_map(pair).collect(), true))
        }
        Ok(_) | Err(Trouble::Refused(_)) => {
            let fixed = [
                ("idle", "MICROSECOND"),
                ("wait", "CYCLE"),
                ("stage", "NANOSECOND"),
                ("statement", "NANOSECOND"),
                ("transaction", "NANOSECOND"),
            ];
            Ok((
                fixed
                    .into_iter()
                    .map(|(event, timer)| (event.to_owned(), timer.to_owned()))
                    .collect(),
                false,
            ))
        }
        Err(lost) => Err(lost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_costs() {
        let at = |count: f64| -> Meters {
            [(
                "wait/a".to_owned(),
                Meter {
                    count,
                    timer_ns: count * 20.0,
                    counting_ns: count * 5.0,
                    ..Meter::default()
                },
            )]
            .into()
        };
        let came = between(&at(10.0), &at(15.0));
        assert_eq!(
            (came["wait/a"].count, came["wait/a"].cost_ns()),
            (5.0, 125.0)
        );
        assert_eq!(between(&at(10.0), &at(4.0))["wait/a"].count, 4.0);
        assert!(between(&at(10.0), &at(10.0)).is_empty());
    }

    #[test]
    fn a_factor_belongs_to_its_type() {
        let factors = Factors {
            wait: 1.0,
            lock: 2.0,
            stage: 3.0,
            statement: 4.0,
        };
        let of = |name| factor(factors, name);
        assert_eq!(of("wait/synch/mutex/sql/LOCK_open"), 2.0);
        assert_eq!(of("wait/io/file/sql/binlog"), 1.0);
        assert_eq!(of("stage/sql/init"), 3.0);
        assert_eq!(of("statement/sql/select"), 4.0);
        assert_eq!(of("memory/sql/heap"), 1.0);
    }
}
