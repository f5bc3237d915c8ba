//! What SHOW names: databases and tables.

use std::sync::Arc;

use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;
use tare_rows::describe::Table;

use super::session::Session;
use crate::programs;

/// The database that is named, or else the session's; it has to be there, and for this account.
pub fn default_database(session: &dyn Session, given: &Option<String>) -> Result<String> {
    let name = match given {
        Some(name) => name.clone(),
        None => session.database().ok_or_else(SqlError::no_database)?,
    };
    session.may_see(&name)?;
    Ok(name)
}

/// A table of the user's, and the database that it is in.
pub fn one(
    session: &mut dyn Session,
    database: &Option<String>,
    table: &str,
) -> Result<(String, Arc<TableDef>)> {
    let database = default_database(session, database)?;
    let mut all = session.definitions(&database)?.into_iter();
    let def = all
        .find(|def| def.name == table)
        .ok_or_else(|| SqlError::no_such_table(&database, table))?;
    Ok((database, def))
}

/// A table of the system schemas, if the database is one of those.
pub fn system_table(
    session: &dyn Session,
    database: &Option<String>,
    table: &str,
) -> Result<Option<&'static dyn Table>> {
    let database = default_database(session, database)?;
    if !is_system_schema(&database) {
        return Ok(None);
    }
    programs::table(session.programs(), &database, table)
        .map(Some)
        .ok_or_else(|| SqlError::no_such_table(&database, table))
}
