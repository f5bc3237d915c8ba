//! Child processes: each has its own process group and ends when its value is dropped.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tare_client::secrets::SECRETS;

use crate::error::CellError;

/// The time that a server has to stop after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// The length of the end of a log that errors carry.
const LOG_TAIL_BYTES: usize = 4_000;

/// A running process.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    log: PathBuf,
    ended: bool,
}

impl Child {
    /// Starts a command. Its outputs go to `log`; standard output goes to `output` if that is given.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn start(
        mut command: Command,
        log: &Path,
        output: Option<&Path>,
    ) -> Result<Self, CellError> {
        let program = command.get_program().to_string_lossy().into_owned();
        for secret in SECRETS {
            command.env_remove(secret);
        }
        let open = |path: &Path| File::options().create(true).append(true).open(path);
        let files = || -> io::Result<(File, File)> {
            let errors = open(log)?;
            let output = match output {
                Some(path) => File::create(path)?,
                None => errors.try_clone()?,
            };
            Ok((errors, output))
        };
        let (errors, output) = files().map_err(CellError::at(log.display()))?;
        let process = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // Ctrl-C on the terminal reaches only this process, which stops its children in order.
            .process_group(0)
            .spawn()
            .map_err(CellError::at(format!("cannot start {program}")))?;
        Ok(Self {
            process,
            log: log.to_owned(),
            ended: false,
        })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether the process has ended. It stays a zombie, which /proc describes, until [`Child::reap`].
    pub fn has_ended(&mut self) -> bool {
        if !self.ended {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let pid = Pid::from_child(&self.process);
            self.ended = !matches!(waitid(WaitId::Pid(pid), options), Ok(None));
        }
        self.ended
    }

    /// Waits for the process and returns its exit status.
    ///
    /// # Errors
    /// waitpid(2) fails.
    pub fn reap(&mut self) -> Result<ExitStatus, CellError> {
        self.ended = true;
        self.process
            .wait()
            .map_err(CellError::at("cannot wait for a process"))
    }

    /// The end of the log.
    pub fn log(&self) -> String {
        log_tail(&self.log)
    }

    /// Sends SIGTERM, waits, and finally kills the process group.
    pub fn stop(&mut self) {
        let group = Pid::from_child(&self.process);
        let reaped = matches!(self.process.try_wait(), Ok(Some(_)) | Err(_));
        if !reaped {
            let pid = Pid::from_child(&self.process);
            let _ = rustix::process::kill_process(pid, Signal::TERM);
            let start = Instant::now();
            while start.elapsed() < STOP_TIMEOUT && matches!(self.process.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        // Its own children are in its group and may outlive it.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.process.wait();
        self.ended = true;
    }

    /// Sends a signal to the process group.
    ///
    /// # Errors
    /// The group does not exist any more.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process_group(Pid::from_child(&self.process), signal)?)
    }

    /// Kills the process group at once; for processes without state.
    pub fn kill(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
        self.ended = true;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The last few lines of a file.
pub fn log_tail(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let end = &bytes[bytes.len().saturating_sub(LOG_TAIL_BYTES)..];
    String::from_utf8_lossy(end).trim().to_owned()
}

/// Describes an exit status.
pub fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
