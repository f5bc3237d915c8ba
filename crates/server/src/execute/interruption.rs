//! The error of a statement that was interrupted.

use crate::session::Session;
use crate::status::Counter;
use tare_mysql::error::SqlError;

/// Replaces the error of an interruption by one that names its cause, and counts timeouts.
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
