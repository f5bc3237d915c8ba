//! The sections below the first picture: curves by connections, CPU, events, and each cell over time.

use super::plot::{self, Curve, Frame, Point};
use super::{figure, folded_figure};
use crate::analysis::{Analysis, Row};
use crate::events::KINDS;
use crate::recipe::Measure;
use crate::report::picture::Labels;
use crate::report::tables;
use crate::stats::interval::Interval;
use crate::store::Plan;

/// The labelled values of an axis of seconds.
const SECONDS: [f64; 13] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0,
];

fn measured(rows: &[&Row]) -> Vec<Row> {
    rows.iter()
        .filter(|row| row.done > 0)
        .map(|row| (*row).clone())
        .collect()
}

/// Curves by connections with bands of their intervals, if there are several numbers of connections.
pub fn curves(plan: &Plan, analysis: &Analysis) -> String {
    let mut html = String::new();
    let own = plan.recipe.measure;
    for (title, rows) in tables::groups(analysis) {
        let rows = measured(&rows);
        let difference = |row: &Row| Some(row.comparisons.get(&own)?.percent);
        let name = format!("{title}: difference in {}", own.title());
        curve(&mut html, &name, "percent", &rows, difference);
        let mut measures = vec![Measure::Throughput];
        if own != Measure::Throughput {
            measures.push(own);
        }
        for measure in measures {
            let unit = if measure == Measure::Throughput {
                "transactions/s"
            } else {
                measure.unit()
            };
            let what = if measure == Measure::Throughput {
                "throughput"
            } else {
                measure.title()
            };
            let value = |row: &Row| row.values.get(&measure).copied();
            curve(&mut html, &format!("{title}: {what}"), unit, &rows, value);
        }
    }
    html
}

fn curve(
    html: &mut String,
    title: &str,
    unit: &str,
    rows: &[Row],
    value: impl Fn(&Row) -> Option<Interval>,
) {
    let mut series: Vec<Curve> = Vec::new();
    let mut connections: Vec<f64> = Vec::new();
    for row in rows {
        let Some(Interval { mean, low, high }) = value(row) else {
            continue;
        };
        let point = Point {
            x: row.key.connections.into(),
            y: mean,
            interval: low.zip(high),
            unstable: row.unstable.is_some(),
        };
        let name = row.key.label();
        match series.iter_mut().find(|each| each.name == name) {
            Some(each) => each.points.push(point),
            None => series.push(Curve {
                name,
                points: vec![point],
            }),
        }
        if !connections.contains(&point.x) {
            connections.push(point.x);
        }
    }
    if connections.len() < 2 {
        return;
    }
    let frame = Frame {
        title,
        x: "connections",
        y: unit,
        labels: &connections,
        log: true,
        joined: true,
    };
    figure(html, title, &plot::lines(&frame, &series));
}

/// User and system time of server and generator, and of the machine.
pub fn split(analysis: &Analysis) -> String {
    let mut html = String::new();
    for (title, rows) in tables::groups(analysis) {
        let rows = measured(&rows);
        let name = names(&rows);
        let items: Vec<(String, Vec<f64>)> = (rows.iter())
            .filter_map(|row| {
                let means = row.means.as_ref()?;
                let server =
                    [means.server_user_us, means.server_system_us].map(|us| us.unwrap_or(0.0));
                let values = [
                    server[0],
                    server[1],
                    means.generator_user_us,
                    means.generator_system_us,
                ];
                Some((name(row), values.to_vec()))
            })
            .collect();
        if items.is_empty() {
            continue;
        }
        let parts = [
            "server, user",
            "server, system",
            "generator, user",
            "generator, system",
        ];
        let of_cpu = format!("{title}: CPU per transaction");
        figure(
            &mut html,
            &of_cpu,
            &plot::bars(&of_cpu, "us", &parts, &items),
        );
        let items: Vec<(String, Vec<f64>)> = (rows.iter())
            .filter_map(|row| {
                let machine = &row.means.as_ref()?.machine;
                Some((
                    name(row),
                    vec![machine.user, machine.system, machine.idle, machine.stolen],
                ))
            })
            .collect();
        let of_machine = format!("{title}: the machine's CPU");
        let parts = ["user", "system", "idle", "stolen"];
        folded_figure(
            &mut html,
            &of_machine,
            &plot::bars(&of_machine, "%", &parts, &items),
        );
    }
    html
}

/// A row's name within its group, with the connections if they differ.
fn names(rows: &[Row]) -> impl Fn(&Row) -> String + use<> {
    let several = rows
        .iter()
        .any(|row| row.key.connections != rows[0].key.connections);
    move |row: &Row| match several {
        true => format!("{}: {}", row.key.connections, row.key.label()),
        false => row.key.label(),
    }
}

