//! EXPLAIN: SQLite's plan in MySQL's columns.

mod form;
mod steps;

use rusqlite::Connection;
use tare_dialect::admin::Format;
use tare_dialect::plan::Sql;
use tare_mysql::error::Result;
use tare_store::stack;

use self::form::{json, table, tree};
use self::steps::steps;
use crate::result::Rows;
use crate::system::refused;

/// A line of EXPLAIN QUERY PLAN.
#[derive(Debug, Clone)]
pub struct Line {
    id: i64,
    parent: i64,
    text: String,
}

/// The lines of a statement that begins with EXPLAIN QUERY PLAN. Its parameters stay NULL.
///
/// # Errors
/// SQLite's.
pub fn lines(db: &Connection, sql: &Sql) -> Result<Vec<Line>> {
    stack::with_stack(true, || {
        let prepared = db.prepare(&sql.text);
        let mut statement = prepared.map_err(|error| refused(error.into(), sql))?;
        let mut lines = Vec::new();
        let mut found = statement.raw_query();
        while let Some(row) = found.next().map_err(tare_store::Error::from)? {
            lines.push(Line {
                id: row.get(0).map_err(tare_store::Error::from)?,
                parent: row.get(1).map_err(tare_store::Error::from)?,
                text: row.get(3).map_err(tare_store::Error::from)?,
            });
        }
        Ok(lines)
    })
}

/// The result of EXPLAIN.
pub fn explained(lines: &[Line], format: Format) -> Rows {
    match format {
        Format::Traditional => table(&steps(lines)),
        Format::Json => {
            let mut rows = Rows::new(&["EXPLAIN"]);
            rows.push([json(&steps(lines)).into()]);
            rows
        }
        Format::Tree => {
            let mut rows = Rows::new(&["EXPLAIN"]);
            rows.push([tree(lines).into()]);
            rows
        }
    }
}
