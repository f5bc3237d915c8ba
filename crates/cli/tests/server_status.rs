//! The status of servers in histories, tare top and tare live: InnoDB, temporary tables, the binary log,
//! transactions, connections and replication; and the jobs of a DBA that no other test has (docs/top.md). On servers
//! with their own Performance Schema and behind the door.

#[path = "support/live.rs"]
mod live;
#[path = "support/servers.rs"]
mod servers;
mod support;

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use live::Live;
use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use servers::{Engine, Server, Version, run};
use support::browser::Browser;
use support::{Process, finish, query_history, wait_for};

fn id(conn: &mut Conn) -> u64 {
    let id = conn.query_first("SELECT CONNECTION_ID()").expect("answers");
    id.expect("an id")
}

/// Options that name a server: by its socket, or behind the door by its process.
fn target(server: &Server) -> Vec<String> {
    match server.engine {
        Engine::Stock | Engine::StockDefaults => vec!["--dsn".into(), "mysql.sock".into()],
        _ => vec!["--pid".into(), server.pid.to_string()],
    }
}

/// The rows of a page of tare top, and its notes.
fn page(server: &Server, name: &str, target: &[String]) -> (Vec<Value>, String) {
    let words = [
        "top", "--batch", "1", "-i", "0.2", "--format", "json", "--rows", "100", "--page", name,
    ];
    let words = words.map(str::to_owned);
    let done = finish(&mut server.directory.tare(words.iter().chain(target)));
    let page: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    let rows = page["rows"].as_array().expect("rows").clone();
    (rows, page["notes"].to_string())
}

/// Records until there are connections in a history, and returns what the recorder printed.
fn record(server: &Server, history: &str, target: &[String]) -> String {
    let words = ["record", "--dir", history, "--write-every", "0.2s"].map(str::to_owned);
    let mut command = server.directory.tare(words.iter().chain(target));
    command.stderr(Stdio::piped());
    let mut recorder = Process::start(&mut command);
    wait_for("the status", || {
        let rows = query_history(
            &server.directory,
            history,
            "SELECT COUNT(*) AS n FROM connections",
        );
        (rows.first()?["n"].as_u64() > Some(0)).then_some(())
    });
    recorder.signal("TERM");
    recorder.wait();
    recorder.stderr()
}

/// A transaction of a sleeping session, and a replica whose source does not answer.
fn create_situation(server: &Server) -> (Conn, u64) {
    let mut admin = server.connect();
    let replica = match server.version.is_mariadb() {
        true => {
            "CHANGE MASTER 'shop' TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'r', \
             MASTER_PASSWORD = 'topsecret', MASTER_CONNECT_RETRY = 1"
        }
        false => {
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'r', \
             SOURCE_PASSWORD = 'topsecret', SOURCE_CONNECT_RETRY = 1 FOR CHANNEL 'shop'"
        }
    };
    run(
        &mut admin,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
            "INSERT INTO shop.t VALUES (1, 1), (2, 2), (3, 3)",
            "CREATE USER limited@localhost IDENTIFIED BY 'x'",
            "GRANT SELECT ON performance_schema.* TO limited@localhost",
            replica,
        ],
    );
    run(
        &mut admin,
        &[match server.version.is_mariadb() {
            true => "START SLAVE 'shop'",
            false => "START REPLICA FOR CHANNEL 'shop'",
        }],
    );
    let mut holder = server.connect();
    let holder_id = id(&mut holder);
    run(
        &mut holder,
        &["BEGIN", "UPDATE shop.t SET b = b + 1 WHERE a < 3"],
    );
    let errno = match server.version.is_mariadb() {
        true => "SHOW SLAVE 'shop' STATUS",
        false => "SHOW REPLICA STATUS FOR CHANNEL 'shop'",
    };
    wait_for("an error of the replica", || {
        let row: mysql::Row = admin.query_first(errno).expect("answers")?;
        let errno: u64 = row.get("Last_IO_Errno")?;
        (errno != 0).then_some(())
    });
    (holder, holder_id)
}

