//! Real MySQL and MariaDB servers, with their own Performance Schema or with Tare's engine.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use mysql::Conn;
use mysql::prelude::Queryable;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::server::connect;
use crate::support::{Directory, HANG_TIMEOUT, Process, TARE, finish, wait_for};

/// A server of scripts/servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Mysql56,
    Mysql57,
    Mysql80,
    Mysql97,
    Mariadb,
    Mariadb114,
    Mariadb118,
}

impl Version {
    pub fn is_mariadb(self) -> bool {
        matches!(self, Self::Mariadb | Self::Mariadb114 | Self::Mariadb118)
    }

    /// As scripts/servers calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql56 => "5.6",
            Self::Mysql57 => "5.7",
            Self::Mysql80 => "8.0",
            Self::Mysql97 => "9.7",
            Self::Mariadb => "mariadb",
            Self::Mariadb114 => "11.4",
            Self::Mariadb118 => "11.8",
        }
    }
}

/// A release without a server to test it with does not compile.
impl From<tare_image::Release> for Version {
    fn from(release: tare_image::Release) -> Self {
        match release {
            tare_image::Release::Mysql56 => Self::Mysql56,
            tare_image::Release::Mysql57 => Self::Mysql57,
            tare_image::Release::Mysql80 => Self::Mysql80,
            tare_image::Release::Mysql97 => Self::Mysql97,
            tare_image::Release::Mariadb1011 => Self::Mariadb,
            tare_image::Release::Mariadb114 => Self::Mariadb114,
            tare_image::Release::Mariadb118 => Self::Mariadb118,
        }
    }
}

impl Version {
    /// Whether `make test` found that this machine cannot install it: its packages need mmdebstrap, and
    /// root or user namespaces. The last line of the test run names such servers.
    pub fn is_left_out(self) -> bool {
        let left_out = std::env::var("TARE_LEFT_OUT").unwrap_or_default();
        left_out.split_whitespace().any(|name| name == self.name())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
        into.write_str(self.name())
    }
}

/// The engine that a server records with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Its own, with everything on and timed.
    Stock,
    /// Its own, with its default settings.
    StockDefaults,
    /// Tare's, by `tare run`, with everything on and timed.
    Tare,
    /// Tare's, sampled by this rule.
    Sampled(&'static str),
}

/// libtare_psi.so of this build, which cargo puts next to the tests' own libraries.
pub fn library() -> PathBuf {
    let directory = Path::new(TARE).parent().expect("in target/debug");
    [
        directory.join("deps/libtare_psi.so"),
        directory.join("libtare_psi.so"),
    ]
    .into_iter()
    .filter(|path| path.exists())
    .max_by_key(|path| path.metadata().and_then(|file| file.modified()).ok())
    .expect("libtare_psi.so is not built; run: cargo build -p tare-psi")
}

fn script(arguments: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/servers");
    let done = finish(Command::new(path).args(arguments));
    assert_eq!(
        done.code,
        Some(0),
        "scripts/servers {arguments:?}: {done:?}"
    );
    done.stdout
}

/// A server that listens; dropping it kills it.
pub struct Server {
    pub version: Version,
    pub engine: Engine,
    pub directory: Directory,
    child: Child,
    /// The server itself, not `tare run`.
    pub pid: u32,
}

/// The command line that starts a server of this version in this directory.
pub fn command_line(version: Version, directory: &Path) -> Vec<String> {
    let text = script(&["command", version.name(), &directory.to_string_lossy()]);
    text.lines().map(str::to_owned).collect()
}

/// A new data directory in this directory.
pub fn create_data_directory(version: Version, directory: &Path) {
    script(&["data", version.name(), &directory.to_string_lossy()]);
}

/// `tare run` with this build's library and a cache of its own.
pub fn tare_run(directory: &Directory, command: &[String]) -> Command {
    let mut run = directory.tare(["run", "--library"]);
    run.arg(library()).args(["--require", "--"]).args(command);
    run
}

impl Server {
    /// Starts a server on a new data directory.
    pub fn start(version: Version, engine: Engine, options: &[&str]) -> Self {
        let directory = Directory::new(version.name());
        create_data_directory(version, directory.path());
        Self::start_in(directory, version, engine, options)
    }

    /// Starts a server on the data directory in `directory`.
    pub fn start_in(
        directory: Directory,
        version: Version,
        engine: Engine,
        options: &[&str],
    ) -> Self {
        let socket = directory.path().join("mysql.sock");
        let pid_file = directory.path().join("pid");
        // A killed server leaves both files.
        let _ = std::fs::remove_file(&socket);
        let _ = std::fs::remove_file(&pid_file);
        let mut line = command_line(version, directory.path());
        line.extend(options.iter().map(|&option| option.to_owned()));
        let mut command = match engine {
            Engine::Tare => tare_run(&directory, &line),
            Engine::Sampled(rule) => {
                let mut run = directory.tare(["run", "--sampling", rule, "--library"]);
                run.arg(library()).args(["--require", "--"]).args(&line);
                run
            }
            Engine::Stock | Engine::StockDefaults => {
                let mut command = Command::new(&line[0]);
                let settings = match engine {
                    Engine::Stock => EVERYTHING,
                    _ => &["--performance-schema=ON"],
                };
                command
                    .args(&line[1..])
                    .args(settings)
                    .current_dir(directory.path());
                command
            }
        };
        let log = directory.path().join("log");
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .expect("log");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("log"))
            .stderr(file)
            .spawn()
            .expect("the server starts");
        let since = Instant::now();
        let pid = loop {
            let ended = child.try_wait().expect("it is our child");
            let text = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "the server ended: {ended:?}\n{}", text());
            assert!(
                since.elapsed() < HANG_TIMEOUT,
                "the server does not listen:\n{}",
                text()
            );
            let pid = std::fs::read_to_string(&pid_file).ok();
            if let Some(pid) = pid.and_then(|text| text.trim().parse().ok())
                && socket.exists()
            {
                break pid;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        let server = Self {
            version,
            engine,
            directory,
            child,
            pid,
        };
        if engine == Engine::Tare {
            server.tare(
                "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'",
            );
            server.tare("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'");
        }
        server
    }

