//! The prediction beside a measurement: what the events of a kept run of `tare weigh` cost by arithmetic, and what that run measured.

use std::collections::BTreeMap;
use std::path::Path;

use tare_lab::analysis::{Analysis, Row};
use tare_lab::cell;
use tare_lab::recipe::Measure;
use tare_lab::store::{Plan, Store};

use super::calibrate::Host;
use super::sample::{self, Consumers, Meter, Meters};
use super::stock;
use crate::exit::{FAILED, Failure};
use crate::observe::table::{Side, lines};
use crate::observe::{About, Product};

/// What explain promises: the prediction is at most so many points beside the measurement.
const TARGET: f64 = 1.5;

/// The recipe's questions that the arithmetic needs, by their titles.
const VERSION: &str = "Version";
const CONSUMERS: &str = "Consumers";

/// A configuration, predicted and measured, in percent of the baseline's CPU.
struct Line {
    key: tare_lab::matrix::Key,
    predicted: f64,
    measured: f64,
    interval: Option<(f64, f64)>,
}

/// The comparison of a kept run, as text.
pub fn compare(directory: &Path) -> Result<String, Failure> {
    let (_, plan, results) = Store::open(directory).map_err(|error| Failure::new(FAILED, error))?;
    let analysis = Analysis::of(&plan, &results);
    let host = Host::measure(None);
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    let mut all = Vec::new();
    for row in &analysis.rows {
        let base = (analysis.rows.iter()).find(|base| is_baseline_of(&plan, base, row));
        let Some(base) = base.filter(|_| !row.key.again && !is_baseline(&plan, row)) else {
            continue;
        };
        let (Some(on), Some(off)) = (
            Cost::of(row, &results, &host),
            Cost::of(base, &results, &host),
        ) else {
            continue;
        };
        sources.insert(row.key.server.clone(), on.source.clone());
        all.extend(line(row, base, &on, &off));
    }
    if all.is_empty() {
        return Err(Failure::new(
            FAILED,
            format!(
                "nothing to predict in {}: the recipe has to ask stock servers for '{VERSION}' and '{CONSUMERS}', as \
                 `tare weigh explain --print` does",
                directory.display()
            ),
        ));
    }
    Ok(text(&all, &sources))
}

fn is_baseline(plan: &Plan, row: &Row) -> bool {
    plan.recipe.baseline.as_ref() == Some(&row.key.configuration)
}

fn is_baseline_of(plan: &Plan, base: &Row, row: &Row) -> bool {
    is_baseline(plan, base) && !base.key.again && base.key.load() == row.key.load()
}

fn line(row: &Row, base: &Row, on: &Cost, off: &Cost) -> Option<Line> {
    let measured = &row.comparisons.get(&Measure::ServerCpu)?.percent;
    let micros = base.values.get(&Measure::ServerCpu)?.mean;
    Some(Line {
        key: row.key.clone(),
        predicted: 100.0 * (on.ns - off.ns) / 1e3 / micros,
        measured: measured.mean,
        interval: measured.low.zip(measured.high),
    })
}

/// What a transaction of a cell costs by arithmetic.
struct Cost {
    ns: f64,
    source: String,
}

impl Cost {
    /// Over a cell's repetitions; none of servers that are Tare's, and where the questions were not asked.
    fn of(row: &Row, results: &[cell::Result], host: &Host) -> Option<Self> {
        let asked = |title: &str| (row.asked.iter()).find(|asked| asked.title == title);
        let version = asked(VERSION)?.rows.first()?.first()?.clone()?;
        let about = About::stock(&version)?;
        let on = asked(CONSUMERS)?.rows.iter();
        let consumers = Consumers::of(on.filter_map(|row| row.first().cloned().flatten()));
        let measured = (results.iter().filter(|result| result.cell.key == row.key))
            .filter_map(|result| result.outcome.measured());
        let (mut transactions, mut queries) = (0.0, 0.0);
        let mut meters = Meters::new();
        for one in measured {
            transactions += one.transactions;
            queries += one.queries;
            for event in &one.events {
                let meter = meters.entry(event.name.clone()).or_insert_with(|| Meter {
                    event_type: event.kind.clone(),
                    ..Meter::default()
                });
                meter.count += event.count as f64;
                meter.told_ns += event.sum_ps as f64 / 1e3;
            }
        }
        for meter in meters.values_mut().filter(|meter| meter.told_ns > 0.0) {
            meter.timed = true;
            meter.count_timed = meter.count;
            meter.reads = meter.count * stock::reads(&meter.event_type);
        }
        let statements = sample::statements(&meters, Some(queries));
        let timers = sample::fixed_timers();
        sample::price(&mut meters, &about, host, &timers, statements, &consumers);
        let ns: f64 = meters.values().map(Meter::cost_ns).sum();
        (transactions > 0.0).then(|| Self {
            ns: ns / transactions,
            source: stock::source(&about),
        })
    }
}

fn text(all: &[Line], sources: &BTreeMap<String, String>) -> String {
    let heads = [
        ("PREDICTED", Side::Right),
        ("MEASURED", Side::Right),
        ("FROM", Side::Right),
        ("TO", Side::Right),
        ("ERROR", Side::Right),
        ("CONFIGURATION", Side::Left),
    ];
    let heads = heads.map(|(head, side)| (head.to_owned(), side));
    let rows: Vec<Vec<String>> = (all.iter())
        .map(|line| {
            let end = |end: Option<f64>| end.map_or(String::new(), |end| format!("{end:+.1}"));
            vec![
                format!("{:+.1} %", line.predicted),
                format!("{:+.1} %", line.measured),
                end(line.interval.map(|(low, _)| low)),
                end(line.interval.map(|(_, high)| high)),
                format!("{:+.1}", line.predicted - line.measured),
                line.key.title(),
            ]
        })
        .collect();
    let within = (all.iter())
        .filter(|line| (line.predicted - line.measured).abs() <= TARGET)
        .count();
    let mut text = vec![
        "Server CPU above the baseline: predicted from the events of each cell, and measured."
            .to_owned(),
    ];
    text.extend(lines(&heads, &rows));
    text.push(format!(
        "{within} of {} predictions are within {TARGET} points.",
        all.len()
    ));
    for (server, source) in sources {
        text.push(format!("{server}: {source}"));
    }
    text.push(String::new());
    text.join("\n")
}

impl About {
    /// A stock server, by the version that it tells; none of Tare's.
    fn stock(version: &str) -> Option<Self> {
        if version.contains("-tare-") {
            return None;
        }
        let product = match version.contains("MariaDB") {
            true => Product::MariaDb,
            false => Product::MySql,
        };
        Some(Self::of_version(product, version))
    }
}
