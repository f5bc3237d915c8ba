//! A connection to the server of a segment, which its process listens for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ps::process;
use crate::sql::{SqlSession, Target};

/// Connects to the server of a segment by its socket or port, because shared memory takes no statements.
pub fn connect_to_listener(pid: u32, timeout: Duration) -> Result<SqlSession, String> {
    let (ports, sockets) = process::listeners(pid);
    // Without the socket of the X protocol.
    let sockets = sockets.iter().filter(|path| !path.contains("mysqlx"));
    let targets = sockets.map(|path| Target::local(Some(reachable_path(pid, path)), None));
    let targets = targets.chain(ports.iter().map(|port| Target::local(None, Some(*port))));
    let mut why = format!("process {pid} listens nowhere: it takes no statements");
    for target in targets {
        match SqlSession::open_with_timeout(&target, timeout) {
            Ok(session) => return Ok(session),
            Err(failure) => {
                why = format!(
                    "{}; user and password are taken from ~/.my.cnf, or watch it with --dsn",
                    failure.message
                );
            }
        }
    }
    Err(why)
}

/// The path of a socket of a process with another root or working directory.
fn reachable_path(pid: u32, path: &str) -> PathBuf {
    let proc_path = |place: &str| PathBuf::from(format!("/proc/{pid}/{place}"));
    let path = Path::new(path);
    match path.strip_prefix("/") {
        Ok(_) if path.exists() => path.to_owned(),
        Ok(below) => proc_path("root").join(below),
        Err(_) => proc_path("cwd").join(path),
    }
}
