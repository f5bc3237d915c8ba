//! The server's tables, locks, prepared statements and sockets in performance_schema.
//!
//! All servers of a process share one engine, and so performance_schema. Each test has its own database.
#![cfg(feature = "instrument")]

use std::time::Instant;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::support::{Running, TIMEOUT, exec, one, rows};

/// A client in a new database of this name, which has a table `t` of 1,000 rows.
fn with(running: &Running, name: &str) -> Conn {
    let mut conn = running.root();
    exec(&mut conn, &format!("CREATE DATABASE {name}"));
    exec(&mut conn, &format!("USE {name}"));
    exec(
        &mut conn,
        "CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(20), KEY k_1 (k))",
    );
    let values: Vec<String> = (1..=1000)
        .map(|i| format!("({i}, {}, 'c')", i % 10))
        .collect();
    exec(
        &mut conn,
        &format!("INSERT INTO t VALUES {}", values.join(",")),
    );
    conn
}

fn thread(conn: &mut Conn) -> String {
    one(conn, "SELECT ps_current_thread_id()")
}

/// Fetches, inserts, updates and deletes of a database's table `t`, by the indexes that were used.
fn io(conn: &mut Conn, name: &str) -> Vec<String> {
    let sql = format!(
        "SELECT ifnull(index_name, '-'), count_fetch, count_insert, count_update, count_delete \
         FROM performance_schema.table_io_waits_summary_by_index_usage \
         WHERE object_schema = '{name}' AND object_name = 't' AND count_star > 0 ORDER BY 1"
    );
    rows(conn, &sql)
        .into_iter()
        .map(|row| row.join(" "))
        .collect()
}

fn truncate(conn: &mut Conn, table: &str) {
    exec(conn, &format!("TRUNCATE TABLE performance_schema.{table}"));
}

/// Tests that TRUNCATE tables run one at a time: the tables are the process's.
static TRUNCATES_ALL: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn rows_are_counted_by_table_and_index() {
    let _turn = TRUNCATES_ALL.lock().unwrap_or_else(|e| e.into_inner());
    for (running, name) in [(Running::start(), "io_one"), (Running::pool(), "io_pool")] {
        let mut conn = with(&running, name);
        assert_eq!(io(&mut conn, name), ["- 0 1000 0 0"]);
        let mut did = |sql: &str| {
            truncate(&mut conn, "table_io_waits_summary_by_table");
            exec(&mut conn, sql);
            let first = io(&mut conn, name);
            // The binary protocol counts the same, also at the second execution.
            if sql.starts_with("SELECT") {
                let statement = conn.prep(sql).expect("prepared");
                for _ in 0..2 {
                    truncate(&mut conn, "table_io_waits_summary_by_table");
                    conn.exec_drop(&statement, ()).expect("executed");
                    assert_eq!(io(&mut conn, name), first, "{sql}");
                }
            }
            first
        };
        assert_eq!(did("SELECT c FROM t WHERE id = 5"), ["PRIMARY 1 0 0 0"]);
        assert_eq!(did("SELECT c FROM t WHERE id = 5000"), ["PRIMARY 1 0 0 0"]);
        assert_eq!(
            did("SELECT c FROM t WHERE id BETWEEN 101 AND 200"),
            ["PRIMARY 100 0 0 0"]
        );
        assert_eq!(
            did("SELECT SUM(k) FROM t WHERE id BETWEEN 101 AND 200"),
            ["PRIMARY 100 0 0 0"]
        );
        assert_eq!(
            did("SELECT c FROM t WHERE id BETWEEN 101 AND 200 ORDER BY c"),
            ["PRIMARY 100 0 0 0"]
        );
        assert_eq!(did("SELECT c FROM t WHERE k = 3"), ["k_1 100 0 0 0"]);
        assert_eq!(did("SELECT id, c FROM t"), ["- 1000 0 0 0"]);
        assert_eq!(
            did("INSERT INTO t VALUES (2001, 1, 'x'), (2002, 2, 'y')"),
            ["- 0 2 0 0"]
        );
        assert_eq!(
            did("UPDATE t SET c = 'z' WHERE id = 2001"),
            ["PRIMARY 1 0 1 0"]
        );
        assert_eq!(did("DELETE FROM t WHERE id > 2000"), ["PRIMARY 2 0 0 2"]);
        let statement = conn.prep("SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?");
        let statement = statement.expect("prepared");
        truncate(&mut conn, "table_io_waits_summary_by_table");
        for n in 1..=4 {
            conn.exec_drop(&statement, (n, n + 49)).expect("executed");
        }
        assert_eq!(io(&mut conn, name), ["PRIMARY 200 0 0 0"]);
        let locks = format!(
            "SELECT count_read_external > 0, count_write_external > 0, count_star = count_read + count_write \
             FROM performance_schema.table_lock_waits_summary_by_table WHERE object_schema = '{name}'"
        );
        assert_eq!(one(&mut conn, &locks), "1|1|1");
        exec(&mut conn, "DROP TABLE t");
        let gone = format!(
            "SELECT count(*) FROM performance_schema.objects_summary_global_by_type WHERE object_schema = '{name}'"
        );
        assert_eq!(one(&mut conn, &gone), "0");
    }
}

