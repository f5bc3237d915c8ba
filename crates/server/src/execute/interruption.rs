//! The error of a statement that was interrupted.

use crate::registry::Registration;
use crate::status::Counter;
use tare_mysql::error::SqlError;
use tare_store::Control;

/// Replaces the error of an interruption by one that names its cause, and counts timeouts.
pub fn map_interruption(
    control: &Control,
    registration: &Registration,
    error: SqlError,
) -> SqlError {
    if error.code != 1317 && error.code != 3024 {
        return error;
    }
    let error = control.interruption();
    if error.code == 3024 {
        let status = registration.status();
        status.add(Counter::MaxExecutionTimeExceeded, 1);
    }
    error
}
