//! Cells side by side: every configuration of a server runs at once, on a copy of one data directory, and their loads
//! stand still but in their turns. What the machine does for a second or a minute so hits all of them alike.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fastrand::Rng;

use super::serve::wanted;
use super::{Done, Runner, unplanned};
use crate::ask::Ask;
use crate::cell::{Cpu, Measured, Memory, Switches, Turn};
use crate::events::{self, Totals};
use crate::load::counted::{Counted, Taken};
use crate::load::{Drive, Driven};
use crate::matrix::{Cell, Key};
use crate::proc::{self, Machine};
use crate::recipe::{Build, Engine, Recipe};
use crate::sampler::Threads;
use crate::server::Running;
use crate::trouble::Trouble;

/// A server under one configuration, for as long as a repetition has cells of it.
struct Seat {
    configuration: String,
    again: bool,
    directory: PathBuf,
    /// Or why it does not.
    running: Result<Running, Trouble>,
}

/// A cell that is being measured.
struct Player {
    cell: Cell,
    seat: usize,
    /// Or why there is none.
    load: Result<Load, Trouble>,
}

/// Its load, and what has been noted so far.
struct Load {
    counted: Counted,
    events: Option<Totals>,
    noted: Noted,
}

/// The sums of a cell's turns.
#[derive(Default)]
struct Noted {
    turns: Vec<Turn>,
    server: Cpu,
    generator: Cpu,
    machine: Machine,
    of_server: (u64, u64),
    of_generator: (u64, u64),
    memory: Vec<Memory>,
    /// Transactions of the turns and around them, which switches and events are of.
    around: u64,
}

