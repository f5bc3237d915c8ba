//! `tare diff` on files that the recorder's writer wrote, and on a recording of a server whose load changes.

#[path = "support/history.rs"]
mod history;
#[path = "support/servers.rs"]
mod servers;
mod support;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use history::{DAY, FILE_WAIT, at, files, grown, sha256, write, write_blocks, write_plans};
use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use servers::{Engine, Version};
use support::server::{Server, connect, mysql};
use support::{CommandResult, Directory, Process, finish};
use tare_history::Writer;

/// The time of the deployment on the second day, and what came before and after.
const DEPLOY: &str = "2026-11-23 14:10/10m";
const BEFORE: &str = "2026-11-23 14:00/10m";
const AFTER: &str = "2026-11-23 14:10/10m";
fn diff(directory: &Directory, options: &[&str]) -> CommandResult {
    finish(
        directory
            .tare(["diff"])
            .args(options)
            .env("TZ", "Asia/Tokyo"),
    )
}

fn json(directory: &Directory, options: &[&str]) -> Value {
    let result = diff(directory, &[options, &["--format", "json"]].concat());
    assert_eq!(result.code, Some(0), "{result:?}");
    serde_json::from_str(&result.stdout).expect("an object")
}

fn statement<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mut all = report["statements"].as_array().expect("statements").iter();
    let text = format!("SELECT {name}");
    all.find(|one| one["text"] == text.as_str())
        .expect("compared")
}

/// Checks that a change is about so much, and that it is one.
fn check_change(figure: &Value, expected: f64) {
    let change = figure["change"].as_f64().expect("a change");
    assert!(
        (change - expected).abs() < 0.05 * expected.abs(),
        "{figure}"
    );
    assert_eq!(figure["is_changed"], true, "{figure}");
    let (low, high) = (
        figure["interval"][0].as_f64(),
        figure["interval"][1].as_f64(),
    );
    assert!(low <= Some(change) && Some(change) <= high, "{figure}");
}

#[test]
fn a_deployment_is_compared_with_the_time_before_it() {
    let directory = Directory::new("diff");
    write(&directory.path().join("history"), "db1", sha256);
    let report = json(&directory, &["--history", "history", "--deploy", DEPLOY]);
    let windows = ["--before", BEFORE, "--after", AFTER];
    let same = json(
        &directory,
        &[&["--history", "history"], &windows[..]].concat(),
    );
    assert_eq!(report, same);
    assert_eq!(report["before"]["from"], "2026-11-23 14:00:00");
    assert_eq!(report["after"]["recorded_seconds"], 600.0);
    assert_eq!(report["control_days"], 1);

    let orders = statement(&report, "orders");
    check_change(&orders["seconds_per_call"], 0.5);
    check_change(&orders["rows_per_call"], 15.0);
    check_change(&orders["errors_per_call"], 0.1);
    check_change(&orders["load"], 0.05);
    assert_eq!(orders["calls_per_s"]["is_changed"], false, "{orders}");
    // 600 seconds of 0.05 sessions.
    let added = orders["added_seconds"].as_f64().expect("seconds");
    assert!((added - 30.0).abs() < 2.0, "{orders}");
    assert_eq!(orders["activities"][0]["name"], FILE_WAIT);
    assert_eq!(orders["activities"][0]["is_changed"], true, "{orders}");
    let mut activities = orders["activities"].as_array().expect("activities").iter();
    let cpu = activities
        .find(|one| one["name"] == "on cpu")
        .expect("sampled");
    assert_eq!(cpu["is_changed"], false, "{cpu}");

    let (new, old) = (statement(&report, "new"), statement(&report, "old"));
    assert_eq!(
        (&new["presence"], &old["presence"]),
        (&"new".into(), &"vanished".into())
    );
    assert_eq!(new["seconds_per_call"]["change"], Value::Null);
    assert_eq!(statement(&report, "stable")["is_changed"], false);
    // The order is that of the seconds that they add or save.
    assert_eq!(report["statements"][0]["text"], "SELECT new");

    // On the day before there were as many reports more.
    assert_eq!(statement(&report, "reports")["is_changed"], false);
    let options = ["--history", "history", "--deploy", DEPLOY, "--control", "0"];
    let report = json(&directory, &options);
    check_change(&statement(&report, "reports")["calls_per_s"], 0.8);
}

