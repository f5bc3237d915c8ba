//! No client blocks others: floods of connections, long statements, open transactions.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use tare_server::ThreadHandling;

use super::support::{MONITOR, PASSWORD, Running, TIMEOUT, code, errno, exec, one};

#[test]
fn a_flood_of_silent_connections_locks_nobody_out() {
    for handling in [
        ThreadHandling::OneThreadPerConnection,
        ThreadHandling::PoolOfThreads,
    ] {
        let running = Running::with(|c| {
            c.max_connections = 10;
            c.thread_handling = handling;
        });
        let mut flood = Vec::new();
        for _ in 0..300 {
            flood.push(TcpStream::connect(("127.0.0.1", running.port())).expect("connects"));
        }
        let sockets: Vec<UnixStream> = (0..100)
            .map(|_| UnixStream::connect(running.socket()).expect("connects"))
            .collect();
        let since = Instant::now();
        assert_eq!(one(&mut running.root(), "SELECT 1"), "1");
        let mut tcp = running
            .tcp("root", Some(PASSWORD))
            .expect("connects by TCP");
        assert_eq!(one(&mut tcp, "SELECT 1"), "1");
        assert!(since.elapsed() < TIMEOUT);
        drop((flood, sockets));
    }
}

#[test]
fn one_connection_is_reserved_for_root() {
    let running = Running::with(|c| c.max_connections = 2);
    let monitor = || running.tcp("monitor", Some(MONITOR));
    // The connection that created the database may not have ended.
    let since = Instant::now();
    let take = || loop {
        match monitor() {
            refused @ Err(_) if since.elapsed() < TIMEOUT => {
                assert_eq!(code(refused), 1040);
                thread::sleep(Duration::from_millis(20));
            }
            taken => return taken.expect("connects"),
        }
    };
    let taken = (take(), take());
    assert_eq!(code(monitor()), 1040);
    let mut root = running.root();
    let others = one(
        &mut root,
        "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'monitor'",
    );
    assert_eq!(others, "2");
    // Root has taken the last connection.
    assert_eq!(code(running.tcp("root", Some(PASSWORD))), 1040);
    drop(taken);
}

#[test]
fn statements_that_sleep_do_not_stop_the_pool() {
    let running = Running::pool();
    let sleepers: Vec<_> = (0..40)
        .map(|_| {
            let mut conn = running.root();
            thread::spawn(move || conn.query_drop("SELECT SLEEP(1000)").is_err())
        })
        .collect();
    let mut conn = running.root();
    let since = Instant::now();
    let asleep =
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'";
    while one(&mut conn, asleep) != "40" {
        assert!(since.elapsed() < TIMEOUT, "all of them run");
        thread::sleep(Duration::from_millis(20));
    }
    // Each session has the thread that works for it, so that the scheduler can be asked about it.
    let threads = "SELECT COUNT(DISTINCT THREAD_OS_ID) FROM performance_schema.threads \
                   WHERE PROCESSLIST_INFO LIKE 'SELECT SLEEP%'";
    assert_eq!(one(&mut conn, threads), "40");
    let ids = super::support::all_of(
        &mut conn,
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'",
    );
    for id in ids {
        exec(&mut conn, &format!("KILL {id}"));
    }
    for sleeper in sleepers {
        assert!(sleeper.join().expect("ends"), "it is killed");
    }
    assert!(since.elapsed() < TIMEOUT);
}

