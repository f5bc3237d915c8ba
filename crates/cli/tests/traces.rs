//! From the id of a trace to its statement, wait, blocking session and that session's last statement, in a history.

#[path = "support/servers.rs"]
mod servers;
mod support;
#[path = "support/traceparent.rs"]
mod traceparent;

use std::process::Stdio;
use std::thread;

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use servers::{Engine, Server, Version, run};
use support::server::Server as Host;
use support::{Directory, Process, query_history, wait_for};

/// The trace in the query of docs/history.md.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const HOLDERS_TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// The query of docs/history.md.
fn documented_query() -> String {
    let document = include_str!("../../../docs/history.md");
    let (_, section) = document
        .split_once("**What did a request wait for, and who blocked it?**")
        .expect("the section");
    let (_, command) = section.split_once("-e \"\n").expect("a command");
    command.split_once('"').expect("its end").0.to_owned()
}

/// A session that holds a lock in a traced statement, one that waits for it in another, and one whose traceparent is
/// not valid. `target` names the server.
fn check(directory: &Directory, target: [String; 2], connect: &dyn Fn() -> Conn, lock: [&str; 2]) {
    let words = [
        "record",
        "--dir",
        "history",
        "--write-every",
        "0.2s",
        "--rate",
        "10",
    ];
    let words = words.map(str::to_owned).into_iter().chain(target);
    let mut recorder = Process::start(directory.tare(words).stderr(Stdio::null()));
    let (mut admin, mut holder, mut waiter, mut malformed) =
        (connect(), connect(), connect(), connect());
    let id = |conn: &mut Conn| -> u64 {
        let id = conn.query_first("SELECT CONNECTION_ID()").expect("answers");
        id.expect("an id")
    };
    let [holder_id, waiter_id, malformed_id] = [&mut holder, &mut waiter, &mut malformed].map(id);
    let held = lock[0];
    run(
        &mut holder,
        &[
            "BEGIN",
            &format!("/*traceparent='00-{HOLDERS_TRACE}-b7ad6b7169203331-01'*/ {held}"),
        ],
    );
    let waiting = format!(
        "{} /*action='%2Fcart',traceparent='00-{TRACE}-00f067aa0ba902b7-01'*/",
        lock[1]
    );
    let waiting = thread::spawn(move || waiter.query_drop(waiting));
    let asleep = thread::spawn(move || {
        malformed.query_drop(format!(
            "SELECT SLEEP(600) /*traceparent='00-{TRACE}-0000000000000000-01'*/"
        ))
    });
    let query = documented_query();
    let is_blocked = |row: &Value| row["wait"].is_string() && row["blocker_connection_id"].is_u64();
    let rows = wait_for("the blocker", || {
        let rows = query_history(directory, "history", &query);
        rows.iter().any(is_blocked).then_some(rows)
    });
    let row = rows.iter().find(|row| is_blocked(row)).expect("a row");
    assert_eq!(row["span_id"], "00f067aa0ba902b7", "{rows:#?}");
    assert_eq!(row["connection_id"], waiter_id, "{rows:#?}");
    assert_eq!(row["blocker_connection_id"], holder_id, "{rows:#?}");
    assert_eq!(row["blocker_state"], "sleeping", "{rows:#?}");
    assert_eq!(row["blocker_trace_id"], HOLDERS_TRACE, "{rows:#?}");
    assert!(row["seconds"].as_f64() > Some(0.0), "{rows:#?}");
    let begin = |sql: &str| sql.split_whitespace().next().expect("a word").to_owned();
    for (text, sql) in [("statement", lock[1]), ("blocker_text", held)] {
        let text = row[text].as_str().expect("a text");
        assert!(text.contains(&begin(sql)), "{rows:#?}");
    }
    let rest = "SELECT connection_id, trace_id, COUNT(*) AS n FROM samples WHERE connection_id IS NOT NULL \
         AND statement_ns > 100000000 GROUP BY 1, 2";
    let rest = wait_for("the session whose traceparent is not valid", || {
        let rows = query_history(directory, "history", rest);
        let is_it = |row: &Value| row["connection_id"] == malformed_id;
        rows.iter().any(is_it).then_some(rows)
    });
    for row in rest {
        let is_traced = row["connection_id"] == waiter_id;
        let expected = if is_traced {
            Value::from(TRACE)
        } else {
            Value::Null
        };
        assert_eq!(row["trace_id"], expected, "{row}");
    }
    run(&mut holder, &["ROLLBACK", "DO RELEASE_LOCK('report')"]);
    run(&mut admin, &[&format!("KILL {malformed_id}")]);
    waiting.join().expect("ends").expect("is granted");
    let _ = asleep.join().expect("ends");
    recorder.signal("INT");
    assert!(recorder.wait().success());
}

fn create_table(admin: &mut Conn) {
    run(
        admin,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
            "INSERT INTO shop.t VALUES (1, 1)",
        ],
    );
}

fn check_server(version: Version, engine: Engine) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, engine, &[]);
    create_table(&mut server.connect());
    let target = match engine {
        Engine::Stock | Engine::StockDefaults => ["--dsn".into(), "mysql.sock".into()],
        _ => ["--pid".into(), server.pid.to_string()],
    };
    let lock = [
        "UPDATE shop.t SET b = 2 WHERE a = 1",
        "UPDATE shop.t SET b = 3 WHERE a = 1 AND '/*' <> '*'",
    ];
    check(&server.directory, target, &|| server.connect(), lock);
    server.stop();
}

#[test]
fn a_stock_mysql_with_its_defaults() {
    check_server(Version::Mysql97, Engine::StockDefaults);
}

#[test]
fn a_stock_mariadb() {
    check_server(Version::Mariadb, Engine::Stock);
}

#[test]
fn mysql_behind_the_door() {
    check_server(Version::Mysql97, Engine::Tare);
}

#[test]
fn tare_serve() {
    let directory = Directory::new("traces");
    let server = Host::tare(&[]);
    let target = ["--pid".to_owned(), server.pid().to_string()];
    run(
        &mut server.connect(),
        &[
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'",
        ],
    );
    let lock = ["DO GET_LOCK('report', 0)", "DO GET_LOCK('report', 600)"];
    check(&directory, target, &|| server.connect(), lock);
}

/// Query attributes, and the user variable.
#[test]
fn tare_serve_has_the_traces_of_attributes_and_of_the_variable() {
    let directory = Directory::new("traces");
    let server = Host::tare(&[]);
    let pid = server.pid().to_string();
    let ways = ["attribute", "prepared", "comment", "variable"];
    traceparent::check(&directory, server.socket(), ["--pid", &pid], &ways, true);
}

/// A stock server has the variable, and no attributes.
#[test]
fn a_stock_mysql_has_the_traces_of_the_variable() {
    if Version::Mysql97.is_left_out() {
        return;
    }
    let server = Server::start(Version::Mysql97, Engine::StockDefaults, &[]);
    let socket = server.directory.path().join("mysql.sock");
    let ways = ["comment", "variable"];
    traceparent::check(
        &server.directory,
        &socket,
        ["--dsn", "mysql.sock"],
        &ways,
        false,
    );
    server.stop();
}
