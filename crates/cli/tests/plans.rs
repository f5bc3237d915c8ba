//! Examples and plans of statements in histories: a dropped index changes a plan, and what must not be executed or
//! stored is not.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use servers::{Engine, Server, Version, run};
use support::terminal::Terminal;
use support::{Process, query_history, wait_for};

/// The statement whose index is dropped.
const SLOW: &str = "SELECT COUNT(*) FROM orders WHERE customer = 7 AND email <> 'topsecret' AND card <> 4111111111111111";

/// The options that name a server.
fn target(server: &Server) -> [String; 2] {
    match server.engine {
        Engine::Tare => ["--pid".into(), server.pid.to_string()],
        _ => ["--dsn".into(), "mysql.sock".into()],
    }
}

fn record(server: &Server, history: &str, options: &[&str]) -> Process {
    let words = [
        "record",
        "--dir",
        history,
        "--write-every",
        "0.1s",
        "--rate",
        "20",
    ];
    let mut command = server.directory.tare(words);
    command
        .args(target(server))
        .args(options)
        .stderr(Stdio::piped());
    Process::start(&mut command)
}

/// Runs a statement again and again until it is dropped.
struct Load {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Load {
    fn start(mut conn: Conn, statement: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                conn.query_drop(statement).expect("answers");
                // MariaDB has texts of the last 10,000 statements only.
                thread::sleep(Duration::from_millis(2));
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn connect(server: &Server) -> Conn {
    let mut conn = server.connect();
    run(&mut conn, &["USE shop"]);
    conn
}

fn create_shop(server: &Server) -> Conn {
    let mut admin = server.connect();
    run(
        &mut admin,
        &[
            "CREATE DATABASE shop",
            "USE shop",
            "CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, customer INT, email VARCHAR(50), card BIGINT, \
             KEY by_customer (customer)) ENGINE = InnoDB",
            "INSERT INTO orders (customer, email, card) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', 4)",
            "CREATE TABLE calls (a INT) ENGINE = MyISAM",
            "CREATE TABLE notes (id INT PRIMARY KEY, day DATE, KEY by_day (day)) ENGINE = InnoDB",
            "INSERT INTO notes VALUES (1, NULL)",
            "SET GLOBAL log_bin_trust_function_creators = 1",
            "CREATE FUNCTION counted() RETURNS INT DETERMINISTIC BEGIN INSERT INTO calls VALUES (1); RETURN 1; END",
            "CREATE VIEW counting AS SELECT * FROM orders WHERE customer = (SELECT counted())",
            "CREATE USER limited@localhost IDENTIFIED BY 'x'",
            "GRANT SELECT ON performance_schema.* TO limited@localhost",
        ],
    );
    for _ in 0..12 {
        run(
            &mut admin,
            &[
                "INSERT INTO orders (customer, email, card) SELECT id * 7 + customer, email, card FROM orders",
            ],
        );
    }
    admin
}

/// Whether a plan of each of these statements, or the reason why there is none, is recorded.
fn row_of<'r>(rows: &'r [Value], begin: &str) -> Option<&'r Value> {
    let mut rows = rows.iter();
    rows.find(|row| {
        row["example"]
            .as_str()
            .is_some_and(|example| example.starts_with(begin))
    })
}

/// A key of `tare top` displays the plan of a statement: of the server now, and of its history.
fn check_top(server: &Server) {
    let history = ["--history", "history"].map(str::to_owned);
    // Blanks that are there already are not sent again.
    for (options, plan) in [
        (target(server), ["full"].as_slice()),
        (history, &["full", "changed;", "by_customer"]),
    ] {
        let mut command = server.directory.tare(["top", "-i", "0.5"]);
        let mut terminal = Terminal::of(command.args(options));
        terminal.wait_for_text("STATEMENT");
        terminal.press("/customer\r");
        terminal.wait_for_text("Esc:");
        terminal.press("P");
        terminal.wait_for_text("example:");
        plan.iter().for_each(|text| terminal.wait_for_text(text));
        terminal.press("\x1b");
        terminal.wait_for_text("CALLS");
        terminal.press("q");
        assert!(terminal.running.wait().success());
    }
}

const PLANS: &str = "SELECT * FROM plans ORDER BY sampled_at";

fn check_dropped_index(server: &Server, admin: &mut Conn) {
    let mut app = connect(server);
    let load = Load::start(connect(server), SLOW);
    let mut recorder = record(server, "history", &[]);
    wait_for("the first plan", || {
        row_of(
            &query_history(&server.directory, "history", PLANS),
            "SELECT COUNT",
        )
        .map(|_| ())
    });
    // Each once: it is called after the recorder's first reading.
    let others = [
        "UPDATE orders SET email = 'topsecret' WHERE id = 1",
        "SELECT COUNT(*) FROM counting",
        "SELECT id FROM orders WHERE id = 1 FOR UPDATE",
        "SELECT counted(), id FROM orders WHERE id = 2",
        "CREATE TABLE other SELECT * FROM orders WHERE id = 3",
    ];
    run(&mut app, &others);
    // MySQL up to 8.0.15 gives all statements on a view the digest of the view's own text.
    let has_delete = !matches!(
        server.version,
        Version::Mysql56 | Version::Mysql57 | Version::Mysql80
    );
    if has_delete {
        // With GTIDs, MySQL refuses it, because the function changes a table of MyISAM. The recorder sees it
        // all the same.
        let _ = app.query_drop("DELETE FROM counting WHERE id = -1");
    }
    let calls = "SELECT COUNT(*) FROM shop.calls";
    let called: u64 = admin
        .query_first(calls)
        .expect("answers")
        .expect("a number");
    assert!(called > 0);
    let rows = wait_for("the other statements", || {
        let rows = query_history(&server.directory, "history", PLANS);
        let begins = [
            "UPDATE",
            "SELECT COUNT(*) FROM counting",
            "SELECT id",
            "SELECT counted",
        ];
        let mut begins = begins.into_iter().chain(has_delete.then_some("DELETE"));
        begins
            .all(|begin| row_of(&rows, begin).is_some())
            .then_some(rows)
    });
    let problem = |begin: &str| row_of(&rows, begin).expect("a row")["problem"].clone();
    assert_eq!(problem("UPDATE"), Value::Null);
    if has_delete {
        let may_be_view = "it may use a view, whose functions could be called";
        assert_eq!(problem("DELETE"), may_be_view);
    }
    assert_eq!(
        problem("SELECT COUNT(*) FROM counting"),
        "it uses a view or function that changes a table"
    );
    assert_eq!(problem("SELECT id"), "it locks the rows that it reads");
    assert_eq!(
        problem("SELECT counted"),
        "it may call a stored function, or one that has effects"
    );
    assert!(row_of(&rows, "CREATE").is_none(), "{rows:#?}");
    // EXPLAIN has called no function.
    assert_eq!(admin.query_first(calls).expect("answers"), Some(called));

    let first = row_of(&rows, "SELECT COUNT(*) FROM orders")
        .expect("a row")
        .clone();
    assert_eq!(first["reason"], "new", "{first}");
    assert_eq!(first["indexes"], "orders.by_customer", "{first}");
    assert_eq!(first["full_scans"], "", "{first}");
    run(admin, &["ALTER TABLE shop.orders DROP KEY by_customer"]);
    let changed = wait_for("the changed plan", || {
        let rows = query_history(
            &server.directory,
            "history",
            "SELECT * FROM plans WHERE reason = 'changed' AND full_scans <> ''",
        );
        rows.first().cloned()
    });
    assert_eq!(changed["digest"], first["digest"]);
    assert_ne!(changed["shape"], first["shape"]);
    assert_eq!(changed["full_scans"], "orders", "{changed}");
    check_top(server);
    drop(load);
    recorder.signal("INT");
    assert!(recorder.wait().success());
    check_secrets(server);
    check_queries(server);
}

/// No text and no long number of a statement is in the history.
fn check_secrets(server: &Server) {
    let rows = query_history(&server.directory, "history", PLANS);
    let all = serde_json::to_string(&rows).expect("text");
    assert!(
        !all.contains("topsecret") && !all.contains("411111"),
        "{all}"
    );
    assert!(
        all.contains("email <> '<secret>' AND card <> '<secret>'"),
        "{all}"
    );
    // The plan has the same condition.
    assert!(all.contains("attached_condition"), "{all}");
}

/// The queries of docs/plans.md.
fn check_queries(server: &Server) {
    let document = include_str!("../../../docs/plans.md");
    let query = |heading: &str| {
        let (_, after) = document.split_once(heading).expect("the heading");
        let (_, after) = after.split_once("-e \"\n").expect("a query");
        after.split_once("\"\n").expect("its end").0.to_owned()
    };
    let rows = query_history(
        &server.directory,
        "history",
        &query("**Which statements use no index?**"),
    );
    let row = rows.first().expect("a statement");
    assert_eq!(row["full_scans"], "orders", "{rows:#?}");
    assert!(row["calls"].as_u64() > Some(0), "{rows:#?}");
    let rows = query_history(
        &server.directory,
        "history",
        &query("**Which indexes does nobody use?**"),
    );
    let names: Vec<_> = rows
        .iter()
        .filter_map(|row| row["index_name"].as_str())
        .collect();
    assert_eq!(names, ["by_day"], "{rows:#?}");
}

/// EXPLAIN alone calls functions, up to MySQL 8.0 and in MariaDB: those of a view, and of a subquery.
fn check_explain_has_effects(server: &Server, admin: &mut Conn) {
    for statement in [
        "SELECT COUNT(*) FROM counting",
        "SELECT * FROM orders WHERE id = (SELECT counted())",
    ] {
        let mut calls = || -> Option<u64> {
            let count = admin.query_first("SELECT COUNT(*) FROM calls");
            run(admin, &[&format!("EXPLAIN FORMAT=JSON {statement}")]);
            count.expect("answers")
        };
        let (before, after) = (calls(), calls());
        assert_eq!(
            before < after,
            server.version != Version::Mysql97,
            "{statement}"
        );
    }
}

/// For an account that may not read the tables, the recorder prints the GRANT once.
fn check_missing_right(server: &Server) {
    let load = Load::start(connect(server), "SELECT COUNT(*) FROM orders WHERE id < 3");
    let options = ["--dsn", "mysql://limited:x@localhost/?socket=mysql.sock"];
    let words = [
        "record",
        "--dir",
        "limited",
        "--write-every",
        "0.1s",
        "--rate",
        "20",
    ];
    let mut command = server.directory.tare(words);
    command.args(options).stderr(Stdio::piped());
    let mut recorder = Process::start(&mut command);
    let rows = wait_for("a refusal", || {
        let rows = query_history(
            &server.directory,
            "limited",
            "SELECT * FROM plans WHERE problem LIKE '%GRANT%'",
        );
        (!rows.is_empty()).then_some(rows)
    });
    assert_eq!(rows[0]["plan"], Value::Null);
    drop(load);
    recorder.signal("INT");
    recorder.wait();
    let printed = recorder.stderr();
    let messages = printed.matches("plans are not complete: ").count();
    assert!(
        messages == 1 && printed.contains("GRANT SELECT ON shop.* TO 'limited'@'localhost'"),
        "{printed}"
    );
}

/// EXPLAIN waits for a table that another session has locked, and is ended.
fn check_time_limit(server: &Server, admin: &mut Conn) {
    let mut holder = connect(server);
    run(&mut holder, &["LOCK TABLES orders WRITE"]);
    let load = Load::start(holder, "SELECT MAX(id) FROM orders WHERE customer = 8");
    let mut recorder = record(server, "locked", &[]);
    let rows = wait_for("the reason", || {
        let rows = query_history(
            &server.directory,
            "locked",
            "SELECT * FROM plans WHERE problem LIKE 'EXPLAIN %'",
        );
        (!rows.is_empty()).then_some(rows)
    });
    assert_eq!(rows[0]["plan"], Value::Null, "{rows:?}");
    recorder.signal("INT");
    recorder.wait();
    wait_for("the end of EXPLAIN in the server", || {
        let explains =
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'EXPLAIN%'";
        (admin.query_first::<u64, _>(explains).expect("answers") == Some(0)).then_some(())
    });
    drop(load);
}

/// With --plans off there is none.
fn check_off(server: &Server) {
    let load = Load::start(
        connect(server),
        "SELECT MIN(id) FROM orders WHERE customer = 9",
    );
    let mut recorder = record(server, "off", &["--plans", "off"]);
    wait_for("growth", || {
        let rows = query_history(
            &server.directory,
            "off",
            "SELECT COUNT(*) AS n FROM growth WHERE kind = 'digest' AND schema = 'shop'",
        );
        (rows.first()?["n"].as_u64() > Some(2)).then_some(())
    });
    drop(load);
    recorder.signal("INT");
    recorder.wait();
    assert_eq!(
        query_history(&server.directory, "off", PLANS),
        Vec::<Value>::new()
    );
}

fn check_plans(version: Version, engine: Engine) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, engine, &[]);
    let mut admin = create_shop(&server);
    check_explain_has_effects(&server, &mut admin);
    check_dropped_index(&server, &mut admin);
    if engine != Engine::Tare {
        check_missing_right(&server);
        check_time_limit(&server, &mut admin);
        check_off(&server);
    }
    server.stop();
}

#[test]
fn a_stock_mysql_with_its_defaults() {
    check_plans(Version::Mysql97, Engine::StockDefaults);
}

#[test]
fn a_stock_mariadb() {
    check_plans(Version::Mariadb, Engine::Stock);
}

#[test]
#[ignore = "another version is left to make test-long"]
fn mysql_8_0() {
    check_plans(Version::Mysql80, Engine::StockDefaults);
}

#[test]
#[ignore = "another version is left to make test-long"]
fn mysql_5_7() {
    check_plans(Version::Mysql57, Engine::Stock);
}

#[test]
#[ignore = "another version is left to make test-long"]
fn mysql_5_6() {
    check_plans(Version::Mysql56, Engine::Stock);
}

#[test]
#[ignore = "another version is left to make test-long"]
fn mariadb_11_8() {
    check_plans(Version::Mariadb118, Engine::Stock);
}

#[test]
#[ignore = "the door is left to make test-long"]
fn mysql_behind_the_door() {
    check_plans(Version::Mysql97, Engine::Tare);
}
