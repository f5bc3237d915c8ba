//! The report of a comparison of two runs.

use super::picture::{Mark, Tone};
use super::terminal::{in_characters, wrapped};
use crate::compare::{CellComparison, Comparisons, Verdict};

/// The confidence of the intervals in percent.
const CONFIDENCE: u32 = 95;

/// The complete report: a picture, and sentences.
pub fn render_comparisons(comparisons: &Comparisons) -> String {
    let measure = comparisons.measure.title();
    let relative = match &comparisons.same {
        Some(same) => format!(" over {same}"),
        None => String::new(),
    };
    let title = format!("Second run against first: difference in {measure}{relative}, in percent");
    let marks: Vec<Mark> = comparisons
        .cells
        .iter()
        .map(|cell| mark(cell, comparisons))
        .collect();
    let mut text = in_characters(&title, &marks, CONFIDENCE);
    text.push('\n');
    for sentence in sentences(comparisons) {
        text.push_str(&format!("{}\n", wrapped(&sentence)));
    }
    text
}

/// The verdicts, and the warnings.
pub fn sentences(comparisons: &Comparisons) -> Vec<String> {
    let limit = comparisons.worse_percent;
    let of = |verdict: Verdict| -> Vec<&CellComparison> {
        comparisons
            .cells
            .iter()
            .filter(|cell| cell.verdict == verdict)
            .collect()
    };
    let all = comparisons.cells.len();
    let (worse, open) = (of(Verdict::Worse), of(Verdict::Inconclusive));
    let mut sentences = Vec::new();
    match worse.as_slice() {
        [] => sentences.push(format!(
            "No evidence that the second run is worse by more than {limit} %: of {all} {}, {} not worse and {} inconclusive.",
            if all == 1 { "comparison" } else { "comparisons" },
            verb(of(Verdict::NotWorse).len()),
            open.len()
        )),
        [first, ..] => sentences.push(format!(
            "The second run is worse by more than {limit} % in {} of {all} comparisons; most in {}, by {} (by {:.1} % at least).",
            worse.len(),
            first.key.title(),
            value(first),
            first.surely_worse_by.unwrap_or(0.0)
        )),
    }
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for cell in &open {
        let why = cell.why.as_deref().unwrap_or(
            "its interval reaches over the limit: more repetitions, or turns, make it narrower",
        );
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    sentences.extend(
        reasons
            .into_iter()
            .map(|(why, count)| format!("Inconclusive ({count}): {why}.")),
    );
    sentences.extend(comparisons.warnings.iter().cloned());
    let only_in_one = &comparisons.only_in_one;
    if !only_in_one.is_empty() {
        sentences.push(format!(
            "In only one of the runs: {}.",
            only_in_one.join("; ")
        ));
    }
    sentences
}

fn verb(count: usize) -> String {
    if count == 1 {
        "1 is".into()
    } else {
        format!("{count} are")
    }
}

fn value(cell: &CellComparison) -> String {
    let percent = cell.percent;
    match percent.low.zip(percent.high) {
        Some((low, high)) => format!("{:+.1} % [{low:+.1}, {high:+.1}]", percent.mean),
        None => format!("{:+.1} %", percent.mean),
    }
}

fn mark(cell: &CellComparison, comparisons: &Comparisons) -> Mark {
    let better = (cell.percent.mean > 0.0) == comparisons.measure.more_is_better();
    let tone = match cell.verdict {
        _ if cell.why.is_some() => Tone::Unquoted,
        Verdict::Worse => Tone::Worse,
        _ if cell.percent.excludes_zero() && better => Tone::Better,
        _ if cell.percent.excludes_zero() => Tone::Worse,
        _ => Tone::Same,
    };
    let words = match cell.verdict {
        Verdict::Worse => format!("worse by more than {} %", comparisons.worse_percent),
        Verdict::NotWorse => "not worse".into(),
        Verdict::Inconclusive => "inconclusive".into(),
    };
    Mark {
        label: cell.key.title(),
        percent: cell.percent,
        floor: None,
        tone,
        value: format!("{}  {words}", value(cell)),
    }
}
