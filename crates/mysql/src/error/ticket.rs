//! Errors on their way through an engine that passes on a number and a text, as SQLite does.
//!
//! Code below the engine stores its error here and gives the engine the ticket's number. The caller of the
//! engine takes the error by that number. Both are on one thread: the engine runs on its caller's.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use super::SqlError;

/// The lower bits of an engine's result code are its own.
const SHIFT: u32 = 8;
/// Tickets are above every extended code of SQLite's (the largest has 35 in these bits).
const FIRST: u32 = 1 << 12;
const END: u32 = 1 << 23;

/// Errors that any thread has raised.
static RAISED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The last error raised on this thread, with its ticket.
    static STORED: Cell<Option<(Ticket, SqlError)>> = const { Cell::new(None) };
}

/// Names one error that a thread has raised. A later one on the same thread takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(i32);

impl Ticket {
    /// The ticket of the error that follows so many others.
    fn after(errors: u32) -> Self {
        Self((FIRST + errors % (END - FIRST)) as i32)
    }

    /// The ticket in an extended result code.
    pub fn in_code(code: i32) -> Option<Self> {
        let number = code >> SHIFT;
        (number >= FIRST as i32).then_some(Self(number))
    }

    /// The ticket as the extension of a result code.
    pub fn code(self, primary: i32) -> i32 {
        self.0 << SHIFT | primary
    }

    /// The error, if it is still the last one that was raised.
    pub fn take(self) -> Option<SqlError> {
        match STORED.take() {
            Some((ticket, error)) if ticket == self => Some(error),
            other => {
                STORED.set(other);
                None
            }
        }
    }
}

/// Stores an error until it is taken, or another one is raised.
pub fn store(error: SqlError) -> Ticket {
    let ticket = Ticket::after(RAISED.fetch_add(1, Ordering::Relaxed));
    STORED.set(Some((ticket, error)));
    ticket
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Series;

    #[test]
    fn an_error_is_taken_once_by_its_ticket() {
        let error = SqlError::command_denied(
            Series::V9_7,
            "UPDATE",
            ("a:b", "localhost"),
            ("performance_schema", "threads"),
        );
        let code = store(error.clone()).code(1);
        assert_eq!(code & 0xff, 1);
        let ticket = Ticket::in_code(code).expect("a ticket");
        assert_eq!(ticket.take(), Some(error));
        assert_eq!(ticket.take(), None);
    }

    #[test]
    fn a_stale_ticket_takes_nothing() {
        let stale = store(SqlError::no_database());
        let fresh = store(SqlError::interrupted());
        assert_eq!(stale.take(), None);
        assert_eq!(fresh.take(), Some(SqlError::interrupted()));
    }

    #[test]
    fn a_ticket_of_another_thread_takes_nothing() {
        let theirs = std::thread::spawn(|| store(SqlError::no_database()));
        let theirs = theirs.join().unwrap();
        let ours = store(SqlError::interrupted());
        assert_eq!(theirs.take(), None);
        assert_eq!(ours.take(), Some(SqlError::interrupted()));
    }

    #[test]
    fn a_result_code_of_the_engine_is_no_ticket() {
        // SQLITE_BUSY_SNAPSHOT, and the largest extension that SQLite has.
        for code in [1, 5, 5 | 2 << 8, 10 | 35 << 8] {
            assert_eq!(Ticket::in_code(code), None);
        }
    }

    #[test]
    fn ticket_numbers_wrap_around_within_a_result_code() {
        let last = Ticket::after(END - FIRST - 1);
        assert!(last.code(1) > 0);
        assert_eq!(Ticket::in_code(last.code(1)), Some(last));
        assert_eq!(Ticket::after(END - FIRST), Ticket::after(0));
    }
}
