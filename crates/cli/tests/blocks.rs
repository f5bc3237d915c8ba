//! Who blocked whom, in histories: each kind of lock on servers with their own Performance Schema, and behind the door.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::process::Stdio;
use std::thread::{self, JoinHandle};

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::{Value, json};
use servers::{Engine, Server, Version, run};
use support::{Process, finish, query_history, wait_for};

/// The query of docs/history.md.
const WHO: &str = "SELECT kind, CONCAT_WS('.', object_schema, object) AS object, index_name, lock_mode, \
    connection_id, text, blocker_connection_id, blocker_state, blocker_text, wait_ns, blocker_transaction_ns FROM blocks \
    WHERE sampled_at = (SELECT MAX(sampled_at) FROM blocks) ORDER BY connection_id, blocker_connection_id";

/// How many sessions wait for a row. INNODB_TRX would not be of use: InnoDB does not refresh it as long as it is read
/// more than ten times a second.
const ROW_WAITS: &str = "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_row_lock_current_waits'";

fn id(conn: &mut Conn) -> u64 {
    let id = conn.query_first("SELECT CONNECTION_ID()").expect("answers");
    id.expect("an id")
}

/// Options that name a server: by its socket, or behind the door by its process.
fn target(server: &Server) -> [String; 2] {
    match server.engine {
        Engine::Stock | Engine::StockDefaults => ["--dsn".into(), "mysql.sock".into()],
        _ => ["--pid".into(), server.pid.to_string()],
    }
}

/// The row of a connection on the page threads of tare top.
fn session(server: &Server, connection: u64) -> Value {
    let words = [
        "top", "--batch", "1", "-i", "0.2", "--format", "json", "--rows", "100", "--page",
        "threads",
    ];
    let words = words.map(str::to_owned).into_iter().chain(target(server));
    let done = finish(&mut server.directory.tare(words));
    let page: Value = serde_json::from_str(&done.stdout).expect("an object");
    let mut rows = page["rows"].as_array().expect("rows").iter();
    let row = rows.find(|row| row["conn"] == connection);
    row.expect("the connection").clone()
}

/// Starts a recorder of a server.
fn record(server: &Server) -> Process {
    let words = ["record", "--dir", "history", "--write-every", "0.2s"].map(str::to_owned);
    let mut command = server
        .directory
        .tare(words.into_iter().chain(target(server)));
    command.stderr(Stdio::null());
    Process::start(&mut command)
}

/// Sessions that wait, each in a thread.
struct Waiters<'a> {
    server: &'a Server,
    threads: Vec<(u64, JoinHandle<()>)>,
}

impl Waiters<'_> {
    /// Runs a statement that waits, and returns its connection.
    fn start(&mut self, sql: &'static str) -> u64 {
        let mut conn = self.server.connect();
        run(
            &mut conn,
            &["SET lock_wait_timeout = 600, innodb_lock_wait_timeout = 600"],
        );
        let connection = id(&mut conn);
        let thread = thread::spawn(move || {
            // It may end with an error of a KILL.
            let _ = conn.query_drop(sql);
        });
        self.threads.push((connection, thread));
        connection
    }

    /// Ends all statements.
    fn end(self, admin: &mut Conn) {
        for (connection, _) in &self.threads {
            // One that was not blocked any longer has ended.
            let _ = admin.query_drop(format!("KILL {connection}"));
        }
        for (_, thread) in self.threads {
            thread.join().expect("ends");
        }
    }
}

/// The last reading's row of a waiting connection.
fn row_of(rows: &[Value], connection: u64) -> Option<Value> {
    let mut of_connection = rows.iter().filter(|row| row["connection_id"] == connection);
    of_connection.next().cloned()
}

