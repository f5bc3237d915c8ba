//! A writer in this process, and a reader of it.
#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../../../tare/tests/support/work.rs"]
mod work;

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tare_layout::class::counter_cell;
use tare_layout::line::COUNT;
use tare_layout::shared::LOSSES;
use tare_layout::view::View;
use tare_reader::{Banks, Classes, Scope, Segment, Selection, Totals, threads};

#[allow(unused_imports, reason = "as above")]
pub use work::{Random, scale};

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
        Running {
            segment: start(config),
            _turn: turn,
        }
    }

    /// Stops Tare and starts it again, with another segment.
    pub fn restart(&mut self, config: tare::Config) {
        tare::stop();
        self.segment = start(config);
    }

    pub fn view(&self) -> View<'_> {
        self.segment.view()
    }

    pub fn new() -> Self {
        Self::with_limits(tare::Limits::default())
    }

    pub fn banks(&self) -> Banks<'_> {
        Banks::new(self.view(), self.segment.is_live())
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        Classes::read(self.view()).find(name).map(|class| class.id)
    }

    pub fn class(&self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| panic!("no class {name}"))
    }

    fn cell(&self, class: &str, (line, cell): (usize, usize)) -> u64 {
        let totals = self.global();
        let row = totals.row(self.class(class));
        row.map_or(0, |row| row[line][cell])
    }

    /// How often events of a class were counted.
    pub fn count(&self, class: &str) -> u64 {
        self.cell(class, (0, COUNT))
    }

    /// The sum of a counter of statements of a class.
    pub fn counter(&self, class: &str, counter: tare::Counter) -> u64 {
        self.cell(class, counter_cell(counter as usize))
    }

    /// The texts of digests, sorted, and their counts, without those that count nothing.
    pub fn digests(&self) -> Vec<(String, u64)> {
        let digests = self.banks().digests().into_iter();
        let mut all: Vec<_> = digests
            .map(|digest| {
                let text = digest.text.as_deref().unwrap_or_default().to_string();
                (text, digest.row[0][COUNT])
            })
            .filter(|(_, count)| *count != 0)
            .collect();
        all.sort();
        all
    }

    /// The number of threads and sessions of a class.
    pub fn live(&self, class: &str) -> usize {
        let class = self.find(class);
        let all = threads(self.view());
        all.iter()
            .filter(|thread| Some(thread.class) == class)
            .count()
    }

    /// Every loss that is not zero.
    pub fn losses(&self) -> Vec<(usize, u64)> {
        let lost = &self.view().shared().lost;
        (0..LOSSES)
            .map(|i| (i, lost[i].load(Ordering::Relaxed)))
            .filter(|(_, n)| *n != 0)
            .collect()
    }

    pub fn selection(&self) -> Selection {
        Selection::new(&Classes::read(self.view()), |_| true)
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

fn start(config: tare::Config) -> Segment {
    tare::start(config).expect("starts");
    Segment::own(tare::descriptor().expect("runs")).expect("attaches")
}

impl Drop for Running {
    fn drop(&mut self) {
        tare::stop();
    }
}
