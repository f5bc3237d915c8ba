//! Measures cells side by side: all configurations of a server run at once, each process on a copy of
//! one data directory, and their loads are stopped except in their turns. So disturbances of a second
//! or a minute affect all alike.

mod pacing;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::readings::Readings;
use super::serve::wanted;
use super::switch::{self, Switchboard};
use super::{RunState, Runner, after_effects, hooks, unplanned};
use crate::cell::{Answer, Measurement};
use crate::connection::Connection;
use crate::error::CellError;
use crate::events::{self, Totals};
use crate::load::counted::{Counted, LEAD};
use crate::load::{Drive, LoadReport};
use crate::matrix::{Cell, Key, Parts};
use crate::recipe::{Build, Configuration, Engine, Kind, Recipe, Server};
use crate::server::RunningServer;
use crate::stats::starts::Costs;

/// The time of a server's start and stop, divided by the time of its start.
const START_AND_STOP: f64 = 1.3;

/// A server process of a repetition, under one configuration or several in turn.
struct TurnServer {
    /// The configurations that it is switched between, or its only one.
    configurations: Vec<String>,
    /// Whether it has the second cell of the A/A pair; meaningless if it has both.
    again: bool,
    /// Whether it has both cells of the A/A pair.
    pair: bool,
    directory: PathBuf,
    /// The server, or why it does not run.
    running: Result<RunningServer, CellError>,
    /// The switchboard of a server with several configurations.
    switches: Option<Switchboard>,
}

/// A cell that is measured in turns.
struct TurnCell {
    cell: Cell,
    server: usize,
    /// The readings so far, or why there are none.
    readings: Result<Readings, CellError>,
}

/// The load of a server, and the server's totals when it began.
type Load = (Counted, Option<Totals>);

/// The report of a load, and the events that its server counted during the load.
type LoadOutcome = Result<(LoadReport, Vec<events::Event>), CellError>;

