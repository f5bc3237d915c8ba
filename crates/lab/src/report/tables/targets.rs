//! The targets of a recipe, and whether they are reached.

use super::labels::{PLACE, place};
use super::table::Table;
use crate::analysis::{Analysis, Row};
use crate::stats::compare::Comparison;
use crate::store::Plan;

/// The verdict on each target.
pub fn targets(plan: &Plan, analysis: &Analysis) -> Option<Table> {
    let measure = plan.recipe.measure;
    let sign = if measure.more_is_better() { -1.0 } else { 1.0 };
    let line = |row: &Row| {
        let parts = plan.recipe.parts(&row.key)?;
        let target = parts.configuration.targets.get(&row.key.workload)?;
        let comparison = row.comparisons.get(&measure)?;
        let ends = comparison.percent.low.zip(comparison.percent.high);
        let verdict = match ends
            .map(|(low, high)| ((low * sign).min(high * sign), (low * sign).max(high * sign)))
        {
            _ if row.unstable.is_some() => "inconclusive: unstable",
            Some((_, most)) if most <= *target => "reached",
            Some((least, _)) if least > *target => "missed",
            _ => "inconclusive",
        };
        let mut line = place(row);
        line.extend([
            interval(comparison),
            format!("{target} %"),
            verdict.to_owned(),
        ]);
        Some(line)
    };
    let rows: Vec<_> = (analysis.rows.iter())
        .filter(|row| !row.key.again)
        .filter_map(line)
        .collect();
    let mut heading: Vec<String> = PLACE.map(str::to_owned).to_vec();
    heading.extend([
        format!("difference in {}", measure.title()),
        "at most".into(),
        "".into(),
    ]);
    let table = Table {
        title: "Targets".into(),
        heading,
        rows,
        note: "Reached: the entire interval is within the target. Missed: the entire interval is beyond it."
            .into(),
    };
    (!table.rows.is_empty()).then(|| table.narrow())
}

/// A difference with its interval.
fn interval(comparison: &Comparison) -> String {
    let percent = comparison.percent;
    match percent.low.zip(percent.high) {
        Some((low, high)) => format!("{:+.1} % [{low:+.1}, {high:+.1}]", percent.mean),
        None => format!("{:+.1} %", percent.mean),
    }
}
