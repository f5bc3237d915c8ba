//! A server under `tare run`.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value as Json;

use super::client::{Client, try_connect};
use super::support::{Directory, Process, finish, wait_for};
use super::{STATEMENTS, library, number, rows, statements};

/// A server under `tare run`, on the Unix socket `socket` in its directory.
pub struct Server {
    pub directory: Directory,
    pub run: Process,
    pub pid: u32,
}

impl Server {
    pub fn redis(options: &[&str], server_options: &[&str]) -> Self {
        let command = [
            "redis-server",
            "--port",
            "0",
            "--unixsocket",
            "socket",
            "--save",
            "",
        ];
        let command = [
            &command[..],
            &["--pidfile", "pid", "--dir", "."],
            server_options,
        ]
        .concat();
        Self::start(options, &command, |socket| {
            let info = try_connect(socket)?.call("INFO server").text();
            let mut lines = info.lines();
            lines
                .find_map(|line| line.strip_prefix("process_id:"))?
                .trim()
                .parse()
                .ok()
        })
    }

    pub fn memcached(options: &[&str], server_options: &[&str]) -> Self {
        // As another user the server could not write to the directory.
        let command = ["memcached", "-u", "root", "-s", "socket"];
        let command = [&command[..], server_options].concat();
        Self::start(options, &command, |socket| {
            let statistics = super::memcached::statistics(&mut UnixStream::connect(socket).ok()?);
            statistics["pid"].try_into().ok()
        })
    }

    /// `process`: the process that listens on the socket, as soon as it does.
    fn start(options: &[&str], command: &[&str], process: impl Fn(&Path) -> Option<u32>) -> Self {
        let directory = Directory::new(command[0]);
        let socket = directory.path().join("socket");
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let mut run = directory.tare(["run", "--require", "--library"]);
        run.arg(library()).args(options).arg("--").args(command);
        let run = Process::start_on(run.stderr(log), Stdio::null());
        let pid = wait_for("the server to listen", || process(&socket));
        Self {
            directory,
            run,
            pid,
        }
    }

    /// A client of Redis.
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
