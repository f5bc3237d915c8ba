//! Loads: started against a server, sampled until they end, and their reports.

mod command;
pub mod counted;
mod idle;
pub mod locks;
pub mod output;
pub mod rate;
pub mod sysbench;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cell::{Cpu, Latency, Resident};
use crate::child::{self, Child};
use crate::error::CellError;
use crate::interrupt::Interrupt;
use crate::matrix::Parts;
use crate::proc;
use crate::recipe::{Data, From, Load};
use crate::sampler::{Sampler, Samples};
use crate::server::namespace::{NEEDED, Namespace};
use crate::server::{Binaries, RunningServer, last_line, preload};

/// One run of a load.
pub struct Drive<'a> {
    /// The programs that a run starts.
    pub binaries: &'a Binaries,
    /// The server, configuration and workload.
    pub parts: Parts<'a>,
    /// The number of connections.
    pub connections: u32,
    /// The duration in seconds.
    pub seconds: u32,
    /// The rate in transactions per second; `None` for as many as possible.
    pub rate: Option<f64>,
    /// The size of the tables.
    pub data: &'a Data,
    /// The network namespace of the load, if it has one.
    pub namespace: Option<&'a Namespace>,
    /// The directory for scripts, logs and files with passwords.
    pub directory: &'a Path,
    /// The flag of signals.
    pub interrupt: &'a Interrupt,
}

/// The report of a load.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// The duration in seconds.
    pub seconds: f64,
    /// Transactions.
    pub transactions: f64,
    /// Queries; 0 when the load does not count them.
    pub queries: f64,
    /// Errors that the load ignored.
    pub errors: u64,
    /// Throughput in each second.
    pub each_second: Vec<f64>,
    /// How long transactions took.
    pub latency: Option<Latency>,
    /// The number that a command printed, or the fairness of a lock.
    pub figure: Option<f64>,
    /// The server's memory, for load idle.
    pub resident: Option<Resident>,
    /// The load generator's CPU.
    pub generator: Cpu,
    /// Samples that were taken while the load ran.
    pub samples: Samples,
}

impl Drive<'_> {
    /// Runs the load to its end.
    ///
    /// # Errors
    /// The load fails or does not end, or the server ends.
    pub fn run(&self, running: &mut RunningServer) -> Result<LoadReport, CellError> {
        let command = match self.parts.workload.load {
            Load::Idle => return idle::run(self, running),
            Load::Sysbench => sysbench::run(self, &running.address)?,
            Load::Command => command::run(self, running),
            Load::Locks => self.locks(),
        };
        let (seconds, output, generator, samples) = self.watch(command, running)?;
        let mut driven = match self.parts.workload.load {
            Load::Sysbench => output::parse_sysbench(&output),
            Load::Command => command::parse_figure(self.parts.workload, &output, seconds),
            Load::Locks => locks::parse(&output),
            Load::Idle => Err("is none".to_owned()),
        }
        .map_err(|what| CellError::Failed {
            reason: format!("the load generator {what}"),
            log: output,
        })?;
        if driven.seconds == 0.0 {
            driven.seconds = seconds;
        }
        driven.generator = generator;
        driven.samples = samples;
        Ok(driven)
    }

    /// Fills in the placeholders of a cell.
    pub(crate) fn fill(&self, text: &str, running: Option<&RunningServer>) -> String {
        let mut text = text
            .replace("{connections}", &self.connections.to_string())
            .replace("{seconds}", &self.seconds.to_string());
        if let Some(running) = running {
            let socket = running.address.socket.as_ref();
            let socket = socket
                .map(|socket| socket.display().to_string())
                .unwrap_or_default();
            text = text
                .replace("{socket}", &socket)
                .replace("{port}", &running.address.port.unwrap_or(0).to_string())
                .replace("{pid}", &running.pid.unwrap_or(0).to_string());
        }
        text
    }

    /// The options of the workload and of the configuration.
    pub(crate) fn options(&self) -> impl Iterator<Item = String> {
        let Parts {
            workload,
            configuration,
            ..
        } = self.parts;
        let options = workload.options.iter().chain(&configuration.load_options);
        options.map(|option| self.fill(option, None))
    }

    /// The command of a program, in the namespace if the load runs there.
    pub(crate) fn program(&self, name: &str) -> Result<Command, CellError> {
        match (self.parts.workload.from, self.namespace) {
            (From::Namespace, Some(namespace)) => {
                let prefix = namespace.prefix();
                let mut command = Command::new(prefix[0]);
                command.args(&prefix[1..]).arg(name);
                Ok(command)
            }
            (From::Namespace, None) => Err(CellError::Skipped(NEEDED.into())),
            _ => Ok(Command::new(name)),
        }
    }

    /// Preloads the generator's allocator.
    fn set_preload(&self, command: &mut Command) -> Result<(), CellError> {
        if let Some(name) = &self.parts.configuration.generator_preload
            && let Some(library) = preload::library(name, self.binaries)?
        {
            command.env("LD_PRELOAD", library);
        }
        Ok(())
    }

    fn locks(&self) -> Command {
        let mut command = Command::new(&self.binaries.tare);
        let (threads, seconds) = (self.connections, self.seconds);
        command.args([
            locks::COMMAND,
            &format!("--threads={threads}"),
            &format!("--seconds={seconds}"),
        ]);
        command.args(self.options());
        command
    }

    /// Runs a command to its end. Returns its duration, output, CPU and samples.
    fn watch(
        &self,
        mut command: Command,
        running: &mut RunningServer,
    ) -> Result<(f64, String, Cpu, Samples), CellError> {
        self.set_preload(&mut command)?;
        let (log, output) = (
            self.directory.join("load.log"),
            self.directory.join("load.out"),
        );
        let _ = std::fs::remove_file(&log);
        let start = Instant::now();
        let mut child = Child::start(command, &log, Some(&output))?;
        let sampler = Sampler::start(running.pid, child.id());
        // Threads have to connect first, and to finish their last transactions.
        let timeout = Duration::from_secs(u64::from(self.seconds) * 2 + 180);
        let ended = self.interrupt.wait(timeout, || {
            running.check_alive()?;
            Ok(child.has_ended().then_some(()))
        });
        let seconds = start.elapsed().as_secs_f64();
        let cpu = proc::cpu_with_children(child.id()).unwrap_or_default();
        let samples = sampler.stop();
        let text = read_output(&output);
        match ended {
            Ok(Some(())) => {}
            Ok(None) => {
                child.kill();
                let how = format!("did not end within {} s", timeout.as_secs());
                return Err(failed(&how, &text, &child));
            }
            Err(error) => {
                child.kill();
                return Err(error.with_log(running.log()));
            }
        }
        let status = child.reap()?;
        if !status.success() {
            // If the server died, that is the reason, since its clients fail with it.
            std::thread::sleep(Duration::from_millis(100));
            running.check_alive()?;
            return Err(failed(&child::ended(status), &text, &child));
        }
        Ok((seconds, text, cpu, samples))
    }
}

/// The output of a load.
fn read_output(output: &Path) -> String {
    let text = std::fs::read(output).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// The error of a load that failed, with the most informative line of its output.
fn failed(how: &str, output: &str, child: &Child) -> CellError {
    let log = format!("{output}\n{}", child.log());
    let reason = format!("the load generator {how}: {}", last_line(&log));
    CellError::Failed { reason, log }
}