impl Runner<'_> {
    /// Measures cells of one server and repetition; those of one workload and number of connections stand together.
    ///
    /// # Errors
    /// Ctrl-C alone: what else goes wrong is a cell's outcome.
    pub(super) fn by_turns(&mut self, cells: &[Cell], done: &mut Done) -> Result<(), Trouble> {
        let recipe = self.plan.recipe.clone();
        let mut seats = match interrupted(self.filled(&recipe, &cells[0].key))? {
            Ok(()) => self.seats(&recipe, cells)?,
            Err(trouble) => {
                for cell in cells {
                    done.cell(self, cell, Err(trouble.clone()));
                }
                return Ok(());
            }
        };
        let mut played = Ok(());
        for group in cells.chunk_by(|one, other| one.key.load() == other.key.load()) {
            played = self.play(&recipe, group, &mut seats, done);
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
    fn filled(&mut self, recipe: &Recipe, key: &Key) -> Result<(), Trouble> {
        if self.prepared.contains(&key.server) {
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

    /// Starts the server under each configuration of these cells.
    fn seats(&mut self, recipe: &Recipe, cells: &[Cell]) -> Result<Vec<Seat>, Trouble> {
        let mut seats: Vec<Seat> = Vec::new();
        for Cell { key, .. } in cells {
            if seats.iter().any(|seat| seat.is_of(key)) {
                continue;
            }
            self.interrupt.check()?;
            let filled = self.directory(&key.server);
            let directory = filled.with_extension(seats.len().to_string());
            let running = (recipe.parts(key).ok_or_else(unplanned)).and_then(|parts| {
                copy(&filled, &directory)?;
                let bytes = recipe.data_bytes();
                self.launch(parts, &directory, bytes, None).start()
            });
            seats.push(Seat {
                configuration: key.configuration.clone(),
                again: key.again,
                directory,
                running: interrupted(running)?,
            });
        }
        Ok(seats)
    }

    /// Measures cells that differ in their configuration alone.
    fn play(
        &mut self,
        recipe: &Recipe,
        group: &[Cell],
        seats: &mut [Seat],
        done: &mut Done,
    ) -> Result<(), Trouble> {
        let run = &recipe.run;
        let load = group[0].key.load_title();
        done.progress.says(&format!("{load}: starting"));
        let mut players = Vec::with_capacity(group.len());
        for cell in group {
            let seat = seats.iter().position(|seat| seat.is_of(&cell.key));
            let seat = seat.ok_or_else(unplanned)?;
            players.push(Player {
                cell: cell.clone(),
                seat,
                load: interrupted(self.load(recipe, &cell.key, &mut seats[seat]))?,
            });
        }
        let mut rng = Rng::with_seed(self.plan.seed ^ u64::from(group[0].number));
        let mut order: Vec<usize> = (0..players.len()).collect();
        for turn in 1..=run.turns {
            done.progress
                .says(&format!("{load}: turn {turn} of {}", run.turns));
            rng.shuffle(&mut order);
            for at in &order {
                self.interrupt.check()?;
                let player = &mut players[*at];
                player.turn(&mut seats[player.seat], run.turn_ms)?;
            }
        }
        for Player { cell, seat, load } in players {
            let seat = &mut seats[seat];
            let measured = match (load, &mut seat.running) {
                (Ok(load), Ok(running)) => load.end(running, self.interrupt),
                (Err(trouble), _) => Err(trouble),
                (Ok(_), Err(trouble)) => Err(trouble.clone()),
            };
            let measured = interrupted(measured)?;
            if measured.is_err() {
                seat.look();
            }
            done.cell(self, &cell, measured);
        }
        Ok(())
    }

    /// Starts a cell's load, which then stands still.
    fn load(&self, recipe: &Recipe, key: &Key, seat: &mut Seat) -> Result<Load, Trouble> {
        let running = match &mut seat.running {
            Ok(running) => running,
            Err(trouble) => return Err(trouble.clone()),
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
        let asks = !matches!(running.ask, Ask::Nobody);
        Ok(Load {
            counted,
            events: asks.then(|| events::totals(&mut running.ask)),
            noted: Noted::default(),
        })
    }
}

impl Seat {
    fn is_of(&self, key: &Key) -> bool {
        self.configuration == key.configuration && self.again == key.again
    }

    /// Something failed: when it was the server, it says so from now on.
    fn look(&mut self) {
        if let Ok(running) = &mut self.running
            && let Err(trouble) = running.alive()
        {
            self.running = Err(trouble);
        }
    }
}

impl Player {
    /// Its turn, unless it has failed already.
    fn turn(&mut self, seat: &mut Seat, turn_ms: u32) -> Result<(), Trouble> {
        let (Ok(load), Ok(running)) = (&mut self.load, &mut seat.running) else {
            return Ok(());
        };
        let time = Duration::from_millis(turn_ms.into());
        if let Err(trouble) = load.turn(running, time) {
            self.load = interrupted(Err(trouble))?;
            seat.look();
        }
        Ok(())
    }
}

impl Load {
    fn turn(&mut self, running: &mut Running, time: Duration) -> Result<(), Trouble> {
        let (mut of_server, mut of_generator) = (Threads::default(), Threads::default());
        let (server, generator) = (running.pid, self.counted.id());
        let mut see = |first: bool| {
            if let Some(pid) = server {
                of_server.see(pid, first);
            }
            of_generator.see(generator, first);
        };
        see(true);
        let taken = self.counted.turn(running, time)?;
        see(false);
        let noted = &mut self.noted;
        noted.of_server = plus(noted.of_server, of_server.sum());
        noted.of_generator = plus(noted.of_generator, of_generator.sum());
        if let Some(stat) = running.pid.and_then(proc::stat) {
            let second = noted.turns.iter().map(|turn| turn.seconds).sum();
            noted.memory.push(Memory {
                second,
                virtual_kib: stat.virtual_kib,
                resident_kib: stat.resident_kib,
            });
        }
        noted.add(taken);
        Ok(())
    }

    fn end(
        mut self,
        running: &mut Running,
        interrupt: &crate::interrupt::Interrupt,
    ) -> Result<Measured, Trouble> {
        let events = self.events.take();
        let events =
            events.map(|before| events::between(&before, &events::totals(&mut running.ask)));
        let driven = self.counted.end(running, interrupt)?;
        self.noted.measured(driven, events.unwrap_or_default())
    }
}

impl Noted {
    fn add(&mut self, taken: Taken) {
        self.turns.push(Turn {
            seconds: taken.seconds,
            transactions: taken.transactions as f64,
            server: taken.server.seconds,
            generator: taken.generator.seconds,
            latency_mean_ms: taken.latency_mean_ms,
        });
        self.server += taken.server;
        self.generator += taken.generator;
        self.machine += taken.machine;
        self.around += taken.around;
    }

    /// The cell's figures. Queries, errors, switches and events are known of more than the turns: each is told in
    /// proportion to the transactions.
    fn measured(self, driven: Driven, events: Vec<events::Event>) -> Result<Measured, Trouble> {
        let sum = |of: fn(&Turn) -> f64| self.turns.iter().map(of).sum::<f64>();
        let transactions = sum(|turn| turn.transactions);
        if transactions == 0.0 {
            return Err(Trouble::failed(
                "no transaction ended in a turn: give more turn_ms",
            ));
        }
        let of_all = transactions / driven.transactions;
        let of_around = transactions / self.around.max(1) as f64;
        let part = |count: u64| (count as f64 * of_around).round() as u64;
        Ok(Measured {
            seconds: sum(|turn| turn.seconds),
            transactions,
            queries: driven.queries * of_all,
            errors: (driven.errors as f64 * of_all).round() as u64,
            latency: driven.latency,
            server: Some(self.server),
            generator: self.generator,
            machine: self.machine.split(),
            switches: Switches {
                machine: self.machine.switches,
                server_voluntary: part(self.of_server.0),
                server_involuntary: part(self.of_server.1),
                generator: part(self.of_generator.0 + self.of_generator.1),
            },
            memory: self.memory,
            events: (events.into_iter())
                .map(|event| events::Event {
                    count: part(event.count),
                    sum_ps: part(event.sum_ps),
                    ..event
                })
                .filter(|event| event.count > 0)
                .collect(),
            turns: self.turns,
            ..Measured::default()
        })
    }
}

/// A server's directory as it was filled, for a server of its own.
fn copy(filled: &Path, directory: &Path) -> Result<(), Trouble> {
    let _ = std::fs::remove_dir_all(directory);
    let copied = Command::new("cp")
        .args(["-a", "--reflink=auto"])
        .args([filled, directory])
        .output()
        .map_err(Trouble::at("cannot start cp"))?;
    if !copied.status.success() {
        // On a full disk the others need its room.
        let _ = std::fs::remove_dir_all(directory);
        let log = String::from_utf8_lossy(&copied.stderr).into_owned();
        let why = log.lines().next().unwrap_or("cp failed");
        return Err(Trouble::Failed {
            reason: format!("cannot copy the server's data directory: {why}"),
            log,
        });
    }
    // What the server said that filled it.
    let _ = std::fs::remove_file(directory.join("log"));
    Ok(())
}

/// Ctrl-C ends the matrix; anything else is the cell's alone.
fn interrupted<T>(result: Result<T, Trouble>) -> Result<Result<T, Trouble>, Trouble> {
    match result {
        Err(Trouble::Interrupted) => Err(Trouble::Interrupted),
        other => Ok(other),
    }
}

fn plus(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0 + other.0, one.1 + other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_fails_says_why_in_a_line_and_leaves_nothing() {
        let place = std::env::temp_dir().join(format!("tare-copy-{}", std::process::id()));
        let (filled, directory) = (place.join("s0"), place.join("s0.0"));
        std::fs::create_dir_all(filled.join("data")).expect("made");
        std::fs::write(filled.join("log"), "of the server that filled it").expect("written");
        copy(&filled, &directory).expect("copied");
        assert!(directory.join("data").exists() && !directory.join("log").exists());
        let long = place.join("x".repeat(300));
        let trouble = copy(&filled, &long).expect_err("no such name");
        let words = trouble.to_string();
        assert!(
            words.contains("data directory: cp: ") && !words.contains('\n'),
            "{words}"
        );
        std::fs::remove_dir_all(&place).expect("removed");
    }

    #[test]
    fn what_is_known_of_more_than_the_turns_is_told_in_proportion() {
        let mut noted = Noted::default();
        for transactions in [30, 50] {
            noted.add(Taken {
                seconds: 0.5,
                transactions,
                around: 100,
                server: Cpu {
                    seconds: 0.25,
                    ..Cpu::default()
                },
                ..Taken::default()
            });
        }
        noted.of_server = (500, 50);
        let driven = Driven {
            transactions: 800.0,
            queries: 16_000.0,
            errors: 20,
            ..Driven::default()
        };
        let event = events::Event {
            kind: "statement".into(),
            name: "statement/sql/select".into(),
            count: 4_000,
            sum_ps: 9_000,
        };
        let measured = noted.measured(driven, vec![event]).expect("transactions");
        assert_eq!((measured.seconds, measured.transactions), (1.0, 80.0));
        assert_eq!((measured.queries, measured.errors), (1_600.0, 2));
        assert_eq!(measured.switches.server_voluntary, 200);
        assert_eq!(
            (measured.events[0].count, measured.events[0].sum_ps),
            (1_600, 3_600)
        );
        let turns = measured.by_turns(crate::recipe::Measure::Throughput);
        assert_eq!(turns, [(1, 60.0), (2, 100.0)]);
        assert!(
            Noted::default()
                .measured(Driven::default(), Vec::new())
                .is_err()
        );
    }
}
