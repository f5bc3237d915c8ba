//! Heat maps: configurations by loads, with the difference as colour.

use std::fmt::Write;

use super::escape;
use crate::analysis::{Analysis, Row};
use crate::report::picture::Tone;
use crate::stats::compare::Verdict;
use crate::store::Plan;

/// With more columns there is a map for each server and workload.
const MAX_COLUMNS: usize = 12;

/// The maps of a run; empty without several configurations and loads.
pub fn draw(plan: &Plan, analysis: &Analysis) -> String {
    let measure = plan.recipe.measure;
    let rows: Vec<&Row> = (analysis.rows.iter())
        .filter(|row| !row.key.again && row.comparisons.contains_key(&measure))
        .collect();
    let strongest = (rows.iter())
        .filter(|row| Tone::of(&row.comparisons[&measure], measure) != Tone::Unquoted)
        .map(|row| row.comparisons[&measure].percent.mean.abs())
        .fold(f64::MIN_POSITIVE, f64::max);
    let loads = distinct(rows.iter().map(|row| row.key.load()));
    let maps: Vec<(String, Vec<&Row>)> = match loads.len() <= MAX_COLUMNS {
        true => vec![(String::new(), rows)],
        false => distinct(
            rows.iter()
                .map(|row| (row.key.server.clone(), row.key.workload.clone())),
        )
        .into_iter()
        .map(|(server, workload)| {
            let of_map = |row: &&&Row| (&row.key.server, &row.key.workload) == (&server, &workload);
            let part = rows.iter().filter(of_map).copied().collect();
            (format!("{server}, {workload}"), part)
        })
        .collect(),
    };
    let mut html = String::new();
    for (title, rows) in maps {
        let configurations = distinct(rows.iter().map(|row| row.key.configuration.clone()));
        let loads = distinct(rows.iter().map(|row| row.key.load()));
        if configurations.len() > 1 && loads.len() > 1 {
            html.push_str(&map(
                plan,
                &title,
                &rows,
                &configurations,
                &loads,
                strongest,
            ));
        }
    }
    html
}

type Load = (String, String, u32);

fn map(
    plan: &Plan,
    title: &str,
    rows: &[&Row],
    configurations: &[String],
    loads: &[Load],
    strongest: f64,
) -> String {
    let varies = |of: &dyn Fn(&Load) -> String| distinct(loads.iter().map(of)).len() > 1;
    let (servers, workloads, connections) = (
        varies(&|load| load.0.clone()),
        varies(&|load| load.1.clone()),
        varies(&|load| load.2.to_string()),
    );
    let heading = |load: &Load| {
        let mut parts = Vec::new();
        if servers {
            parts.push(load.0.clone());
        }
        if workloads {
            parts.push(load.1.clone());
        }
        if connections {
            parts.push(load.2.to_string());
        }
        parts.join(", ")
    };
    let mut html = String::new();
    if !title.is_empty() {
        let _ = write!(html, "<h3>{}</h3>", escape(title));
    }
    html.push_str("<div class=\"wide\"><table class=\"heat\"><thead><tr><th></th>");
    for load in loads {
        let _ = write!(html, "<th>{}</th>", escape(&heading(load)));
    }
    html.push_str("</tr></thead><tbody>\n");
    for configuration in configurations {
        let _ = write!(html, "<tr><th>{}</th>", escape(configuration));
        for load in loads {
            let of_cell =
                |row: &&&Row| row.key.configuration == *configuration && row.key.load() == *load;
            match rows.iter().find(of_cell) {
                Some(row) => html.push_str(&cell(plan, row, strongest)),
                None => html.push_str("<td></td>"),
            }
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody></table></div>\n"
}

fn cell(plan: &Plan, row: &Row, strongest: f64) -> String {
    let measure = plan.recipe.measure;
    let comparison = &row.comparisons[&measure];
    let tone = Tone::of(comparison, measure);
    let mean = comparison.percent.mean;
    let text = match comparison.verdict {
        Verdict::Different => format!("{mean:+.1}"),
        Verdict::NotDistinguishable => format!("&lt; {:.1}", comparison.bound()),
        Verdict::TooFew => format!("{mean:+.1} ?"),
        Verdict::Unstable => format!("{mean:+.1} *"),
    };
    let strength = match tone {
        Tone::Worse | Tone::Better => (100.0 * (mean.abs() / strongest).min(1.0)).round(),
        Tone::Same | Tone::Unquoted => 0.0,
    };
    let words = format!("{}: {}", row.key.title(), comparison.words());
    format!(
        "<td class=\"{}\" style=\"--strength: {strength}%\" title=\"{}\">{text}</td>",
        tone.class(),
        escape(&words)
    )
}

/// The distinct values in the order of their first occurrence.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for each in all {
        if !distinct.contains(&each) {
            distinct.push(each);
        }
    }
    distinct
}
