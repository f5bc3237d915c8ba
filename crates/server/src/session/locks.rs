//! The write locks that a session holds.

use tare_store::write_lock::WriteGuard;

/// Write locks, by database.
#[derive(Debug, Default)]
pub struct WriteLocks(Vec<(String, WriteGuard)>);

impl WriteLocks {
    /// Whether a database is locked.
    pub fn has(&self, database: &str) -> bool {
        self.0.iter().any(|(name, _)| name == database)
    }

    /// Adds a lock.
    pub fn add(&mut self, database: &str, guard: WriteGuard) {
        self.0.push((database.to_owned(), guard));
    }

    /// Turns a queued writer's guard for a database into the lock, or drops the guard if its place was lost.
    /// Returns whether the database is locked.
    fn confirm(&mut self, database: &str) -> bool {
        self.0
            .retain(|(name, guard)| name != database || guard.confirm());
        self.has(database)
    }

    /// Releases all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The write locks of a session, by what holds them.
#[derive(Debug, Default)]
pub struct Locks {
    /// Locks of the transaction.
    pub transaction: WriteLocks,
    /// Locks of LOCK TABLES ... WRITE.
    pub tables: WriteLocks,
    /// Databases for which the transaction has queued as a writer, and was not granted the lock in time.
    missed: Vec<String>,
}

impl Locks {
    /// Whether a database is locked.
    pub fn has(&self, database: &str) -> bool {
        self.transaction.has(database) || self.tables.has(database)
    }

    /// Confirms that the session holds the lock of a database. Returns whether it does.
    pub fn confirm(&mut self, database: &str) -> bool {
        self.tables.has(database) || self.transaction.confirm(database)
    }

    /// Remembers that the transaction reads a database without its lock.
    pub fn miss(&mut self, database: &str) {
        self.missed.push(database.to_owned());
    }

    /// Whether the transaction reads a database without its lock, although it queued for it.
    pub fn has_missed(&self, database: &str) -> bool {
        self.missed.iter().any(|name| name == database)
    }

    /// Releases the transaction's locks.
    pub fn end_transaction(&mut self) {
        self.transaction.clear();
        self.missed.clear();
    }

    /// Whether no database is locked.
    pub fn is_empty(&self) -> bool {
        self.transaction.0.is_empty() && self.tables.0.is_empty()
    }
}
