//! The states of sessions on `tare top`'s page of threads: of a server with Tare's engine at the level that
//! counts every event, and of a stock server on the same machine.

mod support;

use mysql::prelude::Queryable;
use serde_json::Value;
use support::server::Server;
use support::{Directory, finish, wait_for};

/// Starts a session that runs this until its server ends.
fn start(server: &Server, sql: &'static str) {
    let mut conn = server.connect();
    std::thread::spawn(move || conn.query_drop(sql));
}

/// The notes of page `threads`, and what each session does.
fn threads(server: &Server) -> (String, Vec<String>) {
    let directory = Directory::new("top-states");
    let socket = server.socket().to_str().expect("UTF-8");
    let words = [
        "top", "--dsn", socket, "--page", "threads", "--batch", "2", "-i", "0.3",
    ];
    let finished = finish(directory.tare(words).args(["--format", "json"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let last = finished.stdout.lines().last().expect("an answer");
    let answer: Value = serde_json::from_str(last).expect("JSON");
    let rows = answer["rows"].as_array().expect("rows").iter();
    let texts = rows.filter_map(|row| row["state_statement"].as_str());
    (
        answer["notes"].to_string(),
        texts.map(str::to_owned).collect(),
    )
}

/// Waits until a session is on the page whose text has one of these beginnings and this end.
fn expect(server: &Server, beginnings: &[&str], end: &str) {
    wait_for(end, || {
        let (notes, texts) = threads(server);
        assert!(!notes.contains("is not known"), "{notes}");
        let is_it = |text: &String| {
            text.ends_with(end) && beginnings.iter().any(|begin| text.starts_with(begin))
        };
        texts.iter().any(is_it).then_some(())
    });
}

const COMPUTES: &str = "SELECT BENCHMARK(1000000000000, 1 + 1)";

#[test]
fn sessions_have_states_at_the_exact_level() {
    let server = Server::tare(&[]);
    start(&server, "SELECT SLEEP(1000)");
    let asleep = [
        "waiting: wait/synch/cond/",
        "blocked elsewhere: User sleep ",
    ];
    expect(&server, &asleep, " SELECT SLEEP(1000)");
}

#[test]
fn sessions_of_a_stock_server_have_states() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    start(&server, "SELECT SLEEP(1000)");
    start(&server, COMPUTES);
    let asleep = ["blocked elsewhere: User sleep futex"];
    expect(&server, &asleep, " SELECT SLEEP(1000)");
    let running = ["on cpu: ", "waiting for cpu: "];
    expect(&server, &running, &format!(" {COMPUTES}"));
    // A wait has its instrument's name if the instrument is on.
    let mut root = server.connect();
    for sql in [
        "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/synch/cond/%'",
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE '%current'",
    ] {
        root.query_drop(sql).expect(sql);
    }
    start(&server, "SELECT SLEEP(2000)");
    expect(
        &server,
        &["waiting: wait/synch/cond/sql/"],
        " SELECT SLEEP(2000)",
    );
}

#[test]
fn unknown_states_have_a_reason() {
    let options = [
        "--performance-schema=ON",
        "--thread-handling=pool-of-threads",
    ];
    let server = Server::mariadb(&options);
    start(&server, "SELECT SLEEP(1000)");
    wait_for("the session", || {
        let (notes, texts) = threads(&server);
        let why =
            "whether a session is on a CPU is not known: with thread_handling=pool-of-threads";
        assert!(notes.contains(why), "{notes}");
        let text = texts.iter().find(|text| text.ends_with("SLEEP(1000)"))?;
        assert!(!text.contains(':'), "{text}");
        Some(())
    });
}