#[test]
fn text_has_what_changed() {
    let directory = Directory::new("diff-text");
    write(&directory.path().join("history"), "db1", sha256);
    let result = diff(
        &directory,
        &["--history", "history", "--deploy", DEPLOY, "--rows", "2"],
    );
    assert_eq!(result.code, Some(0), "{result:?}");
    for part in [
        "before   2026-11-23 14:00:00 to 2026-11-23 14:10:00 UTC, shop of db1\n",
        "control  the same hours of 1 day before",
        "new: shop: SELECT new\n",
        "  shop: SELECT orders\n",
        "  in wait/io/file/innodb/innodb_data_file ",
        "Statements that changed less, see --rows: 1\nStatements without a change: 2\n",
    ] {
        assert!(
            result.stdout.contains(part),
            "no {part:?} in:\n{}",
            result.stdout
        );
    }
    assert!(!result.stdout.contains("stable"), "{}", result.stdout);
}

#[test]
fn plans_are_compared_by_shape() {
    let directory = Directory::new("diff-plans");
    let history = directory.path().join("history");
    write(&history, "db1", sha256);
    let options = ["--history", "history", "--deploy", DEPLOY];
    let report = json(&directory, &options);
    assert_eq!(statement(&report, "orders")["plan"], Value::Null);
    write_plans(&history);
    let report = json(&directory, &options);
    let plan = |name: &str| statement(&report, name)["plan"].clone();
    let orders = plan("orders");
    assert_eq!(orders["is_changed"], true, "{orders}");
    let tree = |when: &str| orders[when]["tree"][0].clone();
    assert_eq!(
        tree("before"),
        "orders: lookup in index by_customer, 7 rows"
    );
    assert_eq!(tree("after"), "orders: full scan, 7 rows");
    assert_eq!(orders["after"]["sampled_at"], "2026-11-23 14:11:40");
    assert_eq!(plan("stable")["is_changed"], false);
    assert_eq!(plan("new")["is_changed"], Value::Null);
    assert_eq!(plan("reports"), Value::Null);
    let text = diff(&directory, &options).stdout;
    for expected in [
        "  the plan changed; before, read at 2026-11-23 14:00:10\n    orders: lookup in index by_customer, 7 rows\n",
        "  after, read at 2026-11-23 14:11:40\n    orders: full scan, 7 rows\n",
        "  plan, not recorded before, read at 2026-11-23 14:11:40\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn waits_for_locks_are_compared_by_lock_and_holder() {
    let directory = Directory::new("diff-blocking");
    let history = directory.path().join("history");
    write(&history, "db1", sha256);
    let of = ["--history", "history", "--deploy", DEPLOY];
    assert_eq!(json(&directory, &of)["blocking"], Value::Null);
    write_blocks(&history);
    let report = json(&directory, &of);
    let blocking = &report["blocking"];
    check_change(&blocking["all"]["blocked_sessions"], 0.7);
    let locks = blocking["locks"].as_array().expect("locks");
    let names = locks.iter().map(|lock| {
        let of = |name: &str| lock[name].as_str().unwrap_or("none").to_owned();
        ["kind", "object_schema", "object", "holder_text", "presence"].map(of)
    });
    let expected = [
        ["row", "shop", "orders", "SELECT orders", "both"],
        ["user", "none", "report", "DO GET_LOCK('<script>')", "new"],
        ["table", "shop", "log", "none", "vanished"],
        ["metadata", "shop", "orders", "none", "both"],
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected, "{blocking:#}");
    check_change(&locks[0]["blocked_sessions"], 0.4);
    check_change(&locks[1]["blocked_sessions"], 0.3);
    assert_eq!(locks[0]["holder_digest"], sha256("orders").as_str());
    let added = locks[0]["added_seconds"].as_f64().expect("seconds");
    assert!((added - 240.0).abs() < 12.0, "{blocking:#}");
    // There was one wait, which has no interval.
    assert_eq!(locks[2]["is_holder_known"], true, "{blocking:#}");
    assert_eq!(
        locks[2]["added_seconds_interval"],
        Value::Null,
        "{blocking:#}"
    );
    // Who holds it is not known, and it did not change.
    assert_eq!(locks[3]["is_holder_known"], false, "{blocking:#}");
    assert_eq!(locks[3]["is_changed"], false, "{blocking:#}");
    let text = diff(&directory, &of).stdout;
    for part in [
        "\nAll waits for locks of other sessions\n",
        "  a row lock of shop.orders, held by SELECT orders\n",
        "  new: a user lock of report, held by DO GET_LOCK('<script>')\n",
        "-2.00 s  vanished: a table lock of shop.log, held by a session without a statement\n",
        "\nLocks without a change: 1\n",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    let fewer = diff(&directory, &[&of[..], &["--rows", "1"]].concat()).stdout;
    assert!(
        fewer.contains("\nLocks that changed less, see --rows: 2\n"),
        "{fewer}"
    );
}

#[test]
fn a_change_without_a_control_is_marked() {
    let directory = Directory::new("diff-no-control");
    let history = directory.path().join("history");
    write(&history, "db1", sha256);
    // It did not run on the day before.
    let mut rng = Rng::with_seed(47);
    let mut writer = Writer::start(&history, "db1", "shop", at(DAY)).expect("a writer");
    for step in 1..=120 {
        let ms = if step > 60 { 3 } else { 2 };
        let ps = 100 * ms * 10_000_000 * (95 + rng.u64(0..11));
        let rows = [grown("digest", Some("shop"), &sha256("fresh"), &[100, ps])];
        writer.add_growth(&rows, &[], at(DAY + step * 10), (10.0, Some(true)));
    }
    writer.write().expect("a piece");
    writer.end().expect("settled");

    let options = ["--history", "history", "--deploy", DEPLOY];
    let report = json(&directory, &options);
    let mut all = report["statements"].as_array().expect("statements").iter();
    let fresh = all.find(|one| one["digest"] == sha256("fresh").as_str());
    let time = &fresh.expect("compared")["seconds_per_call"];
    check_change(time, 0.5);
    assert_eq!(time["control_days"], 0);
    let orders = statement(&report, "orders");
    assert_eq!(orders["seconds_per_call"]["control_days"], 1);
    let result = diff(&directory, &options);
    let marked: Vec<&str> = result
        .stdout
        .lines()
        .filter(|line| line.ends_with(", control none"))
        .collect();
    assert_eq!(marked.len(), 1, "{}", result.stdout);
    assert!(marked[0].starts_with("  time/call "), "{marked:?}");
    let result = diff(&directory, &[&options[..], &["--control", "0"]].concat());
    assert!(
        !result.stdout.contains(", control none"),
        "{}",
        result.stdout
    );
}

#[test]
fn two_histories_are_compared() {
    let directory = Directory::new("diff-two");
    write(&directory.path().join("one"), "db1", sha256);
    write(&directory.path().join("other"), "db2", sha256);
    let both = ["--history", "one", "--with", "other"];
    let report = json(
        &directory,
        &[&both[..], &["--before", BEFORE, "--after", AFTER]].concat(),
    );
    assert_eq!(
        (&report["before"]["host"], &report["after"]["host"]),
        (&"db1".into(), &"db2".into())
    );
    check_change(&statement(&report, "orders")["seconds_per_call"], 0.5);
    let all = json(&directory, &both);
    assert_eq!(all["before"]["from"], "2026-11-22 14:00:00");
    assert_eq!(all["after"]["recorded_seconds"], 2400.0);
    assert_eq!(statement(&all, "orders")["is_changed"], false);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let directory = Directory::new("diff-refused");
    let history = directory.path().join("history");
    write(&history, "db1", sha256);
    write(&directory.path().join("md5"), "db1", |name| {
        format!("{name:0>32}")
    });
    write(&directory.path().join("two"), "db1", sha256);
    write(&directory.path().join("two"), "db2", sha256);
    let check = |options: &[&str], code: i32, message: &str| {
        let result = diff(&directory, options);
        assert_eq!(result.code, Some(code), "{options:?}: {result:?}");
        assert!(
            result.stderr.contains(message),
            "{options:?}: {}",
            result.stderr
        );
    };
    let of = ["--history", "history"];
    check(&of, 2, "give --before and --after, or --deploy");
    let overlap = ["--before", BEFORE, "--after", "2026-11-23 14:05/10m"];
    check(&[&of[..], &overlap].concat(), 2, "overlap");
    check(
        &[&of[..], &["--deploy", "2026-11-25 14:00"]].concat(),
        1,
        "nothing was recorded",
    );
    check(
        &[&of[..], &["--deploy", "2026-11-22 14:00"]].concat(),
        1,
        "before or after",
    );
    let short = ["--before", BEFORE, "--after", "2026-11-23 14:10/30s"];
    check(&[&of[..], &short].concat(), 1, "growth was read at 3 times");
    check(&["--history", "none", "--deploy", DEPLOY], 1, "none");
    std::fs::create_dir_all(directory.path().join("empty/growth")).expect("created");
    let empty = ["--history", "history", "--with", "empty"];
    check(&empty, 1, "tare: nothing was recorded");
    check(
        &["--history", "two", "--deploy", DEPLOY],
        1,
        "--host db1 --server shop",
    );
    let report = json(
        &directory,
        &["--history", "two", "--deploy", DEPLOY, "--host", "db2"],
    );
    assert_eq!(report["after"]["host"], "db2");
    check(
        &["--history", "history", "--with", "md5"],
        1,
        "another version",
    );

    // The level active counts no digests.
    let mut writer = Writer::start(&history, "db1", "shop", at(DAY)).expect("a writer");
    let active = grown("statement", None, "statement/tare/active", &[5, 5_000]);
    writer.add_growth(&[active], &[], at(DAY + 700), (10.0, Some(false)));
    writer.write().expect("a piece");
    writer.end().expect("settled");
    check(
        &[&of[..], &["--deploy", DEPLOY]].concat(),
        1,
        "level active",
    );
}

/// Runs a statement until growth was written a few more times, however long its queries take.
fn run_statement(connection: &mut Conn, sql: &str, history: &Path) {
    let pieces = || {
        let all = files(&history.join(".open"));
        let names = all.iter().map(|path| path.to_string_lossy());
        names.filter(|name| name.contains("/growth@")).count()
    };
    let enough = pieces() + 14;
    while pieces() < enough {
        connection.query_drop(sql).expect(sql);
    }
}

/// Records a server while a client runs a statement, deploys, and runs a statement again, and compares both times.
fn record_deployment(
    target: &[&str],
    connection: &mut Conn,
    [before, deployment, after]: [&str; 3],
) -> Value {
    let directory = Directory::new("diff-recorded");
    let history = directory.path().join("history");
    let words = ["--write-every", "0.5s", "--rate", "10", "--dir", "history"];
    let words = ["record"].iter().chain(target).chain(&words);
    let mut recorder = Process::start(directory.tare(words).stderr(Stdio::piped()));
    recorder.message("recording ");
    let started = now();
    run_statement(connection, before, &history);
    let deployed = now();
    connection.query_drop(deployment).expect(deployment);
    run_statement(connection, after, &history);
    recorder.signal("INT");
    assert!(recorder.wait().success());
    connection
        .query_drop("SET time_zone = '+00:00'")
        .expect("set");
    let mut utc = |time: Duration| -> String {
        let (seconds, micros) = (time.as_secs(), time.subsec_micros());
        let sql = format!("SELECT CAST(FROM_UNIXTIME({seconds}.{micros:06}) AS CHAR)");
        connection
            .query_first(sql)
            .expect("answers")
            .expect("a row")
    };
    // Not of equal lengths: on a busy machine one of them takes longer, and its end may have few readings.
    let before = format!("{}/{}s", utc(started), (deployed - started).as_secs());
    let after = format!("{}/10m", utc(deployed));
    let windows = ["--before", &before, "--after", &after];
    json(
        &directory,
        &[&["--history", "history"], &windows[..]].concat(),
    )
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("later")
}

/// The statement whose text has this part.
fn statement_with<'a>(report: &'a Value, part: &str) -> &'a Value {
    let mut all = report["statements"].as_array().expect("statements").iter();
    let has_part = |one: &&Value| one["text"].as_str().is_some_and(|text| text.contains(part));
    all.find(has_part).expect("recorded")
}

