//! Support for tests: a temporary directory, and a run with known costs.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::path::{Path, PathBuf};

use fastrand::Rng;
use tare_lab::cell::{self, Cpu, Latency, MachineCpu, Measurement, Memory, Outcome};
use tare_lab::events::Event;
use tare_lab::recipe::Recipe;
use tare_lab::store::Plan;

/// A directory that is removed when the value is dropped.
pub struct Directory(PathBuf);

impl Directory {
    /// Creates an empty directory.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!(
            "tare-lab-{}-{test}-{:x}",
            std::process::id(),
            fastrand::u32(..)
        ));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The configurations of [`run`], and their CPU relative to the baseline.
pub const COSTS: [(&str, f64); 4] = [
    ("baseline", 1.0),
    ("disabled", 1.0),
    ("off", 1.05),
    ("timed", 1.2),
];

/// The throughput by connections, with all three phases.
pub const CURVE: [(u32, f64); 6] = [
    (1, 800.0),
    (4, 2600.0),
    (8, 5080.0),
    (16, 5040.0),
    (64, 4100.0),
    (256, 1700.0),
];

const RECIPE: &str = "\
question = 'What does <each> configuration cost?'
reference = 'overhead-tuning-2011'
baseline = 'baseline'
measure = 'server_cpu'
connections = [1, 4, 8, 16, 64, 256]
[run]
repetitions = 7
[[server]]
name = 'one & only'
kind = 'tare'
[[configuration]]
name = 'baseline'
[[configuration]]
name = 'disabled'
[[configuration]]
name = 'off'
[[configuration]]
name = 'timed'
[[workload]]
name = 'read-only'
script = 'oltp_read_only'
";

/// A plan and its results: noise of half a percent, a drift that is common to a repetition, known
/// costs. The configuration `off` is unstable at 256 connections, and one cell failed.
pub fn run() -> (Plan, Vec<cell::Result>) {
    let recipe = Recipe::parse("test", RECIPE).expect("right");
    let mut rng = Rng::with_seed(5);
    let plan = Plan::new("test", recipe, 42);
    let results = plan.cells.iter().map(|cell| {
        let (key, drift) = (&cell.key, 1.0 + 0.02 * f64::from(cell.repetition));
        let cost = COSTS
            .iter()
            .find(|(name, _)| *name == key.configuration)
            .expect("known")
            .1;
        let level = CURVE
            .iter()
            .find(|(connections, _)| *connections == key.connections)
            .expect("known")
            .1;
        let mut noise = 1.0 + 0.01 * (rng.f64() - 0.5);
        if key.configuration == "off" && key.connections == 256 {
            noise *= 1.0 + 0.8 * f64::from(cell.repetition % 2);
        }
        let outcome = match (key.configuration.as_str(), key.connections, cell.repetition) {
            ("timed", 64, 3) => Outcome::Failed {
                reason: "the server was killed by signal 9".into(),
            },
            _ => Outcome::Done(Box::new(measured(
                level / cost / drift * noise,
                cost * drift * noise,
            ))),
        };
        cell::Result {
            cell: cell.clone(),
            outcome,
        }
    });
    let results = results.collect();
    (plan, results)
}

fn measured(throughput: f64, cpu: f64) -> Measurement {
    let (seconds, transactions) = (10.0, throughput * 10.0);
    let used = transactions * 300e-6 * cpu;
    Measurement {
        seconds,
        transactions,
        queries: transactions * 16.0,
        each_second: vec![throughput; 10],
        latency: Some(Latency {
            mean_ms: 1e3 / throughput,
            p95_ms: 2e3 / throughput,
            p99_ms: 3e3 / throughput,
            max_ms: 9e3 / throughput,
            histogram: vec![(0.5, 100), (1.0, 700), (2.0, 200)],
        }),
        server: Some(Cpu {
            seconds: used,
            user: used * 0.7,
            system: used * 0.3,
        }),
        generator: Cpu {
            seconds: used / 3.0,
            user: used / 4.0,
            system: used / 12.0,
        },
        machine: MachineCpu {
            user: 60.0,
            system: 30.0,
            idle: 10.0,
            stolen: 0.0,
        },
        memory: vec![
            Memory {
                second: 0.0,
                virtual_kib: 100_000,
                resident_kib: 20_000,
            },
            Memory {
                second: 9.9,
                virtual_kib: 100_000,
                resident_kib: 30_000,
            },
        ],
        events: vec![Event {
            kind: "wait".into(),
            name: "wait/synch/mutex/sql/LOCK_open".into(),
            count: (transactions * 59.0) as u64,
            sum_ps: 1_000_000,
        }],
        ..Measurement::default()
    }
}
