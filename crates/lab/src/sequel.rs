//! Runs that stop by themselves: when every interval is narrow enough, or the time is over.
//!
//! docs/statistics.md says why looking again and again does no harm: what decides to stop sees no mean.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell;
use crate::matrix::Key;
use crate::recipe::Measure;
use crate::run::switch::{self, Twins};
use crate::stats::compare::{Baseline, Logs, Moment, Value, logs, percent};
use crate::stats::starts::{
    Allocation, Claim, Components, Costs, LEAST_STARTS, Start, allocate, effect, pooled,
};
use crate::store::Plan;

/// Blocks of each of the first two starts, which find out both variances.
const FIRST_TURNS: usize = 20;

/// A comparison that lacks so many of its group's starts fails again and again: nobody waits for it.
const LACKING: usize = 4;

/// When a run stops by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Every interval reaches at most so many percent to either side.
    pub percent: Option<f64>,
    /// So many seconds are over.
    pub seconds: Option<f64>,
}

/// Why a run stopped by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Every interval was narrow enough.
    Narrow,
    /// The time was over.
    Time,
    /// There is nothing that more repetitions would tell.
    Nothing,
}

/// How far such a run has come; part of plan.json.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sequel {
    /// When it stops.
    pub until: Until,
    /// Seconds that it ran, earlier runs that it goes on with included.
    pub spent: f64,
    /// Why it stopped; none while it goes on, and of one that was interrupted.
    pub ended: Option<Ended>,
    /// What the loads' next starts look like, by server, workload and connections.
    pub groups: BTreeMap<String, Next>,
}

/// The next start of one load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// Whether its intervals are narrow enough.
    pub done: bool,
    /// Blocks of the next start.
    pub turns: Option<usize>,
    /// What its starts and blocks took so far.
    pub costs: Option<Costs>,
    /// The variances of its comparisons, of those that need most.
    pub components: Option<Components>,
    /// Starts that it needs in all, and seconds until then.
    pub starts: Option<usize>,
    /// See there.
    pub seconds_left: Option<f64>,
}

/// What is known of one comparison.
#[derive(Debug, Clone)]
pub struct Known {
    /// Of which cell.
    pub key: Key,
    /// Whether the baseline is another process, so that starts differ more.
    pub apart: bool,
    /// Its starts.
    pub starts: Vec<Start>,
}

impl Known {
    /// Half of the width that its interval would have if the run ended now, in percent.
    fn half(&self) -> Option<f64> {
        effect(&self.starts, Claim::Ended).map(percent).half()
    }

    fn is_narrow(&self, target: f64) -> bool {
        self.starts.len() >= LEAST_STARTS && self.half().is_some_and(|half| half <= target)
    }

    /// What may be said of it while the run goes on.
    pub fn words(&self) -> String {
        let so_far = effect(&self.starts, Claim::SoFar).map(percent);
        let name = self.key.label();
        match (so_far.low, so_far.high) {
            (Some(low), Some(high)) => {
                format!("{name} {:+.1} % [{low:+.1}, {high:+.1}]", so_far.mean)
            }
            _ => format!("{name}: too few starts"),
        }
    }
}

impl Sequel {
    /// One that has not begun.
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

    /// What a start of a load took.
    pub fn note(&mut self, load: &str, took: Costs) {
        let next = self.groups.entry(load.to_owned()).or_default();
        next.costs = Some(match next.costs {
            None => took,
            // The last starts tell more of the next one than the first did.
            Some(had) => Costs {
                start: (had.start + took.start) / 2.0,
                block: (had.block + took.block) / 2.0,
            },
        });
    }

    /// Seconds that are left of the time that it was given.
    pub fn left(&self) -> Option<f64> {
        Some((self.until.seconds? - self.spent).max(0.0))
    }

    /// Whether the run is over, and why. What was found of the comparisons' means plays no part.
    pub fn decide(&mut self, known: &BTreeMap<String, Vec<Known>>) -> Option<Ended> {
        let left = self.left();
        for (load, comparisons) in known {
            let next = self.groups.entry(load.clone()).or_default();
            next.look(comparisons, self.until.percent, left);
        }
        let nothing = known.values().all(Vec::is_empty);
        self.ended = if left == Some(0.0) {
            Some(Ended::Time)
        } else if nothing {
            Some(Ended::Nothing)
        } else if known.keys().all(|load| self.groups[load].done) {
            Some(Ended::Narrow)
        } else {
            None
        };
        self.ended
    }

    /// How long the rest takes, as far as that is known.
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
    fn look(&mut self, comparisons: &[Known], target: Option<f64>, left: Option<f64>) {
        let most = comparisons.iter().map(|known| known.starts.len()).max();
        let Some(done) = most else {
            self.done = true;
            return;
        };
        let kept: Vec<&Known> = (comparisons.iter())
            .filter(|known| known.starts.len() + LACKING > done)
            .collect();
        self.done = target.is_some_and(|target| kept.iter().all(|known| known.is_narrow(target)));
        let of_kind = |apart: bool| {
            let same = kept.iter().filter(|known| known.apart == apart);
            let all: Vec<Components> = same
                .filter_map(|known| Components::of(&known.starts))
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
        let last = (kept.iter().filter_map(|known| known.starts.last())).map(|start| start.turns);
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

/// What of each load is known: its comparisons with the baseline, the A/A pair's left out.
pub fn known(plan: &Plan, results: &[cell::Result]) -> BTreeMap<String, Vec<Known>> {
    let keys = plan.recipe.keys();
    let mut groups: BTreeMap<String, Vec<Key>> = BTreeMap::new();
    for key in keys {
        groups.entry(key.load_title()).or_default().push(key);
    }
    (groups.into_iter())
        .map(|(load, keys)| (load, of_group(plan, &keys, results)))
        .collect()
}

fn of_group(plan: &Plan, keys: &[Key], results: &[cell::Result]) -> Vec<Known> {
    let is_baseline = |key: &&Key| plan.recipe.baseline.as_ref() == Some(&key.configuration);
    let Some(baseline_key) = keys.iter().find(is_baseline) else {
        return Vec::new();
    };
    let again = Key {
        again: true,
        ..baseline_key.clone()
    };
    // The steadiest measure first; of loads without a server the recipe's.
    let measure = [Measure::ServerCpu, plan.recipe.measure]
        .into_iter()
        .find(|measure| !of_key(baseline_key, *measure, results).is_empty());
    let Some(measure) = measure else {
        return Vec::new();
    };
    let baseline = Baseline {
        first: of_key(baseline_key, measure, results),
        again: of_key(&again, measure, results),
    };
    let mut known: Vec<Known> = (keys.iter().filter(|key| !is_baseline(key)))
        .map(|key| Known {
            key: key.clone(),
            apart: !switch::one_process(&plan.recipe, baseline_key, key),
            starts: (Twins::of(&plan.recipe, baseline_key, key).baseline(&baseline))
                .starts(&of_key(key, measure, results)),
        })
        .collect();
    if known.is_empty() {
        // A/A alone.
        known.push(Known {
            apart: !switch::one_process(&plan.recipe, &again, &again),
            key: again,
            starts: baseline.control_starts(),
        });
    }
    known.retain(|known| !known.starts.is_empty());
    known
}

fn of_key(key: &Key, measure: Measure, results: &[cell::Result]) -> Logs {
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
