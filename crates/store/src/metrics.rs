//! Metrics of the databases, with MySQL's names where the meaning is MySQL's.
//!
//! SQLite's counters of a connection (its page cache) are collected every 32 statements: see
//! [`Connection::gather`](super::Connection::gather).

use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::ffi;

/// KiB that a session's cache of one database may take: [`BUFFER_POOL_SIZE`].
pub const CACHE_KIB: i64 = 16_384;

/// Bytes of a page: SQLite's default since 3.12, and nothing here changes it.
pub const PAGE_BYTES: u64 = 4096;

tare::metrics! {
    /// Pages that sessions requested from their caches; collected every 32 statements of a session.
    pub static BUFFER_POOL_READ_REQUESTS: StatusCounter = "buffer_pool_read_requests", "buffer", enabled;
    /// Pages that were in no session's cache and were read; collected every 32 statements of a session.
    pub static BUFFER_POOL_READS: StatusCounter = "buffer_pool_reads", "buffer", enabled;
    /// Pages that sessions wrote from their caches; collected every 32 statements of a session.
    pub static BUFFER_POOL_WRITE_REQUESTS: StatusCounter = "buffer_pool_write_requests", "buffer", enabled;
    /// Pages written in the middle of a transaction because a cache was full.
    pub static BUFFER_POOL_SPILLS: StatusCounter = "buffer_pool_spills", "buffer", enabled;
    /// Bytes read from databases.
    pub static BUFFER_DATA_READS: StatusCounter = "buffer_data_reads", "buffer", enabled;
    /// Bytes written to databases, which happens at checkpoints.
    pub static BUFFER_DATA_WRITTEN: StatusCounter = "buffer_data_written", "buffer", enabled;
    /// Pages written to databases.
    pub static BUFFER_PAGES_WRITTEN: StatusCounter = "buffer_pages_written", "buffer", enabled;
    /// Pages read from databases.
    pub static BUFFER_PAGES_READ: StatusCounter = "buffer_pages_read", "buffer", enabled;

    /// Pages appended to write-ahead logs.
    pub static LOG_WRITE_REQUESTS: StatusCounter = "log_write_requests", "log", enabled;
    /// Writes to write-ahead logs.
    pub static LOG_WRITES: StatusCounter = "log_writes", "log", enabled;
    /// Checkpoints: write-ahead logs that were copied into their databases.
    pub static LOG_CHECKPOINTS: Counter = "log_checkpoints", "log", enabled;

    /// Bytes written to write-ahead logs.
    pub static OS_LOG_BYTES_WRITTEN: StatusCounter = "os_log_bytes_written", "os", enabled;
    /// Write-ahead logs forced to disk.
    pub static OS_LOG_FSYNCS: StatusCounter = "os_log_fsyncs", "os", enabled;
    /// Reads of databases.
    pub static OS_DATA_READS: StatusCounter = "os_data_reads", "os", enabled;
    /// Writes to databases.
    pub static OS_DATA_WRITES: StatusCounter = "os_data_writes", "os", enabled;
    /// Databases forced to disk.
    pub static OS_DATA_FSYNCS: StatusCounter = "os_data_fsyncs", "os", enabled;
    /// Writes of sorts and temporary tables that did not fit in memory.
    pub static OS_TEMP_WRITES: Counter = "os_temp_writes", "os";

    /// Transactions that had to wait for the right to write to a database.
    pub static LOCK_ROW_LOCK_WAITS: StatusCounter = "lock_row_lock_waits", "lock", enabled;
    /// Milliseconds that transactions waited for the right to write to a database.
    pub static LOCK_ROW_LOCK_TIME: StatusCounter = "lock_row_lock_time", "lock", enabled;
    /// Waits for the right to write that took too long.
    pub static LOCK_TIMEOUTS: Counter = "lock_timeouts", "lock", enabled;
    /// Transactions rolled back because they may have waited for each other.
    pub static LOCK_DEADLOCKS: Counter = "lock_deadlocks", "lock", enabled;
    /// Statements that SQLite refused because another process had the database (SQLITE_BUSY).
    pub static LOCK_BUSY: Counter = "lock_busy", "lock", enabled;

    /// Bytes that a session's cache of one database may take.
    pub static BUFFER_POOL_SIZE: Value = "buffer_pool_size", "server", enabled;
    /// Bytes of a new database's page.
    pub static PAGE_SIZE: Value = "innodb_page_size", "server", enabled;

    /// Files that SQLite has open.
    pub static FILE_NUM_OPEN_FILES: Value = "file_num_open_files", "file_system", enabled;
}

/// Caches of all connections, and their bytes, as each connection reported last.
static CACHES: AtomicI64 = AtomicI64::new(0);
static CACHE_BYTES: AtomicI64 = AtomicI64::new(0);

/// The caches of one connection, as it reported last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheUsage {
    /// Caches: one for each attached database.
    pub(crate) caches: i64,
    /// Their bytes.
    pub(crate) bytes: i64,
}

impl CacheUsage {
    /// Replaces what the connection reported before in the totals.
    pub(crate) fn update(&mut self, now: Self) {
        CACHES.fetch_add(now.caches - self.caches, Ordering::Relaxed);
        CACHE_BYTES.fetch_add(now.bytes - self.bytes, Ordering::Relaxed);
        *self = now;
    }
}

/// The pages that the caches of all connections may have, and the bytes that they take, as each connection
/// reported last: every 32 statements.
pub fn caches() -> (u64, u64) {
    let caches = CACHES.load(Ordering::Relaxed).max(0) as u64;
    let pages = CACHE_KIB as u64 * 1024 / PAGE_BYTES;
    let bytes = CACHE_BYTES.load(Ordering::Relaxed).max(0) as u64;
    (caches * pages, bytes)
}

/// Counts a refusal of SQLite's, by its extended code.
pub fn count_refusal(code: i32) {
    if code & 0xff == ffi::SQLITE_BUSY {
        LOCK_BUSY.add(1);
        if code == ffi::SQLITE_BUSY_SNAPSHOT {
            LOCK_DEADLOCKS.add(1);
        }
    }
}

/// Sets the metrics that never change.
pub fn publish_constants() {
    BUFFER_POOL_SIZE.set(CACHE_KIB * 1024);
    PAGE_SIZE.set(PAGE_BYTES as i64);
}
