//! The load of a server: calls, active sessions, and the top wait. It takes one query per interval in addition
//! to the page's.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use crate::observe::{ObservedServer, QueryError, integer, text};
use crate::output::Cell;

/// Idle connections and conditions do not count as waits, and commands that last as long as their
/// connection do not count as activity.
const QUERY: &str = "SELECT 'calls', '', SUM(COUNT_STAR) \
     FROM performance_schema.events_statements_summary_global_by_event_name UNION ALL \
     SELECT 'active', '', COUNT(*) FROM performance_schema.threads WHERE TYPE = 'FOREGROUND' AND PROCESSLIST_ID <> CONNECTION_ID() \
     AND COALESCE(PROCESSLIST_COMMAND, 'Sleep') NOT IN ('Sleep', 'Daemon', 'Connect', 'Binlog Dump', 'Binlog Dump GTID') UNION ALL \
     SELECT 'wait', EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name \
     WHERE SUM_TIMER_WAIT > 0 AND EVENT_NAME <> 'idle' AND EVENT_NAME NOT LIKE 'wait/synch/cond/%'";

/// The query of this module.
pub fn queries() -> [&'static str; 1] {
    [QUERY]
}

/// Stored intervals, more than the width of any screen.
const MAX_INTERVALS: usize = 500;

/// The load of an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Its length.
    pub seconds: f64,
    /// Statements a second, without `tare top`'s own.
    pub calls: f64,
    /// Sessions that ran a statement at its end, without `tare top`'s own.
    pub active: f64,
    /// The wait that took most time.
    pub wait: Option<Wait>,
}

/// A wait in an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// Its instrument.
    pub name: String,
    /// Picoseconds waited in a second of the interval.
    pub ps: f64,
}

/// The last intervals, the newest last.
#[derive(Debug, Clone, Default)]
pub struct LoadHistory(VecDeque<Load>);

impl LoadHistory {
    /// Adds an interval.
    pub fn push(&mut self, load: Load) {
        if self.0.len() == MAX_INTERVALS {
            self.0.pop_front();
        }
        self.0.push_back(load);
    }

    /// The newest.
    pub fn last(&self) -> Option<&Load> {
        self.0.back()
    }

    /// The newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Load> {
        self.0.iter().rev()
    }
}

/// Counters at a moment.
#[derive(Debug, Clone, Default)]
pub struct LoadCounters {
    calls: i128,
    active: i128,
    waits: HashMap<String, i128>,
}

impl LoadCounters {
    /// From the rows of the query.
    pub fn from_rows(rows: &[Vec<Cell>]) -> Self {
        let mut counted = Self::default();
        for row in rows {
            let [what, name, n] = &row[..] else { continue };
            let n = integer(n).unwrap_or(0);
            match (text(what).as_deref(), text(name)) {
                (Some("calls"), _) => counted.calls = n,
                (Some("active"), _) => counted.active = n,
                (_, Some(name)) => {
                    counted.waits.insert(name, n);
                }
                _ => {}
            }
        }
        counted
    }

    /// Reads them.
    pub fn read(observed: &mut ObservedServer) -> Result<Self, QueryError> {
        Ok(Self::from_rows(&observed.rows(QUERY)?))
    }

    /// Sessions that run a statement.
    pub fn active(&self) -> u64 {
        u64::try_from(self.active).unwrap_or(0)
    }

    /// The load since then, without `own` statements of `tare top`. A counter that fell was reset, and
    /// counts from zero.
    pub fn since(&self, before: &Self, seconds: f64, own: u64) -> Load {
        let grown = |now: i128, had: i128| if now < had { now } else { now - had };
        let calls = grown(self.calls, before.calls) - i128::from(own);
        let waits = self.waits.iter().map(|(name, now)| {
            let had = before.waits.get(name).copied().unwrap_or(0);
            (grown(*now, had), name)
        });
        // Equal times are ordered by name.
        let top = waits.filter(|(ps, _)| *ps > 0).max();
        Load {
            seconds,
            calls: calls.max(0) as f64 / seconds,
            active: self.active as f64,
            wait: top.map(|(ps, name)| Wait {
                name: name.clone(),
                ps: ps as f64 / seconds,
            }),
        }
    }
}

/// Reads the load repeatedly.
#[derive(Default)]
pub struct LoadReader {
    last: Option<(Instant, LoadCounters, u64)>,
    /// The server refused the query.
    refused: bool,
}

impl LoadReader {
    /// Reads the load. `None` the first time, or if the server refuses the query.
    pub fn read(&mut self, observed: &mut ObservedServer) -> Result<Option<Load>, QueryError> {
        if self.refused {
            return Ok(None);
        }
        let own = observed.statements_sent;
        let rows = match observed.rows(QUERY) {
            Ok(rows) => rows,
            Err(QueryError::Refused(_)) => {
                self.refused = true;
                return Ok(None);
            }
            Err(lost) => return Err(lost),
        };
        let (now, counted) = (Instant::now(), LoadCounters::from_rows(&rows));
        let before = self.last.replace((now, counted.clone(), own));
        Ok(before.map(|(then, before, had)| {
            let seconds = now.duration_since(then).as_secs_f64().max(1e-3);
            counted.since(&before, seconds, own - had)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(calls: u64, waits: &[(&str, u64)]) -> LoadCounters {
        let row = |what: &str, name: &str, n: u64| {
            vec![
                Cell::Text(what.into()),
                Cell::Text(name.into()),
                Cell::Decimal(n.to_string()),
            ]
        };
        let mut rows = vec![row("calls", "", calls), row("active", "", 3)];
        rows.extend(waits.iter().map(|(name, n)| row("wait", name, *n)));
        LoadCounters::from_rows(&rows)
    }

    #[test]
    fn an_interval_has_its_calls_and_the_wait_that_took_most() {
        let before = counted(100, &[("wait/a", 900), ("wait/b", 10)]);
        let now = counted(311, &[("wait/a", 910), ("wait/b", 70), ("wait/c", 8)]);
        let load = now.since(&before, 2.0, 11);
        assert_eq!((load.calls, load.active), (100.0, 3.0));
        let wait = load.wait.expect("somebody waited");
        assert_eq!((wait.name.as_str(), wait.ps), ("wait/b", 30.0));
    }

    #[test]
    fn a_reset_counter_counts_from_zero() {
        let before = counted(100, &[("wait/a", 900)]);
        let load = counted(10, &[("wait/a", 0)]).since(&before, 1.0, 12);
        assert_eq!((load.calls, load.wait), (0.0, None));
    }

    #[test]
    fn no_more_intervals_are_stored_than_a_screen_displays() {
        let mut history = LoadHistory::default();
        let load = counted(0, &[]).since(&LoadCounters::default(), 1.0, 0);
        for n in 0..2 * MAX_INTERVALS {
            history.push(Load {
                calls: n as f64,
                ..load.clone()
            });
        }
        assert_eq!(history.newest().count(), MAX_INTERVALS);
        assert_eq!(
            history.last().map(|load| load.calls),
            Some(2.0 * MAX_INTERVALS as f64 - 1.0)
        );
    }
}
