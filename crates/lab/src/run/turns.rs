//! Cells side by side: every configuration of a server runs at once, on a copy of one data directory, and their loads
//! stand still but in their turns. What the machine does for a second or a minute so hits all of them alike.

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

/// What starting and stopping a server takes of its start alone.
const STOPPING: f64 = 1.3;

/// A server, for as long as a repetition has cells of it: under one configuration, or under several in turn.
struct Seat {
    /// Whose it is: those that it is switched between, or one.
    configurations: Vec<String>,
    /// Which of the A/A pair it has, unless it has both.
    again: bool,
    pair: bool,
    directory: PathBuf,
    /// Or why it does not.
    running: Result<RunningServer, CellError>,
    /// Of one that is.
    switches: Option<Switchboard>,
}

/// A cell that is being measured.
struct Player {
    cell: Cell,
    seat: usize,
    /// What has been noted so far, or why nothing is.
    readings: Result<Readings, CellError>,
}

/// The load of a seat, and what its server had counted when it began.
type Load = (Counted, Option<Totals>);

/// What a load did, and the events that its server counted meanwhile.
type LoadOutcome = Result<(LoadReport, Vec<events::Event>), CellError>;

impl Runner<'_> {
    /// Measures cells of one server and repetition; those of one workload and number of connections stand together.
    ///
    /// # Errors
    /// Ctrl-C alone: what else goes wrong is a cell's outcome.
    pub(super) fn by_turns(
        &mut self,
        cells: &[Cell],
        done: &mut RunState,
    ) -> Result<(), CellError> {
        let recipe = self.plan.recipe.clone();
        let began = Instant::now();
        let mut seats = match interrupted(self.fill_tables(&recipe, &cells[0].key))? {
            Ok(()) => self.seats(&recipe, cells)?,
            Err(error) => {
                for cell in cells {
                    done.cell(self, cell, Err(error.clone()));
                }
                return Ok(());
            }
        };
        // Starting and stopping servers is for all their loads.
        let loads = cells.chunk_by(|one, other| one.key.load() == other.key.load());
        let start_seconds = STOPPING * began.elapsed().as_secs_f64() / loads.count() as f64;
        let mut played = Ok(());
        for group in cells.chunk_by(|one, other| one.key.load() == other.key.load()) {
            played = self.play(&recipe, group, &mut seats, start_seconds, done);
            if played.is_err() {
                break;
            }
        }
        for seat in seats {
            if let Ok(running) = seat.running {
                running.stop();
            }
            let _ = std::fs::remove_dir_all(seat.directory);
        }
        played
    }

    /// Sees to it that the server's data directory has the tables.
    fn fill_tables(&mut self, recipe: &Recipe, key: &Key) -> Result<(), CellError> {
        let of_command = |server: &Server| server.kind == Kind::Command;
        if self.prepared.contains(&key.server) || recipe.server(&key.server).is_some_and(of_command)
        {
            return Ok(());
        }
        // The rows are the same under all configurations: one that needs nothing but the server will do.
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
    fn seats(&mut self, recipe: &Recipe, cells: &[Cell]) -> Result<Vec<Seat>, CellError> {
        let mut seats: Vec<Seat> = Vec::new();
        for Cell { key, .. } in cells {
            if seats.iter().any(|seat| seat.is_of(key)) {
                continue;
            }
            self.interrupt.check()?;
            let parts = recipe.parts(key).ok_or_else(unplanned)?;
            let sharing = switch::shared_process_of_cell(recipe, key);
            let directory = self
                .directory(&key.server)
                .with_extension(seats.len().to_string());
            let started = self.start_process(recipe, parts, &sharing, &directory);
            let (running, switches) = match interrupted(started)? {
                Ok((running, switches)) => (Ok(running), switches),
                Err(error) => (Err(error), None),
            };
            let shared = !sharing.is_empty();
            // Both of the A/A pair, or the first of them.
            let pair =
                shared && !switch::shared_process_of_cell(recipe, &key.other_of_pair()).is_empty();
            let configurations = match shared {
                true => sharing.iter().map(|each| each.name.clone()).collect(),
                false => vec![key.configuration.clone()],
            };
            seats.push(Seat {
                configurations,
                again: key.again,
                pair,
                directory,
                running,
                switches,
            });
        }
        Ok(seats)
    }

    /// Starts a server on a copy of its data, and learns to switch it where that is what it is for.
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
        // As it is before any of them.
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
        let learnt = Switchboard::learn(&mut running, sharing).and_then(|mut switches| {
            switches.start_sidecars(&running, sharing, &self.binaries.tare, directory)?;
            Ok(switches)
        });
        match learnt {
            Ok(switches) => Ok((running, Some(switches))),
            Err(error) => {
                running.stop();
                Err(error)
            }
        }
    }

    /// Measures cells that differ in their configuration alone. `start_seconds` is what their servers' start took, in seconds.
    fn play(
        &mut self,
        recipe: &Recipe,
        group: &[Cell],
        seats: &mut [Seat],
        start_seconds: f64,
        done: &mut RunState,
    ) -> Result<(), CellError> {
        let run = &recipe.run;
        let load = group[0].key.load_title();
        let turns = self.turns(&load);
        let began = Instant::now();
        done.progress.set_message(&format!("{load}: starting"));
        let mut players = Vec::with_capacity(group.len());
        let mut loads: BTreeMap<usize, Result<Load, CellError>> = BTreeMap::new();
        for cell in group {
            let seat = seats.iter().position(|seat| seat.is_of(&cell.key));
            let seat = seat.ok_or_else(unplanned)?;
            if let Entry::Vacant(entry) = loads.entry(seat) {
                entry.insert(interrupted(self.load(recipe, &cell.key, &mut seats[seat]))?);
            }
            players.push(Player {
                cell: cell.clone(),
                seat,
                readings: Ok(Readings::default()),
            });
        }
        let calibration = Instant::now();
        let lead = self.lead(&group[0].key, seats, &mut loads, done)?;
        let rate = self.pace_loads(recipe, &group[0].key, seats, &mut loads)?;
        let calibration = calibration.elapsed();
        let mut rng = Rng::with_seed(self.plan.seed ^ u64::from(group[0].number));
        let mut order: Vec<usize> = (0..players.len()).collect();
        let prepared = began.elapsed();
        for turn in 1..=turns {
            done.progress
                .set_message(&format!("{load}: turn {turn} of {turns}"));
            rng.shuffle(&mut order);
            for at in &order {
                self.interrupt.check()?;
                let player = &mut players[*at];
                let (seat, load) = (&mut seats[player.seat], loads.get_mut(&player.seat));
                let time = Duration::from_millis(run.turn_ms.into());
                player.take_turn(seat, load, |load, running, readings| {
                    readings.turn(load, running, lead, time)
                })?;
            }
        }
        for player in &mut players {
            let (seat, load) = (&mut seats[player.seat], loads.get_mut(&player.seat));
            if seat.switches.is_some() {
                player.take_turn(seat, load, |load, running, readings| {
                    readings.sample_events(load, running, lead)
                })?;
            }
        }
        let played = began.elapsed() - prepared;
        let began = Instant::now();
        let driven = self.end_loads(loads, seats)?;
        self.record_results(recipe, players, seats, &driven, rate, done);
        // What is found out once is no start's.
        let around = start_seconds + (prepared - calibration + began.elapsed()).as_secs_f64();
        self.took(
            &load,
            Costs {
                start: around,
                block: played.as_secs_f64() / f64::from(turns),
            },
        );
        Ok(())
    }

    /// Ends the loads of these seats.
    fn end_loads(
        &self,
        loads: BTreeMap<usize, Result<Load, CellError>>,
        seats: &mut [Seat],
    ) -> Result<BTreeMap<usize, LoadOutcome>, CellError> {
        let mut driven = BTreeMap::new();
        for (at, load) in loads {
            let ended = match (load, &mut seats[at].running) {
                (Ok((load, before)), Ok(running)) => {
                    let events = before.map(|before| {
                        events::between(&before, &events::totals(&mut running.connection))
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

    /// What was measured of each cell and what its server answers, or why there is nothing.
    fn record_results(
        &mut self,
        recipe: &Recipe,
        players: Vec<Player>,
        seats: &mut [Seat],
        driven: &BTreeMap<usize, LoadOutcome>,
        rate: Option<f64>,
        done: &mut RunState,
    ) {
        let mut all: Vec<(Cell, usize, Result<Measurement, CellError>)> = Vec::new();
        for Player {
            cell,
            seat,
            readings,
        } in players
        {
            let measured = readings.and_then(|readings| match &driven[&seat] {
                Ok((driven, events)) => readings.measured(driven, events),
                Err(error) => Err(error.clone()),
            });
            let measured = measured.and_then(|mut measured| {
                measured.answers = seats[seat].query_answers(recipe, &cell.key)?;
                measured.rate = rate;
                Ok(measured)
            });
            all.push((cell, seat, measured));
        }
        // What a process's cells share is taken away when all of them have been asked about.
        let mut after: BTreeMap<usize, Result<(), CellError>> = BTreeMap::new();
        for (cell, seat, _) in &all {
            let running = &mut seats[*seat].running;
            after.entry(*seat).or_insert_with(|| match running {
                Ok(running) => hooks::run_after(recipe, &cell.key, running),
                Err(error) => Err(error.clone()),
            });
        }
        for (cell, seat, measured) in all {
            let measured = measured.and_then(|measured| after[&seat].clone().map(|()| measured));
            if measured.is_err() {
                seats[seat].check_server();
            }
            done.cell(self, &cell, measured);
        }
    }

    /// Starts a cell's load, which then stands still.
    fn load(&self, recipe: &Recipe, key: &Key, seat: &mut Seat) -> Result<Load, CellError> {
        let running = match &mut seat.running {
            Ok(running) => running,
            Err(error) => return Err(error.clone()),
        };
        let run = &recipe.run;
        let drive = Drive {
            directory: &seat.directory,
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
            !matches!(running.connection, Connection::Absent) && seat.switches.is_none();
        let before = questions.then(|| events::totals(&mut running.connection));
        Ok((counted, before))
    }

    /// How long the loads of a server run before each turn is measured: found out once, at its first start.
    fn lead(
        &mut self,
        key: &Key,
        seats: &mut [Seat],
        loads: &mut BTreeMap<usize, Result<Load, CellError>>,
        done: &RunState,
    ) -> Result<Duration, CellError> {
        if let Some(lead) = self.leads.get(&key.server) {
            return Ok(*lead);
        }
        let mut lead = LEAD;
        for (at, load) in loads {
            let Seat {
                running, switches, ..
            } = &mut seats[*at];
            if let (Ok(running), Some(switches), Ok((load, _))) = (running, switches, load) {
                let title = key.load_title();
                done.progress
                    .set_message(&format!("{title}: after-effects of switching"));
                let names = switches.names();
                // Where it fails, so do the turns, and say it.
                let measured_lead =
                    interrupted(after_effects::lead(running, load, switches, &names))?;
                lead = lead.max(measured_lead.unwrap_or(LEAD));
            }
        }
        self.leads.insert(key.server.clone(), lead);
        Ok(lead)
    }
}

impl Seat {
    fn is_of(&self, key: &Key) -> bool {
        self.configurations.contains(&key.configuration) && (self.pair || self.again == key.again)
    }

    /// What its server answers to the recipe's questions about a cell, in the cell's configuration.
    fn query_answers(&mut self, recipe: &Recipe, key: &Key) -> Result<Vec<Answer>, CellError> {
        let running = self.running.as_mut().map_err(|error| error.clone())?;
        if let Some(switches) = &mut self.switches
            && hooks::has_questions(recipe, key)
        {
            switches.switch_to(running, &key.configuration)?;
        }
        hooks::query_answers(recipe, key, running)
    }

    /// Something failed: when it was the server, it says so from now on.
    fn check_server(&mut self) {
        if let Ok(running) = &mut self.running
            && let Err(error) = running.check_alive()
        {
            self.running = Err(error);
        }
    }
}

impl Player {
    /// Switches its server to its configuration and does something with its load, unless it has failed already.
    fn take_turn(
        &mut self,
        seat: &mut Seat,
        load: Option<&mut Result<Load, CellError>>,
        what: impl FnOnce(&mut Counted, &mut RunningServer, &mut Readings) -> Result<(), CellError>,
    ) -> Result<(), CellError> {
        let Ok(readings) = &mut self.readings else {
            return Ok(());
        };
        let result = match (load, &mut seat.running) {
            (Some(Ok((load, _))), Ok(running)) => {
                let switched = match &mut seat.switches {
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
            seat.check_server();
        }
        Ok(())
    }
}

/// A server's directory as it was filled, for a server of its own.
fn copy(filled: &Path, directory: &Path) -> Result<(), CellError> {
    let _ = std::fs::remove_dir_all(directory);
    let copied = Command::new("cp")
        .args(["-a", "--reflink=auto"])
        .args([filled, directory])
        .output()
        .map_err(CellError::at("cannot start cp"))?;
    if !copied.status.success() {
        // On a full disk the others need its room.
        let _ = std::fs::remove_dir_all(directory);
        let log = String::from_utf8_lossy(&copied.stderr).into_owned();
        let why = log.lines().next().unwrap_or("cp failed");
        return Err(CellError::Failed {
            reason: format!("cannot copy the server's data directory: {why}"),
            log,
        });
    }
    // What the server said that filled it.
    let _ = std::fs::remove_file(directory.join("log"));
    Ok(())
}

/// Ctrl-C ends the matrix; anything else is the cell's alone.
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
