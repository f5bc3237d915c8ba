//! The transactions of a session, and its write locks of databases.

use std::sync::atomic::Ordering;

use tare::metadata::MetadataLock;
use tare::transaction::{Isolation, Mode};
use tare::{LockDuration, LockType, Namespace};

use crate::metrics;
use crate::points;
use crate::session::{Locks, Session};
use crate::status::Counter;
use tare_dialect::plan::Sql;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;
use tare_store::metrics as locks;
use tare_store::write_lock::WriteGuard;
use tare_store::{Control, Databases};

/// SQLite's only isolation level.
const SERIALIZABLE: Mode = Mode {
    isolation: Isolation::Serializable,
    read_only: false,
    autocommit: false,
};

/// Acquires the write lock of a database for the transaction, unless the session holds it.
pub fn lock_for_transaction(session: &mut Session, database: &str) -> Result<()> {
    if session.locks.confirm(database) {
        return Ok(());
    }
    let guard = acquire_write_lock(session, database)?;
    session.locks.transaction.add(database, guard);
    Ok(())
}

/// Acquires what the locking clauses of a SELECT request. FOR UPDATE is the write lock of each database, until
/// the transaction ends; under autocommit it waits for the sessions that write. FOR SHARE locks nothing: a
/// transaction reads a snapshot. With NOWAIT or SKIP LOCKED neither waits: 3572 if another session writes.
pub fn lock_rows(session: &mut Session, sql: &Sql) -> Result<()> {
    let locks = sql.row_locks;
    if !locks.for_update && !locks.no_wait {
        return Ok(());
    }
    for database in &sql.databases {
        if session.locks.confirm(database) {
            continue;
        }
        let guard = match locks.no_wait {
            true => acquire_write_lock_now(session, database)?,
            false => acquire_write_lock(session, database)?,
        };
        if locks.for_update && session.transaction.open {
            session.locks.transaction.add(database, guard);
        }
    }
    Ok(())
}

/// Acquires the write lock of a database. 3572: another session has it.
fn acquire_write_lock_now(session: &Session, database: &str) -> Result<WriteGuard> {
    let writers = session.shared.databases.write_lock(database);
    let Some(guard) = writers.try_acquire_from_readers() else {
        return Err(SqlError::new(
            3572,
            "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.",
        ));
    };
    let mut lock = MetadataLock::new(&points::MDL, Namespace::Schema, database, "");
    lock.granted(LockType::Exclusive, LockDuration::Transaction);
    Ok(guard.with_metadata_lock(lock))
}

/// Queues a transaction that reads now and probably writes later as a writer: after another session's
/// write its snapshot would be too old for a write. Other writers do not wait for it.
///
/// It queues once: after its first read its snapshot does not change, whatever it waits for.
pub fn queue_as_writer(
    databases: &Databases,
    locks: &mut Locks,
    control: &Control,
    database: &str,
) {
    if locks.has(database) || locks.has_missed(database) {
        return;
    }
    let writers = databases.write_lock(database);
    let mut lock = MetadataLock::new(&points::MDL, Namespace::Schema, database, "");
    let holds = !locks.is_empty();
    let guard = writers.try_expect().or_else(|| {
        // Whoever has that lock may wait for one of this session's.
        if holds {
            return None;
        }
        let _waits = crate::blocking::mark_blocked();
        tare::stage::set(&points::WAITING_FOR_COMMIT);
        let wait = lock.wait(LockType::Exclusive, LockDuration::Transaction);
        let guard = writers.expect(|| control.must_stop());
        drop(wait);
        guard
    });
    if let Some(guard) = guard {
        lock.granted(LockType::Exclusive, LockDuration::Transaction);
        let guard = guard.with_metadata_lock(lock);
        locks.transaction.add(database, guard);
    } else {
        locks.miss(database);
    }
}

