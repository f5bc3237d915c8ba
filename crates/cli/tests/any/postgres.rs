//! PostgreSQL under `tare run`: a process for each connection.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use super::support::{Directory, Process, finish, signal, wait_for};
use super::{execute, library, number, rows, tls};

/// It does not run as root: nobody's ids.
pub const USER: u32 = 65_534;

/// The newest PostgreSQL of Debian on this machine.
pub fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("postgresql is installed");
    let versions = versions.map(|version| version.expect("readable").path());
    versions.max().expect("a version").join("bin")
}

/// A program of the server: that of another release, if `PATH` has one, or else [`programs`]'.
fn server_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut there = std::env::split_paths(&path).map(|directory| directory.join(name));
    there
        .find(|program| program.exists())
        .unwrap_or_else(|| programs().join(name))
}

pub struct Postgres {
    pub directory: Directory,
    /// `None`: clients come through the Unix socket, without TLS.
    pub port: Option<u16>,
    _run: Process,
}

/// A command of PostgreSQL, as a user that may run it.
fn command(directory: &Path, port: Option<u16>, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).env("PGHOST", directory);
    if let Some(port) = port {
        command.env("PGHOST", "127.0.0.1");
        command.env("PGPORT", port.to_string());
        command.env("PGSSLMODE", "require");
        // Where libpq looks for the client's certificate.
        command.env("HOME", directory);
    }
    command
        .env("PGDATABASE", "postgres")
        .env("PGUSER", "postgres");
    if rustix::process::getuid().is_root() {
        command.uid(USER).gid(USER);
    }
    command
}

impl Postgres {
    /// Starts it with these settings.
    pub fn start(settings: &[&str]) -> Self {
        Self::start_on(None, settings)
    }

    /// Starts it with these settings and TLS.
    pub fn start_tls(settings: &[&str]) -> Self {
        let port = tls::free_port();
        let tls = [
            "ssl=on",
            "ssl_cert_file=../cert.pem",
            "ssl_key_file=../key.pem",
            "listen_addresses=127.0.0.1",
            &format!("port={port}"),
        ];
        Self::start_on(Some(port), &[&tls, settings].concat())
    }

    fn start_on(port: Option<u16>, settings: &[&str]) -> Self {
        let directory = Directory::new("postgres");
        let path = directory.path().to_owned();
        if port.is_some() {
            tls::create_certificate(&path);
        }
        if rustix::process::getuid().is_root() {
            let key = port.map(|_| path.join("key.pem"));
            for path in key.iter().chain([&path]) {
                chown(path, Some(USER), Some(USER)).expect("root may");
            }
        }
        let mut initdb = command(&path, None, server_program("initdb"));
        let finished = finish(initdb.args(["-D", "data", "-U", "postgres", "-A", "trust", "-N"]));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        // PostgreSQL counts from here on, as Tare does.
        _ = std::fs::remove_file(path.join("data/pg_stat/pgstat.stat"));
        let log = std::fs::File::create(path.join("log")).expect("a log");
        let mut run = command(&path, port, super::support::TARE);
        run.args(["run", "--segment", "segment", "--library"])
            .arg(library())
            .arg("--")
            .arg(server_program("postgres"))
            .args([
                "-D",
                "data",
                "-c",
                "listen_addresses=",
                "-c",
                "wal_recycle=off",
                "-k",
            ])
            .arg(&path)
            .args(settings.iter().flat_map(|setting| ["-c", *setting]));
        let run = Process::start_on(run.stderr(log), Stdio::null());
        let server = Self {
            directory,
            port,
            _run: run,
        };
        server.wait_until_it_answers();
        server
    }

    fn wait_until_it_answers(&self) {
        wait_for("PostgreSQL to answer", || {
            (finish(self.psql("SELECT 1").stderr(Stdio::null())).code == Some(0)).then_some(())
        });
    }

    /// A program of PostgreSQL's clients.
    fn command(&self, program: &str) -> Command {
        command(self.directory.path(), self.port, programs().join(program))
    }

    pub fn psql(&self, sql: &str) -> Command {
        let mut psql = self.interactive_psql();
        psql.args(["-c", sql]);
        psql
    }

    /// psql, which reads statements from its standard input.
    pub fn interactive_psql(&self) -> Command {
        let mut psql = self.command("psql");
        psql.args(["-X", "-At", "-F", " "]);
        psql
    }

    /// What a statement prints.
    pub fn query(&self, sql: &str) -> String {
        let finished = finish(&mut self.psql(sql));
        assert_eq!(finished.code, Some(0), "{sql}: {finished:?}");
        finished.stdout
    }

