//! SELECT ... INTO @variable, and DO.

use super::prepare::{self, Run};
use crate::session::Session;
use tare_dialect::plan::Sql;
use tare_mysql::error::Result;
use tare_query::rows::{NO_DATA, SingleRow};
use tare_store::Cursor;

/// SELECT ... INTO @a, @b: assigns the values of one row.
pub fn select_into(session: &mut Session, sql: &Sql, names: &[String], run: Run<'_>) -> Result<()> {
    let mut one = SingleRow::of(names.len());
    let more = run.answer.more;
    each_row(session, sql, run, &mut |cursor| one.take(cursor))?;
    let rows = u64::from(one.row.is_some());
    match one.row {
        Some(values) => {
            for (i, (name, value)) in names.iter().zip(values).enumerate() {
                let is_number = prepare::is_number(sql, i);
                session.state.user_variables.set(name, value, is_number);
            }
        }
        None => session.state.warnings.add("Warning", 1329, NO_DATA),
    }
    session.send_counts(rows, 0, more);
    Ok(())
}

/// DO: evaluates the expressions and returns no rows.
pub fn evaluate_all(session: &mut Session, sql: &Sql, run: Run<'_>) -> Result<()> {
    let more = run.answer.more;
    each_row(session, sql, run, &mut |_| Ok(()))?;
    session.send_counts(0, 0, more);
    Ok(())
}

fn each_row(
    session: &mut Session,
    sql: &Sql,
    run: Run<'_>,
    each: &mut dyn FnMut(&Cursor<'_>) -> Result<()>,
) -> Result<()> {
    prepare::start(session, sql)?;
    let id = prepare::ensure_prepared(
        &mut session.connections,
        &session.registration,
        sql,
        run.statement,
    )?;
    let (connection, catalog) = session.connections.with_catalog(id, sql)?;
    let _snapshot = catalog.map(|c| c.statement());
    let mut cursor = connection.run(id)?;
    (run.bind)(&mut cursor)?;
    while cursor.step()? {
        each(&cursor)?;
    }
    Ok(())
}
