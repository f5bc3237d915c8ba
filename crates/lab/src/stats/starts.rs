//! Starts and the turns within them: both variances, the effect, its interval, and where to spend time.
//!
//! docs/statistics.md has the model and says why the intervals are valid.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::interval::{FEWEST, Interval};
use super::{deviation, mean, student};

/// The part of a start's turns that is left out at either end.
const TRIM: f64 = 0.2;

/// What the intervals of a run of a fixed size are of.
const FIXED: f64 = 0.95;

/// Of the run's 5 % to err, what looks may spend, and what is left for the end.
const LOOKS: f64 = 0.01;
const END: f64 = 0.04;

/// The variance of the effects that the confidence sequence is tightest for, in units of a start's.
const MIXTURE: f64 = 1.0;

/// The least number of starts at which a run may stop by itself.
pub const LEAST_STARTS: usize = 10;

/// Blocks of a start: below, trimming leaves out nothing; above, a start is as good as it gets.
const LEAST_TURNS: usize = 6;
const MOST_TURNS: usize = 600;

/// How fast the number of turns may change from one start to the next.
const STEP: usize = 4;

/// What one start says of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// The trimmed mean of its turns' differences.
    pub mean: f64,
    /// How many turns.
    pub turns: usize,
    /// The variance of that mean that comes from its turns; `None` of a start that is one value.
    pub error: Option<f64>,
}

impl Start {
    /// Of the differences of its turns.
    pub fn of(turns: &[f64]) -> Self {
        Self::of_each(&[turns.to_vec()])
    }

    /// Of the differences of its turns from each of several that are the same: the mean of what each says.
    ///
    /// They are trimmed one by one. The difference of two turns is symmetric whatever a burst does, because it hits either as
    /// often. That of a turn from the mean of two is not, and its trimmed mean would be beside the truth.
    pub fn of_each(columns: &[Vec<f64>]) -> Self {
        let inner: Vec<Inner> = columns.iter().map(|turns| Inner::of(turns)).collect();
        let n = columns.iter().map(Vec::len).max().unwrap_or(0);
        let whole = columns.iter().all(|turns| turns.len() == n);
        let winsorised = |at: usize| {
            let each = columns.iter().zip(&inner);
            let clamped: Vec<f64> = each
                .map(|(turns, inner)| turns[at].clamp(inner.low, inner.high))
                .collect();
            mean(&clamped)
        };
        let kept = inner.first().map_or(1.0, |inner| inner.kept);
        let error = (whole && n >= 3).then(|| {
            let all: Vec<f64> = (0..n).map(winsorised).collect();
            deviation(&all).powi(2) / (kept * kept * n as f64)
        });
        Self {
            mean: mean(&inner.iter().map(|inner| inner.mean).collect::<Vec<_>>()),
            turns: n,
            error: error.filter(|error| error.is_finite()),
        }
    }
}

/// What is left of turns after trimming.
struct Inner {
    mean: f64,
    low: f64,
    high: f64,
    kept: f64,
}

impl Inner {
    fn of(turns: &[f64]) -> Self {
        let mut sorted = turns.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let cut = (n as f64 * TRIM) as usize;
        let inner = &sorted[cut..n - cut];
        let end = |at: Option<&f64>| at.copied().unwrap_or(f64::NAN);
        Self {
            mean: mean(inner),
            low: end(inner.first()),
            high: end(inner.last()),
            kept: inner.len() as f64 / n as f64,
        }
    }
}

/// Which interval a run may claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Of a run of a fixed size: 95 %.
    #[default]
    Fixed,
    /// Of one that ended by its own rule, which is blind to the means: 96 %, so that 1 % is left for the looks.
    Ended,
    /// Of one that goes on or was interrupted: 99 % at every look.
    SoFar,
}

impl Claim {
    /// How sure its intervals are, in percent.
    pub fn confidence(self) -> u32 {
        let sure = match self {
            Self::Fixed => FIXED,
            Self::Ended => 1.0 - END,
            Self::SoFar => 1.0 - LOOKS,
        };
        (100.0 * sure).round() as u32
    }
}

/// Both variances, of logarithms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// Between starts.
    pub between: f64,
    /// Between the turns of a start.
    pub within: f64,
}

impl Components {
    /// Of the starts of one comparison; `None` below two starts.
    pub fn of(starts: &[Start]) -> Option<Self> {
        if starts.len() < 2 {
            return None;
        }
        let errors: Vec<f64> = starts
            .iter()
            .map(|start| start.error.unwrap_or(0.0))
            .collect();
        let turns: f64 = starts.iter().map(|start| start.turns as f64).sum();
        let within = (starts.iter().zip(&errors))
            .map(|(start, error)| error * (start.turns as f64).powi(2))
            .sum::<f64>()
            / turns;
        let means: Vec<f64> = starts.iter().map(|start| start.mean).collect();
        Some(Self {
            between: (deviation(&means).powi(2) - mean(&errors)).max(0.0),
            within,
        })
    }

