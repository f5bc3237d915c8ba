//! The run over time: how much slower or faster than usual each measured moment was. A busy minute stands out.

use std::collections::BTreeMap;

use super::plot::{Curve, Frame, Point, lines};
use crate::cell;
use crate::matrix::Key;
use crate::recipe::Measure;
use crate::stats::{mean, median};
use crate::store::Plan;

/// Points at most: more are drawn as means of neighbours.
const POINTS: usize = 240;

/// A moment: what the cells of a load did in it, against what each of them did in all of the run.
struct Moment {
    server: String,
    percent: f64,
}

/// The plot, and one sentence about it; `None` where there is too little to tell a busy time by.
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
    let each = moments.len().div_ceil(POINTS);
    let mut series: Vec<Curve> = Vec::new();
    for (at, chunk) in moments.chunks(each).enumerate() {
        // A chunk may begin with one server and end with another: its first has it.
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

/// In the order in which they were measured. What cells have in common in a moment is the machine's doing.
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
    // Cells that ran side by side share their turns; their numbers follow one another.
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
