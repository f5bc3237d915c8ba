//! CREATE DATABASE and DROP DATABASE.

use crate::session::Session;
use crate::transaction;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

/// CREATE DATABASE.
pub fn create(session: &mut Session, name: &str, if_not_exists: bool) -> Result<u64> {
    session.shared.databases.path(name)?;
    let taken = session
        .shared
        .databases
        .names()
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name));
    if is_system_schema(name) || taken {
        let message = format!("Can't create database '{name}'; database exists");
        if if_not_exists {
            session.state.warnings.add("Note", 1007, message);
            return Ok(1);
        }
        return Err(SqlError::new(1007, message));
    }
    session.shared.databases.create(name)?;
    Ok(1)
}

/// DROP DATABASE. Returns the number of its tables.
pub fn drop(session: &mut Session, name: &str, if_exists: bool) -> Result<u64> {
    if is_system_schema(name) {
        return Err(SqlError::new(
            3552,
            format!("Access to system schema '{name}' is rejected."),
        ));
    }
    if !session.shared.databases.exists(name) {
        let message = format!("Can't drop database '{name}'; database doesn't exist");
        if if_exists {
            session.state.warnings.add("Note", 1008, message);
            return Ok(0);
        }
        return Err(SqlError::new(1008, message));
    }
    let tables = session.connections.own()?.definitions(name)?;
    let count = tables.tables.len() as u64;
    let guard = transaction::acquire_write_lock(session, name)?;
    session.statements.release(&mut session.connections);
    session.connections.own()?.forget(name)?;
    session.shared.databases.remove(name)?;
    session.shared.databases.next_ids.forget_database(name);
    for table in tables.tables.keys() {
        tare::table::dropped(name, table);
    }
    std::mem::drop(guard);
    session.shared.databases.raise_generation();
    if session.state.database().as_deref() == Some(name) {
        session.state.set_database(None);
        session.registration.set_database(None);
    }
    Ok(count)
}
