//! Starts the system's MariaDB on a new directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{Process, SOCKET};
use super::support::Directory;

/// The program, in /usr/sbin if it is there, which may not be in PATH.
fn program(name: &str) -> PathBuf {
    let sbin = Path::new("/usr/sbin").join(name);
    if sbin.exists() { sbin } else { name.into() }
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find(|l| l.starts_with("Uid:"));
    uid.is_some_and(|l| l.split_whitespace().nth(2) == Some("0"))
}

/// Starts the server.
pub fn start() -> Process {
    let directory = Directory::new();
    let data = format!("--datadir={}", directory.path().join("data").display());
    let socket = directory.path().join(SOCKET);
    let user: &[&str] = if is_root() { &["--user=root"] } else { &[] };
    let installed = Command::new("mariadb-install-db")
        .args(["--no-defaults", &data])
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .args(user)
        .output()
        .unwrap_or_else(|e| panic!("mariadb-install-db: {e}; run `make deps`"));
    assert!(installed.status.success(), "{installed:?}");
    let mut command = Command::new(program("mariadbd"));
    command
        .args(["--no-defaults", &data])
        .arg(format!("--socket={}", socket.display()))
        .args([
            "--skip-networking",
            "--performance-schema=ON",
            "--character-set-server=utf8mb4",
        ])
        .args(user);
    Process::start(directory, &mut command)
}
