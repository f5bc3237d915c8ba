//! Measures a cell by itself.

use std::time::Instant;

use super::{PROBES, RunState, Runner, hooks, unplanned};
use crate::cell::{Measurement, Switches};
use crate::connection::Connection;
use crate::counters::Counters;
use crate::error::CellError;
use crate::events;
use crate::load::{Drive, rate};
use crate::matrix::{Cell, Key, Parts};
use crate::proc;
use crate::server::RunningServer;
use crate::stats::starts::Costs;

/// The most attempts to calibrate a rate to a share of the CPU.
const MAX_CALIBRATIONS: usize = 6;

impl Runner<'_> {
    /// Measures one cell by itself.
    pub(super) fn run_cell(&mut self, cell: &Cell, done: &mut RunState) -> Result<(), CellError> {
        done.progress.set_message(&cell.key.title());
        let began = Instant::now();
        let measured = self.measure(cell);
        let start = began.elapsed().as_secs_f64() * self.cells_of(cell) as f64;
        self.record_costs(&cell.key.load_title(), Costs { start, block: 0.0 });
        match measured {
            Err(CellError::Interrupted) => return Err(CellError::Interrupted),
            Err(CellError::Failed { .. }) => self.start_over(&cell.key.server),
            Err(CellError::Skipped(_)) | Ok(_) => {}
        }
        done.cell(self, cell, measured);
        Ok(())
    }

    /// The number of cells that are compared with this one, itself included.
    fn cells_of(&self, cell: &Cell) -> usize {
        let keys = self.plan.recipe.keys();
        let load = cell.key.load();
        keys.iter().filter(|key| key.load() == load).count()
    }

    fn measure(&mut self, cell: &Cell) -> Result<Measurement, CellError> {
        self.interrupt.check()?;
        let recipe = self.plan.recipe.clone();
        let parts = recipe.parts(&cell.key).ok_or_else(unplanned)?;
        let rate = match &parts.workload.rate {
            None => None,
            Some(rate) => Some(match (rate.cpu(), rate.peak()) {
                (Some(share), _) => self.calibrate_rate(&cell.key, parts, share)?,
                (_, Some(part)) => part * self.measure_peak_rate(&cell.key)?,
                _ => rate.fixed().unwrap_or(1.0),
            }),
        };
        let run = &recipe.run;
        self.serve(&cell.key, parts, run.rebuild, run.restart)?;
        if run.warm_up > 0 {
            self.drive(parts, cell.key.connections, run.warm_up, rate)?;
        }
        if let Some((_, running)) = &mut self.running {
            hooks::run_before(&recipe, &cell.key, running)?;
        }
        let mut measured = self.drive(parts, cell.key.connections, run.seconds, rate)?;
        if let Some((_, running)) = &mut self.running {
            measured.answers = hooks::query_answers(&recipe, &cell.key, running)?;
            hooks::run_after(&recipe, &cell.key, running)?;
        }
        Ok(measured)
    }

    /// Runs the load against the running server.
    fn drive(
        &mut self,
        parts: Parts,
        connections: u32,
        seconds: u32,
        rate: Option<f64>,
    ) -> Result<Measurement, CellError> {
        let Some((name, mut running)) = self.running.take() else {
            return Err(CellError::failed("no server runs"));
        };
        let data = self.plan.recipe.data.clone();
        let drive = self.drive_of(parts, connections, seconds, rate, &data);
        let measured = measure(&drive, &mut running, rate);
        self.running = Some((name, running));
        measured
    }

    /// The baseline's peak rate. It is measured once for each server, workload and number of
    /// connections, so that all configurations have the same rate.
    fn measure_peak_rate(&mut self, key: &Key) -> Result<f64, CellError> {
        let name = format!("{}/{}/{}", key.server, key.workload, key.connections);
        if let Some(rate) = self.plan.rates.get(&name) {
            return Ok(*rate);
        }
        let recipe = self.plan.recipe.clone();
        let baseline = Key {
            configuration: recipe.baseline.clone().unwrap_or(key.configuration.clone()),
            again: false,
            ..key.clone()
        };
        let parts = recipe.parts(&baseline).ok_or_else(unplanned)?;
        self.serve(&baseline, parts, recipe.run.rebuild, true)?;
        if recipe.run.warm_up > 0 {
            self.drive(parts, key.connections, recipe.run.warm_up, None)?;
        }
        let flat_out = self.drive(parts, key.connections, recipe.run.seconds.min(5), None)?;
        let rate = flat_out.transactions / flat_out.seconds;
        self.plan.rates.insert(name, rate);
        self.write_plan();
        Ok(rate)
    }

    /// The rate that uses a share of the machine's CPU. It is calibrated once for each server and
    /// workload.
    fn calibrate_rate(
        &mut self,
        key: &Key,
        parts: Parts,
        share: (f64, f64),
    ) -> Result<f64, CellError> {
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
        for _ in 0..MAX_CALIBRATIONS {
            let Some(other) = rate::next(rate, busy, share) else {
                break;
            };
            rate = other;
            busy = busy_percent(&self.drive(parts, PROBES, seconds, Some(rate))?);
        }
        self.plan.rates.insert(name, rate);
        self.write_plan();
        Ok(rate)
    }
}

/// The CPU of server and load generator in percent of the machine; other programs do not count.
fn busy_percent(measured: &Measurement) -> f64 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    match measured.server {
        Some(server) => {
            100.0 * (server.seconds + measured.generator.seconds) / (measured.seconds * cpus)
        }
        None => 100.0 - measured.machine.idle,
    }
}

fn measure(
    drive: &Drive,
    running: &mut RunningServer,
    rate: Option<f64>,
) -> Result<Measurement, CellError> {
    let has_connection = !matches!(running.connection, Connection::Absent);
    let before = has_connection.then(|| events::read_totals(&mut running.connection));
    let machine = proc::machine();
    let cpu = running.cpu();
    let counted = running.pid.and_then(|pid| Counters::of(pid).ok());
    let driven = drive.run(running)?;
    let counts = counted.and_then(|mut counters| counters.read().ok());
    let cpu_after = running.cpu();
    let machine = proc::machine() - machine;
    let events = match before {
        None => Vec::new(),
        Some(before) => events::difference(&before, &events::read_totals(&mut running.connection)),
    };
    running.check_alive()?;
    Ok(Measurement {
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
        resident: driven.resident,
        answers: Vec::new(),
        rate,
        events,
        counts,
        lead_ms: None,
        turns: Vec::new(),
    })
}
