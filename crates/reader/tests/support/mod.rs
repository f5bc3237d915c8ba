//! A writer in this process, and a reader of it.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use tare_reader::{Banks, Classes, Scope, Segment, Selection, Totals};

/// Serialises tests that start Tare, because it runs once per process.
static TURN: Mutex<()> = Mutex::new(());

/// A running Tare that records everything until it is dropped.
pub struct Running {
    pub segment: Segment,
    _turn: MutexGuard<'static, ()>,
}

impl Running {
    pub fn with_limits(limits: tare::Limits) -> Self {
        Self::with(|config| config.limits = limits)
    }

    pub fn with(change: impl FnOnce(&mut tare::Config)) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut config = tare::Config::everything();
        change(&mut config);
        tare::start(config).expect("starts");
        let segment = Segment::own(tare::descriptor().expect("runs")).expect("attaches");
        Running {
            segment,
            _turn: turn,
        }
    }

    pub fn new() -> Self {
        Self::with_limits(tare::Limits::default())
    }

    pub fn banks(&self) -> Banks<'_> {
        Banks::new(self.segment.view(), self.segment.is_live())
    }

    pub fn class(&self, name: &str) -> usize {
        Classes::read(self.segment.view())
            .find(name)
            .expect("registered")
            .id
    }

    pub fn selection(&self) -> Selection {
        Selection::new(&Classes::read(self.segment.view()), |_| true)
    }

    pub fn global(&self) -> Totals {
        self.banks().global(&self.selection())
    }

    pub fn truncate(&self, scope: Scope) {
        self.segment
            .truncate_classes(scope, &self.selection())
            .expect("truncated");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        tare::stop();
    }
}
