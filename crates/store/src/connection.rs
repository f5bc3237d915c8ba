//! A session's own connection to SQLite.

use std::collections::HashMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use rusqlite::OpenFlags;
use tare_mysql::date::Zone;
use tare_mysql::interrupt;
use tare_mysql::table::TableDef;

use super::authorizer::{self, as_definition, as_server};
use super::busy;
use super::control::Control;
use super::cursor::Cursor;
use super::databases::{Databases, FORMAT, SORTED_FORMAT};
use super::error::{Error, Result};
use super::log::{self, Priority};
use super::memory;
use super::metrics::{self, CACHE_KIB, CacheUsage};
use super::stack;
use super::statement::{StatementId, Statements};
use super::tables;

/// SQLite's limit (SQLITE_MAX_ATTACHED) is 10; the catalog takes five.
const MAX_ATTACHED: usize = 5;
/// Instructions of SQLite's machine between two checks of [`Control`]: some 50 microseconds.
const PROGRESS_STEPS: i32 = 10_000;

/// Statements between two reads of SQLite's counters of a connection.
const STATEMENTS_PER_GATHER: u32 = 32;

/// A connection: an empty in-memory database, to which the files are attached as they are named.
pub struct Connection {
    // Declared first: dropped, and so finalized, before the connection closes.
    statements: Statements,
    fixed: HashMap<&'static str, StatementId>,
    attached: Vec<String>,
    /// Attached inside a transaction: see [`Connection::apply_durability`].
    durability_pending: Vec<String>,
    /// Whether a database whose definitions it has read has views.
    views: bool,
    /// Whether commits wait for the disk, except those to databases in `durability_pending`.
    durable: bool,
    db: rusqlite::Connection,
    raw: NonNull<rusqlite::ffi::sqlite3>,
    databases: Arc<Databases>,
    /// Statements until SQLite's counters are read next.
    gather_in: u32,
    /// Its caches, as last added to the totals.
    cache_usage: CacheUsage,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.gather();
        self.cache_usage.update(CacheUsage::default());
    }
}

