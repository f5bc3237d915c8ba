//! One writer at a time: SQLite allows no more for a database, and its own way to wait is to
//! sleep and try again. Here writers wait in line, and are woken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::metrics;
use super::points::{COND_GATE, LOCK_GATE};
use tare::sync::{Condvar, Mutex};

/// The right to write to one database.
#[derive(Debug)]
pub struct WriteLock {
    holder: Mutex<Option<u64>>,
    left: Condvar,
}

impl Default for WriteLock {
    fn default() -> Self {
        Self {
            holder: Mutex::new(&LOCK_GATE, None),
            left: Condvar::new(&COND_GATE),
        }
    }
}

/// A session has the right to write, until this is dropped. It belongs to a transaction, not to a thread.
#[derive(Debug)]
pub struct WriteGuard {
    of: Arc<WriteLock>,
    /// Its row of metadata_locks.
    shown: Option<tare::metadata::MetadataLock>,
}

impl WriteGuard {
    /// The same, shown in metadata_locks.
    pub fn shown(mut self, lock: tare::metadata::MetadataLock) -> Self {
        self.shown = Some(lock);
        self
    }
}

impl WriteLock {
    /// Waits for the right to write, and counts the wait; `None` when it took longer than `at_most`, or
    /// `stop` said so (it is asked now and then). Returns how many milliseconds it waited, too.
    pub fn acquire(
        self: &Arc<Self>,
        session: u64,
        at_most: Duration,
        stop: impl FnMut() -> bool,
    ) -> (Option<WriteGuard>, u64) {
        metrics::LOCK_ROW_LOCK_WAITS.add(1);
        let since = Instant::now();
        let guard = self.wait(session, at_most, stop);
        let waited = since.elapsed().as_millis() as u64;
        metrics::LOCK_ROW_LOCK_TIME.add(waited);
        (guard, waited)
    }

    fn wait(
        self: &Arc<Self>,
        session: u64,
        at_most: Duration,
        mut stop: impl FnMut() -> bool,
    ) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        if holder.is_some() {
            let deadline = Instant::now() + at_most;
            while holder.is_some() {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() || stop() {
                    return None;
                }
                self.left
                    .wait_for(&mut holder, left.min(Duration::from_millis(100)));
            }
        }
        *holder = Some(session);
        Some(WriteGuard {
            of: self.clone(),
            shown: None,
        })
    }

    /// Takes the right to write if nobody has it.
    pub fn try_acquire(self: &Arc<Self>, session: u64) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        if holder.is_some() {
            return None;
        }
        *holder = Some(session);
        Some(WriteGuard {
            of: self.clone(),
            shown: None,
        })
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.shown = None;
        *self.of.holder.lock() = None;
        self.of.left.notify_one();
    }
}
