//! SQL on a server, over the MySQL protocol.

use std::time::Duration;

use mysql::consts::ColumnType;
use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use tare_client::{Dsn, SessionKind, connect, error_text};

use super::cell::{Kind, parse};
use super::{Answer, SqlError};
use crate::exit::{FAILED, Failure};
use crate::output::{Cell, Rows};

/// A connection to a server.
pub struct Remote(Conn);

impl Remote {
    /// Connects.
    pub fn connect(
        dsn: &Dsn,
        kind: SessionKind,
        answer_timeout: Option<Duration>,
    ) -> Result<Self, Failure> {
        let conn = connect(&dsn.address, dsn.database.as_deref(), kind, answer_timeout);
        conn.map(Self)
            .map_err(|error| Failure::new(FAILED, format!("cannot connect to {dsn}: {error}")))
    }

    /// Runs one statement, and calls `take` with each of its results.
    pub fn run(&mut self, statement: &str, take: &mut dyn FnMut(Answer)) -> Result<(), SqlError> {
        let mut result = self.0.query_iter(statement)?;
        while let Some(set) = result.iter() {
            let columns = set.columns().as_ref().to_vec();
            if columns.is_empty() {
                take(Answer::Changed(set.affected_rows()));
                continue;
            }
            let mut rows = Rows {
                columns: columns
                    .iter()
                    .map(|column| column.name_str().into_owned())
                    .collect(),
                rows: Vec::new(),
            };
            for row in set {
                let cells = row?
                    .unwrap_raw()
                    .into_iter()
                    .zip(&columns)
                    .map(|(value, column)| cell(value.unwrap_or(Value::NULL), column.column_type()))
                    .collect();
                rows.rows.push(cells);
            }
            take(Answer::Rows(rows));
        }
        Ok(())
    }
}

/// The text protocol sends every value as text; the column says what it is.
fn cell(value: Value, column_type: ColumnType) -> Cell {
    let bytes = match value {
        Value::NULL => return Cell::Null,
        Value::Int(n) => return Cell::Signed(n),
        Value::UInt(n) => return Cell::Unsigned(n),
        Value::Float(x) => return Cell::Real(x.into()),
        Value::Double(x) => return Cell::Real(x),
        Value::Bytes(bytes) => bytes,
        date @ (Value::Date(..) | Value::Time(..)) => {
            return Cell::Text(date.as_sql(true).trim_matches('\'').to_owned());
        }
    };
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    parse(text, Kind::from_code(column_type as u8))
}

impl From<mysql::Error> for SqlError {
    fn from(error: mysql::Error) -> Self {
        match error {
            mysql::Error::MySqlError(error) => Self {
                errno: error.code,
                sqlstate: error.state,
                message: error.message,
            },
            // The error is CR_SERVER_LOST for every reason that ends a connection.
            other => Self {
                errno: 2013,
                sqlstate: "HY000".into(),
                message: match other {
                    mysql::Error::IoError(error) => lost(&error),
                    mysql::Error::CodecError(error) => lost(&error),
                    other => error_text(&other),
                },
            },
        }
    }
}

fn lost(error: &dyn std::fmt::Display) -> String {
    format!("Lost connection to the server: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, column_type: ColumnType) -> Cell {
        cell(Value::Bytes(text.into()), column_type)
    }

    #[test]
    fn numbers_are_numbers_again() {
        use ColumnType as T;
        assert_eq!(
            of("18446744073709551615", T::MYSQL_TYPE_LONGLONG),
            Cell::Unsigned(u64::MAX)
        );
        assert_eq!(of("-3", T::MYSQL_TYPE_LONG), Cell::Signed(-3));
        assert_eq!(of("2.5", T::MYSQL_TYPE_DOUBLE), Cell::Real(2.5));
        assert_eq!(
            of("0.10", T::MYSQL_TYPE_NEWDECIMAL),
            Cell::Decimal("0.10".into())
        );
        assert_eq!(of("12", T::MYSQL_TYPE_VAR_STRING), Cell::Text("12".into()));
        assert_eq!(cell(Value::NULL, T::MYSQL_TYPE_LONG), Cell::Null);
    }
}
