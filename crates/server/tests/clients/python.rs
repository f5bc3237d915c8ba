//! mysql-connector-python, pure and with its C extension, and mycli.

use std::process::Command;

use super::support::{PASSWORD, Running};
use super::{output, program, root};

#[test]
fn connector_python_works_pure_and_with_its_extension() {
    for running in [Running::start(), Running::pool()] {
        for how in ["pure", "extension"] {
            let mut python = Command::new(root().join("target/venv/bin/python"));
            python
                .arg(program("connector.py"))
                .args([&running.port().to_string(), PASSWORD, how]);
            assert_eq!(output(&mut python), "fine\n", "{how}");
        }
    }
}

#[test]
fn mycli_answers_and_completes() {
    let running = Running::start();
    let mycli = |arguments: &[&str]| {
        let mut command = Command::new(root().join("target/venv/bin/mycli"));
        command
            .env("HOME", running.directory.path())
            .env("XDG_CONFIG_HOME", running.directory.path())
            .args(["-h", "127.0.0.1", "-u", "root", "-D", "test", "-P"])
            .arg(running.port().to_string())
            .arg(format!("-p{PASSWORD}"))
            .args(arguments);
        output(&mut command)
    };
    let text = mycli(&["--csv", "-e", "SELECT 'a' AS x, NULL AS n, 1.50 AS d"]);
    assert!(text.contains("\"a\",\"\",\"1.50\""), "{text}");
    let text = mycli(&[
        "--csv",
        "-e",
        "SHOW TABLES FROM performance_schema LIKE 'threads'",
    ]);
    assert!(text.contains("threads"), "{text}");
    // Its queries at start, for the completion of names and for the status.
    let text = mycli(&["-t", "-e", "\\s"]);
    for line in ["Uptime:", "Connection id:", "Server version:"] {
        assert!(text.contains(line), "{text}");
    }
    let completions = "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.columns \
                       WHERE table_schema = 'performance_schema' ORDER BY table_name, ordinal_position";
    let text = mycli(&["--csv", "-e", completions]);
    assert!(
        text.lines().count() > 1000,
        "{} columns",
        text.lines().count()
    );
}
