//! The present value of a condition's metric.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tare_reader::scheduler::State;

use super::condition::{Condition, Metric};
use crate::query::{Query, QueryError};
use crate::sample::Moment;

/// The time over which sessions are averaged, and the interval between readings of counters.
const PERIOD: Duration = Duration::from_secs(1);

const STATEMENTS: &str = "SELECT SUM(COUNT_STAR), SUM(SUM_ERRORS) \
     FROM performance_schema.events_statements_summary_global_by_event_name";

/// Follows a condition from moment to moment.
#[derive(Debug)]
pub struct Meter {
    condition: Condition,
    cpus: f64,
    /// The sessions of the last second.
    recent: VecDeque<(Instant, f64)>,
    /// The last count of statements or errors.
    count: Option<(Instant, u64)>,
    value: Option<f64>,
    /// Since when the condition has held.
    since: Option<Instant>,
}

impl Meter {
    /// Begins to follow, on a machine with so many CPUs.
    pub fn new(condition: Condition, cpus: f64) -> Self {
        Self {
            condition,
            cpus,
            recent: VecDeque::new(),
            count: None,
            value: None,
            since: None,
        }
    }

    /// The condition.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// The value of the metric, once it is known.
    pub fn value(&self) -> f64 {
        self.value.unwrap_or(0.0)
    }

    /// The condition has to hold anew.
    pub fn restart(&mut self) {
        self.since = None;
    }

    /// Adds a moment. Returns whether the condition has held for its time.
    ///
    /// # Errors
    /// [`QueryError`]: the counters cannot be read.
    pub fn add(
        &mut self,
        moment: &Moment,
        now: Instant,
        server: &mut dyn Query,
    ) -> Result<bool, QueryError> {
        match self.condition.metric() {
            Metric::StatementsPerSecond => self.add_count(0, now, server)?,
            Metric::ErrorsPerSecond => self.add_count(1, now, server)?,
            metric => self.add_sessions(sessions(metric, moment), now),
        }
        let is_met = |value| self.condition.is_met(value, self.cpus);
        self.since = match self.value.is_some_and(is_met) {
            true => self.since.or(Some(now)),
            false => None,
        };
        let holds = |since| now - since >= self.condition.holds_for();
        Ok(self.since.is_some_and(holds))
    }

    /// Whether the condition holds now.
    pub fn is_met(&self) -> bool {
        self.since.is_some()
    }

    fn add_sessions(&mut self, sessions: usize, now: Instant) {
        self.recent.push_back((now, sessions as f64));
        while self.recent.len() > 1
            && self
                .recent
                .front()
                .is_some_and(|(at, _)| now - *at > PERIOD)
        {
            self.recent.pop_front();
        }
        let sum: f64 = self.recent.iter().map(|(_, sessions)| sessions).sum();
        self.value = Some(sum / self.recent.len() as f64);
    }

    fn add_count(
        &mut self,
        column: usize,
        now: Instant,
        server: &mut dyn Query,
    ) -> Result<(), QueryError> {
        if self.count.is_some_and(|(at, _)| now - at < PERIOD) {
            return Ok(());
        }
        let rows = server.query(STATEMENTS)?;
        let text = rows.first().and_then(|row| row.get(column)?.as_deref());
        let count = text.and_then(|text| text.split('.').next()?.parse::<u64>().ok());
        let count = count.unwrap_or(0);
        self.value = self.count.and_then(|(at, before)| {
            // Less than before: the table was truncated.
            let more = count.checked_sub(before)?;
            Some(more as f64 / (now - at).as_secs_f64())
        });
        self.count = Some((now, count));
        Ok(())
    }
}

fn sessions(metric: Metric, moment: &Moment) -> usize {
    let running = (moment.samples.iter()).filter(|sample| sample.statement.is_some());
    let states = running.map(|sample| sample.state);
    match metric {
        Metric::WaitingForCpu => states
            .filter(|state| *state == Some(State::WaitingForCpu))
            .count(),
        Metric::Blocked => {
            let asleep = [Some(State::Waiting), Some(State::Blocked)];
            states.filter(|state| asleep.contains(state)).count()
        }
        _ => states.count(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::query::Answer;
    use crate::sample::Sample;

    /// Answers with counts of statements and errors.
    struct Counts(u64, u64);

    impl Query for Counts {
        fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
            assert_eq!(sql, STATEMENTS);
            let text = |count: u64| Some(count.to_string());
            Ok(vec![vec![text(self.0), text(self.1)]])
        }
    }

    fn moment(states: &[Option<State>]) -> Moment {
        let running = |state: &Option<State>| Sample {
            statement: Some("statement/sql/select".into()),
            state: *state,
            ..Sample::default()
        };
        // A background thread that waits runs no statement.
        let background = Sample {
            wait: Some("wait/io/file/sql/log".into()),
            ..Sample::default()
        };
        Moment {
            at: SystemTime::now(),
            threads: None,
            is_exact: Some(false),
            samples: states.iter().map(running).chain([background]).collect(),
        }
    }

    #[test]
    fn a_condition_holds_while_each_mean_of_a_second_meets_it() {
        let condition = Condition::parse("active_sessions > 1 * cpus for 2s").expect("read");
        let mut meter = Meter::new(condition, 2.0);
        let start = Instant::now();
        let mut add = |tenth: u32, sessions: usize| {
            let states = vec![None; sessions];
            let now = start + tenth * Duration::from_millis(100);
            let mut counts = Counts(0, 0);
            meter
                .add(&moment(&states), now, &mut counts)
                .expect("added")
        };
        for tenth in 0..20 {
            // The mean is 3, though single moments have fewer.
            let sessions = if tenth % 2 == 0 { 5 } else { 1 };
            assert!(!add(tenth, sessions), "{tenth}");
        }
        assert!(add(20, 5));
        // A second of nothing ends it, and the time begins again.
        for tenth in 21..32 {
            add(tenth, 0);
        }
        for tenth in 32..52 {
            assert!(!add(tenth, 5), "{tenth}");
        }
        assert!((52..70).any(|tenth| add(tenth, 5)));
    }

    #[test]
    fn states_are_counted_of_threads_that_run_a_statement() {
        let states = [
            State::OnCpu,
            State::WaitingForCpu,
            State::Waiting,
            State::Blocked,
        ];
        let moment = moment(&states.map(Some));
        assert_eq!(sessions(Metric::ActiveSessions, &moment), 4);
        assert_eq!(sessions(Metric::WaitingForCpu, &moment), 1);
        assert_eq!(sessions(Metric::Blocked, &moment), 2);
    }

    #[test]
    fn rates_are_read_once_a_second_and_begin_again_after_truncation() {
        let condition = Condition::parse("errors_per_second >= 10 for 1s").expect("read");
        let mut meter = Meter::new(condition, 1.0);
        let start = Instant::now();
        let moment = moment(&[]);
        let mut values = Vec::new();
        for (tenths, errors) in [(0, 0), (5, 99), (10, 20), (20, 45), (30, 3), (40, 33)] {
            let now = start + tenths * Duration::from_millis(100);
            meter
                .add(&moment, now, &mut Counts(9, errors))
                .expect("added");
            values.push(meter.value);
        }
        let expected = [None, None, Some(20.0), Some(25.0), None, Some(30.0)];
        assert_eq!(values, expected);
    }
}
