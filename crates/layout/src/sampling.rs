//! Sampling: which event types are sampled, how often, and the errors of estimates.

use crate::class::{EventType, Kind};
use crate::line::Line;
use crate::primitive::{AtomicU64, Ordering};

/// Number of groups of event types that are sampled separately: rows of `tare.setup_sampling`. Idle
/// times are sampled with waits.
pub const GROUPS: usize = 4;
/// Waits and idle times.
pub const WAIT: usize = 0;
/// Stages.
pub const STAGE: usize = 1;
/// Transactions.
pub const TRANSACTION: usize = 2;
/// Memory: of allocations below [`LARGE`] one in N is drawn.
pub const MEMORY: usize = 3;
/// Their names.
pub const GROUP_NAMES: [&str; GROUPS] = ["wait", "stage", "transaction", "memory"];

/// Allocations of this size or more are always counted, however memory is sampled: they are few, and
/// one that stood for N would spoil the estimate of the others.
pub const LARGE: usize = 4096;

/// Whether a group is observed in windows of time. The memory in use is a balance over days, for which
/// windows are too few: its events are drawn one by one.
pub const fn has_windows(group: usize) -> bool {
    group != MEMORY
}

/// The largest N: a weight takes 16 bits.
pub const MAX_RATE: u32 = 65_535;

/// The group of this kind of event; `None` if it is always counted.
#[inline]
pub const fn group_of(kind: Kind) -> Option<usize> {
    if matches!(kind, Kind::Memory) {
        return Some(MEMORY);
    }
    match kind.event_type() {
        Some(EventType::Idle | EventType::Wait) => Some(WAIT),
        Some(EventType::Stage) => Some(STAGE),
        Some(EventType::Transaction) => Some(TRANSACTION),
        Some(EventType::Statement) | None => None,
    }
}

/// The sampling rule of a group: a value of `tare.setup_sampling`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Every event is counted.
    #[default]
    Every,
    /// This part of all time is observed.
    OneIn(u32),
    /// As many as fit a budget, in thousandths of a percent of the host's CPU.
    Budget(u32),
    /// No event is counted: threads keep what they do now (docs/active.md). The level of the whole program,
    /// and not of one group.
    Active,
}

impl Rule {
    /// One in `n`; each one if that is 0 or 1.
    pub const fn one_in(n: u32) -> Self {
        match n {
            0 | 1 => Self::Every,
            n => Self::OneIn(n),
        }
    }

    /// Reads `every`, `1/N`, `budget P %` or `active`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("every") {
            return Some(Self::Every);
        }
        if text.eq_ignore_ascii_case("active") {
            return Some(Self::Active);
        }
        if let Some((one, n)) = text.split_once('/') {
            let n: u32 = n.trim().parse().ok()?;
            let is_possible = one.trim() == "1" && (1..=MAX_RATE).contains(&n);
            return is_possible.then_some(Self::one_in(n));
        }
        let (word, percent) = text.split_at_checked(6)?;
        let percent = percent.trim().trim_end_matches('%').trim_end();
        if !word.eq_ignore_ascii_case("budget") {
            return None;
        }
        let percent: f64 = percent.parse().ok()?;
        // Adds half a thousandth and truncates: there is no rounding without std.
        let thousandths = (percent * 1000.0 + 0.5) as u32;
        (percent <= 100.0 && thousandths > 0).then_some(Self::Budget(thousandths))
    }
}

impl core::fmt::Display for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Every => f.write_str("every"),
            Self::Active => f.write_str("active"),
            Self::OneIn(n) => write!(f, "1/{n}"),
            Self::Budget(budget) => write!(f, "budget {} %", f64::from(*budget) / 1000.0),
        }
    }
}

/// Cells of a sample's line: the observations of one instrument in windows. One thread of the host
/// writes them. Variances are the bits of an f64.
pub mod sample {
    /// Events observed.
    pub const EVENTS: usize = 0;
    /// Windows that they were in.
    pub const WINDOWS: usize = 1;
    /// Sum of their weights.
    pub const WEIGHTED: usize = 2;
    /// Variance of the count.
    pub const COUNT_VARIANCE: usize = 3;
    /// Variance of the sum of ticks.
    pub const SUM_VARIANCE: usize = 4;
    /// Present variance of the count that later windows will compensate. It does not add up.
    pub const COUNT_OPEN: usize = 5;
    /// The same of the sum.
    pub const SUM_OPEN: usize = 6;
    /// Strata that the variances were computed from.
    pub const STRATA: usize = 7;
    /// How many cells there are.
    pub const USED: usize = 8;
}

/// A sample, read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Events observed.
    pub events: u64,
    /// Windows that they were in.
    pub windows: u64,
    /// Sum of their weights.
    pub weighted: u64,
    /// Variance of the count.
    pub count_variance: f64,
    /// Variance of the sum, in ticks squared.
    pub sum_variance: f64,
    /// Present variance of the count that later windows will compensate. It does not add up.
    pub count_open: f64,
    /// The same of the sum.
    pub sum_open: f64,
    /// Strata that the variances were computed from; 0 where single events are drawn.
    pub strata: u64,
}

impl Sample {
    /// Reads the first cells of a line, or the same words elsewhere.
    pub fn read(cells: &[AtomicU64]) -> Self {
        let get = |i: usize| cells[i].load(Ordering::Relaxed);
        Self {
            events: get(sample::EVENTS),
            windows: get(sample::WINDOWS),
            weighted: get(sample::WEIGHTED),
            count_variance: f64::from_bits(get(sample::COUNT_VARIANCE)),
            sum_variance: f64::from_bits(get(sample::SUM_VARIANCE)),
            count_open: f64::from_bits(get(sample::COUNT_OPEN)),
            sum_open: f64::from_bits(get(sample::SUM_OPEN)),
            strata: get(sample::STRATA),
        }
    }

