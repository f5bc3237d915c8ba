//! `tare record --exact-when` end to end: a window opens while the condition holds, its rows say that they are
//! exact, and the level is `active` again however the recorder ends.

#[path = "support/history.rs"]
mod history;
mod support;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use history::{moments_of_window, rows};
use mysql::Conn;
use mysql::prelude::Queryable;
use support::server::Server;
use support::{Directory, Process, finish, wait_for};
use tare_reader::{ExactError, ExactWindow, Segment, Target};

/// A server at the level active with two sessions that run statements all the time.
struct Busy {
    server: Server,
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<()>>,
}

impl Busy {
    fn start() -> Self {
        let server = Server::tare(&["--sampling", "active"]);
        let stop = Arc::new(AtomicBool::new(false));
        let client = |_| {
            let (mut conn, stop) = (server.connect(), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    conn.query_drop("SELECT COUNT(*) FROM information_schema.columns")
                        .expect("runs");
                }
            })
        };
        let clients = (0..2).map(client).collect();
        Self {
            server,
            stop,
            clients,
        }
    }

    /// A recorder with a rule that holds.
    fn record(&self, directory: &Directory, rate: &str, more: &[&str]) -> Command {
        let pid = self.server.pid().to_string();
        let condition = "active_sessions > 0.5 for 1s";
        let mut command = directory.tare(["record", "--pid", &pid, "--rate", rate]);
        command
            .args(["--dir", "history", "--exact-when", condition])
            .args(more)
            .stderr(Stdio::piped());
        command
    }

    fn levels(&self) -> Vec<String> {
        let query = "SELECT sampling FROM tare.setup_sampling";
        self.server.connect().query(query).expect("answers")
    }

    fn is_at(&self, level: &str) -> bool {
        self.levels().iter().all(|each| each == level)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients.drain(..) {
            let _ = client.join();
        }
    }
}

#[test]
fn a_window_opens_while_the_condition_holds_and_its_rows_are_exact() {
    let busy = Busy::start();
    let directory = Directory::new("exact");
    let more = ["--exact-for", "1s", "--budget", "100%"];
    let mut recorder = Process::start(&mut busy.record(&directory, "50", &more));
    let opened = recorder.message("exact window opened for 1 s: ");
    assert!(opened.contains("active_sessions > 0.5 for 1s, and active_sessions is "));
    let ended = recorder.message("exact window ended after ");
    assert!(
        ended.contains(": it cost ") && !ended.contains("rules"),
        "{ended}"
    );
    wait_for("the level active", || busy.is_at("active").then_some(()));
    recorder.signal("INT");
    assert!(recorder.wait().success());
    assert!(busy.is_at("active"));
    let history = directory.path().join("history");
    for table in ["moments", "samples", "growth"] {
        let rows = rows(&history, table);
        let of = |is: u64| rows.iter().filter(|row| row["is_exact"] == is).count();
        assert!(of(0) > 0 && of(1) > 0, "{table}: {} and {}", of(0), of(1));
        assert_eq!(of(0) + of(1), rows.len(), "{table}");
    }
    // In a window statements are counted by their class and digest, and outside of it in total.
    let growth = rows(&history, "growth");
    let counted = |kind: &str, name: &str, is_exact: u64| {
        let rows = growth
            .iter()
            .filter(|row| row["kind"] == kind && row["is_exact"] == is_exact)
            .filter(|row| name.is_empty() || row["name"] == name);
        rows.filter_map(|row| row["count"].as_u64()).sum::<u64>()
    };
    assert!(counted("statement", "statement/sql/select", 1) > 0);
    assert!(counted("digest", "", 1) > 0);
    assert!(counted("statement", "statement/tare/active", 0) > 0);
}

#[test]
fn a_window_ends_at_its_time_however_far_moments_are_apart() {
    let busy = Busy::start();
    let directory = Directory::new("exact-seldom");
    let more = ["--exact-for", "1s", "--budget", "100%"];
    let mut recorder = Process::start(&mut busy.record(&directory, "0.2", &more));
    recorder.message("exact window opened");
    recorder.message("exact window ended after ");
    recorder.signal("INT");
    assert!(recorder.wait().success());
    // The growth of the window has no moment at which events were not exact.
    let history = directory.path().join("history");
    for moment in moments_of_window(&history) {
        assert_eq!(moment["is_exact"], 1, "{moment}");
    }
}

