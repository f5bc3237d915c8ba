//! Converts ticks.
//!
//! All times of a segment are in ticks. MySQL's tables have picoseconds since the start, and times of day.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tare_layout::View;
use tare_layout::control::Timer;

use crate::mapping;

/// Picoseconds in a second.
const PS: u128 = 1_000_000_000_000;

/// A segment's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks at the start: zero of every TIMER_START.
    pub start_ticks: u64,
    /// Ticks per second; never 0.
    pub ticks_per_second: u64,
    /// The start in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Whether ticks are the time stamp counter; otherwise they are CLOCK_MONOTONIC's nanoseconds.
    pub cycles: bool,
    /// Whether the writer lives, so that its clock still runs.
    pub live: bool,
}

impl Clock {
    pub(crate) fn new(view: View<'_>, live: bool) -> Self {
        let header = view.header();
        Self {
            start_ticks: header.start_ticks.load(Ordering::Relaxed),
            ticks_per_second: header.ticks_per_second.load(Ordering::Relaxed).max(1),
            start_unix_ns: header.start_unix_ns.load(Ordering::Relaxed),
            cycles: header.ticks_are_cycles.load(Ordering::Relaxed) != 0,
            live,
        }
    }

    /// A duration in ticks, in picoseconds.
    pub fn ps(&self, ticks: u64) -> u64 {
        let ps = u128::from(ticks) * PS / u128::from(self.ticks_per_second.max(1));
        u64::try_from(ps).unwrap_or(u64::MAX)
    }

    /// A sum of ticks in nanoseconds, as a fraction.
    pub fn ns(&self, ticks: u64) -> f64 {
        ticks as f64 * 1e9 / self.ticks_per_second.max(1) as f64
    }

    /// A time in picoseconds since the start; times before it are 0.
    pub fn since_start_ps(&self, ticks: u64) -> u64 {
        self.ps(ticks.saturating_sub(self.start_ticks))
    }

    /// A time in nanoseconds since 1970.
    pub fn unix_ns(&self, ticks: u64) -> u64 {
        self.start_unix_ns
            .saturating_add(self.since_start_ps(ticks) / 1000)
    }

    /// A time as the system's clock has it.
    pub fn system_time(&self, ticks: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.unix_ns(ticks))
    }

    /// The current time in ticks; `None` if the writer has ended.
    pub fn now(&self) -> Option<u64> {
        self.live.then(|| mapping::ticks(self.cycles))
    }

    /// The current time of another timer of `setup_timers`, as the writer converts it to ticks. `None` for a
    /// thread's CPU time, which only that thread can read.
    pub fn now_by(&self, timer: Timer) -> Option<u64> {
        let now = self.now()?;
        let ns = match timer {
            Timer::Cycle => return Some(now),
            Timer::Nanosecond => mapping::monotonic_ns(),
            Timer::Microsecond => mapping::monotonic_ns() / 1_000 * 1_000,
            Timer::Millisecond => mapping::monotonic_ns() / 1_000_000 * 1_000_000,
            Timer::ThreadCpu => return None,
        };
        let ticks = u128::from(ns) * u128::from(self.ticks_per_second) / 1_000_000_000;
        u64::try_from(ticks).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock {
            start_ticks: 1000,
            ticks_per_second: 2_500_000_000,
            start_unix_ns: 5_000_000_000,
            cycles: true,
            live: false,
        }
    }

    #[test]
    fn ticks_convert_without_overflow() {
        let clock = clock();
        assert_eq!(clock.ps(5), 2000);
        assert_eq!(clock.ps(u64::MAX), u64::MAX);
        assert_eq!(clock.since_start_ps(1005), 2000);
        assert_eq!(clock.since_start_ps(5), 0);
        assert_eq!(clock.unix_ns(1000 + 2_500_000_000), 6_000_000_000);
        assert_eq!(clock.system_time(1000), UNIX_EPOCH + Duration::from_secs(5));
    }

    #[test]
    fn a_writer_that_ended_has_no_current_time() {
        assert_eq!(clock().now(), None);
        assert_eq!(clock().now_by(Timer::Nanosecond), None);
        let live = Clock {
            live: true,
            ..clock()
        };
        assert!(live.now().is_some() && live.now_by(Timer::Microsecond).is_some());
        assert_eq!(live.now_by(Timer::ThreadCpu), None);
    }

    #[test]
    fn a_hostile_frequency_of_zero_does_not_panic() {
        let clock = Clock {
            ticks_per_second: 0,
            ..clock()
        };
        assert_eq!(clock.ps(1), 1_000_000_000_000);
        assert!(clock.ns(3).is_finite());
    }
}
