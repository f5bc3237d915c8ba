//! A recipe: a TOML file that describes a measurement. docs/weigh.md describes every key.

mod check;
mod quick;
pub mod shipped;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use quick::Quick;

/// Why a recipe is invalid.
#[derive(Debug, Error)]
pub enum RecipeError {
    /// The recipe is not TOML, or has an unknown key or a value of the wrong type.
    #[error("{name}: {error}docs/weigh.md lists the keys of a recipe")]
    Syntax {
        /// The recipe's name.
        name: String,
        /// The error with line and column.
        error: toml::de::Error,
    },
    /// The keys are valid, but not together.
    #[error("{name}: {what}")]
    Meaning {
        /// The recipe's name.
        name: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The recipe is neither one of tare's own nor a file.
    #[error(
        "there is no recipe '{0}'; `tare weigh --list` lists those that come with tare, and a path names your own"
    )]
    Unknown(String),
    /// The file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// The path.
        path: String,
        /// The cause.
        error: std::io::Error,
    },
}

/// A recipe.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The question it answers: the report's heading.
    pub question: String,
    /// Notes on the figures.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The published figures to print with the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The configuration that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The server and configuration whose throughput is 1 in a table of ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<Relative>,
    /// Events (patterns with `%`) that reports list even when they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub show_events: Vec<String>,
    /// The measure that conclusions are drawn from.
    #[serde(default)]
    pub measure: Measure,
    /// Whether reports have the cost of an event: the difference in CPU divided by the counted events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_event: bool,
    /// The text above the sentences that end a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The text below them: what to read next.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub next: String,
    /// The numbers of connections; each is a group of cells.
    pub connections: Vec<u32>,
    /// Repetitions and times.
    #[serde(default)]
    pub run: Run,
    /// The tables that sysbench fills.
    #[serde(default)]
    pub data: Data,
    /// The changes of `--quick`.
    #[serde(default)]
    pub quick: Quick,
    /// The servers.
    #[serde(rename = "server")]
    pub servers: Vec<Server>,
    /// Their configurations.
    #[serde(rename = "configuration")]
    pub configurations: Vec<Configuration>,
    /// The loads.
    #[serde(rename = "workload")]
    pub workloads: Vec<Workload>,
    /// Questions to the server after a cell was measured.
    #[serde(rename = "ask", default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
}

/// A question to the server of a measured cell; reports show the answers of the last repetition.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The title of the answer.
    pub title: String,
    /// The question.
    pub sql: String,
    /// The headings of the answer's columns.
    pub columns: Vec<String>,
    /// The configurations that it is for; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<String>,
}

/// The cell that throughput is relative to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relative {
    /// A server's name.
    pub server: String,
    /// A configuration's name.
    pub configuration: String,
}

/// A figure of a cell.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Transactions per second.
    #[default]
    Throughput,
    /// Server CPU per transaction.
    ServerCpu,
    /// The load generator's CPU per transaction.
    GeneratorCpu,
    /// Mean latency.
    LatencyMean,
    /// 95th percentile of the latency.
    #[serde(rename = "latency_95")]
    Latency95,
    /// 99th percentile of the latency.
    #[serde(rename = "latency_99")]
    Latency99,
    /// The number that a command printed.
    Figure,
    /// The server's instructions per transaction, where the machine counts them.
    Instructions,
    /// The server's cycles per transaction.
    Cycles,
    /// The server's last-level cache misses per transaction.
    CacheMisses,
    /// The server's TLB misses per transaction.
    TlbMisses,
    /// Resident memory of the server at its start.
    MemoryStart,
    /// Resident memory that each idle connection adds.
    MemoryConnection,
    /// Resident memory of Tare's segment at the start.
    SegmentStart,
    /// Resident memory of the segment that each idle connection adds.
    SegmentConnection,
}