/// With another default database, the same text uses other tables.
#[test]
fn statements_count_for_the_default_database() {
    let _turn = TRUNCATES_ALL.lock().unwrap_or_else(|e| e.into_inner());
    let running = Running::start();
    let mut conn = with(&running, "first_of_two");
    drop(with(&running, "second_of_two"));
    truncate(&mut conn, "table_io_waits_summary_by_table");
    for id in [1, 2] {
        for name in ["first_of_two", "second_of_two"] {
            exec(&mut conn, &format!("USE {name}"));
            exec(&mut conn, &format!("SELECT c FROM t WHERE id = {id}"));
            assert_eq!(io(&mut conn, name), [format!("PRIMARY {id} 0 0 0")]);
        }
    }
}

#[test]
fn setup_objects_decides_what_is_counted() {
    let _turn = TRUNCATES_ALL.lock().unwrap_or_else(|e| e.into_inner());
    let running = Running::start();
    let mut conn = with(&running, "ruled");
    exec(
        &mut conn,
        "INSERT INTO performance_schema.setup_objects VALUES ('TABLE', 'ruled', '%', 'NO', 'NO')",
    );
    exec(&mut conn, "SELECT * FROM t");
    // The table is still listed, with the rows that were inserted before.
    assert_eq!(io(&mut conn, "ruled"), ["- 0 1000 0 0"]);
    exec(
        &mut conn,
        "UPDATE performance_schema.setup_objects SET enabled = 'YES' WHERE object_schema = 'ruled'",
    );
    let count = "SELECT count_fetch, sum_timer_fetch FROM \
        performance_schema.table_io_waits_summary_by_table WHERE object_schema = 'ruled'";
    truncate(&mut conn, "table_io_waits_summary_by_table");
    exec(&mut conn, "SELECT * FROM t");
    assert_eq!(one(&mut conn, count), "1000|0");
    exec(
        &mut conn,
        "DELETE FROM performance_schema.setup_objects WHERE object_schema = 'ruled'",
    );
    exec(&mut conn, "SELECT * FROM t");
    let figures = one(&mut conn, count);
    assert!(
        figures.starts_with("2000|") && figures != "2000|0",
        "{figures}"
    );
}

