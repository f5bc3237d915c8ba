//! One writer at a time: SQLite allows no more for a database, and waits by sleeping and retrying. Here
//! writers wait for a condition variable.
//!
//! A transaction that is expected to write may take the lock when it begins to read. Until it has written,
//! that is an expectation: a writer that has waited for longer than [`GRACE_PERIOD`] takes the lock from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::metrics;
use super::points::{COND_GATE, LOCK_GATE};
use tare::sync::{Condvar, Mutex};

/// How long a writer waits for a transaction that has only read: it would have written by now.
pub const GRACE_PERIOD: Duration = Duration::from_millis(10);

/// How long a transaction that reads now and may write later waits for another such one. An idle one costs it
/// this time.
const READER_PERIOD: Duration = Duration::from_millis(50);

/// How long a transaction that reads now and may write later waits for one that has written. If it reads
/// meanwhile, its snapshot is too old for a write, and its work is lost.
const WRITER_PERIOD: Duration = Duration::from_millis(250);

/// How long it waits for all of them. Other than a writer, it can go on without the lock.
const EXPECT_PERIOD: Duration = Duration::from_secs(1);

/// The number of the last guard. A session may have a guard whose lock was taken from it, and another one.
static LAST_GUARD: AtomicU64 = AtomicU64::new(0);

/// The guard that has the right to write.
#[derive(Debug)]
struct Holder {
    guard: u64,
    /// Its transaction has only read.
    expects: bool,
}

/// The right to write to one database.
#[derive(Debug)]
pub struct WriteLock {
    holder: Mutex<Option<Holder>>,
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

/// A session's right to write, until it is dropped. It belongs to a transaction, not to a thread.
#[derive(Debug)]
pub struct WriteGuard {
    lock: Arc<WriteLock>,
    number: u64,
    /// Its row of metadata_locks.
    metadata_lock: Option<tare::metadata::MetadataLock>,
}

impl WriteGuard {
    /// The guard with its row of metadata_locks.
    pub fn with_metadata_lock(mut self, lock: tare::metadata::MetadataLock) -> Self {
        self.metadata_lock = Some(lock);
        self
    }

    /// Turns an expectation into the right to write. False when another session has taken it.
    pub fn confirm(&self) -> bool {
        let mut holder = self.lock.holder.lock();
        match &mut *holder {
            Some(holder) if holder.guard == self.number => {
                holder.expects = false;
                true
            }
            _ => false,
        }
    }
}

impl WriteLock {
    fn grant(self: &Arc<Self>, holder: &mut Option<Holder>, expects: bool) -> WriteGuard {
        let number = LAST_GUARD.fetch_add(1, Ordering::Relaxed) + 1;
        *holder = Some(Holder {
            guard: number,
            expects,
        });
        WriteGuard {
            lock: self.clone(),
            number,
            metadata_lock: None,
        }
    }

    /// Waits for the right to write, and counts the wait; `None` when it took longer than `at_most`, or
    /// `stop` returned true (it is called every [`STOP_CHECK_INTERVAL`]). Returns the milliseconds waited, too.
    pub fn acquire(
        self: &Arc<Self>,
        at_most: Duration,
        stop: impl FnMut() -> bool,
    ) -> (Option<WriteGuard>, u64) {
        metrics::LOCK_ROW_LOCK_WAITS.add(1);
        let since = Instant::now();
        let guard = self.wait(at_most, stop);
        let waited = since.elapsed().as_millis() as u64;
        metrics::LOCK_ROW_LOCK_TIME.add(waited);
        (guard, waited)
    }

    fn wait(
        self: &Arc<Self>,
        at_most: Duration,
        mut stop: impl FnMut() -> bool,
    ) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        let since = Instant::now();
        while let Some(now) = &*holder {
            let waited = since.elapsed();
            if now.expects && waited >= GRACE_PERIOD {
                break;
            }
            let left = at_most.saturating_sub(waited);
            if left.is_zero() || stop() {
                return None;
            }
            let timeout = if now.expects {
                GRACE_PERIOD
            } else {
                STOP_CHECK_INTERVAL
            };
            self.left.wait_for(&mut holder, left.min(timeout));
        }
        Some(self.grant(&mut holder, false))
    }

    /// Takes the right to write if no session has it.
    pub fn try_acquire(self: &Arc<Self>) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        holder.is_none().then(|| self.grant(&mut holder, false))
    }

    /// Takes the right to write if no session has more than an expectation.
    pub fn try_acquire_from_readers(self: &Arc<Self>) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        let is_free = holder.as_ref().is_none_or(|holder| holder.expects);
        is_free.then(|| self.grant(&mut holder, false))
    }

    /// For a transaction that reads now and may write later: takes the right to write if no session has it.
    pub fn try_expect(self: &Arc<Self>) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        holder.is_none().then(|| self.grant(&mut holder, true))
    }

    /// The same, and waits as long as the lock passes from one transaction to the next: for each that only reads
    /// at most [`READER_PERIOD`], for each that writes [`WRITER_PERIOD`], together [`EXPECT_PERIOD`]. `stop` as in
    /// [`acquire`](Self::acquire).
    pub fn expect(self: &Arc<Self>, mut stop: impl FnMut() -> bool) -> Option<WriteGuard> {
        let mut holder = self.holder.lock();
        let began = Instant::now();
        let (mut since, mut before) = (began, None);
        while let Some(now) = &*holder {
            let present = Some((now.guard, now.expects));
            if present != before {
                (since, before) = (Instant::now(), present);
            }
            let period = match now.expects {
                true => READER_PERIOD,
                false => WRITER_PERIOD,
            };
            let left = period.saturating_sub(since.elapsed());
            let left = left.min(EXPECT_PERIOD.saturating_sub(began.elapsed()));
            if left.is_zero() || stop() {
                return None;
            }
            self.left
                .wait_for(&mut holder, left.min(STOP_CHECK_INTERVAL));
        }
        Some(self.grant(&mut holder, true))
    }
}

/// How often a waiting session checks whether it has to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.metadata_lock = None;
        let mut holder = self.lock.holder.lock();
        if holder.as_ref().is_some_and(|h| h.guard == self.number) {
            *holder = None;
            self.lock.left.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_takes_the_lock_of_an_expectation_but_not_of_a_writer() {
        let lock = Arc::new(WriteLock::default());
        let reader = lock.expect(|| false).expect("nobody has it");
        let (writer, _) = lock.acquire(Duration::from_secs(20), || false);
        let writer = writer.expect("a reader gives way");
        assert!(!reader.confirm(), "the reader has lost it");
        drop(reader);
        assert!(lock.try_acquire().is_none(), "the writer still has it");
        assert!(lock.expect(|| false).is_none());
        assert!(
            lock.acquire(Duration::from_millis(30), || false)
                .0
                .is_none()
        );
        assert!(lock.acquire(Duration::from_secs(20), || true).0.is_none());
        assert!(lock.expect(|| true).is_none(), "it has to stop");
        drop(writer);
        let reader = lock.expect(|| false).expect("free again");
        assert!(lock.expect(|| false).is_none(), "an idle one stays");
        assert!(lock.try_acquire().is_none());
        drop(
            lock.try_acquire_from_readers()
                .expect("a reader gives way at once"),
        );
        assert!(!reader.confirm());
        let reader = lock.expect(|| false).expect("free again");
        assert!(reader.confirm());
        assert!(lock.try_acquire_from_readers().is_none(), "it writes");
        assert!(
            lock.acquire(Duration::from_millis(30), || false)
                .0
                .is_none()
        );
    }
}
