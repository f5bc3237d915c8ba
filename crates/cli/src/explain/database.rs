//! A database's work for a statement, which the benchmark does between events.

use rusqlite::Connection;

/// A database in memory, with a table of one row.
pub struct Database(Connection);

impl Database {
    /// Creates the database.
    pub fn new() -> rusqlite::Result<Self> {
        tare_store::sqlite::configure();
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT); INSERT INTO t VALUES (1, 'one')",
        )?;
        Ok(Self(connection))
    }

    /// Parses, plans and runs a statement.
    pub fn select(&self) -> rusqlite::Result<String> {
        let mut statement = self.0.prepare("SELECT c FROM t WHERE id = ?")?;
        statement.query_row([1], |row| row.get(0))
    }
}
