//! Sessions that wait for a row lock of the storage engine. No instrument of a stock server has these waits:
//! such a session is on CPU, or in a wait for its table.

use std::time::{Duration, Instant};

use tare_reader::scheduler::State;

use crate::blocks::LockReading;
use crate::sample::Sample;
use crate::status::ServerStatus;

/// The wait of a session that waits for a row lock, as samples have it.
pub const ROW_LOCK_WAIT: &str = "wait/lock/row/innodb";

/// Statements must have run this long before it is asked whether they wait for a row lock.
const MIN_STATEMENT: Duration = Duration::from_millis(10);

/// A session that waits for another's row lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLockWait {
    /// The session that waits.
    pub waiting: u64,
    /// The session that holds the lock.
    pub blocking: u64,
    /// For how long it has waited, if that is known.
    pub wait_ns: Option<u64>,
}

/// Reads who waits for whose row locks.
pub trait RowLocks {
    /// The waits, which may be up to a second old, and when they were read. A server that does not answer in time
    /// has none.
    fn read(&mut self) -> (Vec<RowLockWait>, Instant);

    /// Who waits for whom now, for locks of all kinds, and deadlocks since the last call. A session is known to
    /// wait for a row lock if `has_row_waits`.
    fn read_locks(&mut self, has_row_waits: bool) -> LockReading {
        let _ = has_row_waits;
        LockReading::default()
    }

    /// The status of the server; `None` if the target is no MySQL or MariaDB.
    fn read_status(&mut self) -> Option<ServerStatus> {
        None
    }
}

/// A server whose row locks cannot be read.
pub struct NoRowLocks;

impl RowLocks for NoRowLocks {
    fn read(&mut self) -> (Vec<RowLockWait>, Instant) {
        (Vec::new(), Instant::now())
    }
}

/// Whether any of these sessions may wait for a row lock, so that it is worth a query.
pub fn may_wait(samples: &[Sample]) -> bool {
    samples.iter().any(|sample| {
        let age = sample.statement_ns.map(Duration::from_nanos);
        sample.statement.is_some()
            && has_possible_wait(sample)
            && age.is_none_or(|age| age > MIN_STATEMENT)
    })
}

/// Whether one of these sessions waits for a row lock.
pub fn has_row_waits(samples: &[Sample]) -> bool {
    let mut waits = samples.iter().filter_map(|sample| sample.wait.as_deref());
    waits.any(|wait| wait == ROW_LOCK_WAIT)
}

/// Marks the samples of sessions that wait. `waits` have THREAD_IDs, and are `age` old.
pub fn mark(samples: &mut [Sample], waits: &[RowLockWait], age: Duration) {
    for wait in waits {
        let is_waiting = |sample: &&mut Sample| {
            let began_before = |ns| Duration::from_nanos(ns) >= age;
            sample.thread_id == wait.waiting
                && has_possible_wait(sample)
                && sample.statement_ns.is_none_or(began_before)
        };
        if let Some(sample) = samples.iter_mut().find(is_waiting) {
            sample.wait = Some(ROW_LOCK_WAIT.into());
            sample.operation = None;
            sample.wait_ns = wait.wait_ns.or(sample.wait_ns).or(sample.statement_ns);
            sample.blocker = Some(wait.blocking);
            if sample.state == Some(State::Blocked) {
                sample.state = Some(State::Waiting);
                sample.system_call = None;
            }
        }
    }
}

/// Whether a session that waits for a row lock could be in this wait and state. InnoDB sleeps inside the wait
/// for the table, on a condition.
fn has_possible_wait(sample: &Sample) -> bool {
    if matches!(sample.state, Some(State::OnCpu | State::WaitingForCpu)) {
        return false;
    }
    let possible = ["wait/io/table/", "wait/synch/"];
    (sample.wait.as_deref()).is_none_or(|wait| possible.iter().any(|begin| wait.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(thread_id: u64, wait: Option<&str>, statement_ns: u64) -> Sample {
        Sample {
            thread_id,
            statement: Some("statement/sql/update".into()),
            statement_ns: Some(statement_ns),
            wait: wait.map(Into::into),
            ..Sample::default()
        }
    }

    #[test]
    fn sessions_that_wait_are_marked_and_others_are_not() {
        const SECOND: u64 = 1_000_000_000;
        let table = Some("wait/io/table/sql/handler");
        let mut samples = [
            sample(1, None, 2 * SECOND),
            sample(2, table, 2 * SECOND),
            sample(3, Some("wait/lock/metadata/sql/mdl"), 2 * SECOND),
            // It runs another statement than the one that waited.
            sample(4, None, SECOND / 10),
            // It runs: the lock has been granted meanwhile.
            Sample {
                state: Some(State::OnCpu),
                ..sample(6, table, 2 * SECOND)
            },
        ];
        samples[0].state = Some(State::Blocked);
        let wait = |waiting, wait_ns| RowLockWait {
            waiting,
            blocking: 9,
            wait_ns,
        };
        let waits = [
            wait(1, Some(7)),
            wait(2, None),
            wait(3, None),
            wait(4, None),
            wait(5, None),
            wait(6, None),
        ];
        mark(&mut samples, &waits, Duration::from_millis(500));
        let waits = samples.iter().map(|sample| sample.wait.as_deref());
        let (row, mdl) = (Some(ROW_LOCK_WAIT), Some("wait/lock/metadata/sql/mdl"));
        assert_eq!(waits.collect::<Vec<_>>(), [row, row, mdl, None, table]);
        let blockers = samples.iter().map(|sample| sample.blocker);
        assert_eq!(
            blockers.collect::<Vec<_>>(),
            [Some(9), Some(9), None, None, None]
        );
        assert_eq!(samples[0].state, Some(State::Waiting));
        assert_eq!(samples[0].wait_ns, Some(7));
        assert_eq!(samples[1].wait_ns, Some(2 * SECOND));
    }

    #[test]
    fn sessions_that_cannot_wait_for_a_row_cause_no_query() {
        let long = 20_000_000;
        assert!(may_wait(&[sample(1, None, long)]));
        assert!(may_wait(&[sample(
            1,
            Some("wait/io/table/sql/handler"),
            long
        )]));
        assert!(!may_wait(&[sample(1, None, 1000)]));
        assert!(!may_wait(&[sample(
            1,
            Some("wait/io/file/sql/binlog"),
            long
        )]));
        assert!(!may_wait(&[Sample::default()]));
    }
}
