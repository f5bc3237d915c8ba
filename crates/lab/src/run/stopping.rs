//! Runs whose size is not fixed: after each repetition, the stopping rule decides how to continue.

use std::time::Duration;

use super::{RunState, Runner};
use crate::matrix::Cell;
use crate::stats::starts::Costs;
use crate::stopping_rule::{self, StopReason};

impl Runner<'_> {
    /// Adds the time that measuring took.
    pub(super) fn spend(&mut self, time: Duration) {
        if let Some(stopping_rule) = &mut self.plan.stopping_rule {
            stopping_rule.spent += time.as_secs_f64();
            self.write_plan();
        }
    }

    /// Blocks of the next start of a load.
    pub(super) fn turns(&self, load: &str) -> u32 {
        match &self.plan.stopping_rule {
            None => self.plan.recipe.run.turns,
            Some(stopping_rule) => stopping_rule.turns(load),
        }
    }

    /// Records what a load's part of a repetition took.
    pub(super) fn record_costs(&mut self, load: &str, costs: Costs) {
        if let Some(stopping_rule) = &mut self.plan.stopping_rule {
            stopping_rule.record_costs(load, costs);
        }
    }

    /// The cells of the next repetition; none if the run has ended.
    pub(super) fn next_cells(&mut self, done: &mut RunState) -> Vec<Cell> {
        let Some(mut stopping_rule) = self.plan.stopping_rule.take() else {
            return Vec::new();
        };
        let comparisons = stopping_rule::comparisons_by_load(&self.plan, &self.results);
        let ended = stopping_rule.decide(&comparisons);
        done.progress.report(&stopping_rule, &comparisons);
        let before = self.plan.cells.len();
        if ended.is_none() {
            let is_open =
                |load: &str| !stopping_rule.groups.get(load).is_some_and(|next| next.done);
            let mut cells = std::mem::take(&mut self.plan.cells);
            (self.plan.recipe).extend(&mut cells, self.plan.seed, |key| is_open(&key.load_title()));
            self.plan.cells = cells;
        }
        self.plan.stopping_rule = Some(stopping_rule);
        self.write_plan();
        let next = self.plan.cells[before..].to_vec();
        done.progress.more(next.len());
        next
    }

    /// Writes the plan. It stays in memory if it cannot be written now.
    pub(super) fn write_plan(&self) {
        let _ = self.store.write_plan(&self.plan);
    }
}

impl StopReason {
    /// The reason as text.
    pub fn words(self) -> &'static str {
        match self {
            Self::Narrow => "every interval is narrow enough",
            Self::Time => "the time is over",
            Self::Nothing => "there is nothing to compare",
        }
    }
}
