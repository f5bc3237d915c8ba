//! Progress of a run: a bar with the remaining time on a terminal, otherwise a line for each cell.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cell::Outcome;
use crate::matrix::Cell;
use crate::recipe::Measure;
use crate::stopping_rule::{ComparisonStarts, StoppingRule};

/// The bar, or the lines.
pub struct Progress {
    bar: ProgressBar,
    terminal: bool,
    all: usize,
    done: usize,
    last_report: Option<Instant>,
}

/// The interval between two interim reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The interim differences, and the remaining time.
fn so_far(
    stopping_rule: &StoppingRule,
    comparisons: &BTreeMap<String, Vec<ComparisonStarts>>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (load, comparisons) in comparisons {
        let starts = comparisons
            .iter()
            .map(|comparison| comparison.starts.len())
            .max();
        let each: Vec<String> = comparisons.iter().map(ComparisonStarts::words).collect();
        let done = match stopping_rule.groups.get(load) {
            Some(next) if next.done => ", narrow enough",
            _ => "",
        };
        let (starts, each) = (starts.unwrap_or(0), each.join("; "));
        lines.push(format!("  so far, {load}, {starts} starts{done}: {each}"));
    }
    let spent = duration(stopping_rule.spent);
    lines.push(match (stopping_rule.ended, stopping_rule.seconds_left()) {
        (Some(ended), _) => format!("  after {spent}: {}", ended.words()),
        (None, Some(left)) => format!("  {spent} gone, about {} left", duration(left)),
        (None, None) => format!("  {spent} gone"),
    });
    lines
}

/// Seconds, or minutes.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}

impl Progress {
    /// A progress of `all` cells, of which `done` are done already.
    pub fn new(all: usize, done: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = match terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(all as u64), target);
        let style = ProgressStyle::with_template(
            "{bar:30} {pos}/{len}  {elapsed} gone, {eta} left  {wide_msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(done as u64);
        // The remaining time is estimated from this run's cells, not from those of an earlier run.
        bar.reset_eta();
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self {
            bar,
            terminal,
            all,
            done,
            last_report: None,
        }
    }

    /// Names the current work.
    pub fn set_message(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Reports the outcome of a cell.
    pub fn cell(&mut self, cell: &Cell, outcome: &Outcome) {
        self.done += 1;
        self.bar.inc(1);
        let how = match outcome {
            Outcome::Done(measured) => match measured.value(Measure::Throughput) {
                Some(throughput) => format!("{throughput:.1} transactions/s"),
                None => "done".into(),
            },
            Outcome::Failed { reason } => format!("failed: {reason}"),
            Outcome::Skipped { reason } => format!("skipped: {reason}"),
        };
        let line = format!(
            "{}, repetition {}: {how}",
            cell.key.title(),
            cell.repetition
        );
        if !self.terminal {
            eprintln!("[{}/{}] {line}", self.done, self.all);
        } else if outcome.measured().is_none() {
            // A failure stays on the screen above the bar.
            self.bar.println(line);
        }
    }

    /// Adds cells to the total.
    pub fn more(&mut self, cells: usize) {
        self.all += cells;
        self.bar.set_length(self.all as u64);
    }

    /// Prints interim results, at most every ten seconds unless the run has ended.
    pub fn report(
        &mut self,
        stopping_rule: &StoppingRule,
        comparisons: &BTreeMap<String, Vec<ComparisonStarts>>,
    ) {
        if stopping_rule.ended.is_none()
            && self
                .last_report
                .is_some_and(|last_report| last_report.elapsed() < REPORT_INTERVAL)
        {
            return;
        }
        self.last_report = Some(Instant::now());
        for line in so_far(stopping_rule, comparisons) {
            match self.terminal {
                true => self.bar.println(line),
                false => eprintln!("{line}"),
            }
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