#[test]
fn an_idle_session_of_the_pool_has_no_thread() {
    let running = Running::pool();
    let (mut idle, mut conn) = (running.root(), running.root());
    let id = one(&mut idle, "SELECT CONNECTION_ID()");
    let of_idle = format!(
        "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = {id} AND THREAD_OS_ID IS NULL"
    );
    let since = Instant::now();
    while one(&mut conn, &of_idle) != "1" {
        assert!(since.elapsed() < TIMEOUT, "its thread has left it");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn statements_that_compute_do_not_stop_the_pool() {
    let running = Running::pool();
    let long = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) \
                SELECT /* long */ COUNT(*) FROM c";
    let workers: Vec<_> = (0..6)
        .map(|_| {
            let mut conn = running.root();
            thread::spawn(move || code(conn.query_drop(long)))
        })
        .collect();
    let mut conn = running.root();
    let since = Instant::now();
    let running_now =
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'WITH RECURSIVE%'";
    loop {
        let ids = super::support::all_of(&mut conn, running_now);
        if ids.len() == 6 {
            for id in ids {
                exec(&mut conn, &format!("KILL QUERY {id}"));
            }
            break;
        }
        assert!(since.elapsed() < TIMEOUT, "all of them run: {ids:?}");
        thread::sleep(Duration::from_millis(20));
    }
    for worker in workers {
        assert_eq!(worker.join().expect("ends"), 1317);
    }
    assert!(since.elapsed() < TIMEOUT);
}

#[test]
fn a_reading_transaction_does_not_stop_writers() {
    let running = Running::start();
    let (mut reader, mut writer) = (running.client(), running.client());
    exec(&mut reader, "CREATE TABLE t (n INT)");
    // After a transaction that wrote, the next one is expected to write, too.
    for sql in [
        "BEGIN",
        "SELECT * FROM t",
        "INSERT INTO t VALUES (1)",
        "COMMIT",
    ] {
        exec(&mut reader, sql);
    }
    exec(&mut reader, "BEGIN");
    assert_eq!(one(&mut reader, "SELECT COUNT(*) FROM t"), "1");
    exec(&mut writer, "SET innodb_lock_wait_timeout = 5");
    exec(&mut writer, "INSERT INTO t VALUES (2)");
    // The reader's snapshot does not change, and is too old for a write.
    assert_eq!(one(&mut reader, "SELECT COUNT(*) FROM t"), "1");
    assert_eq!(errno(&mut reader, "INSERT INTO t VALUES (3)"), 1213);
    for sql in [
        "BEGIN",
        "SELECT * FROM t",
        "INSERT INTO t VALUES (3)",
        "COMMIT",
    ] {
        exec(&mut reader, sql);
    }
    assert_eq!(one(&mut writer, "SELECT COUNT(*) FROM t"), "3");
    // Others wait for a transaction that has written.
    exec(&mut reader, "BEGIN");
    exec(&mut reader, "INSERT INTO t VALUES (4)");
    exec(&mut writer, "SET innodb_lock_wait_timeout = 1");
    assert_eq!(errno(&mut writer, "INSERT INTO t VALUES (5)"), 1205);
    assert_eq!(one(&mut writer, "SELECT COUNT(*) FROM t"), "3");
    exec(&mut reader, "COMMIT");
}

#[test]
fn a_transaction_queues_as_a_writer_once() {
    let running = Running::start();
    let (mut reader, mut writer) = (running.client(), running.client());
    exec(&mut reader, "CREATE TABLE t (n INT)");
    for sql in ["BEGIN", "INSERT INTO t VALUES (1)", "COMMIT"] {
        exec(&mut reader, sql);
    }
    exec(&mut writer, "BEGIN");
    exec(&mut writer, "INSERT INTO t VALUES (2)");
    let thread = one(&mut reader, "SELECT PS_CURRENT_THREAD_ID()");
    let waits = format!(
        "SELECT COUNT_STAR FROM performance_schema.events_waits_summary_by_thread_by_event_name \
         WHERE EVENT_NAME = 'wait/lock/metadata/sql/mdl' AND THREAD_ID = {thread}"
    );
    let mut monitor = running.root();
    assert_eq!(one(&mut monitor, &waits), "0");
    // Of both transactions the first read waits for the writer, and has an event.
    for transaction in ["1", "2"] {
        exec(&mut reader, "BEGIN");
        for _ in 0..3 {
            assert_eq!(one(&mut reader, "SELECT COUNT(*) FROM t"), "1");
        }
        assert_eq!(one(&mut monitor, &waits), transaction);
        exec(&mut reader, "ROLLBACK");
    }
    exec(&mut writer, "COMMIT");
}

#[test]
fn recursive_queries_end_at_their_limits() {
    let running = Running::start();
    let mut conn = running.client();
    exec(&mut conn, "SET cte_max_recursion_depth = 1000");
    let to = |n: u32, union: &str| {
        format!(
            "WITH RECURSIVE c (n) AS (SELECT 1 {union} SELECT n + 1 FROM c WHERE n < {n}) \
             SELECT COUNT(*), MAX(n) FROM c"
        )
    };
    for union in ["UNION ALL", "UNION", "UNION DISTINCT"] {
        assert_eq!(one(&mut conn, &to(1000, union)), "1000|1000", "{union}");
        assert_eq!(errno(&mut conn, &to(1002, union)), 3636, "{union}");
    }
    assert_eq!(errno(&mut conn, &to(1001, "UNION ALL")), 3636);
    let message = conn
        .query_drop(to(5000, "UNION ALL"))
        .expect_err("too far")
        .to_string();
    assert!(
        message.contains(
            "Recursive query aborted after 1001 iterations. Try increasing @@cte_max_recursion_depth to a larger value."
        ),
        "{message}"
    );
    exec(&mut conn, "SET cte_max_recursion_depth = 5000");
    assert_eq!(one(&mut conn, &to(5000, "UNION ALL")), "5000|5000");
    exec(&mut conn, "SET cte_max_recursion_depth = 0");
    assert_eq!(errno(&mut conn, &to(1, "UNION ALL")), 3636);
    // The limit is on steps, not on rows: a tree of 1,023 rows takes nine steps.
    exec(&mut conn, "SET cte_max_recursion_depth = 10");
    exec(&mut conn, "CREATE TABLE t (id INT PRIMARY KEY, parent INT)");
    let rows: Vec<String> = (1..1024).map(|id| format!("({id}, {})", id / 2)).collect();
    exec(
        &mut conn,
        &format!("INSERT INTO t VALUES {}", rows.join(",")),
    );
    for term in [
        "SELECT t.* FROM t JOIN c ON t.parent = c.id",
        "SELECT t.id, t.parent FROM c AS up, t WHERE t.parent = up.id",
        "SELECT t.id, c.id FROM c LEFT JOIN t ON t.parent = c.id WHERE t.id IS NOT NULL",
    ] {
        let tree = format!(
            "WITH RECURSIVE c AS (SELECT * FROM t WHERE id = 1 UNION ALL {term}) SELECT * FROM c"
        );
        let tree_rows = super::support::rows(&mut conn, &tree);
        assert_eq!(tree_rows.len(), 1023, "{term}");
        assert!(tree_rows.iter().all(|row| row.len() == 2), "{term}");
        exec(&mut conn, &format!("CREATE VIEW v AS {tree}"));
        assert_eq!(
            one(&mut conn, "SELECT COUNT(*), MAX(id) FROM v"),
            "1023|1023"
        );
        exec(&mut conn, "DROP VIEW v");
    }
    // A cycle ends by itself with UNION, which drops rows that exist already.
    let ring = |union: &str| {
        format!(
            "WITH RECURSIVE c AS (SELECT 1 AS n {union} SELECT (n + 1) % 5 FROM c), \
             d AS (SELECT * FROM c) SELECT COUNT(*) FROM d JOIN c USING (n)"
        )
    };
    assert_eq!(one(&mut conn, &ring("UNION")), "5");
    assert_eq!(errno(&mut conn, &ring("UNION ALL")), 3636);
    // Two recursive terms, and a star.
    let two = "WITH RECURSIVE c (n) AS (SELECT 1 UNION SELECT n + 1 FROM c WHERE n < 6 \
               UNION SELECT n * 2 FROM c WHERE n < 6) SELECT COUNT(*), SUM(n) FROM c";
    assert_eq!(one(&mut conn, two), "8|39");
    let star = "WITH RECURSIVE c (n, m) AS (SELECT 1, 2 UNION ALL SELECT * FROM c) SELECT 1 FROM c";
    assert_eq!(errno(&mut conn, star), 3636);
    // A prepared statement uses the variable's value at its execution.
    let statement = conn.prep(to(20, "UNION ALL")).expect("prepares");
    assert_eq!(code(conn.exec_drop(&statement, ())), 3636);
    exec(&mut conn, "SET cte_max_recursion_depth = 20");
    assert_eq!(code(conn.exec_drop(&statement, ())), 0);
}

#[test]
fn a_hint_limits_the_time_of_a_statement() {
    let running = Running::start();
    let mut conn = running.client();
    let counts = "COUNT(*) FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) \
                  SELECT n FROM c) d";
    let limited = format!("SELECT /*+ MAX_EXECUTION_TIME(50) */ {counts}");
    assert_eq!(errno(&mut conn, &limited), 3024);
    exec(&mut conn, "SET max_execution_time = 50");
    assert_eq!(errno(&mut conn, &format!("SELECT {counts}")), 3024);
    let longer = "SELECT /*+ MAX_EXECUTION_TIME(60000) */ SLEEP(0.2)";
    assert_eq!(one(&mut conn, longer), "0");
}

#[test]
fn killed_statements_end_whatever_they_compute() {
    let running = Running::start();
    exec(&mut running.root(), "SET GLOBAL max_execution_time = 0");
    let rows = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c), \
                d(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM d WHERE m < 500)";
    // Each runs for hours, so that it is killed while it runs.
    let values = [
        "n",
        "REPEAT('a', n % 1000)",
        "REPEAT('a', 9000000 + n % 2)",
        "REPLACE(REPEAT(n, 100000), '1', 'bb')",
        "INSERT(REPEAT(n, 100000), 5, 1, 'x')",
        "REVERSE(UPPER(REPEAT(n, 100000)))",
        "REGEXP_REPLACE(REPEAT(n, 10000), '[0-4]', 'b')",
        "REPEAT(n, 10000) LIKE '%1%2%x'",
        "JSON_PRETTY(CONCAT('[', REPEAT('1,', 50000), n, ']'))",
        "JSON_CONTAINS(CONCAT('[', REPEAT('1,', 5000), n, ']'), '[0]')",
        "1.5 * n / 7 * 1.5 / 7 * 1.5 / 7 * 1.5 / 7 + 0.1",
        "(SELECT LENGTH(JSON_ARRAYAGG(m + n)) FROM d)",
        "(SELECT LENGTH(JSON_OBJECTAGG(m + n, m)) FROM d)",
        "(SELECT LENGTH(GROUP_CONCAT(m + n)) FROM d)",
        "(SELECT COUNT(DISTINCT REPEAT(m, 100), n) FROM d)",
    ];
    for sql in values.map(|value| format!("{rows} SELECT MAX({value}) FROM c")) {
        let mut conn = running.root();
        let id = one(&mut conn, "SELECT CONNECTION_ID()");
        let (result_sender, result) = mpsc::channel();
        let worker = thread::spawn({
            let sql = sql.clone();
            move || {
                let result = code(conn.query_drop(sql));
                let _ = result_sender.send(result);
            }
        });
        let mut root = running.root();
        while !super::support::runs(&mut root, &id) {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(errno(&mut root, &format!("KILL QUERY {id}")), 0, "{sql}");
        let code = result
            .recv_timeout(TIMEOUT)
            .unwrap_or_else(|_| panic!("{sql} goes on"));
        assert_eq!(code, 1317, "{sql}");
        worker.join().expect("ends");
    }
}

#[test]
fn a_statement_that_takes_too_much_memory_is_refused() {
    let running = Running::with(|c| c.max_statement_memory = 16 << 20);
    let mut conn = running.client();
    let numbers =
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000)";
    for sql in [
        format!("{numbers} SELECT LENGTH(JSON_ARRAYAGG(REPEAT('a', 1000))) FROM c"),
        "SELECT JSON_LENGTH(CONCAT('[', REPEAT('[],', 2000000), '1]'))".to_owned(),
        "SELECT LENGTH(JSON_PRETTY(CONCAT('[', REPEAT('{\"a\":1},', 200000), '1]')))".to_owned(),
        "SELECT JSON_EXTRACT(CONCAT('[', REPEAT('[1],', 100000), '1]'), '$**[*]', '$**', '$[*]')"
            .to_owned(),
        "SELECT LENGTH(UPPER(REPEAT('a', 9000000)))".to_owned(),
        format!("{numbers} SELECT LENGTH(JSON_OBJECTAGG(n, REPEAT('a', 1000))) FROM c"),
        format!("{numbers} SELECT LENGTH(GROUP_CONCAT(REPEAT('a', 1000))) FROM c"),
    ] {
        let code = errno(&mut conn, &sql);
        assert_eq!(code, 1041, "{sql}");
        assert_eq!(one(&mut conn, "SELECT 1"), "1");
    }
    let message = conn
        .query_drop(format!(
            "{numbers} SELECT LENGTH(JSON_ARRAYAGG(REPEAT('a', 1000))) FROM c"
        ))
        .expect_err("refused")
        .to_string();
    assert!(
        message.contains("max_statement_memory (16777216 bytes)"),
        "{message}"
    );
    // A text longer than a packet is NULL, and is not built first.
    for call in [
        "REPLACE(REPEAT('a', 60000000), 'a', REPEAT('b', 1000))",
        "REPEAT('a', 70000000)",
        "CONCAT(REPEAT('a', 40000000), REPEAT('a', 40000000))",
        "CONCAT_WS(REPEAT('a', 40000000), 'a', 'b', 'c')",
        "LPAD('a', 70000000, 'b')",
    ] {
        let code = errno(&mut conn, &format!("SELECT LENGTH({call})"));
        assert!(
            code == 1041 || one(&mut conn, &format!("SELECT LENGTH({call})")) == "NULL",
            "{call}"
        );
    }
    // Each small group frees its memory.
    let grouped = format!(
        "SELECT MAX(l) FROM ({numbers} SELECT LENGTH(JSON_ARRAYAGG(n)) AS l FROM c GROUP BY n DIV 10) g"
    );
    assert!(one(&mut conn, &grouped).parse::<u64>().expect("a length") > 20);
}
