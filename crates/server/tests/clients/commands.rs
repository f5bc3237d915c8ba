//! The commands of mariadb-client: admin, show, dump, check.

use std::process::Command;

use super::output;
use super::support::{Running, exec};

fn command(name: &str, running: &Running) -> Command {
    let mut command = Command::new(name);
    command
        .arg("--no-defaults")
        .arg("--user=root")
        .arg(format!("--socket={}", running.socket().display()));
    command
}

fn run(name: &str, running: &Running, arguments: &[&str]) -> String {
    output(command(name, running).args(arguments))
}

#[test]
fn mariadb_admin_runs_its_commands() {
    let running = Running::start();
    let mut client = running.client();
    exec(&mut client, "SELECT 1");
    for (what, expected) in [
        (&["ping"][..], "is alive"),
        (&["status"], "Questions: "),
        (&["extended-status"], "Com_select"),
        (&["variables"], "version_comment"),
        (&["processlist"], "show processlist"),
        (&["version"], "9.7.4"),
        (&["create", "made"], ""),
        (&["--force", "drop", "made"], "dropped"),
        (&["flush-status"], ""),
        (&["flush-hosts"], ""),
        (&["flush-logs"], ""),
        (&["flush-privileges"], ""),
        (&["flush-tables"], ""),
        (&["flush-threads"], ""),
        (&["refresh"], ""),
        (&["reload"], ""),
        (&["debug"], ""),
    ] {
        let text = run("mariadb-admin", &running, what);
        assert!(text.contains(expected), "{what:?}: {text}");
    }
    let id = client.connection_id().to_string();
    run("mariadb-admin", &running, &["kill", &id]);
}

#[test]
fn mariadb_lists_databases_tables_and_keys() {
    let running = Running::start();
    exec(
        &mut running.client(),
        "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9))",
    );
    for (what, expected) in [
        (&[][..], "performance_schema"),
        (&["test"], "| t "),
        (&["test", "t"], "varchar(9)"),
        (&["--keys", "test", "t"], "PRIMARY"),
        (&["--status", "test"], "SQLite"),
        (&["--count", "test"], "| t "),
        (
            &["performance_schema", "threads", "THREAD_ID"],
            "bigint unsigned",
        ),
    ] {
        let text = run("mariadb-show", &running, what);
        assert!(text.contains(expected), "{what:?}: {text}");
    }
}

#[test]
fn a_dump_of_mariadb_dump_can_be_loaded() {
    let running = Running::start();
    let mut client = running.client();
    exec(
        &mut client,
        "CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(20) NOT NULL DEFAULT 'x', \
         n DECIMAL(8,2), d DATETIME, b BLOB, KEY s (s))",
    );
    exec(
        &mut client,
        "INSERT INTO p (s, n, d, b) VALUES ('it''s \\\\ \"q\"', 1.5, '2024-01-02 03:04:05', x'00ff'), ('\u{e9}', NULL, NULL, NULL)",
    );
    exec(&mut client, "CREATE VIEW v AS SELECT id, s FROM p");
    let dump = run(
        "mariadb-dump",
        &running,
        &[
            "--routines",
            "--events",
            "--triggers",
            "--single-transaction",
            "--hex-blob",
            "--databases",
            "test",
        ],
    );
    let file = running.directory.path().join("dump.sql");
    std::fs::write(&file, dump.replace("`test`", "`again`")).expect("written");
    let source = format!("source {}", file.display());
    run("mariadb", &running, &["-e", &source]);
    let rows = |database: &str| {
        let sql =
            format!("SELECT id, s, n, d, HEX(b) FROM {database}.p; SELECT * FROM {database}.v");
        run("mariadb", &running, &["-e", &sql])
    };
    assert_eq!(rows("test"), rows("again"));
    assert!(rows("again").contains("00FF"));
    run("mariadb-dump", &running, &["--all-databases"]);
}

#[test]
fn mariadb_check_finds_nothing_wrong() {
    let running = Running::start();
    exec(&mut running.client(), "CREATE TABLE t (id INT PRIMARY KEY)");
    for what in ["--check", "--analyze", "--optimize"] {
        let text = run("mariadb-check", &running, &[what, "test"]);
        assert!(
            text.contains("test.t") && text.contains("OK"),
            "{what}: {text}"
        );
    }
}
