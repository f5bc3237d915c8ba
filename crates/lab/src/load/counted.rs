//! A load that is stopped except in its turns. lua/counted.lua describes the file through which it is
//! counted.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::output::{self, percentile};
use super::{Drive, LoadReport, sysbench};
use crate::cell::{Cpu, Latency};
use crate::child::{self, Child};
use crate::counters::{self, Counters};
use crate::error::CellError;
use crate::interrupt::Interrupt;
use crate::probe;
use crate::proc::{self, Machine};
use crate::recipe::Load;
use crate::server::RunningServer;

const SCRIPT: &str = include_str!("../../lua/counted.lua");

/// Bytes of the file's header and of each thread's counts.
const LINE_BYTES: usize = 64;

/// Buckets of the latency histogram.
const BUCKETS: usize = 864;

/// Buckets between one power of two of microseconds and the next.
const BUCKETS_PER_OCTAVE: f64 = 32.0;

/// Words of the header.
const MEASURING: u64 = 0;
const STILL: u64 = 1;
const ENDING: u64 = 2;
const PAUSE: u64 = 3;

/// The unmeasured time at the start of a turn, in which the caches fill.
pub const LEAD: Duration = Duration::from_millis(20);

/// The time that a load has to begin, or to end, its transactions.
const LOAD_TIMEOUT: Duration = Duration::from_secs(180);

/// A load of one server, which is stopped between its turns.
pub struct Counted {
    child: Child,
    file: File,
    threads: usize,
    /// Whether the load is a command of the user.
    own: bool,
    output: PathBuf,
    stopped: Instant,
    still: Duration,
    /// Hardware counters of the server, where the machine has them.
    counters: Option<Counters>,
}

/// Counts of one thread, or sums over all threads.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    events: u64,
    measured: u64,
    ns: u64,
}

/// The figures of one turn.
#[derive(Debug, Default)]
pub struct TurnReading {
    /// The measured duration in seconds.
    pub seconds: f64,
    /// Transactions that ended in the measured time.
    pub transactions: u64,
    /// Transactions from the resumption of the load until it was stopped again.
    pub around: u64,
    /// The mean latency of the transactions in milliseconds.
    pub latency_mean_ms: f64,
    /// The server's CPU.
    pub server: Cpu,
    /// The load generator's CPU.
    pub generator: Cpu,
    /// The machine's time.
    pub machine: Machine,
    /// Hardware counts of the server.
    pub counts: Option<counters::Counts>,
    /// Transactions of the turn by bucket of latency.
    pub latencies: Vec<u64>,
    /// The duration of the probe just before the turn, in nanoseconds.
    pub probe_ns: f64,
}

/// Counters at one moment.
struct Snapshot {
    at: Instant,
    counts: Counts,
    server: Cpu,
    generator: Cpu,
    machine: Machine,
    counted: Option<counters::Counts>,
}

impl Counted {
    /// Starts the load, and stops it once each of its threads has finished a transaction.
    ///
    /// # Errors
    /// The load does not start, or finishes nothing.
    pub fn start(drive: &Drive, running: &mut RunningServer) -> Result<Self, CellError> {
        let path = |name: &str| drive.directory.join(name);
        let (script, counts) = (path("counted.lua"), path("counts"));
        let (log, output) = (path("load.log"), path("load.out"));
        for old in [&counts, &log] {
            let _ = std::fs::remove_file(old);
        }
        std::fs::write(&script, SCRIPT).map_err(CellError::at(script.display()))?;
        let threads = drive.connections as usize;
        let file = (File::options().read(true).write(true))
            .create_new(true)
            .open(&counts)
            .and_then(|file| {
                let words = BUCKETS * 8 * threads;
                file.set_len((LINE_BYTES * (1 + threads) + words) as u64)?;
                Ok(file)
            })
            .map_err(CellError::at(counts.display()))?;
        let own = drive.parts.workload.load == Load::Command;
        let mut command = match own {
            true => super::command::run(drive, running),
            false => {
                let counted = sysbench::script(drive)?;
                let mut command = sysbench::command(drive, &running.address, &script)?;
                command
                    .args(["--time=0", "run"])
                    .env("TARE_COUNTED_SCRIPT", counted);
                command
            }
        };
        command.env("TARE_COUNTED_FILE", counts);
        drive.set_preload(&mut command)?;
        let child = Child::start(command, &log, Some(&output))?;
        let mut load = Self {
            child,
            file,
            threads,
            own,
            output,
            stopped: Instant::now(),
            still: Duration::ZERO,
            counters: None,
        };
        let begun = drive.interrupt.wait(LOAD_TIMEOUT, || {
            load.check_running(running)?;
            let all = load.each().map_err(read_failed)?;
            Ok(all.iter().all(|thread| thread.events > 0).then_some(()))
        })?;
        if begun.is_none() {
            return Err(load.failed(&format!("did nothing within {} s", LOAD_TIMEOUT.as_secs())));
        }
        load.pause();
        // Opened only now, when the server has the threads that serve the load.
        load.counters = running.pid.and_then(|pid| Counters::of(pid).ok());
        Ok(load)
    }

