//! Compares two runs, such as yesterday's build and today's. docs/weigh.md describes what that can show.
//!
//! The runs were not interleaved, so a change of the machine between them is part of the difference,
//! and repetitions do not reveal it. A configuration that is the same program in both runs removes it
//! ([`Settings::same`]).

mod welch;

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use crate::analysis::Analysis;
use crate::cell;
use crate::matrix::Key;
use crate::recipe::Measure;
use crate::stats::interval::{FEWEST, Interval};
use crate::stats::mean;
use crate::store::Plan;
use welch::Difference;

/// The largest chance that some comparison of two equal runs is called worse.
const FALSE_ALARMS: f64 = 0.05;

/// One of the two runs.
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The results.
    pub results: &'a [cell::Result],
}

/// The options of a comparison.
pub struct Settings {
    /// The difference in percent above which a cell is called worse.
    pub worse_percent: f64,
    /// The configuration that is the same in both runs; differences are relative to it.
    pub same: Option<String>,
    /// The measure, instead of the recipe's.
    pub measure: Option<Measure>,
}

/// Why two runs cannot be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// The runs have no cell in common.
    #[error("the runs have no cell in common: {first} and {second}")]
    NothingInCommon {
        /// Cells of the first run.
        first: String,
        /// Cells of the second run.
        second: String,
    },
    /// A run lacks the configuration that is the same.
    #[error("--same {name}: {missing} run has no such configuration; there are {there}")]
    Same {
        /// The configuration's name.
        name: String,
        /// The run that lacks it.
        missing: &'static str,
        /// The configurations that the run has.
        there: String,
    },
}

/// The verdict on one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second run is worse by more than the limit.
    Worse,
    /// The second run is not worse by more than the limit.
    NotWorse,
    /// The interval includes the limit, or there is none.
    #[serde(rename = "cannot_tell")]
    Inconclusive,
}

/// One cell of both runs.
#[derive(Debug, Serialize)]
pub struct CellComparison {
    /// The cell.
    #[serde(flatten)]
    pub key: Key,
    /// The second against the first, in percent, with its 95 % interval.
    pub percent: Interval,
    /// The lower bound in percent of how much worse the second run is, corrected for the number of
    /// comparisons.
    pub surely_worse_by: Option<f64>,
    /// Repetitions of the first and of the second run.
    pub repetitions: (usize, usize),
    /// The verdict.
    pub verdict: Verdict,
    /// Why the cell has no verdict, where the interval is not the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The comparison of two runs.
#[derive(Debug, Serialize)]
pub struct Comparisons {
    /// The measure.
    pub measure: Measure,
    /// The difference in percent above which a cell is called worse.
    pub worse_percent: f64,
    /// The configuration that differences are relative to.
    pub same: Option<String>,
    /// Cells that both runs have, the worst change first.
    pub cells: Vec<CellComparison>,
    /// Cells that only one run has.
    #[serde(rename = "in_one_alone")]
    pub only_in_one: Vec<String>,
    /// Other differences between the runs.
    pub warnings: Vec<String>,
}

impl Comparisons {
    /// Compares two runs.
    ///
    /// # Errors
    /// The runs have nothing in common.
    pub fn of(first: &Run, second: &Run, settings: &Settings) -> Result<Self, CompareError> {
        let measure = settings.measure.unwrap_or(second.plan.recipe.measure);
        if let Some(name) = &settings.same {
            has(first, name, "the first")?;
            has(second, name, "the second")?;
        }
        let same = settings.same.as_deref();
        let (of_first, of_second) = (values(first, measure, same), values(second, measure, same));
        let both: Vec<&Key> = of_first
            .keys()
            .filter(|key| of_second.contains_key(*key))
            .collect();
        if both.is_empty() {
            return Err(CompareError::NothingInCommon {
                first: names(of_first.keys()),
                second: names(of_second.keys()),
            });
        }
        let unstable = [unstable(first), unstable(second)];
        let machine = other_machine(first.plan, second.plan).filter(|_| same.is_none());
        let mut cells: Vec<CellComparison> = (both.iter())
            .map(|key| {
                let why = (machine.clone())
                    .or_else(|| unstable.iter().find_map(|all| all.get(key).cloned()));
                let samples = (of_first[*key].as_slice(), of_second[*key].as_slice());
                compare_cell(
                    key,
                    samples,
                    (measure, settings.worse_percent, both.len()),
                    why,
                )
            })
            .collect();
        let badness = |cell: &CellComparison| {
            if measure.more_is_better() {
                -cell.percent.mean
            } else {
                cell.percent.mean
            }
        };
        cells.sort_by(|a, b| badness(b).total_cmp(&badness(a)));
        let only_in =
            |one: &BTreeMap<Key, Vec<f64>>, other: &BTreeMap<Key, Vec<f64>>| -> Vec<String> {
                one.keys()
                    .filter(|key| !other.contains_key(*key))
                    .map(Key::title)
                    .collect()
            };
        let mut only_in_one = only_in(&of_first, &of_second);
        only_in_one.extend(only_in(&of_second, &of_first));
        Ok(Self {
            measure,
            worse_percent: settings.worse_percent,
            same: settings.same.clone(),
            cells,
            only_in_one,
            warnings: warnings(first.plan, second.plan, same),
        })
    }

