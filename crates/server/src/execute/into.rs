//! SELECT ... INTO @variable, and DO.

use rusqlite::types::Value;

use super::prepare::{self, Run};
use crate::session::Session;
use tare_dialect::plan::Sql;
use tare_mysql::error::{Result, SqlError};
use tare_query::result::owned;
use tare_store::Cursor;

/// SELECT ... INTO @a, @b: one row's values.
pub fn select_into(session: &mut Session, sql: &Sql, names: &[String], run: Run<'_>) -> Result<()> {
    let mut row: Option<Vec<Value>> = None;
    let mut rows = 0;
    let more = run.answer.more;
    each_row(session, sql, run, &mut |cursor| {
        if cursor.columns() != names.len() {
            return Err(SqlError::new(
                1222,
                "The used SELECT statements have a different number of columns",
            ));
        }
        rows += 1;
        if rows > 1 {
            return Err(SqlError::new(1172, "Result consisted of more than one row"));
        }
        row = Some((0..names.len()).map(|i| owned(cursor.value(i))).collect());
        Ok(())
    })?;
    match row {
        Some(values) => {
            for (name, value) in names.iter().zip(values) {
                session.state.user_variables.set(name, value);
            }
        }
        None => session.state.warnings.add(
            "Warning",
            1329,
            "No data - zero rows fetched, selected, or processed",
        ),
    }
    session.done(rows, 0, more);
    Ok(())
}

/// DO: evaluates, and tells nothing.
pub fn evaluate_all(session: &mut Session, sql: &Sql, run: Run<'_>) -> Result<()> {
    let more = run.answer.more;
    each_row(session, sql, run, &mut |_| Ok(()))?;
    session.done(0, 0, more);
    Ok(())
}

fn each_row(
    session: &mut Session,
    sql: &Sql,
    run: Run<'_>,
    each: &mut dyn FnMut(&Cursor<'_>) -> Result<()>,
) -> Result<()> {
    prepare::ready(session, sql)?;
    let id = prepare::statement(session, sql, run.statement)?;
    let (connection, catalog) = session.connections.with_catalog(id, sql)?;
    let _snapshot = catalog.map(|c| c.statement());
    let mut cursor = connection.run(id)?;
    (run.bind)(&mut cursor)?;
    while cursor.step()? {
        each(&cursor)?;
    }
    Ok(())
}