#[test]
fn handles_and_metadata_locks_list_their_owners() {
    let running = Running::start();
    let mut conn = with(&running, "held");
    let mut observer = running.root();
    let id = thread(&mut conn);
    let locks = format!(
        "SELECT object_type, object_schema, object_name, lock_type, lock_duration, lock_status FROM \
         performance_schema.metadata_locks WHERE owner_thread_id = {id} ORDER BY object_type DESC"
    );
    let handles = format!(
        "SELECT object_type, object_schema, object_name, external_lock FROM \
         performance_schema.table_handles WHERE owner_thread_id = {id}"
    );
    exec(&mut conn, "SELECT c FROM t WHERE id = 1");
    assert!(rows(&mut observer, &locks).is_empty());
    assert_eq!(
        rows(&mut observer, &handles),
        [["TABLE", "held", "t", "NULL"]]
    );
    exec(&mut conn, "BEGIN");
    exec(&mut conn, "SELECT c FROM t WHERE id = 1");
    let read = [
        "TABLE",
        "held",
        "t",
        "SHARED_READ",
        "TRANSACTION",
        "GRANTED",
    ];
    assert_eq!(rows(&mut observer, &locks), [read]);
    exec(&mut conn, "UPDATE t SET c = 'x' WHERE id = 1");
    let write = [
        "TABLE",
        "held",
        "t",
        "SHARED_WRITE",
        "TRANSACTION",
        "GRANTED",
    ];
    let gate = [
        "SCHEMA",
        "held",
        "NULL",
        "EXCLUSIVE",
        "TRANSACTION",
        "GRANTED",
    ];
    assert_eq!(rows(&mut observer, &locks), [write, gate]);

    // Another session waits for the write lock.
    let mut second = running.root();
    exec(&mut second, "USE held");
    let waiter = thread(&mut second);
    let waits = |observer: &mut Conn| {
        one(
            observer,
            &format!(
                "SELECT count_star FROM performance_schema.events_waits_summary_by_thread_by_event_name \
             WHERE thread_id = {waiter} AND event_name = 'wait/lock/metadata/sql/mdl'"
            ),
        )
    };
    assert_eq!(waits(&mut observer), "0");
    let writer = std::thread::spawn(move || {
        exec(&mut second, "UPDATE t SET c = 'y' WHERE id = 2");
        second
    });
    let pending = format!(
        "SELECT object_type, object_schema, lock_type, lock_status FROM \
         performance_schema.metadata_locks WHERE owner_thread_id = {waiter} AND lock_status = 'PENDING'"
    );
    let begin = Instant::now();
    loop {
        let pending_locks = rows(&mut observer, &pending);
        if pending_locks == [["SCHEMA", "held", "EXCLUSIVE", "PENDING"]] {
            break;
        }
        assert!(begin.elapsed() < TIMEOUT, "{pending_locks:?}");
        std::thread::yield_now();
    }
    exec(&mut conn, "COMMIT");
    let _second = writer.join().expect("no panic");
    assert_eq!(waits(&mut observer), "1");
    assert!(rows(&mut observer, &locks).is_empty());
    assert!(rows(&mut observer, &pending).is_empty());
    drop(conn);
    let begin = Instant::now();
    while !rows(&mut observer, &handles).is_empty() {
        assert!(begin.elapsed() < TIMEOUT);
        std::thread::yield_now();
    }
}

