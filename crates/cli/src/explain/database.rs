//! What a database does for a statement: what a rehearsal has happen between two events.

use rusqlite::Connection;

/// A database in memory, with a table of one row.
pub struct Sample(Connection);

impl Sample {
    /// Makes it.
    pub fn new() -> rusqlite::Result<Self> {
        tare_store::sqlite::configure();
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT); INSERT INTO t VALUES (1, 'one')",
        )?;
        Ok(Self(connection))
    }

    /// Reads a statement, plans it and runs it.
    pub fn select(&self) -> rusqlite::Result<String> {
        let mut statement = self.0.prepare("SELECT c FROM t WHERE id = ?")?;
        statement.query_row([1], |row| row.get(0))
    }
}
