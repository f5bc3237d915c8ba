//! GET_LOCK and its kin: locks that have a name and nothing else.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::functions::Context;
use rusqlite::types::Value;
use rusqlite::{Connection, Result};
use tare_mysql::error::SqlError;

use super::{fail, fresh, raise, real, text};
use crate::server::points::LOCK_SESSION;
use crate::server::state::SessionState;
use tare::sync::Mutex;

/// Who holds which name, and how many times over.
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
    fn try_take(&self, name: &str, session: u64) -> bool {
        let mut held = self.held.lock();
        let entry = held.entry(name.to_owned()).or_insert((session, 0));
        if entry.0 != session {
            return false;
        }
        entry.1 += 1;
        true
    }

    fn owner(&self, name: &str) -> Option<u64> {
        self.held.lock().get(name).map(|(owner, _)| *owner)
    }

    /// `None`: nobody holds it. `Some(false)`: somebody else does.
    fn release(&self, name: &str, session: u64) -> Option<bool> {
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

    /// Releases all that a session holds. Returns how many that were.
    pub fn release_all(&self, session: u64) -> u64 {
        let mut released = 0;
        self.held.lock().retain(|_, (owner, times)| {
            let keep = *owner != session;
            if !keep {
                released += u64::from(*times);
            }
            keep
        });
        released
    }
}

fn name(ctx: &Context<'_>) -> Result<String> {
    match text(ctx, 0).map(|n| n.to_lowercase()) {
        Some(name) if !name.is_empty() && name.chars().count() <= 64 => Ok(name),
        other => Err(raise(SqlError::new(
            3057,
            format!(
                "Incorrect user-level lock name '{}'.",
                other.unwrap_or_default()
            ),
        ))),
    }
}

pub(super) fn locks(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    let s = session.clone();
    fresh(db, "get_lock", 2, move |ctx| {
        let name = name(ctx)?;
        let Some(seconds) = real(ctx, 1) else {
            return Ok(Value::Null);
        };
        // A negative time is for ever.
        let end = (seconds >= 0.0)
            .then(|| Instant::now() + Duration::from_secs_f64(seconds.min(31_536_000.0)));
        loop {
            if s.user_locks().try_take(&name, s.id) {
                return Ok(Value::Integer(1));
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(Value::Integer(0));
            }
            if s.sleep(0.005) {
                return Err(fail("interrupted"));
            }
        }
    })?;
    let s = session.clone();
    fresh(db, "is_free_lock", 1, move |ctx| {
        Ok(Value::Integer(
            s.user_locks().owner(&name(ctx)?).is_none().into(),
        ))
    })?;
    let s = session.clone();
    fresh(db, "is_used_lock", 1, move |ctx| {
        Ok(s.user_locks()
            .owner(&name(ctx)?)
            .map_or(Value::Null, |id| Value::Integer(id as i64)))
    })?;
    let s = session.clone();
    fresh(db, "release_lock", 1, move |ctx| {
        Ok(s.user_locks()
            .release(&name(ctx)?, s.id)
            .map_or(Value::Null, |yes| Value::Integer(yes.into())))
    })?;
    let s = session.clone();
    fresh(db, "release_all_locks", 0, move |_| {
        Ok(Value::Integer(s.user_locks().release_all(s.id) as i64))
    })
}
