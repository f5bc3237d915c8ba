//! Runs changes of one database as one transaction, under the database's write lock.

use crate::session::Session;
use crate::transaction;
use tare_mysql::error::Result;
use tare_mysql::schema::is_system_schema;

/// Runs changes of a database exclusively.
pub fn run<R>(
    session: &mut Session,
    database: &str,
    changes: impl FnOnce(&mut Session) -> Result<R>,
) -> Result<R> {
    if is_system_schema(database) {
        return Err(session.database_denied(database));
    }
    let pass = match session.locks.tables.has(database) {
        true => None,
        false => Some(transaction::acquire_write_lock(session, database)?),
    };
    session.connections.own()?.attach(database)?;
    // SQLite deletes a table's rows when it drops it, which foreign keys would cascade to other tables.
    // In MySQL a change of the schema changes no rows of another table.
    session
        .connections
        .own()?
        .batch("PRAGMA foreign_keys=OFF")?;
    let result = in_transaction(session, changes);
    session.connections.apply_foreign_key_checks()?;
    drop(pass);
    session.shared.databases.schema_changed();
    result
}

fn in_transaction<R>(
    session: &mut Session,
    changes: impl FnOnce(&mut Session) -> Result<R>,
) -> Result<R> {
    session.connections.own()?.begin()?;
    let result = changes(session).and_then(|r| {
        session.connections.own()?.execute("COMMIT")?;
        Ok(r)
    });
    if result.is_err() && !session.connections.own()?.is_autocommit() {
        session.connections.own()?.execute("ROLLBACK")?;
    }
    result
}

/// A text as a literal of SQLite.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
