//! Clients that give the trace of a statement in different ways, and what a recorder stores of them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::python::program;
use crate::support::{Directory, Process, query_history, wait_for};

/// The trace of the statements.
pub const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const OTHER: &str = "0af7651916cd43dd8448eb211c80319c";

/// The clients; dropping them ends them.
struct Clients(Child);

impl Drop for Clients {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Runs the clients of traceparent.py against a socket while a recorder samples `target`. Checks that statements given in
/// one of `ways` have the trace, from their first sample on if `is_complete`, and that others have none.
pub fn check(
    directory: &Directory,
    socket: &Path,
    target: [&str; 2],
    ways: &[&str],
    is_complete: bool,
) {
    let words = [
        "record",
        "--dir",
        "ways",
        "--write-every",
        "0.2s",
        "--rate",
        "10",
    ];
    let words = words.into_iter().chain(target);
    let mut recorder = Process::start(directory.tare(words).stderr(Stdio::null()));
    let mut command = program("traceparent.py");
    let traceparent = |trace: &str| format!("00-{trace}-00f067aa0ba902b7-01");
    command
        .arg(socket)
        .args([traceparent(TRACE), traceparent(OTHER)]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut clients = Clients(command.spawn().expect("python starts"));
    let output = BufReader::new(clients.0.stdout.take().expect("a pipe"));
    let lines = output.lines().map(|line| line.expect("a line"));
    let lines = lines.take_while(|line| !line.starts_with("ready"));
    let names: BTreeMap<u64, String> = lines
        .map(|line| {
            let (name, id) = line.split_once(' ').expect("a name and a number");
            (id.parse().expect("a number"), name.to_owned())
        })
        .collect();
    assert_eq!(names.len(), 14, "{names:?}");
    let sql = "SELECT connection_id, MIN(trace_id) AS first, MAX(trace_id) AS last, COUNT(trace_id) AS traced, \
        COUNT(*) AS n FROM samples WHERE statement_ns > 300000000 GROUP BY 1";
    let is_traced = |name: &str| ways.contains(&name);
    let rows = wait_for("samples of all", || {
        let mut rows = query_history(directory, "ways", sql);
        rows.retain(|row| {
            row["connection_id"]
                .as_u64()
                .is_some_and(|id| names.contains_key(&id))
        });
        let has_trace = |row: &Value| row["traced"].as_u64() > Some(0);
        let traced = rows.iter().filter(|row| has_trace(row)).count();
        let expected = names.values().filter(|name| is_traced(name)).count();
        (rows.len() == names.len() && traced >= expected).then_some(rows)
    });
    for row in &rows {
        let id = row["connection_id"].as_u64().expect("a number");
        let name = &names[&id];
        if !is_traced(name) {
            assert_eq!(row["traced"], 0, "{name}: {row}");
            continue;
        }
        let trace = Value::from(TRACE);
        assert_eq!(
            [&row["first"], &row["last"]],
            [&trace, &trace],
            "{name}: {row}"
        );
        assert!(!is_complete || row["traced"] == row["n"], "{name}: {row}");
    }
    recorder.signal("INT");
    assert!(recorder.wait().success());
}
