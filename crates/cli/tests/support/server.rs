//! Servers under observation: `tare serve`, the system's MariaDB, and a MySQL that scripts/servers started.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use super::{Directory, wait_for};

/// A server; dropping it ends one that the test started.
pub struct Server {
    /// `None` if the test did not start it.
    child: Option<Child>,
    socket: PathBuf,
    _directory: Directory,
}

impl Server {
    /// A `tare serve` with these options.
    pub fn tare(options: &[&str]) -> Self {
        let directory = Directory::new("server");
        let socket = directory.path().join("s");
        let mut command =
            directory.tare(["serve", "--skip-networking", "--data", "data", "--socket"]);
        command.arg(&socket).args(options);
        Self::start(command, socket, directory)
    }

    /// The system's MariaDB with these options.
    pub fn mariadb(options: &[&str]) -> Self {
        let directory = Directory::new("mariadb");
        let path = directory.path();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/servers");
        let servers = |action: &str| {
            let output = Command::new(script)
                .args([action, "mariadb"])
                .arg(path)
                .output()
                .expect("scripts/servers starts");
            assert!(
                output.status.success(),
                "scripts/servers {action}: {output:?}; run `make deps`"
            );
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        servers("data");
        let arguments = servers("command");
        let mut arguments = arguments.lines();
        let mut command = Command::new(arguments.next().expect("a program"));
        command.args(arguments).args(options);
        let socket = path.join("mysql.sock");
        Self::start(command, socket, directory)
    }

    fn start(mut command: Command, socket: PathBuf, directory: Directory) -> Self {
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log);
        let child = command.spawn().expect("the server starts");
        let server = Self {
            child: Some(child),
            socket,
            _directory: directory,
        };
        wait_for("the server", || connect(&server.socket).ok());
        server
    }

    /// A server that the test neither starts nor ends.
    pub fn external(socket: PathBuf) -> Self {
        Self {
            child: None,
            socket,
            _directory: Directory::new("running"),
        }
    }

    /// The socket where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it is ours").id()
    }

    /// A connection as root.
    pub fn connect(&self) -> Conn {
        connect(&self.socket).expect("the server takes a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Connects as root.
pub fn connect(socket: &Path) -> mysql::Result<Conn> {
    let options = OptsBuilder::new()
        .socket(socket.to_str())
        .user(Some("root"));
    Conn::new(options)
}

/// The socket of a MySQL that was started for the tests: `scripts/servers run 8.0 cargo test`.
pub fn mysql() -> PathBuf {
    std::env::var_os("TARE_TEST_MYSQL")
        .map(PathBuf::from)
        .expect("TARE_TEST_MYSQL names a socket; run this under `scripts/servers run 8.0`")
}

/// A client that updates and selects a table of one row until it is dropped.
pub struct Work {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Work {
    /// Creates the table and starts the client's thread.
    pub fn start(socket: &Path) -> Self {
        let mut conn = connect(socket).expect("the server takes a connection");
        conn.query_drop("CREATE DATABASE IF NOT EXISTS shop")
            .expect("a database");
        conn.query_drop("CREATE TABLE IF NOT EXISTS shop.stock (id INT PRIMARY KEY, n INT)")
            .expect("a table");
        conn.query_drop("REPLACE INTO shop.stock VALUES (1, 0)")
            .expect("a row");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                conn.query_drop("UPDATE shop.stock SET n = n + 1 WHERE id = 1")
                    .expect("updated");
                let _: Option<i64> = conn
                    .query_first("SELECT n FROM shop.stock WHERE id = 1")
                    .expect("selected");
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread panics if its server ended first.
            let _ = thread.join();
        }
    }
}
