//! The three sentences of a report: the differences, the detection limits, and the reliability.

use super::picture::{Line, Picture, Tone};
use super::setting;
use crate::analysis::{Analysis, Row, format_interval};
use crate::recipe::Measure;
use crate::stats::compare::{Comparison, Verdict};
use crate::store::Plan;

/// At most three sentences.
pub fn sentences(plan: &Plan, analysis: &Analysis) -> Vec<String> {
    let Some(picture) = Picture::of(plan, analysis) else {
        return without_comparisons(plan, analysis);
    };
    let mut sentences = vec![differences(plan, &picture)];
    sentences.extend(not_distinguishable(plan, &picture));
    sentences.push(trust(plan, analysis, &picture));
    sentences
}

/// The differences.
fn differences(plan: &Plan, picture: &Picture) -> String {
    let baseline = baseline(plan);
    let measure = picture.measure.title();
    let of = |tone: &dyn Fn(Tone) -> bool| -> Vec<&Line> {
        let mut lines: Vec<&Line> = (picture.lines.iter())
            .filter(|line| tone(line.tone))
            .collect();
        lines.sort_by(|a, b| size(b).total_cmp(&size(a)));
        lines
    };
    let different = of(&|tone| matches!(tone, Tone::Worse | Tone::Better));
    let quoted = of(&|tone| tone != Tone::Unquoted).len();
    let few: Vec<&Line> = (of(&|_| true).into_iter())
        .filter(|line| line.comparison.verdict == Verdict::TooFew)
        .collect();
    match (different.as_slice(), quoted) {
        (_, 0) if !few.is_empty() => {
            let largest = few[0];
            let pairs = largest.comparison.pairs;
            format!(
                "Too few repetitions: {pairs} of the 4 that an interval needs. The largest difference in {measure} from \
                 {baseline} so far is {:+.1} % ({}).",
                largest.comparison.percent.mean, largest.label
            )
        }
        (_, 0) => format!("No result: every comparison of {measure} is unstable."),
        ([], 1) => {
            let only = of(&|tone| tone == Tone::Same)[0];
            format!(
                "{measure} of {} does not differ significantly from {baseline}: any difference is below {:.1} %.",
                only.label,
                only.comparison.bound()
            )
        }
        ([], _) => format!(
            "None of {quoted} comparisons shows a significant difference in {measure} from {baseline}."
        ),
        ([only], 1) => format!(
            "{} {} {measure} by {} against {baseline}.",
            only.label,
            verb(only.comparison),
            amount(only.comparison)
        ),
        ([only], _) => format!(
            "Of {quoted} comparisons with {baseline} one shows a difference: {} {} {measure} by {}.",
            only.label,
            verb(only.comparison),
            amount(only.comparison)
        ),
        (several, _) => {
            // The extremes of both directions.
            let by_mean = |a: &&&Line, b: &&&Line| {
                let mean = |line: &Line| line.comparison.percent.mean;
                mean(a).total_cmp(&mean(b))
            };
            let ends = several
                .iter()
                .max_by(by_mean)
                .zip(several.iter().min_by(by_mean));
            let words = |line: &Line| format!("{} ({})", signed(line.comparison), line.label);
            let ends =
                ends.map(|(most, least)| format!("from {} to {}", words(most), words(least)));
            format!(
                "{} of {quoted} comparisons show a difference in {measure} from {baseline}: {}.",
                several.len(),
                ends.unwrap_or_default()
            )
        }
    }
}

/// Comparisons without a difference, with their detection limits; if there are none, another measure of
/// the largest difference.
fn not_distinguishable(plan: &Plan, picture: &Picture) -> Option<String> {
    let mut same: Vec<&Line> = (picture.lines.iter())
        .filter(|line| line.tone == Tone::Same)
        .collect();
    same.sort_by(|a, b| a.comparison.bound().total_cmp(&b.comparison.bound()));
    let measure = picture.measure.title();
    let quoted = (picture.lines.iter())
        .filter(|line| line.tone != Tone::Unquoted)
        .count();
    match same.as_slice() {
        [] => other_measure(plan, picture),
        [_] if quoted == 1 => other_measure(plan, picture),
        [only] => Some(format!(
            "{} is not distinguishable from {}: a difference in {measure} below {:.1} % would not have been seen there.",
            only.label,
            baseline(plan),
            only.comparison.bound()
        )),
        [first, .., last] => Some(format!(
            "{} are not distinguishable from {}; what could hide there is below {:.1} % ({}) to below {:.1} % ({}).",
            same.len(),
            baseline(plan),
            first.comparison.bound(),
            first.label,
            last.comparison.bound(),
            last.label
        )),
    }
}

