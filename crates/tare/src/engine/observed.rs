//! Events observed in windows, by class, and their variance: sums over all banks when a window closes,
//! at no cost for events.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::bank::line_of;
use tare_layout::line::{COUNT, SUM};
use tare_layout::sampling::{GROUPS, Sample, group_of, has_windows};

use super::clock;
use super::state::Engine;
use super::variance::{Shares, variance};
use super::windows::Rates;

/// Summing takes at most this fraction of one processor's time.
const MAX_CPU_FRACTION: u64 = 500;
/// Sums for a stratum that is measured: one before it and one in each of its windows.
const SUMS_PER_STRATUM: u64 = 3;

/// Count and ticks of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    count: u64,
    sum: u64,
}

/// A class's row in a bank.
#[derive(Clone, Copy)]
struct Row {
    class: u16,
    line: u16,
    lines: u8,
}

/// The rows of a bank when `used` of its lines were in use.
#[derive(Default)]
struct Rows {
    used: u32,
    rows: Vec<Row>,
    /// First lines of statements' rows.
    statements: Vec<u16>,
}

/// Events of a group since they were taken last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupEvents {
    /// Events observed.
    pub events: f64,
    /// Nanoseconds in which they could be observed.
    pub ns: f64,
}

/// A window that has closed.
pub(super) struct ClosedWindow {
    /// The groups that were observed in it.
    pub is_in: [bool; GROUPS],
    pub ns: u64,
    /// Statements that ended in it.
    pub statements: u64,
}

/// See the module.
pub(super) struct Observer {
    is_limited: bool,
    rates: Rates,
    smallest: u32,
    stratum_ns: u64,
    /// By class, at the last sum.
    totals: Vec<Total>,
    /// By class, the gains in each window of the stratum.
    gained: [Vec<Total>; 2],
    /// Statements that ended in each window.
    ended: [u64; 2],
    shares: Shares,
    /// Windows of the stratum that have closed.
    closed: usize,
    banks: Vec<Rows>,
    merges: u32,
    /// One stratum of this number is measured.
    one_in: u64,
    /// Strata until the next one that is measured.
    left: u64,
    /// Windows since the last sum.
    unsummed: u64,
    summed_at: u64,
    /// The rates have changed since the last sum.
    is_stale: bool,
    open_ns: [u64; GROUPS],
    by_group: [GroupEvents; GROUPS],
}

impl Observer {
    pub fn new(is_limited: bool) -> Self {
        Self {
            is_limited,
            rates: [1; GROUPS],
            smallest: 1,
            stratum_ns: 0,
            totals: Vec::new(),
            gained: [const { Vec::new() }; 2],
            ended: [0; 2],
            shares: Shares::default(),
            closed: 0,
            banks: Vec::new(),
            merges: 0,
            one_in: 1,
            left: 0,
            unsummed: 0,
            summed_at: 0,
            is_stale: true,
            open_ns: [0; GROUPS],
            by_group: [GroupEvents::default(); GROUPS],
        }
    }

    fn measures(&self) -> bool {
        self.left == 0
    }

    /// Begins a stratum; with rates that are all 1, a time without windows.
    pub fn begin_stratum(
        &mut self,
        engine: &Engine,
        rates: Rates,
        smallest: u32,
        length_ns: u64,
        now: u64,
    ) {
        self.is_stale |= rates != self.rates;
        if self.measures() && self.unsummed != 0 && !self.is_stale {
            // Gains in strata that were not measured do not belong to this one.
            self.sum_banks(engine, now);
        }
        (self.rates, self.smallest, self.stratum_ns) = (rates, smallest, length_ns);
        self.closed = 0;
        self.gained.iter_mut().for_each(Vec::clear);
        self.ended = [0; 2];
    }

    /// A window opens.
    pub fn begin_window(&mut self, engine: &Engine, now: u64) {
        if self.is_stale && self.measures() {
            // Separates the gains from here on from those at other rates.
            self.sum_banks(engine, now);
        }
    }

    /// A window has closed.
    pub fn end_window(&mut self, engine: &Engine, window: ClosedWindow, now: u64) {
        for (open, is_in) in self.open_ns.iter_mut().zip(window.is_in) {
            *open += if is_in { window.ns } else { 0 };
        }
        self.ended[self.closed.min(1)] = window.statements;
        self.unsummed += 1;
        if self.measures() {
            self.sum_banks(engine, now);
        }
        self.closed += 1;
    }

