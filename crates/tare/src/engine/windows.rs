//! Windows of time: while one is open, all threads observe the sampled groups. See docs/sampling.md.
//!
//! | | weight in [`NOW`](super::running::NOW) | words of waits and transactions |
//! |---|---|---|
//! | not sampled | 1 | the generation |
//! | in a window | N | the generation |
//! | outside | 0 | 0 |
//!
//! [`Windows::step`] does what is due. The time is passed to it, so that a test can be the clock.

use std::sync::atomic::Ordering;

use tare_layout::sampling::{GROUPS, MAX_RATE, has_windows};

use super::governor::{self, Governor};
use super::observed::{ClosedWindow, Observer};
use super::pace::Pace;
use super::random::Random;
use super::settings;
use super::state::Engine;

/// Mean interval between windows. The gains of a window's rows are summed each time, and two windows
/// give one summand of a standard error.
const INTERVAL_NS: u64 = 80_000_000;
/// The same if [threads come and go](ThreadStarts). A thread that meets a window must separate its own counts
/// from earlier ones, once for each row. Windows that are longer and as much rarer meet fewer threads.
const LONG_INTERVAL_NS: u64 = 640_000_000;
/// Minimum length of a window: opening and closing one takes some 20 µs, and the system wakes a thread
/// that late.
const MIN_WINDOW_NS: u64 = 2_000_000;
/// Maximum length of a window: a load has phases.
const MAX_WINDOW_NS: u64 = 40_000_000;

/// Windows in a stratum: the fewest that give a variance.
const WINDOWS_PER_STRATUM: usize = 2;

/// N of each group.
pub(super) type Rates = [u32; GROUPS];

/// When windows open and close.
pub(super) struct Windows {
    /// The last version of the rules.
    version: u32,
    stratum: Option<Stratum>,
    /// By how much windows were too short so far (below zero: too long).
    owed_ns: i64,
    pace: Pace,
    thread_starts: ThreadStarts,
    random: Random,
    observer: Observer,
    governor: Governor,
}

/// 2 N slots, of which two are windows.
struct Stratum {
    rates: Rates,
    /// The smallest N above 1, which determines the slots.
    smallest: u32,
    slot_ns: u64,
    /// Length of a window: that of a slot while nothing is observed.
    window_ns: u64,
    starts: [u64; WINDOWS_PER_STRATUM],
    end: u64,
    /// Number of windows that have been opened.
    opened: usize,
    open: Option<Window>,
}

/// A window that is open.
struct Window {
    since: u64,
    until: u64,
    is_in: [bool; GROUPS],
}

impl Stratum {
    /// The weights of events that begin now.
    fn weights(&self) -> Rates {
        std::array::from_fn(|group| match (self.rates[group], &self.open) {
            (n, _) if n == 1 || !has_windows(group) => n,
            (n, Some(window)) if window.is_in[group] => n,
            _ => 0,
        })
    }
}

impl Windows {
    /// `is_limited`: summing rows may take only little of the processor's time.
    pub fn new(engine: &Engine, is_limited: bool) -> Self {
        let seed = &engine.view.control().sampling_seed;
        Self {
            version: 0,
            stratum: None,
            owed_ns: 0,
            pace: Pace::default(),
            thread_starts: ThreadStarts::default(),
            random: Random::from(seed.load(Ordering::Relaxed)),
            observer: Observer::new(is_limited),
            governor: Governor::default(),
        }
    }

