//! A configuration against the baseline, repetition by repetition, and in each turn by turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::interval::{FEWEST, Interval};
use super::mean;
use super::starts::{Components, Coverage, LEAST_STARTS, Start, effect};

/// When a value was measured: only values of the same moment are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Which repetition, from 1.
    pub repetition: u32,
    /// Which turn in it, from 1; 0 is all of it.
    pub turn: u32,
}

/// One measured value.
pub type Value = (Moment, f64);

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A difference.
    Different,
    /// The interval covers zero, or the difference is no larger than the one that the A/A pair shows.
    NotDistinguishable,
    /// Too few repetitions to say.
    TooFew,
    /// The cell, or its baseline, is unstable: not to be quoted.
    Unstable,
}

/// A configuration against the baseline.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// Difference in percent, with its interval.
    pub percent: Interval,
    /// What the A/A pair of the group calls a difference when there is none, in percent.
    pub floor_percent: Option<f64>,
    /// Repetitions that both sides have.
    pub pairs: usize,
    /// Turns that both sides have, in all repetitions.
    #[serde(default)]
    pub turns: usize,
    /// What the interval is of.
    #[serde(rename = "claim", default)]
    pub coverage: Coverage,
    /// How starts and turns vary, of logarithms.
    #[serde(default)]
    pub components: Option<Components>,
    /// What it says.
    pub verdict: Verdict,
}

/// Logarithms of a cell's values.
pub type Logs = BTreeMap<Moment, f64>;

/// The logarithms of those values that have one.
pub fn logs(values: &[Value]) -> Logs {
    let log = |&(moment, value): &Value| Some((moment, ln(value)?));
    values.iter().filter_map(log).collect()
}

/// A group's baseline: both of its cells.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    /// The first of the A/A pair.
    pub first: Logs,
    /// The second.
    pub again: Logs,
}

impl Baseline {
    /// Of the values of both.
    pub fn of(first: &[Value], again: &[Value]) -> Self {
        Self {
            first: logs(first),
            again: logs(again),
        }
    }

    /// The starts of the A/A comparison: its second cell against its first.
    pub fn control_starts(&self) -> Vec<Start> {
        starts(&self.again, &[&self.first])
    }

    /// The starts of a cell against it.
    pub fn starts(&self, of: &Logs) -> Vec<Start> {
        let both = [&self.first, &self.again];
        let there: Vec<&Logs> = (both.into_iter()).filter(|logs| !logs.is_empty()).collect();
        starts(of, &there)
    }

    /// The A/A comparison.
    pub fn control(&self, coverage: Coverage) -> Option<Interval> {
        let starts = self.control_starts();
        (!starts.is_empty()).then(|| effect(&starts, coverage).map(percent))
    }

    /// What a control calls a difference when there is none: its own, or half of its interval.
    pub fn floor(control: &Interval) -> f64 {
        control.mean.abs().max(control.half().unwrap_or(0.0))
    }

    /// By how much a difference has to exceed zero: nothing, unless the control finds one where there is none. Then the
    /// intervals do not tell all that goes on, and what is not larger than that says nothing.
    pub fn bias(control: &Interval) -> f64 {
        match control.excludes_zero() {
            true => control.mean.abs(),
            false => 0.0,
        }
    }

    /// `values` against it, with what the A/A comparison says. `stable` is whether both may be quoted.
    pub fn compare(
        &self,
        values: &Logs,
        control: Option<&Interval>,
        stable: bool,
        coverage: Coverage,
    ) -> Option<Comparison> {
        let starts = self.starts(values);
        if starts.is_empty() {
            return None;
        }
        let interval = effect(&starts, coverage).map(percent);
        let verdict = if !stable {
            Verdict::Unstable
        } else if interval.low.is_none() {
            Verdict::TooFew
        } else if interval.excludes_zero() && interval.mean.abs() > control.map_or(0.0, Self::bias)
        {
            Verdict::Different
        } else {
            Verdict::NotDistinguishable
        };
        Some(Comparison {
            percent: interval,
            floor_percent: control.map(Self::floor),
            pairs: starts.len(),
            turns: starts.iter().map(|start| start.turns).sum(),
            coverage,
            components: Components::of(&starts),
            verdict,
        })
    }
}

impl Comparison {
    /// The difference below which this comparison would have seen nothing, in percent: the end of its interval that is farther
    /// from zero.
    pub fn bound(&self) -> f64 {
        self.percent.farthest().unwrap_or(0.0)
    }

    /// As it is printed: the difference with its interval, or that there is none to be seen.
    pub fn words(&self) -> String {
        let signed = |x: f64| format!("{x:+.2} %");
        let interval = match (self.percent.low, self.percent.high) {
            (Some(low), Some(high)) => {
                format!("{} [{low:+.2}, {high:+.2}]", signed(self.percent.mean))
            }
            _ => signed(self.percent.mean),
        };
        match self.verdict {
            Verdict::Different => interval,
            Verdict::NotDistinguishable => {
                format!("not distinguishable (below {:.2} %)", self.bound())
            }
            Verdict::TooFew => {
                let pairs = self.pairs;
                let needed = match self.coverage {
                    Coverage::Anytime => LEAST_STARTS,
                    Coverage::FixedSize | Coverage::Stopped => FEWEST,
                };
                format!("{interval} without an interval: {pairs} of {needed} repetitions")
            }
            Verdict::Unstable => format!("{interval} *"),
        }
    }
}

/// The spread of a cell between repetitions, in percent, after what its whole group has in common in a repetition is taken out, and
/// what few turns vary by. `None` below three repetitions.
pub fn spread_percent(values: &Logs, group: &[Logs]) -> Option<f64> {
    let common: Logs = (values.keys())
        .map(|moment| {
            let all: Vec<f64> = (group.iter())
                .filter_map(|each| each.get(moment).copied())
                .collect();
            (*moment, mean(&all))
        })
        .collect();
    let starts = starts(values, &[&common]);
    let components = Components::of(&starts)?;
    (starts.len() >= 3).then(|| percent(components.between.sqrt()))
}

/// A difference of logarithms in percent.
pub fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}

fn ln(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

/// How logarithms differ from each of `others` at the same moment: of each repetition what its turns say.
fn starts(logs: &Logs, others: &[&Logs]) -> Vec<Start> {
    let mut repetitions: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
    for (moment, log) in logs {
        for (at, other) in others.iter().enumerate() {
            if let Some(other) = other.get(moment) {
                let columns = repetitions.entry(moment.repetition).or_default();
                columns.resize_with(others.len(), Vec::new);
                columns[at].push(log - other);
            }
        }
    }
    (repetitions.into_values())
        .map(|mut columns| {
            columns.retain(|turns| !turns.is_empty());
            Start::of_each(&columns)
        })
        .collect()
}