#[test]
fn the_budget_refuses_a_window() {
    let busy = Busy::start();
    let directory = Directory::new("exact-budget");
    let more = ["--exact-for", "10s", "--budget", "0.001%"];
    let mut recorder = Process::start(&mut busy.record(&directory, "50", &more));
    let refused = recorder.message("exact window refused by the budget: ");
    assert!(refused.contains("0.001 % of the "), "{refused}");
    assert!(busy.is_at("active"));
    // It is still refused two readings later, and not reported again.
    thread::sleep(Duration::from_secs(3));
    recorder.signal("TERM");
    assert!(recorder.wait().success());
    let rest = recorder.stderr();
    assert!(!rest.contains("exact window"), "{rest}");
    let moments = rows(&directory.path().join("history"), "moments");
    assert!(moments.iter().all(|row| row["is_exact"] == 0));
}

#[test]
fn a_window_ends_with_its_recorder() {
    let busy = Busy::start();
    for signal in ["INT", "TERM", "KILL"] {
        let directory = Directory::new("exact-ends");
        let more = ["--exact-for", "4s", "--budget", "100%"];
        let mut recorder = Process::start(&mut busy.record(&directory, "50", &more));
        recorder.message("exact window opened");
        recorder.signal(signal);
        let ended = recorder.wait();
        if signal != "KILL" {
            assert!(ended.success(), "{signal}");
            assert!(busy.is_at("active"), "{signal}: {:?}", busy.levels());
            let log = recorder.stderr();
            assert!(log.contains("exact window ended after "), "{log}");
        }
        // The server ends the window of a recorder that was killed.
        wait_for("the level active", || busy.is_at("active").then_some(()));
    }
}

#[test]
fn a_change_of_a_rule_ends_a_window_and_stays() {
    let busy = Busy::start();
    let directory = Directory::new("exact-update");
    let more = ["--exact-for", "8s", "--budget", "100%"];
    let mut recorder = Process::start(&mut busy.record(&directory, "50", &more));
    recorder.message("exact window opened");
    let update = "UPDATE tare.setup_sampling SET sampling = '1/4'";
    busy.server.connect().query_drop(update).expect("changed");
    let ended = recorder.message("exact window ended after ");
    assert!(
        ended.contains("by a change of the sampling rules"),
        "{ended}"
    );
    assert!(busy.is_at("1/4"), "{:?}", busy.levels());
    // The condition holds again, at another level.
    let refused = recorder.message("no exact window is opened: ");
    assert!(refused.contains("the level is 1/4"), "{refused}");
    recorder.signal("INT");
    assert!(recorder.wait().success());
    assert!(busy.is_at("1/4"));
}

#[test]
fn one_reader_owns_a_window() {
    let server = Server::tare(&["--sampling", "active"]);
    let sampling = |conn: &mut Conn| -> String {
        let query = "SELECT sampling FROM tare.setup_sampling WHERE event_type = 'wait'";
        conn.query_first(query).expect("answers").expect("a row")
    };
    let mut conn = server.connect();
    let attach = || Arc::new(Segment::attach(Target::Pid(server.pid())).expect("attached"));
    let (first, second) = (attach(), attach());
    let length = Duration::from_secs(500);
    let window = ExactWindow::open(&first, length).expect("opened");
    assert_eq!(sampling(&mut conn), "every, then active");
    let error = ExactWindow::open(&second, length).expect_err("it is owned");
    assert!(matches!(error, ExactError::Open { .. }), "{error}");
    assert!(window.is_open());
    drop(window);
    assert_eq!(sampling(&mut conn), "active");
    let window = ExactWindow::open(&second, length).expect("opened");
    conn.query_drop("UPDATE tare.setup_sampling SET sampling = 'every'")
        .expect("changed");
    assert!(!window.is_open());
    drop(window);
    assert_eq!(sampling(&mut conn), "every");
    let error = ExactWindow::open(&first, length).expect_err("the level is another");
    assert!(matches!(error, ExactError::NotActive { .. }), "{error}");
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let directory = Directory::new("exact-refused");
    let record = |more: &[&str]| {
        let words = ["record", "--dir", "history"].iter().chain(more);
        finish(&mut directory.tare(words))
    };
    let condition = "blocked > 3 for 5s";
    let by_sql = record(&["--dsn", "/nowhere/socket", "--exact-when", condition]);
    assert_eq!(by_sql.code, Some(1), "{by_sql:?}");
    assert!(by_sql.stderr.contains("is read in SQL"), "{by_sql:?}");
    for (wrong, accepted) in [
        (
            &["--exact-when", "load > 3 for 5s"][..],
            "active_sessions, waiting_for_cpu",
        ),
        (
            &["--exact-when", condition, "--budget", "2"],
            "a percentage such as 1%",
        ),
        (
            &["--exact-when", condition, "--exact-for", "1h"],
            "a time from 1s to 10m",
        ),
        (&["--exact-for", "5s"], "--exact-when"),
    ] {
        let refused = record(wrong);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(accepted), "{refused:?}");
    }
    assert!(directory.names().is_empty());
}
