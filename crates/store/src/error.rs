//! Errors of the databases, and their mapping to MySQL's errors.

use std::io::ErrorKind;

use tare_mysql::error::SqlError;
use tare_mysql::error::ticket::Ticket;

use super::words::{self, UnknownColumn};

/// The result of an operation on a database.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the databases.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite's own.
    #[error("{message}")]
    Sqlite {
        /// Its extended code.
        code: i32,
        /// Its message.
        message: String,
    },
    /// A virtual table or a function raised it while SQLite ran.
    #[error(transparent)]
    Raised(SqlError),
    /// rusqlite's own: a value does not have the requested type.
    #[error(transparent)]
    Value(rusqlite::Error),
    /// No file can have the name.
    #[error("Incorrect database name '{0}'")]
    BadName(String),
    /// There is no file of the name.
    #[error("Unknown database '{0}'")]
    UnknownDatabase(String),
    /// A transaction names more databases than SQLite attaches.
    #[error("more than five databases in one transaction")]
    TooManyDatabases,
    /// SQLite takes names in UTF-8 only.
    #[error("path is not UTF-8")]
    Path,
    /// A database's file cannot be created.
    #[error("{0}")]
    Create(std::io::Error),
    /// A database's file cannot be removed.
    #[error("Error dropping database ({0})")]
    Remove(std::io::Error),
    /// The text holds no statement.
    #[error("Query was empty")]
    Empty,
    /// The text is longer than SQLite can count.
    #[error("Got a packet bigger than 'max_allowed_packet' bytes")]
    TooLong,
    /// The statement was closed, or is another connection's.
    #[error("Unknown prepared statement handler")]
    UnknownStatement,
    /// SQLite has no memory for a connection.
    #[error("Out of memory")]
    OutOfMemory,
}

impl Error {
    /// An error of SQLite, from its extended code and message.
    pub fn from_sqlite(code: i32, message: impl Into<String>) -> Self {
        match Ticket::in_code(code).and_then(Ticket::take) {
            Some(error) => Self::Raised(error),
            None => Self::Sqlite {
                code,
                message: message.into(),
            },
        }
    }

    /// The column that a statement names and SQLite does not resolve.
    pub fn column(&self) -> Option<UnknownColumn<'_>> {
        match self {
            Self::Sqlite { message, .. } => words::column(message),
            _ => None,
        }
    }

    /// SQLite's extended code, where SQLite has failed.
    pub fn sqlite_code(&self) -> Option<i32> {
        match self {
            Self::Sqlite { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl Error {
    /// Whether what SQLite did was ended from outside.
    pub fn is_interruption(&self) -> bool {
        self.sqlite_code().map(|code| code & 0xff) == Some(rusqlite::ffi::SQLITE_INTERRUPT)
    }
}

impl Error {
    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        self.sqlite_code().is_some_and(words::is_disk_full)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(e, message) => {
                let message = message.unwrap_or_else(|| e.to_string());
                Self::from_sqlite(e.extended_code, message)
            }
            rusqlite::Error::SqlInputError { error, msg, .. } => {
                Self::from_sqlite(error.extended_code, msg)
            }
            other => Self::Value(other),
        }
    }
}

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Sqlite { code, message } => words::from_sqlite(code, &message),
            Error::Raised(error) => error,
            Error::Value(_) => Self::internal(text),
            Error::BadName(_) => Self::new(1102, text),
            Error::UnknownDatabase(_) => Self::new(1049, text),
            Error::TooManyDatabases => Self::unsupported(text),
            Error::Path => Self::storage(text),
            Error::Create(error) if error.kind() == ErrorKind::StorageFull => Self::disk_full(),
            Error::Create(_) => Self::storage(text),
            Error::Remove(_) => Self::new(1010, text),
            Error::Empty => Self::new(1065, text),
            Error::TooLong => Self::new(1153, text),
            Error::UnknownStatement => Self::new(1243, text),
            Error::OutOfMemory => Self::new(1041, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::functions::FunctionFlags;
    use rusqlite::{Connection, ffi};
    use tare_mysql::error::ticket;

    use super::*;

    /// As functions and virtual tables do.
    fn raise(error: SqlError) -> rusqlite::Error {
        let code = ticket::store(error).code(ffi::SQLITE_ERROR);
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    /// A connection with `refuse(text)`, which raises an error with that text.
    fn connection() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        let flags = FunctionFlags::SQLITE_UTF8;
        db.create_scalar_function("refuse", 1, flags, |ctx| -> rusqlite::Result<i64> {
            Err(raise(SqlError::new(1683, ctx.get::<String>(0)?)))
        })
        .unwrap();
        db
    }

    fn fail(db: &Connection, sql: &str) -> rusqlite::Error {
        let result = db.query_row(sql, [], |row| row.get::<_, i64>(0));
        result.expect_err("it is refused")
    }

    #[test]
    fn an_error_that_a_function_raises_comes_back_unchanged() {
        let db = connection();
        let error = SqlError::from(Error::from(fail(&db, "SELECT refuse('a:b')")));
        assert_eq!(error, SqlError::new(1683, "a:b"));
        let deep = "SELECT sum(x) FROM (SELECT refuse('c') AS x UNION SELECT 1) ORDER BY 1";
        let error = SqlError::from(Error::from(fail(&db, deep)));
        assert_eq!(error, SqlError::new(1683, "c"));
    }

    #[test]
    fn an_error_that_nobody_took_does_not_replace_a_later_one() {
        let db = connection();
        let first = fail(&db, "SELECT refuse('first')");
        // SQLite's own error follows one of ours that was not read.
        let own = SqlError::from(Error::from(fail(&db, "SELECT * FROM shop.t")));
        assert_eq!(own.code, 1146);
        // One of ours follows another one.
        let second = fail(&db, "SELECT refuse('second')");
        let first = SqlError::from(Error::from(first));
        assert_eq!(first, SqlError::new(1105, "SQL logic error"));
        let second = SqlError::from(Error::from(second));
        assert_eq!(second, SqlError::new(1683, "second"));
    }

    #[test]
    fn an_error_of_another_thread_is_not_ours() {
        let theirs = std::thread::spawn(|| fail(&connection(), "SELECT refuse('theirs')"));
        let theirs = theirs.join().unwrap();
        let _ours = raise(SqlError::no_database());
        let error = SqlError::from(Error::from(theirs));
        assert_eq!(error.code, 1105);
    }

    #[test]
    fn errors_of_an_inner_connection_stay_inside() {
        let db = connection();
        let flags = FunctionFlags::SQLITE_UTF8;
        db.create_scalar_function("within", 0, flags, |_| -> rusqlite::Result<i64> {
            let inner = SqlError::from(Error::from(fail(&connection(), "SELECT refuse('in')")));
            assert_eq!(inner.message, "in");
            Err(raise(SqlError::new(1683, "out")))
        })
        .unwrap();
        let error = SqlError::from(Error::from(fail(&db, "SELECT within()")));
        assert_eq!(error.message, "out");
    }
}
