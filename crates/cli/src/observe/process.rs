//! The process of an observed server, if it runs on this machine.

use std::fs;
use std::path::Path;

use tare_client::process;

use super::{ObservedServer, Product, QueryError};

impl ObservedServer {
    /// Its process id, or a sentence that says why it is not known.
    pub fn find_process(&mut self) -> Result<Result<u32, String>, QueryError> {
        if self.about.product == Product::Tare {
            return Ok(self
                .about
                .pid
                .filter(|pid| process::is_running(*pid))
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
            .filter(|pid| process::is_running(*pid))
            .ok_or_else(|| format!("its pid file {file} names no process of this machine")))
    }
}
