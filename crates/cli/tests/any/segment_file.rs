//! Servers that lose the space for their segment's file go on.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

use mysql::Conn;
use mysql::prelude::Queryable;

use super::client::Client;
use super::postgres::Postgres;
use super::programs::compile;
use super::servers::{Version, command_line, create_data_directory};
use super::support::server::connect;
use super::support::{Directory, Process, TARE, finish, wait_for};
use super::{library, number, rows, servers};

/// What standard error says, once for each process.
const MESSAGE: &str = "its file system is full, or the file was changed; recording ends\n";

/// Shortens a segment while its server records. The server is not told.
fn shorten(segment: &Path, bytes: u64) {
    let file = OpenOptions::new()
        .write(true)
        .open(segment)
        .expect("a segment");
    file.set_len(bytes).expect("shortened");
}

#[test]
fn a_program_goes_on_and_handles_signals_as_without_tare() {
    let directory = Directory::new("bus");
    let program = compile(&directory, "bus.c", "bus", &[]);
    let unchanged = finish(Command::new(&program).current_dir(directory.path()));
    assert_eq!(unchanged.code, Some(0), "{unchanged:?}");
    for arguments in [&["--segment", "segment"][..], &[]] {
        let mut run = directory.tare(["run", "--library"]);
        run.arg(library()).args(arguments).arg("--").arg(&program);
        let is_shortened = arguments.len() > 1;
        let finished = finish(run.args(is_shortened.then_some("segment")));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(finished.stdout, unchanged.stdout);
        let messages = finished.stderr.matches(MESSAGE).count();
        assert_eq!(messages, usize::from(is_shortened), "{finished:?}");
    }
}

/// `tare run`, which this script starts, with its segment in the directory `small`. In a mount namespace of its own,
/// every user may mount a file system there.
fn run_in_small(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount"])
        .args(["sh", "-c", script, "sh", TARE])
        .args(["run", "--segment", "small/segment", "--library"])
        .arg(library());
    command
}

#[test]
fn a_program_starts_without_tare_if_its_segments_file_gets_no_space() {
    let directory = Directory::new("nospace");
    std::fs::create_dir(directory.path().join("small")).expect("made");
    // From no page on, so that the file gets full at each step of the start.
    let script = "for pages in 0 1 2 3 4 6 8 16; do \
                    mount -t tmpfs -o size=1m none small && dd if=/dev/zero of=small/left bs=4k count=$pages && \
                    dd if=/dev/zero of=small/full bs=4k; rm small/left; \
                    \"$@\" || echo \"failed: $pages\"; ls small; umount small; \
                  done 2>> log";
    let mut command = run_in_small(script);
    command
        .args(["--", "echo", "started"])
        .current_dir(directory.path());
    let finished = finish(&mut command);
    assert_eq!(finished.stdout, "started\nfull\n".repeat(8), "{finished:?}");
    let log = std::fs::read_to_string(directory.path().join("log")).expect("a log");
    assert_eq!(log.matches("echo runs without Tare").count(), 8, "{log}");
}

#[test]
fn redis_on_a_full_file_system_goes_on() {
    const CLIENTS: usize = 100;
    let directory = Directory::new("full");
    std::fs::create_dir(directory.path().join("small")).expect("made");
    let script = "mount -t tmpfs -o size=1m none small && exec \"$@\"";
    let mut command = run_in_small(script);
    command
        .args([
            "--",
            "redis-server",
            "--port",
            "0",
            "--unixsocket",
            "socket",
            "--save",
            "",
        ])
        .current_dir(directory.path());
    let log = directory.path().join("log");
    let file = File::create(&log).expect("a log");
    let _run = Process::start_on(command.stderr(file), Stdio::null());
    let socket = directory.path().join("socket");
    let connect = || std::os::unix::net::UnixStream::connect(&socket).ok();
    let mut first = Client::new(wait_for("Redis to listen", connect));
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        clients.push(Client::new(connect().expect("connected")));
        for (at, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.call("PING").text(), "PONG", "client {at}");
        }
        let info = first.call("INFO clients").text();
        assert!(
            info.contains(&format!("connected_clients:{}\r", client + 2)),
            "{info}"
        );
    }
    let text = std::fs::read_to_string(&log).expect("a log");
    assert_eq!(text.matches(MESSAGE).count(), 1, "{text}");
}

#[test]
fn mysql_5_7_without_its_segments_file_goes_on() {
    check_server(Version::Mysql57, 0);
}

#[test]
fn mysql_9_7_with_the_start_of_its_segments_file_goes_on() {
    check_server(Version::Mysql97, 1 << 20);
}

#[test]
fn mariadb_with_the_start_of_its_segments_file_goes_on() {
    check_server(Version::Mariadb, 1 << 20);
}

fn check_server(version: Version, length: u64) {
    if version.is_left_out() {
        return;
    }
    let directory = Directory::new(version.name());
    create_data_directory(version, directory.path());
    let line = command_line(version, directory.path());
    let mut run = directory.tare(["run", "--require", "--segment", "segment", "--library"]);
    run.arg(servers::library()).arg("--").args(line);
    let log = directory.path().join("log");
    let file = File::create(&log).expect("a log");
    let mut run = Process::start_on(run.stderr(file), Stdio::null());
    let socket = directory.path().join("mysql.sock");
    let mut first = wait_for("the server to listen", || connect(&socket).ok());
    let work = |conn: &mut Conn| {
        for statement in [
            "CREATE DATABASE IF NOT EXISTS test",
            "CREATE TABLE IF NOT EXISTS test.t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
            "REPLACE INTO test.t VALUES (1, 2), (2, 3)",
            "UPDATE test.t SET b = b + 1",
        ] {
            conn.query_drop(statement).expect(statement);
        }
        let sum: Option<u64> = conn
            .query_first("SELECT SUM(b) FROM test.t")
            .expect("a sum");
        assert_eq!(sum, Some(7), "{version}");
    };
    work(&mut first);
    let digests = "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest";
    assert!(number(&rows(&directory, &["--segment", "segment"], digests)[0]) >= 4);
    shorten(&directory.path().join("segment"), length);
    for _ in 0..20 {
        work(&mut first);
        work(&mut connect(&socket).expect("connected"));
    }
    first.query_drop("SHUTDOWN").expect("shut down");
    let text = || std::fs::read_to_string(&log).expect("a log");
    assert_eq!(run.wait().code(), Some(0), "{version}: {}", text());
    assert_eq!(text().matches(MESSAGE).count(), 1, "{version}: {}", text());
}

#[test]
fn postgresql_without_its_segments_file_goes_on() {
    let server = Postgres::start(&[]);
    let query = |sql: &str| {
        let finished = finish(&mut server.psql(sql));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stdout.trim().to_owned()
    };
    query("CREATE TABLE t AS SELECT 1 AS a");
    shorten(&server.directory.path().join("segment"), 0);
    for n in 1..20 {
        query("INSERT INTO t VALUES (1)");
        assert_eq!(query("SELECT sum(a) FROM t"), (n + 1).to_string());
    }
    let log = std::fs::read_to_string(server.directory.path().join("log")).expect("a log");
    assert!(log.contains(MESSAGE), "{log}");
    assert!(!log.contains("was terminated by signal"), "{log}");
}
