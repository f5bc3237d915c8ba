//! Runs changes of one database as one transaction, under the database's write lock.

use crate::session::Session;
use crate::transaction;
use tare_mysql::error::Result;
use tare_mysql::schema::is_system_schema;
use tare_store::Connection;

/// Runs changes of a database exclusively.
pub fn run<R>(
    session: &mut Session,
    database: &str,
    changes: impl FnOnce(&mut Connection) -> Result<R>,
) -> Result<R> {
    if is_system_schema(database) {
        return Err(session.database_denied(database));
    }
    let guard = match session.locks.tables.has(database) {
        true => None,
        false => Some(transaction::acquire_write_lock(session, database)?),
    };
    let connection = session.connections.own()?;
    connection.attach(database)?;
    // SQLite deletes a table's rows when it drops it, which foreign keys would cascade to other tables.
    // In MySQL a change of the schema changes no rows of another table.
    connection.batch("PRAGMA foreign_keys=OFF")?;
    let result = in_transaction(connection, changes);
    session.connections.apply_foreign_key_checks()?;
    drop(guard);
    session.shared.databases.raise_generation();
    result
}

fn in_transaction<R>(
    connection: &mut Connection,
    changes: impl FnOnce(&mut Connection) -> Result<R>,
) -> Result<R> {
    connection.begin()?;
    let result = changes(connection).and_then(|r| {
        connection.execute("COMMIT")?;
        Ok(r)
    });
    if result.is_err() && !connection.is_autocommit() {
        connection.execute("ROLLBACK")?;
    }
    result
}

/// A text as a literal of SQLite.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
