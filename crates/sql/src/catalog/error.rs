//! Errors with MySQL's number, SQLSTATE and text, and their way through SQLite.

use rusqlite::ffi;

/// An error as a MySQL client is to see it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ERROR {errno} ({sqlstate}): {message}")]
pub struct MySqlError {
    /// MySQL's error number.
    pub errno: u16,
    /// Five characters.
    pub sqlstate: &'static str,
    /// The text.
    pub message: String,
}

/// Marks a message that carries a `MySqlError`; SQLite knows only texts.
const MARK: &str = "tare-mysql-error:";

/// The SQLSTATEs in use here, so that a decoded one can be `'static`.
const SQLSTATES: [&str; 10] = [
    "42000", "HY000", "01000", "42S02", "23000", "22001", "02200", "45000", "22032", "22003",
];

impl MySqlError {
    /// An error from its parts.
    pub fn new(errno: u16, sqlstate: &'static str, message: impl Into<String>) -> Self {
        MySqlError {
            errno,
            sqlstate,
            message: message.into(),
        }
    }

    /// 1142: this account may not do that to this table.
    pub fn command_denied(command: &str, user: &str, host: &str, table: &str) -> Self {
        let message =
            format!("{command} command denied to user '{user}'@'{host}' for table '{table}'");
        Self::new(1142, "42000", message)
    }

    /// 1265: a value that the column's enum does not have.
    pub fn data_truncated(column: &str) -> Self {
        Self::new(
            1265,
            "01000",
            format!("Data truncated for column '{column}' at row 1"),
        )
    }

    /// 1406: more characters than the column has.
    pub fn data_too_long(column: &str) -> Self {
        Self::new(
            1406,
            "22001",
            format!("Data too long for column '{column}' at row 1"),
        )
    }

    /// 1048: NULL where it cannot be.
    pub fn cannot_be_null(column: &str) -> Self {
        Self::new(1048, "23000", format!("Column '{column}' cannot be null"))
    }

    /// 1683: something that Performance Schema does not allow.
    pub fn invalid_usage() -> Self {
        Self::new(1683, "HY000", "Invalid performance_schema usage.")
    }

    /// 1105: something failed below; the text says what.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::new(1105, "HY000", message.to_string())
    }

    /// The same error as SQLite can carry it. `from_sqlite` gets it back.
    pub fn into_sqlite(self) -> rusqlite::Error {
        let text = format!("{MARK}{}:{}:{}", self.errno, self.sqlstate, self.message);
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(text))
    }

    /// The error that a table raised, out of SQLite's error. `None` if it is SQLite's own.
    pub fn from_sqlite(error: &rusqlite::Error) -> Option<Self> {
        let (rusqlite::Error::SqliteFailure(_, Some(text))
        | rusqlite::Error::SqlInputError { msg: text, .. }) = error
        else {
            return None;
        };
        Self::from_message(text)
    }

    /// The same, out of SQLite's message.
    pub fn from_message(text: &str) -> Option<Self> {
        let mut parts = text.split_once(MARK)?.1.splitn(3, ':');
        let errno = parts.next()?.parse().ok()?;
        let state = parts.next()?;
        let sqlstate = SQLSTATES
            .into_iter()
            .find(|s| *s == state)
            .unwrap_or("HY000");
        Some(Self::new(errno, sqlstate, parts.next()?))
    }
}

impl From<MySqlError> for rusqlite::Error {
    fn from(error: MySqlError) -> Self {
        error.into_sqlite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_back_whole() {
        let error = MySqlError::command_denied("UPDATE", "a:b", "localhost", "threads");
        let carried = error.clone().into_sqlite();
        assert_eq!(MySqlError::from_sqlite(&carried), Some(error));
    }

    #[test]
    fn sqlites_own_error_is_not_ours() {
        let error =
            rusqlite::Error::SqliteFailure(ffi::Error::new(1), Some("no such table: t".into()));
        assert_eq!(MySqlError::from_sqlite(&error), None);
    }
}
