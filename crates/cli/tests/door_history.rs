//! The MySQL door: events in histories about dropped tables, statements in stored programs and errors; and
//! functions of MySQL 9.7's own Performance Schema that still work.

#[path = "support/servers.rs"]
mod servers;
mod support;

use mysql::Conn;
use mysql::prelude::Queryable;

use servers::{Engine, Server, Version, run};
use support::wait_for;

/// Waits until a table has such rows, because a server answers before it reports the end of a statement.
fn wait_for_rows(server: &Server, what: &str, from: &str) {
    wait_for(what, || {
        let rows = server.tare(&format!(
            "SELECT COUNT(*) AS n FROM performance_schema.{from}"
        ));
        rows[0]["n"].as_u64().filter(|n| *n > 0)
    });
}

fn check_names_and_messages(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Tare, &[]);
    let mut connection = server.connect();
    run(
        &mut connection,
        &[
            "CREATE DATABASE kept",
            "USE kept",
            "CREATE TABLE gone (a INT PRIMARY KEY)",
            "INSERT INTO gone VALUES (1), (2)",
            "SELECT * FROM gone",
            "DROP TABLE gone",
            // May reuse the entry of the dropped table.
            "CREATE TABLE next (a INT PRIMARY KEY)",
            "INSERT INTO next VALUES (1)",
            "CREATE PROCEDURE Within() SELECT COUNT(*) FROM next",
            "CALL within()",
            // More tokens than max_digest_length has room for.
            &format!("SELECT 1{}", ", 1 AS x".repeat(300)),
        ],
    );
    // Regression: issue 17.
    wait_for_rows(
        &server,
        "a wait for a table that was dropped",
        "events_waits_history_long WHERE EVENT_NAME = 'wait/io/table/sql/handler' \
         AND OBJECT_SCHEMA = 'kept' AND OBJECT_NAME = 'gone'",
    );
    // All but 9.7 show it in lower case.
    let program = match version {
        Version::Mysql97 => "Within",
        _ => "within",
    };
    wait_for_rows(
        &server,
        "a statement in a program",
        &format!(
            "events_statements_history_long WHERE OBJECT_TYPE = 'PROCEDURE' \
             AND OBJECT_SCHEMA = 'kept' AND BINARY OBJECT_NAME = '{program}' AND NESTING_EVENT_LEVEL > 0"
        ),
    );
    wait_for_rows(
        &server,
        "the digest of a long statement",
        "events_statements_history_long WHERE SQL_TEXT LIKE 'SELECT 1, 1 AS x%' \
         AND DIGEST_TEXT LIKE 'SELECT ?, ... AS%' AND DIGEST IS NOT NULL",
    );
    let refused = connection.query_drop("SELECT * FROM missing");
    assert!(matches!(refused, Err(mysql::Error::MySqlError(e)) if e.code == 1146));
    wait_for_rows(
        &server,
        "the message of an error",
        "events_statements_history_long WHERE MYSQL_ERRNO = 1146 \
         AND MESSAGE_TEXT LIKE '%kept.missing%'",
    );
    // The statement that failed is in no program.
    let outside = server.tare(
        "SELECT COUNT(*) AS n FROM performance_schema.events_statements_history_long \
         WHERE MYSQL_ERRNO = 1146 AND OBJECT_NAME IS NOT NULL",
    );
    assert_eq!(outside[0]["n"].as_u64(), Some(0));
    server.stop();
}

#[test]
fn mariadb() {
    check_names_and_messages(Version::Mariadb);
}

#[test]
fn mysql_5_7() {
    check_names_and_messages(Version::Mysql57);
}

#[test]
fn mysql_9_7() {
    check_names_and_messages(Version::Mysql97);
}

/// The first column that the server itself answers.
fn query_value<T: mysql::prelude::FromValue>(connection: &mut Conn, question: &str) -> T {
    let value = connection.query_first(question).expect(question);
    value.expect("a row")
}

#[test]
fn mysql_9_7_limits_memory_lists_row_locks_and_names_threads() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    let limits = ["--connection-memory-chunk-size=1024"];
    let server = Server::start(Version::Mysql97, Engine::Tare, &limits);
    let mut root = server.connect();
    run(
        &mut root,
        &[
            "CREATE DATABASE own",
            "USE own",
            "CREATE TABLE t (a INT PRIMARY KEY, b LONGTEXT)",
            "INSERT INTO t VALUES (1, REPEAT('a', 1000000))",
            "CREATE USER other@localhost IDENTIFIED WITH caching_sha2_password BY ''",
            "GRANT ALL ON own.* TO other@localhost",
            // The minimum.
            "SET GLOBAL connection_memory_limit = 2097152",
            "SET GLOBAL global_connection_memory_tracking = ON",
        ],
    );
    // Row locks and their owners.
    run(&mut root, &["BEGIN", "UPDATE t SET b = '' WHERE a = 1"]);
    let locks: u64 = query_value(
        &mut root,
        "SELECT COUNT(*) FROM performance_schema.data_locks WHERE OBJECT_NAME = 't' \
         AND THREAD_ID = ps_current_thread_id() \
         AND ps_current_thread_id() = ps_thread_id(CONNECTION_ID())",
    );
    assert_eq!(locks, 2, "of the table and of the row");
    run(&mut root, &["ROLLBACK"]);
    // Memory is charged to its connection; otherwise connection_memory_limit would have no effect.
    let socket = server.directory.path().join("mysql.sock");
    let options = mysql::OptsBuilder::new()
        .user(Some("other"))
        .socket(Some(socket.to_string_lossy()));
    let other = Conn::new(options).expect("connected");
    let charged: String = query_value(
        &mut root,
        "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
         WHERE VARIABLE_NAME = 'Global_connection_memory'",
    );
    assert!(charged.parse::<u64>().expect("a number") > 0, "{charged}");
    // Thread names, as ps and top display them.
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid)).expect("its threads");
    let names: Vec<String> = tasks
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default())
        .collect();
    for name in ["ib_io_rd-1\n", "connection\n", "sig_handler\n"] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
    drop(other);
    server.stop();
}
