//! The result of one cell in one repetition.

use serde::{Deserialize, Serialize};

use crate::counters::Counts;
use crate::events::Event;
use crate::matrix::Cell;
use crate::recipe::Measure;

/// A cell and its outcome; stored as one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Result {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The outcome of a cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Outcome {
    /// The cell was measured.
    Done(Box<Measurement>),
    /// The measurement failed.
    Failed {
        /// The reason.
        reason: String,
    },
    /// The cell cannot be measured on this machine.
    Skipped {
        /// The reason.
        reason: String,
    },
}

impl Outcome {
    /// The figures of a cell that was measured.
    pub fn measured(&self) -> Option<&Measurement> {
        match self {
            Self::Done(measured) => Some(measured),
            Self::Failed { .. } | Self::Skipped { .. } => None,
        }
    }
}

/// The figures of a cell.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// The measured seconds.
    pub seconds: f64,
    /// Transactions in the measured time.
    pub transactions: f64,
    /// Queries in the measured time; 0 if the load does not count them.
    pub queries: f64,
    /// Errors that the load ignored.
    pub errors: u64,
    /// Throughput in each second.
    pub each_second: Vec<f64>,
    /// The latency of transactions.
    pub latency: Option<Latency>,
    /// The server's CPU.
    pub server: Option<Cpu>,
    /// The load generator's CPU.
    pub generator: Cpu,
    /// The machine's CPU in percent of all processors.
    pub machine: MachineCpu,
    /// Context switches.
    pub switches: Switches,
    /// The server's memory, over time.
    pub memory: Vec<Memory>,
    /// The number that a command printed, or the fairness of a lock.
    pub figure: Option<f64>,
    /// The requested rate in transactions per second.
    pub rate: Option<f64>,
    /// The events that the Performance Schema collected.
    pub events: Vec<Event>,
    /// The processor's counters of the server, where the machine has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The unmeasured milliseconds of load before each turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_ms: Option<f64>,
    /// The server's memory with and without idle connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<Resident>,
    /// The server's answers to the recipe's questions.
    #[serde(rename = "asked", default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// The turns, if the cell was measured by turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// An answer to one of the recipe's questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question's title.
    pub title: String,
    /// The rows; NULL is `None`.
    pub rows: Vec<crate::connection::Row>,
}

/// Resident memory in KiB, at the start and for each idle connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Resident {
    /// The server's process when it first answers.
    pub start: f64,
    /// The increase for each idle connection.
    pub connection: f64,
    /// Tare's segment, if the process has one.
    pub segment_start: Option<f64>,
    /// The segment's increase for each idle connection.
    pub segment_connection: Option<f64>,
}

impl Resident {
    /// The value of a measure.
    fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::MemoryStart => Some(self.start),
            Measure::MemoryConnection => Some(self.connection),
            Measure::SegmentStart => self.segment_start,
            Measure::SegmentConnection => self.segment_connection,
            _ => None,
        }
    }
}

/// One turn of a load.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Turn {
    /// The measured seconds.
    pub seconds: f64,
    /// Transactions that ended in the turn.
    pub transactions: f64,
    /// CPU seconds of the server.
    pub server: f64,
    /// CPU seconds of the load generator.
    pub generator: f64,
    /// The mean latency of these transactions.
    pub latency_mean_ms: f64,
    /// The duration of the probe just before the turn in nanoseconds; a busy neighbour increases it.
    #[serde(default)]
    pub probe_ns: f64,
    /// The processor's counters of the server, where the machine has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl Turn {
    /// The value of a measure; `None` for measures that need more than a turn.
    fn value(&self, measure: Measure) -> Option<f64> {
        let transactions = (self.transactions > 0.0).then_some(self.transactions)?;
        match measure {
            Measure::Throughput => Some(transactions / self.seconds),
            Measure::ServerCpu => Some(self.server / transactions * 1e6),
            Measure::GeneratorCpu => Some(self.generator / transactions * 1e6),
            Measure::LatencyMean => Some(self.latency_mean_ms),
            Measure::Instructions | Measure::Cycles | Measure::CacheMisses | Measure::TlbMisses => {
                Some(self.counts?.value(measure)? / transactions)
            }
            Measure::Latency95
            | Measure::Latency99
            | Measure::Figure
            | Measure::MemoryStart
            | Measure::MemoryConnection
            | Measure::SegmentStart
            | Measure::SegmentConnection => None,
        }
    }
}

