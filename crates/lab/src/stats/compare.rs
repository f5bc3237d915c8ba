//! Compares a configuration with the baseline by repetition and turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::interval::{FEWEST, Interval};
use super::mean;
use super::starts::{Components, Coverage, LEAST_STARTS, Start, effect};

/// The moment of a value; only values of the same moment are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The repetition, from 1.
    pub repetition: u32,
    /// The turn in the repetition, from 1; 0 for the complete repetition.
    pub turn: u32,
}

/// One measured value.
pub type Value = (Moment, f64);

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval excludes zero.
    Different,
    /// The interval includes zero, or the difference is no larger than that of the A/A pair.
    NotDistinguishable,
    /// Too few repetitions for an interval.
    TooFew,
    /// The cell or its baseline is unstable.
    Unstable,
}

/// A configuration against the baseline.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The difference in percent with its interval.
    pub percent: Interval,
    /// The apparent difference of the group's A/A pair in percent.
    pub floor_percent: Option<f64>,
    /// Repetitions that both sides have.
    pub pairs: usize,
    /// Turns that both sides have in all repetitions.
    #[serde(default)]
    pub turns: usize,
    /// The coverage of the interval.
    #[serde(rename = "claim", default)]
    pub coverage: Coverage,
    /// The variances of starts and turns.
    #[serde(default)]
    pub components: Option<Components>,
    /// The verdict.
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
    /// From the values of both cells.
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

    /// The starts of a cell against the baseline.
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

    /// The apparent difference of a control: its mean, or its half width if that is larger.
    pub fn floor(control: &Interval) -> f64 {
        control.mean.abs().max(control.half().unwrap_or(0.0))
    }

    /// The amount that a difference has to exceed: zero, unless the control's interval excludes zero.
    /// Then the intervals do not cover all variation, and a difference up to the control's mean is not
    /// evidence.
    pub fn bias(control: &Interval) -> f64 {
        match control.excludes_zero() {
            true => control.mean.abs(),
            false => 0.0,
        }
    }

    /// Compares values with the baseline, given the A/A comparison. `stable`: whether both cells are.
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
    /// The detection limit in percent: the end of the interval that is farther from zero.
    pub fn bound(&self) -> f64 {
        self.percent.farthest().unwrap_or(0.0)
    }

    /// The comparison as text.
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

/// The spread of a cell between repetitions in percent, without the variation that its group has in
/// common and that of turns. `None` below three repetitions.
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

/// The start of each repetition: the differences of logarithms from `others` at the same moments.
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