    /// Does what is due at `now`, by a clock in nanoseconds. Returns when there will be more to do, if
    /// ever.
    pub fn step(&mut self, engine: &Engine, now: u64) -> Option<u64> {
        let version = engine
            .view
            .control()
            .sampling_version
            .load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.end_early(engine, now);
            self.begin(engine, now, now);
        }
        let control = engine.view.control();
        if self.version == 0 || control.is_active() || control.has_exact_window() {
            return None;
        }
        let mut due = self.windows(engine, now);
        if let Some(at) = self.governor.step(engine, &mut self.observer, now) {
            // Its own changes wait for the end of the stratum, because they follow from its windows.
            let version = engine
                .view
                .control()
                .sampling_version
                .load(Ordering::Acquire);
            if version == self.version.wrapping_add(self.governor.take_changes()) {
                self.version = version;
            }
            if self.stratum.is_none() {
                self.begin(engine, now, now);
                due = self.windows(engine, now);
            }
            due = Some(due.map_or(at, |due| due.min(at)));
        }
        due
    }

    fn windows(&mut self, engine: &Engine, now: u64) -> Option<u64> {
        loop {
            let stratum = self.stratum.as_ref()?;
            let next = match &stratum.open {
                Some(window) => window.until,
                None => *stratum.starts.get(stratum.opened).unwrap_or(&stratum.end),
            };
            if now < next {
                return Some(next);
            }
            match (stratum.open.is_some(), stratum.opened) {
                (true, _) => self.close(engine, now),
                (false, WINDOWS_PER_STRATUM) => {
                    self.end(engine, now);
                    self.begin(engine, next, now);
                }
                (false, _) => self.open(engine, now),
            }
        }
    }

    /// Ends the stratum early, because rules were changed.
    fn end_early(&mut self, engine: &Engine, now: u64) {
        if self
            .stratum
            .as_ref()
            .is_some_and(|stratum| stratum.open.is_some())
        {
            self.close(engine, now);
        }
        if self.stratum.is_some() {
            self.end(engine, now);
        }
        self.stratum = None;
        self.owed_ns = 0;
    }

    /// Ends the stratum, whose windows are closed.
    fn end(&mut self, engine: &Engine, now: u64) {
        let statements = self.observer.statements(engine);
        self.pace.record(statements, now, None);
        self.observer.end_stratum(engine, self.pace.square());
    }

    /// Begins a stratum that was to begin at `planned`, unless nothing is sampled.
    fn begin(&mut self, engine: &Engine, planned: u64, now: u64) {
        let control = engine.view.control();
        let rates = match control.is_active() || control.has_exact_window() {
            true => [1; GROUPS],
            false => {
                (control.sampling.each_ref()).map(|n| n.load(Ordering::SeqCst).clamp(1, MAX_RATE))
            }
        };
        let in_windows = (0..GROUPS).filter(|group| has_windows(*group));
        let smallest = in_windows
            .map(|group| rates[group])
            .filter(|n| *n > 1)
            .min();
        let before = self.stratum.take().map(|before| before.weights());
        let Some(smallest) = smallest else {
            self.observer.begin_stratum(engine, rates, 1, u64::MAX, now);
            self.pace.rest();
            settings::observe(engine, rates);
            return settings::clear_weights(engine, rates);
        };
        // The governor needs to observe a rise soon.
        let every = match self.thread_starts.update(engine, now) && !governor::has_budget(engine) {
            true => LONG_INTERVAL_NS,
            false => INTERVAL_NS,
        };
        let length = (every / u64::from(smallest)).clamp(MIN_WINDOW_NS, MAX_WINDOW_NS);
        let slot_ns = length * 3 / 4 + self.random.below(length / 2);
        let slots = WINDOWS_PER_STRATUM as u64 * u64::from(smallest);
        let mut begin = planned;
        if now.saturating_sub(planned) > slot_ns {
            // A part in N of the time that was slept through should have been observed.
            self.owed_ns += ((now - planned) / u64::from(smallest)) as i64;
            begin = now;
        }
        let first = self.random.below(slots);
        let other = (first + 1 + self.random.below(slots - 1)) % slots;
        if !self.pace.has_record() {
            let statements = self.observer.statements(engine);
            self.pace.record(statements, now, None);
        }
        let window_ns = self.pace.window_ns(slots, slot_ns);
        let stratum = Stratum {
            rates,
            smallest,
            slot_ns,
            window_ns,
            starts: [
                begin + first.min(other) * slot_ns,
                begin + (first.max(other) - 1) * slot_ns + window_ns,
            ],
            end: begin + (slots - 2) * slot_ns + 2 * window_ns,
            opened: 0,
            open: None,
        };
        let length_ns = slots * slot_ns;
        self.observer
            .begin_stratum(engine, rates, smallest, length_ns, now);
        let weights = stratum.weights();
        if before != Some(weights) {
            settings::observe(engine, weights);
            settings::clear_weights(engine, weights);
        }
        self.stratum = Some(stratum);
    }

    fn open(&mut self, engine: &Engine, now: u64) {
        let Some(stratum) = &mut self.stratum else {
            return;
        };
        let smallest = u64::from(stratum.smallest);
        let is_in = stratum
            .rates
            .map(|n| n == stratum.smallest || n > 1 && self.random.below(u64::from(n)) < smallest);
        let slot_ns = stratum.slot_ns as i64;
        let owed = self.owed_ns.clamp(-slot_ns * 3 / 4, slot_ns * 3);
        let planned = stratum.starts[stratum.opened] + stratum.window_ns;
        let until = planned.saturating_add_signed(owed);
        stratum.open = Some(Window {
            since: now,
            until: until.max(now + stratum.slot_ns / 4),
            is_in,
        });
        stratum.opened += 1;
        self.observer.begin_window(engine, now);
        settings::observe(engine, stratum.weights());
        // Read after that, as at the close, so that the statements counted are those observed.
        let statements = self.observer.statements(engine);
        self.pace.record(statements, now, None);
    }

    fn close(&mut self, engine: &Engine, now: u64) {
        let Some(stratum) = &mut self.stratum else {
            return;
        };
        let Some(window) = stratum.open.take() else {
            return;
        };
        settings::observe(engine, stratum.weights());
        let lasted = now.saturating_sub(window.since);
        let statements = self.observer.statements(engine);
        let ended = self.pace.record(statements, now, Some(stratum.smallest));
        let owed = self.owed_ns + stratum.window_ns as i64 - lasted as i64;
        // An excess that cannot be compensated soon would affect another load.
        let most = 10 * stratum.slot_ns as i64;
        self.owed_ns = owed.clamp(-most, most);
        let about = ClosedWindow {
            is_in: window.is_in,
            ns: lasted,
            statements: ended,
        };
        self.observer.end_window(engine, about, now);
    }
}

/// Whether threads come and go, as those of clients do that connect for each query.
#[derive(Default)]
struct ThreadStarts {
    /// The id of the next thread at the last update, and its time.
    last: (u64, u64),
    are_many: bool,
}

/// Threads per second from which on they count as coming and going.
const MANY_PER_SECOND: u64 = 250;

impl ThreadStarts {
    /// Updates the rate, at intervals that are long enough. Returns whether it is high.
    fn update(&mut self, engine: &Engine, now: u64) -> bool {
        let next = engine
            .view
            .shared()
            .next_thread_id
            .0
            .load(Ordering::Relaxed);
        let (before, since) = self.last;
        let ns = now.saturating_sub(since);
        if ns >= INTERVAL_NS {
            let many = u128::from(MANY_PER_SECOND) * u128::from(ns) / 1_000_000_000;
            self.are_many = since != 0 && u128::from(next.saturating_sub(before)) >= many;
            self.last = (next, now);
        }
        self.are_many
    }
}
