//! Runs a matrix: each cell alone or side by side by turns, kept as soon as it is done. Whatever a cell does, the next
//! one starts clean.

mod after;
mod alone;
mod beside;
mod hooks;
mod noted;
mod onward;
mod serve;
pub(crate) mod switch;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use tare_client::Dsn;

use crate::cell::{self, Measured, Outcome};
use crate::interrupt::Interrupt;
use crate::matrix::Cell;
use crate::processors;
use crate::progress::Progress;
use crate::restore::Saved;
use crate::server::namespace::Namespace;
use crate::server::{Places, Running};
use crate::store::{Plan, Store};
use crate::trouble::Trouble;
use crate::work::Work;

/// Connections that find out how much the machine can do.
const PROBES: u32 = 8;

/// A run of a matrix.
pub struct Runner<'a> {
    /// What is measured.
    pub plan: Plan,
    /// Where results go.
    pub store: Store,
    /// Those that there are.
    pub results: Vec<cell::Result>,
    places: &'a Places,
    dsn: Option<&'a Dsn>,
    interrupt: &'a Interrupt,
    work: Work,
    running: Option<(String, Running)>,
    namespace: Option<Result<Namespace, String>>,
    /// Servers whose data directory is filled.
    prepared: BTreeSet<String>,
    /// What cannot be had, and why: not tried again.
    unavailable: BTreeMap<String, String>,
    /// How long each server's loads run before a turn is measured.
    leads: BTreeMap<String, Duration>,
    /// What was set on a server that is not ours.
    saved: Option<Saved>,
}

/// How a run went.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Cells that failed.
    pub failed: usize,
    /// Cells that were skipped.
    pub skipped: usize,
    /// The signal that stopped it.
    pub signal: Option<u8>,
}

/// What has been done of it.
struct Done {
    progress: Progress,
    finished: Finished,
}

impl Done {
    /// Keeps how a cell went.
    fn cell(&mut self, runner: &mut Runner, cell: &Cell, measured: Result<Measured, Trouble>) {
        let (outcome, log) = match measured {
            Ok(measured) => (Outcome::Done(Box::new(measured)), None),
            Err(Trouble::Failed { reason, log }) => {
                self.finished.failed += 1;
                (Outcome::Failed { reason }, Some(log))
            }
            Err(trouble) => {
                self.finished.skipped += 1;
                let reason = trouble.to_string();
                (Outcome::Skipped { reason }, None)
            }
        };
        self.progress.cell(cell, &outcome);
        let cell = cell.clone();
        let result = cell::Result { cell, outcome };
        runner.store.keep(&result, log.as_deref());
        runner.results.push(result);
    }
}

impl<'a> Runner<'a> {
    /// Gets ready to run what has no result yet.
    ///
    /// # Errors
    /// No directory for servers can be made.
    pub fn new(
        plan: Plan,
        store: Store,
        results: Vec<cell::Result>,
        places: &'a Places,
        dsn: Option<&'a Dsn>,
        interrupt: &'a Interrupt,
    ) -> std::io::Result<Self> {
        Ok(Self {
            plan,
            store,
            results,
            places,
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
    pub fn run(&mut self) -> Finished {
        // Whatever is started here inherits them.
        let _shared = processors::share(self.plan.recipe.run.processors as usize);
        let mut todo = self.todo();
        let mut done = Done {
            progress: Progress::new(self.plan.cells.len(), self.results.len()),
            finished: Finished::default(),
        };
        let ended = loop {
            let began = Instant::now();
            let ended = self.cells(&todo, &mut done);
            self.spend(began.elapsed());
            if ended.is_err() {
                break ended;
            }
            todo = self.onward(&mut done);
            if todo.is_empty() {
                break Ok(());
            }
        };
        self.stop();
        if let Some(saved) = self.saved.take() {
            saved.put_back_or_say();
        }
        done.progress.finish();
        // Nothing else ends it before its end.
        done.finished.signal = ended.err().and_then(|_| self.interrupt.signal());
        self.store.try_again();
        done.finished
    }

    /// Measures these cells.
    fn cells(&mut self, todo: &[Cell], done: &mut Done) -> Result<(), Trouble> {
        match self.plan.recipe.run.turns {
            0 => todo.iter().try_for_each(|cell| self.one(cell, done)),
            _ => todo
                .chunk_by(|one, other| {
                    (one.repetition, &one.key.server) == (other.repetition, &other.key.server)
                })
                .try_for_each(|cells| self.by_turns(cells, done)),
        }
    }

    /// The cells without figures, whose results are forgotten. Of cells that are measured side by side all are, or none.
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

    /// The plan with the rates that were found, the store, and all results; servers' directories are removed.
    pub fn into_parts(self) -> (Plan, Store, Vec<cell::Result>) {
        (self.plan, self.store, self.results)
    }
}

fn unplanned() -> Trouble {
    Trouble::failed("the plan names what its recipe does not have")
}