    /// Connects as root.
    pub fn connect(&self) -> Conn {
        self.try_connect().expect("connected")
    }

    /// Connects as root to a server that may have ended.
    pub fn try_connect(&self) -> mysql::Result<Conn> {
        connect(&self.directory.path().join("mysql.sock"))
    }

    /// The rows that `tare sql --pid` prints for a statement, one object each.
    pub fn tare(&self, statement: &str) -> Vec<serde_json::Map<String, Value>> {
        let pid = self.pid.to_string();
        let arguments = ["sql", "--pid", &pid, "--format", "json", "-e", statement];
        let done = finish(&mut self.directory.tare(arguments));
        assert_eq!(done.code, Some(0), "{statement}: {done:?}\n{}", self.log());
        if done.stdout.trim().is_empty() {
            return Vec::new();
        }
        let rows: Value = serde_json::from_str(&done.stdout).expect("JSON");
        let rows = rows.as_array().expect("an array").clone();
        rows.into_iter()
            .map(|row| row.as_object().expect("an object").clone())
            .collect()
    }

    /// The messages of the server and of `tare run`.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    /// Sends a signal to the command that the test started: `tare run`, or the server.
    pub fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// Sends a signal to the server itself.
    pub fn signal_server(&self, signal: Signal) {
        kill(self.pid, signal);
    }

    /// A `tare serve` that is attached to it, with its socket.
    pub fn serve_attached(&self) -> (Process, PathBuf) {
        let socket = self.directory.path().join("served");
        let words = [
            "serve",
            "--skip-networking",
            "--data",
            "served-data",
            "--attach-pid",
        ];
        let mut command = self.directory.tare(words);
        command
            .arg(self.pid.to_string())
            .arg("--socket")
            .arg(&socket);
        let served = Process::start(&mut command);
        wait_for("tare serve", || connect(&socket).ok());
        (served, socket)
    }

    /// Waits for the end of the command.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the server's end", || {
            self.child.try_wait().expect("it is our child")
        })
    }

    /// Shuts it down and returns its directory.
    pub fn stop(mut self) -> Directory {
        self.signal(Signal::TERM);
        let status = self.wait();
        assert!(status.success(), "{status:?}\n{}", self.log());
        self.take_directory()
    }

    /// Takes the directory of a server that has ended.
    pub fn take_directory(&mut self) -> Directory {
        std::mem::replace(&mut self.directory, Directory::new("gone"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            kill(self.pid, Signal::KILL);
            // `tare run` ends after its command.
            let _ = self.child.wait();
        }
    }
}

/// Executes statements that must not fail.
pub fn run(connection: &mut Conn, statements: &[&str]) {
    for statement in statements {
        connection.query_drop(statement).expect(statement);
    }
}

/// A value that `tare sql --format json` prints, as text.
pub fn json_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "NULL".into(),
        other => other.to_string(),
    }
}

/// A value that a server answers, as text.
pub fn value_text(value: &mysql::Value) -> String {
    match value {
        mysql::Value::NULL => "NULL".into(),
        mysql::Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true),
    }
}

/// Sends a signal to a process that may be gone.
pub fn kill(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = kill_process(pid, signal);
    }
}

/// Every instrument and consumer of the server's own engine, with tables large enough for the tests.
const EVERYTHING: &[&str] = &[
    "--loose-performance-schema-max-file-instances=20000",
    "--loose-performance-schema-max-file-handles=20000",
    "--loose-performance-schema-max-table-instances=2000",
    "--loose-performance-schema-max-table-handles=2000",
    "--loose-performance-schema-max-mutex-instances=50000",
    "--loose-performance-schema-max-rwlock-instances=50000",
    "--loose-performance-schema-max-cond-instances=5000",
    "--loose-performance-schema-digests-size=1000",
    "--loose-performance-schema-session-connect-attrs-size=2048",
    "--performance-schema=ON",
    "--performance-schema-instrument=%=ON",
    "--loose-performance-schema-consumer-events-waits-current=ON",
    "--loose-performance-schema-consumer-events-waits-history=ON",
    "--loose-performance-schema-consumer-events-waits-history-long=ON",
    "--loose-performance-schema-consumer-events-stages-current=ON",
    "--loose-performance-schema-consumer-events-stages-history=ON",
    "--loose-performance-schema-consumer-events-statements-current=ON",
    "--loose-performance-schema-consumer-events-statements-history=ON",
    "--loose-performance-schema-consumer-events-statements-history-long=ON",
    "--loose-performance-schema-consumer-events-transactions-current=ON",
    "--loose-performance-schema-consumer-events-transactions-history=ON",
];
