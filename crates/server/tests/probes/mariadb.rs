//! Starts the system's MariaDB on a new directory.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::support::Directory;

pub struct Server {
    process: Child,
    socket: PathBuf,
    _directory: Directory,
}

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

impl Server {
    /// Starts the server and waits until it accepts connections.
    pub fn start() -> Self {
        let directory = Directory::new();
        let data = directory.path().join("data");
        let socket = directory.path().join("maria.sock");
        let user: &[&str] = if is_root() { &["--user=root"] } else { &[] };
        let installed = Command::new("mariadb-install-db")
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            .args(user)
            .output()
            .unwrap_or_else(|e| panic!("mariadb-install-db: {e}; run `make deps`"));
        assert!(installed.status.success(), "{installed:?}");
        let process = Command::new(program("mariadbd"))
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", socket.display()))
            .args([
                "--skip-networking",
                "--performance-schema=ON",
                "--character-set-server=utf8mb4",
            ])
            .args(user)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(directory.path().join("log")).expect("a log"))
            .spawn()
            .unwrap_or_else(|e| panic!("mariadbd: {e}; run `make deps`"));
        let mut server = Self {
            process,
            socket,
            _directory: directory,
        };
        server.wait();
        server
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(300);
        while std::os::unix::net::UnixStream::connect(&self.socket).is_err() {
            let ended = self.process.try_wait().expect("its state");
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "MariaDB did not start ({ended:?}): {}",
                std::fs::read_to_string(self._directory.path().join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