fn check_status(version: Version, engine: Engine) {
    if version.is_left_out() {
        return;
    }
    let options = ["--log-bin=logs", "--server-id=7", "--max-connections=12"];
    let server = Server::start(version, engine, &options);
    let (_holder, holder_id) = create_situation(&server);
    // More than 80 % of the most. The recorder has one connection behind the door, and otherwise three.
    let others = if engine == Engine::Tare { 9 } else { 7 };
    let _others: Vec<Conn> = (0..others).map(|_| server.connect()).collect();
    let printed = record(&server, "history", &target(&server));
    assert!(!printed.contains("status is not complete"), "{printed}");

    let rows = query_history(
        &server.directory,
        "history",
        "SELECT * FROM tare.transactions",
    );
    let of_holder = rows.iter().find(|row| row["connection_id"] == holder_id);
    let transaction = of_holder.unwrap_or_else(|| panic!("no transaction of the holder: {rows:?}"));
    assert_eq!(transaction["state"], "idle in transaction");
    assert_eq!(transaction["rows_changed"], 2);
    assert!(transaction["rows_locked"].as_u64() >= Some(2) && transaction["age_s"].is_u64());
    assert!(transaction["sleep_s"].is_u64(), "{transaction}");
    let text = transaction["text"].as_str().unwrap_or_default();
    assert!(text.contains("`shop`"), "the last statement: {transaction}");

    let rows = query_history(
        &server.directory,
        "history",
        "SELECT user, client, state, MAX(count) AS n FROM tare.connections GROUP BY user, client, state",
    );
    let count = |state: &str| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row["user"] == "root" && row["state"] == state);
        row.and_then(|row| row["n"].as_u64()).unwrap_or(0)
    };
    assert_eq!(count("idle in transaction"), 1, "{rows:?}");
    assert!(count("idle") >= others, "{rows:?}");
    let clients = rows.iter().filter(|row| row["user"] == "root");
    let mut clients = clients.map(|row| row["client"].as_str().unwrap_or_default());
    assert!(clients.all(|client| client == "localhost"), "{rows:?}");

    let rows = query_history(
        &server.directory,
        "history",
        "SELECT * FROM tare.replication",
    );
    let channel = rows.first().expect("a channel");
    assert_eq!(channel["kind"], "replica");
    assert_eq!(channel["channel"], "shop");
    assert_eq!(channel["source"], "127.0.0.1:1");
    assert_eq!(
        (&channel["io_state"], &channel["sql_state"]),
        (&"Connecting".into(), &"Yes".into())
    );
    let error = channel["error"].as_str().unwrap_or_default();
    assert!(
        error.starts_with("2003 ") && !error.contains("topsecret"),
        "{channel}"
    );

    let rows = query_history(&server.directory, "history", "SELECT * FROM tare.status");
    let figures: HashMap<(String, String), &Value> = rows
        .iter()
        .map(|row| ((row["area"].to_string(), row["name"].to_string()), row))
        .collect();
    let value = |area: &str, name: &str| {
        let key = (Value::from(area).to_string(), Value::from(name).to_string());
        let row = figures
            .get(&key)
            .unwrap_or_else(|| panic!("no {area}, {name}: {rows:?}"));
        row["value"].as_f64().expect("a value")
    };
    let mut admin = server.connect();
    let size: f64 = admin
        .query_first("SELECT @@innodb_buffer_pool_size / 1048576")
        .expect("answers")
        .expect("a size");
    let pool = value("InnoDB", "buffer pool");
    assert!((size * 0.9..=size).contains(&pool), "{pool} of {size} MiB");
    let used = value("InnoDB", "buffer pool, data") + value("InnoDB", "buffer pool, free");
    assert!(used <= pool && used > pool * 0.9, "{used} of {pool} MiB");
    assert!((0.0..=100.0).contains(&value("InnoDB", "buffer pool hit ratio")));
    let most = value("InnoDB", "checkpoint age, most");
    assert!((0.0..=most).contains(&value("InnoDB", "checkpoint age")));
    assert!(value("InnoDB", "history list") >= 0.0 && value("InnoDB", "log writes") > 0.0);
    assert!(value("temporary tables", "created") > 0.0);
    assert!(value("binary log", "files") >= 1.0 && value("binary log", "size") > 0.0);
    assert!(value("transactions", "open") >= 1.0);
    let advice = rows.iter().filter_map(|row| row["advice"].as_str());
    let advice: Vec<&str> = advice
        .filter(|text| text.starts_with("max_connections"))
        .collect();
    let open = value("connections", "open");
    assert_eq!(
        advice.first(),
        Some(&&*format!("max_connections is 12: {open} are open"))
    );
    check_pages(&server, holder_id, others);
    check_live(&server, holder_id);
    check_jobs(&server);
    if engine != Engine::Tare {
        check_limited_account(&server);
    }
}

