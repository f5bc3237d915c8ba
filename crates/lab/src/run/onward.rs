//! Runs whose size is not fixed: after each repetition a look, which says how to go on.

use std::time::Duration;

use super::{Done, Runner};
use crate::matrix::Cell;
use crate::sequel::{self, Ended};
use crate::stats::starts::Costs;

impl Runner<'_> {
    /// Time that has been spent on measuring.
    pub(super) fn spend(&mut self, time: Duration) {
        if let Some(sequel) = &mut self.plan.sequel {
            sequel.spent += time.as_secs_f64();
            self.keep_plan();
        }
    }

    /// Blocks of the next start of a load.
    pub(super) fn turns(&self, load: &str) -> u32 {
        match &self.plan.sequel {
            None => self.plan.recipe.run.turns,
            Some(sequel) => sequel.turns(load),
        }
    }

    /// What a load's part of a repetition took.
    pub(super) fn took(&mut self, load: &str, costs: Costs) {
        if let Some(sequel) = &mut self.plan.sequel {
            sequel.note(load, costs);
        }
    }

    /// The next repetition, unless that was the last.
    pub(super) fn onward(&mut self, done: &mut Done) -> Vec<Cell> {
        let Some(mut sequel) = self.plan.sequel.take() else {
            return Vec::new();
        };
        let known = sequel::known(&self.plan, &self.results);
        let ended = sequel.decide(&known);
        done.progress.known(&sequel, &known);
        let before = self.plan.cells.len();
        if ended.is_none() {
            let is_open = |load: &str| !sequel.groups.get(load).is_some_and(|next| next.done);
            let mut cells = std::mem::take(&mut self.plan.cells);
            (self.plan.recipe).extend(&mut cells, self.plan.seed, |key| is_open(&key.load_title()));
            self.plan.cells = cells;
        }
        self.plan.sequel = Some(sequel);
        self.keep_plan();
        let next = self.plan.cells[before..].to_vec();
        done.progress.more(next.len());
        next
    }

    /// It is in memory; a plan that cannot be written now is said at the end.
    pub(super) fn keep_plan(&self) {
        let _ = self.store.write_plan(&self.plan);
    }
}

impl Ended {
    /// Why the run stopped, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Narrow => "every interval is narrow enough",
            Self::Time => "the time is over",
            Self::Nothing => "there is nothing to compare",
        }
    }
}
