//! redis-server under `tare run`.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value as Json;

use super::client::{Client, try_connect};
use super::support::{Directory, Process, finish, wait_for};
use super::{STATEMENTS, library, number, rows, statements};

/// redis-server under `tare run`.
pub struct Redis {
    pub directory: Directory,
    pub run: Process,
    pub pid: u32,
}

impl Redis {
    pub fn start(options: &[&str], server_options: &[&str]) -> Self {
        let directory = Directory::new("redis");
        let socket = directory.path().join("socket");
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let mut command = directory.tare(["run", "--require", "--library"]);
        command
            .arg(library())
            .args(options)
            .args(["--", "redis-server", "--port", "0"]);
        command
            .arg("--unixsocket")
            .arg(&socket)
            .args(["--save", "", "--pidfile", "pid"]);
        command
            .arg("--dir")
            .arg(directory.path())
            .args(server_options);
        let run = Process::start_on(command.stderr(log), Stdio::null());
        let pid = wait_for("redis-server to listen", || {
            let mut client = try_connect(&socket)?;
            let info = client.call("INFO server").text();
            let line = info
                .lines()
                .find_map(|line| line.strip_prefix("process_id:"))?;
            line.trim().parse().ok()
        });
        Self {
            directory,
            run,
            pid,
        }
    }

    pub fn connect(&self) -> Client {
        try_connect(&self.directory.path().join("socket")).expect("connected")
    }

    /// The rows of a statement, by `tare sql`.
    pub fn rows(&self, sql: &str) -> Vec<Json> {
        let pid = self.pid.to_string();
        rows(&self.directory, &["--pid", &pid], sql)
    }

    /// Runs a statement without rows, by `tare sql`.
    pub fn execute(&self, sql: &str) {
        let mut command = self.directory.tare(["sql", "-e", sql, "--pid"]);
        let finished = finish(command.arg(self.pid.to_string()));
        assert_eq!(finished.code, Some(0), "{sql}: {finished:?}");
    }

    pub fn statements(&self) -> BTreeMap<String, u64> {
        statements(&self.rows(STATEMENTS))
    }

    pub fn number(&self, sql: &str) -> u64 {
        number(&self.rows(sql)[0])
    }
}