    /// The process id of the load.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Runs the load unmeasured.
    ///
    /// # Errors
    /// The load or its server ends.
    pub fn warm_up(
        &mut self,
        running: &mut RunningServer,
        time: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), CellError> {
        self.resume().map_err(read_failed)?;
        interrupt.wait(time, || self.check_running(running).map(|()| None::<()>))?;
        self.pause();
        wait_until_idle(running);
        Ok(())
    }

    /// Limits the load to a rate in transactions per second.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn pace(&self, rate: f64) -> Result<(), CellError> {
        let pause = 1e9 * self.threads as f64 / rate.max(1e-3);
        self.write_word(PAUSE, pause.max(1.0) as u64)
            .map_err(read_failed)
    }

    /// Runs one turn: an unmeasured lead, then the measured time.
    ///
    /// # Errors
    /// The load or its server ends.
    pub fn run_turn(
        &mut self,
        running: &mut RunningServer,
        lead: Duration,
        time: Duration,
    ) -> Result<TurnReading, CellError> {
        let all = self.counts().map_err(read_failed)?;
        let latencies = self.buckets().map_err(read_failed)?;
        let probe_ns = probe::measure_additions();
        self.resume().map_err(read_failed)?;
        std::thread::sleep(lead);
        let snapshots = self.measure(running, time);
        self.pause();
        self.check_running(running)?;
        let (before, after) = snapshots.map_err(read_failed)?;
        wait_until_idle(running);
        let around = self.counts().map_err(read_failed)?.events - all.events;
        let (from, to) = (before.counts, after.counts);
        let had = latencies.iter();
        let latencies = self.buckets().map_err(read_failed)?;
        let latencies = latencies.iter().zip(had).map(|(now, had)| now - had);
        let measured = (to.measured - from.measured).max(1) as f64;
        Ok(TurnReading {
            seconds: after.at.duration_since(before.at).as_secs_f64(),
            transactions: to.events - from.events,
            around,
            latency_mean_ms: (to.ns - from.ns) as f64 / measured / 1e6,
            server: after.server - before.server,
            generator: after.generator - before.generator,
            machine: after.machine - before.machine,
            counts: after
                .counted
                .zip(before.counted)
                .map(|(after, before)| after - before),
            latencies: latencies.collect(),
            probe_ns,
        })
    }

    /// The server's CPU per transaction in microseconds in each slice after a resumption; `None` for a
    /// slice in which no transaction ended.
    ///
    /// # Errors
    /// The load or its server ends.
    pub fn measure_slices(
        &mut self,
        running: &mut RunningServer,
        slice: Duration,
        count: usize,
    ) -> Result<Vec<Option<f64>>, CellError> {
        let read = |load: &Self, running: &RunningServer| -> io::Result<(u64, f64)> {
            let cpu = running.cpu().unwrap_or_default();
            Ok((load.counts()?.events, cpu.seconds))
        };
        let mut before = read(self, running).map_err(read_failed)?;
        self.resume().map_err(read_failed)?;
        let mut slices = Vec::with_capacity(count);
        for _ in 0..count {
            std::thread::sleep(slice);
            let now = read(self, running).map_err(read_failed)?;
            let events = now.0 - before.0;
            slices.push((events > 0).then(|| (now.1 - before.1) / events as f64 * 1e6));
            before = now;
        }
        self.pause();
        self.check_running(running)?;
        wait_until_idle(running);
        Ok(slices)
    }

    /// Ends the load and returns its report.
    ///
    /// # Errors
    /// The load fails or does not end.
    pub fn end(
        mut self,
        running: &mut RunningServer,
        interrupt: &Interrupt,
    ) -> Result<LoadReport, CellError> {
        self.write_word(ENDING, 1)
            .and_then(|()| self.resume())
            .map_err(read_failed)?;
        let ended = interrupt.wait(LOAD_TIMEOUT, || {
            running.check_alive()?;
            Ok(self.child.has_ended().then_some(()))
        })?;
        if ended.is_none() {
            return Err(self.failed(&format!("did not end within {} s", LOAD_TIMEOUT.as_secs())));
        }
        let status = self.child.reap()?;
        if !status.success() {
            return Err(self.failed(&child::ended(status)));
        }
        let driven = match self.own {
            true => LoadReport {
                transactions: self.counts().map_err(read_failed)?.events as f64,
                ..LoadReport::default()
            },
            false => output::parse_sysbench(&super::read_output(&self.output))
                .map_err(|what| self.failed(&what))?,
        };
        Ok(driven)
    }

    fn measure(
        &mut self,
        running: &RunningServer,
        time: Duration,
    ) -> io::Result<(Snapshot, Snapshot)> {
        self.write_word(MEASURING, 1)?;
        let before = self.read_snapshot(running)?;
        std::thread::sleep(time);
        let after = self.read_snapshot(running)?;
        self.write_word(MEASURING, 0)?;
        Ok((before, after))
    }

    fn read_snapshot(&mut self, running: &RunningServer) -> io::Result<Snapshot> {
        Ok(Snapshot {
            counted: self
                .counters
                .as_mut()
                .and_then(|counters| counters.read().ok()),
            machine: proc::machine(),
            generator: proc::cpu(self.child.id()).unwrap_or_default(),
            server: running.cpu().unwrap_or_default(),
            counts: self.counts()?,
            at: Instant::now(),
        })
    }

    /// Fails if the load or the server has ended.
    fn check_running(&mut self, running: &mut RunningServer) -> Result<(), CellError> {
        running.check_alive()?;
        if !self.child.has_ended() {
            return Ok(());
        }
        let how = (self.child.reap()).map_or_else(|error| error.to_string(), child::ended);
        // If the server died, that is the reason, since its clients fail with it.
        std::thread::sleep(Duration::from_millis(100));
        running.check_alive()?;
        Err(self.failed(&how))
    }

    fn failed(&self, how: &str) -> CellError {
        super::failed(how, &super::read_output(&self.output), &self.child)
    }

    fn resume(&mut self) -> io::Result<()> {
        self.still += self.stopped.elapsed();
        self.write_word(STILL, self.still.as_nanos() as u64)?;
        self.signal(Signal::CONT);
        Ok(())
    }

    fn pause(&mut self) {
        self.signal(Signal::STOP);
        self.stopped = Instant::now();
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            // If the group has ended, `check_running` reports it.
            let _ = kill_process_group(group, signal);
        }
    }

    fn write_word(&self, word: u64, value: u64) -> io::Result<()> {
        self.file.write_all_at(&value.to_ne_bytes(), word * 8)
    }

    fn each(&self) -> io::Result<Vec<Counts>> {
        let mut bytes = vec![0; LINE_BYTES * self.threads];
        self.file.read_exact_at(&mut bytes, LINE_BYTES as u64)?;
        let of_thread = |line: &[u8]| Counts {
            events: number(line, 0),
            measured: number(line, 1),
            ns: number(line, 2),
        };
        Ok(bytes.chunks_exact(LINE_BYTES).map(of_thread).collect())
    }

    fn counts(&self) -> io::Result<Counts> {
        let add = |sum: Counts, one: Counts| Counts {
            events: sum.events + one.events,
            measured: sum.measured + one.measured,
            ns: sum.ns + one.ns,
        };
        Ok(self.each()?.into_iter().fold(Counts::default(), add))
    }

    /// Transactions by latency, of all threads.
    fn buckets(&self) -> io::Result<Vec<u64>> {
        let mut bytes = vec![0; BUCKETS * 8 * self.threads];
        let at = LINE_BYTES * (1 + self.threads);
        self.file.read_exact_at(&mut bytes, at as u64)?;
        let mut sums = vec![0; BUCKETS];
        for own in bytes.chunks_exact(BUCKETS * 8) {
            for (bucket, sum) in sums.iter_mut().enumerate() {
                *sum += number(own, bucket);
            }
        }
        Ok(sums)
    }
}