    /// Adds later observations. The open variances do not change.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            events: self.events.wrapping_add(other.events),
            windows: self.windows.wrapping_add(other.windows),
            weighted: self.weighted.wrapping_add(other.weighted),
            count_variance: self.count_variance + other.count_variance,
            sum_variance: self.sum_variance + other.sum_variance,
            strata: self.strata.wrapping_add(other.strata),
            ..self
        }
    }

    /// The difference to an earlier sample. A hostile segment may have any values: no variance is below
    /// zero.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let less = |now: f64, then: f64| {
            let left = now - then;
            if left.is_finite() && left > 0.0 {
                left
            } else {
                0.0
            }
        };
        Self {
            events: self.events.saturating_sub(before.events),
            windows: self.windows.saturating_sub(before.windows),
            weighted: self.weighted.saturating_sub(before.weighted),
            count_variance: less(self.count_variance, before.count_variance),
            sum_variance: less(self.sum_variance, before.sum_variance),
            count_open: less(self.count_open, 0.0),
            sum_open: less(self.sum_open, 0.0),
            strata: self.strata.saturating_sub(before.strata),
        }
    }

    /// The square of the count's standard error, which is larger the fewer strata there were, so that
    /// 1.96 of them are always a 95 % interval.
    #[must_use]
    pub fn count_error_squared(self) -> f64 {
        self.count_variance * widening(self.strata) + self.count_open
    }

    /// The same of the sum, in ticks squared.
    #[must_use]
    pub fn sum_error_squared(self) -> f64 {
        self.sum_variance * widening(self.strata) + self.sum_open
    }

    /// Stores it in a line.
    pub fn store(self, line: &Line) {
        line.set(sample::EVENTS, self.events);
        line.set(sample::WINDOWS, self.windows);
        line.set(sample::WEIGHTED, self.weighted);
        line.set(sample::COUNT_VARIANCE, self.count_variance.to_bits());
        line.set(sample::SUM_VARIANCE, self.sum_variance.to_bits());
        line.set(sample::COUNT_OPEN, self.count_open.to_bits());
        line.set(sample::SUM_OPEN, self.sum_open.to_bits());
        line.set(sample::STRATA, self.strata);
    }
}

/// The factor for a variance computed from this number of summands: the square of Student's quantile of
/// 97.5 % over the normal one. By the expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5),
/// which is 11 % too low for one degree of freedom and less than 1 % for more.
fn widening(strata: u64) -> f64 {
    const NORMAL: f64 = 1.959_964;
    if strata == 0 {
        return 1.0;
    }
    let part = 1.0 / strata as f64;
    let student =
        NORMAL + part * (2.372_27 + part * (2.822_50 + part * (2.555_85 + part * 1.589_54)));
    (student / NORMAL) * (student / NORMAL)
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for rule in [
            Rule::Every,
            Rule::Active,
            Rule::OneIn(16),
            Rule::OneIn(MAX_RATE),
            Rule::Budget(1),
            Rule::Budget(1500),
            Rule::Budget(100_000),
        ] {
            assert_eq!(Rule::parse(&rule.to_string()), Some(rule), "{rule}");
        }
        assert_eq!(Rule::parse(" EVERY "), Some(Rule::Every));
        assert_eq!(Rule::parse("1 / 1"), Some(Rule::Every));
        assert_eq!(Rule::parse("Budget 2%"), Some(Rule::Budget(2000)));
        for wrong in [
            "",
            "16",
            "1/0",
            "1/x",
            "2/3",
            "1/65536",
            "budget",
            "budget 0 %",
            "budget -1",
            "budget 101 %",
            "budget NaN",
            "günstig",
        ] {
            assert_eq!(Rule::parse(wrong), None, "{wrong}");
        }
    }

    #[cfg(not(loom))]
    #[test]
    fn samples_add_up_and_forget() {
        let line = Line::default();
        let one = Sample {
            events: 3,
            windows: 1,
            weighted: 12,
            count_variance: 108.0,
            sum_variance: 10_800.0,
            count_open: 2.0,
            sum_open: 3.0,
            strata: 0,
        };
        one.plus(one).store(&line);
        let sample = Sample::read(&line.cells);
        assert_eq!((sample.events, sample.windows, sample.weighted), (6, 2, 24));
        assert_eq!(
            (sample.count_variance, sample.sum_variance),
            (216.0, 21_600.0)
        );
        // An open variance is the present one, whenever counting began.
        let (count_open, sum_open) = (2.0, 3.0);
        let open = Sample {
            count_open,
            sum_open,
            ..Sample::default()
        };
        assert_eq!(sample.since(sample), open);
        assert_eq!(sample.since(one).count_error_squared(), 110.0);
        assert_eq!(sample.since(one).sum_error_squared(), 10_803.0);
    }

    #[cfg(not(loom))]
    #[test]
    fn errors_widen_by_students_quantile() {
        for (strata, student) in [(2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)] {
            let sample = Sample {
                count_variance: 4.0,
                sum_variance: 9.0,
                count_open: 7.0,
                strata,
                ..Sample::default()
            };
            let wider = student / 1.959_964;
            for (actual, expected) in [
                (sample.count_error_squared(), 4.0 * wider * wider + 7.0),
                (sample.sum_error_squared(), 9.0 * wider * wider),
            ] {
                assert!((actual / expected - 1.0).abs() < 0.02, "{strata}: {actual}");
            }
        }
    }
}
