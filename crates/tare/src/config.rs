//! The configuration with which a host starts Tare.

use std::path::PathBuf;

pub use tare_layout::control::Timer;
pub use tare_layout::geometry::Limits;

use tare_layout::Kind;
use tare_layout::sampling::GROUPS;
pub use tare_layout::sampling::Rule;

/// How an instrument starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum LockTiming {
    /// Only if the acquisition had to wait. One at the first try is counted with a wait of zero.
    #[default]
    Contended,
    /// Always, as MySQL does. Costs two clock reads each.
    Every,
}

/// The initial sampling rules: docs/sampling.md. SQL changes them in `tare.setup_sampling`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampling {
    /// How events of each type are sampled, by [`GROUP_NAMES`](tare_layout::sampling::GROUP_NAMES).
    /// [`Rule::Active`] in any of them is the level of all.
    pub rules: [Rule; GROUPS],
    /// The seed of the random numbers; `None`: the clock.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self::of(Rule::Every)
    }
}

impl Sampling {
    /// Events of all types by one rule.
    pub fn of(rule: Rule) -> Self {
        Self {
            rules: [rule; GROUPS],
            seed: None,
        }
    }

    /// Sets the rule of each type of events.
    pub fn rules(mut self, rules: [Rule; GROUPS]) -> Self {
        self.rules = rules;
        self
    }

    /// Sets the seed of the random numbers.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

/// The configuration. `Config::default()` is MySQL 8.0's defaults in a memory segment.
///
/// ```
/// use tare::{Config, LockTiming, Sampling, Rule, Setting};
/// let config = Config::default()
///     .segment("/run/app/tare.segment")
///     .instruments([("wait/synch/%", Setting::On), ("memory/%", Setting::Off)])
///     .consumers([("events_statements_history_long", true)])
///     .lock_timing(LockTiming::Every)
///     .sampling(Sampling::of(Rule::one_in(16)));
/// # let _ = config;
/// ```
///
/// [`Config::option`] sets the same by the names of MySQL's options.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// The limits of the segment's tables.
    pub limits: Limits,
    /// A file for the segment. `None`: the file that the environment's `TARE_SEGMENT` names, else
    /// memory. With a file, [`start`](crate::start()) sets an action for SIGBUS: if the file gets no more
    /// space, recording ends and the process goes on. The host's earlier action is called for other causes.
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
    /// Limits of single kinds of classes (`max_mutex_classes`, ...), in addition to the limit of all
    /// together.
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
        Self::default().instruments([("%", Setting::Off)])
    }

    /// Sets the limits of the segment's tables.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the file for the segment. With a file, [`start`](crate::start()) sets an action for SIGBUS: if the
    /// file gets no more space, recording ends and the process goes on. For other causes, the process's earlier
    /// action is called.
    pub fn segment(mut self, path: impl Into<PathBuf>) -> Self {
        self.segment = Some(path.into());
        self
    }

    /// Adds settings of instruments by pattern.
    pub fn instruments<P: Into<String>>(
        mut self,
        settings: impl IntoIterator<Item = (P, Setting)>,
    ) -> Self {
        let settings = settings.into_iter();
        self.instruments
            .extend(settings.map(|(pattern, setting)| (pattern.into(), setting)));
        self
    }

    /// Adds consumers that differ from the defaults.
    pub fn consumers<N: Into<String>>(
        mut self,
        consumers: impl IntoIterator<Item = (N, bool)>,
    ) -> Self {
        let consumers = consumers.into_iter();
        self.consumers
            .extend(consumers.map(|(name, is_on)| (name.into(), is_on)));
        self
    }

    /// Sets when lock acquisitions are timed.
    pub fn lock_timing(mut self, timing: LockTiming) -> Self {
        self.lock_timing = timing;
        self
    }

    /// Sets how many bytes the threads' counters may take.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Reserves this many of the first numbers for classes that are frequent.
    pub fn frequent_classes(mut self, numbers: usize) -> Self {
        self.frequent_classes = numbers;
        self
    }

    /// Sets how events are sampled.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets after how many seconds any newer statement replaces a digest's sample.
    pub fn digest_sample_age(mut self, seconds: u64) -> Self {
        self.digest_sample_age = Some(seconds);
        self
    }

    /// Sets whether children of fork record into the same segment.
    pub fn many_processes(mut self, are_recorded: bool) -> Self {
        self.many_processes = are_recorded;
        self
    }

    /// Sets whether digests retain the number of a column in GROUP BY and ORDER BY.
    pub fn digests_retain_positions(mut self, are_retained: bool) -> Self {
        self.digests_retain_positions = are_retained;
        self
    }
}

/// Why Tare did not start. The host goes on without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_added_and_the_rest_stays() {
        let limits = Limits::default().threads(64);
        let config = Config::everything()
            .limits(limits)
            .segment("/run/x")
            .instruments([("wait/%", Setting::Off), ("stage/%", Setting::Counted)])
            .consumers([("events_statements_cpu", true)])
            .lock_timing(LockTiming::Every)
            .memory_limit(1 << 20)
            .sampling(Sampling::of(Rule::OneIn(16)).seed(7))
            .digest_sample_age(0)
            .many_processes(true);
        let everything = Config::everything();
        let settings = [
            ("%".into(), Setting::On),
            ("wait/%".into(), Setting::Off),
            ("stage/%".into(), Setting::Counted),
        ];
        assert_eq!(config.instruments, settings);
        let added = everything.consumers.len();
        assert_eq!(config.consumers[..added], everything.consumers);
        assert_eq!(
            config.consumers[added..],
            [("events_statements_cpu".into(), true)]
        );
        assert_eq!(config.limits, limits);
        assert_eq!(config.segment, Some("/run/x".into()));
        assert_eq!(config.lock_timing, LockTiming::Every);
        assert_eq!(config.memory_limit, 1 << 20);
        assert_eq!(config.sampling.rules, [Rule::OneIn(16); GROUPS]);
        assert_eq!(config.sampling.seed, Some(7));
        assert_eq!(config.digest_sample_age, Some(0));
        assert!(config.many_processes && !config.digests_retain_positions);
    }
}
