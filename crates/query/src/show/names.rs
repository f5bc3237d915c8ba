//! What SHOW names: databases and tables.

use std::sync::Arc;

use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::session::SessionFacts;
use tare_mysql::table::TableDef;
use tare_rows::describe::Table;

use crate::programs;
use crate::rights::check_database;
use crate::runner::StatementRunner;

/// The given database, or else the session's.
///
/// # Errors
/// 1046 where there is none, and those of [`check_access`].
pub fn default_database(runner: &dyn StatementRunner, given: &Option<String>) -> Result<String> {
    let name = match given {
        Some(name) => name.clone(),
        None => runner
            .context()
            .database()
            .ok_or_else(SqlError::no_database)?,
    };
    check_access(runner.context(), &name)?;
    Ok(name)
}

/// Whether the account may read a user's database, and there is one. Everybody may read the definitions of
/// system schemas.
///
/// # Errors
/// 1044, 1049.
pub fn check_access(facts: &dyn SessionFacts, database: &str) -> Result<()> {
    if is_system_schema(database) {
        return Ok(());
    }
    check_database(facts, database)?;
    match facts.has_database(database) {
        true => Ok(()),
        false => Err(SqlError::unknown_database(database)),
    }
}

/// The tables and views of a user's database, sorted, as the session's connection reads them.
///
/// # Errors
/// SQLite's.
pub fn definitions(runner: &mut dyn StatementRunner, database: &str) -> Result<Vec<Arc<TableDef>>> {
    let definitions = runner.connection()?.definitions(database)?;
    let mut all: Vec<_> = definitions.tables.values().cloned().collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// A user's table and its database.
pub fn user_table(
    runner: &mut dyn StatementRunner,
    database: &Option<String>,
    table: &str,
) -> Result<(String, Arc<TableDef>)> {
    let database = default_database(runner, database)?;
    let mut all = definitions(runner, &database)?.into_iter();
    let def = all
        .find(|def| def.name == table)
        .ok_or_else(|| SqlError::no_such_table(&database, table))?;
    Ok((database, def))
}

/// A table of the system schemas, if the database is one of those.
pub fn system_table(
    runner: &dyn StatementRunner,
    database: &Option<String>,
    table: &str,
) -> Result<Option<&'static dyn Table>> {
    let database = default_database(runner, database)?;
    if !is_system_schema(&database) {
        return Ok(None);
    }
    programs::table(runner.programs(), &database, table)
        .map(Some)
        .ok_or_else(|| SqlError::no_such_table(&database, table))
}