    /// Ends the stratum, complete or not. The difference between its windows estimates the error of its
    /// total, except for the part that comes from different numbers of statements: windows are steered
    /// so that their statements match the total, with an error whose square is `unbalanced`.
    pub fn end_stratum(&mut self, engine: &Engine, unbalanced: f64) {
        if !self.measures() {
            self.left -= 1;
            return;
        }
        let ended = (self.ended).map(|ended| ended as f64 * f64::from(self.smallest));
        self.shares.begin(self.totals.len(), ended);
        for class in 0..self.totals.len() {
            let Some(group) = engine.kind_of(class).and_then(group_of) else {
                continue;
            };
            let n = self.rates[group];
            if n == 1 || !has_windows(group) {
                continue;
            }
            let gained = (self.gained.each_ref())
                .map(|gained| gained.get(class).copied().unwrap_or_default());
            let [counts, sums] = [
                gained.map(|gain| gain.count as f64),
                gained.map(|gain| gain.sum as f64),
            ];
            let [count, sum] = self.shares.of_statement(class, counts, sums);
            // Windows are not steered for groups that are observed in only some of them.
            let [count, sum] = match n == self.smallest {
                true => [count, sum],
                false => [0.0; 2],
            };
            let variance = |gained: [f64; 2], of_statement: f64| {
                let left = [0, 1].map(|window| gained[window] - ended[window] * of_statement);
                self.one_in as f64 * variance(n, self.smallest, left)
            };
            let open = |of_statement: f64| unbalanced * of_statement * of_statement;
            let line = engine.view.sample(class);
            let before = Sample::read(&line.cells);
            let now = Sample {
                count_variance: before.count_variance + variance(counts, count),
                sum_variance: before.sum_variance + variance(sums, sum),
                count_open: open(count),
                sum_open: open(sum),
                strata: before.strata + u64::from(counts != [0.0; 2]),
                ..before
            };
            if now != before {
                now.store(line);
            }
        }
        self.left = self.one_in - 1;
    }

    /// The exact number of statements that ended since the engine began; `None` while banks merge
    /// continuously.
    pub fn statements(&mut self, engine: &Engine) -> Option<u64> {
        let shared = engine.view.shared();
        let classes = shared.classes_used.0.load(Ordering::Acquire) as usize;
        self.settled(engine, |observer| {
            observer.for_banks(engine, classes, |number, rows| {
                let arena = engine.view.arena(number);
                let counts = rows
                    .statements
                    .iter()
                    .map(|line| arena[usize::from(*line)].get(COUNT));
                counts.fold(0, u64::wrapping_add)
            })
        })
        .ok()
    }

    /// The result of `sum` while no banks merge: merging banks would be summed in part, or twice. `Err`
    /// with the last result, if they merge three times in a row.
    fn settled<T>(&mut self, engine: &Engine, mut sum: impl FnMut(&mut Self) -> T) -> Result<T, T> {
        let merges = &engine.view.shared().merge_sequence.0;
        let mut tries = 0;
        loop {
            let before = merges.load(Ordering::Acquire);
            if before != self.merges {
                self.banks.clear();
                self.merges = before;
            }
            let all = sum(self);
            std::sync::atomic::fence(Ordering::Acquire);
            tries += 1;
            if before & 1 == 0 && merges.load(Ordering::Relaxed) == before {
                return Ok(all);
            }
            if tries == 3 {
                return Err(all);
            }
        }
    }

    /// The sum of `sum` over all banks.
    fn for_banks(
        &mut self,
        engine: &Engine,
        classes: usize,
        mut sum: impl FnMut(usize, &Rows) -> u64,
    ) -> u64 {
        let used = engine.view.shared().banks_used.0.load(Ordering::Acquire) as usize;
        let banks = used.min(engine.view.geometry().banks());
        let banks_used = banks.max(self.banks.len());
        self.banks.resize_with(banks_used, Rows::default);
        let mut all = 0u64;
        let nobodys = engine.view.geometry().nobody() as u32 + 1;
        for (number, rows) in self.banks.iter_mut().enumerate().take(banks) {
            // These counts will be moved to another bank, and summed there.
            if engine.view.bank(number).account.load(Ordering::Acquire) == nobodys {
                continue;
            }
            rows.learn(engine, number, classes);
            all = all.wrapping_add(sum(number, rows));
        }
        all
    }

    /// Takes the events of each group since the last call.
    pub fn take_observed(&mut self, engine: &Engine, now: u64) -> [GroupEvents; GROUPS] {
        if self.rates.contains(&1) {
            self.sum_banks(engine, now);
        }
        std::mem::take(&mut self.by_group)
    }