impl Runner<'_> {
    /// Measures the cells of one server and repetition; those of one workload and number of connections
    /// are adjacent.
    ///
    /// # Errors
    /// Only a signal; any other error is the outcome of a cell.
    pub(super) fn by_turns(
        &mut self,
        cells: &[Cell],
        done: &mut RunState,
    ) -> Result<(), CellError> {
        let recipe = self.plan.recipe.clone();
        let began = Instant::now();
        let mut servers = match interrupted(self.fill_tables(&recipe, &cells[0].key))? {
            Ok(()) => self.start_servers(&recipe, cells)?,
            Err(error) => {
                for cell in cells {
                    done.cell(self, cell, Err(error.clone()));
                }
                return Ok(());
            }
        };
        // The time of starting and stopping servers is divided among their loads.
        let loads = cells.chunk_by(|one, other| one.key.load() == other.key.load());
        let start_seconds = START_AND_STOP * began.elapsed().as_secs_f64() / loads.count() as f64;
        let mut played = Ok(());
        for group in cells.chunk_by(|one, other| one.key.load() == other.key.load()) {
            played = self.measure_group(&recipe, group, &mut servers, start_seconds, done);
            if played.is_err() {
                break;
            }
        }
        for server in servers {
            if let Ok(running) = server.running {
                running.stop();
            }
            let _ = std::fs::remove_dir_all(server.directory);
        }
        played
    }

    /// Ensures that the server's data directory has the tables.
    fn fill_tables(&mut self, recipe: &Recipe, key: &Key) -> Result<(), CellError> {
        let of_command = |server: &Server| server.kind == Kind::Command;
        if self.prepared.contains(&key.server) || recipe.server(&key.server).is_some_and(of_command)
        {
            return Ok(());
        }
        // All configurations have the same rows, so the simplest one fills them.
        let keys = recipe.keys();
        let is_plainest = |each: &&Key| {
            let configuration = recipe.parts(each).map(|parts| parts.configuration);
            each.server == key.server
                && configuration.is_some_and(|configuration| {
                    (configuration.engine, configuration.build)
                        == (Engine::Stock, Build::Instrumented)
                })
        };
        let key = keys.iter().find(is_plainest).unwrap_or(key);
        let parts = recipe.parts(key).ok_or_else(unplanned)?;
        let started = self.start(&wanted(key, parts), key, parts);
        match started {
            Ok(_) => self.stop(),
            Err(_) => self.start_over(&key.server),
        }
        started.map(drop)
    }

    /// Starts a server for each process that these cells need.
    fn start_servers(
        &mut self,
        recipe: &Recipe,
        cells: &[Cell],
    ) -> Result<Vec<TurnServer>, CellError> {
        let mut servers: Vec<TurnServer> = Vec::new();
        for Cell { key, .. } in cells {
            if servers.iter().any(|server| server.is_of(key)) {
                continue;
            }
            self.interrupt.check()?;
            let parts = recipe.parts(key).ok_or_else(unplanned)?;
            let sharing = switch::shared_process_of_cell(recipe, key);
            let directory = self
                .directory(&key.server)
                .with_extension(servers.len().to_string());
            let started = self.start_process(recipe, parts, &sharing, &directory);
            let (running, switches) = match interrupted(started)? {
                Ok((running, switches)) => (Ok(running), switches),
                Err(error) => (Err(error), None),
            };
            let shared = !sharing.is_empty();
            // Both cells of the A/A pair, or only the first.
            let pair =
                shared && !switch::shared_process_of_cell(recipe, &key.other_of_pair()).is_empty();
            let configurations = match shared {
                true => sharing.iter().map(|each| each.name.clone()).collect(),
                false => vec![key.configuration.clone()],
            };
            servers.push(TurnServer {
                configurations,
                again: key.again,
                pair,
                directory,
                running,
                switches,
            });
        }
        Ok(servers)
    }

    /// Starts a server on a copy of its data; reads the states of the configurations that share it.
    fn start_process(
        &self,
        recipe: &Recipe,
        parts: Parts,
        sharing: &[&Configuration],
        directory: &Path,
    ) -> Result<(RunningServer, Option<Switchboard>), CellError> {
        match parts.server.kind {
            Kind::Command => std::fs::create_dir_all(directory)
                .map_err(CellError::at("cannot make a directory for the server"))?,
            _ => copy(&self.directory(&parts.server.name), directory)?,
        }
        let bytes = recipe.data_bytes();
        if sharing.is_empty() {
            let running = self.launch(parts, directory, bytes, None).start()?;
            return Ok((running, None));
        }
        // Without the settings of any configuration.
        let bare = Configuration {
            sql: Vec::new(),
            switch: Vec::new(),
            sidecars: Vec::new(),
            ..parts.configuration.clone()
        };
        let parts = Parts {
            configuration: &bare,
            ..parts
        };
        let mut running = self.launch(parts, directory, bytes, None).start()?;
        let switchboard =
            Switchboard::read_states(&mut running, sharing).and_then(|mut switches| {
                switches.start_sidecars(&running, sharing, &self.binaries.tare, directory)?;
                Ok(switches)
            });
        match switchboard {
            Ok(switches) => Ok((running, Some(switches))),
            Err(error) => {
                running.stop();
                Err(error)
            }
        }
    }

    /// Measures cells that differ only in their configuration. `start_seconds`: what starting their
    /// servers took.
    fn measure_group(
        &mut self,
        recipe: &Recipe,
        group: &[Cell],
        servers: &mut [TurnServer],
        start_seconds: f64,
        done: &mut RunState,
    ) -> Result<(), CellError> {
        let run = &recipe.run;
        let load = group[0].key.load_title();
        let turns = self.turns(&load);
        let began = Instant::now();
        done.progress.set_message(&format!("{load}: starting"));
        let mut cells = Vec::with_capacity(group.len());
        let mut loads: BTreeMap<usize, Result<Load, CellError>> = BTreeMap::new();
        for cell in group {
            let server = servers.iter().position(|server| server.is_of(&cell.key));
            let server = server.ok_or_else(unplanned)?;
            if let Entry::Vacant(entry) = loads.entry(server) {
                entry.insert(interrupted(self.start_load(
                    recipe,
                    &cell.key,
                    &mut servers[server],
                ))?);
            }
            cells.push(TurnCell {
                cell: cell.clone(),
                server,
                readings: Ok(Readings::default()),
            });
        }
        let calibration = Instant::now();
        let lead = self.measure_lead(&group[0].key, servers, &mut loads, done)?;
        let rate = self.pace_loads(recipe, &group[0].key, servers, &mut loads)?;
        let calibration = calibration.elapsed();
        let mut rng = Rng::with_seed(self.plan.seed ^ u64::from(group[0].number));
        let mut order: Vec<usize> = (0..cells.len()).collect();
        let prepared = began.elapsed();
        for turn in 1..=turns {
            done.progress
                .set_message(&format!("{load}: turn {turn} of {turns}"));
            rng.shuffle(&mut order);
            for at in &order {
                self.interrupt.check()?;
                let turn_cell = &mut cells[*at];
                let (server, load) = (
                    &mut servers[turn_cell.server],
                    loads.get_mut(&turn_cell.server),
                );
                let time = Duration::from_millis(run.turn_ms.into());
                turn_cell.take_turn(server, load, |load, running, readings| {
                    readings.measure_turn(load, running, lead, time)
                })?;
            }
        }
        for turn_cell in &mut cells {
            let (server, load) = (
                &mut servers[turn_cell.server],
                loads.get_mut(&turn_cell.server),
            );
            if server.switches.is_some() {
                turn_cell.take_turn(server, load, |load, running, readings| {
                    readings.sample_events(load, running, lead)
                })?;
            }
        }
        let played = began.elapsed() - prepared;
        let began = Instant::now();
        let driven = self.end_loads(loads, servers)?;
        self.record_results(recipe, cells, servers, &driven, rate, done);
        // A calibration that happens once is not part of a start.
        let around = start_seconds + (prepared - calibration + began.elapsed()).as_secs_f64();
        self.record_costs(
            &load,
            Costs {
                start: around,
                block: played.as_secs_f64() / f64::from(turns),
            },
        );
        Ok(())
    }

    /// Ends the loads of these servers.
    fn end_loads(
        &self,
        loads: BTreeMap<usize, Result<Load, CellError>>,
        servers: &mut [TurnServer],
    ) -> Result<BTreeMap<usize, LoadOutcome>, CellError> {
        let mut driven = BTreeMap::new();
        for (at, load) in loads {
            let ended = match (load, &mut servers[at].running) {
                (Ok((load, before)), Ok(running)) => {
                    let events = before.map(|before| {
                        events::difference(&before, &events::read_totals(&mut running.connection))
                    });
                    load.end(running, self.interrupt)
                        .map(|driven| (driven, events.unwrap_or_default()))
                }
                (Err(error), _) => Err(error),
                (Ok(_), Err(error)) => Err(error.clone()),
            };
            driven.insert(at, interrupted(ended)?);
        }
        Ok(driven)
    }

    /// Records each cell's figures and its server's answers, or its error.
    fn record_results(
        &mut self,
        recipe: &Recipe,
        cells: Vec<TurnCell>,
        servers: &mut [TurnServer],
        driven: &BTreeMap<usize, LoadOutcome>,
        rate: Option<f64>,
        done: &mut RunState,
    ) {
        let mut all: Vec<(Cell, usize, Result<Measurement, CellError>)> = Vec::new();
        for TurnCell {
            cell,
            server,
            readings,
        } in cells
        {
            let measured = readings.and_then(|readings| match &driven[&server] {
                Ok((driven, events)) => readings.into_measurement(driven, events),
                Err(error) => Err(error.clone()),
            });
            let measured = measured.and_then(|mut measured| {
                measured.answers = servers[server].query_answers(recipe, &cell.key)?;
                measured.rate = rate;
                Ok(measured)
            });
            all.push((cell, server, measured));
        }
        // Statements `after` run once all cells of a process have been queried.
        let mut after: BTreeMap<usize, Result<(), CellError>> = BTreeMap::new();
        for (cell, server, _) in &all {
            let running = &mut servers[*server].running;
            after.entry(*server).or_insert_with(|| match running {
                Ok(running) => hooks::run_after(recipe, &cell.key, running),
                Err(error) => Err(error.clone()),
            });
        }
        for (cell, server, measured) in all {
            let measured = measured.and_then(|measured| after[&server].clone().map(|()| measured));
            if measured.is_err() {
                servers[server].check_server();
            }
            done.cell(self, &cell, measured);
        }
    }

    /// Starts a cell's load, which is then stopped.
    fn start_load(
        &self,
        recipe: &Recipe,
        key: &Key,
        server: &mut TurnServer,
    ) -> Result<Load, CellError> {
        let running = match &mut server.running {
            Ok(running) => running,
            Err(error) => return Err(error.clone()),
        };
        let run = &recipe.run;
        let drive = Drive {
            directory: &server.directory,
            ..self.drive_of(
                recipe.parts(key).ok_or_else(unplanned)?,
                key.connections,
                run.measured().as_secs() as u32,
                None,
                &recipe.data,
            )
        };
        let mut counted = Counted::start(&drive, running)?;
        let warm_up = Duration::from_secs(run.warm_up.into());
        counted.warm_up(running, warm_up, self.interrupt)?;
        hooks::run_before(recipe, key, running)?;
        let questions =
            !matches!(running.connection, Connection::Absent) && server.switches.is_none();
        let before = questions.then(|| events::read_totals(&mut running.connection));
        Ok((counted, before))
    }

    /// The unmeasured time at the start of each turn; it is measured once, at the server's first start.
    fn measure_lead(
        &mut self,
        key: &Key,
        servers: &mut [TurnServer],
        loads: &mut BTreeMap<usize, Result<Load, CellError>>,
        done: &RunState,
    ) -> Result<Duration, CellError> {
        if let Some(lead) = self.leads.get(&key.server) {
            return Ok(*lead);
        }
        let mut lead = LEAD;
        for (at, load) in loads {
            let TurnServer {
                running, switches, ..
            } = &mut servers[*at];
            if let (Ok(running), Some(switches), Ok((load, _))) = (running, switches, load) {
                let title = key.load_title();
                done.progress
                    .set_message(&format!("{title}: after-effects of switching"));
                let names = switches.names();
                // If this fails, the turns fail as well and report it.
                let measured_lead =
                    interrupted(after_effects::measure_lead(running, load, switches, &names))?;
                lead = lead.max(measured_lead.unwrap_or(LEAD));
            }
        }
        self.leads.insert(key.server.clone(), lead);
        Ok(lead)
    }
}

