//! SQLite's errors as MySQL's. For many errors the message is all that SQLite reports.

use rusqlite::ffi;
use tare_mysql::error::SqlError;

/// What the name of a CHECK constraint of a table begins with in SQLite: it tells it from those that check values.
pub(crate) const CHECK_PREFIX: &str = "check:";

/// The name of a column that SQLite does not resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownColumn<'m> {
    /// No table has it.
    None(&'m str),
    /// More than one table has it.
    Several(&'m str),
}

/// MySQL's error for one of SQLite, by its extended result code and its message.
pub(super) fn from_sqlite(code: i32, message: &str) -> SqlError {
    match code {
        ffi::SQLITE_BUSY_SNAPSHOT => {
            return SqlError::deadlock();
        }
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => {
            let key = message.rsplit(": ").next().unwrap_or(message);
            return SqlError::new(1062, format!("Duplicate entry for key '{key}'"));
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            let column = message.rsplit(['.', ' ']).next().unwrap_or(message);
            return SqlError::new(1048, format!("Column '{column}' cannot be null"));
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
            return SqlError::new(
                1452,
                "Cannot add, update or delete a row: a foreign key constraint fails",
            );
        }
        ffi::SQLITE_CONSTRAINT_CHECK => {
            let name = message.split_once(": ").map_or(message, |(_, name)| name);
            // The constraint of a column's type: see `tables::sqlite`.
            if let Some((code, column)) = name.strip_prefix("tare:").and_then(|n| n.split_once(':'))
            {
                return match code {
                    "1264" => SqlError::out_of_range(column),
                    "1406" => SqlError::data_too_long(column),
                    _ => SqlError::data_truncated(column),
                };
            }
            let name = name.strip_prefix(CHECK_PREFIX).unwrap_or(name);
            return SqlError::new(3819, format!("Check constraint '{name}' is violated."));
        }
        _ => {}
    }
    match code & 0xff {
        ffi::SQLITE_BUSY => SqlError::lock_timeout(),
        ffi::SQLITE_LOCKED => SqlError::deadlock(),
        ffi::SQLITE_INTERRUPT => SqlError::interrupted(),
        ffi::SQLITE_NOMEM => tare_mysql::memory::exhausted(),
        ffi::SQLITE_READONLY => {
            SqlError::new(1290, format!("The database is read-only ({message})"))
        }
        _ if is_disk_full(code) => SqlError::disk_full(),
        ffi::SQLITE_IOERR | ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB | ffi::SQLITE_CANTOPEN => {
            SqlError::storage(message)
        }
        ffi::SQLITE_TOOBIG => SqlError::new(
            1301,
            format!("Result was larger than max_allowed_packet ({message})"),
        ),
        ffi::SQLITE_AUTH => refused(message),
        ffi::SQLITE_MISMATCH => SqlError::new(1366, "Incorrect integer value"),
        _ => from_message(message),
    }
}

/// What the authorizer has refused is not there for a client.
fn refused(message: &str) -> SqlError {
    let column = message.strip_prefix("access to ");
    let column = column.and_then(|rest| rest.strip_suffix(" is prohibited"));
    match column
        .map(|column| column.split('.').collect::<Vec<_>>())
        .as_deref()
    {
        Some([database, table, _]) => SqlError::no_such_table(database, table),
        Some([table, ..]) => SqlError::new(1051, format!("Unknown table '{table}'")),
        _ => SqlError::new(1146, "The statement names a table that doesn't exist"),
    }
}

/// Whether a file could not grow. SQLite has a code of its own for the index of a log.
pub(super) fn is_disk_full(code: i32) -> bool {
    code & 0xff == ffi::SQLITE_FULL || code == ffi::SQLITE_IOERR_SHMSIZE
}

/// The column that SQLite's message is about.
pub(super) fn column(message: &str) -> Option<UnknownColumn<'_>> {
    if let Some(name) = message.strip_prefix("no such column: ") {
        return Some(UnknownColumn::None(name));
    }
    if let Some(name) = message.strip_prefix("ambiguous column name: ") {
        return Some(UnknownColumn::Several(name));
    }
    let (_, name) = message
        .strip_prefix("table ")?
        .split_once(" has no column named ")?;
    Some(UnknownColumn::None(name))
}

