//! What clock reads and events of Tare's engine cost on this host: some tenths of a second of doing them, here.

use std::hint::black_box;
use std::time::Instant;

use tare::{Config, Setting};
use tare_reader::Target;
use tare_sql::tables::cost::unit;

use crate::observe::{real, text};
use crate::output::Cell;
use crate::sql::{Answer, Local};

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/tare/explain";
    static STAGE_A: Stage = "stage/tare/explain_a";
    static STAGE_B: Stage = "stage/tare/explain_b";
    static STATEMENT: Statement = "statement/tare/explain";
    static IO: Cond = "wait/synch/cond/tare/explain";
}

/// Of each loop: long enough to be told from one read of the clock, short enough to be done before anybody waits.
const EVENTS: usize = 5_000;
/// Rounds; the fastest counts, because whatever disturbs one makes it slower.
const ROUNDS: usize = 15;

/// What was measured.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Nanoseconds of one read, by name of the timer.
    pub read_ns: Vec<(String, f64)>,
    /// By how much events of Tare's engine cost more here than documented, their clock reads apart.
    pub factors: Option<Factors>,
}

/// Measured by documented.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Waits other than locks, and what has no factor of its own.
    pub wait: f64,
    /// Locks that are free.
    pub lock: f64,
    /// Stages.
    pub stage: f64,
    /// Statements.
    pub statement: f64,
}

impl Host {
    /// Nanoseconds of one read of a timer.
    pub fn read(&self, timer: &str) -> f64 {
        let found = self.read_ns.iter().find(|(name, _)| name == timer);
        found.or(self.read_ns.first()).map_or(0.0, |(_, ns)| *ns)
    }

    /// Measures. Without instrumentation built in there is nothing to measure with, and documented costs hold.
    pub fn measure() -> Self {
        if !cfg!(feature = "instrument") {
            return Self {
                read_ns: vec![
                    ("NANOSECOND".into(), clock_read_ns()),
                    ("CYCLE".into(), clock_read_ns() / 2.0),
                ],
                factors: None,
            };
        }
        let floor = fastest(|| {
            for i in 0..EVENTS {
                black_box(i);
            }
        });
        let with = |setting: Setting, body: &dyn Fn()| -> Option<f64> {
            tare::stop();
            tare::start(Config {
                instruments: vec![("%".into(), setting)],
                ..Config::default()
            })
            .ok()?;
            Some((fastest(body) - floor).max(0.0))
        };
        let wait = || {
            for i in 0..EVENTS {
                drop(tare::wait::start(&IO, tare::Operation::Wait));
                black_box(i);
            }
        };
        let mutex = tare::sync::Mutex::new(&LOCK, 0u64);
        let lock = || {
            for _ in 0..EVENTS {
                *black_box(&mutex).lock() += 1;
            }
        };
        let stage = || {
            for i in 0..EVENTS {
                tare::stage::set(if i % 2 == 0 { &STAGE_A } else { &STAGE_B });
            }
        };
        let statement = || {
            for _ in 0..EVENTS / 10 {
                let statement = tare::statement::start(&STATEMENT);
                statement.text(black_box("SELECT c FROM sbtest1 WHERE id = 4242"));
            }
        };
        let plain = with(Setting::Off, &lock);
        let timed_wait = with(Setting::On, &wait);
        let free_lock = with(Setting::On, &lock);
        let read_ns = timers().unwrap_or_default();
        let counted_stage = with(Setting::Counted, &stage);
        let timed_statement = with(Setting::On, &statement);
        tare::stop();
        let host = Self {
            read_ns,
            factors: None,
        };
        let read = host.read("CYCLE");
        let by =
            |measured: f64, documented_reads: f64| (measured / (documented_reads * read)).max(0.0);
        let factors = || {
            let of = unit(tare::Kind::Cond);
            let (lock_unit, stage_unit, statement_unit) = (
                unit(tare::Kind::Mutex),
                unit(tare::Kind::Stage),
                unit(tare::Kind::Statement),
            );
            Some(Factors {
                wait: by(
                    (timed_wait? - 2.0 * read).max(0.0),
                    of.counting + of.recording,
                ),
                lock: by(free_lock? - plain?, lock_unit.counting),
                stage: by(counted_stage?, stage_unit.counting),
                statement: by(
                    (timed_statement? * 10.0 - 2.0 * read).max(0.0),
                    statement_unit.counting + statement_unit.recording,
                ),
            })
        };
        let factors = (read > 0.0).then(factors).flatten();
        Self { factors, ..host }
    }
}

/// Nanoseconds of CPU of one event, in the fastest round: what else the machine does is not in it.
fn fastest(body: impl Fn()) -> f64 {
    let cpu_ns = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    };
    body();
    let round = |_| {
        let begin = cpu_ns();
        body();
        (cpu_ns() - begin) / EVENTS as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn clock_read_ns() -> f64 {
    fastest(|| {
        for _ in 0..EVENTS {
            black_box(Instant::now());
        }
    })
}

/// What the engine measured of this host's timers when it started.
fn timers() -> Option<Vec<(String, f64)>> {
    let mut own = Local::open(Target::Pid(std::process::id())).ok()?;
    let question = "SELECT TIMER_NAME, TIMER_FREQUENCY, TIMER_OVERHEAD FROM performance_schema.performance_timers";
    let Ok(Answer::Rows(rows)) = own.query(question) else {
        return None;
    };
    Some(read_ns(&rows.rows))
}

/// Nanoseconds of a read of each timer. An overhead is in ticks of the first, CYCLE; where that is not there, in nanoseconds.
pub fn read_ns(rows: &[Vec<Cell>]) -> Vec<(String, f64)> {
    let number = |row: &Vec<Cell>, at: usize| row.get(at).and_then(real).filter(|n| *n > 0.0);
    let tick_ns = rows
        .first()
        .and_then(|row| number(row, 1))
        .map_or(1.0, |frequency| 1e9 / frequency);
    rows.iter()
        .filter_map(|row| Some((text(row.first()?)?, number(row, 2)? * tick_ns)))
        .collect()
}