impl TurnServer {
    fn is_of(&self, key: &Key) -> bool {
        self.configurations.contains(&key.configuration) && (self.pair || self.again == key.again)
    }

    /// Queries the answers to the recipe's questions in the cell's configuration.
    fn query_answers(&mut self, recipe: &Recipe, key: &Key) -> Result<Vec<Answer>, CellError> {
        let running = self.running.as_mut().map_err(|error| error.clone())?;
        if let Some(switches) = &mut self.switches
            && hooks::has_questions(recipe, key)
        {
            switches.switch_to(running, &key.configuration)?;
        }
        hooks::query_answers(recipe, key, running)
    }

    /// After an error: if the server has ended, that is its result from now on.
    fn check_server(&mut self) {
        if let Ok(running) = &mut self.running
            && let Err(error) = running.check_alive()
        {
            self.running = Err(error);
        }
    }
}

impl TurnCell {
    /// Switches the server to the cell's configuration and runs `what`, unless the cell has failed
    /// already.
    fn take_turn(
        &mut self,
        server: &mut TurnServer,
        load: Option<&mut Result<Load, CellError>>,
        what: impl FnOnce(&mut Counted, &mut RunningServer, &mut Readings) -> Result<(), CellError>,
    ) -> Result<(), CellError> {
        let Ok(readings) = &mut self.readings else {
            return Ok(());
        };
        let result = match (load, &mut server.running) {
            (Some(Ok((load, _))), Ok(running)) => {
                let switched = match &mut server.switches {
                    Some(switches) => switches.switch_to(running, &self.cell.key.configuration),
                    None => Ok(false),
                };
                switched.and_then(|_| what(load, running, readings))
            }
            (Some(Err(error)), _) | (_, Err(error)) => Err(error.clone()),
            (None, _) => Err(unplanned()),
        };
        if let Err(error) = result {
            self.readings = interrupted(Err(error))?;
            server.check_server();
        }
        Ok(())
    }
}

