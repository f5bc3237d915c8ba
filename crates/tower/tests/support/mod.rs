//! A running Tare, and a reader of it.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tare::{Config, Counter};
use tare_layout::class::counter_cell;
use tare_layout::line::COUNT;
use tare_layout::shared::LOSSES;
use tare_layout::view::View;
use tare_reader::events::{Events, Table};
use tare_reader::{Banks, Classes, Segment, Selection, threads};

/// Serialises tests that start Tare, because it runs once per process.
static TURN: Mutex<()> = Mutex::new(());

/// `make test-long` multiplies the work of each test.
pub fn scale(short: usize, long: usize) -> usize {
    match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => long,
        None => short,
    }
}

/// A running Tare that records everything, until it is dropped.
pub struct Running {
    segment: Segment,
    _turn: MutexGuard<'static, ()>,
}

impl Running {
    pub fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        tare::start(Config::everything()).expect("starts");
        let segment = Segment::own(tare::descriptor().expect("runs")).expect("attaches");
        Self {
            segment,
            _turn: turn,
        }
    }

    pub fn view(&self) -> View<'_> {
        self.segment.view()
    }

    /// The texts of the statements that run.
    pub fn current(&self) -> Vec<String> {
        let all = threads(self.view());
        let current = Events::new(self.view(), &all).statements(Table::Current);
        let texts = current
            .iter()
            .filter_map(|statement| statement.text.as_deref());
        texts.map(String::from).collect()
    }

    /// Waits until the server has done what it is about to do.
    pub fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begin = std::time::Instant::now();
        while !is_so() {
            // Something has failed: not a measure of speed.
            assert!(begin.elapsed().as_secs() < 60, "not so: {what}");
            std::thread::yield_now();
        }
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        Classes::read(self.view()).find(name).map(|class| class.id)
    }

    pub fn class(&self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| panic!("no class {name}"))
    }

    fn cell(&self, class: &str, (line, cell): (usize, usize)) -> u64 {
        let selection = Selection::new(&Classes::read(self.view()), |_| true);
        let banks = Banks::new(self.view(), self.segment.is_live());
        let totals = banks.global(&selection);
        totals
            .row(self.class(class))
            .map_or(0, |row| row[line][cell])
    }

    pub fn count(&self, class: &str) -> u64 {
        self.cell(class, (0, COUNT))
    }

    pub fn counter(&self, class: &str, counter: Counter) -> u64 {
        self.cell(class, counter_cell(counter as usize))
    }

    /// The texts of digests, sorted, and their counts, without those that count nothing.
    pub fn digests(&self) -> Vec<(String, u64)> {
        let banks = Banks::new(self.view(), self.segment.is_live());
        let digests = banks.digests().into_iter();
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
}

impl Drop for Running {
    fn drop(&mut self) {
        tare::stop();
    }
}
