//! Starts and the turns within them: both variances, the effect, its interval, and the allocation of
//! time.
//!
//! docs/statistics.md has the model and says why the intervals are valid.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::interval::{FEWEST, Interval};
use super::{deviation, mean, student};

/// The part of a start's turns that is trimmed at either end.
const TRIMMED_PART: f64 = 0.2;

/// The confidence of a run of a fixed size.
const FIXED_CONFIDENCE: f64 = 0.95;

/// Alpha spending: 1 % for interim looks, 4 % for the final one.
const INTERIM_ALPHA: f64 = 0.01;
const FINAL_ALPHA: f64 = 0.04;

/// The variance of effects for which the confidence sequence is tightest, in units of a start's variance.
const MIXTURE_VARIANCE: f64 = 1.0;

/// The least number of starts at which a run may stop by itself.
pub const LEAST_STARTS: usize = 10;

/// Blocks of a start: with fewer, trimming removes nothing; more make a start no better.
const MIN_TURNS: usize = 6;
const MAX_TURNS: usize = 600;

/// The largest ratio of the numbers of turns of two successive starts.
const MAX_TURNS_RATIO: usize = 4;

/// The difference that one start measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// The trimmed mean of its turns' differences.
    pub mean: f64,
    /// The number of its turns.
    pub turns: usize,
    /// The variance of that mean due to the turns; `None` for a start of one value.
    pub within_variance: Option<f64>,
}

impl Start {
    /// The start of these turns' differences.
    pub fn of(turns: &[f64]) -> Self {
        Self::of_each(&[turns.to_vec()])
    }

    /// The start of the turns' differences from each of several equal baselines: the mean over the
    /// baselines.
    ///
    /// Each column is trimmed by itself. The difference of two turns is symmetric, because a burst hits
    /// either as often. The difference of a turn from the mean of two is not, so its trimmed mean would
    /// be biased.
    pub fn of_each(columns: &[Vec<f64>]) -> Self {
        let inner: Vec<Inner> = columns.iter().map(|turns| Inner::of(turns)).collect();
        let n = columns.iter().map(Vec::len).max().unwrap_or(0);
        let complete = columns.iter().all(|turns| turns.len() == n);
        let winsorised = |at: usize| {
            let each = columns.iter().zip(&inner);
            let clamped: Vec<f64> = each
                .map(|(turns, inner)| turns[at].clamp(inner.low, inner.high))
                .collect();
            mean(&clamped)
        };
        let share = inner.first().map_or(1.0, |inner| inner.share);
        let variance = (complete && n >= 3).then(|| {
            let all: Vec<f64> = (0..n).map(winsorised).collect();
            deviation(&all).powi(2) / (share * share * n as f64)
        });
        Self {
            mean: mean(&inner.iter().map(|inner| inner.mean).collect::<Vec<_>>()),
            turns: n,
            within_variance: variance.filter(|variance| variance.is_finite()),
        }
    }
}

/// The turns that trimming leaves.
struct Inner {
    mean: f64,
    low: f64,
    high: f64,
    share: f64,
}

impl Inner {
    fn of(turns: &[f64]) -> Self {
        let mut sorted = turns.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let cut = (n as f64 * TRIMMED_PART) as usize;
        let inner = &sorted[cut..n - cut];
        let end = |at: Option<&f64>| at.copied().unwrap_or(f64::NAN);
        Self {
            mean: mean(inner),
            low: end(inner.first()),
            high: end(inner.last()),
            share: inner.len() as f64 / n as f64,
        }
    }
}

/// The guarantee that a run's intervals have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// 95 %, for a run of a fixed size.
    #[default]
    #[serde(rename = "fixed")]
    FixedSize,
    /// 96 %, for a run that stopped by its rule, which does not see the means; interim looks spend 1 %.
    #[serde(rename = "ended")]
    Stopped,
    /// 99 % at every look, for a run that continues or was interrupted.
    #[serde(rename = "so_far")]
    Anytime,
}

impl Coverage {
    /// The confidence of the intervals in percent.
    pub fn confidence(self) -> u32 {
        let sure = match self {
            Self::FixedSize => FIXED_CONFIDENCE,
            Self::Stopped => 1.0 - FINAL_ALPHA,
            Self::Anytime => 1.0 - INTERIM_ALPHA,
        };
        (100.0 * sure).round() as u32
    }
}

/// Both variances of the logarithms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// Between starts.
    pub between: f64,
    /// Between the turns of a start.
    pub within: f64,
}

