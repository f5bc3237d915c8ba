//! The comparisons of a run, sorted for the first picture of page and terminal.

use crate::analysis::{Analysis, Row};
use crate::recipe::Measure;
use crate::stats::compare::{Comparison, Verdict};
use crate::stats::interval::Interval;
use crate::store::Plan;

/// A comparison in the picture.
pub struct Line<'a> {
    /// Server, workload, connections and configuration, where they differ within the run.
    pub label: String,
    /// The row.
    pub row: &'a Row,
    /// The row's comparison in the recipe's measure.
    pub comparison: &'a Comparison,
    /// The meaning of the colour.
    pub tone: Tone,
}

/// A mark of the picture, for any kind of comparison.
pub struct Mark {
    /// The name.
    pub label: String,
    /// The dot with its interval.
    pub percent: Interval,
    /// The shaded range around zero.
    pub floor: Option<f64>,
    /// The meaning of the colour.
    pub tone: Tone,
    /// The value as text.
    pub value: String,
}

impl Line<'_> {
    /// The mark.
    pub fn mark(&self) -> Mark {
        Mark {
            label: self.label.clone(),
            percent: self.comparison.percent,
            floor: self.comparison.floor_percent,
            tone: self.tone,
            value: short(self.comparison),
        }
    }
}

/// The colour of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A difference for the worse.
    Worse,
    /// A difference for the better.
    Better,
    /// No detectable difference.
    Same,
    /// Unstable, or too few repetitions.
    Unquoted,
}

impl Tone {
    /// The colour of a comparison.
    pub fn of(comparison: &Comparison, measure: Measure) -> Self {
        let more = comparison.percent.mean > 0.0;
        match comparison.verdict {
            Verdict::Different if more == measure.more_is_better() => Self::Better,
            Verdict::Different => Self::Worse,
            Verdict::NotDistinguishable => Self::Same,
            Verdict::TooFew | Verdict::Unstable => Self::Unquoted,
        }
    }

    /// The CSS class.
    pub fn class(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::Unquoted => "unquoted",
        }
    }
}

/// The comparisons, the largest first, and the range of the axis.
pub struct Picture<'a> {
    /// The recipe's measure.
    pub measure: Measure,
    /// The largest difference first.
    pub lines: Vec<Line<'a>>,
    /// The start of the axis in percent.
    pub low: f64,
    /// The end of the axis in percent.
    pub high: f64,
}

impl<'a> Picture<'a> {
    /// The picture of a run; `None` if it has no comparison.
    pub fn of(plan: &Plan, analysis: &'a Analysis) -> Option<Self> {
        let measure = plan.recipe.measure;
        let labels = Labels::of(analysis);
        let mut lines: Vec<Line> = (analysis.rows.iter())
            .filter(|row| !row.key.again)
            .filter_map(|row| {
                let comparison = row.comparisons.get(&measure)?;
                Some(Line {
                    label: labels.of_row(row),
                    row,
                    comparison,
                    tone: Tone::of(comparison, measure),
                })
            })
            .collect();
        lines.sort_by(|a, b| {
            let mean = |line: &Line| line.comparison.percent.mean;
            mean(b).total_cmp(&mean(a))
        });
        let marks: Vec<Mark> = lines.iter().map(Line::mark).collect();
        let (low, high) = range(&marks)?;
        Some(Self {
            measure,
            lines,
            low,
            high,
        })
    }
}

/// The range of zero and of all values that may be quoted, with their intervals and floors. Intervals
/// that are far wider than the others are cut off.
pub fn range(marks: &[Mark]) -> Option<(f64, f64)> {
    if marks.is_empty() {
        return None;
    }
    let quoted = |mark: &&Mark| mark.tone != Tone::Unquoted;
    let visible: Vec<&Mark> = match marks.iter().any(|mark| quoted(&mark)) {
        true => marks.iter().filter(quoted).collect(),
        false => marks.iter().collect(),
    };
    let halves: Vec<f64> = (visible.iter())
        .filter_map(|mark| mark.percent.half())
        .collect();
    let max_half_width = match halves.is_empty() {
        true => f64::MAX,
        false => 3.0 * crate::stats::median(&halves),
    };
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for Mark { percent, floor, .. } in visible {
        let floor = floor.unwrap_or(0.0).min(max_half_width);
        low = low.min(-floor).min(percent.mean);
        high = high.max(floor).max(percent.mean);
        low = low.min(
            percent
                .low
                .unwrap_or(0.0)
                .max(percent.mean - max_half_width),
        );
        high = high.max(
            percent
                .high
                .unwrap_or(0.0)
                .min(percent.mean + max_half_width),
        );
    }
    let margin = ((high - low) * 0.04).max(0.01);
    Some((low - margin, high + margin))
}

/// A signed percentage; without tenths from 100 on.
fn signed(percent: f64) -> String {
    match percent.abs() >= 99.95 {
        true => format!("{percent:+.0}"),
        false => format!("{percent:+.1}"),
    }
}

/// A comparison in a column: `+18.7 % [15.9, 21.9]`, or the detection limit.
pub fn short(comparison: &Comparison) -> String {
    let percent = comparison.percent;
    let interval = match (percent.low, percent.high) {
        (Some(low), Some(high)) => {
            format!(
                "{} % [{}, {}]",
                signed(percent.mean),
                signed(low),
                signed(high)
            )
        }
        _ => format!("{} %", signed(percent.mean)),
    };
    match comparison.verdict {
        Verdict::Different => interval,
        Verdict::NotDistinguishable => {
            format!("not distinguishable, < {:.1} %", comparison.bound())
        }
        Verdict::TooFew => format!("{interval}, no interval"),
        Verdict::Unstable => format!("{interval} *"),
    }
}

/// Labels of rows, without the parts that all rows have in common.
pub struct Labels {
    server: bool,
    workload: bool,
    connections: bool,
}

impl Labels {
    /// The labels of a run's rows.
    pub fn of(analysis: &Analysis) -> Self {
        let rows = &analysis.rows;
        let differs = |same: &dyn Fn(&Row, &Row) -> bool| {
            rows.first()
                .is_some_and(|first| rows.iter().any(|row| !same(first, row)))
        };
        Self {
            server: differs(&|a, b| a.key.server == b.key.server),
            workload: differs(&|a, b| a.key.workload == b.key.workload),
            connections: differs(&|a, b| a.key.connections == b.key.connections),
        }
    }

    /// The label without the configuration.
    pub fn place(&self, row: &Row) -> String {
        let mut parts = Vec::new();
        if self.server {
            parts.push(row.key.server.clone());
        }
        if self.workload {
            parts.push(row.key.workload.clone());
        }
        if self.connections {
            parts.push(row.key.connections.to_string());
        }
        parts.join(", ")
    }

    /// The label of a row.
    pub fn of_row(&self, row: &Row) -> String {
        let place = self.place(row);
        let star = if row.unstable.is_some() { " *" } else { "" };
        match place.is_empty() {
            true => format!("{}{star}", row.key.label()),
            false => format!("{place}: {}{star}", row.key.label()),
        }
    }
}
