//! The configuration with which a host starts Tare.

use std::path::PathBuf;

pub use tare_layout::control::Timer;
pub use tare_layout::geometry::Limits;

use tare_layout::Kind;
use tare_layout::sampling::GROUPS;
pub use tare_layout::sampling::Rule;

/// How an instrument starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Not enabled.
    Off,
    /// Enabled, not timed.
    Counted,
    /// Enabled and timed.
    On,
}

impl Setting {
    /// Parses mysqld's spellings: ON, YES, TRUE, 1; OFF, NO, FALSE, 0; COUNTED.
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_uppercase().as_str() {
            "ON" | "YES" | "TRUE" | "1" => Some(Setting::On),
            "OFF" | "NO" | "FALSE" | "0" => Some(Setting::Off),
            "COUNTED" => Some(Setting::Counted),
            _ => None,
        }
    }
}

/// When a lock's acquisition is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockTiming {
    /// Only if the acquisition had to wait. One at the first try is counted with a wait of zero.
    #[default]
    Contended,
    /// Always, as MySQL does. Costs two clock reads each.
    Every,
}

/// The initial sampling rules: docs/sampling.md. SQL changes them in `tare.setup_sampling`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// How events of each type are sampled, by [`GROUP_NAMES`](tare_layout::sampling::GROUP_NAMES).
    /// [`Rule::Active`] in any of them is the level of all.
    pub rules: [Rule; GROUPS],
    /// The seed of the random numbers; `None`: the clock.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            rules: [Rule::Every; GROUPS],
            seed: None,
        }
    }
}

/// The configuration. `Config::default()` is MySQL 8.0's defaults in a memory segment.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The limits of the segment's tables.
    pub limits: Limits,
    /// A file for the segment. `None`: the file that the environment's `TARE_SEGMENT` names, else
    /// memory.
    pub segment: Option<PathBuf>,
    /// Settings by pattern (`%` = any text). The most specific pattern wins, and among equals the last.
    /// Only patterns that start with `thread` change how threads begin.
    pub instruments: Vec<(String, Setting)>,
    /// Consumers by name that differ from MySQL's defaults.
    pub consumers: Vec<(String, bool)>,
    /// When lock acquisitions are timed.
    pub lock_timing: LockTiming,
    /// Bytes that the threads' counters may take; 0 = no limit. At the limit, new rows are lost
    /// and counted as such.
    pub memory_limit: u64,
    /// Sizes that [`Config::option`] requested, by their index in [`crate::OPTIONS`]. SHOW VARIABLES
    /// lists them. If a size is 0, nothing of its kind is stored.
    pub requested_sizes: Vec<(usize, u64)>,
    /// Limits of single kinds of classes (`max_mutex_classes`, ...), in addition to the limit of all together.
    pub class_limits: Vec<(Kind, usize)>,
    /// How many of the first numbers are reserved for classes that are
    /// [frequent](crate::Class::frequent). The flags and row indexes that each event reads by class
    /// number then share few cache lines.
    pub frequent_classes: usize,
    /// How events are sampled.
    pub sampling: Sampling,
    /// Seconds after which any newer statement replaces a digest's sample; 0 = never, `None` = MySQL's
    /// 60.
    pub digest_sample_age: Option<u64>,
    /// Children of fork record into the same segment, if the process that forks has one thread:
    /// docs/many-processes.md.
    pub many_processes: bool,
    /// Digests retain the number of a column in GROUP BY and ORDER BY, as MySQL's do from 9.7 on.
    pub digests_retain_positions: bool,
}

impl Config {
    /// Everything enabled and timed, and every consumer except `events_statements_cpu`: its clock takes
    /// two system calls per statement.
    pub fn everything() -> Self {
        use tare_layout::control::{CONSUMERS, CPU};
        let without_cpu = CONSUMERS.iter().enumerate().filter(|(i, _)| 1 << i != CPU);
        Self {
            instruments: vec![("%".into(), Setting::On)],
            consumers: without_cpu.map(|(_, &c)| (c.into(), true)).collect(),
            ..Self::default()
        }
    }

    /// Running, with every instrument off.
    pub fn nothing() -> Self {
        Self {
            instruments: vec![("%".into(), Setting::Off)],
            ..Self::default()
        }
    }
}

/// Why Tare did not start. The host goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Tare runs in this process already.
    #[error("Tare runs in this process already; stop it first to start it with other settings")]
    Running,
    /// The crate was compiled without instrumentation.
    #[error(
        "this program was built without the feature `instrument` of crate tare; rebuild it with it"
    )]
    NotCompiledIn,
    /// Tare records on Linux.
    #[error("Tare records on Linux only; on this system the program runs without it")]
    NotLinux,
    /// No memory or file for the segment.
    #[error(
        "cannot make a segment of {bytes} bytes of address space at {place}: {source}; {advice}"
    )]
    Segment {
        /// Requested size.
        bytes: usize,
        /// `memory`, or the path.
        place: String,
        /// The system's error.
        source: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// A consumer of that name does not exist.
    #[error("there is no consumer {0:?}; performance_schema.setup_consumers lists them")]
    Consumer(String),
}
