//! The tools that read MySQL's servers read these programs, too.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mysql::prelude::Queryable;
use serde_json::Value as Json;

use super::client::words;
use super::live::Live;
use super::postgres::Postgres;
use super::rows;
use super::server::Server;
use super::support::server::connect;
use super::support::{CommandResult, Directory, Process, finish, wait_for};

/// What a page of `tare top` prints of half a second.
pub fn page(directory: &Directory, target: &[&str], name: &str) -> CommandResult {
    let words = ["top", "--batch", "1", "-i", "0.5", "--page", name];
    let finished = finish(&mut directory.tare(words.iter().chain(target)));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished
}

/// The line of a page that has all of these words.
pub fn line<'a>(page: &'a CommandResult, words: &[&str]) -> &'a str {
    let mut lines = page.stdout.lines();
    let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
    lines
        .find(has_all)
        .unwrap_or_else(|| panic!("no line with {words:?}: {page:?}"))
}

/// Records for some ten moments. Returns a sample that fulfils the condition.
fn record(directory: &Directory, target: &[&str], condition: &str) -> Json {
    let words = ["record", "--dir", "history"];
    let mut command = directory.tare(words.iter().chain(target));
    let mut recorder = Process::start(command.stderr(Stdio::piped()));
    recorder.message("recording ");
    thread::sleep(Duration::from_secs(1));
    recorder.signal("INT");
    assert!(recorder.wait().success());
    let sql = format!("SELECT * FROM samples WHERE {condition}");
    let samples = rows(directory, &["--history", "history"], &sql);
    samples.first().expect("a sample").clone()
}

/// Waits until a list of the page of `tare live` has a row with this text.
fn wait_for_row(live: &Live, list: &str, part: &str) {
    wait_for(part, || {
        let state = live.json("/api/state");
        let rows = state["tops"][list].as_array().expect("a list");
        let text = |row: &Json| [&row["text"], &row["key"]].map(Json::to_string).concat();
        rows.iter()
            .any(|row| text(row).contains(part))
            .then_some(())
    });
}

/// What a `tare serve` that is attached to the program answers.
fn query_attached(directory: &Directory, target: [&str; 2], sql: &str) -> Vec<mysql::Row> {
    let socket = directory.path().join("served");
    let words = [
        "serve",
        "--skip-networking",
        "--data",
        "served-data",
        "--socket",
        "served",
    ];
    let mut served = Process::start(&mut directory.tare(words.iter().chain(&target)));
    let mut connection = wait_for("tare serve", || connect(&socket).ok());
    let rows = connection.query(sql).expect(sql);
    served.signal("TERM");
    assert!(served.wait().success());
    rows
}

#[test]
fn each_tool_names_a_wait_for_a_row_lock_of_postgresql() {
    const WAIT: &str = "wait/lock/metadata/postgres/transactionid";
    let server = Postgres::start(&[]);
    server.create_table();
    let mut holder = Process::start_on(
        server
            .psql("BEGIN; UPDATE t SET n = 1 WHERE id = 7; SELECT pg_sleep(1000)")
            .stderr(Stdio::null()),
        Stdio::null(),
    );
    let sleeping = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    let holder_id = wait_for("the holder", || server.numbers(sleeping).pop());
    let mut waiter = Process::start_on(
        server
            .psql("UPDATE t SET n = 2 WHERE id = 7")
            .stderr(Stdio::null()),
        Stdio::null(),
    );
    let blocked = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    wait_for("the waiter", || server.numbers(blocked).pop());
    let (directory, target) = (&server.directory, ["--segment", "segment"]);

    let threads = page(directory, &target, "threads");
    line(&threads, &["Query", "waiting:", WAIT, "UPDATE t SET n = 2"]);
    let condition = format!(
        "wait = '{WAIT}' AND digest IN (SELECT digest FROM digests WHERE text LIKE 'UPDATE t SET n = ?%')"
    );
    let sample = record(directory, &target, &condition);
    assert_eq!(
        (&sample["state"], &sample["user"]),
        (&"waiting".into(), &"postgres".into())
    );
    let live = Live::start(directory, &target);
    wait_for_row(&live, "wait", WAIT);
    wait_for_row(&live, "sql", "UPDATE t SET n = ?");
    let sql = "SELECT current_statement, last_wait FROM sys.session WHERE last_wait_latency = 'Still Waiting'";
    let sessions = query_attached(directory, ["--attach-segment", "segment"], sql);
    let sessions: Vec<(String, String)> = sessions.into_iter().map(mysql::from_row).collect();
    let waiting = (
        "UPDATE t SET n = 2 WHERE id = 7".to_owned(),
        WAIT.to_owned(),
    );
    assert!(sessions.contains(&waiting), "{sessions:?}");

    server.query(&format!("SELECT pg_terminate_backend({holder_id})"));
    assert!(!holder.wait().success());
    assert!(waiter.wait().success());
    let stages = page(directory, &target, "stages");
    line(&stages, &["this server has no instruments stage/%"]);
}

#[test]
fn each_tool_names_the_commands_of_redis() {
    let server = Server::redis(&[], &[]);
    let mut client = server.connect();
    let is_over = Arc::new(AtomicBool::new(false));
    let load = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                client.call("INCR counter");
            }
        }
    });
    let pid = server.pid.to_string();
    let (directory, target) = (&server.directory, ["--pid", pid.as_str()]);

    let statements = page(directory, &target, "statements");
    let heading = statements.stdout.lines().next().expect("a heading");
    assert!(
        heading.starts_with(&format!("statements of redis-server ({pid})")),
        "{heading}"
    );
    line(&statements, &["db0", "INCR counter"]);
    line(
        &page(directory, &target, "threads"),
        &["default", "localhost", "db0"],
    );
    let mut waiter = server.connect();
    waiter.send(&words("BLPOP nothing 0"));
    let sample = record(directory, &target, "statement = 'statement/redis/blpop'");
    assert_eq!(sample["user"], "default");
    let live = Live::start(directory, &target);
    wait_for_row(&live, "sql", "INCR counter");
    let sql = "SELECT query FROM sys.statement_analysis WHERE db = 'db0' AND exec_count > 0";
    let statements = query_attached(directory, ["--attach-pid", pid.as_str()], sql);
    let statements: Vec<String> = statements.into_iter().map(mysql::from_row).collect();
    assert!(
        statements.contains(&"INCR counter".to_owned()),
        "{statements:?}"
    );
    let explain = ["explain", "--interval", "1", "--pid", &pid];
    let explained = finish(&mut directory.tare(explain));
    assert_eq!(explained.code, Some(0), "{explained:?}");
    line(&explained, &["statement/redis/incr"]);
    is_over.store(true, Ordering::Relaxed);
    load.join().expect("a client");
    let listed = finish(&mut directory.tare(["ps"]));
    line(&listed, &[&pid, "redis-server"]);
    assert!(!rows(directory, &target, "SHOW TABLES FROM sys").is_empty());
}
