//! Runs a matrix: each cell by itself, or several side by side in turns. Each result is saved at once,
//! and a failed cell does not affect the next one.

mod after_effects;
mod hooks;
mod readings;
mod sequential;
mod serve;
mod sidecar;
mod stopping;
pub(crate) mod switch;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use tare_client::Dsn;

use crate::cell::{self, Measurement, Outcome};
use crate::error::CellError;
use crate::interrupt::Interrupt;
use crate::matrix::Cell;
use crate::processors;
use crate::progress::Progress;
use crate::restore::SavedSettings;
use crate::server::namespace::Namespace;
use crate::server::{Binaries, RunningServer};
use crate::store::{Plan, Store};
use crate::work::Work;

/// The connections with which a rate is calibrated.
const PROBES: u32 = 8;

/// A run of a matrix.
pub struct Runner<'a> {
    /// The plan.
    pub plan: Plan,
    /// The directory of the results.
    pub store: Store,
    /// The results so far.
    pub results: Vec<cell::Result>,
    binaries: &'a Binaries,
    dsn: Option<&'a Dsn>,
    interrupt: &'a Interrupt,
    work: Work,
    running: Option<(String, RunningServer)>,
    namespace: Option<Result<Namespace, String>>,
    /// Servers whose data directory is filled.
    prepared: BTreeSet<String>,
    /// Servers that cannot be started, and why; they are not tried again.
    unavailable: BTreeMap<String, String>,
    /// The unmeasured time at the start of a turn, by server.
    leads: BTreeMap<String, Duration>,
    /// The settings of the user's server, to be restored.
    saved: Option<SavedSettings>,
}

/// The outcome of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RunSummary {
    /// The number of failed cells.
    pub failed: usize,
    /// The number of skipped cells.
    pub skipped: usize,
    /// The signal that stopped the run.
    pub signal: Option<u8>,
}

/// The state of a run.
struct RunState {
    progress: Progress,
    finished: RunSummary,
}

impl RunState {
    /// Saves the outcome of a cell.
    fn cell(&mut self, runner: &mut Runner, cell: &Cell, measured: Result<Measurement, CellError>) {
        let (outcome, log) = match measured {
            Ok(measured) => (Outcome::Done(Box::new(measured)), None),
            Err(CellError::Failed { reason, log }) => {
                self.finished.failed += 1;
                (Outcome::Failed { reason }, Some(log))
            }
            Err(error) => {
                self.finished.skipped += 1;
                let reason = error.to_string();
                (Outcome::Skipped { reason }, None)
            }
        };
        self.progress.cell(cell, &outcome);
        let cell = cell.clone();
        let result = cell::Result { cell, outcome };
        runner.store.save(&result, log.as_deref());
        runner.results.push(result);
    }
}

impl<'a> Runner<'a> {
    /// Prepares a run of the cells that have no result yet.
    ///
    /// # Errors
    /// The directory for servers cannot be created.
    pub fn new(
        plan: Plan,
        store: Store,
        results: Vec<cell::Result>,
        binaries: &'a Binaries,
        dsn: Option<&'a Dsn>,
        interrupt: &'a Interrupt,
    ) -> std::io::Result<Self> {
        Ok(Self {
            plan,
            store,
            results,
            binaries,
            dsn,
            interrupt,
            work: Work::new()?,
            running: None,
            namespace: None,
            prepared: BTreeSet::new(),
            unavailable: BTreeMap::new(),
            leads: BTreeMap::new(),
            saved: None,
        })
    }

    /// Runs to the end, or to a signal.
    pub fn run(&mut self) -> RunSummary {
        // Child processes inherit the processors.
        let _shared = processors::share(self.plan.recipe.run.processors as usize);
        let mut todo = self.todo();
        let mut done = RunState {
            progress: Progress::new(self.plan.cells.len(), self.results.len()),
            finished: RunSummary::default(),
        };
        let ended = loop {
            let began = Instant::now();
            let ended = self.cells(&todo, &mut done);
            self.spend(began.elapsed());
            if ended.is_err() {
                break ended;
            }
            todo = self.next_cells(&mut done);
            if todo.is_empty() {
                break Ok(());
            }
        };
        self.stop();
        if let Some(saved) = self.saved.take() {
            saved.restore_or_report();
        }
        done.progress.finish();
        // Only a signal ends a run early.
        done.finished.signal = ended.err().and_then(|_| self.interrupt.signal());
        self.store.try_again();
        done.finished
    }

    /// Measures these cells.
    fn cells(&mut self, todo: &[Cell], done: &mut RunState) -> Result<(), CellError> {
        match self.plan.recipe.run.turns {
            0 => todo.iter().try_for_each(|cell| self.run_cell(cell, done)),
            _ => todo
                .chunk_by(|one, other| {
                    (one.repetition, &one.key.server) == (other.repetition, &other.key.server)
                })
                .try_for_each(|cells| self.by_turns(cells, done)),
        }
    }

    /// The cells without figures, whose results are dropped. Cells that are measured side by side are
    /// repeated together.
    fn todo(&mut self) -> Vec<Cell> {
        let side_by_side = self.plan.recipe.run.turns > 0;
        let has_figures: BTreeSet<u32> = (self.results.iter())
            .filter(|result| result.outcome.measured().is_some())
            .map(|result| result.cell.number)
            .collect();
        let together = |one: &Cell, other: &Cell| {
            side_by_side && (one.repetition, one.key.load()) == (other.repetition, other.key.load())
        };
        let groups = self.plan.cells.chunk_by(together);
        let todo: Vec<Cell> = groups
            .filter(|group| (group.iter()).any(|cell| !has_figures.contains(&cell.number)))
            .flatten()
            .cloned()
            .collect();
        self.results
            .retain(|result| !todo.iter().any(|cell| cell.number == result.cell.number));
        todo
    }

    /// The plan with calibrated rates, the store, and all results. The servers' directory is removed.
    pub fn into_parts(self) -> (Plan, Store, Vec<cell::Result>) {
        (self.plan, self.store, self.results)
    }
}

fn unplanned() -> CellError {
    CellError::failed("the plan names what its recipe does not have")
}
