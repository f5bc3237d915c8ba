//! Transactions of several sessions.

use std::thread;
use std::time::Duration;

use super::support::{Running, errno, exec, one, rows};

fn both() -> [Running; 2] {
    [Running::start(), Running::pool()]
}

#[test]
fn a_transaction_is_visible_when_it_is_committed() {
    for running in both() {
        let (mut a, mut b) = (running.client(), running.client());
        exec(&mut a, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
        exec(&mut a, "INSERT INTO t VALUES (1, 1)");
        exec(&mut b, "BEGIN");
        assert_eq!(one(&mut b, "SELECT n FROM t"), "1");
        exec(&mut a, "BEGIN");
        exec(&mut a, "UPDATE t SET n = 2");
        assert_eq!(one(&mut a, "SELECT n FROM t"), "2");
        assert_eq!(one(&mut b, "SELECT n FROM t"), "1", "not committed");
        exec(&mut a, "COMMIT");
        assert_eq!(one(&mut b, "SELECT n FROM t"), "1", "a repeatable read");
        exec(&mut b, "COMMIT");
        assert_eq!(one(&mut b, "SELECT n FROM t"), "2");
        exec(&mut a, "START TRANSACTION");
        exec(&mut a, "DELETE FROM t");
        exec(&mut a, "ROLLBACK");
        assert_eq!(one(&mut a, "SELECT n FROM t"), "2");
    }
}

#[test]
fn autocommit_off_begins_transactions_and_ddl_commits() {
    let running = Running::start();
    let (mut a, mut b) = (running.client(), running.client());
    exec(&mut a, "CREATE TABLE t (id INT PRIMARY KEY)");
    exec(&mut a, "SET autocommit = 0");
    exec(&mut a, "INSERT INTO t VALUES (1)");
    assert_eq!(one(&mut b, "SELECT count(*) FROM t"), "0");
    exec(&mut a, "ROLLBACK");
    assert_eq!(one(&mut a, "SELECT count(*) FROM t"), "0");
    exec(&mut a, "INSERT INTO t VALUES (2)");
    exec(&mut a, "CREATE TABLE u (id INT PRIMARY KEY)");
    assert_eq!(
        one(&mut b, "SELECT count(*) FROM t"),
        "1",
        "DDL commits what is open"
    );
    exec(&mut a, "INSERT INTO t VALUES (3)");
    exec(&mut a, "SET autocommit = 1");
    assert_eq!(one(&mut b, "SELECT count(*) FROM t"), "2");
}

#[test]
fn savepoints_nest() {
    let running = Running::start();
    let mut a = running.client();
    exec(&mut a, "CREATE TABLE t (id INT PRIMARY KEY)");
    exec(&mut a, "BEGIN");
    exec(&mut a, "INSERT INTO t VALUES (1)");
    exec(&mut a, "SAVEPOINT s");
    exec(&mut a, "INSERT INTO t VALUES (2)");
    exec(&mut a, "ROLLBACK TO SAVEPOINT s");
    exec(&mut a, "RELEASE SAVEPOINT s");
    assert_eq!(errno(&mut a, "ROLLBACK TO s"), 1305);
    exec(&mut a, "COMMIT");
    assert_eq!(one(&mut a, "SELECT id FROM t"), "1");
}

#[test]
fn writing_after_a_stale_read_is_a_deadlock() {
    for running in both() {
        let (mut a, mut b) = (running.client(), running.client());
        exec(&mut a, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
        exec(&mut a, "INSERT INTO t VALUES (1, 0)");
        exec(&mut a, "BEGIN");
        one(&mut a, "SELECT n FROM t");
        exec(&mut b, "UPDATE t SET n = n + 1");
        assert_eq!(errno(&mut a, "UPDATE t SET n = n + 1"), 1213);
        // The transaction was rolled back: what follows is not part of it.
        exec(&mut b, "UPDATE t SET n = n + 1");
        exec(&mut a, "BEGIN");
        one(&mut a, "SELECT n FROM t");
        exec(&mut a, "UPDATE t SET n = n + 1");
        exec(&mut a, "COMMIT");
        assert_eq!(one(&mut b, "SELECT n FROM t"), "3");
    }
}

#[test]
fn a_writer_waits_for_another_and_gives_up_in_time() {
    for running in both() {
        let (mut a, mut b) = (running.client(), running.client());
        exec(&mut a, "CREATE TABLE t (id INT PRIMARY KEY)");
        exec(&mut a, "BEGIN");
        exec(&mut a, "INSERT INTO t VALUES (1)");
        exec(&mut b, "SET innodb_lock_wait_timeout = 1");
        assert_eq!(errno(&mut b, "INSERT INTO t VALUES (2)"), 1205);
        exec(&mut b, "SET innodb_lock_wait_timeout = 50");
        let waiting = thread::spawn(move || {
            exec(&mut b, "INSERT INTO t VALUES (2)");
        });
        thread::sleep(Duration::from_millis(50));
        exec(&mut a, "COMMIT");
        waiting.join().expect("the other one's turn");
        assert_eq!(one(&mut a, "SELECT count(*) FROM t"), "2");
    }
}

#[test]
fn deadlocks_between_databases_are_resolved() {
    let running = Running::start();
    let (mut a, mut b) = (running.client(), running.client());
    exec(&mut a, "CREATE DATABASE other");
    exec(&mut a, "CREATE TABLE test.t (id INT PRIMARY KEY)");
    exec(&mut a, "CREATE TABLE other.t (id INT PRIMARY KEY)");
    exec(&mut a, "BEGIN");
    exec(&mut b, "BEGIN");
    exec(&mut a, "INSERT INTO test.t VALUES (1)");
    exec(&mut b, "INSERT INTO other.t VALUES (1)");
    let waiting = thread::spawn(move || (errno(&mut a, "INSERT INTO other.t VALUES (2)"), a));
    let second = errno(&mut b, "INSERT INTO test.t VALUES (2)");
    let (first, mut a) = waiting.join().expect("ends");
    assert!(first == 1213 || second == 1213, "{first} {second}");
    exec(&mut a, "ROLLBACK");
    exec(&mut b, "ROLLBACK");
    assert_eq!(rows(&mut a, "SELECT * FROM test.t").len(), 0);
}

#[test]
fn ended_sessions_roll_back_and_release_their_locks() {
    for running in both() {
        let (mut a, mut b) = (running.client(), running.client());
        exec(&mut a, "CREATE TABLE t (id INT PRIMARY KEY)");
        exec(&mut a, "BEGIN");
        exec(&mut a, "INSERT INTO t VALUES (1)");
        drop(a);
        exec(&mut b, "INSERT INTO t VALUES (1)");
        exec(&mut b, "LOCK TABLES t WRITE");
        exec(&mut b, "INSERT INTO t VALUES (2)");
        exec(&mut b, "UNLOCK TABLES");
        exec(&mut b, "START TRANSACTION READ ONLY");
        assert_eq!(errno(&mut b, "INSERT INTO t VALUES (3)"), 1792);
        exec(&mut b, "COMMIT");
        assert_eq!(one(&mut b, "SELECT count(*) FROM t"), "2");
    }
}

#[test]
fn many_writers_lose_nothing() {
    for running in both() {
        let mut root = running.client();
        exec(&mut root, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
        exec(&mut root, "INSERT INTO t VALUES (1, 0)");
        let writers: Vec<_> = (0..8)
            .map(|_| running.client())
            .map(|mut conn| {
                thread::spawn(move || {
                    let mut done = 0;
                    while done < 25 {
                        exec(&mut conn, "BEGIN");
                        one(&mut conn, "SELECT n FROM t WHERE id = 1");
                        match errno(&mut conn, "UPDATE t SET n = n + 1 WHERE id = 1") {
                            0 => exec(&mut conn, "COMMIT"),
                            1213 => continue,
                            other => panic!("error {other}"),
                        }
                        done += 1;
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().expect("ends");
        }
        assert_eq!(one(&mut root, "SELECT n FROM t"), "200");
    }
}

/// The expected answers are MySQL 9.7.4's.
#[test]
fn savepoints_begin_and_shadow_as_in_mysql() {
    for running in both() {
        let mut conn = running.client();
        exec(&mut conn, "CREATE TABLE t (n INT)");
        let mut run =
            |sql: &str, expected: u16| assert_eq!(errno(&mut conn, sql), expected, "{sql}");
        // Without a transaction they have no effect.
        run("SAVEPOINT a", 0);
        run("ROLLBACK TO a", 1305);
        run("SET autocommit = 0", 0);
        run("SAVEPOINT a", 0);
        run("INSERT INTO t VALUES (1)", 0);
        run("ROLLBACK TO SAVEPOINT A", 0);
        run("INSERT INTO t VALUES (2)", 0);
        run("RELEASE SAVEPOINT a", 0);
        run("RELEASE SAVEPOINT a", 1305);
        run("COMMIT", 0);
        // One that is set again is another one, behind those in between.
        run("SAVEPOINT a", 0);
        run("INSERT INTO t VALUES (3)", 0);
        run("SAVEPOINT b", 0);
        run("SAVEPOINT a", 0);
        run("INSERT INTO t VALUES (4)", 0);
        run("ROLLBACK TO b", 0);
        run("ROLLBACK TO a", 1305);
        run("SAVEPOINT b", 0);
        run("RELEASE SAVEPOINT b", 0);
        run("ROLLBACK TO b", 1305);
        run("COMMIT", 0);
        run("ROLLBACK TO a", 1305);
        assert_eq!(one(&mut conn, "SELECT GROUP_CONCAT(n) FROM t"), "2,3");
    }
}

/// The expected answers are MySQL 9.7.4's, if a transaction there locks all rows.
#[test]
fn nowait_and_skip_locked_do_not_wait_for_a_lock() {
    for running in both() {
        let (mut holder, mut conn) = (running.client(), running.client());
        exec(&mut holder, "CREATE TABLE t (n INT)");
        exec(&mut holder, "INSERT INTO t VALUES (1)");
        let locking = [
            "SELECT n FROM t FOR UPDATE NOWAIT",
            "SELECT n FROM t x FOR UPDATE OF x SKIP LOCKED",
            "SELECT n FROM t FOR SHARE NOWAIT",
            "SELECT n FROM t FOR SHARE SKIP LOCKED",
            "(SELECT n FROM t FOR UPDATE NOWAIT)",
            "SELECT n FROM (SELECT n FROM t FOR UPDATE NOWAIT) d",
            "(SELECT n FROM t FOR UPDATE NOWAIT) UNION (SELECT n FROM t)",
        ];
        exec(&mut holder, "BEGIN");
        exec(&mut holder, "SELECT n FROM t FOR UPDATE");
        // They do not wait, or the test would last for years.
        exec(&mut conn, "SET innodb_lock_wait_timeout = 100000000");
        for begin in ["DO 1", "BEGIN"] {
            exec(&mut conn, begin);
            for sql in locking {
                assert_eq!(errno(&mut conn, sql), 3572, "{sql}");
            }
            let insert = "INSERT INTO t SELECT n + 1 FROM t FOR UPDATE NOWAIT";
            assert_eq!(errno(&mut conn, insert), 3572);
        }
        exec(&mut conn, "ROLLBACK");
        exec(&mut conn, "SET innodb_lock_wait_timeout = 1");
        assert_eq!(errno(&mut conn, "SELECT n FROM t FOR UPDATE"), 1205);
        exec(&mut holder, "COMMIT");
        for sql in locking {
            assert_eq!(one(&mut conn, sql), "1", "{sql}");
        }
        // The lock is that of the transaction.
        exec(&mut conn, "BEGIN");
        exec(&mut conn, "SELECT n FROM t FOR UPDATE NOWAIT");
        exec(&mut holder, "SET innodb_lock_wait_timeout = 1");
        assert_eq!(errno(&mut holder, "INSERT INTO t VALUES (2)"), 1205);
        exec(&mut conn, "COMMIT");
        exec(&mut holder, "INSERT INTO t VALUES (2)");
        let other = "SELECT n FROM t x FOR UPDATE OF t";
        assert_eq!(errno(&mut conn, other), 3568);
        assert_eq!(
            errno(&mut conn, "SELECT n FROM t LOCK IN SHARE MODE NOWAIT"),
            1064
        );
    }
}

/// The expected answers are MySQL 9.7.4's.
#[test]
fn foreign_key_checks_hold_from_the_next_statement_on() {
    let running = Running::start();
    let mut conn = running.client();
    let mut run = |sql: &str, expected: u16| assert_eq!(errno(&mut conn, sql), expected, "{sql}");
    run("CREATE TABLE p (n INT PRIMARY KEY)", 0);
    run(
        "CREATE TABLE c (id INT PRIMARY KEY, n INT, FOREIGN KEY (n) REFERENCES p (n))",
        0,
    );
    run("INSERT INTO p VALUES (1), (2)", 0);
    run("INSERT INTO c VALUES (1, 1)", 0);
    for begin in ["BEGIN", "SET autocommit = 0"] {
        run(begin, 0);
        run("INSERT INTO c VALUES (2, 9)", 1452);
        run("SET foreign_key_checks = 0", 0);
        run("INSERT INTO c VALUES (2, 9)", 0);
        run("SET foreign_key_checks = 1", 0);
        run("INSERT INTO c VALUES (3, 9)", 1452);
        run("UPDATE c SET n = 8 WHERE id = 1", 1452);
        run("DELETE FROM p WHERE n = 2", 0);
        run("ROLLBACK", 0);
        run("INSERT INTO c VALUES (3, 9)", 1452);
        run("SET autocommit = 1", 0);
    }
    // What is set inside a transaction that is rolled back stays set.
    run("BEGIN", 0);
    run("SET foreign_key_checks = 0", 0);
    run("ROLLBACK", 0);
    run("INSERT INTO c VALUES (3, 9)", 0);
}