    /// Whether some cell is worse.
    pub fn is_worse(&self) -> bool {
        self.cells.iter().any(|cell| cell.verdict == Verdict::Worse)
    }
}

fn has(run: &Run, name: &str, missing: &'static str) -> Result<(), CompareError> {
    let all = &run.plan.recipe.configurations;
    match all.iter().any(|each| each.name == name) {
        true => Ok(()),
        false => Err(CompareError::Same {
            name: name.into(),
            missing,
            there: all
                .iter()
                .map(|each| each.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// For each cell, a logarithm for each repetition: the mean over its turns and over both cells of an
/// A/A pair, relative to configuration `same` in the same repetition and turn.
fn values(run: &Run, measure: Measure, same: Option<&str>) -> BTreeMap<Key, Vec<f64>> {
    type Moments = BTreeMap<(u32, u32), Vec<f64>>;
    let mut cells: BTreeMap<Key, Moments> = BTreeMap::new();
    for result in run.results {
        let Some(measured) = result.outcome.measured() else {
            continue;
        };
        let key = Key {
            again: false,
            ..result.cell.key.clone()
        };
        let moments = cells.entry(key).or_default();
        for (turn, value) in measured.by_turns(measure) {
            if value > 0.0 && value.is_finite() {
                let moment = (result.cell.repetition, turn);
                moments.entry(moment).or_default().push(value.ln());
            }
        }
    }
    let reference = |key: &Key| {
        let key = Key {
            configuration: same?.to_owned(),
            ..key.clone()
        };
        cells.get(&key)
    };
    let of_cell = |(key, moments): (&Key, &Moments)| {
        let mut repetitions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (moment, logs) in moments {
            let base = match same {
                None => 0.0,
                Some(_) => mean(reference(key)?.get(moment)?),
            };
            repetitions
                .entry(moment.0)
                .or_default()
                .push(mean(logs) - base);
        }
        let sample: Vec<f64> = repetitions.values().map(|turns| mean(turns)).collect();
        (!sample.is_empty()).then(|| (key.clone(), sample))
    };
    (cells.iter())
        .filter(|(key, _)| same != Some(key.configuration.as_str()))
        .filter_map(of_cell)
        .collect()
}

fn names<'a>(keys: impl Iterator<Item = &'a Key>) -> String {
    let mut all: Vec<String> = keys.map(Key::title).collect();
    let more = all.len().saturating_sub(3);
    all.truncate(3);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    if all.is_empty() {
        "none with figures".into()
    } else {
        all.join("; ")
    }
}

/// Cells that are unstable, and why.
fn unstable(run: &Run) -> BTreeMap<Key, String> {
    let analysis = Analysis::of(run.plan, run.results);
    let rows = analysis.rows.into_iter();
    rows.filter_map(|row| Some((row.key, row.unstable?)))
        .collect()
}

fn compare_cell(
    key: &Key,
    (first, second): (&[f64], &[f64]),
    (measure, worse_percent, comparisons): (Measure, f64, usize),
    why: Option<String>,
) -> CellComparison {
    let percent = |log: f64| 100.0 * log.exp_m1();
    let repetitions = (first.len(), second.len());
    let few = (first.len().min(second.len()) < FEWEST).then(|| {
        format!(
            "{} and {} repetitions, {FEWEST} are needed",
            first.len(),
            second.len()
        )
    });
    let difference = Difference::of(first, second);
    let difference = difference.filter(|_| few.is_none());
    let interval = Interval {
        mean: percent(mean(second) - mean(first)),
        low: difference.map(|difference| percent(difference.mean - difference.half_width(0.95))),
        high: difference.map(|difference| percent(difference.mean + difference.half_width(0.95))),
    };
    // Positive if the second run is worse, for either direction of the measure.
    let worse = |log: f64| {
        if measure.more_is_better() {
            -percent(log)
        } else {
            percent(log)
        }
    };
    let alarm = 1.0 - FALSE_ALARMS / comparisons as f64;
    let ends = difference.map(|difference| {
        let near = |confidence: f64, way: f64| {
            worse(difference.mean + way * difference.half_width(confidence))
        };
        let way = if measure.more_is_better() { 1.0 } else { -1.0 };
        (near(alarm, way), near(0.95, -way))
    });
    let why = why.or(few);
    let verdict = match ends {
        _ if why.is_some() => Verdict::Inconclusive,
        Some((least, _)) if least > worse_percent => Verdict::Worse,
        Some((_, most)) if most <= worse_percent => Verdict::NotWorse,
        _ => Verdict::Inconclusive,
    };
    CellComparison {
        key: key.clone(),
        percent: interval,
        surely_worse_by: ends.map(|(least, _)| least),
        repetitions,
        verdict,
        why,
    }
}

/// A reason if the runs are of different machines.
fn other_machine(first: &Plan, second: &Plan) -> Option<String> {
    let of = |plan: &Plan| (plan.machine.processor.clone(), plan.machine.cpus);
    (of(first) != of(second)).then(|| "the runs are of different machines".to_owned())
}

fn warnings(first: &Plan, second: &Plan, same: Option<&str>) -> Vec<String> {
    let mut warnings = Vec::new();
    if same.is_none() {
        warnings.push(
            "The runs were not interleaved: what the machine did differently between them is in these figures. --same CONFIGURATION takes \
             it out, when that configuration is the same program in both."
                .into(),
        );
    }
    let (one, other) = (&first.machine, &second.machine);
    if other_machine(first, second).is_some() {
        warnings.push(format!(
            "Different machines: {} x {}, and {} x {}.",
            one.cpus, one.processor, other.cpus, other.processor
        ));
    } else if one.kernel != other.kernel {
        warnings.push(format!(
            "Different kernels: {} and {}.",
            one.kernel, other.kernel
        ));
    }
    let mut differ = Vec::new();
    let (one, other) = (&first.recipe, &second.recipe);
    let json =
        |value: &dyn Fn(&crate::recipe::Recipe) -> serde_json::Value| value(one) != value(other);
    let text = |value: Result<serde_json::Value, serde_json::Error>| value.unwrap_or_default();
    for (what, differs) in [
        (
            "workloads",
            json(&|recipe| text(serde_json::to_value(&recipe.workloads))),
        ),
        (
            "configurations",
            json(&|recipe| text(serde_json::to_value(&recipe.configurations))),
        ),
        (
            "servers",
            json(&|recipe| text(serde_json::to_value(&recipe.servers))),
        ),
        (
            "tables",
            json(&|recipe| text(serde_json::to_value(&recipe.data))),
        ),
        (
            "times and turns",
            json(&|recipe| {
                let run = &recipe.run;
                serde_json::json!([
                    run.seconds,
                    run.warm_up,
                    run.turns,
                    run.turn_ms,
                    run.processors,
                    run.restart,
                    run.rebuild
                ])
            }),
        ),
    ] {
        if differs {
            differ.push(what);
        }
    }
    if !differ.is_empty() {
        warnings.push(format!(
            "The recipes differ in their {}.",
            differ.join(", ")
        ));
    }
    warnings
}
