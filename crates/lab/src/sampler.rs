//! Samples during a load: context switches of threads that may end, and memory over time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cell::Memory;
use crate::proc;

/// The sampling interval, unless sampling takes long.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(500);

/// Sampling takes at most one part in this many.
const MAX_SHARE_DIVISOR: u32 = 100;

/// A thread that samples the server and the load generator.
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Samples>,
}

/// The samples.
#[derive(Debug, Default)]
pub struct Samples {
    /// The server's memory over time.
    pub memory: Vec<Memory>,
    /// The server's voluntary and involuntary context switches since the start.
    pub server: (u64, u64),
    /// The generator's context switches.
    pub generator: (u64, u64),
}

impl Sampler {
    /// Starts the thread.
    pub fn start(server: Option<u32>, generator: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || sample_until(server, generator, &stop_flag));
        Self { stop, thread }
    }

    /// Takes the last sample and ends the thread.
    pub fn stop(self) -> Samples {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_default()
    }
}

/// The first and the last reading of each thread's context switches.
#[derive(Default)]
pub struct Threads(BTreeMap<u32, (Switches, Switches)>);

/// Voluntary and involuntary context switches.
pub type Switches = (u64, u64);

impl Threads {
    /// Samples a process; switches before the `first` sample do not count.
    pub fn sample(&mut self, pid: u32, first: bool) {
        for (task, now) in proc::switches(pid) {
            // A later thread began at zero.
            let start = if first { now } else { (0, 0) };
            self.0.entry(task).or_insert((start, now)).1 = now;
        }
    }

    /// The switches since the first sample.
    pub fn sum(&self) -> (u64, u64) {
        self.0.values().fold((0, 0), |sum, (from, to)| {
            (
                sum.0 + to.0.saturating_sub(from.0),
                sum.1 + to.1.saturating_sub(from.1),
            )
        })
    }
}

fn sample_until(server: Option<u32>, generator: u32, stop: &AtomicBool) -> Samples {
    let start = Instant::now();
    let mut samples = Samples::default();
    let (mut of_server, mut of_generator) = (Threads::default(), Threads::default());
    let mut first = true;
    loop {
        let last = stop.load(Ordering::Relaxed);
        let began = Instant::now();
        if let Some(pid) = server {
            of_server.sample(pid, first);
            if let Some(stat) = proc::stat(pid) {
                samples.memory.push(Memory {
                    second: start.elapsed().as_secs_f64(),
                    virtual_kib: stat.virtual_kib,
                    resident_kib: stat.resident_kib,
                });
            }
        }
        of_generator.sample(generator, false);
        first = false;
        if last {
            break;
        }
        let period = SAMPLING_INTERVAL.max(began.elapsed() * MAX_SHARE_DIVISOR);
        std::thread::park_timeout(period);
    }
    samples.server = of_server.sum();
    samples.generator = of_generator.sum();
    samples
}