/// MySQL's error by SQLite's message: SQLite has one code for all errors in a statement's text.
fn from_message(message: &str) -> SqlError {
    let after = |prefix: &str| message.strip_prefix(prefix);
    if let Some(name) = after("no such table: ") {
        return match name.split_once('.') {
            Some((database, table)) => SqlError::no_such_table(database, table),
            // Only `t.*` names a table without its database.
            None => SqlError::new(1051, format!("Unknown table '{name}'")),
        };
    }
    match column(message) {
        Some(UnknownColumn::None(name)) => {
            return SqlError::new(1054, format!("Unknown column '{name}' in 'field list'"));
        }
        Some(UnknownColumn::Several(name)) => {
            return SqlError::new(1052, format!("Column '{name}' in field list is ambiguous"));
        }
        None => {}
    }
    // `1st ORDER BY term out of range - should be between 1 and 1`
    if let Some((place, _)) = message.split_once(" term out of range") {
        let clause = if place.ends_with("ORDER BY") {
            "order clause"
        } else {
            "group statement"
        };
        return SqlError::new(1054, format!("Unknown column in '{clause}'"));
    }
    if let Some(name) =
        after("unsafe use of virtual table ").or(after("Unsafe use of virtual table "))
    {
        return SqlError::new(
            1146,
            format!("Table {} doesn't exist", name.replace('"', "'")),
        );
    }
    let function = after("no such function: ").or(after("not authorized to use function: "));
    if let Some(name) = function {
        return SqlError::new(1305, format!("FUNCTION {name} does not exist"));
    }
    if let Some(name) = after("unknown database ") {
        return SqlError::unknown_database(name.trim_matches(['"', '\'']));
    }
    if let Some(name) = after("wrong number of arguments to function ") {
        return SqlError::new(
            1582,
            format!(
                "Incorrect parameter count in the call to native function '{}'",
                name.trim_end_matches("()")
            ),
        );
    }
    if let Some(name) = after("duplicate column name: ") {
        return SqlError::new(1060, format!("Duplicate column name '{name}'"));
    }
    if let Some(name) = after("no such savepoint: ") {
        return SqlError::new(1305, format!("SAVEPOINT {name} does not exist"));
    }
    if message.ends_with("already exists") {
        let code = if message.starts_with("index") {
            1061
        } else {
            1050
        };
        return SqlError::new(code, capital(message));
    }
    if message.starts_with("no such index") {
        return SqlError::new(1091, capital(message));
    }
    if message.contains(" values for ") || message.contains("values were supplied") {
        return SqlError::new(1136, "Column count doesn't match value count at row 1");
    }
    if message.starts_with("SELECTs to the left and right") {
        return SqlError::new(
            1222,
            "The used SELECT statements have a different number of columns",
        );
    }
    if message.starts_with("sub-select returns") || message.starts_with("row value misused") {
        return SqlError::new(1241, "Operand should contain 1 column(s)");
    }
    if message.starts_with("misuse of aggregate") {
        return SqlError::new(1111, "Invalid use of group function");
    }
    if message.starts_with("integer overflow") {
        return SqlError::new(1690, "BIGINT value is out of range");
    }
    if message.contains("syntax error") || message.contains("incomplete input") {
        return SqlError::syntax(message);
    }
    SqlError::new(1105, capital(message))
}

fn capital(message: &str) -> String {
    let mut chars = message.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
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
            let error = from_sqlite(code, message);
            assert_eq!((error.code, error.state), (number, state), "{message}");
        }
    }
}
