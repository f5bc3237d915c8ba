//! Events by type and by name.

use super::labels::{PLACE, place};
use super::table::Table;
use crate::analysis::{Analysis, EventRate, Row};
use crate::events::KINDS;
use crate::store::Plan;

/// The rates of events by type, and of the most frequent and the requested ones by name.
pub fn load(plan: &Plan, analysis: &Analysis, names: usize) -> Vec<Table> {
    let rows: Vec<&Row> = analysis
        .rows
        .iter()
        .filter(|row| !row.load.is_empty() && !row.key.again)
        .collect();
    let mut kinds: Vec<&str> = KINDS.to_vec();
    kinds.retain(|kind| {
        rows.iter()
            .any(|row| row.load.iter().any(|event| event.kind == *kind))
    });
    let mut types = heading(&["events a second", "events a statement"]);
    types.extend(kinds.iter().map(|kind| format!("{kind} a statement")));
    let by_name = |row: &&Row| by_name(row, names, &plan.recipe.show_events);
    let tables = [
        Table {
            title: "Load seen: events by type".into(),
            heading: types,
            rows: rows.iter().map(|row| by_type(row, &kinds)).collect(),
            note: "What the server's Performance Schema collected; memory: allocations and frees."
                .into(),
        },
        Table {
            title: "Load seen: events by name".into(),
            heading: heading(&["type", "name", "a second", "a statement", "mean, ns"]),
            rows: rows.iter().flat_map(by_name).collect(),
            note: format!(
                "The {names} most frequent of each cell, and those that the recipe asks for; results.json has all."
            ),
        },
    ];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .map(Table::narrow)
        .collect()
}

fn heading(more: &[&str]) -> Vec<String> {
    let all = PLACE.iter().chain(more);
    all.map(|&text| text.to_owned()).collect()
}

/// A row's rates of all events, and of each type.
fn by_type(row: &Row, kinds: &[&str]) -> Vec<String> {
    let sum = |of: &dyn Fn(&EventRate) -> f64| row.load.iter().map(of).sum::<f64>();
    let mut line = place(row);
    line.push(format!("{:.0}", sum(&|event| event.per_second)));
    line.push(format!("{:.2}", sum(&|event| event.per_statement)));
    for kind in kinds {
        let of_kind = sum(&|event| {
            if event.kind == *kind {
                event.per_statement
            } else {
                0.0
            }
        });
        line.push(format!("{of_kind:.2}"));
    }
    line
}

/// A row's most frequent events, and those whose names match a pattern.
fn by_name(row: &Row, most: usize, patterns: &[String]) -> Vec<Vec<String>> {
    let is_requested = |name: &str| patterns.iter().any(|pattern| like(pattern, name));
    let listed = row
        .load
        .iter()
        .enumerate()
        .filter(|(at, event)| *at < most || is_requested(&event.name));
    let line = |event: &EventRate| {
        let mut line = place(row);
        line.extend([
            event.kind.clone(),
            event.name.clone(),
            format!("{:.0}", event.per_second),
            format!("{:.3}", event.per_statement),
            format!("{:.0}", event.mean_ns),
        ]);
        line
    };
    listed.map(|(_, event)| line(event)).collect()
}

/// SQL's LIKE with only `%`.
fn like(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('%') else {
        return pattern == name;
    };
    let Some(tail) = name.strip_prefix(start) else {
        return false;
    };
    (0..=tail.len())
        .filter(|&at| tail.is_char_boundary(at))
        .any(|at| like(rest, &tail[at..]))
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn patterns_match_as_in_sql() {
        assert!(like(
            "wait/%/LOCK_thd%",
            "wait/synch/mutex/sql/LOCK_thd_data"
        ));
        assert!(like("%", "") && like("a%", "a") && like("a", "a"));
        assert!(!like("wait/io/%", "wait/synch") && !like("a", "ab") && !like("%b", "ba"));
    }
}
