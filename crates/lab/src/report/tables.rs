//! What is the same on the terminal and on the page: tables of texts.

use super::picture::short;
use crate::analysis::{Analysis, Row, Seen, shown};
use crate::events::KINDS;
use crate::matrix::Key;
use crate::recipe::{Measure, Question};
use crate::stats::compare::Comparison;
use crate::store::Plan;

/// A table.
pub struct Table {
    /// Above it.
    pub title: String,
    /// Its columns.
    pub heading: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// Below it.
    pub note: String,
}

impl Table {
    /// Without the columns of places that say the same in every row; the title says it once.
    fn narrow(mut self) -> Self {
        for place in ["server", "workload", "connections"] {
            let Some(at) = self.heading.iter().position(|heading| heading == place) else {
                continue;
            };
            let Some(value) = self.rows.first().map(|row| row[at].clone()) else {
                continue;
            };
            if self.rows.iter().any(|row| row[at] != value) {
                continue;
            }
            let unit = if place == "connections" {
                " connections"
            } else {
                ""
            };
            self.title.push_str(&format!(", {value}{unit}"));
            self.heading.remove(at);
            for row in &mut self.rows {
                row.remove(at);
            }
        }
        self
    }
}

/// The measures that the rows have, the recipe's first.
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

/// A row's configuration, with an asterisk when it is unstable.
pub fn label(row: &Row) -> String {
    match &row.unstable {
        Some(_) => format!("{} *", row.key.label()),
        None => row.key.label(),
    }
}

/// The groups of a matrix: their title and rows.
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

/// For each server and workload: every figure of every cell, and the difference of the recipe's.
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
                        .map(shown)
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

/// Throughput relative to one cell, and the ratio of the baseline's both ways round.
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

/// User, system and idle time, of the server, the generator and the machine; context switches.
pub fn cpu(analysis: &Analysis) -> Table {
    let heading = [
        "server",
        "workload",
        "connections",
        "configuration",
        "server user, us",
        "server system, us",
        "generator user, us",
        "generator system, us",
        "machine user, %",
        "system, %",
        "idle, %",
        "stolen, %",
        "server switches: waited",
        "pre-empted",
        "generator switches",
        "errors",
    ];
    let line = |row: &Row| {
        let means = row.means.as_ref()?;
        let number = |value: f64| format!("{value:.2}");
        let maybe = |value: Option<f64>| value.map_or_else(|| "-".into(), number);
        Some(vec![
            row.key.server.clone(),
            row.key.workload.clone(),
            row.key.connections.to_string(),
            label(row),
            maybe(means.server_user_us),
            maybe(means.server_system_us),
            number(means.generator_user_us),
            number(means.generator_system_us),
            number(means.machine.user),
            number(means.machine.system),
            number(means.machine.idle),
            number(means.machine.stolen),
            number(means.server_voluntary),
            number(means.server_involuntary),
            number(means.generator_switches),
            format!("{:.4}", means.errors),
        ])
    };
    Table {
        title: "CPU and context switches per transaction".into(),
        heading: heading.map(str::to_owned).to_vec(),
        rows: analysis.rows.iter().filter_map(line).collect(),
        note: "The machine's percents are of all its CPUs.".into(),
    }
    .narrow()
}

/// Rates that were asked for, and whether they were held.
pub fn rates(analysis: &Analysis) -> Option<Table> {
    let line = |row: &Row| {
        let means = row.means.as_ref()?;
        let rate = means.rate?;
        let got = row
            .values
            .get(&Measure::Throughput)
            .map(|interval| interval.mean)
            .unwrap_or(0.0);
        Some(vec![
            row.key.server.clone(),
            row.key.workload.clone(),
            row.key.connections.to_string(),
            label(row),
            format!("{rate:.1}"),
            format!("{got:.1}"),
            if means.rate_held {
                "held".into()
            } else {
                "not held".into()
            },
            format!("{:.1}", 100.0 - means.machine.idle),
        ])
    };
    let rows: Vec<_> = analysis.rows.iter().filter_map(line).collect();
    let heading = [
        "server",
        "workload",
        "connections",
        "configuration",
        "asked for, /s",
        "got, /s",
        "",
        "machine busy, %",
    ];
    (!rows.is_empty()).then(|| {
        Table {
            title: "Fixed rates".into(),
            heading: heading.map(str::to_owned).to_vec(),
            rows,
            note: String::new(),
        }
        .narrow()
    })
}