fn check_blocks(version: Version, engine: Engine) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, engine, &[]);
    let (mut admin, mut holder) = (server.connect(), server.connect());
    run(
        &mut admin,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
            "INSERT INTO shop.t VALUES (1, 1), (2, 2)",
            "CREATE TABLE shop.m (a INT) ENGINE = MyISAM",
            "INSERT INTO shop.m VALUES (1), (2)",
        ],
    );
    let mut recorder = record(&server);
    let started = utc(&mut admin);
    // An interval needs six readings before, and six of the waits.
    let is_compared =
        std::env::var_os("TARE_TEST_LONG").is_some() && matches!(engine, Engine::StockDefaults);
    if is_compared {
        let count = "SELECT COUNT(DISTINCT sampled_at) AS n FROM growth";
        wait_for("readings of growth without waits", || {
            (query_history(&server.directory, "history", count).first()?["n"].as_u64() > Some(8))
                .then_some(())
        });
    }
    wait_for("a moment without waits", || {
        let rows = query_history(
            &server.directory,
            "history",
            "SELECT COUNT(*) AS n FROM moments",
        );
        (rows.first()?["n"].as_u64() > Some(1)).then_some(())
    });
    check_questions_without_waits(&server, &mut admin);
    run(
        &mut holder,
        &[
            "BEGIN",
            "UPDATE shop.t SET b = 2 WHERE a = 1",
            "DO GET_LOCK('report', 0)",
        ],
    );
    let holder_id = id(&mut holder);
    let blocked = utc(&mut admin);
    run(&mut holder, &["DO 'the last of the holder'"]);
    let mut waiters = Waiters {
        server: &server,
        threads: Vec::new(),
    };
    let reader = waiters.start("SELECT SLEEP(600) FROM shop.m");
    let update = waiters.start("UPDATE shop.t SET b = 3 WHERE a = 1");
    // Else the update could queue behind the ALTER.
    wait_for("both statements", || {
        let asleep =
            "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep'";
        let mut counts = |sql: &str| admin.query_first::<u64, _>(sql).expect("answers");
        (counts(ROW_WAITS) == Some(1) && counts(asleep) == Some(1)).then_some(())
    });
    let alter = waiters.start("ALTER TABLE shop.t ADD c INT");
    let user = waiters.start("DO GET_LOCK('report', 600)");
    let table = waiters.start("UPDATE shop.m SET a = 3");
    let rows = wait_for("four waits", || {
        let rows = query_history(&server.directory, "history", WHO);
        let is_there = |id: &u64| row_of(&rows, *id).is_some_and(|row| row["wait_ns"] != 0);
        let all = [update, alter, user, table].iter().all(is_there);
        all.then_some(rows)
    });
    let rows_of = |connection: u64| row_of(&rows, connection).expect("a row");
    for (connection, kind, object, by, state) in [
        (update, "row", "shop.t", holder_id, "sleeping"),
        (alter, "metadata", "shop.t", holder_id, "sleeping"),
        (user, "user", "report", holder_id, "sleeping"),
        (table, "table", "shop.m", reader, "running"),
    ] {
        let row = rows_of(connection);
        let row_has = [
            &row["kind"],
            &row["object"],
            &row["blocker_connection_id"],
            &row["blocker_state"],
        ];
        let expected = [json!(kind), json!(object), json!(by), json!(state)];
        assert_eq!(row_has.map(Clone::clone), expected, "{rows:#?}");
        assert!(row["wait_ns"].as_i64() > Some(0), "{row}");
    }
    assert_eq!(rows_of(update)["index_name"], "PRIMARY", "{rows:#?}");
    assert!(
        rows_of(update)["blocker_transaction_ns"].is_number(),
        "{rows:#?}"
    );
    for connection in [update, user] {
        let ran = rows_of(connection)["blocker_text"].to_string();
        assert!(ran.contains("DO "), "{rows:#?}");
    }
    assert_eq!(session(&server, table)["blocked_by"], reader.to_string());
    if matches!(engine, Engine::Stock | Engine::StockDefaults) {
        for connection in [update, alter, user, table] {
            let row = session(&server, connection);
            let does = row["state_statement"].to_string();
            assert!(does.starts_with("\"waiting: "), "{row}");
            let is_row = does.contains("wait/lock/row/innodb");
            assert_eq!(is_row, connection == update, "{row}");
        }
    }
    // It runs nothing.
    let asleep = session(&server, holder_id);
    let ran = "after DO 'the last of the holder'";
    assert_eq!(
        [&asleep["command"], &asleep["state_statement"]],
        ["Sleep", ran],
        "{asleep}"
    );
    let text = rows_of(alter)["text"].to_string();
    assert!(text.contains("ALTER TABLE"), "{rows:#?}");
    if is_compared {
        check_comparison(&server, started, blocked);
    }
    waiters.end(&mut admin);
    run(&mut holder, &["ROLLBACK"]);
    check_deadlock(&server);
    if engine == Engine::Tare {
        check_deadlock_at_active(&server);
    }
    recorder.signal("INT");
    assert!(recorder.wait().success());
    // Each session that waits has the time of the reading once, although the ALTER has several blockers.
    let times = query_history(
        &server.directory,
        "history",
        "SELECT MIN(s) > 0 AND MAX(s) - MIN(s) < 1e-6 AS is_same, COUNT(*) AS waiters FROM \
         (SELECT sampled_at, connection_id, SUM(seconds) AS s FROM blocks GROUP BY sampled_at, connection_id) AS t \
         GROUP BY sampled_at ORDER BY waiters DESC",
    );
    assert!(times[0]["waiters"].as_i64() >= Some(4), "{times:?}");
    assert!(times.iter().all(|row| row["is_same"] == 1), "{times:?}");
    server.stop();
}

