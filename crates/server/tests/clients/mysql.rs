//! MySQL's `mysql`, which comes with the 9.7 server.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::support::{Directory, PASSWORD, Running};
use super::{output, root};

/// The program; `None` where 9.7 does not run. The last line of the test run then says so.
fn program() -> Option<PathBuf> {
    let left_out = std::env::var("TARE_LEFT_OUT").unwrap_or_default();
    if left_out.split_whitespace().any(|name| name == "9.7") {
        return None;
    }
    let mut servers = Command::new(root().join("scripts/servers"));
    let path = output(servers.args(["client", "9.7"]).stderr(Stdio::inherit()));
    Some(path.trim_end().into())
}

fn by_socket(program: &PathBuf, running: &Running) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--no-defaults")
        .arg(format!("--socket={}", running.socket().display()))
        .arg("--user=root");
    command
}

#[test]
fn mysql_runs_statements_and_draws_tables() {
    let Some(program) = program() else { return };
    for running in [Running::start(), Running::pool()] {
        let sql = "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'x', u BIGINT UNSIGNED);
            INSERT INTO t (name, u) VALUES ('it''s', 18446744073709551615), ('b', NULL);
            SELECT * FROM t;";
        let text = output(by_socket(&program, &running).args(["test", "-t", "-e", sql]));
        let expected = "\
+----+------+----------------------+
| id | name | u                    |
+----+------+----------------------+
|  1 | it's | 18446744073709551615 |
|  2 | b    |                 NULL |
+----+------+----------------------+
";
        assert_eq!(text, expected);
    }
}

#[test]
fn mysql_prints_columns_warnings_and_its_status() {
    let Some(program) = program() else { return };
    let running = Running::start();
    for (arguments, expected) in [
        (
            &["-t", "--column-type-info", "-e", "SELECT 1 AS a"][..],
            &["Field   1:  `a`", "LONGLONG"][..],
        ),
        (
            &["-t", "--show-warnings", "-e", "FLUSH PRIVILEGES"],
            &["Warning", "Code 1681"],
        ),
        (
            &["--commands", "-e", "status"],
            &["Server version:", "9.7.4-tare", "utf8mb4"],
        ),
        (
            &["--vertical", "-e", "SELECT 1 AS a, NULL AS b"],
            &["*** 1. row ***", "a: 1", "b: NULL"],
        ),
        (
            &["--xml", "-e", "SELECT '<' AS a"],
            &["<field name=\"a\">&lt;</field>"],
        ),
        (
            &["performance_schema", "-e", "SHOW TABLES LIKE 'setup%'"],
            &["setup_consumers", "setup_meters"],
        ),
    ] {
        let text = output(by_socket(&program, &running).args(arguments));
        for expected in expected {
            assert!(text.contains(expected), "{arguments:?}: {text}");
        }
    }
}

/// Scripts from stdin: delimiters, comments, and what follows an error.
#[test]
fn mysql_reads_scripts() {
    let Some(program) = program() else { return };
    let running = Running::start();
    let directory = Directory::new();
    let script = directory.path().join("made.sql");
    let text = "-- a comment\nCREATE TABLE test.made (id INT PRIMARY KEY);\nDELIMITER //\n\
        INSERT INTO test.made VALUES (1), (2)//\nDELIMITER ;\n/*!80000 INSERT INTO test.made VALUES (3) */;\n\
        SELECT SUM(id) AS s FROM test.made;\n";
    std::fs::write(&script, text).expect("written");
    let file = File::open(&script).expect("opened");
    let text = output(by_socket(&program, &running).arg("-N").stdin(file));
    assert_eq!(text, "6\n");
    let failed = by_socket(&program, &running)
        .args(["-e", "SELECT nothing FROM test.made; SELECT 1"])
        .output()
        .expect("it ran");
    assert!(!failed.status.success() && failed.stdout.is_empty());
    let message = String::from_utf8_lossy(&failed.stderr);
    assert!(message.contains("ERROR 1054 (42S22)"), "{message}");
}

#[test]
fn mysql_logs_in_by_tcp_with_tls() {
    let Some(program) = program() else { return };
    let running = Running::start();
    let text = output(
        Command::new(program)
            .arg("--no-defaults")
            .args(["--protocol=TCP", "--host=127.0.0.1", "--user=root"])
            .arg(format!("--port={}", running.port()))
            .arg(format!("--password={PASSWORD}"))
            .args(["-N", "-e", "SHOW STATUS LIKE 'Ssl_cipher'"])
            .stderr(Stdio::null()),
    );
    let cipher = text.split_whitespace().nth(1).unwrap_or_default();
    assert!(!cipher.is_empty(), "{text}");
}
