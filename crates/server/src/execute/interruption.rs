//! The error of a statement that was ended from outside.

use crate::session::Session;
use crate::status::Counter;
use tare_mysql::error::SqlError;

/// Why a statement has ended: what it worked in knows only that it was to.
pub fn interruption(session: &Session, error: SqlError) -> SqlError {
    if error.code != 1317 && error.code != 3024 {
        return error;
    }
    let error = session.control.interruption();
    if error.code == 3024 {
        let status = session.registration.status();
        status.add(Counter::MaxExecutionTimeExceeded, 1);
    }
    error
}
