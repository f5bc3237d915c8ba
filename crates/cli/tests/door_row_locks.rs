//! The MySQL door: row locks and lock waits from outside are those of the server's own tables.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mysql::prelude::Queryable;
use mysql::{Conn, Row};

use servers::{Engine, Server, Version, json_text, run, value_text};
use support::wait_for;

/// Rows as the texts of their columns.
type Texts = BTreeSet<Vec<String>>;

/// The server's own answer.
fn query_server(connection: &mut Conn, question: &str) -> Texts {
    let rows: Vec<Row> = connection.query(question).expect(question);
    rows.into_iter()
        .map(|row| row.unwrap().iter().map(value_text).collect())
        .collect()
}

/// Tare's answer from outside.
fn query_outside(server: &Server, question: &str) -> Texts {
    let rows = server.tare(question);
    rows.iter()
        .map(|row| row.values().map(json_text).collect())
        .collect()
}

const WAITS: &str = "SELECT ENGINE, REQUESTING_ENGINE_LOCK_ID, REQUESTING_ENGINE_TRANSACTION_ID, \
    REQUESTING_THREAD_ID, REQUESTING_EVENT_ID, BLOCKING_ENGINE_LOCK_ID, BLOCKING_ENGINE_TRANSACTION_ID, \
    BLOCKING_THREAD_ID, BLOCKING_EVENT_ID FROM performance_schema.data_lock_waits";

/// All columns except OBJECT_INSTANCE_BEGIN, whose value 9.7's own tables hide.
const LOCKS: &str = "SELECT ENGINE, ENGINE_LOCK_ID, ENGINE_TRANSACTION_ID, THREAD_ID, EVENT_ID, OBJECT_SCHEMA, \
    OBJECT_NAME, PARTITION_NAME, SUBPARTITION_NAME, INDEX_NAME, LOCK_TYPE, LOCK_MODE, \
    LOCK_STATUS, LOCK_DATA FROM performance_schema.data_locks";

/// All columns except times and counters of transactions, which only InnoDB has.
const BLOCKED: &str = "SELECT locked_table, locked_table_schema, locked_table_name, locked_table_partition, \
    locked_table_subpartition, locked_index, locked_type, waiting_trx_id, waiting_pid, waiting_query, waiting_lock_id, \
    waiting_lock_mode, blocking_trx_id, blocking_pid, blocking_query, blocking_lock_id, blocking_lock_mode, \
    sql_kill_blocking_query, sql_kill_blocking_connection FROM sys.innodb_lock_waits";

