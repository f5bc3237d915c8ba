//! The MySQL door and --daemonize: a server that goes into the background takes Tare's engine along.
//! MySQL 5.7 in every run, 8.0 by `make test-long`; MariaDB has no such option.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::path::Path;

use mysql::prelude::Queryable;
use rustix::process::Signal;

use servers::{Version, command_line, create_data_directory, tare_run};
use support::server::connect;
use support::{Directory, finish, wait_for};

/// The pid of a server in the background; dropping it kills the server.
struct BackgroundServer(u32);

impl Drop for BackgroundServer {
    fn drop(&mut self) {
        servers::kill(self.0, Signal::KILL);
    }
}

#[test]
fn mysql_5_7_in_the_background_has_our_engine() {
    check_daemonized_server(Version::Mysql57);
}

#[test]
fn mysql_9_7_in_the_background_has_our_engine() {
    check_daemonized_server(Version::Mysql97);
}

#[test]
#[ignore = "MySQL 8.0 is left to make test-long"]
fn mysql_8_0_in_the_background_has_our_engine() {
    check_daemonized_server(Version::Mysql80);
}

fn check_daemonized_server(version: Version) {
    if version.is_left_out() {
        return;
    }
    let directory = Directory::new("background");
    create_data_directory(version, directory.path());
    let mut line = command_line(version, directory.path());
    let log = directory.path().join("error.log");
    line.push("--daemonize".into());
    line.push(format!("--log-error={}", log.display()));
    // `tare run` returns once the server is ready.
    let started = finish(&mut tare_run(&directory, &line));
    let pid = std::fs::read_to_string(directory.path().join("pid")).expect("pid");
    let pid: u32 = pid.trim().parse().expect("a number");
    let _background = BackgroundServer(pid);
    let words = std::fs::read_to_string(&log).unwrap_or_default();
    assert_eq!(started.code, Some(0), "{version}: {started:?}\n{words}");
    assert!(
        started.stderr.contains(&format!(
            "(pid {pid}) still runs; its segment is not saved if it crashes"
        )),
        "{version}: {started:?}"
    );
    let socket = directory.path().join("mysql.sock");
    let mut connection = connect(&socket).expect("connected");
    connection
        .query_drop("CREATE DATABASE background")
        .expect("created");
    let question = format!(
        "SELECT (SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = {}) AS connections, \
         (SELECT THREAD_OS_ID FROM performance_schema.threads WHERE NAME = 'thread/sql/main') AS main, \
         (SELECT COUNT_STAR FROM performance_schema.events_statements_summary_global_by_event_name \
          WHERE EVENT_NAME = 'statement/sql/create_db') AS created",
        connection.connection_id()
    );
    let pid_text = pid.to_string();
    let arguments = [
        "sql", "--pid", &pid_text, "--format", "json", "-e", &question,
    ];
    let answer = finish(&mut directory.tare(arguments));
    let rows: serde_json::Value = serde_json::from_str(&answer.stdout)
        .unwrap_or_else(|_| panic!("{version}: {answer:?}\n{words}"));
    assert_eq!(
        rows[0],
        serde_json::json!({"connections": 1, "main": pid, "created": 1}),
        "{version}"
    );
    connection.query_drop("SHUTDOWN").expect("shut down");
    wait_for("the server's end", || {
        (!Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    });
    // The shutdown was not taken for a crash.
    let saved = std::fs::read_dir(directory.path()).expect("listed");
    let saved: Vec<_> = saved
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().ends_with(".segment"))
        .collect();
    assert!(saved.is_empty(), "{version}: {saved:?} {started:?}");
}