/// The latency from buckets; `mean_ms` is known more exactly.
pub fn latency(buckets: &[u64], mean_ms: f64) -> Latency {
    let histogram: Vec<(f64, u64)> = (buckets.iter().enumerate())
        .filter(|(_, count)| **count > 0)
        .map(|(bucket, count)| (middle_ms(bucket), *count))
        .collect();
    Latency {
        mean_ms,
        p95_ms: percentile(&histogram, 0.95),
        p99_ms: percentile(&histogram, 0.99),
        max_ms: histogram.last().map_or(0.0, |(value, _)| *value),
        histogram,
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // A stopped process ignores every signal but SIGKILL.
        self.child.kill();
    }
}

fn read_failed(error: io::Error) -> CellError {
    CellError::failed(format!("the load generator's counts: {error}"))
}

fn number(bytes: &[u8], word: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[word * 8..][..8]);
    u64::from_ne_bytes(value)
}

/// The middle of a bucket in milliseconds.
fn middle_ms(bucket: usize) -> f64 {
    ((bucket as f64 + 0.5) / BUCKETS_PER_OCTAVE).exp2() / 1e3
}

/// Waits until the server has finished what it was executing when the load stopped.
fn wait_until_idle(running: &RunningServer) {
    const POLL_INTERVAL: Duration = Duration::from_millis(2);
    const MAX_POLLS: u32 = 100;
    let cpu = || running.cpu().map(|cpu| cpu.seconds);
    let mut before = cpu();
    if before.is_none() {
        return;
    }
    for _ in 0..MAX_POLLS {
        std::thread::sleep(POLL_INTERVAL);
        let now = cpu();
        if now == before {
            return;
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_two_percent_wide_from_a_microsecond_on() {
        assert!((middle_ms(0) * 1e3 - 1.0109).abs() < 1e-3);
        let ratio = middle_ms(101) / middle_ms(100);
        assert!(ratio > 1.02 && ratio < 1.023, "{ratio}");
        assert!(middle_ms(BUCKETS - 1) > 130_000.0);
    }
}
