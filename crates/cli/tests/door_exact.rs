//! Exact windows of unmodified servers: `tare record --exact-when` on `tare run --sampling active -- mysqld`.

#[path = "support/history.rs"]
mod history;
#[path = "support/servers.rs"]
mod servers;
mod support;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use history::{moments_of_window, rows};
use mysql::prelude::Queryable;
use servers::{Engine, Server, Version, run};
use support::{Directory, Process, wait_for};

/// Clients that read a table all the time.
struct Clients {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Clients {
    fn start(server: &Server) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let client = |_| {
            let (mut connection, stop) = (server.connect(), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let read = "SELECT COUNT(*) FROM exact.t x, exact.t y WHERE x.a > y.b";
                    connection.query_drop(read).expect("reads");
                }
            })
        };
        let threads = (0..2).map(client).collect();
        Self { stop, threads }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Starts a recorder whose rule holds.
fn record(server: &Server, directory: &Directory, length: &str) -> Process {
    let pid = server.pid.to_string();
    let rule = [
        "--exact-when",
        "active_sessions > 0.5 for 1s",
        "--exact-for",
        length,
    ];
    let words = [
        "record", "--pid", &pid, "--rate", "50", "--dir", "history", "--budget", "100%",
    ];
    let mut command = directory.tare(words.iter().chain(&rule));
    Process::start(command.stderr(Stdio::piped()))
}

fn wait_for_the_level(server: &Server) {
    wait_for("the level active", || {
        let rules = server.tare("SELECT sampling FROM tare.setup_sampling");
        rules
            .iter()
            .all(|row| row["sampling"] == "active")
            .then_some(())
    });
}

fn check_windows(version: Version) {
    if version.is_left_out() {
        return;
    }
    let server = Server::start(version, Engine::Sampled("active"), &[]);
    let mut connection = server.connect();
    run(
        &mut connection,
        &[
            "CREATE DATABASE exact",
            "CREATE TABLE exact.t (a BIGINT PRIMARY KEY, b BIGINT)",
        ],
    );
    let numbers: Vec<String> = (0..300).map(|n| format!("({n}, {n})")).collect();
    let insert = format!("INSERT INTO exact.t VALUES {}", numbers.join(", "));
    run(&mut connection, &[&insert]);
    let clients = Clients::start(&server);
    let directory = Directory::new("door-exact");
    let mut recorder = record(&server, &directory, "1s");
    recorder.message("exact window opened");
    recorder.message("exact window ended after ");
    wait_for_the_level(&server);
    recorder.signal("INT");
    assert!(recorder.wait().success());

    // A window counts waits, stages and digests. Outside of windows statements are counted in total.
    let history = directory.path().join("history");
    let growth = rows(&history, "growth");
    let counted = |kind: &str, name: &str, is_exact: u64| {
        let of_kind = growth
            .iter()
            .filter(|row| row["kind"] == kind && row["is_exact"] == is_exact);
        let named = of_kind.filter(|row| {
            row["name"]
                .as_str()
                .is_some_and(|own| own.starts_with(name))
        });
        named.filter_map(|row| row["count"].as_u64()).sum::<u64>()
    };
    assert!(counted("wait", "wait/io/table/sql/handler", 1) > 0);
    assert!(counted("statement", "statement/sql/select", 1) > 0);
    assert!(counted("digest", "", 1) > 0);
    assert!(counted("statement", "statement/tare/active", 0) > 0);
    assert_eq!(counted("digest", "", 0), 0);
    for table in ["moments", "samples"] {
        let rows = rows(&history, table);
        let of = |is: u64| rows.iter().filter(|row| row["is_exact"] == is).count();
        assert!(of(0) > 0 && of(1) > 0, "{table}: {} and {}", of(0), of(1));
    }
    // The growth of the window is that of its time: no moment of it was at the level active.
    let within = moments_of_window(&history);
    assert!(!within.is_empty());
    for moment in within {
        assert_eq!(moment["is_exact"], 1, "{moment}");
    }

    // The server ends the window of a recorder that was killed.
    let directory = Directory::new("door-exact");
    let mut recorder = record(&server, &directory, "3s");
    recorder.message("exact window opened");
    recorder.signal("KILL");
    recorder.wait();
    wait_for_the_level(&server);
    drop(clients);
    server.stop();
}

#[test]
fn mysql_5_7_counts_exactly_in_windows() {
    check_windows(Version::Mysql57);
}

#[test]
fn mariadb_counts_exactly_in_windows() {
    check_windows(Version::Mariadb);
}