/// Seconds since 1970.
fn utc(conn: &mut Conn) -> u64 {
    let seconds = conn.query_first("SELECT UNIX_TIMESTAMP()");
    seconds.expect("answers").expect("a time")
}

/// tare diff says which locks sessions wait for, and what the holders ran last, once there are enough readings for an
/// interval.
fn check_comparison(server: &Server, started: u64, blocked: u64) {
    let window = |from: u64, to: u64| {
        let seconds = from % 86_400;
        let [hour, minute, second] = [seconds / 3600, seconds / 60 % 60, seconds % 60];
        format!("{hour:02}:{minute:02}:{second:02}/{}s", to - from)
    };
    let (before, after) = (window(started, blocked), window(blocked, blocked + 600));
    let words = [
        "diff",
        "--history",
        "history",
        "--format",
        "json",
        "--before",
        &before,
    ];
    let compare = || {
        let words = words.into_iter().chain(["--after", &*after]);
        let done = finish(&mut server.directory.tare(words));
        let report: Value = serde_json::from_str(&done.stdout).ok()?;
        let locks = report["blocking"]["locks"].as_array()?.clone();
        let is_longer = |lock: &&Value| lock["added_seconds_interval"][0].as_f64() > Some(0.0);
        // The ALTER waits for two sessions.
        (locks.iter().filter(is_longer).count() >= 5).then_some(locks)
    };
    let locks = wait_for("five changes", compare);
    for (kind, object, ran) in [
        ("row", "t", "DO ?"),
        ("metadata", "t", "DO ?"),
        ("user", "report", "DO ?"),
        ("table", "m", "SELECT `SLEEP`"),
    ] {
        let is_it = |lock: &&Value| {
            let text = lock["holder_text"].as_str().unwrap_or_default();
            lock["kind"] == kind && lock["object"] == object && text.starts_with(ran)
        };
        let lock = locks.iter().find(is_it);
        let lock = lock.unwrap_or_else(|| panic!("no {kind} lock: {locks:#?}"));
        assert_eq!(lock["presence"], "new", "{lock}");
    }
}

