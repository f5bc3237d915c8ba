//! AUTO_INCREMENT across sessions, and how its next number is shown.

use mysql::prelude::Queryable;

use crate::support::{Running, exec};

fn next_numbers(conn: &mut mysql::Conn, table: &str) -> (Option<u64>, Option<u64>, Option<u64>) {
    let sql = format!(
        "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = '{table}'"
    );
    let listed = conn.query_first::<Option<u64>, _>(sql).expect("its row");
    let status: mysql::Row = conn
        .query_first(format!("SHOW TABLE STATUS LIKE '{table}'"))
        .expect("its status")
        .expect("a row");
    let (_, text): (String, String) = conn
        .query_first(format!("SHOW CREATE TABLE {table}"))
        .expect("its text")
        .expect("a row");
    let written = text.split_once(") ENGINE=SQLite AUTO_INCREMENT=");
    let written = written.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    (listed.flatten(), status.get("Auto_increment"), written)
}

#[test]
fn a_number_that_a_session_rolls_back_is_no_other_sessions() {
    let running = Running::start();
    let (mut one, mut other) = (running.root(), running.root());
    exec(&mut one, "CREATE DATABASE d");
    exec(&mut one, "USE d");
    exec(&mut other, "USE d");
    exec(
        &mut one,
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE)",
    );
    assert_eq!(next_numbers(&mut other, "t"), (Some(1), Some(1), None));
    exec(&mut one, "BEGIN");
    exec(&mut one, "INSERT INTO t (k) VALUES (1), (2)");
    assert_eq!(next_numbers(&mut other, "t"), (Some(3), Some(3), Some(3)));
    exec(&mut one, "ROLLBACK");
    exec(&mut other, "INSERT INTO t (k) VALUES (1)");
    assert_eq!(other.last_insert_id(), 3);
    // A session that ends rolls back, too.
    exec(&mut one, "BEGIN");
    exec(&mut one, "INSERT INTO t (k) VALUES (2)");
    drop(one);
    exec(&mut other, "INSERT INTO t (k) VALUES (2)");
    assert_eq!(other.last_insert_id(), 5);
    assert_eq!(next_numbers(&mut other, "t"), (Some(6), Some(6), Some(6)));
    exec(&mut other, "TRUNCATE t");
    assert_eq!(next_numbers(&mut other, "t"), (Some(1), Some(1), None));
    // Statements that the session has prepared are numbered when they run.
    for (k, id) in [(7, 1), (8, 2)] {
        let insert = "INSERT INTO t (k) VALUES (?)";
        other.exec_drop(insert, (k,)).expect("a row");
        assert_eq!(other.last_insert_id(), id);
    }
    let again = other.exec_drop("INSERT INTO t (k) VALUES (?)", (7,));
    assert!(again.is_err());
    exec(&mut other, "DROP DATABASE d");
    exec(&mut other, "CREATE DATABASE d");
    exec(&mut other, "USE d");
    exec(
        &mut other,
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, k INT)",
    );
    exec(&mut other, "INSERT INTO t (k) VALUES (1)");
    assert_eq!(other.last_insert_id(), 1);
}
