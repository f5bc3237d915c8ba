//! A recipe: what is measured, as its TOML file says. docs/weigh.md describes every key.

mod check;
mod quick;
pub mod shipped;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use quick::Quick;

/// Why a recipe is refused.
#[derive(Debug, Error)]
pub enum RecipeError {
    /// Not TOML, an unknown key, or a value of the wrong type; `toml` says where.
    #[error("{name}: {error}docs/weigh.md lists the keys of a recipe")]
    Syntax {
        /// The recipe.
        name: String,
        /// With line and column.
        error: toml::de::Error,
    },
    /// Every key is right and the whole is not.
    #[error("{name}: {what}")]
    Meaning {
        /// The recipe.
        name: String,
        /// What, and what to do.
        what: String,
    },
    /// Neither shipped nor a file.
    #[error(
        "there is no recipe '{0}'; `tare weigh --list` lists those that come with tare, and a path names your own"
    )]
    Unknown(String),
    /// The file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// The path as given.
        path: String,
        /// Why.
        error: std::io::Error,
    },
}

/// A whole recipe.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The question it answers: the report's heading.
    pub question: String,
    /// What to know before reading the figures.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Published figures to print beside.
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
    /// What conclusions are drawn from.
    #[serde(default)]
    pub measure: Measure,
    /// Whether reports say what an event cost: the difference in CPU by the events that were counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_event: bool,
    /// Printed above the sentences that end a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// Printed below them: where to look next.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub next: String,
    /// How many connections the load opens: one group of cells for each.
    pub connections: Vec<u32>,
    /// Repetitions and times.
    #[serde(default)]
    pub run: Run,
    /// What sysbench prepares.
    #[serde(default)]
    pub data: Data,
    /// What `--quick` changes.
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
    /// What the server is asked once a cell has been measured.
    #[serde(rename = "ask", default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
}

/// A question to the server of a measured cell; reports show the answers of the last repetition.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Above the answer.
    pub title: String,
    /// The question.
    pub sql: String,
    /// What its columns are called.
    pub columns: Vec<String>,
    /// Of which configurations it is asked; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<String>,
}

/// What throughput is told relative to.
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
    /// Transactions a second.
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
    /// What a command printed.
    Figure,
    /// The server's instructions per transaction, where the machine counts them; and so on.
    Instructions,
    /// Cycles.
    Cycles,
    /// Misses of the last cache.
    CacheMisses,
    /// Loads whose page was not in the TLB.
    TlbMisses,
    /// Resident memory of the server at its start.
    MemoryStart,
    /// And what each idle connection adds.
    MemoryConnection,
    /// The same of Tare's segment alone.
    SegmentStart,
    /// And what each idle connection adds.
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

    /// Its name for people.
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

    /// The unit that its values are in.
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

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Figure)
    }
}

/// Repetitions and times.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// How often each cell is measured; from 4 on there are intervals.
    pub repetitions: u32,
    /// Seconds that are measured.
    pub seconds: u32,
    /// Seconds before them that are not.
    pub warm_up: u32,
    /// How many processors server and load share; 0 = all that there are. On one, they do not wake one another
    /// across processors, which in a virtual machine costs many times what is weighed, at random.
    pub processors: u32,
    /// More than 0: cells of a server that differ in their configuration alone are measured side by side, in so many
    /// turns each, instead of one after the other for `seconds`.
    pub turns: u32,
    /// How long a turn is, in milliseconds.
    pub turn_ms: u32,
    /// By turns: configurations that a running server can be switched between share one process.
    pub switch: bool,
    /// A fresh server process for each cell.
    pub restart: bool,
    /// A fresh data directory for each cell.
    pub rebuild: bool,
    /// Spread between repetitions, in percent, above which a cell is unstable.
    pub unstable_above: f64,
}

impl Run {
    /// How long each cell is measured in a repetition.
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

/// What sysbench prepares.
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

/// Which program a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `tare serve`.
    Tare,
    /// mariadbd.
    Mariadb,
    /// mysqld.
    Mysql,
    /// One that runs already.
    Dsn,
    /// Any command.
    Command,
    /// No server: the load is what is measured.
    None,
}

/// One server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name in reports.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Of kinds mysql and mariadb: which one; a MariaDB without is this system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Instead: the user's own build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Of kind dsn. Never with a password in it once it has been read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsn: Option<String>,
    /// Of kind command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Of its command line, in every configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Sent when it has started, before what the configuration sends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sql: Vec<String>,
}

/// Whose Performance Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The server's own.
    #[default]
    Stock,
    /// Tare's, through the door.
    Tare,
}

/// Which build of tare serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Build {
    /// With instrumentation.
    #[default]
    Instrumented,
    /// With none compiled in.
    Plain,
}

/// One way to run a server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Its name in reports.
    pub name: String,
    /// The servers that it is for; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Whose Performance Schema.
    #[serde(default)]
    pub engine: Engine,
    /// Which build, of kind tare.
    #[serde(default)]
    pub build: Build,
    /// Of the server's command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Sent when it has started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sql: Vec<String>,
    /// Shell commands that bring a running server of kind command into this configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switch: Vec<String>,
    /// Shell commands of programs that run beside the server while this is measured, and stand still while others are.
    #[serde(rename = "beside", default, skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<String>,
    /// The server's allocator.
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
    /// By workload: by how many percent it may be worse than the baseline.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, f64>,
}

/// What makes a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// sysbench.
    #[default]
    Sysbench,
    /// Any command that prints a figure.
    Command,
    /// Threads that take one lock: ours.
    Locks,
    /// Connections that ask nothing: what they take of memory.
    Idle,
}

/// Where a load comes from.
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

/// What the figure of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureIs {
    /// So many a second.
    #[default]
    Rate,
    /// So many in all.
    Count,
    /// Seconds for one; less is better.
    Time,
}

/// How many transactions a second a load asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rate {
    /// So many.
    Fixed(f64),
    /// `"40-60 %"`: as many as take this much of the machine's CPU. `"50 % of peak"`: of what is reached flat out.
    Cpu(String),
}

/// One load.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name in reports.
    pub name: String,
    /// What makes it.
    #[serde(default)]
    pub load: Load,
    /// sysbench's script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Of the generator's command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Instead of the recipe's connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u32>,
    /// Sent when the load has warmed up, before it is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Sent when it has been measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Flat out when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Where it comes from.
    #[serde(default)]
    pub from: From,
    /// Of load command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Of load command: whether it counts its transactions where TARE_COUNTED_FILE says, and so can take turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// The text before the figure that it prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// What that figure is.
    #[serde(default)]
    pub figure_is: FigureIs,
}

impl Recipe {
    /// Reads and checks a recipe.
    ///
    /// # Errors
    /// What is wrong with it, and where.
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
    /// There is none, or something is wrong with it.
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

    /// How many connections a workload is measured with.
    pub fn connections_of<'a>(&'a self, workload: &'a Workload) -> &'a [u32] {
        match workload.connections.is_empty() {
            true => &self.connections,
            false => &workload.connections,
        }
    }

    /// The most connections that any load of it opens.
    pub fn most_connections(&self) -> u32 {
        let all = (self.workloads.iter()).flat_map(|workload| self.connections_of(workload));
        all.copied().max().unwrap_or(1)
    }

    /// A workload by its name.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|each| each.name == name)
    }
}
