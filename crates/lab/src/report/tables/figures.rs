//! The figures of all cells, and their ratios.

use super::labels::{groups, label, measures, with_unit};
use super::table::Table;
use crate::analysis::{Analysis, Row, format_interval};
use crate::recipe::Measure;
use crate::report::picture::short;
use crate::store::Plan;

/// For each server and workload: the figures of all cells, and the differences in the recipe's measure.
pub fn figures(plan: &Plan, analysis: &Analysis) -> Vec<Table> {
    let measures = measures(plan, analysis);
    let compares = plan.recipe.baseline.is_some();
    let of_group = |(title, rows): (String, Vec<&Row>)| {
        let mut heading = vec!["connections".to_owned(), "configuration".into()];
        for measure in measures
            .iter()
            .filter(|measure| rows.iter().any(|row| row.values.contains_key(measure)))
        {
            heading.push(with_unit(*measure));
            if compares && *measure == plan.recipe.measure {
                heading.push("difference".into());
            }
        }
        let has_phases = rows.iter().any(|row| row.phase.is_some());
        if has_phases {
            heading.push("phase".into());
        }
        let line = |row: &&Row| {
            let mut fields = vec![row.key.connections.to_string(), label(row)];
            for measure in measures
                .iter()
                .filter(|measure| heading.contains(&with_unit(**measure)))
            {
                fields.push(
                    row.values
                        .get(measure)
                        .map(format_interval)
                        .unwrap_or_else(|| "-".into()),
                );
                if compares && *measure == plan.recipe.measure {
                    let comparison = row.comparisons.get(measure);
                    fields.push(comparison.map(short).unwrap_or_default());
                }
            }
            if has_phases {
                fields.push(
                    row.phase
                        .map(|phase| phase.title().to_owned())
                        .unwrap_or_default(),
                );
            }
            fields
        };
        let mut rows: Vec<&Row> = rows;
        rows.retain(|row| row.done > 0);
        let unstable = rows.iter().any(|row| row.unstable.is_some());
        Table {
            title,
            rows: rows.iter().map(line).collect(),
            note: if unstable {
                "* unstable: not to be quoted.".into()
            } else {
                String::new()
            },
            heading,
        }
        .narrow()
    };
    groups(analysis)
        .into_iter()
        .map(of_group)
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// Throughput relative to one cell, and its ratio to the baseline's in both directions.
pub fn relative(plan: &Plan, analysis: &Analysis) -> Option<Table> {
    let relative = plan.recipe.relative_to.as_ref()?;
    let mut heading = vec![
        "workload".to_owned(),
        "connections".into(),
        "server".into(),
        "configuration".into(),
    ];
    heading.push(format!(
        "throughput / that of {}, {}",
        relative.server, relative.configuration
    ));
    let baseline = plan.recipe.baseline.clone().unwrap_or_default();
    heading.push(format!("throughput / {baseline}"));
    heading.push(format!("{baseline} / throughput"));
    let throughput = |row: &Row| {
        row.values
            .get(&Measure::Throughput)
            .map(|interval| interval.mean)
    };
    let ratio =
        |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.3}"));
    let mut rows = Vec::new();
    for row in analysis
        .rows
        .iter()
        .filter(|row| !row.key.again && row.done > 0)
    {
        let of = |server: &str, configuration: &str| {
            let mut same = analysis.rows.iter().filter(|other| {
                (&other.key.workload, other.key.connections, other.key.again)
                    == (&row.key.workload, row.key.connections, false)
            });
            same.find(|other| {
                other.key.server == server && other.key.configuration == configuration
            })
        };
        let base = of(&relative.server, &relative.configuration).and_then(throughput);
        let own = of(&row.key.server, &baseline).and_then(throughput);
        let value = throughput(row);
        let divided = |by: Option<f64>| Some(value? / by?);
        rows.push(vec![
            row.key.workload.clone(),
            row.key.connections.to_string(),
            row.key.server.clone(),
            label(row),
            ratio(divided(base)),
            ratio(divided(own)),
            ratio(divided(own).map(|ratio| 1.0 / ratio)),
        ]);
    }
    let table = Table {
        title: "Relative throughput".into(),
        heading,
        rows,
        note: String::new(),
    };
    Some(table.narrow())
}
