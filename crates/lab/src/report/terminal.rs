//! What is printed when a matrix is done: tables first, and last, where the eye is, the picture and the three sentences.

use super::picture::{Line, Picture, Tone, short};
use super::sentences::sentences;
use super::tables::{self, Table};
use crate::analysis::Analysis;
use crate::store::Plan;

/// Characters of the picture's axis.
const WIDE: usize = 56;
/// Characters of a name in the picture, at most.
const NAME: usize = 40;

/// All of it.
pub fn terminal(plan: &Plan, analysis: &Analysis) -> String {
    let mut text = format!("\n{}\n{}\n", plan.recipe.question, plan.machine.words());
    let mut shown = tables::figures(plan, analysis);
    shown.extend(tables::relative(plan, analysis));
    shown.extend(tables::rates(analysis));
    shown.extend(tables::load(plan, analysis, 0).into_iter().take(1));
    for table in &shown {
        text.push_str(&draw(table));
    }
    if let Some(picture) = Picture::of(plan, analysis) {
        let baseline = plan.recipe.baseline.as_deref().unwrap_or("the baseline");
        text.push_str(&in_characters(&picture, baseline));
    }
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (_, why) in &analysis.troubles {
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
    for sentence in sentences(plan, analysis) {
        text.push_str(&format!("{}\n", wrapped(&sentence)));
    }
    text
}

/// The page's first picture: a dot with its interval for each comparison, zero, and the A/A floor as shade.
pub fn in_characters(picture: &Picture, baseline: &str) -> String {
    let name = |line: &Line| -> String {
        match line.label.chars().count() {
            n if n > NAME => line
                .label
                .chars()
                .take(NAME - 1)
                .chain(['\u{2026}'])
                .collect(),
            _ => line.label.clone(),
        }
    };
    let wide = picture
        .lines
        .iter()
        .map(|line| name(line).chars().count())
        .max()
        .unwrap_or(0);
    let measure = picture.measure.title();
    let mut text = format!("\nDifference in {measure} from {baseline}, in percent\n");
    text.push_str(&format!("  {}  {}\n", " ".repeat(wide), axis(picture)));
    for line in &picture.lines {
        let label = name(line);
        let pad = " ".repeat(wide - label.chars().count());
        text.push_str(&format!(
            "  {label}{pad}  {}  {}\n",
            strip(picture, line),
            short(line.comparison)
        ));
    }
    text.push_str("  \u{25cf} difference  \u{25cb} none that can be told  ? not to be quoted  \u{2500} 95 % interval  \u{2591} A/A floor  \u{2502} zero\n");
    text
}

fn column(picture: &Picture, value: f64) -> usize {
    let part = (value - picture.low) / (picture.high - picture.low);
    ((part * WIDE as f64) as isize).clamp(0, WIDE as isize - 1) as usize
}

fn axis(picture: &Picture) -> String {
    let mut line = vec![' '; WIDE];
    let mut place = |value: f64, words: &str| {
        let start = column(picture, value).min(WIDE - words.len());
        if line[start.saturating_sub(1)..start + words.len()]
            .iter()
            .all(|c| *c == ' ')
        {
            line.splice(start..start + words.len(), words.chars());
        }
    };
    let end = |value: f64| format!("{value:+.1}");
    place(picture.low, &end(picture.low));
    place(picture.high, &end(picture.high));
    place(0.0, "0");
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn strip(picture: &Picture, line: &Line) -> String {
    let mut strip = vec![' '; WIDE];
    let mut fill = |from: f64, to: f64, with: char| {
        strip[column(picture, from)..=column(picture, to)].fill(with);
    };
    if let Some(floor) = line.comparison.floor_percent {
        fill(-floor, floor, '\u{2591}');
    }
    let percent = line.comparison.percent;
    fill(0.0, 0.0, '\u{2502}');
    if let Some((low, high)) = percent.low.zip(percent.high) {
        fill(low, high, '\u{2500}');
        let zero = column(picture, 0.0);
        if (column(picture, low)..=column(picture, high)).contains(&zero) {
            strip[zero] = '\u{253c}';
        }
    }
    strip[column(picture, percent.mean)] = match line.tone {
        Tone::Worse | Tone::Better => '\u{25cf}',
        Tone::Same => '\u{25cb}',
        Tone::Unquoted => '?',
    };
    strip.into_iter().collect()
}

/// Lines of at most 100 characters.
fn wrapped(text: &str) -> String {
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

/// Columns as wide as they must be; numbers to the right.
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
