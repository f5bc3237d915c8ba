//! Compares the predicted costs of a stored run with its measurements.

use std::collections::BTreeMap;
use std::path::Path;

use super::calibrate::Host;
use super::sample::{self, Consumers, Meter, Meters};
use super::stock;
use crate::exit::{FAILED, Failure};
use crate::observe::table::{Side, lines};
use crate::observe::{About, Product};
use crate::weigh_results::{CONSUMERS, Comparison, Counts, VERSION, read_comparisons};

/// The largest error of a prediction that docs/overhead.md allows, in percentage points.
const MAX_ERROR_POINTS: f64 = 1.5;

/// A configuration, predicted and measured, in percent of the baseline's CPU.
struct Line {
    title: String,
    predicted: f64,
    measured: f64,
    interval: Option<(f64, f64)>,
}

/// The comparison of a stored run, as text.
pub fn compare(directory: &Path) -> Result<String, Failure> {
    let host = Host::measure(None);
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    let mut all = Vec::new();
    for comparison in read_comparisons(directory)? {
        let costs = Cost::predict(&comparison.counts, &host)
            .zip(Cost::predict(&comparison.baseline, &host));
        let Some((on, off)) = costs else {
            continue;
        };
        all.push(line(&comparison, on.ns - off.ns));
        sources.insert(comparison.server, on.source);
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

fn line(comparison: &Comparison, added_ns: f64) -> Line {
    Line {
        title: comparison.title.clone(),
        predicted: 100.0 * added_ns / 1e3 / comparison.baseline_us,
        measured: comparison.percent,
        interval: comparison.interval,
    }
}

/// The predicted cost of a transaction.
struct Cost {
    ns: f64,
    source: String,
}

impl Cost {
    /// `None` for Tare's engine, and for a load without transactions.
    fn predict(counts: &Counts, host: &Host) -> Option<Self> {
        let about = About::stock(&counts.version)?;
        let consumers = Consumers::new(counts.consumers.iter().cloned());
        let mut meters = Meters::new();
        for event in &counts.events {
            let meter = meters.entry(event.name.clone()).or_insert_with(|| Meter {
                event_type: event.kind.clone(),
                ..Meter::default()
            });
            meter.count += event.count as f64;
            meter.measured_ns += event.sum_ps as f64 / 1e3;
        }
        for meter in meters.values_mut().filter(|meter| meter.measured_ns > 0.0) {
            meter.timed = true;
            meter.count_timed = meter.count;
            meter.reads = meter.count * stock::reads(&meter.event_type);
        }
        let statements = sample::statements(&meters, Some(counts.queries));
        let timers = sample::fixed_timers();
        sample::price(&mut meters, &about, host, &timers, statements, &consumers);
        let ns: f64 = meters.values().map(Meter::cost_ns).sum();
        (counts.transactions > 0.0).then(|| Self {
            ns: ns / counts.transactions,
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
                line.title.clone(),
            ]
        })
        .collect();
    let within = (all.iter())
        .filter(|line| (line.predicted - line.measured).abs() <= MAX_ERROR_POINTS)
        .count();
    let mut text = vec![
        "Server CPU above the baseline: predicted from the events of each cell, and measured."
            .to_owned(),
    ];
    text.extend(lines(&heads, &rows));
    text.push(format!(
        "{within} of {} predictions are within {MAX_ERROR_POINTS} points.",
        all.len()
    ));
    for (server, source) in sources {
        text.push(format!("{server}: {source}"));
    }
    text.push(String::new());
    text.join("\n")
}

impl About {
    /// A stock server by its version; `None` for Tare's engine.
    fn stock(version: &str) -> Option<Self> {
        if version.contains("-tare-") {
            return None;
        }
        let product = match version.contains("MariaDB") {
            true => Product::MariaDb,
            false => Product::MySql,
        };
        Some(Self::from_version(product, version))
    }
}