/// Events by type and name.
pub fn counted(plan: &Plan, analysis: &Analysis) -> String {
    let mut html = String::new();
    let labels = Labels::of(analysis);
    let items: Vec<(String, Vec<f64>)> = (analysis.rows.iter())
        .filter(|row| !row.load.is_empty() && !row.key.again)
        .map(|row| {
            let of = |kind: &str| -> f64 {
                let of_kind = row.load.iter().filter(|event| event.kind == kind);
                of_kind.map(|event| event.per_statement).sum()
            };
            (labels.of_row(row), KINDS.map(of).to_vec())
        })
        .collect();
    if !items.is_empty() {
        let title = "Events per statement";
        figure(
            &mut html,
            title,
            &plot::bars(title, "events", &KINDS, &items),
        );
    }
    html.extend(tables::answers(plan, analysis).iter().map(super::folded));
    html.extend(
        tables::load(plan, analysis, super::NAMES)
            .iter()
            .map(super::folded),
    );
    html
}

/// The latencies of each cell, and its memory and throughput over time.
pub fn within_cells(analysis: &Analysis) -> String {
    let mut html = String::new();
    for (title, rows) in tables::groups(analysis) {
        let rows = measured(&rows);
        latencies(&mut html, &title, &rows);
        over_time(&mut html, &title, &rows);
    }
    html
}

fn latencies(html: &mut String, title: &str, rows: &[Row]) {
    let mut connections: Vec<u32> = rows.iter().map(|row| row.key.connections).collect();
    connections.dedup();
    for connections in connections {
        let series: Vec<Curve> = (rows.iter())
            .filter(|row| row.key.connections == connections && !row.histogram.is_empty())
            .map(|row| {
                let all: u64 = row.histogram.iter().map(|(_, count)| count).sum();
                let of_all = |count: u64| 100.0 * count as f64 / all as f64;
                let points = row
                    .histogram
                    .iter()
                    .map(|&(x, count)| plain(x, of_all(count)));
                Curve {
                    name: row.key.label(),
                    points: points.collect(),
                }
            })
            .collect();
        if series.is_empty() {
            continue;
        }
        let points = || series.iter().flat_map(|each| &each.points);
        let first = points().map(|point| point.x).fold(f64::MAX, f64::min);
        let last = points().map(|point| point.x).fold(0.0, f64::max);
        let all = (-4..6)
            .map(|power| 10f64.powi(power))
            .flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
        let labels: Vec<f64> = all.filter(|x| (first..=last).contains(x)).collect();
        let title = format!("{title}: latency at {connections} connections");
        let frame = Frame {
            title: &title,
            x: "milliseconds",
            y: "percent of transactions",
            labels: &labels,
            log: true,
            joined: true,
        };
        folded_figure(html, &title, &plot::lines(&frame, &series));
    }
}

fn plain(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        interval: None,
        unstable: false,
    }
}

/// Memory and throughput over time, with the largest number of connections.
fn over_time(html: &mut String, title: &str, rows: &[Row]) {
    let most = rows.iter().map(|row| row.key.connections).max();
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| Some(row.key.connections) == most)
        .collect();
    let mut plot = |what: &str, unit: &str, of: &dyn Fn(&Row) -> Vec<(f64, f64)>| {
        let series: Vec<Curve> = (rows.iter())
            .map(|row| {
                // A logarithmic scale has no zero.
                let points = of(row)
                    .into_iter()
                    .map(|(x, y)| plain(x.max(SECONDS[0]), y));
                Curve {
                    name: row.key.label(),
                    points: points.collect(),
                }
            })
            .filter(|series| series.points.len() > 1)
            .collect();
        if series.is_empty() {
            return;
        }
        let points = series.iter().flat_map(|each| &each.points);
        let last = points.map(|point| point.x).fold(0.0, f64::max);
        let labels: Vec<f64> = SECONDS.into_iter().filter(|x| *x <= last).collect();
        let title = format!(
            "{title}: {what} over time, {} connections",
            most.unwrap_or(0)
        );
        let frame = Frame {
            title: &title,
            x: "seconds",
            y: unit,
            labels: &labels,
            log: true,
            joined: true,
        };
        folded_figure(html, &title, &plot::lines(&frame, &series));
    };
    let memory = |row: &Row| {
        row.means
            .as_ref()
            .map(|means| means.memory.clone())
            .unwrap_or_default()
    };
    let mib = |kib: u64| kib as f64 / 1024.0;
    plot("resident memory", "MiB", &|row| {
        memory(row)
            .iter()
            .map(|one| (one.second, mib(one.resident_kib)))
            .collect()
    });
    plot("virtual memory", "MiB", &|row| {
        memory(row)
            .iter()
            .map(|one| (one.second, mib(one.virtual_kib)))
            .collect()
    });
    plot("throughput", "transactions/s", &|row| {
        let seconds = row
            .means
            .as_ref()
            .map(|means| means.each_second.clone())
            .unwrap_or_default();
        (1..).map(f64::from).zip(seconds).collect()
    });
}
