//! The report on the terminal: tables first; the picture and the three sentences last, next to the
//! prompt.

use super::picture::{Line, Mark, Picture, Tone, range};
use super::sentences::sentences;
use super::tables::{self, Table};
use crate::analysis::Analysis;
use crate::store::Plan;

/// The width of the picture's axis in characters.
const AXIS_WIDTH: usize = 56;
/// The longest name in the picture in characters.
const MAX_NAME_WIDTH: usize = 40;

/// The complete report.
pub fn render_terminal(plan: &Plan, analysis: &Analysis) -> String {
    let mut text = format!("\n{}\n{}\n", plan.recipe.question, plan.machine.words());
    for note in analysis.notes(plan) {
        text.push_str(&format!("{note}\n"));
    }
    let mut all = tables::figures(plan, analysis);
    all.extend(tables::relative(plan, analysis));
    all.extend(tables::rates(analysis));
    all.extend(tables::load(plan, analysis, 0).into_iter().take(1));
    all.extend(tables::memory(plan, analysis));
    all.extend(tables::per_event(plan, analysis));
    all.extend(tables::answers(plan, analysis));
    all.extend(tables::targets(plan, analysis));
    for table in &all {
        text.push_str(&draw(table));
    }
    if let Some(picture) = Picture::of(plan, analysis) {
        let baseline = plan.recipe.baseline.as_deref().unwrap_or("the baseline");
        let measure = picture.measure.title();
        let title = format!("Difference in {measure} from {baseline}, in percent");
        let marks: Vec<Mark> = picture.lines.iter().map(Line::mark).collect();
        text.push_str(&in_characters(&title, &marks, plan.coverage().confidence()));
    }
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (_, why) in &analysis.failures {
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    if !reasons.is_empty() {
        text.push_str("\nWithout figures\n");
    }
    for (why, count) in reasons {
        let cells = if count == 1 { "cell" } else { "cells" };
        text.push_str(&format!("  {count} {cells} {why}\n"));
    }
    text.push('\n');
    if let Some(answers) = &plan.recipe.answers {
        text.push_str(&format!("{answers}\n"));
    }
    for sentence in sentences(plan, analysis) {
        text.push_str(&format!("{}\n", wrapped(&sentence)));
    }
    if !plan.recipe.next.is_empty() {
        text.push_str(&format!("\n{}\n", plan.recipe.next.trim_end()));
    }
    text
}

/// The first picture of the page in characters: a dot with its interval for each comparison, zero, and
/// the floor.
pub fn in_characters(title: &str, marks: &[Mark], confidence: u32) -> String {
    let Some((low, high)) = range(marks) else {
        return String::new();
    };
    let axis = Axis { low, high };
    let name = |mark: &Mark| -> String {
        match mark.label.chars().count() {
            n if n > MAX_NAME_WIDTH => mark
                .label
                .chars()
                .take(MAX_NAME_WIDTH - 1)
                .chain(['\u{2026}'])
                .collect(),
            _ => mark.label.clone(),
        }
    };
    let wide = marks
        .iter()
        .map(|mark| name(mark).chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!("\n{title}\n");
    text.push_str(&format!("  {}  {}\n", " ".repeat(wide), axis.ends()));
    for mark in marks {
        let label = name(mark);
        let pad = " ".repeat(wide - label.chars().count());
        text.push_str(&format!(
            "  {label}{pad}  {}  {}\n",
            axis.strip(mark),
            mark.value
        ));
    }
    text.push_str(&format!(
        "  \u{25cf} difference  \u{25cb} no significant difference  ? not to be quoted  \u{2500} {confidence} % interval  \u{2502} zero"
    ));
    if marks.iter().any(|mark| mark.floor.is_some()) {
        text.push_str("  \u{2591} A/A floor");
    }
    text + "\n"
}

/// Maps percents to columns.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn column(&self, value: f64) -> usize {
        let part = (value - self.low) / (self.high - self.low);
        ((part * AXIS_WIDTH as f64) as isize).clamp(0, AXIS_WIDTH as isize - 1) as usize
    }

    /// The labels of its ends and of zero.
    fn ends(&self) -> String {
        let mut line = vec![' '; AXIS_WIDTH];
        let mut place = |value: f64, words: &str| {
            let start = self.column(value).min(AXIS_WIDTH - words.len());
            if line[start.saturating_sub(1)..start + words.len()]
                .iter()
                .all(|c| *c == ' ')
            {
                line.splice(start..start + words.len(), words.chars());
            }
        };
        place(self.low, &format!("{:+.1}", self.low));
        place(self.high, &format!("{:+.1}", self.high));
        place(0.0, "0");
        line.into_iter().collect::<String>().trim_end().to_owned()
    }

    fn strip(&self, mark: &Mark) -> String {
        let mut strip = vec![' '; AXIS_WIDTH];
        let mut fill = |from: f64, to: f64, with: char| {
            strip[self.column(from)..=self.column(to)].fill(with);
        };
        if let Some(floor) = mark.floor {
            fill(-floor, floor, '\u{2591}');
        }
        fill(0.0, 0.0, '\u{2502}');
        if let Some((low, high)) = mark.percent.low.zip(mark.percent.high) {
            fill(low, high, '\u{2500}');
            let zero = self.column(0.0);
            if (self.column(low)..=self.column(high)).contains(&zero) {
                strip[zero] = '\u{253c}';
            }
        }
        strip[self.column(mark.percent.mean)] = match mark.tone {
            Tone::Worse | Tone::Better => '\u{25cf}',
            Tone::Same => '\u{25cb}',
            Tone::Unquoted => '?',
        };
        strip.into_iter().collect()
    }
}

/// Lines of at most 100 characters.
pub fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("one at least");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + word.chars().count() < 100 {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

/// Draws a table with numbers aligned to the right.
fn draw(table: &Table) -> String {
    let width = |column: usize| {
        let cells = table.rows.iter().chain([&table.heading]);
        cells
            .filter_map(|row| Some(row.get(column)?.chars().count()))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.heading.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut text = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let number = cell.starts_with(|c: char| c.is_ascii_digit());
            let (before, after) = if number {
                (pad.as_str(), "")
            } else {
                ("", pad.as_str())
            };
            text.push_str(&format!(" {before}{cell}{after} "));
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = format!("\n{}\n{}", table.title, line(&table.heading));
    for row in &table.rows {
        text.push_str(&line(row));
    }
    if !table.note.is_empty() {
        text.push_str(&format!("  {}\n", table.note));
    }
    text
}