impl Measure {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 15] = [
        Self::Throughput,
        Self::ServerCpu,
        Self::GeneratorCpu,
        Self::LatencyMean,
        Self::Latency95,
        Self::Latency99,
        Self::Figure,
        Self::Instructions,
        Self::Cycles,
        Self::CacheMisses,
        Self::TlbMisses,
        Self::MemoryStart,
        Self::MemoryConnection,
        Self::SegmentStart,
        Self::SegmentConnection,
    ];

    /// The name in reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::Throughput => "transactions/s",
            Self::ServerCpu => "server CPU/transaction",
            Self::GeneratorCpu => "generator CPU/transaction",
            Self::LatencyMean => "mean latency",
            Self::Latency95 => "95 % latency",
            Self::Latency99 => "99 % latency",
            Self::Figure => "figure",
            Self::Instructions => "instructions/transaction",
            Self::Cycles => "cycles/transaction",
            Self::CacheMisses => "cache misses/transaction",
            Self::TlbMisses => "TLB misses/transaction",
            Self::MemoryStart => "memory at start",
            Self::MemoryConnection => "memory/connection",
            Self::SegmentStart => "segment at start",
            Self::SegmentConnection => "segment/connection",
        }
    }

    /// The unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "/s",
            Self::ServerCpu | Self::GeneratorCpu => "us",
            Self::LatencyMean | Self::Latency95 | Self::Latency99 => "ms",
            Self::Figure
            | Self::Instructions
            | Self::Cycles
            | Self::CacheMisses
            | Self::TlbMisses => "",
            Self::MemoryStart
            | Self::MemoryConnection
            | Self::SegmentStart
            | Self::SegmentConnection => "KiB",
        }
    }

    /// Whether a larger value is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Figure)
    }
}

/// Repetitions and times.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// The number of repetitions; intervals need 4.
    pub repetitions: u32,
    /// Measured seconds.
    pub seconds: u32,
    /// Unmeasured seconds before them.
    pub warm_up: u32,
    /// The processors that server and load share; 0 means all. On one, they do not wake one another
    /// across processors, which is expensive and noisy on a virtual machine.
    pub processors: u32,
    /// If more than 0, cells of a server that differ only in their configuration are measured side by
    /// side in so many turns each, instead of one after the other for `seconds`.
    pub turns: u32,
    /// The length of a turn in milliseconds.
    pub turn_ms: u32,
    /// With turns: configurations that a running server can be switched between share one process.
    pub switch: bool,
    /// A fresh server process for each cell.
    pub restart: bool,
    /// A fresh data directory for each cell.
    pub rebuild: bool,
    /// The spread between repetitions in percent above which a cell is unstable.
    pub unstable_above: f64,
}

impl Run {
    /// The time that each cell is measured in a repetition.
    pub fn measured(&self) -> Duration {
        match self.turns {
            0 => Duration::from_secs(self.seconds.into()),
            turns => Duration::from_millis(u64::from(turns) * u64::from(self.turn_ms)),
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            repetitions: 7,
            seconds: 30,
            warm_up: 5,
            processors: 0,
            turns: 0,
            turn_ms: 150,
            switch: true,
            restart: true,
            rebuild: false,
            unstable_above: 10.0,
        }
    }
}

/// The tables that sysbench fills.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Data {
    /// Tables.
    pub tables: u32,
    /// Rows of each.
    pub rows: u32,
}

impl Default for Data {
    fn default() -> Self {
        Self {
            tables: 1,
            rows: 100_000,
        }
    }
}

/// The kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `tare serve`.
    Tare,
    /// mariadbd.
    Mariadb,
    /// mysqld.
    Mysql,
    /// A server that runs already.
    Dsn,
    /// Any command.
    Command,
    /// No server: the load itself is measured.
    None,
}

/// One server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The name in reports.
    pub name: String,
    /// The kind.
    pub kind: Kind,
    /// For kinds mysql and mariadb: the version. A MariaDB without one is the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The path of the user's own build, instead of a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// For kind dsn: the address, without its password once it was parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsn: Option<String>,
    /// For kind command: the words of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Options of the command line in every configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Statements that are sent after the start, before those of the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sql: Vec<String>,
}

/// The Performance Schema that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The server's own.
    #[default]
    Stock,
    /// Tare's, through the door.
    Tare,
}

/// The build of `tare serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Build {
    /// With instrumentation.
    #[default]
    Instrumented,
    /// Without instrumentation.
    Plain,
}

