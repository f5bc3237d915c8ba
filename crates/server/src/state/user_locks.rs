//! The locks of GET_LOCK. Each is a metadata lock of its session, as in MySQL.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::points::{COND_USER_LOCKS, LOCK_USER_LOCKS, MDL};
use tare::metadata::MetadataLock;
use tare::sync::{Condvar, Mutex};
use tare::{LockDuration, LockStatus, LockType, Namespace};

/// How often a waiting session checks whether it has to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The locks by name, and who waits for which.
#[derive(Debug)]
pub struct UserLocks {
    locks: Mutex<Locks>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Locks {
    held: HashMap<String, Held>,
    /// The lock that a session waits for.
    waiting: HashMap<u64, String>,
}

/// A lock that a session holds.
#[derive(Debug)]
struct Held {
    session: u64,
    /// How often the session has taken it.
    times: u32,
    /// Its row in metadata_locks.
    _row: MetadataLock,
}

/// How waiting for a lock ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The session has it.
    Yes,
    /// Another session has it still.
    Late,
    /// The statement has to end.
    Interrupted,
    /// The sessions wait for one another.
    Deadlock,
}

impl Default for UserLocks {
    fn default() -> Self {
        Self {
            locks: Mutex::new(&LOCK_USER_LOCKS, Locks::default()),
            released: Condvar::new(&COND_USER_LOCKS),
        }
    }
}

impl Locks {
    fn try_take(&mut self, name: &str, session: u64, row: impl FnOnce() -> MetadataLock) -> bool {
        if let Some(held) = self.held.get_mut(name) {
            let is_own = held.session == session;
            held.times += u32::from(is_own);
            return is_own;
        }
        let held = Held {
            session,
            times: 1,
            _row: row(),
        };
        self.held.insert(name.to_owned(), held);
        true
    }

    /// Whether the holder of a lock waits, directly or through others, for a lock of this session.
    fn waits_for(&self, name: &str, session: u64) -> bool {
        let mut name = name;
        // No longer than this without a circle of others.
        for _ in 0..=self.waiting.len() {
            let Some(holder) = self.held.get(name).map(|held| held.session) else {
                return false;
            };
            if holder == session {
                return true;
            }
            match self.waiting.get(&holder) {
                Some(next) => name = next,
                None => return false,
            }
        }
        false
    }
}

fn row(name: &str) -> MetadataLock {
    MetadataLock::new(&MDL, Namespace::UserLevelLock, "", name)
}

impl UserLocks {
    /// Takes a lock unless another session holds it. Returns whether it was taken.
    pub fn try_take(&self, name: &str, session: u64) -> bool {
        self.locks.lock().try_take(name, session, || {
            let mut row = row(name);
            row.granted(LockType::Exclusive, LockDuration::Explicit);
            row
        })
    }

    /// Takes a lock, and waits for it at most so long, and until `stop` returns true.
    pub fn take(
        &self,
        name: &str,
        session: u64,
        timeout: Option<Duration>,
        stop: impl Fn() -> bool,
    ) -> Taken {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        let mut row = row(name);
        let wait = row.wait(LockType::Exclusive, LockDuration::Explicit);
        let mut locks = self.locks.lock();
        locks.waiting.insert(session, name.to_owned());
        let ended = loop {
            // The row is that of the wait, which ends first.
            if !locks.held.contains_key(name) {
                break Taken::Yes;
            }
            if locks.waits_for(name, session) {
                break Taken::Deadlock;
            }
            if stop() {
                break Taken::Interrupted;
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break Taken::Late;
            }
            let interval = left.unwrap_or(STOP_CHECK_INTERVAL).min(STOP_CHECK_INTERVAL);
            self.released.wait_for(&mut locks, interval);
        };
        locks.waiting.remove(&session);
        drop(wait);
        if ended == Taken::Yes {
            row.republish(
                LockType::Exclusive,
                LockDuration::Explicit,
                LockStatus::Granted,
            );
            locks.try_take(name, session, || row);
        }
        ended
    }

    /// The session that holds a lock.
    pub fn owner(&self, name: &str) -> Option<u64> {
        self.locks.lock().held.get(name).map(|held| held.session)
    }

    /// Releases a lock. `None`: no session holds it. `Some(false)`: another session does.
    pub fn release(&self, name: &str, session: u64) -> Option<bool> {
        let mut locks = self.locks.lock();
        let held = locks.held.get_mut(name)?;
        if held.session != session {
            return Some(false);
        }
        held.times -= 1;
        if held.times == 0 {
            locks.held.remove(name);
            self.released.notify_all();
        }
        Some(true)
    }

    /// Releases all locks of a session. Returns how often it had taken them.
    pub fn release_all(&self, session: u64) -> u64 {
        let mut released = 0;
        let mut locks = self.locks.lock();
        locks.held.retain(|_, held| {
            let is_others = held.session != session;
            if !is_others {
                released += u64::from(held.times);
            }
            is_others
        });
        if released > 0 {
            self.released.notify_all();
        }
        released
    }
}
