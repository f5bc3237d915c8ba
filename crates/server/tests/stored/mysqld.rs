//! A MySQL 8.0.15 of scripts/servers on a new directory.

use std::path::Path;
use std::process::Command;

use super::process::Process;
use super::support::Directory;

fn script(arguments: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/servers");
    let done = Command::new(path)
        .args(arguments)
        .output()
        .expect("scripts/servers runs");
    assert!(
        done.status.success(),
        "scripts/servers {arguments:?}: {done:?}"
    );
    String::from_utf8(done.stdout).expect("text")
}

/// Starts the server. It does not sync: its data is deleted anyway.
pub fn start(version: &str, options: &[&str]) -> Process {
    let directory = Directory::new();
    let path = directory.path().to_str().expect("a path").to_owned();
    script(&["data", version, &path]);
    let line = script(&["command", version, &path]);
    let mut line = line.lines();
    let mut command = Command::new(line.next().expect("a program"));
    command
        .args(line)
        .args([
            "--skip-log-bin",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-doublewrite=0",
            "--innodb-flush-method=nosync",
            "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_general_ci",
        ])
        .args(options)
        .current_dir(&path);
    Process::start(directory, &mut command)
}
