//! Errors of ours, raised while SQLite runs.

use rusqlite::ffi;
use tare_mysql::error::SqlError;
use tare_mysql::error::raised;

/// The error for SQLite to report. It waits in [`tare_mysql::error::raised`], and SQLite carries its
/// ticket: whoever asked SQLite finds it by the extended code.
pub fn raise(error: SqlError) -> rusqlite::Error {
    let code = raised::keep(error).code(ffi::SQLITE_ERROR);
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}
