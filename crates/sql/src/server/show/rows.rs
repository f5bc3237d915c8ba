//! Made rows: filtered, and sent.

use mysql_common::constants::StatusFlags;
use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::bytes::put_lenenc;
use tare_mysql::wire::column::{Column, WireType};
use tare_mysql::wire::reply;
use tare_mysql::wire::value::{put_binary, put_text};

use crate::dialect::admin::Filter;
use crate::server::SystemSchema;
use crate::server::query::{borrowed, put_packet, wire_type};
use crate::server::session::Session;
use crate::storage::connection::quote;
use crate::storage::error::from_rusqlite;

/// A result that is made here.
#[derive(Debug, Clone)]
pub struct Rows {
    pub(super) names: Vec<String>,
    pub(in crate::server) rows: Vec<Vec<Value>>,
    /// The column that LIKE looks at.
    pub(super) like: usize,
    /// The columns' types where they are known without a value.
    pub(super) wire: Vec<Option<WireType>>,
}

impl Rows {
    /// No rows yet.
    pub fn new(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            rows: Vec::new(),
            like: 0,
            wire: Vec::new(),
        }
    }

    /// With the types of its columns as a table would have them: what has no row yet has a type, too.
    pub(super) fn typed(mut self, types: &[&str]) -> Self {
        self.wire = types.iter().map(|t| Some(wire_type(t, true))).collect();
        self
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [Text; N]) {
        self.rows.push(row.into_iter().map(|t| t.0).collect());
    }
}

/// A value of a made row; from texts, numbers and options of them.
#[derive(Debug, Clone)]
pub struct Text(pub(super) Value);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Value::Text(text.to_owned()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Value::Text(text))
    }
}

impl From<i64> for Text {
    fn from(n: i64) -> Self {
        Self(Value::Integer(n))
    }
}

impl<T: Into<Text>> From<Option<T>> for Text {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(Value::Null), Into::into)
    }
}

impl Session {
    /// Keeps the rows that LIKE or WHERE lets through: SQLite evaluates both, over the rows as JSON.
    pub(super) fn filtered(&mut self, rows: Rows, filter: &Filter) -> Result<Rows> {
        let condition = match filter {
            Filter::None => return Ok(rows),
            Filter::Like(pattern) => {
                let first = rows
                    .names
                    .get(rows.like)
                    .map(|n| quote(n))
                    .unwrap_or_default();
                format!("{first} LIKE '{}' ESCAPE '\\'", pattern.replace('\'', "''"))
            }
            Filter::Where(expr) => {
                let sql = crate::dialect::translate::expression(
                    strip(expr),
                    None,
                    &mut SystemSchema::default(),
                )?;
                sql.text
                    .strip_prefix("SELECT ")
                    .map(|t| t.rsplit_once(" AS ").map_or(t, |(e, _)| e))
                    .unwrap_or_default()
                    .to_owned()
            }
        };
        let json: Vec<Vec<serde_json::Value>> = rows
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|v| match v {
                        Value::Null => serde_json::Value::Null,
                        Value::Integer(n) => (*n).into(),
                        Value::Real(x) => (*x).into(),
                        Value::Text(t) => t.as_str().into(),
                        Value::Blob(b) => String::from_utf8_lossy(b).into_owned().into(),
                    })
                    .collect()
            })
            .collect();
        let json = serde_json::to_string(&json).map_err(|e| SqlError::new(1105, e.to_string()))?;
        let columns: Vec<String> = rows
            .names
            .iter()
            .enumerate()
            .map(|(i, n)| format!("value ->> {i} AS {}", quote(n)))
            .collect();
        let sql = format!(
            "SELECT key FROM (SELECT key, {} FROM json_each(?1)) WHERE {condition} ORDER BY key",
            columns.join(", ")
        );
        let connection = self.connection()?;
        let mut statement = connection.db().prepare(&sql).map_err(from_rusqlite)?;
        let kept: Vec<i64> = statement
            .query_map([&json], |r| r.get(0))
            .map_err(from_rusqlite)?
            .collect::<rusqlite::Result<_>>()
            .map_err(from_rusqlite)?;
        let mut rows = rows;
        let all = std::mem::take(&mut rows.rows);
        let rows_kept = kept
            .into_iter()
            .filter_map(|i| all.get(i as usize).cloned())
            .collect();
        Ok(Rows {
            rows: rows_kept,
            ..rows
        })
    }

    /// Sends a made result.
    pub fn send(&mut self, rows: Rows, more: bool, binary: bool) -> Result<()> {
        let wire: Vec<WireType> = (0..rows.names.len())
            .map(|i| {
                if let Some(Some(wire)) = rows.wire.get(i) {
                    return *wire;
                }
                match rows
                    .rows
                    .iter()
                    .map(|r| &r[i])
                    .find(|v| !matches!(v, Value::Null))
                {
                    Some(Value::Integer(_)) => WireType::bigint(),
                    Some(Value::Real(_)) => WireType::double(),
                    _ => WireType::text(255),
                }
            })
            .collect();
        let mut status = self.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        let deprecates_eof = self.deprecates_eof();
        put_lenenc(self.writer.begin(), rows.names.len() as u64);
        self.writer.end();
        let mut packets = Vec::new();
        for (name, wire) in rows.names.iter().zip(&wire) {
            let column = Column {
                schema: "",
                table: "",
                org_table: "",
                name,
                org_name: name,
                wire: *wire,
            };
            put_packet(&mut packets, |out| column.put(out));
        }
        self.writer.replay(&packets);
        if !deprecates_eof {
            reply::eof(&mut self.writer, status, 0);
        }
        for row in &rows.rows {
            let out = self.writer.begin();
            if binary {
                out.push(0);
                let nulls = out.len();
                out.resize(nulls + (row.len() + 9) / 8, 0);
                for (i, (value, wire)) in row.iter().zip(&wire).enumerate() {
                    match value {
                        Value::Null => out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8),
                        value => put_binary(out, borrowed(value), wire),
                    }
                }
            } else {
                for (value, wire) in row.iter().zip(&wire) {
                    put_text(out, borrowed(value), wire);
                }
            }
            self.writer.end();
            self.writer
                .flush_if_full()
                .map_err(|_| SqlError::interrupted())?;
        }
        // SHOW WARNINGS has none itself: a client that shows them would ask for ever.
        let warnings = 0;
        if deprecates_eof {
            reply::result_end(&mut self.writer, status, warnings);
        } else {
            reply::eof(&mut self.writer, status, warnings);
        }
        self.state.set_found_rows(rows.rows.len() as i64);
        Ok(())
    }
}

/// Column names of a SHOW's WHERE may be keywords in backticks; they stay as they are.
fn strip(expr: &Expr) -> Expr {
    Expr::Nested(Box::new(expr.clone()))
}
