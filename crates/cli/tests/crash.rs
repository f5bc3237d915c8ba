//! kill -9 of a server at full load: the saved segment answers every table, with each thread's
//! last event.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use support::{Directory, Process, finish, wait_for};

fn sysbench(socket: &Path) -> Command {
    let mut command = Command::new("sysbench");
    command
        .args(["oltp_read_only", "--mysql-user=root", "--mysql-db=sbtest"])
        .arg(format!("--mysql-socket={}", socket.display()))
        .args([
            "--tables=1",
            "--table-size=200",
            "--threads=4",
            "--time=120",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn every_table_of_a_killed_server_answers() {
    let directory = Directory::new("crash");
    let mut command = directory.tare(["run", "--", support::TARE, "serve", "--data", "data"]);
    command.args([
        "--skip-networking",
        "--performance-schema-instrument=%=ON",
        "--performance-schema-consumer-events-waits-current",
        "--performance-schema-consumer-events-waits-history-long",
        "--performance-schema-consumer-events-stages-current",
        "--performance-schema-consumer-events-stages-history",
    ]);
    let mut running = Process::start(command.stderr(Stdio::piped()));
    assert_eq!(running.line(), "Listening on data/tare.sock");
    let socket = directory.path().join("data/tare.sock");
    let query_server = |query: &str| {
        let dsn = socket.to_str().expect("UTF-8");
        let finished = finish(&mut directory.tare(["sql", "--dsn", dsn, "-e", query]));
        assert_eq!(finished.code, Some(0), "{query}: {finished:?}");
        finished.stdout
    };
    query_server("CREATE DATABASE sbtest");
    let prepared = sysbench(&socket)
        .arg("prepare")
        .status()
        .expect("sysbench starts");
    assert!(prepared.success());
    let mut load = sysbench(&socket)
        .arg("run")
        .spawn()
        .expect("sysbench starts");

    let executed = "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_global_by_event_name \
                    WHERE EVENT_NAME = 'statement/com/Execute'";
    let number = |text: &str| text.lines().nth(1).and_then(|n| n.parse::<u64>().ok());
    wait_for("a thousand statements", || {
        number(&query_server(executed)).filter(|&n| n > 1000)
    });
    let pid = query_server("SELECT pid FROM tare.segments WHERE program LIKE 'tare%'");
    let pid = u32::try_from(number(&pid).expect("a pid")).expect("a pid");
    support::signal(pid, "KILL");
    assert_eq!(running.wait().code(), Some(128 + 9));
    load.kill().expect("killed");
    load.wait().expect("reaped");

    let name = format!("tare-{pid}.segment");
    let query_segment = |query: &str| {
        let finished = finish(&mut directory.tare(["sql", "--segment", &name, "-e", query]));
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(0), ""),
            "{query}"
        );
        finished.stdout
    };
    assert!(number(&query_segment(executed)).expect("a count") > 1000);
    assert_eq!(
        query_segment("SELECT state FROM tare.segments"),
        "state\ndead\n"
    );
    let connections = |events: &str, which: &str| {
        query_segment(&format!(
            "SELECT COUNT(DISTINCT t.THREAD_ID) AS n FROM performance_schema.threads t \
             JOIN performance_schema.{events} s USING (THREAD_ID) \
             WHERE t.PROCESSLIST_DB = 'sbtest' AND {which}"
        ))
    };
    // A statement that had only just begun when the server was killed has no text.
    let begun = "(s.SQL_TEXT IS NOT NULL OR s.END_EVENT_ID IS NULL)";
    assert_eq!(connections("events_statements_current", begun), "n\n4\n");
    let ended = "s.SQL_TEXT IS NOT NULL AND s.END_EVENT_ID IS NOT NULL";
    assert_eq!(connections("events_statements_history", ended), "n\n4\n");

    let tables = query_segment(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) AS t FROM information_schema.tables \
         WHERE TABLE_SCHEMA IN ('performance_schema', 'tare')",
    );
    let tables: Vec<&str> = tables.lines().skip(1).collect();
    let script: String = tables
        .iter()
        .map(|t| format!("SELECT * FROM {t} LIMIT 10000;\n"))
        .collect();
    assert!(tables.len() > 40, "{tables:?}");
    query_segment(&script);
}
