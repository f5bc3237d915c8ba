//! Runs a matrix: cell after cell, or by [`turns`], each kept as soon as it is done. Whatever a cell does, the next
//! one starts clean.

mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::ask::Ask;
use crate::cell::{self, Measured, Outcome, Switches};
use crate::dsn::Dsn;
use crate::events;
use crate::interrupt::Interrupt;
use crate::load::{Drive, rate, sysbench};
use crate::matrix::{Cell, Key, Parts, process};
use crate::proc;
use crate::processors;
use crate::progress::Progress;
use crate::recipe::{From, Kind, Load};
use crate::restore::Saved;
use crate::server::namespace::Namespace;
use crate::server::{Launch, Places, Running};
use crate::store::{Plan, Store};
use crate::trouble::Trouble;
use crate::work::Work;

/// How many times a rate is tried until it takes the share of the CPU that was asked for.
const TRIES: usize = 6;

/// Connections that find out how much the machine can do.
const PROBES: u32 = 8;

/// Bytes of a row of sysbench's tables with its index, about.
const ROW: u64 = 300;

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
            saved: None,
        })
    }

    /// Runs to the end, or to a signal.
    pub fn run(&mut self) -> Finished {
        // Whatever is started here inherits them.
        let _shared = processors::share(self.plan.recipe.run.processors as usize);
        let todo = self.todo();
        let mut done = Done {
            progress: Progress::new(self.plan.cells.len(), self.results.len()),
            finished: Finished::default(),
        };
        let ended = match self.plan.recipe.run.turns {
            0 => todo.iter().try_for_each(|cell| self.one(cell, &mut done)),
            _ => todo
                .chunk_by(|one, other| {
                    (one.repetition, &one.key.server) == (other.repetition, &other.key.server)
                })
                .try_for_each(|cells| self.by_turns(cells, &mut done)),
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

    /// Measures one cell by itself.
    fn one(&mut self, cell: &Cell, done: &mut Done) -> Result<(), Trouble> {
        done.progress.says(&cell.key.title());
        let measured = self.measure(cell);
        match measured {
            Err(Trouble::Interrupted) => return Err(Trouble::Interrupted),
            Err(Trouble::Failed { .. }) => self.start_over(&cell.key.server),
            Err(Trouble::Skipped(_)) | Ok(_) => {}
        }
        done.cell(self, cell, measured);
        Ok(())
    }

    /// The plan with the rates that were found, the store, and all results; servers' directories are removed.
    pub fn into_parts(self) -> (Plan, Store, Vec<cell::Result>) {
        (self.plan, self.store, self.results)
    }

    fn stop(&mut self) {
        if let Some((_, running)) = self.running.take() {
            running.stop();
        }
    }

    /// A server that failed may have left anything in its data.
    fn start_over(&mut self, server: &str) {
        self.stop();
        self.prepared.remove(server);
        let _ = std::fs::remove_dir_all(self.directory(server));
    }

    fn directory(&self, server: &str) -> PathBuf {
        let at = self
            .plan
            .recipe
            .servers
            .iter()
            .position(|each| each.name == server);
        self.work.path().join(format!("s{}", at.unwrap_or(0)))
    }

    fn measure(&mut self, cell: &Cell) -> Result<Measured, Trouble> {
        self.interrupt.check()?;
        let recipe = self.plan.recipe.clone();
        let parts = (recipe.parts(&cell.key))
            .ok_or_else(|| Trouble::failed("the plan names what its recipe does not have"))?;
        let rate = match &parts.workload.rate {
            None => None,
            Some(rate) => Some(match rate.cpu() {
                None => rate.fixed().unwrap_or(1.0),
                Some(share) => self.rate(&cell.key, parts, share)?,
            }),
        };
        let run = &recipe.run;
        self.serve(&cell.key, parts, run.rebuild, run.restart)?;
        if run.warm_up > 0 {
            self.drive(parts, cell.key.connections, run.warm_up, rate)?;
        }
        self.drive(parts, cell.key.connections, run.seconds, rate)
    }

    /// Sees to it that the cell's server runs, filled and configured.
    fn serve(
        &mut self,
        key: &Key,
        parts: Parts,
        rebuild: bool,
        restart: bool,
    ) -> Result<(), Trouble> {
        let from = parts.workload.from;
        let wanted = format!("{} {} {from:?}", key.server, process(parts.configuration));
        if let Some(reason) = self.unavailable.get(&wanted) {
            return Err(Trouble::Skipped(reason.clone()));
        }
        let same = self
            .running
            .as_ref()
            .is_some_and(|(running, _)| *running == wanted);
        if same && !restart && !rebuild {
            return self.configure(key, parts);
        }
        self.stop();
        if rebuild {
            self.prepared.remove(&key.server);
            let _ = std::fs::remove_dir_all(self.directory(&key.server));
        }
        if self.start(&wanted, key, parts)? && !rebuild && restart {
            // What filled the tables has counted and cached: begin like the cells that come after.
            self.stop();
            self.start(&wanted, key, parts)?;
        }
        Ok(())
    }

    /// Sends the configuration's SQL to the server that runs.
    fn configure(&mut self, key: &Key, parts: Parts) -> Result<(), Trouble> {
        let Some((name, mut running)) = self.running.take() else {
            return Ok(());
        };
        let directory = self.directory(&key.server);
        let launch = self.launch(parts, &directory, 0, None);
        let result = running
            .alive()
            .and_then(|()| launch.configure(&mut running));
        self.running = Some((name, running));
        result
    }

    /// Starts the server; whether its tables had to be filled.
    fn start(&mut self, wanted: &str, key: &Key, parts: Parts) -> Result<bool, Trouble> {
        if parts.workload.from == From::Namespace && self.namespace.is_none() {
            self.namespace = Some(Namespace::new().map_err(|trouble| trouble.to_string()));
        }
        let namespace = match &self.namespace {
            Some(Err(reason)) if parts.workload.from == From::Namespace => {
                return Err(Trouble::Skipped(reason.clone()));
            }
            Some(Ok(namespace)) => Some(namespace),
            _ => None,
        };
        let directory = self.directory(&key.server);
        let bytes = self.plan.recipe.data_bytes();
        let started = self.launch(parts, &directory, bytes, namespace).start();
        let mut running = started.inspect_err(|trouble| {
            if let Trouble::Skipped(reason) = trouble {
                self.unavailable.insert(wanted.to_owned(), reason.clone());
            }
        })?;
        let filling = parts.workload.load == Load::Sysbench && !self.prepared.contains(&key.server);
        let filled = match parts.server.kind {
            Kind::Dsn => self.borrow(&mut running)?,
            _ => false,
        };
        if filling && !filled {
            let recipe = self.plan.recipe.clone();
            let drive = self.drive_of(parts, 1, 1, None, &recipe.data);
            sysbench::prepare(&drive, &mut running)?;
            self.prepared.insert(key.server.clone());
        }
        self.running = Some((wanted.to_owned(), running));
        Ok(filling && !filled)
    }

    /// A server that is not ours: its settings are noted before they are changed. Whether its tables are there.
    fn borrow(&mut self, running: &mut Running) -> Result<bool, Trouble> {
        if self.saved.is_none()
            && let Some(dsn) = self.dsn
        {
            let saved = Saved::take(dsn, &mut running.ask).map_err(Trouble::failed)?;
            self.saved = Some(saved);
        }
        let database = &running.address.database;
        let tables = self.plan.recipe.data.tables;
        Ok(running
            .ask
            .value(&format!(
                "SELECT id FROM `{database}`.sbtest{tables} LIMIT 1"
            ))
            .is_some())
    }

    fn launch<'b>(
        &'b self,
        parts: Parts<'b>,
        directory: &'b std::path::Path,
        bytes: u64,
        namespace: Option<&'b Namespace>,
    ) -> Launch<'b> {
        let recipe = &self.plan.recipe;
        Launch {
            places: self.places,
            server: parts.server,
            configuration: parts.configuration,
            directory,
            from: parts.workload.from,
            namespace,
            connections: recipe
                .connections
                .iter()
                .copied()
                .max()
                .unwrap_or(1)
                .max(PROBES),
            bytes,
            dsn: self.dsn,
            warm_up: std::time::Duration::from_secs(recipe.run.warm_up.max(1).into()),
            interrupt: self.interrupt,
        }
    }

    fn drive_of<'b>(
        &'b self,
        parts: Parts<'b>,
        connections: u32,
        seconds: u32,
        rate: Option<f64>,
        data: &'b crate::recipe::Data,
    ) -> Drive<'b> {
        Drive {
            places: self.places,
            parts,
            connections,
            seconds,
            rate,
            data,
            namespace: self
                .namespace
                .as_ref()
                .and_then(|namespace| namespace.as_ref().ok()),
            directory: self.work.path(),
            interrupt: self.interrupt,
        }
    }

    /// Drives the running server, and notes everything around it.
    fn drive(
        &mut self,
        parts: Parts,
        connections: u32,
        seconds: u32,
        rate: Option<f64>,
    ) -> Result<Measured, Trouble> {
        let Some((name, mut running)) = self.running.take() else {
            return Err(Trouble::failed("no server runs"));
        };
        let data = self.plan.recipe.data.clone();
        let drive = self.drive_of(parts, connections, seconds, rate, &data);
        let measured = measure(&drive, &mut running, rate);
        self.running = Some((name, running));
        measured
    }

    /// The rate that takes a share of the machine's CPU: found once for each server and workload, and kept.
    fn rate(&mut self, key: &Key, parts: Parts, share: (f64, f64)) -> Result<f64, Trouble> {
        let name = format!("{}/{}", key.server, key.workload);
        if let Some(rate) = self.plan.rates.get(&name) {
            return Ok(*rate);
        }
        let run = self.plan.recipe.run.clone();
        self.serve(key, parts, run.rebuild, true)?;
        let seconds = run.seconds.min(5);
        let flat_out = self.drive(parts, PROBES, seconds, None)?;
        let mut rate = flat_out.transactions / flat_out.seconds;
        let mut busy = busy_percent(&flat_out);
        for _ in 0..TRIES {
            let Some(other) = rate::next(rate, busy, share) else {
                break;
            };
            rate = other;
            busy = busy_percent(&self.drive(parts, PROBES, seconds, Some(rate))?);
        }
        self.plan.rates.insert(name, rate);
        // It is in memory; a plan that cannot be written now is said at the end.
        let _ = self.store.write_plan(&self.plan);
        Ok(rate)
    }
}

