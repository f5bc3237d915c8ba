//! What is noted of a cell's turns, and the figures that they come to.

use std::time::Duration;

use crate::ask::Ask;
use crate::cell::{Cpu, Measured, Memory, Switches, Turn};
use crate::events;
use crate::load::Driven;
use crate::load::counted::{Counted, Taken, latency};
use crate::proc::{self, Machine};
use crate::sampler::Threads;
use crate::server::Running;
use crate::trouble::Trouble;

/// The sums of a cell's turns.
#[derive(Default)]
pub(super) struct Noted {
    turns: Vec<Turn>,
    server: Cpu,
    generator: Cpu,
    machine: Machine,
    of_server: (u64, u64),
    of_generator: (u64, u64),
    memory: Vec<Memory>,
    /// Latencies by bucket.
    latencies: Vec<u64>,
    /// Transactions of the turns and around them, which switches and events are of.
    around: u64,
    /// Of a server that is switched: events of a stretch of their own, and its transactions.
    seen: Option<(Vec<events::Event>, u64)>,
    lead: Duration,
}

/// How long events are looked at of a configuration that shares its process.
const SEEN: Duration = Duration::from_millis(200);

impl Noted {
    /// One turn.
    pub(super) fn turn(
        &mut self,
        load: &mut Counted,
        running: &mut Running,
        lead: Duration,
        time: Duration,
    ) -> Result<(), Trouble> {
        let (mut of_server, mut of_generator) = (Threads::default(), Threads::default());
        let (server, generator) = (running.pid, load.id());
        let mut see = |first: bool| {
            if let Some(pid) = server {
                of_server.see(pid, first);
            }
            of_generator.see(generator, first);
        };
        see(true);
        let taken = load.turn(running, lead, time)?;
        see(false);
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

    /// What the server counts meanwhile, in a stretch that is no turn: asking takes longer than one.
    pub(super) fn see(
        &mut self,
        load: &mut Counted,
        running: &mut Running,
        lead: Duration,
    ) -> Result<(), Trouble> {
        if !matches!(running.ask, Ask::Nobody) {
            // What was under way at the switch ends, and counts as it began.
            load.turn(running, lead, SEEN / 4)?;
            let before = events::totals(&mut running.ask);
            let taken = load.turn(running, lead, SEEN)?;
            let after = events::totals(&mut running.ask);
            self.seen = Some((events::between(&before, &after), taken.around));
        }
        Ok(())
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

    /// The cell's figures. Queries, errors, switches and events are known of more than the turns: each is told in
    /// proportion to the transactions.
    pub(super) fn measured(
        self,
        driven: &Driven,
        events: &[events::Event],
    ) -> Result<Measured, Trouble> {
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
        let time = sum(|turn| turn.latency_mean_ms * turn.transactions);
        let (events, of_seen) = match &self.seen {
            Some((events, around)) => (events.as_slice(), transactions / (*around).max(1) as f64),
            None => (events, of_around),
        };
        let seen = |count: u64| (count as f64 * of_seen).round() as u64;
        Ok(Measured {
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
                    count: seen(event.count),
                    sum_ps: seen(event.sum_ps),
                    ..event.clone()
                })
                .filter(|event| event.count > 0)
                .collect(),
            counts: self.turns.iter().map(|turn| turn.counts).sum(),
            lead_ms: Some(self.lead.as_secs_f64() * 1e3),
            turns: self.turns,
            ..Measured::default()
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
        let measured = noted.measured(&driven, &[event]).expect("transactions");
        assert_eq!((measured.seconds, measured.transactions), (1.0, 80.0));
        assert_eq!((measured.queries, measured.errors), (1_600.0, 2));
        assert_eq!(measured.switches.server_voluntary, 200);
        assert_eq!(
            (measured.events[0].count, measured.events[0].sum_ps),
            (1_600, 3_600)
        );
        let turns = measured.by_turns(crate::recipe::Measure::Throughput);
        assert_eq!(turns, [(1, 60.0), (2, 100.0)]);
        assert!(Noted::default().measured(&Driven::default(), &[]).is_err());
    }
}
