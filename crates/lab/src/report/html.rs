//! report.html: one file, nothing loaded from elsewhere; light, dark and on paper.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::svg::{self, Point, Series};
use super::tables::{self, Table};
use crate::analysis::{Analysis, Row};
use crate::cell;
use crate::events::KINDS;
use crate::published;
use crate::recipe::Measure;
use crate::stats::interval::Interval;
use crate::store::Plan;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Events by name in the page; results.json has all of them.
const NAMES: usize = 12;

/// The whole page.
pub fn page(plan: &Plan, results: &[cell::Result], analysis: &Analysis) -> String {
    let mut html = String::new();
    let question = escape(&plan.recipe.question);
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{question}</title><style>{STYLE}</style></head><body>\n<h1>{question}</h1>\n"
    );
    summary(&mut html, plan, results, analysis);
    for (title, rows) in tables::groups(analysis) {
        group(&mut html, plan, analysis, &title, &rows);
    }
    html.push_str("<h2>All of them</h2>\n");
    html.extend(tables::relative(plan, analysis).iter().map(table));
    html.extend(tables::rates(analysis).iter().map(table));
    html.push_str(&table(&tables::cpu(analysis)));
    html.extend(tables::load(plan, analysis, NAMES).iter().map(table));
    reference(&mut html, plan);
    if !analysis.troubles.is_empty() {
        let rows = analysis
            .troubles
            .iter()
            .map(|(cell, why)| vec![cell.clone(), why.clone()]);
        html.push_str(&table(&Table {
            title: "Cells without figures".into(),
            heading: vec!["cell".into(), "why".into()],
            rows: rows.collect(),
            note: String::new(),
        }));
    }
    let _ = write!(html, "<script>{SCRIPT}</script>\n</body></html>\n");
    html
}

fn summary(html: &mut String, plan: &Plan, results: &[cell::Result], analysis: &Analysis) {
    if !plan.recipe.about.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", escape(plan.recipe.about.trim()));
    }
    let run = &plan.recipe.run;
    let done = results
        .iter()
        .filter(|result| result.outcome.measured().is_some())
        .count();
    let quick = if plan.quick { ", quick form" } else { "" };
    let _ = writeln!(
        html,
        "<p class=\"machine\">Recipe {}{quick}, {} UTC, {}. {} repetitions of {} s after {} s of warm-up, {}tables: {} of {} rows; \
         {done} of {} cells measured, seed {}. {}; stolen by other guests: {:.1} %.</p>",
        escape(&plan.name),
        plan.machine.started,
        escape(&plan.machine.sysbench),
        run.repetitions,
        run.seconds,
        run.warm_up,
        crate::report::shared(run.processors),
        plan.recipe.data.tables,
        plan.recipe.data.rows,
        plan.cells.len(),
        plan.seed,
        escape(&plan.machine.words()),
        crate::analysis::stolen(&analysis.rows),
    );
    let measure = plan.recipe.measure.title();
    if let Some(floor) = analysis.floor_percent {
        let _ = writeln!(
            html,
            "<p>A/A floor: cells that are the same may seem to differ by up to {floor:.2} % in {measure}. Intervals are of 95 %.</p>"
        );
    }
    if !analysis.conclusions.is_empty() {
        html.push_str("<h2>Conclusions</h2>\n<ul id=\"conclusions\">\n");
        for line in &analysis.conclusions {
            let _ = writeln!(html, "<li>{}</li>", escape(line));
        }
        html.push_str("</ul>\n<p>Unstable cells are left out.</p>\n");
    }
}

/// A server under a workload: its table and its plots.
fn group(html: &mut String, plan: &Plan, analysis: &Analysis, title: &str, rows: &[&Row]) {
    let _ = writeln!(html, "<h2>{}</h2>", escape(title));
    let Some(figures) = tables::figures(plan, analysis)
        .into_iter()
        .find(|table| table.title == title)
    else {
        html.push_str("<p>No figures: see below for why.</p>\n");
        return;
    };
    html.push_str(&table(&Table {
        title: String::new(),
        ..figures
    }));
    let measured: Vec<&Row> = rows.iter().copied().filter(|row| row.done > 0).collect();
    let own = plan.recipe.measure;
    let difference = |row: &Row| Some(row.comparisons.get(&own)?.percent);
    curve(
        html,
        &format!("{title}: difference in {}", own.title()),
        "percent",
        &measured,
        difference,
    );
    let throughput = |row: &Row| row.values.get(&Measure::Throughput).copied();
    curve(
        html,
        &format!("{title}: throughput"),
        "transactions/s",
        &measured,
        throughput,
    );
    if own != Measure::Throughput {
        let figure = |row: &Row| row.values.get(&own).copied();
        curve(
            html,
            &format!("{title}: {}", own.title()),
            own.unit(),
            &measured,
            figure,
        );
    }
    split(html, title, &measured);
    events(html, title, &measured);
    latencies(html, title, &measured);
    over_time(html, title, &measured);
}

