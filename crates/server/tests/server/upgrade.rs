//! Files of earlier versions, and connections outside sessions.

use std::path::Path;

use super::support::{Running, all_of, exec};

/// A database of version 0, whose indexes have SQLite's own order of texts.
fn old(directory: &Path, name: &str, unique: &str) {
    let db = rusqlite::Connection::open(directory.join(format!("{name}.db"))).expect("opens");
    db.execute_batch(&format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT COLLATE NOCASE, u TEXT COLLATE NOCASE);
         INSERT INTO t VALUES (1, 'é', 'é'), (2, 'f', 'f'), (3, 'z', 'z'), (4, 'a', 'a'), (5, 'E ', 'x');
         CREATE INDEX \"t.v\" ON t (v);
         CREATE {unique} INDEX \"t.u\" ON t (u);"
    ))
    .expect("an old file");
}

fn version(directory: &Path, name: &str) -> i64 {
    let db = rusqlite::Connection::open(directory.join(format!("{name}.db"))).expect("opens");
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
        .expect("a version")
}

#[test]
fn old_databases_are_rebuilt_when_they_are_used() {
    let running = Running::with(|config| {
        old(&config.data, "first", "UNIQUE");
        old(&config.data, "second", "");
    });
    let directory = running.directory.path();
    let mut conn = running.root();
    // A third database, of the current version, is attached as well.
    exec(&mut conn, "USE test");
    exec(&mut conn, "USE first");
    let query = "SELECT id FROM t WHERE v = 'e' ORDER BY id";
    assert_eq!(all_of(&mut conn, query), ["1", "5"]);
    let in_order = "SELECT id FROM t WHERE v > '' ORDER BY v, id";
    assert_eq!(all_of(&mut conn, in_order), ["4", "1", "5", "2", "3"]);
    assert_eq!(version(directory, "first"), 2);
    assert_eq!(version(directory, "second"), 0);
    exec(&mut conn, "USE second");
    assert_eq!(all_of(&mut conn, query), ["1", "5"]);
    assert_eq!(version(directory, "second"), 2);
}

#[test]
fn an_index_that_cannot_be_rebuilt_does_not_close_the_database() {
    let running = Running::with(|config| {
        old(&config.data, "old", "UNIQUE");
        let db = rusqlite::Connection::open(config.data.join("old.db")).expect("opens");
        db.execute("UPDATE t SET u = 'E' WHERE id = 5", [])
            .expect("changes");
    });
    let mut conn = running.root();
    exec(&mut conn, "USE old");
    let query = "SELECT id FROM t WHERE v = 'e' ORDER BY id";
    assert_eq!(all_of(&mut conn, query), ["1", "5"]);
    assert_eq!(version(running.directory.path(), "old"), 0);
    // When the texts differ, the next session rebuilds the index.
    exec(&mut conn, "UPDATE t SET u = 'y' WHERE id = 5");
    let mut next = running.root();
    exec(&mut next, "USE old");
    assert_eq!(all_of(&mut next, query), ["1", "5"]);
    assert_eq!(version(running.directory.path(), "old"), 2);
}

#[test]
fn views_that_call_functions_are_read_outside_of_sessions() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "CREATE TABLE t (a DECIMAL(5,2), b VARCHAR(9))");
    exec(
        &mut conn,
        "CREATE VIEW v AS SELECT a * 2 AS twice, CONCAT(b, 'x') AS more FROM t WHERE b LIKE 'é%'",
    );
    // The schema has changed: the first reader of information_schema reads the file.
    let mut other = running.root();
    let columns = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'test' \
                   AND TABLE_NAME = 'v' ORDER BY ORDINAL_POSITION";
    assert_eq!(all_of(&mut other, columns), ["twice", "more"]);
    // A view of a dropped table does not hide other tables.
    exec(&mut conn, "CREATE VIEW w AS SELECT a FROM t");
    exec(&mut conn, "CREATE TABLE u (a INT)");
    exec(&mut conn, "DROP TABLE t");
    let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'test' \
                  ORDER BY TABLE_NAME";
    assert_eq!(all_of(&mut other, tables), ["u", "v", "w"]);
}