impl Components {
    /// Estimates them from the starts of one comparison; `None` below two starts.
    pub fn of(starts: &[Start]) -> Option<Self> {
        if starts.len() < 2 {
            return None;
        }
        let variances: Vec<f64> = (starts.iter())
            .map(|start| start.within_variance.unwrap_or(0.0))
            .collect();
        let turns: f64 = starts.iter().map(|start| start.turns as f64).sum();
        let within = (starts.iter().zip(&variances))
            .map(|(start, variance)| variance * (start.turns as f64).powi(2))
            .sum::<f64>()
            / turns;
        let means: Vec<f64> = starts.iter().map(|start| start.mean).collect();
        Some(Self {
            between: (deviation(&means).powi(2) - mean(&variances)).max(0.0),
            within,
        })
    }

    /// The variance of a start with this number of turns.
    fn of_start(self, turns: usize) -> f64 {
        self.between + self.within / turns.max(1) as f64
    }
}

/// The mean of several comparisons' components.
pub fn pooled(all: &[Components]) -> Option<Components> {
    let of = |part: fn(&Components) -> f64| mean(&all.iter().map(part).collect::<Vec<_>>());
    (!all.is_empty()).then(|| Components {
        between: of(|each| each.between),
        within: of(|each| each.within),
    })
}

/// The effect with its interval.
pub fn effect(starts: &[Start], coverage: Coverage) -> Interval {
    let components = Components::of(starts).unwrap_or_default();
    // If the estimate between starts happens to be near zero, the longest start must not decide by
    // itself.
    let most = starts.iter().map(|start| start.turns).max().unwrap_or(1);
    let components = Components {
        between: components
            .between
            .max(components.within / most as f64 / 2.0),
        ..components
    };
    let weight = |start: &Start| 1.0 / components.of_start(start.turns);
    let weights: Vec<f64> = match components.of_start(1) > 0.0 {
        true => starts.iter().map(weight).collect(),
        // All starts are equal.
        false => vec![1.0; starts.len()],
    };
    let sum: f64 = weights.iter().sum();
    let mean = (starts.iter().zip(&weights))
        .map(|(start, weight)| start.mean * weight)
        .sum::<f64>()
        / sum;
    let squares: f64 = (starts.iter().zip(&weights))
        .map(|(start, weight)| weight * (start.mean - mean).powi(2))
        .sum();
    let error = (squares / (starts.len() as f64 - 1.0) / sum).sqrt();
    let half = (starts.len() >= FEWEST)
        .then(|| error * critical_value(starts.len(), coverage))
        .filter(|half| half.is_finite());
    Interval {
        mean,
        low: half.map(|half| mean - half),
        high: half.map(|half| mean + half),
    }
}

/// The half width of an interval in standard errors; infinite where the interval has no end.
pub fn critical_value(starts: usize, coverage: Coverage) -> f64 {
    match coverage {
        Coverage::FixedSize => student::quantile(FIXED_CONFIDENCE, starts - 1),
        Coverage::Stopped => student::quantile(1.0 - FINAL_ALPHA, starts - 1),
        Coverage::Anytime => {
            let n = starts as f64;
            let k = 1.0 + n * MIXTURE_VARIANCE;
            let ratio = (k / INTERIM_ALPHA.powi(2)).powf(1.0 / n);
            match ratio < k {
                true => ((n - 1.0) * (ratio - 1.0) / (1.0 - ratio / k)).sqrt(),
                false => f64::INFINITY,
            }
        }
    }
}

/// What starts and blocks take, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Starting all servers, until the first turn.
    pub start: f64,
    /// One block: a turn of each configuration.
    pub block: f64,
}

/// The size of the next start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// Blocks of the next start.
    pub turns: usize,
    /// Starts that the target needs in total; `None` without a target.
    pub starts: Option<usize>,
    /// The seconds that the remaining starts take.
    pub seconds_left: Option<f64>,
}

/// The most starts that are considered: a run that needs more needs a quieter machine.
const MAX_STARTS: usize = 1_000;