/// Copies a filled data directory.
fn copy(filled: &Path, directory: &Path) -> Result<(), CellError> {
    let _ = std::fs::remove_dir_all(directory);
    let copied = Command::new("cp")
        .args(["-a", "--reflink=auto"])
        .args([filled, directory])
        .output()
        .map_err(CellError::at("cannot start cp"))?;
    if !copied.status.success() {
        // Other servers need the space on a full disk.
        let _ = std::fs::remove_dir_all(directory);
        let log = String::from_utf8_lossy(&copied.stderr).into_owned();
        let why = log.lines().next().unwrap_or("cp failed");
        return Err(CellError::Failed {
            reason: format!("cannot copy the server's data directory: {why}"),
            log,
        });
    }
    // The log of the server that filled it.
    let _ = std::fs::remove_file(directory.join("log"));
    Ok(())
}

/// Separates a signal, which ends the run, from the error of a cell.
fn interrupted<T>(result: Result<T, CellError>) -> Result<Result<T, CellError>, CellError> {
    match result {
        Err(CellError::Interrupted) => Err(CellError::Interrupted),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_copy_has_a_one_line_reason_and_leaves_nothing() {
        let place = std::env::temp_dir().join(format!("tare-copy-{}", std::process::id()));
        let (filled, directory) = (place.join("s0"), place.join("s0.0"));
        std::fs::create_dir_all(filled.join("data")).expect("made");
        std::fs::write(filled.join("log"), "of the server that filled it").expect("written");
        copy(&filled, &directory).expect("copied");
        assert!(directory.join("data").exists() && !directory.join("log").exists());
        let long = place.join("x".repeat(300));
        let error = copy(&filled, &long).expect_err("no such name");
        let words = error.to_string();
        assert!(
            words.contains("data directory: cp: ") && !words.contains('\n'),
            "{words}"
        );
        std::fs::remove_dir_all(&place).expect("removed");
    }
}
