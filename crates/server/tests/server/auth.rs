//! Logins, and the rights of root and monitor.

use std::os::unix::fs::PermissionsExt;

use mysql::prelude::Queryable;
use tare_server::{Server, StartError};

use super::support::{
    Directory, MONITOR, PASSWORD, Running, code, config, errno, one, socket_options, tcp_options,
};

#[test]
fn root_needs_no_password_on_the_socket_and_one_on_tcp() {
    for running in [Running::start(), Running::pool()] {
        assert_eq!(one(&mut running.root(), "SELECT USER()"), "root@localhost");
        let mut conn = running
            .tcp("root", Some(PASSWORD))
            .expect("the right password");
        assert_eq!(one(&mut conn, "SELECT CURRENT_USER()"), "root@localhost");
        assert_eq!(code(running.tcp("root", Some("wrong"))), 1045);
        assert_eq!(code(running.tcp("root", None)), 1045);
        assert_eq!(code(running.tcp("nobody", Some(PASSWORD))), 1045);
        assert_eq!(code(running.tcp("", None)), 1045);
        // A failed login does not affect other sessions.
        assert_eq!(one(&mut conn, "SELECT 1"), "1");
    }
}

#[test]
fn monitor_reads_system_schemas_only() {
    let running = Running::start();
    let mut root = running.client();
    root.query_drop("CREATE TABLE t (a INT)").expect("created");
    let mut monitor = running
        .tcp("monitor", Some(MONITOR))
        .expect("monitor connects");
    let count: Option<u64> = monitor
        .query_first("SELECT count(*) FROM performance_schema.setup_consumers")
        .expect("may read");
    assert!(count.is_some());
    assert_eq!(errno(&mut monitor, "SHOW STATUS"), 0);
    for (sql, expected) in [
        ("SELECT * FROM test.t", 1142),
        ("INSERT INTO test.t VALUES (1)", 1142),
        ("USE test", 1044),
        ("SHOW TABLES FROM test", 1044),
        ("CREATE DATABASE other", 1044),
        ("DROP TABLE test.t", 1142),
        ("SET GLOBAL max_execution_time = 5", 1227),
        (
            "UPDATE performance_schema.setup_consumers SET enabled = 'NO'",
            1142,
        ),
        ("TRUNCATE performance_schema.events_waits_history", 1142),
        ("KILL 1", 1227),
        ("SHUTDOWN", 1227),
    ] {
        assert_eq!(errno(&mut monitor, sql), expected, "{sql}");
    }
    assert_eq!(one(&mut root, "SELECT count(*) FROM t"), "0");
}

#[test]
fn a_password_is_generated_once_and_only_its_owner_can_read_it() {
    let directory = Directory::new();
    let mut config = config(&directory);
    config.password = None;
    let server = Server::start(config.clone()).expect("starts");
    let file = server.endpoints().password_file.clone().expect("a file");
    let first = std::fs::read_to_string(&file).expect("a password");
    assert!(first.trim().len() >= 32);
    let mode = std::fs::metadata(&file)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(server);
    let server = Server::start(config).expect("starts again");
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), first);
    let port = server.endpoints().port.expect("a port");
    let options = tcp_options(port, "root", Some(first.trim()));
    mysql::Conn::new(options).expect("it is the password");
}

#[test]
fn one_server_per_directory_and_a_stale_socket_is_replaced() {
    let running = Running::start();
    let mut other = config(&running.directory);
    assert!(matches!(
        Server::start(other.clone()),
        Err(StartError::InUse { .. })
    ));
    let directory = Directory::new();
    other.data = directory.path().into();
    other.socket = Some(running.socket());
    assert!(matches!(
        Server::start(other.clone()),
        Err(StartError::Listen { .. })
    ));
    let socket = directory.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&socket).expect("bound"));
    assert!(socket.exists(), "what a killed server leaves");
    other.socket = Some(socket.clone());
    let server = Server::start(other).expect("starts");
    server.shutdown();
    assert!(!socket.exists(), "removed by a clean end");
}

#[test]
fn connections_beyond_the_limit_get_error_1040() {
    let running = Running::with(|c| c.max_connections = 2);
    let monitor = || running.tcp("monitor", Some(MONITOR));
    let (one, _two) = (running.root(), running.root());
    // One more connection is reserved for root.
    assert_eq!(code(monitor()), 1040);
    let _three = running.root();
    let connect = || mysql::Conn::new(socket_options(&running.socket()));
    assert_eq!(code(connect()), 1040);
    drop(one);
    // The connection is free as soon as its thread has noticed the end.
    let connected = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        connect().is_ok()
    });
    assert!(connected);
}

#[test]
fn change_user_requires_the_password() {
    let running = Running::start();
    let mut conn = running.tcp("root", Some(PASSWORD)).expect("connects");
    let opts = mysql::ChangeUserOpts::new()
        .with_user(Some("monitor".into()))
        .with_pass(Some(MONITOR.into()));
    conn.change_user(opts).expect("the right password");
    assert_eq!(one(&mut conn, "SELECT USER()"), "monitor@localhost");
    assert_eq!(errno(&mut conn, "CREATE DATABASE x"), 1044);
    let opts = mysql::ChangeUserOpts::new()
        .with_user(Some("root".into()))
        .with_pass(Some("wrong".into()));
    assert_eq!(code(conn.change_user(opts)), 1045);
}