/// The starts of so many turns that intervals of this half width need.
fn needed(components: Components, turns: usize, half: f64) -> usize {
    static CRITICAL_VALUES: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let starts = 2..=MAX_STARTS;
        starts
            .map(|starts| critical_value(starts, Coverage::Stopped))
            .collect()
    });
    let deviation = components.of_start(turns).sqrt();
    let enough = |n: usize| CRITICAL_VALUES[n - 2] * deviation / (n as f64).sqrt() <= half;
    // `enough` is monotonic in n: bisect.
    let (mut low, mut high) = (LEAST_STARTS, MAX_STARTS);
    if enough(low) {
        return low;
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        match enough(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// The allocation after `done` starts, the last of `last` blocks. `kinds` has the components of each
/// kind of comparison, at least one: within a process, and between two. `half` is the target half width
/// of the logarithms; `left` is the remaining time in seconds.
pub fn allocate(
    kinds: &[Components],
    costs: Costs,
    done: usize,
    last: usize,
    half: Option<f64>,
    left: Option<f64>,
) -> Allocation {
    let block = costs.block.max(1e-6);
    let least = (last / MAX_TURNS_RATIO).max(MIN_TURNS);
    let mut most = (last * MAX_TURNS_RATIO).clamp(least, MAX_TURNS);
    if let Some(left) = left {
        // The remaining time must hold the starts that an interval needs.
        let starts = LEAST_STARTS.saturating_sub(done).max(1) as f64;
        let turns = ((left / starts - costs.start) / block).max(0.0) as usize;
        most = turns.clamp(least, most);
    }
    let time = |turns: usize, starts: usize| starts as f64 * (costs.start + block * turns as f64);
    let Some(half) = half else {
        // The kind with the largest variance decides.
        let variance = |kind: &&Components| kind.of_start(last);
        let widest = (kinds.iter()).max_by(|one, other| variance(one).total_cmp(&variance(other)));
        let widest = widest.copied().unwrap_or_default();
        let optimum = (costs.start / block * widest.within / widest.between).sqrt();
        let turns = match optimum.is_finite() {
            true => (optimum as usize).clamp(least, most),
            false => most,
        };
        return Allocation {
            turns,
            starts: None,
            seconds_left: left,
        };
    };
    let candidates = (0..).map(|step| (least as f64 * 1.15_f64.powi(step)) as usize);
    let (turns, starts) = (candidates.take_while(|turns| *turns <= most))
        .map(|turns| {
            let each = kinds.iter().map(|kind| needed(*kind, turns, half));
            (turns, each.max().unwrap_or(LEAST_STARTS))
        })
        .min_by(|one, other| time(one.0, one.1).total_cmp(&time(other.0, other.1)))
        .unwrap_or((least, LEAST_STARTS));
    let rest = time(turns, starts.saturating_sub(done).max(1));
    Allocation {
        turns,
        starts: Some(starts),
        seconds_left: Some(left.map_or(rest, |left| left.min(rest))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_confidence_sequence_is_wider_than_the_final_interval() {
        for starts in [8, 20, 100, 1_000] {
            let (so_far, ended) = (
                critical_value(starts, Coverage::Anytime),
                critical_value(starts, Coverage::Stopped),
            );
            assert!(
                so_far > 1.3 * ended && so_far < 3.5 * ended,
                "{starts}: {so_far} {ended}"
            );
        }
        // Two starts have no interval at 99 %.
        assert!(critical_value(2, Coverage::Anytime).is_infinite());
    }

    #[test]
    fn a_burst_in_a_fifth_of_the_turns_does_not_move_a_start() {
        let mut turns = vec![0.02; 40];
        turns[..8].fill(0.7);
        let start = Start::of(&turns);
        assert!((start.mean - 0.02).abs() < 1e-9 && start.turns == 40);
        assert_eq!(Start::of(&[0.1]).within_variance, None);
    }

    #[test]
    fn time_is_allocated_to_the_larger_variance() {
        let costs = Costs {
            start: 3.0,
            block: 0.2,
        };
        let noisy_starts = Components {
            between: 9e-4,
            within: 1e-4,
        };
        let noisy_turns = Components {
            between: 1e-6,
            within: 4e-2,
        };
        let few = allocate(&[noisy_starts], costs, 2, 40, Some(0.01), None);
        let many = allocate(&[noisy_turns], costs, 2, 40, Some(0.01), None);
        assert!(few.turns <= 10 && many.turns > 80, "{few:?} {many:?}");
        assert!(few.starts > many.starts, "{few:?} {many:?}");
        // Kalibera and Jones: sqrt(3/0.2 * 0.04/0.0009) = 25.8.
        let example = Components {
            between: 9e-4,
            within: 4e-2,
        };
        assert_eq!(allocate(&[example], costs, 2, 40, None, None).turns, 25);
        // The largest variance decides, not the mean of all.
        let both = allocate(&[noisy_starts, noisy_turns], costs, 2, 40, Some(0.01), None);
        assert!(
            both.starts >= few.starts && both.turns > few.turns,
            "{both:?}"
        );
        // With 30 s left for six more starts, none may take more than 5 s.
        let hurried = allocate(&[noisy_turns], costs, 2, 40, None, Some(30.0));
        assert_eq!(hurried.turns, 10);
    }

    #[test]
    fn components_are_estimated() {
        let turns = |level: f64| [level - 0.01, level, level + 0.01, level, level].map(|x| x);
        let starts: Vec<Start> = [0.0, 0.04, -0.04, 0.02]
            .map(|level| Start::of(&turns(level)))
            .into();
        let components = Components::of(&starts).expect("several");
        assert!(
            components.between > 8e-4 && components.within < 2e-4,
            "{components:?}"
        );
        assert_eq!(Components::of(&starts[..1]), None);
    }
}
