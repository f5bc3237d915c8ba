//! The locks of GET_LOCK.

use std::collections::HashMap;

use crate::points::LOCK_SESSION;
use tare::sync::Mutex;

/// The locks by name, each with its session and how often that has taken it.
#[derive(Debug)]
pub struct UserLocks {
    held: Mutex<HashMap<String, (u64, u32)>>,
}

impl Default for UserLocks {
    fn default() -> Self {
        Self {
            held: Mutex::new(&LOCK_SESSION, HashMap::new()),
        }
    }
}

impl UserLocks {
    /// Takes a lock unless another session holds it. Returns whether it was taken.
    pub fn try_take(&self, name: &str, session: u64) -> bool {
        let mut held = self.held.lock();
        let entry = held.entry(name.to_owned()).or_insert((session, 0));
        if entry.0 != session {
            return false;
        }
        entry.1 += 1;
        true
    }

    /// The session that holds a lock.
    pub fn owner(&self, name: &str) -> Option<u64> {
        self.held.lock().get(name).map(|(owner, _)| *owner)
    }

    /// Releases a lock. `None`: no session holds it. `Some(false)`: another session does.
    pub fn release(&self, name: &str, session: u64) -> Option<bool> {
        let mut held = self.held.lock();
        let entry = held.get_mut(name)?;
        if entry.0 != session {
            return Some(false);
        }
        entry.1 -= 1;
        if entry.1 == 0 {
            held.remove(name);
        }
        Some(true)
    }

    /// Releases all locks of a session. Returns their number.
    pub fn release_all(&self, session: u64) -> u64 {
        let mut released = 0;
        self.held.lock().retain(|_, (owner, times)| {
            let is_others = *owner != session;
            if !is_others {
                released += u64::from(*times);
            }
            is_others
        });
        released
    }
}