/// The largest difference in throughput or server CPU, whichever is not the recipe's measure.
fn other_measure(plan: &Plan, picture: &Picture) -> Option<String> {
    let largest = (picture.lines.iter())
        .filter(|line| line.tone != Tone::Unquoted)
        .max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let of_memory = [
        Measure::MemoryStart,
        Measure::MemoryConnection,
        Measure::SegmentStart,
        Measure::SegmentConnection,
    ];
    if of_memory.contains(&picture.measure) {
        return None;
    }
    let other = match picture.measure {
        Measure::Throughput => Measure::ServerCpu,
        _ => Measure::Throughput,
    };
    let comparison = largest.row.comparisons.get(&other)?;
    let (title, label, baseline) = (other.title(), &largest.label, baseline(plan));
    Some(match comparison.verdict {
        Verdict::Different => format!(
            "In {title}, {label} differs from {baseline} by {}.",
            signed(comparison)
        ),
        Verdict::NotDistinguishable => format!(
            "In {title}, {label} is not distinguishable from {baseline} (a difference below {:.1} % would not have been seen).",
            comparison.bound()
        ),
        Verdict::TooFew | Verdict::Unstable => return None,
    })
}

/// The A/A floor, the amount of measurement, and what was left out.
fn trust(plan: &Plan, analysis: &Analysis, picture: &Picture) -> String {
    let mut text = match analysis.floor_percent {
        Some(floor) => format!(
            "Two cells that are the same seem to differ by up to {floor:.1} % here (A/A, {})",
            setting::amount(plan)
        ),
        None => format!(
            "How much two equal cells differ is not known ({})",
            setting::amount(plan)
        ),
    };
    let count = |verdict: Verdict| {
        (picture.lines.iter())
            .filter(|line| line.comparison.verdict == verdict)
            .count()
    };
    let unstable = count(Verdict::Unstable);
    let mut out = Vec::new();
    if unstable > 0 {
        out.push(format!(
            "{unstable} unstable {}",
            plural(unstable, "comparison")
        ));
    }
    if !analysis.failures.is_empty() {
        let without = analysis.failures.len();
        out.push(format!(
            "{without} {} without figures",
            plural(without, "cell")
        ));
    }
    if !out.is_empty() {
        text.push_str(&format!("; left out: {}", out.join(", ")));
    }
    text + "."
}

fn without_comparisons(plan: &Plan, analysis: &Analysis) -> Vec<String> {
    let measure = plan.recipe.measure;
    let mut valued: Vec<(&Row, f64)> = (analysis.rows.iter())
        .filter_map(|row| Some((row, row.values.get(&measure)?.mean)))
        .collect();
    valued.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (Some((most, _)), Some((least, _))) = (valued.first(), valued.last()) else {
        let why = analysis
            .failures
            .first()
            .map_or("", |(_, why)| why.as_str());
        return vec![format!(
            "Nothing was measured: {} cells {why}.",
            analysis.failures.len()
        )];
    };
    let labels = super::picture::Labels::of(analysis);
    let words = |row: &Row| {
        format!(
            "{} {} ({})",
            format_interval(&row.values[&measure]),
            measure.unit(),
            labels.of_row(row)
        )
    };
    vec![
        format!(
            "{} from {} down to {}.",
            measure.title(),
            words(most),
            words(least)
        ),
        format!(
            "Nothing is compared: this recipe has no baseline that was measured ({}).",
            setting::amount(plan)
        ),
    ]
}

fn baseline(plan: &Plan) -> &str {
    plan.recipe.baseline.as_deref().unwrap_or("the baseline")
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 {
        what.into()
    } else {
        format!("{what}s")
    }
}

fn size(line: &Line) -> f64 {
    line.comparison.percent.mean.abs()
}

fn verb(comparison: &Comparison) -> &'static str {
    if comparison.percent.mean > 0.0 {
        "raises"
    } else {
        "lowers"
    }
}

/// The amount of a difference, without its sign: `18.7 % [15.9, 21.9]`.
fn amount(comparison: &Comparison) -> String {
    let percent = comparison.percent;
    let sign = percent.mean.signum();
    let (low, high) = (
        percent.low.unwrap_or(percent.mean) * sign,
        percent.high.unwrap_or(percent.mean) * sign,
    );
    format!(
        "{:.1} % [{:.1}, {:.1}]",
        percent.mean.abs(),
        low.min(high),
        low.max(high)
    )
}

fn signed(comparison: &Comparison) -> String {
    super::picture::short(comparison)
}
