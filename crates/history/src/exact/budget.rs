//! The budget of exact windows: what they cost in the last hour, of what the program used in it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time over which a budget holds.
const PERIOD: Duration = Duration::from_secs(3600);

/// The interval between stored readings of the program's CPU time.
const READING_INTERVAL: Duration = Duration::from_secs(10);

/// The part of the program's CPU time that instrumentation costs in a window, before one was measured. The
/// dearest load of docs/overhead.md is half of that.
const INITIAL_SHARE: f64 = 0.5;

/// A window that has ended.
#[derive(Clone, Copy, Debug)]
struct Spent {
    at: Instant,
    cost: f64,
    /// The program's CPU time meanwhile.
    cpu: f64,
}

/// What a budget allows. Times are seconds of CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// What the program used in the period.
    pub used: f64,
    /// What a window may cost.
    pub left: f64,
}

/// What a program used, and what its exact windows cost.
#[derive(Debug)]
pub struct Ledger {
    /// The part of the program's CPU time that windows may cost.
    share: f64,
    /// Readings of the program's CPU time, the oldest first: stored ones, and the newest.
    readings: VecDeque<(Instant, f64)>,
    newest: (Instant, f64),
    /// The CPU time per second between the last readings.
    rate: f64,
    windows: VecDeque<Spent>,
}

impl Ledger {
    /// A ledger that begins with a reading of the program's CPU time.
    pub fn new(share: f64, now: Instant, cpu: f64) -> Self {
        Self {
            share,
            readings: VecDeque::from([(now, cpu)]),
            newest: (now, cpu),
            rate: 0.0,
            windows: VecDeque::new(),
        }
    }

    /// Adds a reading of the program's CPU time.
    pub fn read(&mut self, now: Instant, cpu: f64) {
        let seconds = (now - self.newest.0).as_secs_f64();
        if seconds > 0.0 {
            self.rate = ((cpu - self.newest.1) / seconds).max(0.0);
        }
        self.newest = (now, cpu);
        let is_old = |at: Instant| now.saturating_duration_since(at) > PERIOD;
        while self.readings.front().is_some_and(|(at, _)| is_old(*at)) {
            self.readings.pop_front();
        }
        if (self.readings.back()).is_none_or(|(at, _)| now - *at >= READING_INTERVAL) {
            self.readings.push_back((now, cpu));
        }
        // The last one is the measure of the next.
        while self.windows.len() > 1 && self.windows.front().is_some_and(|one| is_old(one.at)) {
            self.windows.pop_front();
        }
    }

    /// The program's CPU time at the last reading.
    pub fn cpu(&self) -> f64 {
        self.newest.1
    }

    /// Adds a window that has ended.
    pub fn spend(&mut self, cost: f64, cpu: f64) {
        let at = self.newest.0;
        self.windows.push_back(Spent { at, cost, cpu });
    }

    /// What the next window may cost.
    pub fn allowance(&self) -> Allowance {
        let (now, cpu) = self.newest;
        let oldest = self.readings.front().map_or(cpu, |(_, cpu)| *cpu);
        let used = (cpu - oldest).max(0.0);
        let recent = self.windows.iter().filter(|one| now - one.at <= PERIOD);
        let spent: f64 = recent.map(|one| one.cost).sum();
        Allowance {
            used,
            left: (self.share * used - spent).max(0.0),
        }
    }

    /// What a window of this length costs at the present load.
    pub fn estimate(&self, length: Duration) -> f64 {
        let measured = self.windows.iter().filter(|one| one.cpu > 0.0);
        let share = measured
            .map(|one| one.cost / one.cpu)
            .reduce(f64::max)
            .unwrap_or(INITIAL_SHARE);
        length.as_secs_f64() * self.rate * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A program that uses two CPUs, read once per second.
    fn run(ledger: &mut Ledger, from: Instant, seconds: std::ops::Range<u32>) {
        for second in seconds {
            ledger.read(from + second * SECOND, 2.0 * f64::from(second));
        }
    }

    fn assert_near(actual: f64, expected: f64) {
        assert!(
            (actual - expected).abs() < 1e-6,
            "{actual} is not {expected}"
        );
    }

    #[test]
    fn a_budget_is_a_part_of_what_the_program_used_in_the_hour() {
        let start = Instant::now();
        let mut ledger = Ledger::new(0.01, start, 0.0);
        assert_eq!(
            ledger.allowance(),
            Allowance {
                used: 0.0,
                left: 0.0
            }
        );
        run(&mut ledger, start, 0..101);
        assert_near(ledger.allowance().used, 200.0);
        assert_near(ledger.allowance().left, 2.0);
        // A first window of a second costs at most half of what the program uses.
        assert_near(ledger.estimate(SECOND), 1.0);
        ledger.spend(1.5, 10.0);
        assert_near(ledger.allowance().left, 0.5);
        assert_near(ledger.estimate(SECOND), 0.3);
        // The dearest window counts.
        ledger.spend(0.1, 2.0);
        assert_near(ledger.estimate(SECOND), 0.3);
        assert_near(ledger.allowance().left, 0.4);
        // An hour later the windows are forgotten, except for the measure of the last.
        run(&mut ledger, start, 101..3_711);
        assert_near(ledger.allowance().left, ledger.allowance().used * 0.01);
        assert_near(ledger.estimate(SECOND), 0.1);
        // At most an hour, and at least an hour without the last interval.
        let used = ledger.allowance().used;
        assert!((7_180.0..=7_200.0).contains(&used), "{used}");
    }

    #[test]
    fn what_was_spent_stays_spent_when_the_program_rests() {
        let start = Instant::now();
        let mut ledger = Ledger::new(0.01, start, 50.0);
        ledger.read(start + 100 * SECOND, 250.0);
        ledger.spend(2.0, 10.0);
        assert_near(ledger.allowance().left, 0.0);
        for second in 101..3_000 {
            ledger.read(start + second * SECOND, 250.0);
        }
        assert_near(ledger.allowance().left, 0.0);
        assert_near(ledger.estimate(SECOND), 0.0);
    }
}
