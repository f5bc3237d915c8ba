//! A MySQL 8.0.15 of scripts/servers, on a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mysql::{Conn, OptsBuilder};

use super::support::Directory;

pub struct Server {
    process: Child,
    socket: PathBuf,
    _directory: Directory,
}

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

impl Server {
    /// Starts it and waits until it listens. What it writes is lost when the machine fails: it is
    /// thrown away anyway.
    pub fn start(version: &str, options: &[&str]) -> Self {
        let directory = Directory::new();
        let path = directory.path().to_str().expect("a path").to_owned();
        script(&["data", version, &path]);
        let line = script(&["command", version, &path]);
        let mut line = line.lines();
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let process = Command::new(line.next().expect("a program"))
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
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("mysqld starts");
        let mut server = Self {
            process,
            socket: directory.path().join("mysql.sock"),
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
                "MySQL did not start ({ended:?}): {}",
                std::fs::read_to_string(self._directory.path().join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A connection of root's.
    pub fn connect(&self) -> Conn {
        let opts = OptsBuilder::new()
            .socket(self.socket.to_str())
            .user(Some("root"))
            .prefer_socket(false);
        Conn::new(opts).expect("root connects")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