    /// The variance of a start of so many turns.
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

/// The effect, with the interval that the run may claim.
pub fn effect(starts: &[Start], claim: Claim) -> Interval {
    let components = Components::of(starts).unwrap_or_default();
    // A variance between starts that happens to look like none must not let the longest of them decide alone.
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
        // All are equal.
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
        .then(|| error * reach(starts.len(), claim))
        .filter(|half| half.is_finite());
    Interval {
        mean,
        low: half.map(|half| mean - half),
        high: half.map(|half| mean + half),
    }
}

/// How many standard errors an interval of so many starts reaches; infinite where it has no end.
pub fn reach(starts: usize, claim: Claim) -> f64 {
    match claim {
        Claim::Fixed => student::quantile(FIXED, starts - 1),
        Claim::Ended => student::quantile(1.0 - END, starts - 1),
        Claim::SoFar => {
            let n = starts as f64;
            let k = 1.0 + n * MIXTURE;
            let ratio = (k / LOOKS.powi(2)).powf(1.0 / n);
            match ratio < k {
                true => ((n - 1.0) * (ratio - 1.0) / (1.0 - ratio / k)).sqrt(),
                false => f64::INFINITY,
            }
        }
    }
}

/// What time costs, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// To start everything, until the first turn.
    pub start: f64,
    /// One block: a turn of each configuration.
    pub block: f64,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// Blocks of the next start.
    pub turns: usize,
    /// Starts that the target needs in all; none without a target.
    pub starts: Option<usize>,
    /// Seconds that the rest takes.
    pub seconds_left: Option<f64>,
}

/// The most starts that are reckoned with: who needs more needs a quieter machine.
const MOST_STARTS: usize = 1_000;

/// Starts that intervals of this half width need, when each has so many turns.
fn needed(components: Components, turns: usize, half: f64) -> usize {
    static REACH: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let starts = 2..=MOST_STARTS;
        starts.map(|starts| reach(starts, Claim::Ended)).collect()
    });
    let deviation = components.of_start(turns).sqrt();
    let enough = |n: usize| REACH[n - 2] * deviation / (n as f64).sqrt() <= half;
    // Grows with n: bisect.
    let (mut low, mut high) = (LEAST_STARTS, MOST_STARTS);
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

/// How to go on after `done` starts, the last of `last` blocks. `kinds` has the components of each kind of comparison, one at least: within
/// a process, and between two. `half` is the target, of logarithms; `left` the seconds that remain.
pub fn allocate(
    kinds: &[Components],
    costs: Costs,
    done: usize,
    last: usize,
    half: Option<f64>,
    left: Option<f64>,
) -> Allocation {
    let block = costs.block.max(1e-6);
    let least = (last / STEP).max(LEAST_TURNS);
    let mut most = (last * STEP).clamp(least, MOST_TURNS);
    if let Some(left) = left {
        // Of what time is left, as many starts have to come as an interval needs.
        let starts = LEAST_STARTS.saturating_sub(done).max(1) as f64;
        let turns = ((left / starts - costs.start) / block).max(0.0) as usize;
        most = turns.clamp(least, most);
    }
    let time = |turns: usize, starts: usize| starts as f64 * (costs.start + block * turns as f64);
    let Some(half) = half else {
        // The kind that is known least decides.
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
    fn the_sequence_is_wider_than_the_interval_of_the_end_and_closes() {
        for starts in [8, 20, 100, 1_000] {
            let (so_far, ended) = (reach(starts, Claim::SoFar), reach(starts, Claim::Ended));
            assert!(
                so_far > 1.3 * ended && so_far < 3.5 * ended,
                "{starts}: {so_far} {ended}"
            );
        }
        // Two starts cannot be told from anything at 99 %.
        assert!(reach(2, Claim::SoFar).is_infinite());
    }

    #[test]
    fn a_burst_in_a_fifth_of_the_turns_does_not_move_a_start() {
        let mut turns = vec![0.02; 40];
        turns[..8].fill(0.7);
        let start = Start::of(&turns);
        assert!((start.mean - 0.02).abs() < 1e-9 && start.turns == 40);
        assert_eq!(Start::of(&[0.1]).error, None);
    }

    #[test]
    fn time_goes_to_where_the_variance_is() {
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
        let known = Components {
            between: 9e-4,
            within: 4e-2,
        };
        assert_eq!(allocate(&[known], costs, 2, 40, None, None).turns, 25);
        // What is known least decides, not the mean of all.
        let both = allocate(&[noisy_starts, noisy_turns], costs, 2, 40, Some(0.01), None);
        assert!(
            both.starts >= few.starts && both.turns > few.turns,
            "{both:?}"
        );
        // With half a minute left for six more starts none may take more than five seconds.
        let hurried = allocate(&[noisy_turns], costs, 2, 40, None, Some(30.0));
        assert_eq!(hurried.turns, 10);
    }

    #[test]
    fn components_are_found() {
        let turns = |level: f64| [level - 0.01, level, level + 0.01, level, level].map(|x| x);
        let starts: Vec<Start> = [0.0, 0.04, -0.04, 0.02]
            .map(|level| Start::of(&turns(level)))
            .into();
        let found = Components::of(&starts).expect("several");
        assert!(found.between > 8e-4 && found.within < 2e-4, "{found:?}");
        assert_eq!(Components::of(&starts[..1]), None);
    }
}
