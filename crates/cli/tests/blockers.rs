//! Who blocks whom on servers with their own Performance Schema, and on those behind the door whose row locks only
//! the server has: `tare top`, `tare record` and metrics.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::io::{Read, Write};
use std::thread;

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use servers::{Engine, Server, Version, run};
use support::{Process, finish, query_history, wait_for};

const MDL: &str = "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'wait/lock/metadata/sql/mdl'";

/// Options that name a server: by its socket, or behind the door by its process.
fn target(server: &Server) -> [String; 2] {
    match server.engine {
        Engine::Stock => ["--dsn".into(), "mysql.sock".into()],
        _ => ["--pid".into(), server.pid.to_string()],
    }
}

/// Page threads.
fn read_threads(server: &Server) -> Value {
    let words = [
        "top", "--batch", "1", "-i", "0.2", "--format", "json", "--page", "threads", "--rows",
        "1000",
    ];
    let words = words.map(str::to_owned).into_iter().chain(target(server));
    let done = finish(&mut server.directory.tare(words));
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).expect("an object")
}

/// Page threads: BLOCKED BY of each connection that is blocked, and the notes.
fn read_blocked(server: &Server) -> (Vec<(u64, String)>, String) {
    let page = read_threads(server);
    let rows = page["rows"].as_array().expect("rows").iter();
    let blocked = rows.filter_map(|row| {
        let by = row["blocked_by"].as_str()?;
        (!by.is_empty()).then(|| (row["conn"].as_u64().expect("a connection"), by.to_owned()))
    });
    let mut blocked: Vec<_> = blocked.collect();
    blocked.sort();
    (blocked, page["notes"].to_string())
}

/// The transaction of a connection on page threads: its age in seconds and its state.
fn transaction(page: &Value, connection: u64) -> Option<(u64, String)> {
    let mut rows = page["rows"].as_array().expect("rows").iter();
    let row = rows.find(|row| row["conn"].as_u64() == Some(connection));
    let row = row.expect("the connection");
    let state = row["trx_state"].as_str();
    assert_eq!(row["trx_s"].is_null(), state.is_none(), "{row}");
    Some((row["trx_s"].as_u64()?, state?.to_owned()))
}

fn id(conn: &mut Conn) -> u64 {
    let id = conn.query_first("SELECT CONNECTION_ID()").expect("answers");
    id.expect("an id")
}

/// Runs a statement that waits, on a connection of its own.
fn wait_in_thread(server: &Server, sql: &'static str) -> (u64, thread::JoinHandle<()>) {
    let mut conn = server.connect();
    run(
        &mut conn,
        &["SET lock_wait_timeout = 600, innodb_lock_wait_timeout = 600"],
    );
    let connection = id(&mut conn);
    (
        connection,
        thread::spawn(move || {
            // It may end with an error of a KILL.
            let _ = conn.query_drop(sql);
        }),
    )
}

/// The server's table `shop.t`, locked by a transaction.
fn lock_table(server: &Server) -> Conn {
    let mut holder = server.connect();
    run(
        &mut holder,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
            "INSERT INTO shop.t VALUES (1, 1)",
        ],
    );
    holder
}

fn check_unrecorded_holder(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Stock, &[]);
    let mut admin = server.connect();
    run(&mut admin, &[MDL]);
    let mut holder = lock_table(&server);
    run(&mut holder, &["BEGIN", "SELECT * FROM shop.t"]);
    let holder_id = id(&mut holder);
    let (alter, first) = wait_in_thread(&server, "ALTER TABLE shop.t ADD c INT");
    let unknown = || "unknown".to_owned();
    let notes = wait_for("the ALTER", || {
        let (blocked, notes) = read_blocked(&server);
        (blocked == [(alter, unknown())]).then_some(notes)
    });
    let oldest = format!("that of connection {holder_id}, ");
    assert!(
        notes.contains(&oldest) && notes.contains("names the holders"),
        "{notes}"
    );
    // Switched on too late: locks that are requested from now on are recorded, and no circle appears.
    run(&mut admin, &[&MDL.replace("'NO'", "'YES'")]);
    let (read, second) = wait_in_thread(&server, "SELECT 1 FROM shop.t");
    let (insert, third) = wait_in_thread(&server, "INSERT INTO shop.t VALUES (2, 2)");
    let notes = wait_for("three sessions", || {
        let (blocked, notes) = read_blocked(&server);
        let is_waiting = [alter, read, insert]
            .iter()
            .all(|id| blocked.iter().any(|(connection, _)| connection == id));
        let is_true = |(_, by): &(u64, String)| *by == "unknown" || *by == alter.to_string();
        assert!(blocked.iter().all(is_true), "{blocked:?}");
        is_waiting.then_some(notes)
    });
    assert!(notes.contains(&oldest), "{notes}");
    run(&mut holder, &["ROLLBACK"]);
    for thread in [first, second, third] {
        thread.join().expect("ends");
    }
    // With the instrument on, the holder is known, and the readers queue behind the ALTER.
    run(&mut holder, &["BEGIN", "SELECT * FROM shop.t"]);
    let (alter, first) = wait_in_thread(&server, "ALTER TABLE shop.t ADD d INT");
    wait_for("the ALTER", || {
        (read_blocked(&server).0 == [(alter, holder_id.to_string())]).then_some(())
    });
    let (read, second) = wait_in_thread(&server, "SELECT 1 FROM shop.t");
    wait_for("the SELECT", || {
        let both = [(alter, holder_id.to_string()), (read, alter.to_string())];
        (read_blocked(&server).0 == both).then_some(())
    });
    run(&mut holder, &["ROLLBACK"]);
    first.join().expect("ends");
    second.join().expect("ends");
    server.stop();
}

