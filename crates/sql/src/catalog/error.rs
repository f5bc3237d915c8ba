//! Errors that tables and functions raise, and their way through SQLite.

use rusqlite::ffi;

use crate::server::error::{SIGNALLED, SqlError};

/// Marks a message that carries a [`SqlError`]; SQLite knows only texts.
const MARK: &str = "tare-mysql-error:";

impl SqlError {
    /// 1142: this account may not do that to this table.
    pub fn command_denied(command: &str, user: &str, host: &str, table: &str) -> Self {
        let message =
            format!("{command} command denied to user '{user}'@'{host}' for table '{table}'");
        Self::new(1142, message)
    }

    /// 1265: a value that the column's enum does not have.
    pub fn data_truncated(column: &str) -> Self {
        Self::new(
            1265,
            format!("Data truncated for column '{column}' at row 1"),
        )
    }

    /// 1406: more characters than the column has.
    pub fn data_too_long(column: &str) -> Self {
        Self::new(
            1406,
            format!("Data too long for column '{column}' at row 1"),
        )
    }

    /// 1048: NULL where it cannot be.
    pub fn cannot_be_null(column: &str) -> Self {
        Self::new(1048, format!("Column '{column}' cannot be null"))
    }

    /// 1683: something that Performance Schema does not allow.
    pub fn invalid_usage() -> Self {
        Self::new(1683, "Invalid performance_schema usage.")
    }

    /// 1105: something failed below; the text says what.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::new(1105, message.to_string())
    }

    /// The same error as SQLite can carry it. `carried_by` gets it back.
    pub fn into_sqlite(self) -> rusqlite::Error {
        let text = format!("{MARK}{}:{}:{}", self.code, self.state, self.message);
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(text))
    }

    /// The error that a table raised, out of SQLite's error. `None` if it is SQLite's own.
    pub fn carried_by(error: &rusqlite::Error) -> Option<Self> {
        let (rusqlite::Error::SqliteFailure(_, Some(text))
        | rusqlite::Error::SqlInputError { msg: text, .. }) = error
        else {
            return None;
        };
        Self::carried_in(text)
    }

    /// The same, out of SQLite's message.
    pub fn carried_in(text: &str) -> Option<Self> {
        let mut parts = text.split_once(MARK)?.1.splitn(3, ':');
        let mut error = Self::new(parts.next()?.parse().ok()?, "");
        let state = parts.next()?;
        let signalled = SIGNALLED.into_iter().find(|s| *s == state);
        error.state = signalled.unwrap_or(error.state);
        error.message = parts.next()?.to_owned();
        Some(error)
    }
}

impl From<SqlError> for rusqlite::Error {
    fn from(error: SqlError) -> Self {
        error.into_sqlite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_back_whole() {
        let error = SqlError::command_denied("UPDATE", "a:b", "localhost", "threads");
        let carried = error.clone().into_sqlite();
        assert_eq!(SqlError::carried_by(&carried), Some(error));
    }

    #[test]
    fn sqlites_own_error_is_not_ours() {
        let error =
            rusqlite::Error::SqliteFailure(ffi::Error::new(1), Some("no such table: t".into()));
        assert_eq!(SqlError::carried_by(&error), None);
    }
}
