//! A server under `tare run`.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value as Json;

use super::client::Client;
use super::support::{Directory, Process, wait_for};
use super::{STATEMENTS, execute, library, number, rows, statements, tls};

/// A server under `tare run`, on the Unix socket `socket` in its directory, or with TLS on a port.
pub struct Server {
    pub directory: Directory,
    pub run: Process,
    pub pid: u32,
    port: Option<u16>,
}

impl Server {
    pub fn redis(options: &[&str], server_options: &[&str]) -> Self {
        Self::redis_on(None, options, server_options)
    }

    /// Redis with TLS.
    pub fn redis_tls(server_options: &[&str]) -> Self {
        let port = tls::free_port();
        let tls = [
            "--tls-port",
            &port.to_string(),
            "--tls-cert-file",
            "cert.pem",
        ];
        let tls = [
            &tls[..],
            &["--tls-key-file", "key.pem", "--tls-auth-clients", "no"],
        ]
        .concat();
        Self::redis_on(Some(port), &[], &[&tls, server_options].concat())
    }

    fn redis_on(port: Option<u16>, options: &[&str], server_options: &[&str]) -> Self {
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
        Self::start(port, options, &command, |stream| {
            let info = Client::new(stream).call("INFO server").text();
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
        Self::start(None, options, &command, memcached_process)
    }

    /// memcached that records its locks.
    pub fn memcached_with_locks(server_options: &[&str]) -> Self {
        let command = ["env", "TARE_OPTIONS=locks=ON", "memcached"];
        let command = [
            &command[..],
            &["-u", "root", "-s", "socket"],
            server_options,
        ]
        .concat();
        let server = ["--server", "/usr/bin/memcached"];
        Self::start(None, &server, &command, memcached_process)
    }

    /// memcached with TLS.
    pub fn memcached_tls(server_options: &[&str]) -> Self {
        let port = tls::free_port();
        let number = port.to_string();
        let command = [
            "memcached",
            "-u",
            "root",
            "-l",
            "127.0.0.1",
            "-p",
            &number,
            "-Z",
        ];
        let tls = ["-o", "ssl_chain_cert=cert.pem,ssl_key=key.pem"];
        let command = [&command[..], &tls, server_options].concat();
        Self::start(Some(port), &[], &command, memcached_process)
    }

    /// `process`: the process that serves this connection.
    fn start(
        port: Option<u16>,
        options: &[&str],
        command: &[&str],
        process: impl Fn(UnixStream) -> Option<u32>,
    ) -> Self {
        let directory = Directory::new(command[0]);
        if port.is_some() {
            tls::create_certificate(directory.path());
        }
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let mut run = directory.tare(["run", "--require", "--library"]);
        run.arg(library()).args(options).arg("--").args(command);
        let run = Process::start_on(run.stderr(log), Stdio::null());
        let pid = wait_for("the server to listen", || {
            process(try_connect(directory.path(), port)?)
        });
        Self {
            directory,
            run,
            pid,
            port,
        }
    }

    /// A connection.
    pub fn stream(&self) -> UnixStream {
        try_connect(self.directory.path(), self.port).expect("connected")
    }

    /// A client of Redis.
    pub fn connect(&self) -> Client {
        Client::new(self.stream())
    }

    /// The rows of a statement, by `tare sql`.
    pub fn rows(&self, sql: &str) -> Vec<Json> {
        let pid = self.pid.to_string();
        rows(&self.directory, &["--pid", &pid], sql)
    }

    /// Runs a statement without rows, by `tare sql`.
    pub fn execute(&self, sql: &str) {
        execute(&self.directory, &["--pid", &self.pid.to_string()], sql);
    }

    pub fn statements(&self) -> BTreeMap<String, u64> {
        statements(&self.rows(STATEMENTS))
    }

    pub fn number(&self, sql: &str) -> u64 {
        number(&self.rows(sql)[0])
    }
}

/// Connects to a server, if it listens.
fn try_connect(directory: &Path, port: Option<u16>) -> Option<UnixStream> {
    match port {
        None => UnixStream::connect(directory.join("socket")).ok(),
        Some(port) => tls::connect(port, &["-nbio"]),
    }
}

/// The process of memcached.
fn memcached_process(mut stream: UnixStream) -> Option<u32> {
    super::memcached::statistics(&mut stream)["pid"]
        .try_into()
        .ok()
}
