//! Sidecars: programs that run while one configuration of a server is measured, and are stopped while another
//! one is.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::child::{self, Child};
use crate::error::CellError;
use crate::recipe::Configuration;
use crate::server::{RunningServer, last_line};

/// The time that the programs run before they are first stopped, in which they connect to their server.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// The programs of the configurations of one process, by configuration.
#[derive(Default)]
pub(super) struct Sidecars(BTreeMap<String, Vec<Program>>);

struct Program {
    command: String,
    child: Child,
}

impl Drop for Program {
    fn drop(&mut self) {
        // A stopped process ignores SIGTERM.
        self.child.kill();
    }
}

impl Sidecars {
    /// Starts the programs, and stops them. `tare` is this program; `directory` is for their files.
    pub(super) fn start(
        running: &RunningServer,
        configurations: &[&Configuration],
        tare: &Path,
        directory: &Path,
    ) -> Result<Self, CellError> {
        let mut all = Self::default();
        for configuration in configurations {
            for command in &configuration.sidecars {
                let number = all.0.values().map(Vec::len).sum::<usize>();
                let own = directory.join(format!("beside{number}"));
                std::fs::create_dir_all(&own).map_err(CellError::at(own.display()))?;
                let filled = running
                    .fill_placeholders(command)
                    .replace("{tare}", &tare.display().to_string())
                    .replace("{directory}", &own.display().to_string());
                let mut shell = Command::new("sh");
                shell.args(["-c", &filled]);
                let child = Child::start(shell, &own.join("log"), None)?;
                let programs = all.0.entry(configuration.name.clone()).or_default();
                programs.push(Program {
                    command: filled,
                    child,
                });
            }
        }
        if !all.0.is_empty() {
            std::thread::sleep(SETTLE_TIME);
        }
        (all.0.values_mut().flatten()).try_for_each(Program::pause)?;
        Ok(all)
    }

    /// Resumes the programs of a configuration and stops the others.
    pub(super) fn switch_to(&mut self, name: &str) -> Result<(), CellError> {
        for (of, programs) in &mut self.0 {
            for program in programs {
                match of == name {
                    true => program.resume()?,
                    false => program.pause()?,
                }
            }
        }
        Ok(())
    }
}

impl Program {
    fn pause(&mut self) -> Result<(), CellError> {
        self.send_signal(Signal::STOP)
    }

    fn resume(&mut self) -> Result<(), CellError> {
        self.send_signal(Signal::CONT)
    }

    fn send_signal(&mut self, signal: Signal) -> Result<(), CellError> {
        let command = &self.command;
        if self.child.has_ended() {
            let how = child::ended(self.child.reap()?);
            let log = self.child.log();
            let reason = format!("'{command}', beside the server, {how}: {}", last_line(&log));
            return Err(CellError::Failed { reason, log });
        }
        self.child
            .signal(signal)
            .map_err(|error| CellError::failed(format!("cannot signal '{command}': {error}")))
    }
}

#[cfg(test)]
mod tests {
    use tare_reader::process::{Stat, stat_line};

    use super::*;
    use crate::recipe::Recipe;

    /// The state of a process in /proc (R, S, T and so on); `None` if it does not exist.
    fn state(pid: &str) -> Option<char> {
        let line = stat_line(pid.parse().ok()?).ok()?;
        Stat::parse(&line)?.state()
    }

    #[track_caller]
    fn wait_for(what: &str, condition: impl Fn() -> bool) {
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        while !condition() {
            assert!(std::time::Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn programs_run_only_in_their_own_configuration_and_end_with_it() {
        let recipe = Recipe::find("watch").expect("shipped");
        let mut configurations = recipe.configurations.clone();
        configurations.truncate(3);
        for (configuration, name) in configurations.iter_mut().zip(["alone", "one", "other"]) {
            configuration.name = name.to_owned();
            configuration.sidecars = match name {
                "alone" => Vec::new(),
                // `exec` makes it one process: a shell that waits uninterruptibly for a stopped child
                // is not in state T.
                _ => vec![format!("echo $$ > {{directory}}/{name}; exec sleep 600")],
            };
        }
        let directory = std::env::temp_dir().join(format!("tare-beside-{}", std::process::id()));
        let all: Vec<&Configuration> = configurations.iter().collect();
        let tare = Path::new("tare");
        let mut sidecars =
            Sidecars::start(&RunningServer::without_server(), &all, tare, &directory)
                .expect("started");
        let pid = |number: usize, name: &str| {
            let path = directory.join(format!("beside{number}")).join(name);
            std::fs::read_to_string(path)
                .expect("a pid")
                .trim()
                .to_owned()
        };
        let (one, other) = (pid(0, "one"), pid(1, "other"));
        let is_stopped = |pid: &str| state(pid) == Some('T');
        wait_for("both stand still", || {
            is_stopped(&one) && is_stopped(&other)
        });
        for (to, expected) in [
            ("one", (false, true)),
            ("other", (true, false)),
            ("alone", (true, true)),
        ] {
            sidecars.switch_to(to).expect(to);
            wait_for(to, || (is_stopped(&one), is_stopped(&other)) == expected);
        }
        drop(sidecars);
        assert_eq!((state(&one), state(&other)), (None, None));
        let _ = std::fs::remove_dir_all(&directory);
    }
}
