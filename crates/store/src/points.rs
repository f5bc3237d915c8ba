//! Instruments of the databases; those of SQLite's own mutexes are in `mutex`.

tare::classes! {
    /// The tables' definitions.
    pub static LOCK_DEFINITIONS: Mutex = "wait/synch/mutex/tare/LOCK_definitions";
    /// Who may write to a database.
    pub static LOCK_GATE: Mutex = "wait/synch/mutex/tare/LOCK_gate";
    /// A writer has left a database.
    pub static COND_GATE: Cond = "wait/synch/cond/tare/COND_gate";
    /// The list of the databases' write locks.
    pub static LOCK_GATES: RwLock = "wait/synch/rwlock/tare/LOCK_gates";
    /// A database.
    pub static SQLITE_DB: File = "wait/io/file/tare/sqlite_db", enabled;
    /// A database's write-ahead log.
    pub static SQLITE_WAL: File = "wait/io/file/tare/sqlite_wal", enabled;
    /// The index of a write-ahead log: locks that readers and writers take.
    pub static SQLITE_SHM: File = "wait/io/file/tare/sqlite_shm", enabled;
    /// A rollback journal.
    pub static SQLITE_JOURNAL: File = "wait/io/file/tare/sqlite_journal", enabled;
    /// A sort or a temporary table that did not fit in memory.
    pub static SQLITE_TEMP: File = "wait/io/file/tare/sqlite_temp", enabled;
    /// All that SQLite has allocated.
    pub static SQLITE_HEAP: Memory = "memory/sqlite/heap", enabled;
}
