//! When sessions are sampled.

use std::time::{Duration, Instant};

/// Time in intervals of one length, each with one moment at a random time, so that sampling does not resonate
/// with periodic work. A moment represents its interval, wherever in it the moment is: if it represented the
/// time since the moment before, late ones would weigh more, and work in step with the intervals would be
/// estimated wrong.
#[derive(Clone, Debug)]
pub struct Schedule {
    began: Instant,
    interval: Duration,
    /// The number of intervals that are over, or represented.
    done: u64,
}

impl Schedule {
    /// The schedule of so many moments a second, from now on.
    pub fn new(rate: f64) -> Self {
        Self {
            began: Instant::now(),
            interval: Duration::from_secs_f64(1.0 / rate),
            done: 0,
        }
    }

    /// The time of the next moment. It has passed if the interval is half over, for instance.
    pub fn next(&self, now: Instant) -> Instant {
        let number = self.done.max(self.number(now));
        self.began + self.interval.mul_f64(number as f64 + fastrand::f64())
    }

    /// The time that a moment represents which is sampled now: its interval, and those before it that had none.
    pub fn represent(&mut self, now: Instant) -> Duration {
        let before = self.done;
        self.done = before.max(self.number(now)) + 1;
        self.interval.mul_f64((self.done - before) as f64)
    }

    /// No moment represents the intervals until now.
    pub fn skip(&mut self, now: Instant) {
        self.done = self.done.max(self.number(now));
    }

    fn number(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.began);
        (elapsed.as_nanos() / self.interval.as_nanos().max(1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_represents_its_interval_and_those_that_were_missed() {
        let mut schedule = Schedule::new(10.0);
        let began = schedule.began;
        let at = |ms| began + Duration::from_millis(ms);
        let is_within = |next: Instant, from: u64| next >= at(from) && next <= at(from + 100);
        assert!(is_within(schedule.next(at(0)), 0));
        assert_eq!(schedule.represent(at(99)), Duration::from_millis(100));
        // The next one is in the next interval, however soon that is.
        assert!(is_within(schedule.next(at(99)), 100));
        assert_eq!(schedule.represent(at(101)), Duration::from_millis(100));
        // A moment that was late, and that represents two intervals.
        assert_eq!(schedule.represent(at(399)), Duration::from_millis(200));
        assert!(is_within(schedule.next(at(399)), 400));
        // One in the interval of the moment before represents the next one.
        assert_eq!(schedule.represent(at(399)), Duration::from_millis(100));
        assert!(is_within(schedule.next(at(400)), 500));
        // The server was away.
        schedule.skip(at(2_050));
        assert!(is_within(schedule.next(at(2_050)), 2_000));
        assert_eq!(schedule.represent(at(2_060)), Duration::from_millis(100));
    }
}
