//! The machine that is measured on, and its noise.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::counters;
use crate::proc;
use crate::stats::median;

/// The description of the machine in reports.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The model of the processor.
    pub processor: String,
    /// The number of processors.
    pub cpus: usize,
    /// MiB of memory.
    pub memory_mib: u64,
    /// The kernel's version.
    pub kernel: String,
    /// The kernel's clock source.
    pub clock_source: String,
    /// The cost of a clock read in nanoseconds.
    pub clock_ns: f64,
    /// Whether it is a virtual machine.
    pub guest: bool,
    /// The load average of the last minute when the run began.
    pub load: f64,
    /// The noise test.
    pub noise: Noise,
    /// The load generator's version.
    pub sysbench: String,
    /// Why the machine has no hardware counters; `None` where it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_counters: Option<String>,
    /// The time when the run began, in UTC.
    pub started: String,
}

/// The variation of the duration of equal work.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Noise {
    /// The 95th percentile above the median in percent.
    pub p95_percent: f64,
    /// The maximum above the median in percent.
    pub worst_percent: f64,
}

/// The duration of the noise test.
const NOISE_TEST_TIME: Duration = Duration::from_millis(400);

impl Machine {
    /// Describes this machine; takes half a second.
    pub fn detect() -> Self {
        let read = |path: &str| {
            fs::read_to_string(path)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let cpuinfo = read("/proc/cpuinfo");
        let value = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key));
            line.and_then(|line| line.split_once(':'))
                .map(|(_, value)| value.trim().to_owned())
        };
        let memory = value(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kib: u64 = memory
            .split_whitespace()
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or(0);
        let sysbench = std::process::Command::new("sysbench")
            .arg("--version")
            .output();
        Self {
            processor: value(&cpuinfo, "model name").unwrap_or_else(|| "unknown".into()),
            cpus: proc::processors(),
            memory_mib: kib / 1024,
            kernel: read("/proc/sys/kernel/osrelease"),
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_ns: measure_clock_ns(),
            guest: value(&cpuinfo, "flags").is_some_and(|flags| flags.contains("hypervisor")),
            load: read("/proc/loadavg")
                .split_whitespace()
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0.0),
            noise: measure_noise(),
            sysbench: sysbench.map_or_else(
                |_| "not installed".into(),
                |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            ),
            no_counters: counters::unavailable_reason(),
            started: now(),
        }
    }

    /// The description in one line.
    pub fn words(&self) -> String {
        let guest = if self.guest { ", virtual" } else { "" };
        let counters = match &self.no_counters {
            None => String::new(),
            Some(why) => format!(", no processor counters ({why})"),
        };
        format!(
            "{} x {}{guest}, {} MiB, Linux {}, clock {} ({:.0} ns), noise {:.1} % (1 in 20), {:.1} % (worst), load {:.2} at the start{counters}",
            self.cpus,
            self.processor,
            self.memory_mib,
            self.kernel,
            self.clock_source,
            self.clock_ns,
            self.noise.p95_percent,
            self.noise.worst_percent,
            self.load
        )
    }
}

fn measure_clock_ns() -> f64 {
    const READS: u32 = 20_000;
    let start = Instant::now();
    for _ in 0..READS {
        black_box(Instant::now());
    }
    start.elapsed().as_nanos() as f64 / f64::from(READS)
}

fn measure_noise() -> Noise {
    let piece = || {
        let start = Instant::now();
        for turn in 0..200_000u64 {
            black_box(turn);
        }
        start.elapsed().as_nanos() as f64
    };
    let start = Instant::now();
    let mut pieces = Vec::new();
    while start.elapsed() < NOISE_TEST_TIME || pieces.len() < 20 {
        pieces.push(piece());
    }
    pieces.sort_by(f64::total_cmp);
    let median = median(&pieces);
    let more = |value: f64| 100.0 * (value / median - 1.0);
    Noise {
        p95_percent: more(pieces[pieces.len() * 95 / 100]),
        worst_percent: more(pieces[pieces.len() - 1]),
    }
}

/// The time in UTC, as `2026-11-21 14:03:05`.
pub fn now() -> String {
    date(jiff::Timestamp::now())
}

fn date(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted_in_utc() {
        let utc = |seconds| date(jiff::Timestamp::from_second(seconds).expect("in range"));
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(utc(1_795_269_785), "2026-11-21 14:03:05");
    }

    #[test]
    fn this_machine_is_described() {
        let machine = Machine::detect();
        assert!(machine.cpus > 0 && machine.memory_mib > 0 && machine.clock_ns > 0.0);
        assert!(!machine.kernel.is_empty() && !machine.words().contains('\n'));
        assert!(machine.noise.worst_percent >= machine.noise.p95_percent);
    }
}