/// By connections where there are several, else by configuration.
fn curve(
    html: &mut String,
    title: &str,
    unit: &str,
    rows: &[&Row],
    value: impl Fn(&Row) -> Option<Interval>,
) {
    let point = |row: &Row| {
        let Interval { mean, low, high } = value(row)?;
        Some(Point {
            x: row.key.connections.into(),
            y: mean,
            interval: low.zip(high),
            unstable: row.unstable.is_some(),
        })
    };
    let mut series: BTreeMap<usize, Series> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut connections: Vec<f64> = Vec::new();
    for row in rows {
        let Some(point) = point(row) else { continue };
        let name = row.key.label();
        let at = names
            .iter()
            .position(|each| *each == name)
            .unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
        series
            .entry(at)
            .or_insert(Series {
                name,
                points: Vec::new(),
            })
            .points
            .push(point);
        if !connections.contains(&point.x) {
            connections.push(point.x);
        }
    }
    let series: Vec<Series> = series.into_values().collect();
    let plot = match connections.len() {
        0 => return,
        1 => {
            let items: Vec<(String, Point)> = series
                .iter()
                .map(|each| (each.name.clone(), each.points[0]))
                .collect();
            svg::dots(title, unit, &items)
        }
        _ => svg::lines(title, "connections", unit, &series, &connections),
    };
    figure(html, title, &plot);
}

fn split(html: &mut String, title: &str, rows: &[&Row]) {
    let items: Vec<(String, Vec<f64>)> = (rows.iter())
        .filter_map(|row| {
            let means = row.means.as_ref()?;
            let values = vec![
                means.server_user_us.unwrap_or(0.0),
                means.server_system_us.unwrap_or(0.0),
                means.generator_user_us,
                means.generator_system_us,
            ];
            Some((
                format!("{}: {}", row.key.connections, row.key.label()),
                values,
            ))
        })
        .collect();
    let parts = [
        "server, user",
        "server, system",
        "generator, user",
        "generator, system",
    ];
    let title = format!("{title}: CPU per transaction");
    figure(
        html,
        &title,
        &svg::bars(&title, "microseconds", &parts, &items),
    );
    let items: Vec<(String, Vec<f64>)> = (rows.iter())
        .filter_map(|row| {
            let machine = &row.means.as_ref()?.machine;
            let values = vec![machine.user, machine.system, machine.idle, machine.stolen];
            Some((
                format!("{}: {}", row.key.connections, row.key.label()),
                values,
            ))
        })
        .collect();
    let title = title.replace("CPU per transaction", "the machine's CPU");
    let plot = svg::bars(
        &title,
        "percent",
        &["user", "system", "idle", "stolen"],
        &items,
    );
    let _ = write!(html, "<details><summary>{}</summary>", escape(&title));
    figure(html, &title, &plot);
    html.push_str("</details>\n");
}

fn events(html: &mut String, title: &str, rows: &[&Row]) {
    let items: Vec<(String, Vec<f64>)> = (rows.iter())
        .filter(|row| !row.load.is_empty())
        .map(|row| {
            let of = |kind: &str| {
                row.load
                    .iter()
                    .filter(|seen| seen.kind == kind)
                    .map(|seen| seen.per_statement)
                    .sum()
            };
            (
                format!("{}: {}", row.key.connections, row.key.label()),
                KINDS.map(of).to_vec(),
            )
        })
        .collect();
    if !items.is_empty() {
        let title = format!("{title}: events per statement");
        figure(html, &title, &svg::bars(&title, "events", &KINDS, &items));
    }
}

