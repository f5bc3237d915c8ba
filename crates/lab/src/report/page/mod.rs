//! report.html: one file without external resources, for light and dark screens and paper, from 390
//! pixels on. It begins with three sentences and one picture; the rest is their evidence.

mod forest;
mod heat;
mod hours;
mod plot;
mod sections;

use std::fmt::Write;

use super::picture::Picture;
use super::tables::{self, Table};
use super::{sentences, setting};
use crate::analysis::Analysis;
use crate::cell;
use crate::published;
use crate::store::Plan;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most events by name on the page; results.json has all.
const NAMES: usize = 12;

/// The complete page.
pub fn render_page(plan: &Plan, results: &[cell::Result], analysis: &Analysis) -> String {
    let mut html = String::new();
    let question = escape(&plan.recipe.question);
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{question}</title><style>{STYLE}</style></head><body>\n<h1>{question}</h1>\n<div id=\"sentences\">\n"
    );
    for sentence in sentences::sentences(plan, analysis) {
        let _ = writeln!(html, "<p>{}</p>", escape(&sentence));
    }
    html.push_str("</div>\n");
    if let Some(picture) = Picture::of(plan, analysis) {
        let baseline = plan.recipe.baseline.as_deref().unwrap_or("the baseline");
        html.push_str(&forest::draw(
            &picture,
            baseline,
            plan.coverage().confidence(),
        ));
    }
    how(&mut html, plan, results, analysis);
    section(
        &mut html,
        "Targets",
        &tables::targets(plan, analysis)
            .iter()
            .map(table)
            .collect::<String>(),
    );
    section(&mut html, "Matrix", &matrix(plan, analysis));
    section(
        &mut html,
        "By connections",
        &sections::curves(plan, analysis),
    );
    section(&mut html, "CPU per transaction", &sections::split(analysis));
    section(
        &mut html,
        "The run over time",
        &over_time(plan, results, analysis),
    );
    section(
        &mut html,
        "What was counted",
        &sections::counted(plan, analysis),
    );
    section(&mut html, "Figures", &figures(plan, analysis));
    reference(&mut html, plan);
    without_figures(&mut html, analysis);
    let _ = write!(html, "<script>{SCRIPT}</script>\n</body></html>\n");
    html
}

fn section(html: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let _ = write!(html, "<h2>{title}</h2>\n{body}");
    }
}

/// The setting of the run.
fn how(html: &mut String, plan: &Plan, results: &[cell::Result], analysis: &Analysis) {
    if !plan.recipe.about.is_empty() {
        let _ = writeln!(
            html,
            "<p class=\"about\">{}</p>",
            escape(plan.recipe.about.trim())
        );
    }
    let done = results
        .iter()
        .filter(|result| result.outcome.measured().is_some())
        .count();
    html.push_str("<ul class=\"machine\">\n");
    for words in setting::words(plan, done) {
        let _ = writeln!(html, "<li>{}</li>", escape(&words));
    }
    for note in analysis.notes(plan) {
        let _ = writeln!(html, "<li>{}</li>", escape(&note));
    }
    let stolen = crate::analysis::stolen(&analysis.rows);
    let _ = writeln!(
        html,
        "<li>CPU taken by other guests of the host: {stolen:.1} %</li>\n</ul>"
    );
}

fn matrix(plan: &Plan, analysis: &Analysis) -> String {
    let maps = heat::draw(plan, analysis);
    if maps.is_empty() {
        return maps;
    }
    let (measure, baseline) = (
        plan.recipe.measure.title(),
        plan.recipe.baseline.as_deref().unwrap_or_default(),
    );
    format!(
        "<p class=\"note\">Difference in {} from {}, in percent. \u{201c}&lt; x\u{201d}: not distinguishable; a difference below x would not \
         have been seen. *: unstable. ?: too few repetitions.</p>\n{maps}",
        escape(measure),
        escape(baseline)
    )
}

fn over_time(plan: &Plan, results: &[cell::Result], analysis: &Analysis) -> String {
    let mut html = String::new();
    if let Some((plot, words)) = hours::draw(plan, results) {
        let about = "Each point is what all cells of a moment had in common: the machine, not the configurations.";
        let _ = write!(html, "<p class=\"note\">{} {about}</p>", escape(&words));
        figure(&mut html, "How far each moment was from usual", &plot);
    }
    html + &sections::within_cells(analysis)
}

fn figures(plan: &Plan, analysis: &Analysis) -> String {
    let mut all = tables::figures(plan, analysis);
    all.extend(tables::relative(plan, analysis));
    all.extend(tables::rates(analysis));
    all.extend(tables::memory(plan, analysis));
    all.extend(tables::per_event(plan, analysis));
    all.push(tables::cpu(analysis));
    all.iter()
        .filter(|table| !table.rows.is_empty())
        .map(folded)
        .collect()
}

fn without_figures(html: &mut String, analysis: &Analysis) {
    if analysis.failures.is_empty() {
        return;
    }
    let rows = analysis
        .failures
        .iter()
        .map(|(cell, why)| vec![cell.clone(), why.clone()]);
    html.push_str(&table(&Table {
        title: "Cells without figures".into(),
        heading: vec!["cell".into(), "why".into()],
        rows: rows.collect(),
        note: String::new(),
    }));
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
        html.push_str(&folded(&Table {
            title: title.into(),
            heading,
            rows: rows.collect(),
            note: String::new(),
        }));
    }
}

/// A plot with its title.
fn figure(html: &mut String, title: &str, plot: &str) {
    let _ = writeln!(
        html,
        "<figure><figcaption>{}</figcaption>{plot}</figure>",
        escape(title)
    );
}

/// A plot that is folded at first.
fn folded_figure(html: &mut String, title: &str, plot: &str) {
    let _ = write!(html, "<details><summary>{}</summary>", escape(title));
    figure(html, title, plot);
    html.push_str("</details>\n");
}

/// A table that is folded at first.
fn folded(content: &Table) -> String {
    let bare = Table {
        title: String::new(),
        heading: content.heading.clone(),
        rows: content.rows.clone(),
        note: content.note.clone(),
    };
    format!(
        "<details><summary>{}</summary>{}</details>\n",
        escape(&content.title),
        table(&bare)
    )
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

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
