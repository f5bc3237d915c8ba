//! INSERT IGNORE and foreign keys: a row without a parent is left out, and is a warning.
//!
//! SQLite's OR IGNORE does not apply to foreign keys, so the statement has failed, and has changed nothing. It runs
//! again with the checks put off, and then the rows without a parent are deleted.

use tare_dialect::plan::{Change, Sql};
use tare_mysql::error::{Result, SqlError};
use tare_store::connection::quote;

use super::duplicate::{repeatable, run};
use super::foreign_key::{self, MAX_ROWS};
use super::prepare::Bind;
use crate::session::Session;

/// Runs an INSERT IGNORE that has failed because of a foreign key, and returns the numbers of the rows that it has
/// added. `warned` is the number of warnings that were there before it.
pub fn insert_without_violations(
    session: &mut Session,
    sql: &Sql,
    bind: Bind<'_>,
    (warned, error): (u16, SqlError),
) -> Result<Vec<i64>> {
    let Some(again) = repeatable(sql) else {
        return Err(foreign_key::describe(
            session,
            sql,
            Change::Insert,
            bind,
            error,
        ));
    };
    session.state.warnings.truncate(warned);
    session.state.reset_counts();
    foreign_key::put_off(session).ok_or_else(|| error.clone())?;
    let failed = match insert(session, again, bind, error) {
        Ok(ids) => {
            let release = "PRAGMA defer_foreign_keys = OFF; RELEASE tare_foreign";
            match foreign_key::batch(session, release) {
                Some(()) => return Ok(ids),
                None => foreign_key::missing_parent(""),
            }
        }
        Err(error) => error,
    };
    foreign_key::roll_back(session);
    Err(failed)
}

/// Inserts the rows, and deletes those without a parent.
fn insert(
    session: &mut Session,
    mut sql: Sql,
    bind: Bind<'_>,
    error: SqlError,
) -> Result<Vec<i64>> {
    let keys = foreign_key::keys(session, &sql, Change::Insert);
    let (Some((own, _)), Some(database), Some(table)) = (keys, &sql.writes, &sql.target) else {
        return Err(error);
    };
    let (database, table) = (database.clone(), table.clone());
    sql.text.push_str(&foreign_key::returning(&own));
    let mut rows = Vec::new();
    run(session, &sql, bind, |cursor| {
        if rows.len() <= MAX_ROWS {
            rows.push(foreign_key::values(cursor));
        }
    })?;
    if rows.len() > MAX_ROWS {
        return Err(error);
    }
    // A row whose parent is deleted has none, either.
    loop {
        let before = rows.len();
        let mut deleted = Ok(());
        rows.retain(|row| {
            let violated = foreign_key::violated_by(session, &database, &own, row);
            let (Some(violated), Some(Some(id))) = (violated, row.first()) else {
                return true;
            };
            let delete = format!(
                "DELETE FROM {}.{} WHERE rowid = {id}",
                quote(&database),
                quote(&table)
            );
            let warning = foreign_key::missing_parent(&own[violated].text(&database));
            match foreign_key::batch(session, &delete) {
                Some(()) => session
                    .state
                    .warnings
                    .add("Warning", warning.code, warning.message),
                None => deleted = Err(warning),
            }
            false
        });
        deleted?;
        if rows.len() == before {
            break;
        }
    }
    let ids = rows
        .iter()
        .filter_map(|row| row.first()?.as_ref()?.parse().ok());
    Ok(ids.collect())
}
