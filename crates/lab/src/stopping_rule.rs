//! Runs that stop by themselves: when every interval is narrow enough, or the time is over.
//!
//! Interim looks do no harm because the rule does not see the means; docs/statistics.md explains it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell;
use crate::matrix::Key;
use crate::recipe::Measure;
use crate::run::switch::{self, Twins};
use crate::stats::compare::{Baseline, Logs, Moment, Value, logs, percent};
use crate::stats::starts::{
    Allocation, Components, Costs, Coverage, LEAST_STARTS, Start, allocate, effect, pooled,
};
use crate::store::Plan;

/// Blocks of each of the first two starts, which estimate both variances.
const FIRST_TURNS: usize = 20;

/// A comparison that lacks this many of its group's starts fails repeatedly; the rule ignores it.
const MAX_MISSING_STARTS: usize = 4;

/// The condition under which a run stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The largest half width of an interval in percent.
    pub percent: Option<f64>,
    /// The duration in seconds.
    pub seconds: Option<f64>,
}

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Every interval was narrow enough.
    Narrow,
    /// The time was over.
    Time,
    /// There is nothing to compare.
    Nothing,
}

/// The rule of a run and its state; part of plan.json.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StoppingRule {
    /// The condition.
    pub until: Until,
    /// The duration in seconds, including the earlier runs that this one resumes.
    pub spent: f64,
    /// Why it stopped; `None` while it continues, and if it was interrupted.
    pub ended: Option<StopReason>,
    /// The next start of each load, by server, workload and connections.
    pub groups: BTreeMap<String, Next>,
}

/// The next start of one load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// Whether the intervals are narrow enough.
    pub done: bool,
    /// Blocks of the next start.
    pub turns: Option<usize>,
    /// The durations of starts and blocks so far.
    pub costs: Option<Costs>,
    /// The variances of the comparisons that need most starts.
    pub components: Option<Components>,
    /// The starts that are needed in total.
    pub starts: Option<usize>,
    /// The remaining seconds.
    pub seconds_left: Option<f64>,
}

/// The starts of one comparison.
#[derive(Debug, Clone)]
pub struct ComparisonStarts {
    /// The cell.
    pub key: Key,
    /// Whether the baseline is another process, which increases the variance between starts.
    pub apart: bool,
    /// The starts.
    pub starts: Vec<Start>,
}

impl ComparisonStarts {
    /// The half width in percent that the interval would have if the run ended now.
    fn half(&self) -> Option<f64> {
        effect(&self.starts, Coverage::Stopped).map(percent).half()
    }

    fn is_narrow(&self, target: f64) -> bool {
        self.starts.len() >= LEAST_STARTS && self.half().is_some_and(|half| half <= target)
    }

    /// The interim interval as text.
    pub fn words(&self) -> String {
        let so_far = effect(&self.starts, Coverage::Anytime).map(percent);
        let name = self.key.label();
        match (so_far.low, so_far.high) {
            (Some(low), Some(high)) => {
                format!("{name} {:+.1} % [{low:+.1}, {high:+.1}]", so_far.mean)
            }
            _ => format!("{name}: too few starts"),
        }
    }
}

impl StoppingRule {
    /// The rule of a run that has not begun.
    pub fn new(until: Until) -> Self {
        Self {
            until,
            ..Self::default()
        }
    }

    /// Blocks of the next start of a load.
    pub fn turns(&self, load: &str) -> u32 {
        let next = self.groups.get(load).and_then(|next| next.turns);
        next.unwrap_or(FIRST_TURNS) as u32
    }

    /// Records the duration of a load's start.
    pub fn record_costs(&mut self, load: &str, took: Costs) {
        let next = self.groups.entry(load.to_owned()).or_default();
        next.costs = Some(match next.costs {
            None => took,
            // Later starts weigh more than the first.
            Some(had) => Costs {
                start: (had.start + took.start) / 2.0,
                block: (had.block + took.block) / 2.0,
            },
        });
    }

    /// The remaining seconds of the given time.
    pub fn left(&self) -> Option<f64> {
        Some((self.until.seconds? - self.spent).max(0.0))
    }

    /// Decides whether the run is over. The means of the comparisons play no part.
    pub fn decide(
        &mut self,
        comparisons: &BTreeMap<String, Vec<ComparisonStarts>>,
    ) -> Option<StopReason> {
        let left = self.left();
        for (load, comparisons) in comparisons {
            let next = self.groups.entry(load.clone()).or_default();
            next.update(comparisons, self.until.percent, left);
        }
        let nothing = comparisons.values().all(Vec::is_empty);
        self.ended = if left == Some(0.0) {
            Some(StopReason::Time)
        } else if nothing {
            Some(StopReason::Nothing)
        } else if comparisons.keys().all(|load| self.groups[load].done) {
            Some(StopReason::Narrow)
        } else {
            None
        };
        self.ended
    }

