//! Windows of sampling by the test's own clock.
// Each test binary uses a part of it.
#![allow(dead_code)]

use tare::settings::ManualWindows;
use tare::{Class, Config, Rule, Sampling};
use tare_layout::sampling::{GROUPS, Sample, has_windows};

use crate::support::{Running, start};

pub fn sampled(rule: Rule, seed: u64) -> Running {
    start(Config::everything().sampling(Sampling::of(rule).seed(seed)))
}

pub const MS: u64 = 1_000_000;

/// Windows by a clock that only the test advances.
pub struct Clock {
    pub windows: ManualWindows,
    now: u64,
    due: u64,
}

impl Clock {
    pub fn new() -> Self {
        let mut clock = Self {
            windows: ManualWindows::begin().expect("nobody else opens windows"),
            now: MS,
            due: 0,
        };
        clock.pass(0);
        clock
    }

    pub fn pass(&mut self, ns: u64) {
        self.now += ns;
        if self.now >= self.due {
            self.due = self.windows.at(self.now).unwrap_or(u64::MAX);
        }
    }

    /// The present time.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Follows what a reader has changed.
    pub fn follow(&mut self) {
        self.due = 0;
        self.pass(0);
    }

    /// Advances until a window is open, or none is.
    pub fn until(&mut self, is_open: bool) {
        while self.windows.is_open() != is_open {
            self.pass(MS / 10);
        }
    }

    /// Changes N as a reader does.
    pub fn set(&mut self, tare: &Running, group: usize, rule: Rule) {
        let control = tare.view.control();
        control.set_rule(group, rule);
        tare.recompute();
        self.follow();
    }

    /// Of all types that are observed in windows.
    pub fn set_all(&mut self, tare: &Running, rule: Rule) {
        let in_windows = (0..GROUPS).filter(|group| has_windows(*group));
        in_windows.for_each(|group| self.set(tare, group, rule));
    }
}

pub fn sample(tare: &Running, class: &Class) -> Sample {
    match tare.class_number(class.name()) {
        Some(class) => Sample::read(&tare.view.sample(class).cells),
        None => Sample::default(),
    }
}

/// COUNT_STAR of an instrument, all lines of its row together.
pub fn count(tare: &Running, class: &Class) -> u64 {
    if tare.class_number(class.name()).is_none() {
        return 0;
    }
    (0..class.kind().time_lines())
        .map(|i| tare.line(class, i).count)
        .sum()
}
