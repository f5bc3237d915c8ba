//! What the user sees while a matrix runs: a bar with the time left on a terminal, a line for each cell elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cell::Outcome;
use crate::matrix::Cell;
use crate::recipe::Measure;

/// The bar, or the lines.
pub struct Progress {
    bar: ProgressBar,
    terminal: bool,
    all: usize,
    done: usize,
}

impl Progress {
    /// Of so many cells, of which so many are done already.
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
        // The time left is told from the cells of now, not from those of an earlier run.
        bar.reset_eta();
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self {
            bar,
            terminal,
            all,
            done,
        }
    }

    /// What is being done.
    pub fn says(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// A cell is done.
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
            // What went wrong stays on the screen, above the bar.
            self.bar.println(line);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
