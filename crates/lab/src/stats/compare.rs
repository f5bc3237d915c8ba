//! A configuration against the baseline, repetition by repetition, and in each turn by turn.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::interval::{FEWEST, Interval};
use super::{deviation, mean, trimmed_mean};

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
    /// The interval covers zero, or the difference is within the A/A floor.
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
    /// What it says.
    pub verdict: Verdict,
}

/// A group's baseline: both of its cells.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    /// The first of the A/A pair.
    pub first: Vec<Value>,
    /// The second.
    pub again: Vec<Value>,
}

impl Baseline {
    /// The logarithm of the pair's geometric mean at a moment, or of the one that is there.
    fn log(&self, moment: Moment) -> Option<f64> {
        match (log(&self.first, moment), log(&self.again, moment)) {
            (Some(first), Some(again)) => Some((first + again) / 2.0),
            (one, other) => one.or(other),
        }
    }

    /// The A/A comparison: its second cell against its first.
    pub fn control(&self, rng: &mut Rng) -> Option<Interval> {
        let differences = by_repetition(&self.again, |moment| log(&self.first, moment));
        (!differences.is_empty()).then(|| Interval::of(&differences, rng).map(percent))
    }

    /// What a control calls a difference when there is none: its own, or half of its interval.
    pub fn floor(control: &Interval) -> f64 {
        control.mean.abs().max(control.half().unwrap_or(0.0))
    }

    /// `values` against it. `stable` is whether both may be quoted.
    pub fn compare(
        &self,
        values: &[Value],
        floor_percent: Option<f64>,
        stable: bool,
        rng: &mut Rng,
    ) -> Option<Comparison> {
        let differences = by_repetition(values, |moment| self.log(moment));
        if differences.is_empty() {
            return None;
        }
        let interval = Interval::of(&differences, rng).map(percent);
        let verdict = if !stable {
            Verdict::Unstable
        } else if differences.len() < FEWEST {
            Verdict::TooFew
        } else if interval.excludes_zero() && interval.mean.abs() > floor_percent.unwrap_or(0.0) {
            Verdict::Different
        } else {
            Verdict::NotDistinguishable
        };
        Some(Comparison {
            percent: interval,
            floor_percent,
            pairs: differences.len(),
            verdict,
        })
    }
}

impl Comparison {
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
                let below = self.percent.farthest().unwrap_or(0.0);
                let below = below.max(self.floor_percent.unwrap_or(0.0));
                format!("not distinguishable (below {below:.2} %)")
            }
            Verdict::TooFew => {
                let pairs = self.pairs;
                format!("{interval} without an interval: {pairs} of {FEWEST} repetitions")
            }
            Verdict::Unstable => format!("{interval} *"),
        }
    }
}

/// The spread of a cell between repetitions, in percent, after what its whole group has in common in a
/// repetition is taken out. `None` below three repetitions.
pub fn spread_percent(values: &[Value], group: &[&[Value]]) -> Option<f64> {
    let logs = by_repetition(values, |moment| {
        let all: Vec<f64> = (group.iter())
            .filter_map(|each| log(each, moment))
            .collect();
        Some(mean(&all))
    });
    (logs.len() >= 3).then(|| percent(deviation(&logs)))
}

/// A difference of logarithms in percent.
pub fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}

fn ln(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

fn log(values: &[Value], moment: Moment) -> Option<f64> {
    let (_, value) = values.iter().find(|(of, _)| *of == moment)?;
    ln(*value)
}

/// How the logarithms of values differ from `other` of the same moment: one difference for each repetition. A tenth of
/// a repetition's turns is left out at either end: now and then the machine does something else in one.
fn by_repetition(values: &[Value], other: impl Fn(Moment) -> Option<f64>) -> Vec<f64> {
    let mut repetitions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for &(moment, value) in values {
        if let Some((value, other)) = ln(value).zip(other(moment)) {
            let turns = repetitions.entry(moment.repetition).or_default();
            turns.push(value - other);
        }
    }
    (repetitions.values())
        .map(|turns| trimmed_mean(turns))
        .collect()
}
