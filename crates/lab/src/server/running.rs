//! A server that answers.

use std::process::{Command, Stdio};

use tare_client::Address;
use tare_client::secrets::SECRETS;

use crate::cell::Cpu;
use crate::child::{self, Child};
use crate::connection::Connection;
use crate::error::CellError;
use crate::proc;

/// A server that answers.
pub struct RunningServer {
    child: Option<Child>,
    /// The server's process; `None` if it is on another machine.
    pub pid: Option<u32>,
    /// The connection to its Performance Schema.
    pub connection: Connection,
    /// The segment of Tare's engine, until it replaces `connection`.
    pub(super) segment: Option<Connection>,
    /// The address for loads.
    pub address: Address,
    /// Whether the server may have child processes, whose CPU counts.
    pub(super) has_children: bool,
}

impl RunningServer {
    pub(super) fn new(
        child: Option<Child>,
        pid: Option<u32>,
        connection: Connection,
        address: Address,
    ) -> Self {
        Self {
            child,
            pid,
            connection,
            segment: None,
            address,
            has_children: false,
        }
    }

    /// The CPU that the server has used. `None`: it is on another machine, or has ended.
    pub fn cpu(&self) -> Option<Cpu> {
        let pid = self.pid?;
        match self.has_children {
            true => proc::cpu_of_tree(pid),
            false => proc::cpu(pid),
        }
    }

    /// No server: the load is what is measured.
    pub(crate) fn without_server() -> Self {
        Self::new(None, None, Connection::Absent, Address::default())
    }

    /// Checks that the server has not ended.
    ///
    /// # Errors
    /// The exit status, and the log.
    pub fn check_alive(&mut self) -> Result<(), CellError> {
        let Some(child) = self.child.as_mut() else {
            return Ok(());
        };
        if !child.has_ended() {
            return Ok(());
        }
        let how = child
            .reap()
            .map_or_else(|error| error.to_string(), child::ended);
        let log = child.log();
        Err(CellError::Failed {
            reason: format!(
                "the server {how} while it was measured: {}",
                last_line(&log)
            ),
            log,
        })
    }

    /// Fills `{socket}`, `{port}` and `{pid}` in a command of the user.
    pub fn fill_placeholders(&self, command: &str) -> String {
        let socket = self.address.socket.as_ref();
        let socket = socket.map(|socket| socket.display().to_string());
        (command.replace("{socket}", &socket.unwrap_or_default()))
            .replace("{port}", &self.address.port.unwrap_or(0).to_string())
            .replace("{pid}", &self.pid.unwrap_or(0).to_string())
    }

    /// Runs a shell command of the user, with its placeholders filled in.
    ///
    /// # Errors
    /// The command fails, or there is no shell.
    pub fn shell(&self, command: &str) -> Result<(), CellError> {
        let command = self.fill_placeholders(command);
        let mut shell = Command::new("sh");
        for secret in SECRETS {
            shell.env_remove(secret);
        }
        let ended = (shell.args(["-c", &command]).stdin(Stdio::null()).output())
            .map_err(CellError::at("cannot start sh"))?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(CellError::failed(format!("'{command}' failed"))
                .with_log(String::from_utf8_lossy(&ended.stderr).into_owned())),
        }
    }

    /// The end of the server's log.
    pub fn log(&self) -> String {
        self.child.as_ref().map(Child::log).unwrap_or_default()
    }

    /// Stops the server; its data stays.
    pub fn stop(mut self) {
        // Close our connection first, because servers wait for it.
        self.connection = Connection::Absent;
        if let Some(child) = &mut self.child {
            child.stop();
        }
    }
}

/// The most informative line of a log: the last error with a number, the last error, or the last line.
pub fn last_line(log: &str) -> String {
    let telling = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        lower.contains("error") || lower.contains("fatal") || lower.contains("tare:")
    };
    // "error 1040: Too many connections" is the cause of later errors.
    let numbered = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        let after = lower
            .find("error ")
            .and_then(|at| lower.as_bytes().get(at + 6).copied());
        after.is_some_and(|byte| byte.is_ascii_digit())
    };
    let lines = || log.lines().rev().filter(|line| !line.trim().is_empty());
    let line = lines()
        .find(numbered)
        .or_else(|| lines().find(telling))
        .or_else(|| lines().next());
    line.unwrap_or("its log is empty").trim().to_owned()
}