/// A configuration of a server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The name in reports.
    pub name: String,
    /// The servers that it is for; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// The Performance Schema that is used.
    #[serde(default)]
    pub engine: Engine,
    /// For kind tare: the build.
    #[serde(default)]
    pub build: Build,
    /// Options of the server's command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Statements that are sent after the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sql: Vec<String>,
    /// For kind command: shell commands that switch a running server to this configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switch: Vec<String>,
    /// Shell commands of sidecars: programs that run while this configuration is measured, and
    /// are stopped while others are.
    #[serde(rename = "beside", default, skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<String>,
    /// The server's allocator, or `tare`: libtare_any.so, which observes any program (with engine tare).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preload: Option<String>,
    /// The server's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The load generator's allocator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_preload: Option<String>,
    /// Added to the workload's options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_options: Vec<String>,
    /// By workload: the percent by which it may be worse than the baseline.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, f64>,
}

/// The kind of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// sysbench.
    #[default]
    Sysbench,
    /// A command that prints a figure.
    Command,
    /// Threads that take one lock, which is part of tare.
    Locks,
    /// Idle connections, whose memory is measured.
    Idle,
}

/// Where a load connects from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// Over the Unix socket.
    #[default]
    Here,
    /// Over TCP on 127.0.0.1.
    Tcp,
    /// Over TCP from another network namespace.
    Namespace,
}

/// The meaning of a command's figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureIs {
    /// Transactions per second.
    #[default]
    Rate,
    /// Transactions in total.
    Count,
    /// Seconds per transaction.
    Time,
}

/// The rate of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rate {
    /// Transactions per second.
    Fixed(f64),
    /// `"40-60 %"`: the rate that uses this share of the machine's CPU. `"50 % of peak"`: a part of the
    /// peak rate.
    Cpu(String),
}

/// One load.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The name in reports.
    pub name: String,
    /// The program that generates the load.
    #[serde(default)]
    pub load: Load,
    /// sysbench's script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Options for the generator's command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Numbers of connections, which replace the recipe's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u32>,
    /// Statements that are sent before the load is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Statements that are sent after the load was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The rate; as many as possible if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Where the load connects from.
    #[serde(default)]
    pub from: From,
    /// For load command: the words of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// For load command: whether it counts its transactions in the file TARE_COUNTED_FILE, and so can
    /// take turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// The text before the printed figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The meaning of the figure.
    #[serde(default)]
    pub figure_is: FigureIs,
}

impl Recipe {
    /// Parses and checks a recipe.
    ///
    /// # Errors
    /// The recipe is invalid.
    pub fn parse(name: &str, text: &str) -> Result<Self, RecipeError> {
        let recipe: Self = toml::from_str(text).map_err(|error| RecipeError::Syntax {
            name: name.into(),
            error,
        })?;
        recipe.check().map_err(|what| RecipeError::Meaning {
            name: name.into(),
            what,
        })?;
        Ok(recipe)
    }

    /// The recipe of this name or at this path.
    ///
    /// # Errors
    /// The recipe does not exist or is invalid.
    pub fn find(name: &str) -> Result<Self, RecipeError> {
        if let Some(shipped) = shipped::ALL.iter().find(|shipped| shipped.name == name) {
            return Self::parse(name, shipped.text);
        }
        if !name.contains('/') && !name.ends_with(".toml") {
            return Err(RecipeError::Unknown(name.into()));
        }
        let text = std::fs::read_to_string(name).map_err(|error| RecipeError::File {
            path: name.into(),
            error,
        })?;
        Self::parse(name, &text)
    }

    /// A server by its name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// A server's configuration by its name.
    pub fn configuration(&self, server: &Server, name: &str) -> Option<&Configuration> {
        let mut of_server = self
            .configurations
            .iter()
            .filter(|each| each.is_for(server));
        of_server.find(|each| each.name == name)
    }

    /// The numbers of connections of a workload.
    pub fn connections_of<'a>(&'a self, workload: &'a Workload) -> &'a [u32] {
        match workload.connections.is_empty() {
            true => &self.connections,
            false => &workload.connections,
        }
    }

    /// The largest number of connections of a load.
    pub fn most_connections(&self) -> u32 {
        let all = (self.workloads.iter()).flat_map(|workload| self.connections_of(workload));
        all.copied().max().unwrap_or(1)
    }

    /// A workload by its name.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|each| each.name == name)
    }
}
