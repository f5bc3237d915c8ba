//! Errors as MySQL's clients know them.

use super::error_names::ERRORS;
use rusqlite::ffi;

/// What is wrong with a statement, in MySQL's numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ERROR {code} ({state}): {message}")]
pub struct SqlError {
    /// MySQL's error number.
    pub code: u16,
    /// The SQLSTATE.
    pub state: &'static str,
    /// The text.
    pub message: String,
}

/// SQLSTATEs that are not MySQL's for an error's number.
pub const SIGNALLED: [&str; 2] = ["02200", "45000"];

/// The result of whatever a statement does.
pub type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// An error by its number; the SQLSTATE is MySQL's for that number.
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self {
            code,
            state: state_of(code),
            message: message.into(),
        }
    }

    /// What a function or procedure of schema sys SIGNALs, with the SQLSTATE that it chooses: one of
    /// [`SIGNALLED`].
    pub fn signal(state: &'static str, code: u16, message: impl Into<String>) -> Self {
        Self {
            state,
            ..Self::new(code, message)
        }
    }

    /// 1064: not SQL, or not SQL that is known here.
    pub fn syntax(detail: impl std::fmt::Display) -> Self {
        Self::new(
            1064,
            format!("You have an error in your SQL syntax: {detail}"),
        )
    }

    /// 1235: SQL that is understood and that this server cannot do.
    pub fn unsupported(what: impl std::fmt::Display) -> Self {
        Self::new(
            1235,
            format!("This version of Tare doesn't yet support '{what}'"),
        )
    }

    /// 1046.
    pub fn no_database() -> Self {
        Self::new(1046, "No database selected")
    }

    /// 1049.
    pub fn unknown_database(name: &str) -> Self {
        Self::new(1049, format!("Unknown database '{name}'"))
    }

    /// 1193.
    pub fn unknown_variable(name: &str) -> Self {
        Self::new(1193, format!("Unknown system variable '{name}'"))
    }

    /// 1146.
    pub fn no_such_table(database: &str, table: &str) -> Self {
        if database.eq_ignore_ascii_case("information_schema") {
            let table = table.to_uppercase();
            return Self::new(
                1109,
                format!("Unknown table '{table}' in information_schema"),
            );
        }
        Self::new(1146, format!("Table '{database}.{table}' doesn't exist"))
    }

    /// 1213: the transaction has been rolled back.
    pub fn deadlock() -> Self {
        Self::new(
            1213,
            "Deadlock found when trying to get lock; try restarting transaction",
        )
    }

    /// 1205: the statement has been rolled back.
    pub fn lock_timeout() -> Self {
        Self::new(
            1205,
            "Lock wait timeout exceeded; try restarting transaction",
        )
    }

    /// 1317: KILL QUERY, or the client has gone.
    pub fn interrupted() -> Self {
        Self::new(1317, "Query execution was interrupted")
    }

    /// 1030: the files of a database.
    pub fn storage(what: impl std::fmt::Display) -> Self {
        Self::new(1030, format!("Got error '{what}' from storage engine"))
    }

    /// What SQLite says, in MySQL's words. `code` is SQLite's extended result code.
    pub fn from_sqlite(code: i32, message: &str) -> Self {
        if let Some(error) = Self::carried_in(message) {
            return error;
        }
        if code & 0xff == ffi::SQLITE_BUSY {
            crate::storage::metrics::LOCK_BUSY.add(1);
        }
        match code {
            ffi::SQLITE_BUSY_SNAPSHOT => {
                crate::storage::metrics::LOCK_DEADLOCKS.add(1);
                return Self::deadlock();
            }
            ffi::SQLITE_CONSTRAINT_UNIQUE
            | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
            | ffi::SQLITE_CONSTRAINT_ROWID => {
                let key = message.rsplit(": ").next().unwrap_or(message);
                return Self::new(1062, format!("Duplicate entry for key '{key}'"));
            }
            ffi::SQLITE_CONSTRAINT_NOTNULL => {
                let column = message.rsplit(['.', ' ']).next().unwrap_or(message);
                return Self::new(1048, format!("Column '{column}' cannot be null"));
            }
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
                return Self::new(
                    1452,
                    "Cannot add, update or delete a row: a foreign key constraint fails",
                );
            }
            ffi::SQLITE_CONSTRAINT_CHECK => {
                let name = message.rsplit(": ").next().unwrap_or(message);
                // What strict mode asks of a column: see storage::tables::sqlite.
                if let Some((code, column)) =
                    name.strip_prefix("tare:").and_then(|n| n.split_once(':'))
                {
                    return match code {
                        "1264" => Self::new(
                            1264,
                            format!("Out of range value for column '{column}' at row 1"),
                        ),
                        "1406" => Self::new(
                            1406,
                            format!("Data too long for column '{column}' at row 1"),
                        ),
                        _ => Self::new(
                            1265,
                            format!("Data truncated for column '{column}' at row 1"),
                        ),
                    };
                }
                return Self::new(3819, format!("Check constraint '{name}' is violated."));
            }
            _ => {}
        }
        match code & 0xff {
            ffi::SQLITE_BUSY => Self::lock_timeout(),
            ffi::SQLITE_LOCKED => Self::deadlock(),
            ffi::SQLITE_INTERRUPT => Self::interrupted(),
            ffi::SQLITE_NOMEM => Self::new(1041, "Out of memory"),
            ffi::SQLITE_READONLY => {
                Self::new(1290, format!("The database is read-only ({message})"))
            }
            ffi::SQLITE_FULL => Self::new(1021, "Disk full"),
            ffi::SQLITE_IOERR | ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB | ffi::SQLITE_CANTOPEN => {
                Self::storage(message)
            }
            ffi::SQLITE_TOOBIG => Self::new(
                1301,
                format!("Result was larger than max_allowed_packet ({message})"),
            ),
            ffi::SQLITE_MISMATCH => Self::new(1366, "Incorrect integer value"),
            _ => Self::from_message(message),
        }
    }

    /// SQLite has one code for all that is wrong with a statement's text; the message tells.
    fn from_message(message: &str) -> Self {
        let after = |prefix: &str| message.strip_prefix(prefix);
        if let Some(name) = after("no such table: ") {
            return match name.split_once('.') {
                Some((database, table)) => Self::no_such_table(database, table),
                // Only `t.*` names a table without its database.
                None => Self::new(1051, format!("Unknown table '{name}'")),
            };
        }
        if let Some(name) = after("no such column: ") {
            return Self::new(1054, format!("Unknown column '{name}' in 'field list'"));
        }
        if let Some((table, column)) =
            after("table ").and_then(|m| m.split_once(" has no column named "))
        {
            let _ = table;
            return Self::new(1054, format!("Unknown column '{column}' in 'field list'"));
        }
        // `1st ORDER BY term out of range - should be between 1 and 1`
        if let Some((place, _)) = message.split_once(" term out of range") {
            let clause = if place.ends_with("ORDER BY") {
                "order clause"
            } else {
                "group statement"
            };
            return Self::new(1054, format!("Unknown column in '{clause}'"));
        }
        if let Some(name) = after("no such function: ") {
            return Self::new(1305, format!("FUNCTION {name} does not exist"));
        }
        if let Some(name) = after("ambiguous column name: ") {
            return Self::new(1052, format!("Column '{name}' in field list is ambiguous"));
        }
        if let Some(name) = after("unknown database ") {
            return Self::unknown_database(name.trim_matches(['"', '\'']));
        }
        if let Some(name) = after("wrong number of arguments to function ") {
            return Self::new(
                1582,
                format!(
                    "Incorrect parameter count in the call to native function '{}'",
                    name.trim_end_matches("()")
                ),
            );
        }
        if let Some(name) = after("duplicate column name: ") {
            return Self::new(1060, format!("Duplicate column name '{name}'"));
        }
        if let Some(name) = after("no such savepoint: ") {
            return Self::new(1305, format!("SAVEPOINT {name} does not exist"));
        }
        if message.ends_with("already exists") {
            let code = if message.starts_with("index") {
                1061
            } else {
                1050
            };
            return Self::new(code, capital(message));
        }
        if message.starts_with("no such index") {
            return Self::new(1091, capital(message));
        }
        if message.contains(" values for ") || message.contains("values were supplied") {
            return Self::new(1136, "Column count doesn't match value count at row 1");
        }
        if message.starts_with("SELECTs to the left and right") {
            return Self::new(
                1222,
                "The used SELECT statements have a different number of columns",
            );
        }
        if message.starts_with("sub-select returns") || message.starts_with("row value misused") {
            return Self::new(1241, "Operand should contain 1 column(s)");
        }
        if message.starts_with("misuse of aggregate") {
            return Self::new(1111, "Invalid use of group function");
        }
        if message.starts_with("integer overflow") {
            return Self::new(1690, "BIGINT value is out of range");
        }
        if message.contains("syntax error") || message.contains("incomplete input") {
            return Self::syntax(message);
        }
        Self::new(1105, capital(message))
    }
}

