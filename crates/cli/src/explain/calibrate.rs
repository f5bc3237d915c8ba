//! Measures this host: reads of its timers, and events of Tare's engine.

use std::hint::black_box;
use std::time::Instant;

use tare::Config;
use tare_reader::Target;

use super::benchmark::Setup;
use super::unit::Units;
use crate::observe::{real, text};
use crate::output::Cell;
use crate::sql::{Answer, Local, SqlSession};

/// The costs of this host.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Nanoseconds of one read, by name of the timer.
    pub read_ns: Vec<(String, f64)>,
    /// Unit costs of Tare's engine.
    pub units: Units,
}

impl Host {
    /// Measures timers and, with `setup`, events of an engine with these settings.
    pub fn measure(setup: Option<&Setup>) -> Self {
        let read_ns = measure_timers().unwrap_or_else(|| {
            let read = clock_read_ns();
            vec![("NANOSECOND".into(), read), ("CYCLE".into(), read / 2.0)]
        });
        let mut host = Self {
            read_ns,
            units: Units::default(),
        };
        if let Some(setup) = setup {
            host.units = Units::measure(setup, host.read("CYCLE"));
        }
        host
    }

    /// Nanoseconds of one read of a timer.
    pub fn read(&self, timer: &str) -> f64 {
        let read = self.read_ns.iter().find(|(name, _)| name == timer);
        read.or(self.read_ns.first()).map_or(0.0, |(_, ns)| *ns)
    }
}

/// Clock reads per round, and rounds. The fastest round counts, because any disturbance makes it slower.
const READS: u32 = 5_000;
const ROUNDS: usize = 15;

fn clock_read_ns() -> f64 {
    let round = |_| {
        let began = Instant::now();
        for _ in 0..READS {
            black_box(Instant::now());
        }
        began.elapsed().as_nanos() as f64 / f64::from(READS)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

/// Reads the timer overheads that an engine measures when it starts.
fn measure_timers() -> Option<Vec<(String, f64)>> {
    tare::start(Config::nothing()).ok()?;
    let own = Local::open(Target::Pid(std::process::id())).ok()?;
    let mut own = SqlSession::Local(Box::new(own));
    let answer = own.query(TIMERS);
    tare::stop();
    let Ok(Answer::Rows(rows)) = answer else {
        return None;
    };
    Some(read_ns(&rows.rows))
}

/// The query whose result [`read_ns`] parses.
pub const TIMERS: &str =
    "SELECT TIMER_NAME, TIMER_FREQUENCY, TIMER_OVERHEAD FROM performance_schema.performance_timers";

/// Nanoseconds of a read of each timer. Overheads are in ticks of the first timer, CYCLE, or else in
/// nanoseconds.
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