// SAFETY: `raw` is `db`'s own handle; rusqlite's connection may move between threads, and
// everything here is reached through `&mut self` or a `Cursor` that borrows it.
unsafe impl Send for Connection {}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("attached", &self.attached)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Opens a connection. `prepare` gives it the functions that its statements may call.
    pub fn open(
        databases: Arc<Databases>,
        control: Arc<Control>,
        prepare: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<()>,
    ) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Not SQLITE_OPEN_MEMORY: what is attached would be opened with it too, and lost.
        let mut db = rusqlite::Connection::open_with_flags(":memory:", flags)?;
        // Other processes may have the files open; sessions of this one wait for the write lock.
        db.busy_handler(Some(busy::wait_for_other_process))?;
        control.add_connection(&db);
        let progress = move || {
            memory::update_counting();
            control.must_stop() && !interrupt::is_ignored()
        };
        db.progress_handler(PROGRESS_STEPS, Some(progress))?;
        prepare(&db)?;
        authorizer::install(&mut db)?;
        // SAFETY: the handle is only used while `db` is open: `Statements` is cleared before.
        let raw = unsafe { db.handle() };
        let raw = NonNull::new(raw).ok_or(Error::OutOfMemory)?;
        Ok(Self {
            statements: Statements::default(),
            fixed: HashMap::new(),
            attached: Vec::new(),
            durability_pending: Vec::new(),
            views: false,
            durable: databases.is_durable(),
            db,
            raw,
            databases,
            gather_in: STATEMENTS_PER_GATHER,
            cache_usage: CacheUsage::default(),
        })
    }

    /// Counts a statement's end; every [`STATEMENTS_PER_GATHER`] statements SQLite's counters are read.
    #[inline]
    pub fn count_statement(&mut self) {
        self.gather_in -= 1;
        if self.gather_in == 0 {
            self.gather();
        }
    }

    /// Adds what SQLite has counted since the last call to the server's metrics.
    #[cold]
    pub fn gather(&mut self) {
        use rusqlite::ffi;
        self.gather_in = STATEMENTS_PER_GATHER;
        let raw = self.raw.as_ptr();
        let since_last = |what: i32| {
            let (mut now, mut most) = (0, 0);
            // SAFETY: the connection is open and this thread's; the results go to locals.
            let rc = unsafe { ffi::sqlite3_db_status(raw, what, &raw mut now, &raw mut most, 1) };
            if rc == ffi::SQLITE_OK {
                now.max(0) as u64
            } else {
                0
            }
        };
        if metrics::BUFFER_POOL_READ_REQUESTS.is_enabled()
            || metrics::BUFFER_POOL_READS.is_enabled()
        {
            let (hits, misses) = (
                since_last(ffi::SQLITE_DBSTATUS_CACHE_HIT),
                since_last(ffi::SQLITE_DBSTATUS_CACHE_MISS),
            );
            metrics::BUFFER_POOL_READ_REQUESTS.add(hits + misses);
            metrics::BUFFER_POOL_READS.add(misses);
        }
        if metrics::BUFFER_POOL_WRITE_REQUESTS.is_enabled() {
            metrics::BUFFER_POOL_WRITE_REQUESTS.add(since_last(ffi::SQLITE_DBSTATUS_CACHE_WRITE));
        }
        if metrics::BUFFER_POOL_SPILLS.is_enabled() {
            metrics::BUFFER_POOL_SPILLS.add(since_last(ffi::SQLITE_DBSTATUS_CACHE_SPILL));
        }
        self.cache_usage.update(CacheUsage {
            caches: self.attached.len() as i64,
            bytes: since_last(ffi::SQLITE_DBSTATUS_CACHE_USED) as i64,
        });
    }

    /// rusqlite's connection.
    pub fn db(&self) -> &rusqlite::Connection {
        &self.db
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        let deep = self.views || stack::is_deep(sql);
        // SAFETY: the connection is open, and `statements` is dropped before it (field order).
        stack::with_stack(deep, || unsafe {
            self.statements.prepare(self.raw.as_ptr(), sql, deep)
        })
    }

    /// Runs a prepared statement.
    pub fn run(&mut self, id: StatementId) -> Result<Cursor<'_>> {
        if self.durable != self.databases.is_durable() {
            self.change_durability()?;
        }
        let (raw, deep) = self.statements.raw(id).ok_or(Error::UnknownStatement)?;
        // SAFETY: the statement is one of this connection's, and cannot be closed while the
        // cursor borrows it.
        Ok(unsafe { Cursor::new(raw, self.raw, deep) })
    }

    /// Finalizes a statement.
    pub fn close(&mut self, id: StatementId) {
        self.statements.close(id);
    }

    /// Runs a statement without parameters or rows, and leaves it prepared.
    pub fn execute(&mut self, sql: &'static str) -> Result<()> {
        let id = match self.fixed.get(sql) {
            Some(&id) => id,
            None => {
                let id = self.prepare(sql)?;
                self.fixed.insert(sql, id);
                id
            }
        };
        while self.run(id)?.step()? {}
        Ok(())
    }

    /// Runs statements of the server that are not left prepared.
    pub fn batch(&mut self, sql: &str) -> Result<()> {
        stack::with_stack(self.views || stack::is_deep(sql), || {
            counted(as_definition(|| self.db.execute_batch(sql)))
        })
    }

    /// The one number that a client's query gives.
    pub fn number(&self, sql: &str) -> Result<i64> {
        stack::with_stack(self.views || stack::is_deep(sql), || {
            counted(self.db.query_row(sql, [], |row| row.get(0)))
        })
    }

    /// The number after the largest one that a table with AUTO_INCREMENT has, or has had in a committed state.
    ///
    /// # Errors
    /// SQLite's, for a table without numbers.
    pub fn next_id(&self, database: &str, table: &str) -> Result<u64> {
        let db = quote(database);
        let sql = format!(
            "SELECT max((SELECT coalesce(max(seq), 0) FROM {db}.sqlite_sequence WHERE name = ?1), \
             (SELECT coalesce(max(_rowid_), 0) FROM {db}.{}))",
            quote(table)
        );
        let last: i64 = as_server(|| {
            let mut statement = self.db.prepare_cached(&sql)?;
            statement.query_row([table], |row| row.get(0))
        })?;
        Ok(last.max(0).unsigned_abs() + 1)
    }

    /// Sets the number of the row that was inserted last to 0, so that a statement that inserts none is known.
    pub fn reset_inserted(&self) {
        // SAFETY: the handle is open as long as this lives.
        unsafe { rusqlite::ffi::sqlite3_set_last_insert_rowid(self.raw.as_ptr(), 0) };
    }

    /// Rows changed by the last INSERT, UPDATE or DELETE.
    pub fn changes(&self) -> u64 {
        self.db.changes()
    }

    /// Whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        self.db.is_autocommit()
    }

    /// Whether a database is attached.
    #[inline]
    pub fn is_attached(&self, name: &str) -> bool {
        self.attached.iter().any(|n| n == name)
    }

    /// Attaches a database. Returns whether it was not attached before.
    pub fn attach(&mut self, name: &str) -> Result<bool> {
        let mut attached = as_server(|| self.attach_file(name));
        if let Some(reserve) = self.databases.clone().reserve()
            && !matches!(attached, Ok(false))
        {
            let is_full =
                |attached: &Result<bool>| attached.as_ref().is_err_and(Error::is_disk_full);
            if is_full(&attached) && reserve.release_for_open() {
                attached = as_server(|| self.attach_file(name));
            }
            if attached.is_ok() {
                reserve.fill();
            }
        }
        attached
    }

    /// Empties the log of a database, as far as no reader needs it.
    pub fn empty_log(&mut self, name: &str) -> Result<()> {
        self.batch(&format!("PRAGMA {}.wal_checkpoint(TRUNCATE)", quote(name)))
    }

    fn attach_file(&mut self, name: &str) -> Result<bool> {
        if let Some(at) = self.attached.iter().position(|n| n == name) {
            if at + 1 != self.attached.len() && self.attached.len() > 2 {
                let name = self.attached.remove(at);
                self.attached.push(name);
            }
            return Ok(false);
        }
        let path = self.databases.path(name)?;
        if !path.exists() {
            return Err(Error::UnknownDatabase(name.to_owned()));
        }
        if self.attached.len() == MAX_ATTACHED {
            if !self.db.is_autocommit() {
                return Err(Error::TooManyDatabases);
            }
            let oldest = self.attached.remove(0);
            self.durability_pending.retain(|q| *q != quote(&oldest));
            self.detach(&oldest)?;
        }
        let quoted = quote(name);
        let path = path.to_str().ok_or(Error::Path)?;
        counted(self.db.execute(&format!("ATTACH ?1 AS {quoted}"), [path]))?;
        // WAL lets readers continue while one session writes. 16 MiB of pages per session.
        counted(self.db.execute_batch(&format!(
            "PRAGMA {quoted}.journal_mode=WAL; PRAGMA {quoted}.cache_size=-{CACHE_KIB}; \
             PRAGMA {quoted}.journal_size_limit=67108864"
        )))?;
        self.upgrade_format(name)?;
        self.durability_pending.push(quoted);
        self.apply_durability()?;
        self.attached.push(name.to_owned());
        Ok(true)
    }

    /// Rebuilds the indexes of texts of a file in which they have SQLite's own order. If that fails, the
    /// next session that attaches the file tries again.
    fn upgrade_format(&mut self, name: &str) -> Result<()> {
        let quoted = quote(name);
        let version = format!("PRAGMA {quoted}.user_version");
        let version: i64 = self.db.query_row(&version, [], |row| row.get(0))?;
        if version >= FORMAT || !self.db.is_autocommit() {
            return Ok(());
        }
        if version >= SORTED_FORMAT {
            self.upgrade_timestamps(name);
            return Ok(());
        }
        // REINDEX of a collation would take the other databases' files, too.
        let mut text_indexes = self.db.prepare(&format!(
            "SELECT DISTINCT i.name FROM {quoted}.sqlite_schema AS i, \
             pragma_index_xinfo(i.name, ?1) AS x WHERE i.type = 'index' AND lower(x.coll) = 'nocase'"
        ))?;
        let indexes: Vec<String> = text_indexes
            .query_map([name], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        drop(text_indexes);
        let mut upgraded = true;
        for index in indexes {
            let sorted = self
                .db
                .execute_batch(&format!("REINDEX {quoted}.{}", quote(&index)));
            if let Err(error) = sorted {
                log::write(
                    Priority::Warning,
                    "SQLite",
                    format!(
                        "database {name}: index {index} stays in the order of an earlier version: {error}. \
                     Texts that differ in accents or spaces at the end alone are equal now: change one of them"
                    ),
                );
                let _ = counted::<()>(Err(error));
                upgraded = false;
            }
        }
        if upgraded {
            let done = format!("PRAGMA {quoted}.user_version={SORTED_FORMAT}");
            let _ = counted(self.db.execute_batch(&done));
            self.upgrade_timestamps(name);
        }
        Ok(())
    }

    /// Converts a file's TIMESTAMPs to UTC, and logs a failure.
    fn upgrade_timestamps(&mut self, name: &str) {
        let Err(error) = self.convert_times(name) else {
            return;
        };
        if !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
        // Where the system's time zone is UTC, there is nothing to convert.
        if !Zone::system().is_utc() {
            log::write(
                Priority::Warning,
                "SQLite",
                format!(
                    "database {name}: TIMESTAMPs stay in the system's time, and are taken for UTC's: {error}. \
                 The next session tries again"
                ),
            );
        }
    }

    /// Converts TIMESTAMPs that an earlier version stored in the system's time zone to UTC: all or none.
    fn convert_times(&mut self, name: &str) -> Result<()> {
        let quoted = quote(name);
        counted(self.db.execute_batch("BEGIN IMMEDIATE"))?;
        let changed = (|| -> Result<()> {
            let version = format!("PRAGMA {quoted}.user_version");
            let version: i64 = self.db.query_row(&version, [], |row| row.get(0))?;
            // Another session may have done it.
            if version >= FORMAT {
                return Ok(());
            }
            let columns = match Zone::system().is_utc() {
                true => Vec::new(),
                false => tables::timestamps(&self.db, name)?,
            };
            for (table, column) in columns {
                let (table, column) = (quote(&table), quote(&column));
                counted(self.db.execute_batch(&format!(
                    "UPDATE {quoted}.{table} SET {column} = tare_system_utc({column}) WHERE {column} IS NOT NULL"
                )))?;
            }
            counted(
                self.db
                    .execute_batch(&format!("PRAGMA {quoted}.user_version={FORMAT}")),
            )
        })();
        let end = if changed.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        changed.and(counted(self.db.execute_batch(end)))
    }

    /// Sets whether commits wait for the disk (FULL), or the log is synced at checkpoints (NORMAL), which in
    /// WAL may lose the last commits but not consistency. SQLite changes that outside of transactions only:
    /// a database that is attached inside one syncs at its commit, too.
    fn apply_durability(&mut self) -> Result<()> {
        if !self.db.is_autocommit() {
            return Ok(());
        }
        let level = if self.durable { "FULL" } else { "NORMAL" };
        for quoted in self.durability_pending.drain(..) {
            let set = format!("PRAGMA {quoted}.synchronous={level}");
            as_server(|| self.db.execute_batch(&set))?;
        }
        Ok(())
    }

    /// Applies a new value of innodb_flush_log_at_trx_commit.
    #[cold]
    fn change_durability(&mut self) -> Result<()> {
        if self.db.is_autocommit() {
            self.durable = !self.durable;
            self.durability_pending = self.attached.iter().map(|name| quote(name)).collect();
        }
        self.apply_durability()
    }

    /// BEGIN.
    pub fn begin(&mut self) -> Result<()> {
        if !self.durability_pending.is_empty() {
            self.apply_durability()?;
        }
        self.execute("BEGIN")
    }

    fn detach(&mut self, name: &str) -> Result<()> {
        let detach = format!("DETACH {}", quote(name));
        Ok(as_server(|| self.db.execute_batch(&detach))?)
    }

    /// Detaches a database, before its file is removed.
    pub fn forget(&mut self, name: &str) -> Result<()> {
        if let Some(at) = self.attached.iter().position(|n| n == name) {
            self.attached.remove(at);
            self.detach(name)?;
        }
        Ok(())
    }

    /// The tables of a database.
    pub fn definitions(&mut self, name: &str) -> Result<Arc<super::databases::Definitions>> {
        self.attach(name)?;
        let databases = self.databases.clone();
        let definitions = databases.definitions(name, || {
            stack::with_stack(true, || tables::load(&self.db, name, name, databases.read))
        })?;
        self.views |= definitions.views;
        Ok(definitions)
    }

    /// One table of a database.
    pub fn table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableDef>>> {
        Ok(self.definitions(database)?.tables.get(table).cloned())
    }
}

/// Counts a refusal by SQLite.
fn counted<T>(result: rusqlite::Result<T>) -> Result<T> {
    result.map_err(|error| {
        let error = Error::from(error);
        if let Some(code) = error.sqlite_code() {
            metrics::count_refusal(code);
        }
        error
    })
}

/// A name as SQLite quotes it.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