#[test]
fn a_statement_that_got_slower_in_a_recorded_server_is_detected() {
    let server = Server::tare(&[]);
    let pid = server.pid().to_string();
    let statements = [
        "SELECT SLEEP(0.01)",
        "SET @deployed = 1",
        "SELECT SLEEP(0.03)",
    ];
    let report = record_deployment(&["--pid", &pid], &mut server.connect(), statements);
    let sleep = statement_with(&report, "SLEEP");
    let time = &sleep["seconds_per_call"];
    assert_eq!(time["is_changed"], true, "{sleep}");
    assert!(time["change"].as_f64() > Some(0.5), "{sleep}");
    assert_eq!(sleep["presence"], "both");
}

/// Drops the index that a statement uses: each call reads more rows, and takes longer.
fn check_dropped_index(target: &[&str], mut connection: Conn) {
    for sql in [
        "DROP DATABASE IF EXISTS deployed",
        "CREATE DATABASE deployed",
        "CREATE TABLE deployed.orders (id INT PRIMARY KEY, customer INT, note CHAR(100), KEY customers (customer))",
    ] {
        connection.query_drop(sql).expect(sql);
    }
    let orders: Vec<String> = (0..5_000)
        .map(|id| format!("({id}, {}, 'x')", id % 500))
        .collect();
    let insert = format!("INSERT INTO deployed.orders VALUES {}", orders.join(", "));
    connection.query_drop(insert).expect("inserted");
    let query = "SELECT MAX(note) FROM deployed.orders WHERE customer = 7";
    let statements = [
        query,
        "ALTER TABLE deployed.orders DROP KEY customers",
        query,
    ];
    let report = record_deployment(target, &mut connection, statements);
    connection
        .query_drop("DROP DATABASE deployed")
        .expect("dropped");
    let orders = statement_with(&report, "MAX");
    assert_eq!(orders["seconds_per_call"]["is_changed"], true, "{orders}");
    let rows = &orders["rows_per_call"];
    // A reading may meet the statement between its count and its rows: one call of thousands, at either end.
    let before = rows["before"].as_f64().expect("a number");
    assert!((before - 10.0).abs() < 0.1, "{orders}");
    check_change(rows, 4_990.0);
}

fn check_dropped_index_of(socket: &Path) {
    let dsn = socket.to_str().expect("UTF-8");
    check_dropped_index(&["--dsn", dsn], connect(socket).expect("connected"));
}

#[test]
#[ignore = "make test-long runs it; make test runs the one behind the door"]
fn a_dropped_index_is_detected_in_a_stock_mariadb() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    check_dropped_index_of(server.socket());
}

#[test]
#[ignore = "needs a MySQL: make test-long"]
fn a_dropped_index_is_detected_in_a_stock_mysql() {
    check_dropped_index_of(&mysql());
}

#[test]
fn a_dropped_index_is_detected_behind_the_door() {
    let server = servers::Server::start(Version::Mariadb, Engine::Tare, &[]);
    check_dropped_index(&["--pid", &server.pid.to_string()], server.connect());
}
