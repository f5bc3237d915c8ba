//! What is printed when a matrix is done.

use super::tables::{self, Table};
use crate::analysis::Analysis;
use crate::store::Plan;

/// The tables, the conclusions, and what went wrong.
pub fn terminal(plan: &Plan, analysis: &Analysis) -> String {
    let mut text = format!("\n{}\n{}\n", plan.recipe.question, plan.machine.words());
    let mut shown = tables::figures(plan, analysis);
    shown.extend(tables::relative(plan, analysis));
    shown.extend(tables::rates(analysis));
    shown.extend(tables::load(plan, analysis, 0).into_iter().take(1));
    for table in &shown {
        text.push_str(&draw(table));
    }
    if let Some(floor) = analysis.floor_percent {
        text.push_str(&format!(
            "\nA/A floor: cells that are the same may seem to differ by up to {floor:.2} % in {}.\n",
            plan.recipe.measure.title()
        ));
    }
    if !analysis.conclusions.is_empty() {
        text.push_str("\nConclusions (unstable cells left out)\n");
    }
    for line in &analysis.conclusions {
        text.push_str(&format!("  {line}\n"));
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
    text
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
