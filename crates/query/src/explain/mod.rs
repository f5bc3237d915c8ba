//! EXPLAIN: SQLite's plan in MySQL's columns.

mod form;
mod lookup;
mod steps;

use rusqlite::{Connection, Row};
use tare_dialect::admin::Format;
use tare_dialect::lookup::Lookup;
use tare_dialect::plan::Sql;
use tare_mysql::error::Result;
use tare_store::stack;

use self::form::{json, table as table_of, tree};
use self::steps::steps;
use crate::programs;
use crate::result::Rows;
use crate::runner::StatementRunner;
use crate::system::prepare_error;

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
        let mut statement = prepared.map_err(|error| prepare_error(error.into(), sql))?;
        let line = |row: &Row<'_>| {
            Ok(Line {
                id: row.get(0)?,
                parent: row.get(1)?,
                text: row.get(3)?,
            })
        };
        let lines = statement.raw_query().mapped(line);
        let lines: rusqlite::Result<_> = lines.collect();
        Ok(lines.map_err(tare_store::Error::from)?)
    })
}

/// The result of EXPLAIN.
pub fn format_plan(lines: &[Line], format: Format) -> Rows {
    match format {
        Format::Traditional => table_of(&steps(lines)),
        Format::Json => Rows::single("EXPLAIN", json(&steps(lines))),
        Format::Tree => Rows::single("EXPLAIN", tree(lines)),
    }
}

/// EXPLAIN of a SELECT on one table of performance_schema. FORMAT=TREE has SQLite's plan.
///
/// # Errors
/// The errors of the statement itself.
pub fn explain_lookup(
    runner: &mut dyn StatementRunner,
    sql: &Sql,
    lookup: &Lookup,
    format: Format,
) -> Result<Rows> {
    // A statement that SQLite refuses is refused here, too.
    let lines = runner.query_plan(sql)?;
    let Some(table) = programs::table(runner.programs(), &lookup.schema, &lookup.table) else {
        return Ok(format_plan(&lines, format));
    };
    let (schema, name) = (table.schema(), table.name());
    let called = &lookup.name;
    let mut exists = |conditions: &str| {
        let query =
            format!("SELECT 1 FROM `{schema}`.`{name}` AS `{called}` WHERE {conditions} LIMIT 1");
        Ok(!runner.select(&query, &[])?.rows.is_empty())
    };
    let steps = [lookup::step(table, lookup, &mut exists)?];
    Ok(match format {
        Format::Json => Rows::single("EXPLAIN", json(&steps)),
        _ => table_of(&steps),
    })
}
