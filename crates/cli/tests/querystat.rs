//! `tare querystat` on `tare serve`, the system's MariaDB, and a MySQL that `scripts/servers run` started.

mod support;

use std::path::Path;

use mysql::prelude::Queryable;
use support::server::{Server, Work, mysql};
use support::{CommandResult, Directory, Process, finish, host};

fn querystat(dsn: &Path, options: &[&str]) -> CommandResult {
    let directory = Directory::new("querystat");
    let dsn = dsn.to_str().expect("UTF-8");
    let finished = finish(
        directory
            .tare(["querystat", "-i", "0.4", "--dsn", dsn])
            .args(options),
    );
    assert_eq!(
        (finished.code, finished.stderr.as_str()),
        (Some(0), ""),
        "{finished:?}"
    );
    finished
}

/// The number that comes after a text.
fn number(finished: &CommandResult, after: &str) -> u64 {
    let text = &finished.stdout;
    let at = text
        .find(after)
        .unwrap_or_else(|| panic!("no {after:?} in {text}"));
    let digits: String = text[at + after.len()..]
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("no number after {after:?} in {text}"))
}

fn history_long_enabled(conn: &mut mysql::Conn) -> String {
    let query = "SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'events_statements_history_long'";
    conn.query_first(query).expect("answered").expect("a row")
}

/// Fails unless the report has figures about the scheduler, or says why it has none.
fn assert_scheduling(finished: &CommandResult) {
    if finished
        .stdout
        .contains("Pre-emption could not be observed:")
    {
        return;
    }
    let all = number(finished, "\npre-empted") + number(finished, "\nnot pre-empted");
    assert!(all > 0, "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("The server's clock is known to within"),
        "{finished:?}"
    );
}

#[test]
fn on_tare_every_statement_is_in_the_histogram() {
    let server = Server::tare(&[]);
    let mut conn = server.connect();
    let _work = Work::start(server.socket());
    let finished = querystat(server.socket(), &["--for", "1", "--switch-on"]);
    assert!(
        finished.stdout.matches(" statements/s  mean ").count() >= 2,
        "{finished:?}"
    );
    assert!(number(&finished, "statements    ") > 0, "{finished:?}");
    let every = number(&finished, "Latencies of every statement (");
    let lines = finished
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Latencies"));
    let counts = lines.skip(2).take_while(|line| !line.is_empty());
    let sum: u64 = counts
        .map(|line| {
            line.split_whitespace()
                .last()
                .unwrap()
                .parse::<u64>()
                .expect("a count")
        })
        .sum();
    assert_eq!(sum, every, "{finished:?}");
    assert_scheduling(&finished);
    assert_eq!(history_long_enabled(&mut conn), "NO", "as it was");
}

#[test]
fn an_idle_server_has_no_statements() {
    let server = Server::tare(&[]);
    let finished = querystat(server.socket(), &["--for", "0.5", "--switch-on"]);
    assert_eq!(number(&finished, "statements    "), 0, "{finished:?}");
}

#[test]
fn without_the_history_it_names_switch_on() {
    let server = Server::mariadb(&["--performance-schema=ON"]);
    let _work = Work::start(server.socket());
    let finished = querystat(server.socket(), &["--for", "0.5"]);
    assert!(number(&finished, "statements    ") > 0, "{finished:?}");
    assert!(finished.stdout.contains("--switch-on"), "{finished:?}");
    assert!(!finished.stdout.contains('@'), "{finished:?}");
}

#[test]
fn mariadbs_query_cache_hits_are_counted() {
    let cache = [
        "--performance-schema=ON",
        "--query-cache-type=1",
        "--query-cache-size=1M",
    ];
    let server = Server::mariadb(&cache);
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE shop").expect("a database");
    conn.query_drop("CREATE TABLE shop.stock (id INT PRIMARY KEY)")
        .expect("a table");
    let directory = Directory::new("cache");
    let dsn = server.socket().to_str().expect("UTF-8");
    let mut watching = Process::start(&mut directory.tare([
        "querystat",
        "-i",
        "0.2",
        "--switch-on",
        "--dsn",
        dsn,
    ]));
    assert!(watching.line().starts_with("tare querystat  "));
    for _ in 0..10 {
        let _: Vec<i32> = conn.query("SELECT id FROM shop.stock").expect("selected");
    }
    // An interval that has them, and one after it.
    watching.line();
    watching.line();
    watching.line();
    watching.signal("INT");
    let mut text = String::new();
    while !text.contains("pre-empted is not known") && !text.contains("clock is known") {
        text.push_str(&watching.line());
        text.push('\n');
    }
    assert!(watching.wait().success(), "{text}");
    let finished = CommandResult {
        code: Some(0),
        stdout: text,
        stderr: String::new(),
    };
    assert_eq!(
        number(&finished, "The server itself counted "),
        9,
        "{finished:?}"
    );
    assert_eq!(number(&finished, "\nhits"), 9, "{finished:?}");
    assert!(number(&finished, "\nmisses") >= 1, "{finished:?}");
    assert_scheduling(&finished);
    assert_eq!(history_long_enabled(&mut conn), "NO", "as it was");
}

/// `scripts/servers run 5.7 cargo test -p tare-cli --test querystat -- --ignored`
#[test]
#[ignore = "needs a MySQL: make test-long"]
fn mysql_is_followed_statement_by_statement() {
    let socket = mysql();
    let _work = Work::start(&socket);
    let finished = querystat(&socket, &["--for", "1", "--switch-on"]);
    assert!(number(&finished, "statements    ") > 0, "{finished:?}");
    assert!(
        finished.stdout.contains("followed") && finished.stdout.contains('@'),
        "{finished:?}"
    );
    assert_scheduling(&finished);
}

#[test]
fn a_program_is_followed_by_its_pid_until_it_ends() {
    let directory = Directory::new("ends");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    let mut watching = Process::start(
        directory
            .tare(["querystat", "-i", "0.2", "--pid", &pid])
            .stderr(std::process::Stdio::piped()),
    );
    assert!(watching.line().contains(&format!("({pid}) (segment)")));
    watching.line();
    drop(host);
    let status = watching.wait();
    assert_eq!(status.code(), Some(1));
    assert!(watching.stderr().contains("the program has ended"));
}
