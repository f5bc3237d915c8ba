//! What a host may say when it starts Tare.

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
    /// Reads mysqld's spellings: ON, YES, TRUE, 1; OFF, NO, FALSE, 0; COUNTED.
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
    /// Only when it had to wait; one at the first try is counted with a wait of zero.
    #[default]
    Contended,
    /// Always, as MySQL does. Costs two clock reads each.
    Every,
}

/// What is sampled from the start: docs/sampling.md. SQL changes it in `tare.setup_sampling`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// How events of each type are sampled, by [`GROUP_NAMES`](tare_layout::sampling::GROUP_NAMES).
    pub rules: [Rule; GROUPS],
    /// What chance begins with; `None`: the clock.
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

/// How to start. `Config::default()` is MySQL 8.0's defaults in a memory segment.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// How much of everything there may be.
    pub limits: Limits,
    /// A file for the segment. `None`: what the environment's `TARE_SEGMENT` says, else memory.
    pub segment: Option<PathBuf>,
    /// Settings by pattern (`%` = any text); the most specific wins, among equals the last. How threads
    /// begin is changed by patterns that start with `thread` only.
    pub instruments: Vec<(String, Setting)>,
    /// Consumers by name that differ from MySQL's defaults.
    pub consumers: Vec<(String, bool)>,
    /// When lock acquisitions are timed.
    pub lock_timing: LockTiming,
    /// Bytes that the threads' counters may take; 0 = no limit. At the limit, new rows are lost
    /// and counted as such.
    pub memory_limit: u64,
    /// Sizes that were asked for by [`Config::option`], by their place in [`crate::OPTIONS`]: SHOW VARIABLES tells
    /// of them, and of what has 0 nothing is kept.
    pub asked: Vec<(usize, u64)>,
    /// Limits of single kinds of classes (`max_mutex_classes`, ...), besides that of all together.
    pub class_limits: Vec<(Kind, usize)>,
    /// The first numbers, kept for classes that are [frequent](crate::Class::frequent). What each event looks at by the
    /// number of its class (flags, and where its thread's row is) then lies in few cache lines.
    pub frequent_classes: usize,
    /// What is sampled.
    pub sampling: Sampling,
    /// Seconds after which a digest's sample gives way to any newer statement; 0 = never, `None` =
    /// MySQL's 60.
    pub digest_sample_age: Option<u64>,
    /// Digests keep the number of a column in GROUP BY and ORDER BY, as MySQL's do from 9.7 on.
    pub digests_keep_positions: bool,
}

impl Config {
    /// Everything enabled and timed, every consumer on but `events_statements_cpu`: its clock is a system
    /// call, twice a statement.
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
    /// It runs already.
    #[error("Tare runs in this process already; stop it first to start it with other settings")]
    Running,
    /// The crate was compiled without instrumentation.
    #[error(
        "this program was built without the feature `instrument` of crate tare; rebuild it with it"
    )]
    NotCompiledIn,
    /// No memory or file for the segment.
    #[error(
        "cannot make a segment of {bytes} bytes of address space at {place}: {source}; {advice}"
    )]
    Segment {
        /// Size asked for.
        bytes: usize,
        /// `memory`, or the path.
        place: String,
        /// What the system said.
        source: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// A consumer of that name does not exist.
    #[error("there is no consumer {0:?}; performance_schema.setup_consumers lists them")]
    Consumer(String),
}
