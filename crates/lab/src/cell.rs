//! What was measured in one cell of one repetition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counters::Counts;
use crate::events::Event;
use crate::matrix::Cell;
use crate::recipe::Measure;

/// A cell with how it went; a file of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Result {
    /// Which.
    #[serde(flatten)]
    pub cell: Cell,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// How a cell went.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Outcome {
    /// It was measured.
    Done(Box<Measurement>),
    /// Something went wrong.
    Failed {
        /// What.
        reason: String,
    },
    /// It cannot be measured here.
    Skipped {
        /// Why.
        reason: String,
    },
}

impl Outcome {
    /// The figures, when there are any.
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
    /// How long the load ran.
    pub seconds: f64,
    /// Transactions in that time.
    pub transactions: f64,
    /// Queries in that time; 0 when the load does not say.
    pub queries: f64,
    /// Errors that the load ignored.
    pub errors: u64,
    /// Throughput in each second.
    pub each_second: Vec<f64>,
    /// How long transactions took.
    pub latency: Option<Latency>,
    /// The server's CPU.
    pub server: Option<Cpu>,
    /// The load generator's.
    pub generator: Cpu,
    /// The machine's, in percent of all CPUs.
    pub machine: MachineCpu,
    /// Context switches.
    pub switches: Switches,
    /// The server's memory, over time.
    pub memory: Vec<Memory>,
    /// What a command printed, or fairness.
    pub figure: Option<f64>,
    /// Transactions a second that were asked for.
    pub rate: Option<f64>,
    /// What the schema collected.
    pub events: Vec<Event>,
    /// What the processor counted of the server, where it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// By turns: milliseconds of load before each turn that are not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_ms: Option<f64>,
    /// The server's memory with and without idle connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<Resident>,
    /// What the server answered to the recipe's questions.
    #[serde(rename = "asked", default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// Turn by turn, when there were turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// An answer to one of the recipe's questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question's title.
    pub title: String,
    /// The rows; NULL is none.
    pub rows: Vec<crate::connection::Row>,
}

/// Resident memory in KiB, at the start and for each idle connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Resident {
    /// Of the server's process when it answers.
    pub start: f64,
    /// More for each idle connection.
    pub connection: f64,
    /// Of Tare's segment, when the process has one.
    pub segment_start: Option<f64>,
    /// More for each idle connection.
    pub segment_connection: Option<f64>,
}

impl Resident {
    /// One of its figures.
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

/// One turn of a load among others.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Turn {
    /// How long it was.
    pub seconds: f64,
    /// Transactions that ended in it.
    pub transactions: f64,
    /// CPU seconds of the server.
    pub server: f64,
    /// CPU seconds of the load generator.
    pub generator: f64,
    /// How long those transactions took on average.
    pub latency_mean_ms: f64,
    /// What a loop of additions took just before it, in nanoseconds: more of it is a busy neighbour.
    #[serde(default)]
    pub probe_ns: f64,
    /// What the processor counted of the server, where it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl Turn {
    /// One of its figures; `None` of those that one turn is too short for.
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
    /// All of them.
    pub seconds: f64,
    /// In the program.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

/// Percent of all CPUs' time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct MachineCpu {
    /// In programs.
    pub user: f64,
    /// In the kernel, interrupts included.
    pub system: f64,
    /// In nothing, waiting for disks included.
    pub idle: f64,
    /// Taken by other guests of the host.
    pub stolen: f64,
}

/// Context switches in the measured time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Switches {
    /// Of the whole machine.
    pub machine: u64,
    /// Of the server's threads, because they waited.
    pub server_voluntary: u64,
    /// Of the server's threads, because others had to run.
    pub server_involuntary: u64,
    /// Of the load generator's threads.
    pub generator: u64,
}

/// A process's memory at one moment.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Since the measured time began.
    pub second: f64,
    /// Mapped.
    pub virtual_kib: u64,
    /// In memory.
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
        // Nothing counted is a counter that the machine has not got.
        .filter(|count| *count > 0.0)
    }
}

impl Measurement {
    /// One of its figures; `None` when it has not got it.
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

    /// The same as it is compared: by turns (from 1) where it is known so, else as a whole (0).
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

    /// Events by type: how many in all.
    pub fn events_by_type(&self) -> BTreeMap<&str, u64> {
        let mut types = BTreeMap::new();
        for event in &self.events {
            *types.entry(event.kind.as_str()).or_default() += event.count;
        }
        types
    }

    /// Statements of the measured time: as the schema counted them, or as the load says.
    pub fn statements(&self) -> f64 {
        match self.queries {
            0.0 => self.transactions,
            queries => queries,
        }
    }
}