fn check_blocked_updates(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let (mut control, mut holder, mut waiter) =
        (server.connect(), server.connect(), server.connect());
    run(
        &mut control,
        &[
            "CREATE DATABASE blocked",
            "CREATE TABLE blocked.t (a INT PRIMARY KEY, b INT, KEY (b)) PARTITION BY HASH (a) PARTITIONS 2",
            "INSERT INTO blocked.t VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
        ],
    );
    assert_eq!(query_outside(&server, WAITS), Texts::new());
    run(
        &mut holder,
        &[
            "BEGIN",
            "UPDATE blocked.t SET b = 7 WHERE a = 2",
            "SELECT * FROM blocked.t WHERE b = 3 FOR UPDATE",
        ],
    );
    let blocked = thread::spawn(move || {
        run(&mut waiter, &["UPDATE blocked.t SET b = 8 WHERE a = 2"]);
    });
    let expected = wait_for("a wait for a row lock", || {
        Some(query_server(&mut control, WAITS)).filter(|rows| !rows.is_empty())
    });
    assert_eq!(expected.len(), 1);
    assert_eq!(query_outside(&server, WAITS), expected);
    let locks = query_server(&mut control, LOCKS);
    assert!(locks.len() > 4, "{locks:?}");
    assert_eq!(query_outside(&server, LOCKS), locks);
    let addresses = query_outside(
        &server,
        "SELECT ENGINE_LOCK_ID, OBJECT_INSTANCE_BEGIN FROM performance_schema.data_locks",
    );
    for row in &addresses {
        assert_eq!(row[0].rsplit(':').next(), Some(&*row[1]));
    }
    let expected = query_server(&mut control, BLOCKED);
    assert_eq!(expected.len(), 1);
    assert_eq!(query_outside(&server, BLOCKED), expected);
    run(&mut holder, &["ROLLBACK"]);
    blocked.join().expect("it was let go");
    assert_eq!(query_outside(&server, WAITS), Texts::new());
    let lost = server.tare("SHOW STATUS LIKE 'Tare_row_locks_lost'");
    assert_eq!(lost[0]["Value"].as_str(), Some("0"));
    query_under_load(&server);
    // Queries during the shutdown do not prevent it.
    let stopped = AtomicBool::new(false);
    let (pid, directory) = (server.pid.to_string(), &server.directory);
    thread::scope(|scope| {
        let queries = scope.spawn(|| {
            let mut answers = 0;
            while !stopped.load(Ordering::Relaxed) {
                let arguments = ["sql", "--pid", &pid, "-e", LOCKS];
                let done = support::finish(&mut directory.tare(arguments));
                answers += u32::from(done.code == Some(0));
            }
            answers
        });
        wait_for("an answer", || {
            query_outside(&server, LOCKS);
            Some(())
        });
        server.signal(rustix::process::Signal::TERM);
        wait_for("the server's end", || {
            (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
        });
        stopped.store(true, Ordering::Relaxed);
        queries.join().expect("queried");
    });
    let mut server = server;
    let status = server.wait();
    assert!(status.success(), "{status:?}\n{}", server.log());
}

/// Queries locks while sessions change rows and wait for each other.
fn query_under_load(server: &Server) {
    const ROUNDS: usize = 200;
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let sessions: Vec<_> = (0..4)
            .map(|session| {
                let mut connection = server.connect();
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let row = 1 + (session + round) % 4;
                        run(&mut connection, &["BEGIN"]);
                        let update = format!("UPDATE blocked.t SET b = b + 1 WHERE a = {row}");
                        run(&mut connection, &[&update, "COMMIT"]);
                    }
                })
            })
            .collect();
        let queries = scope.spawn(|| {
            let mut answers = 0;
            while answers == 0 || !done.load(Ordering::Relaxed) {
                for row in query_outside(server, LOCKS) {
                    assert_eq!(row[0], "INNODB");
                }
                answers += 1;
            }
        });
        for session in sessions {
            session.join().expect("a session's work");
        }
        done.store(true, Ordering::Relaxed);
        queries.join().expect("each query is answered");
    });
}

#[test]
fn mysql_9_7() {
    check_blocked_updates(Version::Mysql97);
}

/// A query of locks reads no page from disk: the key of a row whose page has left the buffer pool is NULL.
#[test]
fn no_page_is_read_for_a_locked_row() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    const POOL: &str = "--innodb-buffer-pool-size=5M";
    const KEYS: &str =
        "SELECT LOCK_DATA FROM performance_schema.data_locks WHERE LOCK_TYPE = 'RECORD'";
    let server = Server::start(Version::Mysql97, Engine::Tare, &[POOL]);
    let (mut holder, mut other) = (server.connect(), server.connect());
    run(
        &mut holder,
        &[
            "CREATE DATABASE blocked",
            "CREATE TABLE blocked.t (a INT PRIMARY KEY)",
            "CREATE TABLE blocked.large (a INT PRIMARY KEY, b VARCHAR(8000) CHARACTER SET latin1)",
            "INSERT INTO blocked.large WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 1000) \
             SELECT a, REPEAT('x', 8000) FROM n",
            "INSERT INTO blocked.t VALUES (7)",
            "BEGIN",
            "SELECT * FROM blocked.t WHERE a = 7 FOR UPDATE",
        ],
    );
    let key = |text: &str| Texts::from([vec![text.to_owned()]]);
    assert_eq!(query_outside(&server, KEYS), key("7"));
    wait_for("another page takes the place of the row's", || {
        run(&mut other, &["SELECT SUM(LENGTH(b)) FROM blocked.large"]);
        (query_outside(&server, KEYS) == key("NULL")).then_some(())
    });
    assert_eq!(query_outside(&server, KEYS), key("NULL"));
    run(&mut other, &["SELECT * FROM blocked.t"]);
    assert_eq!(query_outside(&server, KEYS), key("7"));
    server.stop();
}