fn latencies(html: &mut String, title: &str, rows: &[&Row]) {
    let mut connections: Vec<u32> = rows.iter().map(|row| row.key.connections).collect();
    connections.dedup();
    for connections in connections {
        let series: Vec<Series> = (rows.iter())
            .filter(|row| row.key.connections == connections && !row.histogram.is_empty())
            .map(|row| {
                let all: u64 = row.histogram.iter().map(|(_, count)| count).sum();
                let points = row.histogram.iter().map(|&(x, count)| Point {
                    x,
                    y: 100.0 * count as f64 / all as f64,
                    interval: None,
                    unstable: false,
                });
                Series {
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
        let labels = (-4..6)
            .map(|power| 10f64.powi(power))
            .flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
        let labels: Vec<f64> = labels.filter(|x| (first..=last).contains(x)).collect();
        let title = format!("{title}: latency at {connections} connections");
        let plot = svg::lines(
            &title,
            "milliseconds",
            "percent of transactions",
            &series,
            &labels,
        );
        let _ = write!(html, "<details><summary>{}</summary>", escape(&title));
        figure(html, &title, &plot);
        html.push_str("</details>\n");
    }
}

/// Memory and throughput over the measured seconds: of the most connections.
fn over_time(html: &mut String, title: &str, rows: &[&Row]) {
    let most = rows.iter().map(|row| row.key.connections).max();
    let rows: Vec<&&Row> = rows
        .iter()
        .filter(|row| Some(row.key.connections) == most)
        .collect();
    let mut plot = |what: &str, unit: &str, of: &dyn Fn(&Row) -> Vec<(f64, f64)>| {
        let series: Vec<Series> = (rows.iter())
            .map(|row| {
                let points = of(row).into_iter();
                // The scale is of logarithms: the first moment is not at zero.
                let points = points.map(|(x, y)| Point {
                    x: x.max(0.1),
                    y,
                    interval: None,
                    unstable: false,
                });
                Series {
                    name: row.key.label(),
                    points: points.collect(),
                }
            })
            .filter(|series| series.points.len() > 1)
            .collect();
        if series.is_empty() {
            return;
        }
        let last = series
            .iter()
            .flat_map(|each| &each.points)
            .map(|point| point.x)
            .fold(0.0, f64::max);
        let labels = [
            0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0,
        ];
        let labels: Vec<f64> = labels.into_iter().filter(|x| *x <= last).collect();
        let title = format!(
            "{title}: {what} over time, {} connections",
            most.unwrap_or(0)
        );
        let _ = write!(html, "<details><summary>{}</summary>", escape(&title));
        figure(
            html,
            &title,
            &svg::lines(&title, "seconds", unit, &series, &labels),
        );
        html.push_str("</details>\n");
    };
    let memory = |row: &Row| {
        row.means
            .as_ref()
            .map(|means| means.memory.clone())
            .unwrap_or_default()
    };
    plot("resident memory", "MiB", &|row| {
        memory(row)
            .iter()
            .map(|one| (one.second, one.resident_kib as f64 / 1024.0))
            .collect()
    });
    plot("virtual memory", "MiB", &|row| {
        memory(row)
            .iter()
            .map(|one| (one.second, one.virtual_kib as f64 / 1024.0))
            .collect()
    });
    plot("throughput", "transactions/s", &|row| {
        let seconds = row
            .means
            .as_ref()
            .map(|means| means.each_second.clone())
            .unwrap_or_default();
        seconds
            .into_iter()
            .enumerate()
            .map(|(at, y)| (at as f64 + 1.0, y))
            .collect()
    });
}

fn reference(html: &mut String, plan: &Plan) {
    let Some(study) = plan.recipe.reference.as_deref().and_then(published::find) else {
        return;
    };
    let _ = writeln!(
        html,
        "<h2 id=\"published\">Published figures</h2>\n<p>Of another machine, for shapes and ratios only. {}</p>",
        escape(study.source)
    );
    if !study.text.is_empty() {
        let _ = writeln!(
            html,
            "<blockquote>{}</blockquote>",
            escape(study.text.trim())
        );
    }
    for (title, rows) in study.tables() {
        let mut rows = rows
            .into_iter()
            .map(|row| row.into_iter().map(str::to_owned).collect());
        let heading = rows.next().unwrap_or_default();
        let shown = Table {
            title: title.into(),
            heading,
            rows: rows.collect(),
            note: String::new(),
        };
        let _ = write!(
            html,
            "<details><summary>{}</summary>{}</details>",
            escape(title),
            table(&shown)
        );
    }
}

fn figure(html: &mut String, title: &str, plot: &str) {
    let _ = writeln!(
        html,
        "<figure><figcaption>{}</figcaption>{plot}</figure>",
        escape(title)
    );
}

fn table(table: &Table) -> String {
    let mut html = String::new();
    if !table.title.is_empty() {
        let _ = writeln!(html, "<h3>{}</h3>", escape(&table.title));
    }
    html.push_str("<div class=\"wide\"><table class=\"sortable\"><thead><tr>");
    for heading in &table.heading {
        let _ = write!(
            html,
            "<th tabindex=\"0\" aria-sort=\"none\">{}</th>",
            escape(heading)
        );
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for cell in row {
            let number = cell.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
            let class = if number { " class=\"n\"" } else { "" };
            let _ = write!(html, "<td{class}>{}</td>", escape(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    if !table.note.is_empty() {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", escape(&table.note));
    }
    html
}

/// Text as HTML has it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