/// The pages of tare top have the same rows, now and of the past.
fn check_pages(server: &Server, holder: u64, others: u64) {
    let now = target(server);
    let past = ["--history", "history"].map(str::to_owned);
    for target in [&now[..], &past] {
        let (rows, notes) = page(server, "transactions", target);
        let row = rows.iter().find(|row| row["conn"] == holder);
        let row = row.unwrap_or_else(|| panic!("{target:?}: {rows:?} {notes}"));
        assert_eq!(
            (&row["state"], &row["changed"]),
            (&"idle in transaction".into(), &2.into())
        );
        let (rows, _) = page(server, "connections", target);
        let is_idle = |row: &&Value| row["state"] == "idle" && row["user"] == "root";
        let idle = rows.iter().find(is_idle).expect("idle connections");
        assert!(idle["count"].as_u64() >= Some(others), "{rows:?}");
        let (rows, _) = page(server, "replication", target);
        assert_eq!(
            (&rows[0]["channel"], &rows[0]["io"]),
            (&"shop".into(), &"Connecting".into())
        );
        let (rows, _) = page(server, "status", target);
        let advice = rows[0]["advice"].as_str().unwrap_or_default();
        assert!(
            advice.starts_with("max_connections is 12: "),
            "advice comes first: {rows:?}"
        );
        let is_ratio = |row: &&Value| row["figure"] == "buffer pool hit ratio";
        let ratio = rows.iter().find(is_ratio).expect("a ratio");
        assert!(ratio["value"].as_f64() > Some(1.0), "{ratio}");
    }
}

/// The page of the server in tare live.
fn check_live(server: &Server, holder: u64) {
    let target = target(server);
    let target: Vec<&str> = target.iter().map(String::as_str).collect();
    let live = Live::start(&server.directory, &target);
    let status = wait_for("the status", || {
        let answer = live.json("/api/status");
        answer["at"].is_i64().then(|| answer["status"].clone())
    });
    assert_eq!(status["unread"], Value::Array(Vec::new()));
    let tables = status["tables"].as_array().expect("tables").iter();
    let table = |name: &str| {
        tables
            .clone()
            .find(|table| table["name"] == name)
            .expect("a table")
    };
    let transactions = table("transactions");
    let columns = transactions["columns"].as_array().expect("columns").iter();
    let at = |name: &str| {
        columns
            .clone()
            .position(|column| column == name)
            .expect("a column")
    };
    let mut rows = transactions["rows"].as_array().expect("rows").iter();
    let row = rows
        .find(|row| row[at("connection_id")] == holder)
        .expect("the holder's");
    assert_eq!(row[at("state")], "idle in transaction");
    if server.engine != Engine::StockDefaults {
        return;
    }
    let mut page = Browser::start();
    page.set_window(390, 844, true);
    page.open(&live.url);
    page.wait_until("document.querySelector('#view').textContent !== ''");
    page.click("document.querySelector('#server-button')");
    page.wait_until("document.querySelector('#server-tables .advice') !== null");
    // Advice is the first row, and nothing is wider than a telephone.
    let first = "document.querySelector('[data-table=status] tr:nth-of-type(2)').textContent";
    page.wait_until(&format!("{first}.includes('max_connections is 12: ')"));
    let cells = "[...document.querySelectorAll('[data-table=transactions] td')]";
    page.wait_until(&format!(
        "{cells}.some((cell) => cell.textContent === 'idle in transaction')"
    ));
    page.wait_until("document.documentElement.scrollWidth <= innerWidth");
    page.key("Escape");
    page.wait_until(
        "document.querySelector('#server').hidden && !document.querySelector('#overview').hidden",
    );
    assert_eq!(page.complaints, Vec::<String>::new());
}

