//! A session's transaction, and the gates it goes through.

use std::sync::atomic::Ordering;
use std::time::Instant;

use tare::{LockDuration, LockType, Namespace};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use crate::server::metrics;
use crate::server::points;
use crate::server::session::Session;
use crate::server::status::Counter;
use crate::storage::gate::Pass;
use crate::storage::metrics as locks;

impl Session {
    /// Waits for the right to write to a database.
    pub fn enter(&mut self, database: &str) -> Result<()> {
        if self.transaction.passes.iter().any(|(d, _)| d == database)
            || self.table_locks.iter().any(|(d, _)| d == database)
        {
            return Ok(());
        }
        let pass = self.wait_for(database)?;
        self.transaction.passes.push((database.to_owned(), pass));
        Ok(())
    }

    /// A pass through a database's gate.
    pub fn wait_for(&mut self, database: &str) -> Result<Pass> {
        let gate = self.shared.databases.gate(database);
        let id = self.state.id;
        let mut lock = tare::metadata::Lock::new(&points::MDL, Namespace::Schema, database, "");
        if let Some(pass) = gate.try_enter(id) {
            self.registration
                .status()
                .add(Counter::TableLocksImmediate, 1);
            lock.granted(LockType::Exclusive, LockDuration::Transaction);
            return Ok(pass.shown(lock));
        }
        // Who holds one gate and waits for another may be part of a circle: it gives way soon.
        let holds = !self.transaction.passes.is_empty() || !self.table_locks.is_empty();
        let at_most = if holds {
            self.lock_wait_timeout
                .min(std::time::Duration::from_millis(200))
        } else {
            self.lock_wait_timeout
        };
        let control = self.control.clone();
        let _waits = crate::server::scheduler::blocking();
        tare::stage::set(&points::WAITING_FOR_COMMIT);
        locks::LOCK_ROW_LOCK_WAITS.add(1);
        let wait = lock.wait(LockType::Exclusive, LockDuration::Transaction);
        let since = Instant::now();
        let entered = gate.enter(id, at_most, || control.must_stop());
        drop(wait);
        let status = self.registration.status();
        status.add(Counter::TableLocksWaited, 1);
        let waited = since.elapsed().as_millis() as u64;
        status.add(Counter::LockTime, waited);
        locks::LOCK_ROW_LOCK_TIME.add(waited);
        let longest = &self.shared.counters.longest_lock_wait;
        longest.fetch_max(waited, Ordering::Relaxed);
        match entered {
            Some(pass) => {
                lock.granted(LockType::Exclusive, LockDuration::Transaction);
                Ok(pass.shown(lock))
            }
            None if self.control.must_stop() => Err(SqlError::interrupted()),
            None if holds => {
                locks::LOCK_DEADLOCKS.add(1);
                self.roll_back();
                Err(SqlError::deadlock())
            }
            None => {
                locks::LOCK_TIMEOUTS.add(1);
                Err(SqlError::lock_timeout())
            }
        }
    }

    /// What an error means for the transaction: a deadlock rolls it back, as it does in MySQL.
    pub fn after_error(&mut self, error: SqlError) -> SqlError {
        if error.code == 1213 {
            self.expects_write = true;
            self.roll_back();
        } else if self.transaction.open
            && self.connection.as_ref().is_some_and(|c| c.is_autocommit())
        {
            // SQLite gave the transaction up: disk full, out of memory.
            self.end_transaction();
        }
        error
    }

    /// BEGIN.
    pub fn begin(&mut self, read_only: bool) -> Result<()> {
        self.commit()?;
        let read_only = read_only || self.reads_only || self.next_read_only;
        self.next_read_only = false;
        let current = self.state.database();
        let connection = self.connection()?;
        if let Some(database) = current.filter(|d| !is_system_schema(d)) {
            // Now: inside the transaction its settings could not be made. That it may have been
            // dropped is for a statement that names it to say.
            let _ = connection.attach(&database);
        }
        connection.begin()?;
        self.transaction.open = true;
        self.transaction.read_only = read_only;
        let mode = tare::transaction::Mode {
            read_only,
            ..tare::transaction::Mode::default()
        };
        self.transaction.point = Some(tare::transaction::start(&points::TRANSACTION, mode));
        Ok(())
    }

    /// COMMIT, if a transaction is open.
    pub fn commit(&mut self) -> Result<()> {
        if !self.transaction.open {
            return Ok(());
        }
        let result = self.connection()?.execute("COMMIT");
        if let Err(error) = result {
            self.roll_back();
            return Err(error);
        }
        self.registration.status().add(Counter::HandlerCommit, 1);
        self.expects_write = self.transaction.wrote;
        let ended = match self.transaction.wrote {
            true => &metrics::TRX_RW_COMMITS,
            false => &metrics::TRX_RO_COMMITS,
        };
        ended.add(1);
        if let Some(point) = self.transaction.point.take() {
            point.commit();
        }
        self.end_transaction();
        Ok(())
    }

    /// ROLLBACK, if a transaction is open.
    pub fn roll_back(&mut self) {
        if self.transaction.open {
            metrics::TRX_ROLLBACKS.add(1);
            self.registration.status().add(Counter::HandlerRollback, 1);
            if let Some(connection) = &mut self.connection
                && !connection.is_autocommit()
            {
                // It can only fail when there is nothing to roll back.
                let _ = connection.execute("ROLLBACK");
            }
            self.end_transaction();
        }
    }

    fn end_transaction(&mut self) {
        self.transaction = crate::server::session::Transaction::default();
        self.tables.release();
    }
}

/// The transaction of a statement under autocommit.
pub(super) fn single_statement() -> tare::transaction::Transaction {
    tare::transaction::of_statement(&points::TRANSACTION, tare::transaction::Mode::default())
}