/// Row locks of servers where reading them is not safe are not listed.
fn check_no_locks(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let mut holder = server.connect();
    run(
        &mut holder,
        &[
            "CREATE DATABASE blocked",
            "CREATE TABLE blocked.t (a INT PRIMARY KEY) ENGINE = InnoDB",
            "BEGIN",
            "INSERT INTO blocked.t VALUES (1)",
        ],
    );
    assert_eq!(query_outside(&server, LOCKS), Texts::new());
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid)).expect("its threads");
    let has_reader = tasks.flatten().any(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("tare-row-locks")
    });
    assert!(!has_reader);
    server.stop();
}

#[test]
fn mysql_5_7_lists_no_row_locks() {
    check_no_locks(Version::Mysql57);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0_lists_no_row_locks() {
    check_no_locks(Version::Mysql80);
}

/// Which event of its session requested each lock, with the server's default settings.
fn requesting_events(engine: Engine) -> Vec<Texts> {
    let server = Server::start(Version::Mysql97, engine, &[]);
    let mut control = server.connect();
    let mut holder = server.connect();
    run(
        &mut holder,
        &[
            "CREATE DATABASE events",
            "CREATE TABLE events.t (a INT PRIMARY KEY, b INT)",
            "INSERT INTO events.t VALUES (1, 1), (2, 2)",
            "PREPARE s FROM 'SELECT 1'",
            "BEGIN",
            "UPDATE events.t SET b = 7 WHERE a = 2",
            "SELECT GET_LOCK('events', 0)",
            "SELECT * FROM events.t WHERE a = 1 FOR UPDATE",
            "DO 1",
        ],
    );
    let locks = query_server(
        &mut control,
        "SELECT EVENT_ID, LOCK_TYPE, LOCK_DATA FROM performance_schema.data_locks ORDER BY 1, 2",
    );
    let own_tables = [
        "SELECT OWNER_EVENT_ID, OBJECT_TYPE, OBJECT_NAME FROM performance_schema.metadata_locks \
         WHERE OBJECT_SCHEMA = 'events' OR OBJECT_NAME = 'events' ORDER BY 1, 2, 3",
        "SELECT OWNER_EVENT_ID, STATEMENT_NAME FROM performance_schema.prepared_statements_instances",
        "SELECT EVENT_ID, END_EVENT_ID, SQL_TEXT FROM performance_schema.events_statements_history \
         WHERE SQL_TEXT LIKE '%events.t%' OR SQL_TEXT LIKE '%GET_LOCK%' ORDER BY 1",
    ];
    let mut all: Vec<Texts> = (own_tables.iter())
        .map(|query| match engine {
            Engine::StockDefaults => query_server(&mut control, query),
            _ => query_outside(&server, query),
        })
        .collect();
    all[2].retain(|row| !row[2].contains("performance_schema"));
    all.insert(0, locks);
    assert!(all.iter().all(|rows| !rows.is_empty()), "{all:?}");
    server.stop();
    all
}

/// Monitors look for the statement that requested a lock by its number.
#[test]
fn locks_name_the_event_that_the_servers_own_engine_names() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    // Sampled, because Engine::Tare switches everything on.
    let tares = requesting_events(Engine::Sampled("every"));
    assert_eq!(tares, requesting_events(Engine::StockDefaults));
}