/// Which statement burns, why it was slow, which index is used, and who uses memory.
fn check_jobs(server: &Server) {
    run(
        &mut server.connect(),
        &[
            "SET GLOBAL max_connections = 50",
            "CREATE TABLE shop.orders (a INT PRIMARY KEY, b INT, c INT, KEY by_b (b), KEY by_c (c)) ENGINE = InnoDB",
            "INSERT INTO shop.orders VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)",
        ],
    );
    let words = [
        "record",
        "--dir",
        "jobs",
        "--rate",
        "20",
        "--write-every",
        "0.2s",
    ];
    let words = words.map(str::to_owned);
    let mut command = server.directory.tare(words.iter().chain(&target(server)));
    let mut recorder = Process::start(command.stderr(Stdio::null()));
    wait_for("a moment", || {
        let rows = query_history(
            &server.directory,
            "jobs",
            "SELECT COUNT(*) AS n FROM moments",
        );
        (rows.first()?["n"].as_u64() > Some(0)).then_some(())
    });
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut conn = server.connect();
            while !is_over.load(Ordering::Relaxed) {
                let rows: Vec<u64> = conn
                    .query("SELECT BENCHMARK(20000, SHA2('burn', 256)) + a FROM shop.orders FORCE INDEX (by_b) WHERE b = 2")
                    .expect("answers");
                assert_eq!(rows, [2]);
            }
        });
        let mut holder = server.connect();
        run(
            &mut holder,
            &["BEGIN", "UPDATE shop.orders SET c = 7 WHERE a = 1"],
        );
        let waits = scope.spawn(|| {
            let mut conn = server.connect();
            run(&mut conn, &["UPDATE shop.orders SET c = 8 WHERE a = 1"]);
        });
        let (rows, notes) = page(server, "statements", &target(server));
        let statement = rows.first().and_then(|row| row["statement"].as_str());
        assert!(
            statement.is_some_and(|text| text.contains("BENCHMARK")),
            "{rows:?} {notes}"
        );
        // The wait of the UPDATE, with the statement's text.
        let why = "SELECT s.wait, SUM(s.seconds) AS seconds FROM samples AS s LEFT JOIN digests AS d ON d.digest = s.digest \
                   WHERE COALESCE(s.text, d.text) LIKE 'UPDATE %orders%' GROUP BY s.wait ORDER BY 2 DESC";
        wait_for("the reason of the wait", || {
            let rows = query_history(&server.directory, "jobs", why);
            (rows.first()?["wait"] == "wait/lock/row/innodb").then_some(())
        });
        run(&mut holder, &["COMMIT"]);
        waits.join().expect("ends");
        is_over.store(true, Ordering::Relaxed);
    });
    let (rows, notes) = page(server, "memory", &target(server));
    let most = rows.first().unwrap_or_else(|| panic!("no memory: {notes}"));
    assert!(most["now_bytes"].as_u64() > Some(1 << 20), "{most}");
    recorder.signal("TERM");
    recorder.wait();
    let indexes = "SELECT name, SUM(count) AS n FROM growth WHERE kind = 'index' AND schema = 'shop' GROUP BY name";
    let rows = query_history(&server.directory, "jobs", indexes);
    let is_used = |index: &str| {
        rows.iter()
            .any(|row| row["name"] == index && row["n"].as_u64() > Some(0))
    };
    assert!(is_used("orders.by_b"), "{rows:?}");
    assert!(
        !rows.iter().any(|row| row["name"] == "orders.by_c"),
        "{rows:?}"
    );
}

/// An account without PROCESS has connections from Performance Schema, and is told what it may not read.
fn check_limited_account(server: &Server) {
    let dsn = ["--socket", "mysql.sock", "--user", "limited", "-px"];
    let printed = record(server, "limited", &dsn.map(str::to_owned));
    let unread = printed
        .lines()
        .filter(|line| line.contains("status is not complete"));
    let unread: Vec<&str> = unread.collect();
    for what in [
        "transactions, and which connections are idle",
        "replication: ",
        "binary log: ",
    ] {
        let line = unread.iter().find(|line| line.contains(what));
        let line = line.unwrap_or_else(|| panic!("{what}: {printed}"));
        assert!(line.contains("GRANT "), "the right is named: {line}");
    }
    let rows = query_history(
        &server.directory,
        "limited",
        "SELECT * FROM tare.connections",
    );
    let of_root = rows
        .iter()
        .filter(|row| row["user"] == "root" && row["client"] == "localhost");
    let count: u64 = of_root.filter_map(|row| row["count"].as_u64()).sum();
    assert!(count >= 4, "connections of others: {rows:?}");
    assert!(
        query_history(
            &server.directory,
            "limited",
            "SELECT * FROM tare.transactions"
        )
        .is_empty()
    );
    let (rows, notes) = page(server, "transactions", &dsn.map(str::to_owned));
    assert!(
        rows.is_empty() && notes.contains("GRANT PROCESS ON *.*"),
        "{rows:?} {notes}"
    );
}

#[test]
fn a_stock_mysql_with_its_defaults() {
    check_status(Version::Mysql97, Engine::StockDefaults);
}

#[test]
fn a_stock_mariadb() {
    check_status(Version::Mariadb, Engine::Stock);
}

#[test]
fn mysql_behind_the_door() {
    check_status(Version::Mysql97, Engine::Tare);
}