    /// Sums all banks: the gains belong to the window that is open or closed last.
    fn sum_banks(&mut self, engine: &Engine, now: u64) {
        let began = clock::monotonic_ns();
        let gained = self.gain(engine);
        let elapsed = now.saturating_sub(std::mem::replace(&mut self.summed_at, now));
        let open_ns = std::mem::take(&mut self.open_ns);
        let unsummed = std::mem::take(&mut self.unsummed);
        if std::mem::take(&mut self.is_stale) {
            return;
        }
        let window = &mut self.gained[self.closed.min(1)];
        window.resize(gained.len().max(window.len()), Total::default());
        for (group, events) in self.by_group.iter_mut().enumerate() {
            events.ns += match self.rates[group] {
                n if n > 1 && has_windows(group) => open_ns[group] as f64,
                _ => elapsed as f64,
            };
        }
        for (class, gain) in gained
            .iter()
            .enumerate()
            .filter(|(_, gain)| gain.count != 0)
        {
            let Some(group) = engine.kind_of(class).and_then(group_of) else {
                continue;
            };
            if !has_windows(group) {
                // Its rows contain their own variances.
                self.by_group[group].events += gain.count as f64;
                continue;
            }
            window[class].count = window[class].count.wrapping_add(gain.count);
            window[class].sum = window[class].sum.wrapping_add(gain.sum);
            let n = u64::from(self.rates[group]);
            self.by_group[group].events += gain.count as f64 / n as f64;
            if n > 1 {
                add(
                    engine,
                    class,
                    Sample {
                        events: (gain.count + n / 2) / n,
                        windows: unsummed,
                        weighted: gain.count,
                        ..Sample::default()
                    },
                );
            }
        }
        if self.is_limited && self.smallest > 1 {
            let took = clock::monotonic_ns().saturating_sub(began);
            self.one_in = (SUMS_PER_STRATUM * MAX_CPU_FRACTION * took)
                .div_ceil(self.stratum_ns.max(1))
                .clamp(1, 1000);
        }
    }

    /// The gains of each class since the last sum.
    fn gain(&mut self, engine: &Engine) -> Vec<Total> {
        // A wrong sum spoils only one summand of a variance.
        let (Ok(sums) | Err(sums)) = self.settled(engine, |observer| observer.sums(engine));
        self.totals
            .resize(sums.len().max(self.totals.len()), Total::default());
        let gain = |(now, before): (&Total, &Total)| Total {
            count: now.count.saturating_sub(before.count),
            sum: now.sum.saturating_sub(before.sum),
        };
        let gained = sums.iter().zip(&self.totals).map(gain).collect();
        self.totals = sums;
        gained
    }

    fn sums(&mut self, engine: &Engine) -> Vec<Total> {
        let shared = engine.view.shared();
        let classes = shared.classes_used.0.load(Ordering::Acquire) as usize;
        let mut sums = vec![Total::default(); classes.max(self.totals.len())];
        self.for_banks(engine, classes, |number, rows| {
            let arena = engine.view.arena(number);
            for row in &rows.rows {
                let first = usize::from(row.line);
                for line in &arena[first..first + usize::from(row.lines)] {
                    let sum = &mut sums[usize::from(row.class)];
                    sum.count = sum.count.wrapping_add(line.get(COUNT));
                    sum.sum = sum.sum.wrapping_add(line.get(SUM));
                }
            }
            0
        });
        sums
    }
}

impl Rows {
    /// Lists the rows of sampled kinds, if there may be new ones.
    fn learn(&mut self, engine: &Engine, number: usize, classes: usize) {
        let used = engine.view.bank(number).used.load(Ordering::Acquire);
        if used == self.used {
            return;
        }
        self.used = used;
        self.rows.clear();
        self.statements.clear();
        let index = engine.view.class_index(number);
        for (class, entry) in index.iter().enumerate().take(classes) {
            let line = line_of(entry.load(Ordering::Acquire));
            let kind = (line != 0).then(|| engine.kind_of(class)).flatten();
            if kind == Some(Kind::Statement) {
                self.statements.push(line as u16);
            }
            if let Some(kind) = kind.filter(|kind: &Kind| group_of(*kind).is_some()) {
                self.rows.push(Row {
                    class: class as u16,
                    line: line as u16,
                    // The first line of memory has allocations and bytes in place of events and ticks.
                    lines: kind.time_lines().max(1) as u8,
                });
            }
        }
    }
}

/// Adds to a class's sample. Only this thread writes it.
fn add(engine: &Engine, class: usize, more: Sample) {
    let line = engine.view.sample(class);
    Sample::read(&line.cells).plus(more).store(line);
}
