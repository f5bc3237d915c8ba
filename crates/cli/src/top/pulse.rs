//! What a server does as a whole: calls, active sessions, and the wait that took most of the interval. One statement
//! an interval beside the page's own.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use crate::observe::{ObservedServer, QueryError, integer, text};
use crate::output::Cell;

/// What threads wait for when they have nothing to do is no wait: idle connections, and conditions. Commands that last as
/// long as their connection are no activity.
const QUESTION: &str = "SELECT 'calls', '', SUM(COUNT_STAR) \
     FROM performance_schema.events_statements_summary_global_by_event_name UNION ALL \
     SELECT 'active', '', COUNT(*) FROM performance_schema.threads WHERE TYPE = 'FOREGROUND' AND PROCESSLIST_ID <> CONNECTION_ID() \
     AND COALESCE(PROCESSLIST_COMMAND, 'Sleep') NOT IN ('Sleep', 'Daemon', 'Connect', 'Binlog Dump', 'Binlog Dump GTID') UNION ALL \
     SELECT 'wait', EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name \
     WHERE SUM_TIMER_WAIT > 0 AND EVENT_NAME <> 'idle' AND EVENT_NAME NOT LIKE 'wait/synch/cond/%'";

/// For whoever leaves out our own statements.
pub fn questions() -> [&'static str; 1] {
    [QUESTION]
}

/// So many intervals are kept: more than any screen is wide.
const MOST: usize = 500;

/// One interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Beat {
    /// Its length.
    pub seconds: f64,
    /// Statements a second, without our own.
    pub calls: f64,
    /// Sessions that ran a statement at its end, without our own.
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
pub struct Pulse(VecDeque<Beat>);

impl Pulse {
    /// One more.
    pub fn push(&mut self, beat: Beat) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(beat);
    }

    /// The newest.
    pub fn last(&self) -> Option<&Beat> {
        self.0.back()
    }

    /// The newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Beat> {
        self.0.iter().rev()
    }
}

/// What was counted at a moment.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    calls: i128,
    active: i128,
    waits: HashMap<String, i128>,
}

impl Counted {
    /// Of an answer.
    pub fn of(rows: &[Vec<Cell>]) -> Self {
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

    /// What happened since then, of which `own` statements were ours. What fell was reset, and counts from zero.
    pub fn since(&self, before: &Self, seconds: f64, own: u64) -> Beat {
        let grown = |now: i128, had: i128| if now < had { now } else { now - had };
        let calls = grown(self.calls, before.calls) - i128::from(own);
        let waits = self.waits.iter().map(|(name, now)| {
            let had = before.waits.get(name).copied().unwrap_or(0);
            (grown(*now, had), name)
        });
        // Of equal ones the same each time.
        let top = waits.filter(|(ps, _)| *ps > 0).max();
        Beat {
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

/// Takes the pulse again and again.
#[derive(Default)]
pub struct Taker {
    last: Option<(Instant, Counted, u64)>,
    /// The account may not ask.
    refused: bool,
}

impl Taker {
    /// Asks. Nothing comes the first time, nor where the server says no.
    pub fn take(&mut self, observed: &mut ObservedServer) -> Result<Option<Beat>, QueryError> {
        if self.refused {
            return Ok(None);
        }
        let own = observed.statements_sent;
        let rows = match observed.rows(QUESTION) {
            Ok(rows) => rows,
            Err(QueryError::Refused(_)) => {
                self.refused = true;
                return Ok(None);
            }
            Err(lost) => return Err(lost),
        };
        let (now, counted) = (Instant::now(), Counted::of(&rows));
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

    fn counted(calls: u64, waits: &[(&str, u64)]) -> Counted {
        let row = |what: &str, name: &str, n: u64| {
            vec![
                Cell::Text(what.into()),
                Cell::Text(name.into()),
                Cell::Decimal(n.to_string()),
            ]
        };
        let mut rows = vec![row("calls", "", calls), row("active", "", 3)];
        rows.extend(waits.iter().map(|(name, n)| row("wait", name, *n)));
        Counted::of(&rows)
    }

    #[test]
    fn an_interval_has_its_calls_and_the_wait_that_took_most() {
        let before = counted(100, &[("wait/a", 900), ("wait/b", 10)]);
        let now = counted(311, &[("wait/a", 910), ("wait/b", 70), ("wait/c", 8)]);
        let beat = now.since(&before, 2.0, 11);
        assert_eq!((beat.calls, beat.active), (100.0, 3.0));
        let wait = beat.wait.expect("somebody waited");
        assert_eq!((wait.name.as_str(), wait.ps), ("wait/b", 30.0));
    }

    #[test]
    fn what_was_reset_counts_from_zero_and_nothing_is_less_than_that() {
        let before = counted(100, &[("wait/a", 900)]);
        let beat = counted(10, &[("wait/a", 0)]).since(&before, 1.0, 12);
        assert_eq!((beat.calls, beat.wait), (0.0, None));
    }

    #[test]
    fn no_more_is_kept_than_a_screen_shows() {
        let mut pulse = Pulse::default();
        let beat = counted(0, &[]).since(&Counted::default(), 1.0, 0);
        for n in 0..2 * MOST {
            pulse.push(Beat {
                calls: n as f64,
                ..beat.clone()
            });
        }
        assert_eq!(pulse.newest().count(), MOST);
        assert_eq!(
            pulse.last().map(|beat| beat.calls),
            Some(2.0 * MOST as f64 - 1.0)
        );
    }
}