#[test]
fn mariadb_names_no_holder_that_was_not_recorded() {
    check_unrecorded_holder(Version::Mariadb);
}

#[test]
fn mysql_names_no_holder_that_was_not_recorded() {
    check_unrecorded_holder(Version::Mysql97);
}

/// The metrics of a recorder, whose address is on standard error.
fn read_metrics(recorder: &mut Process) -> String {
    let address = recorder.stderr_line();
    let address = address
        .split("http://")
        .nth(1)
        .expect("an address")
        .trim_end_matches("/metrics");
    let mut stream = std::net::TcpStream::connect(address).expect("listens");
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// The holder's transaction has been open for longer than the one that waits for it, and another session has none.
fn check_transactions(server: &Server, holder: u64, waiter: u64) {
    let mut idle = server.connect();
    let idle_id = id(&mut idle);
    let check = |holds: &str, waits: &str| {
        let page = read_threads(server);
        let (age, state) = transaction(&page, holder).expect("a transaction");
        assert_eq!(state, holds);
        let (age_of_waiter, state) = transaction(&page, waiter).expect("a transaction");
        assert_eq!(state, waits);
        assert!(age_of_waiter <= age, "{age_of_waiter} {age}");
        assert_eq!(transaction(&page, idle_id), None);
    };
    match server.engine {
        Engine::Tare => {
            check("ACTIVE", "ACTIVE");
            // This level records no transactions: InnoDB has them.
            server.tare("UPDATE tare.setup_sampling SET sampling = 'active'");
            check("RUNNING", "LOCK WAIT");
            server.tare("UPDATE tare.setup_sampling SET sampling = 'every'");
        }
        _ => check("RUNNING", "LOCK WAIT"),
    }
}

/// The history of a running recorder has an error by its name, or by its number if the server has no names.
fn check_errors(server: &Server) {
    let expected = match (server.version, server.engine) {
        // It has no table of errors.
        (Version::Mariadb, Engine::Stock) => return,
        (Version::Mariadb, _) => "1146",
        _ => "ER_NO_SUCH_TABLE",
    };
    let mut client = server.connect();
    client
        .query_drop("SELECT * FROM shop.missing")
        .expect_err("there is no such table");
    let query = "SELECT name FROM growth WHERE kind = 'error' AND count > 0";
    wait_for(expected, || {
        let rows = query_history(&server.directory, "history", query);
        rows.iter().any(|row| row["name"] == expected).then_some(())
    });
}

fn check_row_locks(version: Version, engine: Engine) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, engine, &[]);
    let mut holder = lock_table(&server);
    run(&mut holder, &["BEGIN", "UPDATE shop.t SET b = 2"]);
    let holder_id = id(&mut holder);
    let (waiter, thread) = wait_in_thread(&server, "UPDATE shop.t SET b = 3");
    wait_for("the wait for the row", || {
        (read_blocked(&server).0 == [(waiter, holder_id.to_string())]).then_some(())
    });
    check_transactions(&server, holder_id, waiter);
    let words = [
        "record",
        "--dir",
        "history",
        "--write-every",
        "0.2s",
        "--metrics",
        "127.0.0.1:0",
    ];
    let words = words.map(str::to_owned).into_iter().chain(target(&server));
    let mut command = server.directory.tare(words);
    command.stderr(std::process::Stdio::piped());
    let mut recorder = Process::start(&mut command);
    let sampled = wait_for("a sample of it", || {
        let query = "SELECT connection_id, wait, blocker IS NOT NULL AS has_blocker FROM samples \
             WHERE wait LIKE 'wait/lock/row/%' AND wait_ns > 0 LIMIT 1";
        let rows = query_history(&server.directory, "history", query);
        rows.first().cloned()
    });
    let expected = serde_json::json!({
        "connection_id": waiter, "wait": "wait/lock/row/innodb", "has_blocker": 1,
    });
    assert_eq!(sampled, expected);
    check_errors(&server);
    let metrics = read_metrics(&mut recorder);
    assert!(
        metrics.contains("tare_sessions{state=\"blocked\"} 1\n"),
        "{metrics}"
    );
    assert!(!metrics.contains("tare_blocked_seconds 0\n"), "{metrics}");
    recorder.signal("INT");
    assert!(recorder.wait().success());
    run(&mut holder, &["ROLLBACK"]);
    thread.join().expect("ends");
    server.stop();
}

#[test]
fn row_locks_of_a_stock_mysql_are_a_class_with_blockers() {
    check_row_locks(Version::Mysql97, Engine::Stock);
}

#[test]
fn row_locks_of_a_stock_mariadb_are_a_class_with_blockers() {
    check_row_locks(Version::Mariadb, Engine::Stock);
}

#[test]
fn row_locks_behind_the_door_of_mysql_are_those_of_the_segment() {
    check_row_locks(Version::Mysql97, Engine::Tare);
}

#[test]
fn row_locks_behind_the_door_of_mariadb_are_those_of_the_server() {
    check_row_locks(Version::Mariadb, Engine::Tare);
}