/// Acquires the write lock of a database.
pub fn acquire_write_lock(session: &mut Session, database: &str) -> Result<WriteGuard> {
    let writers = session.shared.databases.write_lock(database);
    let mut lock = MetadataLock::new(&points::MDL, Namespace::Schema, database, "");
    if let Some(guard) = writers.try_acquire() {
        session
            .registration
            .status()
            .add(Counter::TableLocksImmediate, 1);
        lock.granted(LockType::Exclusive, LockDuration::Transaction);
        return Ok(guard.with_metadata_lock(lock));
    }
    // A session that holds a write lock and waits for another one may be part of a deadlock: it gives up
    // soon.
    let holds = !session.locks.is_empty();
    let at_most = if holds {
        session
            .settings
            .lock_wait_timeout
            .min(std::time::Duration::from_millis(200))
    } else {
        session.settings.lock_wait_timeout
    };
    let control = session.control.clone();
    let _waits = crate::blocking::mark_blocked();
    tare::stage::set(&points::WAITING_FOR_COMMIT);
    let wait = lock.wait(LockType::Exclusive, LockDuration::Transaction);
    let waiting = &session.shared.counters.lock_waiting;
    waiting.fetch_add(1, Ordering::Relaxed);
    let (entered, waited) = writers.acquire(at_most, || control.must_stop());
    waiting.fetch_sub(1, Ordering::Relaxed);
    drop(wait);
    let status = session.registration.status();
    status.add(Counter::TableLocksWaited, 1);
    status.add(Counter::LockTime, waited);
    let longest = &session.shared.counters.longest_lock_wait;
    longest.fetch_max(waited, Ordering::Relaxed);
    match entered {
        Some(guard) => {
            lock.granted(LockType::Exclusive, LockDuration::Transaction);
            Ok(guard.with_metadata_lock(lock))
        }
        None if session.control.must_stop() => Err(SqlError::interrupted()),
        None if holds => {
            locks::LOCK_DEADLOCKS.add(1);
            roll_back(session);
            Err(SqlError::deadlock())
        }
        None => {
            locks::LOCK_TIMEOUTS.add(1);
            Err(SqlError::lock_timeout())
        }
    }
}

/// Applies an error to the transaction: a deadlock rolls it back, as in MySQL.
pub fn handle_error(session: &mut Session, error: SqlError) -> SqlError {
    if error.code == 1213 {
        session.transaction.expects_write = true;
        roll_back(session);
    } else if session.transaction.open
        && session
            .connections
            .own
            .as_ref()
            .is_some_and(|c| c.is_autocommit())
    {
        // SQLite has rolled the transaction back, because the disk is full or memory is short.
        end_transaction(session);
    }
    error
}

/// BEGIN.
pub fn begin(session: &mut Session, read_only: bool) -> Result<()> {
    commit(session)?;
    let read_only =
        read_only || session.transaction.always_read_only || session.transaction.next_read_only;
    session.transaction.next_read_only = false;
    let current = session.state.database();
    let connection = session.connections.own()?;
    if let Some(database) = current.filter(|d| !is_system_schema(d)) {
        // Attached before the transaction, which cannot change its settings. If it was dropped, a
        // statement that names it reports that.
        let _ = connection.attach(&database);
    }
    connection.begin()?;
    session.transaction.open = true;
    session.transaction.read_only = read_only;
    let mode = Mode {
        read_only,
        ..SERIALIZABLE
    };
    session.transaction.point = Some(tare::transaction::start(&points::TRANSACTION, mode));
    Ok(())
}

/// COMMIT, if a transaction is open.
pub fn commit(session: &mut Session) -> Result<()> {
    if !session.transaction.open {
        return Ok(());
    }
    let result = session.connections.own()?.execute("COMMIT");
    if let Err(error) = result {
        roll_back(session);
        return Err(error.into());
    }
    session.registration.status().add(Counter::HandlerCommit, 1);
    session.transaction.expects_write = session.transaction.wrote;
    let ended = match session.transaction.wrote {
        true => &metrics::TRX_RW_COMMITS,
        false => &metrics::TRX_RO_COMMITS,
    };
    ended.add(1);
    if let Some(point) = session.transaction.point.take() {
        point.commit();
    }
    end_transaction(session);
    Ok(())
}

/// ROLLBACK, if a transaction is open.
pub fn roll_back(session: &mut Session) {
    if session.transaction.open {
        metrics::TRX_ROLLBACKS.add(1);
        session
            .registration
            .status()
            .add(Counter::HandlerRollback, 1);
        if let Some(connection) = &mut session.connections.own
            && !connection.is_autocommit()
        {
            // It fails only if there is nothing to roll back.
            let _ = connection.execute("ROLLBACK");
        }
        end_transaction(session);
    }
}

fn end_transaction(session: &mut Session) {
    session.locks.end_transaction();
    session.transaction.end();
    session.tables.release();
}

/// Begins the transaction of a statement under autocommit.
pub fn begin_single_statement() -> tare::transaction::Transaction {
    tare::transaction::of_statement(&points::TRANSACTION, SERIALIZABLE)
}
