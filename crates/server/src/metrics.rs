//! The server's metrics, with MySQL's names where the meaning is the same. Those of databases are in
//! tare-store.

tare::metrics! {
    /// Rows examined.
    pub static DML_READS: StatusCounter = "dml_reads", "dml";
    /// Rows inserted, and replaced.
    pub static DML_INSERTS: StatusCounter = "dml_inserts", "dml", enabled;
    /// Rows updated.
    pub static DML_UPDATES: StatusCounter = "dml_updates", "dml", enabled;
    /// Rows deleted.
    pub static DML_DELETES: StatusCounter = "dml_deletes", "dml", enabled;

    /// Sorts of statements' rows.
    pub static STATEMENT_SORTS: Counter = "statement_sorts", "statement";
    /// Rows examined by full scans.
    pub static STATEMENT_FULL_SCAN_ROWS: Counter = "statement_full_scan_rows", "statement";
    /// Statements that were in the session's cache.
    pub static STATEMENT_CACHE_HITS: Counter = "statement_cache_hits", "statement", enabled;
    /// Statements that had to be translated and prepared.
    pub static STATEMENT_CACHE_MISSES: Counter = "statement_cache_misses", "statement", enabled;

    /// Transactions committed that had written.
    pub static TRX_RW_COMMITS: Counter = "trx_rw_commits", "transaction", enabled;
    /// Transactions committed that had only read.
    pub static TRX_RO_COMMITS: Counter = "trx_ro_commits", "transaction", enabled;
    /// Statements that only read, outside of a transaction.
    pub static TRX_NL_RO_COMMITS: Counter = "trx_nl_ro_commits", "transaction";
    /// Transactions rolled back.
    pub static TRX_ROLLBACKS: Counter = "trx_rollbacks", "transaction", enabled;
    /// Transactions rolled back to a savepoint.
    pub static TRX_ROLLBACKS_SAVEPOINT: Counter = "trx_rollbacks_savepoint", "transaction", enabled;

    /// Connections that clients opened.
    pub static CONNECTIONS_OPENED: Counter = "connections_made", "server", enabled;
    /// Open connections.
    pub static CONNECTIONS: Value = "connections", "server", enabled;
}
