//! Statements of MySQL and MariaDB, read from what their clients send: servers without the door.

mod clients;
mod hostile;
mod totals;
mod traces;

use std::process::Stdio;

use mysql::Conn;
use serde_json::Value as Json;

use super::servers::{Version, command_line, create_data_directory};
use super::support::server::connect;
use super::support::{Directory, Process, wait_for};
use super::{library, rows, tls};

/// A server under `tare run --no-door`; dropping it kills it.
struct Server {
    version: Version,
    directory: Directory,
    port: u16,
    pid: u32,
    _run: Process,
}

impl Server {
    /// Starts a server that also listens on a port.
    fn start(version: Version, options: &[&str]) -> Self {
        let directory = Directory::new(version.name());
        create_data_directory(version, directory.path());
        let port = tls::free_port();
        // MySQL has a certificate of its own.
        let certificate = match version.is_mariadb() {
            true => {
                tls::create_certificate(directory.path());
                &["--ssl-cert=../cert.pem", "--ssl-key=../key.pem"][..]
            }
            false => &[],
        };
        let mut command = command_line(version, directory.path());
        command.retain(|option| option != "--skip-networking");
        command.extend([
            format!("--port={port}"),
            "--bind-address=127.0.0.1".into(),
            "--performance-schema=ON".into(),
            "--local-infile=ON".into(),
            "--performance-schema-consumer-events-statements-history=ON".into(),
        ]);
        let options = certificate.iter().chain(options);
        command.extend(options.map(|&option| option.to_owned()));
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let mut run = directory.tare(["run", "--no-door", "--library"]);
        run.arg(library()).arg("--").args(command);
        let run = Process::start_on(run.stderr(log), Stdio::null());
        let socket = directory.path().join("mysql.sock");
        let pid_file = directory.path().join("pid");
        let pid = wait_for("the server to listen", || {
            connect(&socket).ok()?;
            let pid = std::fs::read_to_string(&pid_file).ok()?;
            pid.trim().parse().ok()
        });
        let server = Self {
            version,
            directory,
            port,
            pid,
            _run: run,
        };
        // Every event of a test stays in the history.
        server.tare("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'");
        server
    }

    /// Connects as root by the socket.
    fn connect(&self) -> Conn {
        connect(&self.directory.path().join("mysql.sock")).expect("connected")
    }

    /// The rows of a statement, by `tare sql`.
    fn rows(&self, sql: &str) -> Vec<Json> {
        rows(&self.directory, &["--pid", &self.pid.to_string()], sql)
    }

    /// Runs a statement without rows, by `tare sql`.
    fn tare(&self, sql: &str) {
        let pid = self.pid.to_string();
        let mut command = self.directory.tare(["sql", "--pid", &pid, "-e", sql]);
        let finished = super::support::finish(&mut command);
        assert_eq!(finished.code, Some(0), "{sql}: {finished:?}");
    }

    /// What `tare run` and the server have printed.
    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).expect("a log")
    }
}