/// How many events of each type, and the most frequent by name, with the ones that the recipe asks for.
pub fn load(plan: &Plan, analysis: &Analysis, names: usize) -> Vec<Table> {
    let rows: Vec<&Row> = analysis
        .rows
        .iter()
        .filter(|row| !row.load.is_empty() && !row.key.again)
        .collect();
    let mut kinds: Vec<&str> = KINDS.to_vec();
    kinds.retain(|kind| {
        rows.iter()
            .any(|row| row.load.iter().any(|seen| seen.kind == *kind))
    });
    let start = |row: &Row| {
        let Key {
            server,
            workload,
            connections,
            ..
        } = &row.key;
        vec![
            server.clone(),
            workload.clone(),
            connections.to_string(),
            label(row),
        ]
    };
    let by_type = |row: &&Row| {
        let sum = |of: &dyn Fn(&Seen) -> f64| row.load.iter().map(of).sum::<f64>();
        let mut line = start(row);
        line.push(format!("{:.0}", sum(&|seen| seen.per_second)));
        line.push(format!("{:.2}", sum(&|seen| seen.per_statement)));
        for kind in &kinds {
            let of_kind = sum(&|seen| {
                if seen.kind == *kind {
                    seen.per_statement
                } else {
                    0.0
                }
            });
            line.push(format!("{of_kind:.2}"));
        }
        line
    };
    let asked = |name: &str| {
        plan.recipe
            .show_events
            .iter()
            .any(|pattern| like(pattern, name))
    };
    let by_name = |row: &&Row| -> Vec<Vec<String>> {
        let shown = row
            .load
            .iter()
            .enumerate()
            .filter(|(at, seen)| *at < names || asked(&seen.name));
        let line = |seen: &Seen| {
            let mut line = start(row);
            line.extend([
                seen.kind.clone(),
                seen.name.clone(),
                format!("{:.0}", seen.per_second),
            ]);
            line.extend([
                format!("{:.3}", seen.per_statement),
                format!("{:.0}", seen.mean_ns),
            ]);
            line
        };
        shown.map(|(_, seen)| line(seen)).collect()
    };
    let heading = |more: &[&str]| -> Vec<String> {
        let all = ["server", "workload", "connections", "configuration"];
        all.iter()
            .chain(more)
            .map(|&text| text.to_owned())
            .collect()
    };
    let mut types = heading(&["events a second", "events a statement"]);
    types.extend(kinds.iter().map(|kind| format!("{kind} a statement")));
    let tables = [
        Table {
            title: "Load seen: events by type".into(),
            heading: types,
            rows: rows.iter().map(by_type).collect(),
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

/// What the servers answered to the recipe's questions: a table for each question.
pub fn asked(plan: &Plan, analysis: &Analysis) -> Vec<Table> {
    let of_question = |question: &Question| {
        let mut heading: Vec<String> = PLACE.map(str::to_owned).to_vec();
        heading.extend(question.columns.iter().cloned());
        let mut rows = Vec::new();
        for row in analysis.rows.iter().filter(|row| !row.key.again) {
            let of_row = row
                .asked
                .iter()
                .filter(|asked| asked.title == question.title);
            for answer in of_row.flat_map(|asked| &asked.rows) {
                let mut line = place(row);
                let texts = answer
                    .iter()
                    .map(|text| text.clone().unwrap_or_else(|| "NULL".into()));
                line.extend(texts);
                line.resize(heading.len(), String::new());
                rows.push(line);
            }
        }
        Table {
            title: question.title.clone(),
            heading,
            rows,
            note: String::new(),
        }
        .narrow()
    };
    let tables = plan.recipe.asks.iter().map(of_question);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// How each configuration stands to what its recipe wants of it.
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
            _ if row.unstable.is_some() => "cannot be told: unstable",
            Some((_, most)) if most <= *target => "reached",
            Some((least, _)) if least > *target => "missed",
            _ => "cannot be told",
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
        note: "Reached: the whole interval lies within. Missed: the whole interval lies beyond."
            .into(),
    };
    (!table.rows.is_empty()).then(|| table.narrow())
}

/// Resident memory in absolute figures: percents of a server's memory say little.
pub fn memory(plan: &Plan, analysis: &Analysis) -> Option<Table> {
    const SHOWN: [Measure; 4] = [
        Measure::MemoryStart,
        Measure::MemoryConnection,
        Measure::SegmentStart,
        Measure::SegmentConnection,
    ];
    let value = |row: &Row, measure: Measure| row.values.get(&measure).copied();
    let base = |row: &Row| {
        let same = |other: &&Row| {
            other.key.load() == row.key.load()
                && Some(&other.key.configuration) == plan.recipe.baseline.as_ref()
        };
        let all: Vec<f64> = (analysis.rows.iter().filter(same))
            .filter_map(|other| Some(value(other, Measure::MemoryStart)?.mean))
            .collect();
        (!all.is_empty()).then(|| crate::stats::mean(&all))
    };
    let line = |row: &Row| {
        let start = value(row, Measure::MemoryStart)?;
        let mut line = place(row);
        line.extend(SHOWN.map(|measure| {
            value(row, measure)
                .as_ref()
                .map_or_else(|| "-".into(), shown)
        }));
        let more = base(row).map(|base| format!("{:+.1}", (start.mean - base) / 1024.0));
        line.push(more.unwrap_or_else(|| "-".into()));
        Some(line)
    };
    let mut heading: Vec<String> = PLACE.map(str::to_owned).to_vec();
    heading.extend(SHOWN.map(with_unit));
    heading.push("at start, more than the baseline, MiB".into());
    let table = Table {
        title: "Resident memory".into(),
        heading,
        rows: analysis.rows.iter().filter_map(line).collect(),
        note: "Segment: the mapping of Tare's engine, within the server's memory.".into(),
    };
    (!table.rows.is_empty()).then(|| table.narrow())
}

/// What an event cost: the difference in the server's CPU by the events that were counted, with the difference's interval.
pub fn per_event(plan: &Plan, analysis: &Analysis) -> Option<Table> {
    if !plan.recipe.per_event {
        return None;
    }
    let line = |row: &Row| {
        let comparison = row.comparisons.get(&Measure::ServerCpu)?;
        let cpu_us = row.values.get(&Measure::ServerCpu)?.mean;
        let throughput = row.values.get(&Measure::Throughput)?.mean;
        let events = row.load.iter().map(|seen| seen.per_second).sum::<f64>() / throughput;
        if events == 0.0 {
            return None;
        }
        let percent = comparison.percent;
        let baseline_us = cpu_us / (1.0 + percent.mean / 100.0);
        let ns = |percent: f64| format!("{:.1}", percent / 100.0 * baseline_us * 1e3 / events);
        let end = |end: Option<f64>| end.map_or_else(|| "-".into(), ns);
        let mut line = place(row);
        line.extend([
            format!("{events:.1}"),
            ns(percent.mean),
            end(percent.low),
            end(percent.high),
        ]);
        Some(line)
    };
    let mut heading: Vec<String> = PLACE.map(str::to_owned).to_vec();
    let columns = ["events a transaction", "CPU of an event, ns", "from", "to"];
    heading.extend(columns.map(str::to_owned));
    let rows = analysis
        .rows
        .iter()
        .filter(|row| !row.key.again)
        .filter_map(line);
    let table = Table {
        title: "What an event cost".into(),
        heading,
        rows: rows.collect(),
        note: String::new(),
    };
    (!table.rows.is_empty()).then(|| table.narrow())
}

/// The columns that say where a row is.
const PLACE: [&str; 4] = ["server", "workload", "connections", "configuration"];

fn place(row: &Row) -> Vec<String> {
    let key = &row.key;
    vec![
        key.server.clone(),
        key.workload.clone(),
        key.connections.to_string(),
        label(row),
    ]
}

/// A difference with its interval, whatever it says.
fn interval(comparison: &Comparison) -> String {
    let percent = comparison.percent;
    match percent.low.zip(percent.high) {
        Some((low, high)) => format!("{:+.1} % [{low:+.1}, {high:+.1}]", percent.mean),
        None => format!("{:+.1} %", percent.mean),
    }
}

/// SQL's LIKE, with `%` alone.
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
