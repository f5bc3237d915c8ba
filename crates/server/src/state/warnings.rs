//! The warnings of a statement.

use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use crate::points::LOCK_SESSION;
use tare::sync::Mutex;
use tare_mysql::error::SqlError;
use tare_mysql::session::Warning;

/// The most warnings that are stored of a statement.
const MAX_WARNINGS: usize = 64;

/// The longest message, in bytes, as in MySQL. Messages are stored until the next statement.
const MAX_MESSAGE_BYTES: usize = 511;

/// The warnings that are errors in a statement that changes rows in strict mode: wrong values of arguments and
/// operands. Those of values for columns are errors where they are stored.
const REFUSED: &[u16] = &[1292, 1301, 1366, 1411, 3020];

/// The warnings of the last statement.
#[derive(Debug)]
pub struct Warnings {
    all: Mutex<Vec<Warning>>,
    /// Their number, which is read without the lock: most statements have none.
    count: AtomicU16,
    /// Whether the statement refuses some of them.
    refuses: AtomicBool,
    /// The first one that it refuses.
    refused: Mutex<Option<SqlError>>,
    has_refused: AtomicBool,
}

impl Default for Warnings {
    fn default() -> Self {
        Self {
            all: Mutex::new(&LOCK_SESSION, Vec::new()),
            count: AtomicU16::new(0),
            refuses: AtomicBool::new(false),
            refused: Mutex::new(&LOCK_SESSION, None),
            has_refused: AtomicBool::new(false),
        }
    }
}

impl Warnings {
    /// All of them.
    pub fn list(&self) -> Vec<Warning> {
        self.all.lock().clone()
    }

    /// Adds a warning.
    pub fn add(&self, level: &'static str, code: u16, message: impl Into<String>) {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
            message.shrink_to_fit();
        }
        if self.refuses.load(Ordering::Relaxed) && REFUSED.contains(&code) {
            let mut refused = self.refused.lock();
            refused.get_or_insert_with(|| SqlError::new(code, message));
            self.has_refused.store(true, Ordering::Relaxed);
            return;
        }
        let mut all = self.all.lock();
        if all.len() < MAX_WARNINGS {
            all.push(Warning {
                level,
                code,
                message,
            });
            self.count.store(all.len() as u16, Ordering::Relaxed);
        }
    }

    /// Sets whether the statement that begins, or has ended, refuses wrong values.
    pub fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::Relaxed);
        self.take_refused();
    }

    /// The first warning that the statement refuses.
    #[inline]
    pub fn take_refused(&self) -> Option<SqlError> {
        match self.has_refused.load(Ordering::Relaxed) {
            true => {
                self.has_refused.store(false, Ordering::Relaxed);
                self.refused.lock().take()
            }
            false => None,
        }
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> u16 {
        self.count.load(Ordering::Relaxed)
    }

    /// Removes all.
    #[inline]
    pub fn clear(&self) {
        self.truncate(0);
    }

    /// Removes those after the first `count`: a statement that runs again would add them again.
    #[inline]
    pub fn truncate(&self, count: u16) {
        if self.count() > count {
            self.all.lock().truncate(usize::from(count));
            self.count.store(count, Ordering::Relaxed);
        }
    }
}
