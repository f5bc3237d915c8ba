//! What SHOW names: databases and tables.

use std::sync::Arc;

use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;

use crate::session::Session;

/// The database that is named, or else the session's; it has to be there, and for this account.
pub fn default_database(session: &Session, given: &Option<String>) -> Result<String> {
    let name = match given {
        Some(name) => name.clone(),
        None => session.state.database().ok_or_else(SqlError::no_database)?,
    };
    if !session.shared.databases.exists(&name) {
        return Err(SqlError::unknown_database(&name));
    }
    if !session.is_root() && !is_system_schema(&name) {
        return Err(session.database_denied(&name));
    }
    Ok(name)
}

/// The tables and views of a user's database, by name.
pub fn definitions(session: &mut Session, database: &str) -> Result<Vec<Arc<TableDef>>> {
    let mut all: Vec<_> = session
        .connections
        .own()?
        .definitions(database)?
        .tables
        .values()
        .cloned()
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// A table of the user's, and the database that it is in.
pub fn one(
    session: &mut Session,
    database: &Option<String>,
    table: &str,
) -> Result<(String, Arc<TableDef>)> {
    let database = default_database(session, database)?;
    let def = session
        .connections
        .own()?
        .table(&database, table)?
        .ok_or_else(|| SqlError::no_such_table(&database, table))?;
    Ok((database, def))
}

/// A catalog's table, if it is one.
pub fn system_table(
    session: &Session,
    database: &Option<String>,
    table: &str,
) -> Result<Option<&'static dyn tare_rows::describe::Table>> {
    let database = default_database(session, database)?;
    if !is_system_schema(&database) {
        return Ok(None);
    }
    tare_sys::table(&database, table)
        .map(Some)
        .ok_or_else(|| SqlError::no_such_table(&database, table))
}
