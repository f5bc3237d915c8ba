//! The cells of a stored run of `tare weigh`, each with its baseline, for `tare explain --weighed`.

use std::path::Path;

use tare_lab::analysis::{Analysis, Row};
use tare_lab::cell;
use tare_lab::events::Event;
use tare_lab::recipe::Measure;
use tare_lab::store::{Plan, Store};

use crate::exit::{FAILED, Failure};

/// The recipe's questions that a prediction needs, by their titles.
pub const VERSION: &str = "Version";
pub const CONSUMERS: &str = "Consumers";

/// The measurements of a configuration and of its baseline.
pub struct Comparison {
    /// The server's name in the recipe.
    pub server: String,
    /// Server, configuration, workload and connections.
    pub title: String,
    /// Counts of the configuration.
    pub counts: Counts,
    /// Counts of the baseline.
    pub baseline: Counts,
    /// The baseline's server CPU of a transaction in microseconds.
    pub baseline_us: f64,
    /// The configuration's server CPU above the baseline, in percent.
    pub percent: f64,
    /// The interval of `percent`.
    pub interval: Option<(f64, f64)>,
}

/// Events and statements of a configuration, over its repetitions.
pub struct Counts {
    /// The server's version.
    pub version: String,
    /// Its consumers that are on.
    pub consumers: Vec<String>,
    /// Its events, by repetition.
    pub events: Vec<Event>,
    /// Transactions of the load.
    pub transactions: f64,
    /// Statements of the load.
    pub queries: f64,
}

/// The comparisons of a run whose recipe queries the servers' version and consumers.
pub fn read_comparisons(directory: &Path) -> Result<Vec<Comparison>, Failure> {
    let (_, plan, results) = Store::open(directory).map_err(|error| Failure::new(FAILED, error))?;
    let rows = Analysis::of(&plan, &results).rows;
    let compare = |row: &Row| {
        let base = rows.iter().find(|base| is_baseline_of(&plan, base, row))?;
        let percent = &row.comparisons.get(&Measure::ServerCpu)?.percent;
        Some(Comparison {
            server: row.key.server.clone(),
            title: row.key.title(),
            counts: Counts::of(row, &results)?,
            baseline: Counts::of(base, &results)?,
            baseline_us: base.values.get(&Measure::ServerCpu)?.mean,
            percent: percent.mean,
            interval: percent.low.zip(percent.high),
        })
    };
    let has_baseline = |row: &&Row| !row.key.again && !is_baseline(&plan, row);
    Ok(rows
        .iter()
        .filter(has_baseline)
        .filter_map(compare)
        .collect())
}

fn is_baseline(plan: &Plan, row: &Row) -> bool {
    plan.recipe.baseline.as_ref() == Some(&row.key.configuration)
}

fn is_baseline_of(plan: &Plan, base: &Row, row: &Row) -> bool {
    is_baseline(plan, base) && !base.key.again && base.key.load() == row.key.load()
}

impl Counts {
    fn of(row: &Row, results: &[cell::Result]) -> Option<Self> {
        let answer = |title: &str| row.answers.iter().find(|answer| answer.title == title);
        let first = |row: &Vec<Option<String>>| row.first().cloned().flatten();
        let measured: Vec<_> = (results.iter())
            .filter(|result| result.cell.key == row.key)
            .filter_map(|result| result.outcome.measured())
            .collect();
        Some(Self {
            version: answer(VERSION)?.rows.first().and_then(first)?,
            consumers: answer(CONSUMERS)?.rows.iter().filter_map(first).collect(),
            events: (measured.iter())
                .flat_map(|one| one.events.clone())
                .collect(),
            transactions: measured.iter().map(|one| one.transactions).sum(),
            queries: measured.iter().map(|one| one.queries).sum(),
        })
    }
}