    /// The remaining seconds, if they can be estimated.
    pub fn seconds_left(&self) -> Option<f64> {
        let open: Vec<&Next> = self.groups.values().filter(|next| !next.done).collect();
        let sum = (open.iter()).try_fold(0.0, |sum, next| Some(sum + next.seconds_left?));
        match (sum, self.left()) {
            (Some(sum), Some(left)) => Some(sum.min(left)),
            (sum, left) => sum.or(left),
        }
    }
}

impl Next {
    fn update(&mut self, comparisons: &[ComparisonStarts], target: Option<f64>, left: Option<f64>) {
        let most = comparisons
            .iter()
            .map(|comparison| comparison.starts.len())
            .max();
        let Some(done) = most else {
            self.done = true;
            return;
        };
        let complete: Vec<&ComparisonStarts> = (comparisons.iter())
            .filter(|comparison| comparison.starts.len() + MAX_MISSING_STARTS > done)
            .collect();
        self.done = target.is_some_and(|target| {
            complete
                .iter()
                .all(|comparison| comparison.is_narrow(target))
        });
        let of_kind = |apart: bool| {
            let same = complete
                .iter()
                .filter(|comparison| comparison.apart == apart);
            let all: Vec<Components> = same
                .filter_map(|comparison| Components::of(&comparison.starts))
                .collect();
            pooled(&all)
        };
        let kinds: Vec<Components> = [false, true].into_iter().filter_map(of_kind).collect();
        let between = |kind: &&Components| kind.between;
        self.components = (kinds.iter())
            .max_by(|one, other| between(one).total_cmp(&between(other)))
            .copied();
        let (Some(_), Some(costs)) = (self.components, self.costs) else {
            return;
        };
        let last = (complete
            .iter()
            .filter_map(|comparison| comparison.starts.last()))
        .map(|start| start.turns);
        let last = last.max().unwrap_or(FIRST_TURNS);
        let half = target.map(|percent| (percent / 100.0).ln_1p());
        let Allocation {
            turns,
            starts,
            seconds_left,
        } = allocate(&kinds, costs, done, last, half, left);
        (self.turns, self.starts, self.seconds_left) = (Some(turns), starts, seconds_left);
    }
}

/// The comparisons of each load with the baseline, without the A/A pair.
pub fn comparisons_by_load(
    plan: &Plan,
    results: &[cell::Result],
) -> BTreeMap<String, Vec<ComparisonStarts>> {
    let keys = plan.recipe.keys();
    let mut groups: BTreeMap<String, Vec<Key>> = BTreeMap::new();
    for key in keys {
        groups.entry(key.load_title()).or_default().push(key);
    }
    (groups.into_iter())
        .map(|(load, keys)| (load, group_comparisons(plan, &keys, results)))
        .collect()
}

fn group_comparisons(plan: &Plan, keys: &[Key], results: &[cell::Result]) -> Vec<ComparisonStarts> {
    let is_baseline = |key: &&Key| plan.recipe.baseline.as_ref() == Some(&key.configuration);
    let Some(baseline_key) = keys.iter().find(is_baseline) else {
        return Vec::new();
    };
    let again = Key {
        again: true,
        ..baseline_key.clone()
    };
    // Server CPU varies least; loads without a server have the recipe's measure.
    let measure = [Measure::ServerCpu, plan.recipe.measure]
        .into_iter()
        .find(|measure| !logs_of_key(baseline_key, *measure, results).is_empty());
    let Some(measure) = measure else {
        return Vec::new();
    };
    let baseline = Baseline {
        first: logs_of_key(baseline_key, measure, results),
        again: logs_of_key(&again, measure, results),
    };
    let mut comparisons: Vec<ComparisonStarts> = (keys.iter().filter(|key| !is_baseline(key)))
        .map(|key| ComparisonStarts {
            key: key.clone(),
            apart: !switch::is_same_process(&plan.recipe, baseline_key, key),
            starts: (Twins::of(&plan.recipe, baseline_key, key).baseline(&baseline))
                .starts(&logs_of_key(key, measure, results)),
        })
        .collect();
    if comparisons.is_empty() {
        // The group has only the A/A pair.
        comparisons.push(ComparisonStarts {
            apart: !switch::is_same_process(&plan.recipe, &again, &again),
            key: again,
            starts: baseline.control_starts(),
        });
    }
    comparisons.retain(|comparison| !comparison.starts.is_empty());
    comparisons
}

fn logs_of_key(key: &Key, measure: Measure, results: &[cell::Result]) -> Logs {
    let values: Vec<Value> = (results.iter().filter(|result| result.cell.key == *key))
        .flat_map(|result| {
            let repetition = result.cell.repetition;
            let measured = result.outcome.measured();
            let turns = measured.map(|measured| measured.by_turns(measure));
            let moment = move |(turn, value)| (Moment { repetition, turn }, value);
            turns.unwrap_or_default().into_iter().map(moment)
        })
        .collect();
    logs(&values)
}
