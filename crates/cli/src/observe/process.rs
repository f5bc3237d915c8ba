//! The process of an observed server, if it runs on this machine.

use std::fs;
use std::path::Path;

use tare_client::process;
use tare_reader::process::is_running;

use super::{ObservedServer, Product, QueryError};

/// The threads of MariaDB's and Percona Server's pool serve sessions in turn.
const POOL: &str = "pool-of-threads";

impl ObservedServer {
    /// The process whose threads the server names for its sessions, or a sentence that says why they are not
    /// known. A stock server with a pool of threads does not name them: its THREAD_OS_ID is that of the thread
    /// on which the session logged in (MariaDB 10.11 and 11.4).
    pub fn find_threads(&mut self) -> Result<Result<u32, String>, QueryError> {
        let process = self.find_process()?;
        if process.is_err() || self.about.product == Product::Tare {
            return Ok(process);
        }
        match self.text("SELECT @@thread_handling") {
            Ok(Some(handling)) if handling == POOL => Ok(Err(format!(
                "with thread_handling={POOL} the server does not say which thread serves a session"
            ))),
            Ok(_) | Err(QueryError::Refused(_)) => Ok(process),
            Err(lost) => Err(lost),
        }
    }

    /// Its process id, or a sentence that says why it is not known.
    pub fn find_process(&mut self) -> Result<Result<u32, String>, QueryError> {
        if self.about.product == Product::Tare {
            return Ok(self
                .about
                .pid
                .filter(|pid| is_running(*pid))
                .ok_or_else(|| "its process does not run on this machine".to_owned()));
        }
        let Ok(Some(dsn)) = self.target.server() else {
            return Ok(Err("its address cannot be parsed".into()));
        };
        let address = &dsn.address;
        if let Some(socket) = &address.socket {
            let pid = process::listener(socket);
            return Ok(pid.ok_or_else(|| "no process was found that listens on its socket".into()));
        }
        if !address.is_local() {
            let host = address.host.as_deref().unwrap_or_default();
            return Ok(Err(format!("the server is on {host}, not on this machine")));
        }
        let file = self.text("SELECT @@pid_file")?.unwrap_or_default();
        let pid = fs::read_to_string(Path::new(&file))
            .ok()
            .and_then(|pid| pid.trim().parse().ok());
        Ok(pid
            .filter(|pid| is_running(*pid))
            .ok_or_else(|| format!("its pid file {file} names no process of this machine")))
    }
}
