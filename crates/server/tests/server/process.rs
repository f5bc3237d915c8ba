//! A MySQL or MariaDB server that a test starts.

use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mysql::Conn;

use super::support::{Directory, TIMEOUT, socket_options};

/// The name of the server's socket in its directory.
pub const SOCKET: &str = "mysql.sock";

pub struct Process {
    child: Child,
    directory: Directory,
}

impl Process {
    /// Starts a server on a directory, and waits until it accepts connections.
    pub fn start(directory: Directory, command: &mut Command) -> Self {
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{command:?}: {e}; run `make deps`"));
        let mut process = Self { child, directory };
        process.wait();
        process
    }

    fn wait(&mut self) {
        let path = self.directory.path();
        let deadline = Instant::now() + TIMEOUT;
        while UnixStream::connect(path.join(SOCKET)).is_err() {
            let ended = self.child.try_wait().expect("its state");
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "the server did not start ({ended:?}): {}",
                std::fs::read_to_string(path.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A connection as root.
    pub fn connect(&self) -> Conn {
        let options = socket_options(&self.directory.path().join(SOCKET));
        Conn::new(options).expect("root connects")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
