//! CPU and memory of a load, and the cost of an event.

use super::labels::{PLACE, label, place, with_unit};
use super::table::Table;
use crate::analysis::{Analysis, Row, format_interval};
use crate::recipe::Measure;
use crate::store::Plan;

/// User, system and idle time of server, generator and machine, and context switches.
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

/// Requested rates, and whether they were held.
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
        "target rate, /s",
        "reached, /s",
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

/// Resident memory in absolute figures.
pub fn memory(plan: &Plan, analysis: &Analysis) -> Option<Table> {
    const MEASURES: [Measure; 4] = [
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
        line.extend(MEASURES.map(|measure| {
            value(row, measure)
                .as_ref()
                .map_or_else(|| "-".into(), format_interval)
        }));
        let more = base(row).map(|base| format!("{:+.1}", (start.mean - base) / 1024.0));
        line.push(more.unwrap_or_else(|| "-".into()));
        Some(line)
    };
    let mut heading: Vec<String> = PLACE.map(str::to_owned).to_vec();
    heading.extend(MEASURES.map(with_unit));
    heading.push("at start, more than the baseline, MiB".into());
    let table = Table {
        title: "Resident memory".into(),
        heading,
        rows: analysis.rows.iter().filter_map(line).collect(),
        note: "Segment: the mapping of Tare's engine, within the server's memory.".into(),
    };
    (!table.rows.is_empty()).then(|| table.narrow())
}

/// The cost of an event: the difference in server CPU divided by the counted events, with its interval.
pub fn per_event(plan: &Plan, analysis: &Analysis) -> Option<Table> {
    if !plan.recipe.per_event {
        return None;
    }
    let line = |row: &Row| {
        let comparison = row.comparisons.get(&Measure::ServerCpu)?;
        let cpu_us = row.values.get(&Measure::ServerCpu)?.mean;
        let throughput = row.values.get(&Measure::Throughput)?.mean;
        let events = row.load.iter().map(|event| event.per_second).sum::<f64>() / throughput;
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
