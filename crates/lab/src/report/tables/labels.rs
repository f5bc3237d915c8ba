//! The labels of figures, rows and groups.

use crate::analysis::{Analysis, Row};
use crate::recipe::Measure;
use crate::store::Plan;

/// The measures of the rows, the recipe's first.
pub fn measures(plan: &Plan, analysis: &Analysis) -> Vec<Measure> {
    let own = plan.recipe.measure;
    let has = |measure: &Measure| {
        analysis
            .rows
            .iter()
            .any(|row| row.values.contains_key(measure))
    };
    let others = Measure::ALL.into_iter().filter(|measure| *measure != own);
    std::iter::once(own).chain(others).filter(has).collect()
}

/// A figure's name with its unit.
pub fn with_unit(measure: Measure) -> String {
    match measure.unit() {
        "" | "/s" => measure.title().into(),
        unit => format!("{}, {unit}", measure.title()),
    }
}

/// A row's configuration, with an asterisk if it is unstable.
pub fn label(row: &Row) -> String {
    match &row.unstable {
        Some(_) => format!("{} *", row.key.label()),
        None => row.key.label(),
    }
}

/// The groups of a matrix: title and rows.
pub fn groups(analysis: &Analysis) -> Vec<(String, Vec<&Row>)> {
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in &analysis.rows {
        let title = format!("{}, {}", row.key.server, row.key.workload);
        match groups.last_mut() {
            Some((last, rows)) if *last == title => rows.push(row),
            _ => groups.push((title, vec![row])),
        }
    }
    groups
}

/// The columns that identify a row.
pub(super) const PLACE: [&str; 4] = ["server", "workload", "connections", "configuration"];

/// The values of these columns.
pub(super) fn place(row: &Row) -> Vec<String> {
    let key = &row.key;
    vec![
        key.server.clone(),
        key.workload.clone(),
        key.connections.to_string(),
        label(row),
    ]
}
