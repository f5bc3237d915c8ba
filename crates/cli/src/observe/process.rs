//! The process behind what is asked, when it runs on this machine.

use std::fs;
use std::path::Path;

use tare_client::process;

use super::{Observed, Product, Trouble};

impl Observed {
    /// Its process id; a sentence when it cannot be told.
    pub fn process(&mut self) -> Result<Result<u32, String>, Trouble> {
        if self.about.product == Product::Tare {
            return Ok(self
                .about
                .pid
                .filter(|pid| runs(*pid))
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
            .filter(|pid| runs(*pid))
            .ok_or_else(|| format!("its pid file {file} names no process of this machine")))
    }
}

fn runs(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/stat")).exists()
}
