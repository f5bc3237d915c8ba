//! What SQLite does with files ends with its statement. A test of its own: SQLite is told of the files' layer
//! before anybody uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use tare_mysql::error::SqlError;
use tare_mysql::watch::{Watch, reading, watched};

#[derive(Debug, Default)]
struct Switch(AtomicBool);

impl Watch for Switch {
    fn must_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn interruption(&self) -> SqlError {
        SqlError::interrupted()
    }
}

/// Issue 16: a text of megabytes is thousands of pages.
#[test]
fn a_statement_ends_between_two_pages_of_a_file() {
    tare_store::sqlite::configure();
    let path = std::env::temp_dir().join(format!("tare-vfs-{}.db", std::process::id()));
    let db = Connection::open(&path).expect("opens");
    db.execute_batch(
        "CREATE TABLE t (s TEXT); INSERT INTO t VALUES (hex(zeroblob(2000000))); BEGIN; \
         CREATE TABLE u (n); PRAGMA cache_size = 10",
    )
    .expect("filled");
    let switch = Arc::new(Switch::default());
    let _watched = watched(&switch);
    // The last page has to be read.
    let last = || {
        db.query_row("SELECT substr(s, -1) FROM t", [], |row| {
            row.get::<_, String>(0)
        })
    };
    {
        let _reads = reading(true);
        assert_eq!(last().as_deref(), Ok("0"));
        switch.0.store(true, Ordering::Relaxed);
        let code = last().expect_err("it ends").sqlite_error_code();
        assert_eq!(code, Some(rusqlite::ErrorCode::OperationInterrupted));
        // It is asked for the rows of a temporary file, too.
        let sorted = db.query_row(
            "SELECT count(*) FROM (SELECT s FROM t UNION SELECT s || 'x' FROM t)",
            [],
            |row| row.get::<_, i64>(0),
        );
        assert!(sorted.is_err());
    }
    // What changes rows goes on, and so does the transaction.
    assert_eq!(last().as_deref(), Ok("0"));
    assert!(!db.is_autocommit());
    db.execute_batch("INSERT INTO u SELECT length(s) FROM t; COMMIT")
        .expect("committed");
    let found = db.query_row("SELECT n FROM u", [], |row| row.get::<_, i64>(0));
    assert_eq!(found, Ok(4_000_000));
    drop(db);
    let _ = std::fs::remove_file(path);
}

/// A long text is copied from place to place. Where a transaction would be lost it is copied to the end.
#[test]
fn a_statement_that_reads_alone_is_refused_memory_when_it_must_end() {
    tare_store::sqlite::configure();
    let db = Connection::open_in_memory().expect("opens");
    db.execute_batch("CREATE TABLE t (s TEXT); INSERT INTO t VALUES (hex(zeroblob(8000000)))")
        .expect("filled");
    let switch = Arc::new(Switch::default());
    let _watched = watched(&switch);
    let copied = || {
        let sql = "SELECT length(s || 'x') FROM t";
        db.query_row(sql, [], |row| row.get::<_, i64>(0))
    };
    let _alone = reading(false);
    assert_eq!(copied(), Ok(16_000_001));
    switch.0.store(true, Ordering::Relaxed);
    let code = copied().expect_err("it ends").sqlite_error_code();
    assert_eq!(code, Some(rusqlite::ErrorCode::OutOfMemory));
    {
        let _in_transaction = reading(true);
        assert_eq!(copied(), Ok(16_000_001));
    }
}