#[test]
fn prepared_statements_are_listed_with_their_figures() {
    for (running, name) in [
        (Running::start(), "prep_one"),
        (Running::pool(), "prep_pool"),
    ] {
        let mut conn = with(&running, name);
        let mut observer = running.root();
        let id = thread(&mut conn);
        let listed = format!(
            "SELECT ifnull(statement_name, '-'), sql_text, count_execute, sum_rows_sent, sum_errors, \
             count_reprepare, timer_prepare > 0, sum_timer_execute > 0 FROM \
             performance_schema.prepared_statements_instances WHERE owner_thread_id = {id} ORDER BY 2"
        );
        let select = conn
            .prep("SELECT c FROM t WHERE id <= ?")
            .expect("prepared");
        for n in 1..=3 {
            let _: Vec<String> = conn.exec(&select, (n,)).expect("rows");
        }
        let first = "SELECT c FROM t WHERE id <= ?";
        assert_eq!(
            rows(&mut observer, &listed),
            [["-", first, "3", "6", "0", "0", "1", "1"]]
        );
        exec(
            &mut conn,
            "PREPARE mine FROM 'SELECT k FROM t WHERE id < ?'",
        );
        exec(&mut conn, "SET @n = 5");
        exec(&mut conn, "EXECUTE mine USING @n");
        let second = "SELECT k FROM t WHERE id < ?";
        assert_eq!(
            rows(&mut observer, &listed),
            [
                ["-", first, "3", "6", "0", "0", "1", "1"],
                ["mine", second, "1", "4", "0", "0", "1", "1"]
            ]
        );
        // The schema has changed: both are prepared again.
        exec(&mut conn, "ALTER TABLE t ADD COLUMN d INT");
        let _: Vec<String> = conn.exec(&select, (1,)).expect("rows");
        exec(&mut conn, "EXECUTE mine USING @n");
        assert_eq!(
            rows(&mut observer, &listed),
            [
                ["-", first, "4", "7", "0", "1", "1", "1"],
                ["mine", second, "2", "8", "0", "1", "1", "1"]
            ]
        );
        exec(&mut conn, "DEALLOCATE PREPARE mine");
        conn.close(select).expect("closed");
        exec(&mut conn, "DO 1");
        assert!(rows(&mut observer, &listed).is_empty());
    }
}

#[test]
fn sockets_are_listed_and_counted() {
    for (running, name) in [
        (Running::start(), "sock_one"),
        (Running::pool(), "sock_pool"),
    ] {
        let mut conn = with(&running, name);
        let _enabled = running.enable("setup_instruments", "wait/io/socket/%");
        let mut tcp = running
            .tcp("root", Some(super::support::PASSWORD))
            .expect("connects");
        let (id, by_tcp) = (thread(&mut conn), thread(&mut tcp));
        let of = |thread: &str| {
            format!(
                "SELECT event_name, ip, port > 0, socket_id > 0, state FROM \
                 performance_schema.socket_instances WHERE thread_id = {thread}"
            )
        };
        let client = "wait/io/socket/sql/client_connection";
        assert_eq!(
            rows(&mut tcp, &of(&by_tcp)),
            [[client, "127.0.0.1", "1", "1", "ACTIVE"]]
        );
        let listening = format!(
            "SELECT ip FROM performance_schema.socket_instances WHERE port = {} AND event_name = \
             'wait/io/socket/sql/server_tcpip_socket' AND thread_id IS NULL",
            running.port()
        );
        assert_eq!(one(&mut conn, &listening), "127.0.0.1");
        let io = format!(
            "SELECT s.count_write, s.sum_number_of_bytes_write, s.count_star - s.count_read - s.count_write - s.count_misc \
             FROM performance_schema.socket_summary_by_instance s JOIN performance_schema.socket_instances i \
             USING (object_instance_begin) WHERE i.thread_id = {id}"
        );
        let numbers = |observer: &mut Conn| -> Vec<u64> {
            // The client may receive an answer before it is counted. A session is idle after the count.
            let begin = Instant::now();
            while rows(observer, &of(&id)) != [[client, "", "0", "1", "IDLE"]] {
                assert!(begin.elapsed() < TIMEOUT);
                std::thread::yield_now();
            }
            let figures = one(observer, &io);
            figures
                .split('|')
                .map(|n| n.parse().expect("a number"))
                .collect()
        };
        let before = numbers(&mut tcp);
        for _ in 0..10 {
            exec(&mut conn, "DO 1");
        }
        let after = numbers(&mut tcp);
        // Each OK packet is 4 + 7 bytes.
        assert_eq!(
            (after[0] - before[0], after[1] - before[1], after[2]),
            (10, 110, 0)
        );
        let summed = "SELECT count_write > 0, sum_number_of_bytes_write > 110 FROM \
            performance_schema.socket_summary_by_event_name WHERE event_name = \
            'wait/io/socket/sql/client_connection'";
        assert_eq!(one(&mut conn, summed), "1|1");
    }
}
