//! The right to write to databases, as long as a session has it.

use tare_store::write_lock::WriteGuard;

/// Databases that may be written to.
#[derive(Debug, Default)]
pub struct Passes(Vec<(String, WriteGuard)>);

impl Passes {
    /// Whether this database is among them.
    pub fn has(&self, database: &str) -> bool {
        self.0.iter().any(|(name, _)| name == database)
    }

    /// One more.
    pub fn add(&mut self, database: &str, pass: WriteGuard) {
        self.0.push((database.to_owned(), pass));
    }

    /// Makes an expectation to write to a database the right to; what was lost meanwhile is let go.
    fn confirm(&mut self, database: &str) -> bool {
        self.0
            .retain(|(name, pass)| name != database || pass.confirm());
        self.has(database)
    }

    /// Gives all of them back.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// By what a session has the right to write.
#[derive(Debug, Default)]
pub struct Locks {
    /// What it has written to in its transaction.
    pub transaction: Passes,
    /// LOCK TABLES ... WRITE.
    pub tables: Passes,
}

impl Locks {
    /// Whether the database is locked already.
    pub fn has(&self, database: &str) -> bool {
        self.transaction.has(database) || self.tables.has(database)
    }

    /// Whether the session may write to the database now, as it has locked it.
    pub fn confirm(&mut self, database: &str) -> bool {
        self.tables.has(database) || self.transaction.confirm(database)
    }

    /// Whether no database is.
    pub fn is_empty(&self) -> bool {
        self.transaction.0.is_empty() && self.tables.0.is_empty()
    }
}
