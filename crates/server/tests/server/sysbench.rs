//! sysbench 1.0's OLTP scripts, unchanged, under both schedulers.

use std::process::Command;

use super::support::{Running, one};

/// The scripts for the tables of `oltp_common.lua`.
const SCRIPTS: [&str; 8] = [
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_insert",
    "oltp_delete",
];

fn sysbench(
    running: &Running,
    threads: usize,
    script: &str,
    command: &str,
    more: &[&str],
) -> String {
    let mut sysbench = Command::new("sysbench");
    sysbench
        .arg(format!("--mysql-socket={}", running.socket().display()))
        .args([
            "--mysql-user=root",
            "--mysql-db=test",
            "--time=1",
            "--tables=2",
            "--table-size=500",
        ])
        .arg(format!("--threads={threads}"))
        .args(more)
        .args([script, command]);
    let output = sysbench
        .output()
        .unwrap_or_else(|e| panic!("sysbench: {e}; run `make deps`"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{script} {command}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!text.contains("FATAL"), "{script} {command}: {text}");
    text
}

/// The number after a word in sysbench's report.
fn figure(report: &str, word: &str) -> u64 {
    let line = report
        .lines()
        .find(|l| l.trim_start().starts_with(word))
        .unwrap_or_else(|| panic!("{word} in {report}"));
    line.split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| panic!("a number in {line}"))
}

fn all_scripts(running: &Running, threads: usize) {
    sysbench(running, threads, "oltp_read_only", "prepare", &[]);
    let mut root = running.client();
    assert_eq!(one(&mut root, "SELECT count(*) FROM sbtest1"), "500");
    for script in SCRIPTS {
        let report = sysbench(running, threads, script, "run", &[]);
        assert!(figure(&report, "transactions:") > 0, "{report}");
        assert!(
            figure(&report, "reconnects:") == 0
                || report.contains("reconnects:                          0"),
            "{report}"
        );
    }
    assert_eq!(
        one(&mut root, "CHECK TABLE sbtest1"),
        "test.sbtest1|check|status|OK"
    );
    sysbench(running, threads, "oltp_read_only", "cleanup", &[]);
    assert_eq!(
        super::support::errno(&mut root, "SELECT * FROM sbtest1"),
        1146
    );
    sysbench(running, threads, "bulk_insert", "prepare", &[]);
    let report = sysbench(running, threads, "bulk_insert", "run", &["--events=20000"]);
    assert!(report.contains("total number of events"), "{report}");
    let loaded: u64 = (1..=threads)
        .map(|n| {
            one(&mut root, &format!("SELECT count(*) FROM sbtest{n}"))
                .parse::<u64>()
                .expect("a number")
        })
        .sum();
    assert!(loaded > 0);
    sysbench(running, threads, "bulk_insert", "cleanup", &[]);
}

#[test]
fn sysbench_runs_with_a_thread_for_each_connection() {
    all_scripts(&Running::start(), 2);
}

#[test]
fn sysbench_runs_with_a_pool_of_threads() {
    // More clients than workers, and transactions that wait for each other.
    all_scripts(&Running::pool(), 6);
}