/// Latency in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Latency {
    /// The mean.
    pub mean_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Transactions by latency: a bucket's value and its count.
    pub histogram: Vec<(f64, u64)>,
}

/// CPU seconds of one process.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Cpu {
    /// User and system time.
    pub seconds: f64,
    /// User time.
    pub user: f64,
    /// System time.
    pub system: f64,
}

/// Percent of all CPUs' time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct MachineCpu {
    /// User time.
    pub user: f64,
    /// System time, interrupts included.
    pub system: f64,
    /// Idle time, waiting for disks included.
    pub idle: f64,
    /// Time that other guests of the host used.
    pub stolen: f64,
}

/// Context switches in the measured time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Switches {
    /// Context switches of the machine.
    pub machine: u64,
    /// Voluntary switches of the server's threads.
    pub server_voluntary: u64,
    /// Involuntary switches of the server's threads.
    pub server_involuntary: u64,
    /// All switches of the load generator's threads.
    pub generator: u64,
}

/// A process's memory at one moment.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Seconds since the measured time began.
    pub second: f64,
    /// Mapped KiB.
    pub virtual_kib: u64,
    /// Resident KiB.
    pub resident_kib: u64,
}

impl Counts {
    fn value(self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Instructions => Some(self.instructions),
            Measure::Cycles => Some(self.cycles),
            Measure::CacheMisses => Some(self.cache_misses),
            Measure::TlbMisses => Some(self.tlb_misses),
            _ => None,
        }
        // A machine without the counter counts zero.
        .filter(|count| *count > 0.0)
    }
}

impl Measurement {
    /// The value of a measure, where the cell has it.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        if let Some(resident) = &self.resident {
            return resident.value(measure);
        }
        let transactions = (self.transactions > 0.0).then_some(self.transactions)?;
        let latency = self.latency.as_ref();
        match measure {
            Measure::Throughput => Some(transactions / self.seconds),
            Measure::ServerCpu => Some(self.server?.seconds / transactions * 1e6),
            Measure::GeneratorCpu => Some(self.generator.seconds / transactions * 1e6),
            Measure::LatencyMean => latency.map(|latency| latency.mean_ms),
            Measure::Latency95 => latency.map(|latency| latency.p95_ms),
            Measure::Latency99 => latency.map(|latency| latency.p99_ms),
            Measure::Figure => self.figure,
            Measure::Instructions | Measure::Cycles | Measure::CacheMisses | Measure::TlbMisses => {
                Some(self.counts?.value(measure)? / transactions)
            }
            Measure::MemoryStart
            | Measure::MemoryConnection
            | Measure::SegmentStart
            | Measure::SegmentConnection => None,
        }
    }

    /// The values that are compared: of each turn (from 1), or of the complete cell (turn 0).
    pub fn by_turns(&self, measure: Measure) -> Vec<(u32, f64)> {
        let turns: Vec<(u32, f64)> = (1..)
            .zip(&self.turns)
            .filter_map(|(number, turn)| Some((number, turn.value(measure)?)))
            .collect();
        match turns.is_empty() {
            true => self
                .value(measure)
                .map(|value| (0, value))
                .into_iter()
                .collect(),
            false => turns,
        }
    }

    /// Statements of the load; of a load that counts none, its transactions.
    pub fn statements(&self) -> f64 {
        match self.queries {
            0.0 => self.transactions,
            queries => queries,
        }
    }
}
