//! LIKE and WHERE over rows that are built in memory.

use rusqlite::types::Value;
use sqlparser::ast::Expr;

use crate::result::Rows;
use crate::runner::StatementRunner;
use crate::schema::SystemSchema;
use tare_dialect::admin::Filter;
use tare_mysql::error::{Result, SqlError};
use tare_store::connection::quote;

/// The rows that LIKE or WHERE matches: SQLite evaluates both, over the rows as JSON.
pub fn apply_filter(runner: &mut dyn StatementRunner, rows: Rows, filter: &Filter) -> Result<Rows> {
    let Some(condition) = condition(runner, &rows, filter)? else {
        return Ok(rows);
    };
    let json = json(&rows)?;
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
    let mut statement = runner
        .connection()?
        .db()
        .prepare(&sql)
        .map_err(tare_store::Error::from)?;
    let indexes: Vec<i64> = statement
        .query_map([&json], |r| r.get(0))
        .map_err(tare_store::Error::from)?
        .collect::<rusqlite::Result<_>>()
        .map_err(tare_store::Error::from)?;
    let mut rows = rows;
    let all = std::mem::take(&mut rows.rows);
    let filtered_rows = indexes
        .into_iter()
        .filter_map(|i| all.get(i as usize).cloned())
        .collect();
    Ok(Rows {
        rows: filtered_rows,
        ..rows
    })
}

/// The filter as SQLite's text, over columns of the rows' names.
fn condition(runner: &dyn StatementRunner, rows: &Rows, filter: &Filter) -> Result<Option<String>> {
    Ok(Some(match filter {
        Filter::None => return Ok(None),
        Filter::Like(pattern) => {
            let first = rows
                .names
                .get(rows.like)
                .map(|n| quote(n))
                .unwrap_or_default();
            format!("{first} LIKE '{}' ESCAPE '\\'", pattern.replace('\'', "''"))
        }
        Filter::Where(expr) => tare_dialect::translate::condition(
            parenthesize(expr),
            &mut SystemSchema::new(runner.programs()),
        )?,
    }))
}

/// The rows as a JSON array of arrays.
fn json(rows: &Rows) -> Result<String> {
    let value = |v: &Value| match v {
        Value::Null => serde_json::Value::Null,
        Value::Integer(n) => (*n).into(),
        Value::Real(x) => (*x).into(),
        Value::Text(t) => t.as_str().into(),
        Value::Blob(b) => String::from_utf8_lossy(b).into_owned().into(),
    };
    let rows = rows.rows.iter().map(|row| row.iter().map(value).collect());
    let rows: Vec<Vec<serde_json::Value>> = rows.collect();
    serde_json::to_string(&rows).map_err(|e| SqlError::new(1105, e.to_string()))
}

/// In parentheses, so that column names in backticks that are keywords stay as they are.
fn parenthesize(expr: &Expr) -> Expr {
    Expr::Nested(Box::new(expr.clone()))
}