/// Two transactions each wait for the other's row. Returns their connections, and whether the second was refused.
fn lock_each_other(server: &Server) -> ([u64; 2], bool) {
    let (mut one, mut other) = (server.connect(), server.connect());
    let ids = [id(&mut one), id(&mut other)];
    run(&mut one, &["BEGIN", "UPDATE shop.t SET b = 10 WHERE a = 1"]);
    run(
        &mut other,
        &["BEGIN", "UPDATE shop.t SET b = 20 WHERE a = 2"],
    );
    let waits = thread::spawn(move || one.query_drop("UPDATE shop.t SET b = 10 WHERE a = 2"));
    wait_for("the first wait", || {
        let mut admin = server.connect();
        (admin.query_first::<u64, _>(ROW_WAITS).expect("answers") == Some(1)).then_some(())
    });
    let refused = other
        .query_drop("UPDATE shop.t SET b = b + 20 WHERE a = 1")
        .is_err();
    assert!(
        waits.join().expect("ends").is_err() != refused,
        "one of both is the victim"
    );
    (ids, refused)
}

/// At the level active, Tare does not count the error of a deadlock. The first one may be before the recorder notices
/// the level.
fn check_deadlock_at_active(server: &Server) {
    server.tare("UPDATE tare.setup_sampling SET sampling = 'active'");
    let mut connections = Vec::new();
    wait_for("a deadlock at the level active", || {
        connections.extend(lock_each_other(server).0);
        let rows = query_history(
            &server.directory,
            "history",
            "SELECT connection_id FROM deadlocks",
        );
        let mut ids = rows.iter().filter_map(|row| row["connection_id"].as_u64());
        ids.any(|id| connections.contains(&id)).then_some(())
    });
}

/// The history has both transactions of a deadlock, with their statements.
fn check_deadlock(server: &Server) {
    let (ids, refused) = lock_each_other(server);
    let rows = wait_for("the deadlock", || {
        let query = "SELECT count, connection_id, is_victim, text, object, index_name FROM deadlocks \
             ORDER BY connection_id";
        Some(query_history(&server.directory, "history", query)).filter(|rows| !rows.is_empty())
    });
    let connections: Vec<_> = rows
        .iter()
        .map(|row| row["connection_id"].as_u64())
        .collect();
    assert_eq!(connections, ids.map(Some), "{rows:?}");
    for (row, is_first) in rows.iter().zip([true, false]) {
        let text = row["text"].as_str().expect("a text").to_owned();
        assert_eq!(text.contains("+"), !is_first, "{rows:?}");
        assert_eq!(row["is_victim"] == 1, is_first != refused, "{rows:?}");
        let lock = [&row["object"], &row["index_name"]];
        assert_eq!(
            lock.map(Clone::clone),
            [json!("t"), json!("PRIMARY")],
            "{rows:?}"
        );
    }
    let count: i64 = rows.iter().filter_map(|row| row["count"].as_i64()).sum();
    assert_eq!(count, 1, "{rows:?}");
}

/// As long as nobody waits, the recorder asks a stock server the one question whether somebody does.
fn check_questions_without_waits(server: &Server, admin: &mut Conn) {
    if matches!(server.engine, Engine::Tare) {
        return;
    }
    let texts: Vec<String> = wait_for("the check", || {
        let texts =
            "SELECT DIGEST_TEXT FROM performance_schema.events_statements_summary_by_digest";
        let texts: Vec<Option<String>> = admin.query(texts).expect("digests");
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        let is_check =
            |text: &String| text.contains("UNION ALL") && text.contains("INNODB_METRICS");
        texts.iter().any(is_check).then_some(texts)
    });
    for other in [
        "metadata_locks",
        "data_lock",
        "innodb_lock",
        "select `trx_mysql_thread_id`",
        "table_handles",
    ] {
        let is_other =
            |text: &&String| text.starts_with("SELECT") && text.to_lowercase().contains(other);
        assert_eq!(texts.iter().find(is_other), None);
    }
}

#[test]
fn a_stock_mysql_with_its_defaults() {
    check_blocks(Version::Mysql97, Engine::StockDefaults);
}

#[test]
fn a_stock_mariadb() {
    check_blocks(Version::Mariadb, Engine::Stock);
}

#[test]
fn mysql_behind_the_door() {
    check_blocks(Version::Mysql97, Engine::Tare);
}

#[test]
#[ignore = "MariaDB behind the door is left to make test-long"]
fn mariadb_behind_the_door() {
    check_blocks(Version::Mariadb, Engine::Tare);
}
