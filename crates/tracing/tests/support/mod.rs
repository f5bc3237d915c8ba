//! A layer, a running Tare, and a reader of it.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tare::{Config, Counter};
use tare_layout::class::counter_cell;
use tare_layout::line::COUNT;
use tare_layout::shared::LOSSES;
use tare_layout::view::View;
use tare_reader::{Banks, Classes, Segment, Selection, threads};
use tare_tracing::TareLayer;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::prelude::*;

/// Serialises tests that start Tare, because it runs once per process.
static TURN: Mutex<()> = Mutex::new(());

/// `make test-long` multiplies the work of each test.
pub fn scale(short: usize, long: usize) -> usize {
    match std::env::var_os("TARE_TEST_LONG") {
        Some(_) => long,
        None => short,
    }
}

/// Xorshift numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A running Tare that records everything, and the calling thread's subscriber, until it is dropped.
pub struct Running {
    segment: Option<Segment>,
    subscriber: Option<DefaultGuard>,
    _turn: MutexGuard<'static, ()>,
}

impl Running {
    pub fn new(layer: TareLayer) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = Self {
            segment: None,
            subscriber: None,
            _turn: turn,
        };
        running.start(Config::everything());
        running.set_layer(layer);
        running
    }

    pub fn set_layer(&mut self, layer: TareLayer) {
        self.subscriber = None;
        self.subscriber = Some(tracing_subscriber::registry().with(layer).set_default());
    }

    pub fn start(&mut self, config: Config) {
        tare::start(config).expect("starts");
        self.segment = Some(Segment::own(tare::descriptor().expect("runs")).expect("attaches"));
    }

    pub fn stop(&mut self) {
        self.segment = None;
        tare::stop();
    }

    fn segment(&self) -> &Segment {
        self.segment.as_ref().expect("runs")
    }

    pub fn view(&self) -> View<'_> {
        self.segment().view()
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        Classes::read(self.view()).find(name).map(|class| class.id)
    }

    pub fn class(&self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| panic!("no class {name}"))
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        Classes::read(self.view()).len()
    }

    fn cell(&self, class: &str, (line, cell): (usize, usize)) -> u64 {
        let selection = Selection::new(&Classes::read(self.view()), |_| true);
        let banks = Banks::new(self.view(), self.segment().is_live());
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
        let banks = Banks::new(self.view(), self.segment().is_live());
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
        self.subscriber = None;
        self.stop();
    }
}
