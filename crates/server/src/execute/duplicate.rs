//! Error 1062 as MySQL writes it, with the values and the name of the key: ORMs read both.
//!
//! SQLite reports only the key's columns. The statement has changed nothing, so it runs again with a clause that
//! reports the values of the row, and is rolled back.

use tare_dialect::plan::{Change, Sql};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;
use tare_mysql::table::{IndexDef, TableDef};
use tare_store::authorizer::as_server;
use tare_store::connection::quote;
use tare_store::{Cursor, StatementId};

use super::prepare::{Bind, ensure_prepared};
use crate::session::Session;

/// "Duplicate entry".
pub(super) const DUPLICATE: u16 = 1062;

/// Calls in translated statements that do something, so that the statement must not run again.
const CALLS_WITH_EFFECT: [&str; 8] = [
    "benchmark(",
    "get_lock(",
    "last_insert_id(",
    "release_all_locks(",
    "release_lock(",
    "sleep(",
    "tare_set_variable(",
    "uuid_short(",
];

/// The error with the key's name and the row's values; any other error as it is.
pub fn describe(
    session: &mut Session,
    sql: &Sql,
    change: Change,
    bind: Bind<'_>,
    error: SqlError,
) -> SqlError {
    if error.code != DUPLICATE {
        return error;
    }
    let Some((table, index)) = find_key(session, sql, &error.message) else {
        return error;
    };
    let has_table = session.shared.config.series == Series::V9_7;
    let key = match has_table {
        true => format!("{}.{}", table, index.name),
        false => index.name.clone(),
    };
    let values = match change {
        Change::Insert => find_values(session, sql, &index, bind),
        _ => None,
    };
    let entry = values.map_or_else(String::new, |values| format!("'{values}' "));
    SqlError::new(DUPLICATE, format!("Duplicate entry {entry}for key '{key}'"))
}

/// The table and its index whose columns a message of SQLite names.
fn find_key(session: &mut Session, sql: &Sql, message: &str) -> Option<(String, IndexDef)> {
    let database = sql.writes.as_deref()?;
    let connection = session.connections.own().ok()?;
    let definitions = connection.definitions(database).ok()?;
    let columns = message
        .strip_prefix("Duplicate entry for key '")?
        .strip_suffix('\'')?;
    let names = |table: &TableDef, index: &IndexDef| {
        let column = |name: &String| format!("{}.{name}", table.name);
        let all: Vec<String> = index.columns.iter().map(column).collect();
        all.join(", ").eq_ignore_ascii_case(columns)
    };
    definitions.tables.values().find_map(|table| {
        let unique = table.indexes.iter().filter(|i| i.unique);
        let index = unique.into_iter().find(|index| names(table, index))?;
        Some((table.name.clone(), index.clone()))
    })
}

/// The values that are there already, joined by hyphens.
fn find_values(
    session: &mut Session,
    sql: &Sql,
    index: &IndexDef,
    bind: Bind<'_>,
) -> Option<String> {
    let can_report = sql.text.starts_with("INSERT INTO ")
        && sql.text.contains(" VALUES ")
        && !sql.text.contains(" ON CONFLICT ");
    if !can_report {
        return None;
    }
    let columns: Vec<String> = index.columns.iter().map(|c| quote(c)).collect();
    let given: Vec<String> = columns.iter().map(|c| format!("excluded.{c}")).collect();
    let mut reporting = repeatable(sql)?;
    reporting.text.push_str(&format!(
        " ON CONFLICT ({}) DO UPDATE SET {} = tare_duplicate({})",
        columns.join(", "),
        columns.first()?,
        given.join(", ")
    ));
    let connection = session.connections.own().ok()?;
    as_server(|| connection.batch("SAVEPOINT tare_duplicate")).ok()?;
    let result = run_again(session, &reporting, bind, |_| ());
    let connection = session.connections.own().ok()?;
    // Without the savepoint a second run without a conflict would change rows.
    as_server(|| connection.batch("ROLLBACK TO tare_duplicate; RELEASE tare_duplicate")).ok()?;
    result
        .err()
        .filter(|e| e.code == DUPLICATE)
        .map(|e| e.message)
}

/// The statement, if it may run again.
pub(super) fn repeatable(sql: &Sql) -> Option<Sql> {
    let lower = sql.text.to_ascii_lowercase();
    let has_effect = CALLS_WITH_EFFECT.iter().any(|call| lower.contains(call));
    (!has_effect).then(|| sql.clone())
}

/// Runs a statement again, and passes each row that it returns. Its warnings are there already.
pub(super) fn run_again(
    session: &mut Session,
    sql: &Sql,
    bind: Bind<'_>,
    on_row: impl FnMut(&Cursor<'_>),
) -> Result<()> {
    let warned = session.state.warnings.count();
    let result = run(session, sql, bind, on_row);
    session.state.warnings.truncate(warned);
    result
}

/// The same, where its warnings are not there.
pub(super) fn run(
    session: &mut Session,
    sql: &Sql,
    bind: Bind<'_>,
    mut on_row: impl FnMut(&Cursor<'_>),
) -> Result<()> {
    if let Some(numbers) = session.state.numbers.lock().as_mut() {
        numbers.restart();
    }
    let mut statement = None;
    let result = run_to_end(session, sql, &mut statement, bind, &mut on_row);
    if let Some(id) = statement {
        session.connections.close(id);
    }
    session.release();
    result
}

fn run_to_end(
    session: &mut Session,
    sql: &Sql,
    statement: &mut Option<StatementId>,
    bind: Bind<'_>,
    on_row: &mut dyn FnMut(&Cursor<'_>),
) -> Result<()> {
    let id = ensure_prepared(
        &mut session.connections,
        &session.registration,
        sql,
        statement,
    )?;
    let mut cursor = session.connections.with(id)?.run(id)?;
    bind(&mut cursor)?;
    while cursor.step()? {
        on_row(&cursor);
    }
    Ok(())
}
