//! Whether the statement that a thread runs must end: it was killed, its time is over, its client has
//! gone, or it has taken more memory than it may.
//!
//! SQLite checks this itself while it runs a statement. Code outside of SQLite's virtual machine, and code whose
//! time grows faster than its arguments, calls [`check_step`]. A call or comparison that reads a text once does
//! not: the longest text takes less than a second. Calls of long texts [`check`] before and after.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::error::{Result, SqlError};
use crate::memory;

/// Decides whether a statement must end.
pub trait StopSignal: Send + Sync {
    /// Whether the statement must end. This is called often and must not block.
    fn must_stop(&self) -> bool;

    /// Why: 1317 or 3024.
    fn interruption(&self) -> SqlError;
}

/// Steps of some hundred nanoseconds between two checks.
const STEPS_PER_CHECK: u32 = 256;

thread_local! {
    static SIGNAL: RefCell<Option<Arc<dyn StopSignal>>> = const { RefCell::new(None) };
    /// Steps until the next check.
    static STEPS_LEFT: Cell<u32> = const { Cell::new(STEPS_PER_CHECK) };
    /// Why the statement must end, once that is known.
    static ERROR: RefCell<Option<SqlError>> = const { RefCell::new(None) };
    static IGNORES_INTERRUPTION: Cell<bool> = const { Cell::new(false) };
}

/// While this lives, the thread's statement can be interrupted.
#[derive(Debug)]
pub struct Interruptible(());

/// A statement begins that `signal` can end. One that runs within another one is a part of that: `None`
/// there.
pub fn begin_statement(signal: &Arc<impl StopSignal + 'static>) -> Option<Interruptible> {
    SIGNAL.with_borrow_mut(|current| match current {
        Some(_) => None,
        None => {
            *current = Some(signal.clone());
            Some(Interruptible(()))
        }
    })
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        SIGNAL.take();
        ERROR.take();
    }
}

/// Runs work whose result other statements use, too: it ignores that this one must end.
pub fn ignore_during<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IGNORES_INTERRUPTION.set(self.0);
        }
    }
    let _before = Before(IGNORES_INTERRUPTION.replace(true));
    work()
}

/// Whether the thread is within [`ignore_during`].
pub fn is_ignored() -> bool {
    IGNORES_INTERRUPTION.get()
}

/// Checks whether the statement may go on.
///
/// # Errors
/// 1317, 3024 or 1041, from then on.
pub fn check() -> Result<()> {
    STEPS_LEFT.set(STEPS_PER_CHECK);
    if is_ignored() {
        return Ok(());
    }
    let signal = SIGNAL.with_borrow(Clone::clone);
    let is_statement = signal.is_some();
    let error = ERROR.with_borrow(Clone::clone).or_else(|| {
        match signal.filter(|signal| signal.must_stop()) {
            Some(signal) => Some(signal.interruption()),
            None => (!memory::admit(0)).then(memory::exhausted),
        }
    });
    let Some(error) = error else {
        return Ok(());
    };
    if is_statement {
        // The next step checks again, and gets the same error.
        STEPS_LEFT.set(1);
        ERROR.set(Some(error.clone()));
    }
    Err(error)
}

/// A step of a statement's work, of less than a microsecond: each 256th checks whether it may go on.
///
/// # Errors
/// As [`check`].
#[inline]
pub fn check_step() -> Result<()> {
    let left = STEPS_LEFT.get() - 1;
    STEPS_LEFT.set(left);
    match left {
        0 => check(),
        _ => Ok(()),
    }
}

/// Whether the statement must end, for callers that cannot return an error.
pub fn must_stop() -> bool {
    check().is_err()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Switch(AtomicBool);

    impl StopSignal for Switch {
        fn must_stop(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }

        fn interruption(&self) -> SqlError {
            SqlError::interrupted()
        }
    }

    fn steps() -> u32 {
        (0..10 * STEPS_PER_CHECK)
            .take_while(|_| check_step().is_ok())
            .count() as u32
    }

    #[test]
    fn a_killed_statement_ends_and_the_next_one_does_not() {
        assert_eq!(steps(), 10 * STEPS_PER_CHECK, "no statement runs");
        let switch = Arc::new(Switch::default());
        {
            let statement = begin_statement(&switch);
            assert!(statement.is_some() && begin_statement(&switch).is_none());
            assert_eq!(steps(), 10 * STEPS_PER_CHECK);
            switch.0.store(true, Ordering::Relaxed);
            assert!(steps() < STEPS_PER_CHECK);
            assert_eq!(steps(), 0, "and from then on");
            switch.0.store(false, Ordering::Relaxed);
            assert!(must_stop(), "although the reason has gone");
        }
        assert_eq!(steps(), 10 * STEPS_PER_CHECK, "the next statement");
    }

    #[test]
    fn shared_work_ignores_kill() {
        let switch = Arc::new(Switch(AtomicBool::new(true)));
        let _statement = begin_statement(&switch);
        let all = ignore_during(|| ignore_during(steps) + steps());
        assert_eq!(all, 20 * STEPS_PER_CHECK);
        assert!(must_stop());
    }

    #[test]
    fn a_statement_that_takes_too_much_memory_ends() {
        let limit = memory::limit_statement(1000);
        assert!(check().is_ok());
        assert!(memory::take(1000) && check().is_ok());
        // An allocator counts what it cannot refuse.
        memory::count(1);
        assert_eq!(check().map_err(|e| e.code), Err(1041));
        drop(limit);
        assert!(check().is_ok());
    }
}
