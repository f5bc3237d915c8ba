//! Errors with MySQL's numbers.

pub mod names;
pub mod ticket;

use std::fmt::Display;

use names::ERRORS;

use crate::series::Series;

/// The number of [`SqlError::disk_full`].
pub const DISK_FULL: u16 = 1021;

/// The number of a statement that cannot be read.
pub const SYNTAX: u16 = 1064;

/// An error with MySQL's number.
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

/// The result of a statement, or of a part of it.
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

    /// What a function or procedure of schema sys SIGNALs, with the SQLSTATE that it chooses.
    pub fn signal(state: &'static str, code: u16, message: impl Into<String>) -> Self {
        Self {
            state,
            ..Self::new(code, message)
        }
    }

    /// 1064: not SQL, or SQL that Tare does not parse.
    pub fn syntax(detail: impl std::fmt::Display) -> Self {
        Self::new(
            SYNTAX,
            format!("You have an error in your SQL syntax: {detail}"),
        )
    }

    /// 1235: SQL that Tare parses and does not support.
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

    /// 1243: no prepared statement has this number or name.
    pub fn unknown_handler(handler: impl Display, command: &str) -> Self {
        let text = format!("Unknown prepared statement handler ({handler}) given to {command}");
        Self::new(1243, text)
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

    /// 1022: a table of Performance Schema has a row with this key.
    pub fn duplicate_key(table: &str) -> Self {
        Self::new(
            1022,
            format!("Can't write; duplicate key in table '{table}'"),
        )
    }

    /// 1030: the files of a database.
    pub fn storage(what: impl std::fmt::Display) -> Self {
        Self::new(1030, format!("Got error '{what}' from storage engine"))
    }

    /// 1021: a file cannot grow.
    pub fn disk_full() -> Self {
        Self::new(DISK_FULL, "Disk full")
    }

    /// 1044: this account has no rights in this database.
    pub fn database_denied(user: &str, host: &str, database: &str) -> Self {
        Self::new(
            1044,
            format!("Access denied for user '{user}'@'{host}' to database '{database}'"),
        )
    }

    /// 1142: this account (user and host) may not do that to this table (schema and name).
    pub fn command_denied(
        series: Series,
        command: &str,
        account: (&str, &str),
        table: (&str, &str),
    ) -> Self {
        let ((user, host), (schema, name)) = (account, table);
        let table = match series.is_mariadb() {
            true => format!("`{schema}`.`{name}`"),
            false => format!("'{name}'"),
        };
        let message =
            format!("{command} command denied to user '{user}'@'{host}' for table {table}");
        Self::new(1142, message)
    }

    /// 1452 of a table that is no child of another: MySQL's word for a value that a table of Performance Schema
    /// does not take, where sql_mode lets it come that far.
    pub fn no_referenced_row() -> Self {
        let message =
            "Cannot add or update a child row: a foreign key constraint fails ()".to_owned();
        Self::new(1452, message)
    }

    /// 1264: a number that the column cannot hold.
    pub fn out_of_range(column: &str) -> Self {
        Self::new(
            1264,
            format!("Out of range value for column '{column}' at row 1"),
        )
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

    /// The same error in a series' words: MariaDB ends 1683 without a full stop, and 1452 without parentheses that
    /// have nothing between them.
    pub fn worded(mut self, series: Series) -> Self {
        let end = match self.code {
            1452 => " ()",
            1683 => ".",
            _ => return self,
        };
        if series.is_mariadb()
            && let Some(bare) = self.message.strip_suffix(end)
        {
            self.message = bare.to_owned();
        }
        self
    }

    /// 1105: an internal failure, with its text.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::new(1105, message.to_string())
    }
}

/// The SQLSTATE that MySQL gives with an error number.
fn state_of(code: u16) -> &'static str {
    let entry = ERRORS.binary_search_by_key(&code, |(number, ..)| *number);
    debug_assert!(entry.is_ok(), "{code} is to be listed in error/names.rs");
    entry.map_or("HY000", |at| ERRORS[at].2)
}