fn capital(message: &str) -> String {
    let mut chars = message.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(e, message) => {
                Self::from_sqlite(e.extended_code, &message.unwrap_or_else(|| e.to_string()))
            }
            rusqlite::Error::SqlInputError { error, msg, .. } => {
                Self::from_sqlite(error.extended_code, &msg)
            }
            other => Self::new(1105, other.to_string()),
        }
    }
}

/// The SQLSTATE that MySQL gives with an error number.
fn state_of(code: u16) -> &'static str {
    let found = ERRORS.binary_search_by_key(&code, |(number, ..)| *number);
    debug_assert!(found.is_ok(), "{code} is to be listed in error_names.rs");
    found.map_or("HY000", |at| ERRORS[at].2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_errors_get_mysql_numbers() {
        let cases = [
            (ffi::SQLITE_ERROR, "no such table: db.t", 1146, "42S02"),
            (ffi::SQLITE_ERROR, "no such column: x", 1054, "42S22"),
            (ffi::SQLITE_ERROR, "near \"x\": syntax error", 1064, "42000"),
            (ffi::SQLITE_ERROR, "no such function: f", 1305, "42000"),
            (
                ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
                "UNIQUE constraint failed: t.id",
                1062,
                "23000",
            ),
            (
                ffi::SQLITE_CONSTRAINT_NOTNULL,
                "NOT NULL constraint failed: t.id",
                1048,
                "23000",
            ),
            (ffi::SQLITE_BUSY, "database is locked", 1205, "HY000"),
            (
                ffi::SQLITE_BUSY_SNAPSHOT,
                "database is locked",
                1213,
                "40001",
            ),
            (ffi::SQLITE_INTERRUPT, "interrupted", 1317, "70100"),
        ];
        for (code, message, number, state) in cases {
            let error = SqlError::from_sqlite(code, message);
            assert_eq!((error.code, error.state), (number, state), "{message}");
        }
    }
}
