//! The run over time: the deviation of each moment from its usual value, which reveals busy minutes.

use std::collections::BTreeMap;

use super::plot::{Curve, Frame, Point, lines};
use crate::cell;
use crate::matrix::Key;
use crate::recipe::Measure;
use crate::stats::{mean, median};
use crate::store::Plan;

/// The most points; more moments are drawn as means of neighbours.
const MAX_POINTS: usize = 240;

/// A moment: the mean deviation of the cells of a load from their means over the run.
struct Moment {
    server: String,
    percent: f64,
}

/// The plot with one sentence; `None` if there are too few moments.
pub fn draw(plan: &Plan, results: &[cell::Result]) -> Option<(String, String)> {
    let measure = if of_measure(results, plan.recipe.measure) {
        plan.recipe.measure
    } else {
        Measure::Throughput
    };
    let moments = moments(results, measure);
    if moments.len() < 4 {
        return None;
    }
    let each = moments.len().div_ceil(MAX_POINTS);
    let mut series: Vec<Curve> = Vec::new();
    for (at, chunk) in moments.chunks(each).enumerate() {
        // A chunk with several servers counts for its first.
        let name = &chunk[0].server;
        let point = Point {
            x: (at * each + 1) as f64,
            y: mean(
                &chunk
                    .iter()
                    .map(|moment| moment.percent)
                    .collect::<Vec<_>>(),
            ),
            interval: None,
            unstable: false,
        };
        match series.iter_mut().find(|series| series.name == *name) {
            Some(series) => series.points.push(point),
            None => series.push(Curve {
                name: name.clone(),
                points: vec![point],
            }),
        }
    }
    let count = moments.len();
    let labels: Vec<f64> = super::plot::ticks(1.0, count as f64)
        .into_iter()
        .filter(|tick| *tick >= 1.0)
        .collect();
    let what = if plan.recipe.run.turns > 0 {
        "turns, in the order in which they ran"
    } else {
        "measured times, in their order"
    };
    let y = format!("{}, percent off its own mean", measure.title());
    let title = "The run over time";
    let plot = lines(
        &Frame {
            title,
            x: what,
            y: &y,
            labels: &labels,
            log: false,
            joined: false,
        },
        &series,
    );
    Some((plot, words(&moments, measure)))
}

fn of_measure(results: &[cell::Result], measure: Measure) -> bool {
    let mut measured = results
        .iter()
        .filter_map(|result| result.outcome.measured());
    measured.any(|one| one.value(measure).is_some())
}

/// The moments in the order of measurement. What the cells of a moment have in common is due to the
/// machine.
fn moments(results: &[cell::Result], measure: Measure) -> Vec<Moment> {
    let mut logs: BTreeMap<&Key, Vec<f64>> = BTreeMap::new();
    let values = |result: &cell::Result| -> Vec<(u32, f64)> {
        let measured = result.outcome.measured().map(|one| one.by_turns(measure));
        let mut values = measured.unwrap_or_default();
        values.retain(|(_, value)| *value > 0.0 && value.is_finite());
        values
            .into_iter()
            .map(|(turn, value)| (turn, value.ln()))
            .collect()
    };
    for result in results {
        let own = logs.entry(&result.cell.key).or_default();
        own.extend(values(result).into_iter().map(|(_, log)| log));
    }
    let own: BTreeMap<&Key, f64> = logs
        .into_iter()
        .map(|(key, logs)| (key, mean(&logs)))
        .collect();
    // Cells that ran side by side share their turns, and their numbers are consecutive.
    let mut order: BTreeMap<(u32, u32), (String, Vec<f64>)> = BTreeMap::new();
    let mut groups: BTreeMap<(u32, (String, String, u32)), u32> = BTreeMap::new();
    for result in results {
        let cell = &result.cell;
        let first = groups
            .entry((cell.repetition, cell.key.load()))
            .or_insert(cell.number);
        *first = (*first).min(cell.number);
    }
    for result in results {
        let cell = &result.cell;
        for (turn, log) in values(result) {
            let group = groups[&(cell.repetition, cell.key.load())];
            let at = if turn == 0 {
                (cell.number, 0)
            } else {
                (group, turn)
            };
            let moment = order
                .entry(at)
                .or_insert_with(|| (cell.key.server.clone(), Vec::new()));
            moment.1.push(log - own[&cell.key]);
        }
    }
    (order.into_values())
        .map(|(server, logs)| Moment {
            server,
            percent: 100.0 * mean(&logs).exp_m1(),
        })
        .collect()
}

fn words(moments: &[Moment], measure: Measure) -> String {
    let percents: Vec<f64> = moments.iter().map(|moment| moment.percent).collect();
    let middle = median(&percents);
    let off: Vec<f64> = percents
        .iter()
        .map(|percent| (percent - middle).abs())
        .collect();
    let usual = median(&off);
    let (at, worst) = (percents.iter().enumerate())
        .max_by(|a, b| (a.1 - middle).abs().total_cmp(&(b.1 - middle).abs()))
        .unwrap_or((0, &0.0));
    format!(
        "Half of the moments are within {usual:.1} % of the run's middle in {}; the one farthest from it is number {} ({worst:+.1} %).",
        measure.title(),
        at + 1
    )
}