impl crate::recipe::Recipe {
    fn data_bytes(&self) -> u64 {
        u64::from(self.data.tables) * u64::from(self.data.rows) * ROW
    }
}

/// What the server and the load generator take of the machine's CPUs, in percent: other programs do not count.
fn busy_percent(measured: &Measured) -> f64 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    match measured.server {
        Some(server) => {
            100.0 * (server.seconds + measured.generator.seconds) / (measured.seconds * cpus)
        }
        None => 100.0 - measured.machine.idle,
    }
}

fn measure(drive: &Drive, running: &mut Running, rate: Option<f64>) -> Result<Measured, Trouble> {
    let asks = !matches!(running.ask, Ask::Nobody);
    let before = asks.then(|| events::totals(&mut running.ask));
    let machine = proc::machine();
    let cpu = running.pid.and_then(proc::cpu);
    let driven = drive.run(running)?;
    let cpu_after = running.pid.and_then(proc::cpu);
    let machine = proc::machine() - machine;
    let events = match before {
        None => Vec::new(),
        Some(before) => events::between(&before, &events::totals(&mut running.ask)),
    };
    running.alive()?;
    Ok(Measured {
        seconds: driven.seconds,
        transactions: driven.transactions,
        queries: driven.queries,
        errors: driven.errors,
        each_second: driven.each_second,
        latency: driven.latency,
        server: cpu.zip(cpu_after).map(|(before, after)| after - before),
        generator: driven.generator,
        machine: machine.split(),
        switches: Switches {
            machine: machine.switches,
            server_voluntary: driven.samples.server.0,
            server_involuntary: driven.samples.server.1,
            generator: driven.samples.generator.0 + driven.samples.generator.1,
        },
        memory: driven.samples.memory,
        figure: driven.figure,
        rate,
        events,
        turns: Vec::new(),
    })
}
