//! The readings of a cell's turns, and the cell's figures.

use std::time::Duration;

use crate::cell::{Cpu, Measurement, Memory, Switches, Turn};
use crate::connection::Connection;
use crate::error::CellError;
use crate::events;
use crate::load::LoadReport;
use crate::load::counted::{Counted, TurnReading, latency};
use crate::proc::{self, Machine};
use crate::sampler::Threads;
use crate::server::RunningServer;

/// The sums of a cell's turns.
#[derive(Default)]
pub(super) struct Readings {
    turns: Vec<Turn>,
    server: Cpu,
    generator: Cpu,
    machine: Machine,
    of_server: (u64, u64),
    of_generator: (u64, u64),
    memory: Vec<Memory>,
    /// Transactions by bucket of latency.
    latencies: Vec<u64>,
    /// Transactions of the turns with their leads, to which context switches and events refer.
    around: u64,
    /// For a server that is switched: the events of a separate period, and its transactions.
    events_sample: Option<(Vec<events::Event>, u64)>,
    lead: Duration,
}

/// The period in which the events of a configuration that shares its process are counted.
const EVENT_SAMPLE_TIME: Duration = Duration::from_millis(200);

impl Readings {
    /// Measures one turn.
    pub(super) fn measure_turn(
        &mut self,
        load: &mut Counted,
        running: &mut RunningServer,
        lead: Duration,
        time: Duration,
    ) -> Result<(), CellError> {
        let (mut of_server, mut of_generator) = (Threads::default(), Threads::default());
        let (server, generator) = (running.pid, load.id());
        let mut sample = |first: bool| {
            if let Some(pid) = server {
                of_server.sample(pid, first);
            }
            of_generator.sample(generator, first);
        };
        sample(true);
        let taken = load.run_turn(running, lead, time)?;
        sample(false);
        self.lead = lead;
        self.of_server = plus(self.of_server, of_server.sum());
        self.of_generator = plus(self.of_generator, of_generator.sum());
        if let Some(stat) = running.pid.and_then(proc::stat) {
            let second = self.turns.iter().map(|turn| turn.seconds).sum();
            self.memory.push(Memory {
                second,
                virtual_kib: stat.virtual_kib,
                resident_kib: stat.resident_kib,
            });
        }
        self.add(taken);
        Ok(())
    }

    /// Counts events in a separate period, because the queries take longer than a turn.
    pub(super) fn sample_events(
        &mut self,
        load: &mut Counted,
        running: &mut RunningServer,
        lead: Duration,
    ) -> Result<(), CellError> {
        if !matches!(running.connection, Connection::Absent) {
            // Statements that began before the switch end first.
            load.run_turn(running, lead, EVENT_SAMPLE_TIME / 4)?;
            let before = events::read_totals(&mut running.connection);
            let taken = load.run_turn(running, lead, EVENT_SAMPLE_TIME)?;
            let after = events::read_totals(&mut running.connection);
            self.events_sample = Some((events::difference(&before, &after), taken.around));
        }
        Ok(())
    }
}

impl Readings {
    fn add(&mut self, taken: TurnReading) {
        self.turns.push(Turn {
            seconds: taken.seconds,
            transactions: taken.transactions as f64,
            server: taken.server.seconds,
            generator: taken.generator.seconds,
            latency_mean_ms: taken.latency_mean_ms,
            probe_ns: taken.probe_ns,
            counts: taken.counts,
        });
        self.latencies.resize(taken.latencies.len(), 0);
        for (sum, more) in self.latencies.iter_mut().zip(&taken.latencies) {
            *sum += more;
        }
        self.server += taken.server;
        self.generator += taken.generator;
        self.machine += taken.machine;
        self.around += taken.around;
    }

    /// The cell's figures. Queries, errors, context switches and events cover more than the turns, so
    /// they are scaled by transactions.
    pub(super) fn into_measurement(
        self,
        driven: &LoadReport,
        events: &[events::Event],
    ) -> Result<Measurement, CellError> {
        let sum = |of: fn(&Turn) -> f64| self.turns.iter().map(of).sum::<f64>();
        let transactions = sum(|turn| turn.transactions);
        if transactions == 0.0 {
            return Err(CellError::failed(
                "no transaction ended in a turn: give more turn_ms",
            ));
        }
        let of_all = transactions / driven.transactions;
        let of_around = transactions / self.around.max(1) as f64;
        let part = |count: u64| (count as f64 * of_around).round() as u64;
        let time = sum(|turn| turn.latency_mean_ms * turn.transactions);
        let (events, of_events) = match &self.events_sample {
            Some((events, around)) => (events.as_slice(), transactions / (*around).max(1) as f64),
            None => (events, of_around),
        };
        let events_sample = |count: u64| (count as f64 * of_events).round() as u64;
        Ok(Measurement {
            seconds: sum(|turn| turn.seconds),
            transactions,
            queries: driven.queries * of_all,
            errors: (driven.errors as f64 * of_all).round() as u64,
            latency: Some(latency(&self.latencies, time / transactions)),
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
            events: (events.iter())
                .map(|event| events::Event {
                    count: events_sample(event.count),
                    sum_ps: events_sample(event.sum_ps),
                    ..event.clone()
                })
                .filter(|event| event.count > 0)
                .collect(),
            counts: self.turns.iter().map(|turn| turn.counts).sum(),
            lead_ms: Some(self.lead.as_secs_f64() * 1e3),
            turns: self.turns,
            ..Measurement::default()
        })
    }
}

fn plus(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0 + other.0, one.1 + other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_more_than_the_turns_are_scaled_by_transactions() {
        let mut readings = Readings::default();
        for transactions in [30, 50] {
            readings.add(TurnReading {
                seconds: 0.5,
                transactions,
                around: 100,
                server: Cpu {
                    seconds: 0.25,
                    ..Cpu::default()
                },
                ..TurnReading::default()
            });
        }
        readings.of_server = (500, 50);
        let driven = LoadReport {
            transactions: 800.0,
            queries: 16_000.0,
            errors: 20,
            ..LoadReport::default()
        };
        let event = events::Event {
            kind: "statement".into(),
            name: "statement/sql/select".into(),
            count: 4_000,
            sum_ps: 9_000,
        };
        let measured = readings
            .into_measurement(&driven, &[event])
            .expect("transactions");
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
            Readings::default()
                .into_measurement(&LoadReport::default(), &[])
                .is_err()
        );
    }
}
