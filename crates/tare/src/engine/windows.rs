//! Windows of time: what is sampled is observed while one is open, by all threads at once. See docs/sampling.md.
//!
//! | | weight in [`NOW`](super::running::NOW) | words of waits and transactions |
//! |---|---|---|
//! | not sampled | 1 | the generation |
//! | in a window | N | the generation |
//! | outside | 0 | 0 |
//!
//! [`Windows::step`] does what is due. It is given the time, so that a test can be the clock.

use std::sync::atomic::Ordering;

use tare_layout::sampling::{GROUPS, MAX_RATE, has_windows};

use super::governor::{self, Governor};
use super::observed::{Closed, Observer};
use super::pace::Pace;
use super::random::Random;
use super::settings;
use super::state::Engine;

/// So often there is a window, in the mean: what its rows gained is summed each time, and two of these make a
/// standard error's summand.
const EVERY_NS: u64 = 80_000_000;
/// The same where [threads come and go](Births). A thread that meets a window has to tell what it counts there from
/// what others counted before it, once for each row. Longer windows, as much rarer, meet fewer threads.
const RARELY_NS: u64 = 640_000_000;
/// No window is shorter: opening and closing one takes some 20 µs, and the system wakes a thread that late.
const SHORTEST_NS: u64 = 2_000_000;
/// No window is longer: a load has phases.
const LONGEST_NS: u64 = 40_000_000;

/// Windows in a stratum: as few as tell their variance.
const PAIR: usize = 2;

/// N of each group.
pub(super) type Rates = [u32; GROUPS];

/// When windows open and close.
pub(super) struct Windows {
    /// Of the rules, as last seen.
    version: u32,
    stratum: Option<Stratum>,
    /// What windows were too short (or, below zero, too long) so far.
    owed_ns: i64,
    pace: Pace,
    births: Births,
    random: Random,
    observer: Observer,
    governor: Governor,
}

/// 2 N slots of which two are windows.
struct Stratum {
    rates: Rates,
    /// The smallest N above 1, which the slots are for.
    smallest: u32,
    slot_ns: u64,
    /// How long windows are to be: as long as a slot is while nothing is observed.
    window_ns: u64,
    starts: [u64; PAIR],
    end: u64,
    /// Windows that were opened.
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
    /// What events weigh that begin now.
    fn weights(&self) -> Rates {
        std::array::from_fn(|group| match (self.rates[group], &self.open) {
            (n, _) if n == 1 || !has_windows(group) => n,
            (n, Some(window)) if window.is_in[group] => n,
            _ => 0,
        })
    }
}

impl Windows {
    /// `is_limited`: summing rows is to take little of the processor's time.
    pub fn new(engine: &Engine, is_limited: bool) -> Self {
        let seed = &engine.view.control().sampling_seed;
        Self {
            version: 0,
            stratum: None,
            owed_ns: 0,
            pace: Pace::default(),
            births: Births::default(),
            random: Random::from(seed.load(Ordering::Relaxed)),
            observer: Observer::new(is_limited),
            governor: Governor::default(),
        }
    }

    /// Does what is due at `now`, by a clock of nanoseconds; when there will be more to do, if ever.
    pub fn step(&mut self, engine: &Engine, now: u64) -> Option<u64> {
        let version = engine
            .view
            .control()
            .sampling_version
            .load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.cut(engine, now);
            self.begin(engine, now, now);
        }
        if self.version == 0 {
            return None;
        }
        let mut due = self.windows(engine, now);
        if let Some(at) = self.governor.step(engine, &mut self.observer, now) {
            // Its own changes wait for the stratum's end, for they follow from what the windows showed.
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
                (false, PAIR) => {
                    self.end(engine, now);
                    self.begin(engine, next, now);
                }
                (false, _) => self.open(engine, now),
            }
        }
    }

    /// Ends the stratum, wherever it is: rules were changed.
    fn cut(&mut self, engine: &Engine, now: u64) {
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

    /// The stratum's windows are closed, and it is over.
    fn end(&mut self, engine: &Engine, now: u64) {
        let statements = self.observer.statements(engine);
        self.pace.tell(statements, now, None);
        self.observer.end_stratum(engine, self.pace.square());
    }

    /// Begins a stratum that was to begin at `planned`; none, if nothing is sampled.
    fn begin(&mut self, engine: &Engine, planned: u64, now: u64) {
        let control = engine.view.control();
        let rates =
            (control.sampling.each_ref()).map(|n| n.load(Ordering::SeqCst).clamp(1, MAX_RATE));
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
            return settings::weigh_no_more(engine, rates);
        };
        // The governor is to see what has risen soon.
        let every = match self.births.are_many(engine, now) && !governor::has_budget(engine) {
            true => RARELY_NS,
            false => EVERY_NS,
        };
        let length = (every / u64::from(smallest)).clamp(SHORTEST_NS, LONGEST_NS);
        let slot_ns = length * 3 / 4 + self.random.below(length / 2);
        let slots = PAIR as u64 * u64::from(smallest);
        let mut begin = planned;
        if now.saturating_sub(planned) > slot_ns {
            // Of the time that was slept through a part in N should have been observed.
            self.owed_ns += ((now - planned) / u64::from(smallest)) as i64;
            begin = now;
        }
        let first = self.random.below(slots);
        let other = (first + 1 + self.random.below(slots - 1)) % slots;
        if !self.pace.is_told() {
            let statements = self.observer.statements(engine);
            self.pace.tell(statements, now, None);
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
            settings::weigh_no_more(engine, weights);
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
        // After that, as when it closes: as many statements are counted as are observed.
        let statements = self.observer.statements(engine);
        self.pace.tell(statements, now, None);
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
        let ended = self.pace.tell(statements, now, Some(stratum.smallest));
        let owed = self.owed_ns + stratum.window_ns as i64 - lasted as i64;
        // What cannot be made up for soon would fall on another load.
        let most = 10 * stratum.slot_ns as i64;
        self.owed_ns = owed.clamp(-most, most);
        let about = Closed {
            is_in: window.is_in,
            ns: lasted,
            statements: ended,
        };
        self.observer.end_window(engine, about, now);
    }
}

/// Whether threads come and go, as those of clients do that connect for each query.
#[derive(Default)]
struct Births {
    /// The next thread's id, and when it was.
    last: (u64, u64),
    are_many: bool,
}

/// Threads that begin in a second where they come and go.
const MANY: u64 = 250;

impl Births {
    /// As of late: what began in less time than there is a window says little.
    fn are_many(&mut self, engine: &Engine, now: u64) -> bool {
        let next = engine
            .view
            .shared()
            .next_thread_id
            .0
            .load(Ordering::Relaxed);
        let (before, since) = self.last;
        let ns = now.saturating_sub(since);
        if ns >= EVERY_NS {
            let many = u128::from(MANY) * u128::from(ns) / 1_000_000_000;
            self.are_many = since != 0 && u128::from(next.saturating_sub(before)) >= many;
            self.last = (next, now);
        }
        self.are_many
    }
}
