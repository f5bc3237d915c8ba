//! LOCK TABLES.

use crate::session::Session;
use crate::transaction;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_query::programs;
use tare_sys::Sys;

/// Locks the databases of tables (database, table, whether for writing), and releases earlier locks.
pub fn lock(session: &mut Session, tables: &[(String, String, bool)]) -> Result<()> {
    transaction::commit(session)?;
    session.locks.tables.clear();
    let current = session.state.database();
    for (database, table, write) in tables {
        let database = match database.is_empty() {
            true => current.clone().ok_or_else(SqlError::no_database)?,
            false => database.clone(),
        };
        if database.eq_ignore_ascii_case("performance_schema") {
            let series = session.shared.config.series;
            let definition = programs::table(Sys::of(series), &database, table)
                .ok_or_else(|| SqlError::no_such_table(&database, table))?;
            // A lock on a table that can be updated is accepted and excludes no other session, because all sessions
            // share its rows.
            if definition.update().is_none() {
                let (user, host) = session.state.account();
                return Err(SqlError::command_denied(
                    series,
                    "SELECT, LOCK TABLES",
                    (&user, &host),
                    (&database, table),
                ));
            }
        }
        if !is_system_schema(&database) {
            let connection = session.connections.own()?;
            if connection.table(&database, table)?.is_none() {
                return Err(SqlError::no_such_table(&database, table));
            }
        }
        if *write && !session.locks.tables.has(&database) {
            let guard = transaction::acquire_write_lock(session, &database)?;
            session.locks.tables.add(&database, guard);
        }
    }
    Ok(())
}