    /// The numbers of the only row.
    pub fn numbers(&self, sql: &str) -> Vec<u64> {
        let output = self.query(sql);
        let numbers = output.split_whitespace();
        numbers
            .map(|text| text.parse().expect("a number"))
            .collect()
    }

    /// The writes and syncs of the write-ahead log that PostgreSQL counts, and the syncs' time in milliseconds.
    pub fn wal(&self) -> [f64; 3] {
        let sql = match self.numbers("SHOW server_version_num")[0] {
            ..180_000 => "SELECT wal_write, wal_sync, wal_sync_time FROM pg_stat_wal",
            _ => {
                "SELECT SUM(writes), SUM(fsyncs), SUM(fsync_time) FROM pg_stat_io \
                 WHERE object = 'wal' AND context = 'normal'"
            }
        };
        let row = self.query(sql);
        let mut values = row
            .split_whitespace()
            .map(|text| text.parse().expect("a number"));
        [(); 3].map(|()| values.next().expect("three values"))
    }

    /// Creates a table of 100 rows, and the script of [`Self::pgbench`], which changes one of them.
    pub fn create_table(&self) {
        self.query("CREATE TABLE t AS SELECT id, 0 AS n FROM generate_series(1, 100) AS id");
        let script = "\\set id random(1, 100)\nUPDATE t SET n = n + 1 WHERE id = :id;\n";
        std::fs::write(self.directory.path().join("script"), script).expect("written");
    }

    pub fn pgbench(&self, options: &[&str]) {
        self.ordinary_pgbench(&[&["-f", "script"], options].concat());
    }

    /// pgbench with its own script, or these options' one.
    pub fn ordinary_pgbench(&self, options: &[&str]) {
        let mut pgbench = self.command("pgbench");
        let finished = finish(pgbench.arg("-n").args(options));
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }

    /// Rows of `tare sql`.
    pub fn rows(&self, sql: &str) -> Vec<Json> {
        rows(&self.directory, &["--segment", "segment"], sql)
    }

    /// Runs a statement without rows by `tare sql`.
    pub fn execute(&self, sql: &str) {
        execute(&self.directory, &["--segment", "segment"], sql);
    }

    fn wal_writes(&self) -> u64 {
        let sql = "SELECT SUM(COUNT_WRITE) FROM performance_schema.file_summary_by_instance \
                   WHERE FILE_NAME LIKE '%/pg_wal/%'";
        number(&self.rows(sql)[0])
    }

    /// The threads' processes.
    fn processes(&self) -> Vec<u64> {
        let rows = self.rows("SELECT THREAD_OS_ID AS id FROM performance_schema.threads");
        let id = |row: &Json| row["id"].as_u64().expect("a process");
        rows.iter().map(id).collect()
    }
}

#[test]
fn what_postgresql_counts_is_counted_through_crashes_of_its_processes() {
    let server = Postgres::start(&[]);
    server.create_table();
    server.pgbench(&["-c", "4", "-t", "200"]);
    // A process for each transaction.
    server.pgbench(&["-c", "2", "-t", "20", "-C"]);
    // A process of PostgreSQL publishes within a second what it has counted.
    let mut counts = (0, 0);
    wait_for("equal numbers of writes", || {
        let writes = server.wal()[0] as u64;
        let recorded = server.wal_writes();
        assert!(counts.1 <= recorded, "{counts:?}, {recorded}");
        counts = (recorded, writes);
        (recorded == writes && writes > 400).then_some(())
    });

    let mut sleeper = server.psql("SELECT pg_sleep(1000)");
    let mut sleeper = Process::start_on(sleeper.stderr(Stdio::null()), Stdio::null());
    let sleeping = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
    let pid = wait_for("the sleeping backend", || server.numbers(sleeping).pop());
    assert!(server.processes().contains(&pid));
    // PostgreSQL ends all of its processes but the first, and starts again.
    signal(pid as u32, "KILL");
    assert!(!sleeper.wait().success());
    server.wait_until_it_answers();
    let before = server.wal_writes();
    server.pgbench(&["-c", "4", "-t", "50"]);
    assert!(server.wal_writes() >= before + 50);
    wait_for("the slots of the dead to be used again", || {
        server.pgbench(&["-c", "1", "-t", "20", "-C"]);
        (!server.processes().contains(&pid)).then_some(())
    });
    let lost = "SELECT COUNT(*) FROM performance_schema.global_status WHERE VARIABLE_VALUE <> '0' AND \
                (VARIABLE_NAME LIKE 'Performance_schema%lost' OR VARIABLE_NAME = 'Tare_forks')";
    assert_eq!(number(&server.rows(lost)[0]), 0);
}
