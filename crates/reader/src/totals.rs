//! Sums over banks: by event name, for all threads, for each account, for one thread.
//!
//! Cells only grow, and a bank is only emptied when it is merged into another. `merge_sequence` is odd
//! meanwhile, and sums that were read then are read again. So a total never decreases, and is exact once the
//! load stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering, fence};
use std::time::{Duration, Instant};

use tare_layout::bank::{self, baseline};
use tare_layout::histogram::{BLOCK_BUCKETS, BLOCK_LINES, BLOCKS};
use tare_layout::line::{COUNT, HISTOGRAM, Line, TAG, Tag};
use tare_layout::slot::NO_BANK;
use tare_layout::{Kind, Region, View};

use crate::classes::Classes;
use crate::histogram::Histogram;
use crate::line::{Baselines, Cells, add, cells, initial_cells};
use crate::mapping;

/// The threads whose events a table counts. TRUNCATE of a table of one scope does not change other scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All threads, including those that have ended.
    Global,
    /// All threads of an account, including those that have ended.
    Account,
    /// All threads of a user: a sum of accounts.
    User,
    /// All threads of a host: a sum of accounts.
    Host,
    /// One live thread.
    Thread,
}

impl Scope {
    /// The baseline with the rows at the last truncation of a table of this scope.
    pub const fn baseline(self) -> usize {
        match self {
            Scope::Global => baseline::TRUNCATED_GLOBAL,
            Scope::Account => baseline::TRUNCATED_ACCOUNT,
            Scope::User => baseline::TRUNCATED_USER,
            Scope::Host => baseline::TRUNCATED_HOST,
            Scope::Thread => baseline::TRUNCATED_THREAD,
        }
    }
}

/// The classes to sum, and the offsets of their rows in the sum. Built once for many sums.
#[derive(Clone, Debug)]
pub struct Selection {
    wanted: Arc<[SelectedClass]>,
    /// First line + 1 by class, 0 = not wanted.
    first_lines: Arc<[u32]>,
    lines: usize,
}

#[derive(Clone, Copy, Debug)]
struct SelectedClass {
    class: u32,
    kind: Kind,
    /// First line in the sum.
    place: u32,
    /// The tag in the row's first cell.
    tag: u64,
}

impl Selection {
    /// The classes that `wanted` accepts.
    pub fn new(classes: &Classes, wanted: impl Fn(Kind) -> bool) -> Self {
        let mut first_lines = vec![0; classes.len()];
        let mut lines = 0;
        let mut selected = Vec::new();
        for class in classes.iter().filter(|class| wanted(class.kind)) {
            let tag = Tag::of_class(class.kind, class.id as u32);
            selected.push(SelectedClass {
                class: class.id as u32,
                kind: class.kind,
                place: lines as u32,
                tag: tag.pack(),
            });
            if let Some(place) = first_lines.get_mut(class.id) {
                *place = lines as u32 + 1;
            }
            lines += class.kind.row_lines();
        }
        Self {
            wanted: selected.into(),
            first_lines: first_lines.into(),
            lines,
        }
    }

    /// Whether a class is among them.
    pub fn has(&self, class: usize) -> bool {
        self.first_lines.get(class).is_some_and(|place| *place != 0)
    }
}

/// How many rows ahead memory is prefetched: about as many loads as a core keeps in flight.
const AHEAD: usize = 64;

/// The rows of one scope, by class.
#[derive(Clone, Debug)]
pub struct Totals {
    selection: Selection,
    lines: Vec<Cells>,
}

impl Totals {
    /// An empty sum.
    pub fn new(selection: &Selection) -> Self {
        let mut lines = Vec::with_capacity(selection.lines);
        for wanted in selection.wanted.iter() {
            lines.extend((0..wanted.kind.row_lines()).map(|i| initial_cells(wanted.kind, i)));
        }
        Self {
            selection: selection.clone(),
            lines,
        }
    }

    fn clear(&mut self) {
        for wanted in self.selection.wanted.iter() {
            let place = wanted.place as usize;
            for (i, line) in self.lines[place..][..wanted.kind.row_lines()]
                .iter_mut()
                .enumerate()
            {
                *line = initial_cells(wanted.kind, i);
            }
        }
    }

    /// The lines of a class's row; `None` if it never fired in this scope, or was not selected.
    /// [`tare_layout::line`] documents the cells; times are in ticks.
    pub fn row(&self, class: usize) -> Option<&[Cells]> {
        let place = self.selection.first_lines.get(class)?.checked_sub(1)? as usize;
        let tag = Tag::unpack(self.lines.get(place)?[TAG])?;
        self.lines.get(place..place + tag.lines)
    }

    /// The classes that fired and their rows, by number of the class.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[Cells])> {
        let wanted = self.selection.wanted.iter();
        wanted.filter_map(|wanted| Some((wanted.class as usize, self.row(wanted.class as usize)?)))
    }

    /// Adds another sum of the same selection (accounts of one user, say).
    pub fn add(&mut self, other: &Totals) {
        for wanted in self.selection.wanted.iter() {
            let Some(row) = other.row(wanted.class as usize) else {
                continue;
            };
            let place = wanted.place as usize;
            for (i, (sum, line)) in self.lines[place..].iter_mut().zip(row).enumerate() {
                add(wanted.kind, i, sum, line);
            }
            self.lines[place][TAG] = wanted.tag;
        }
    }

    /// Adds what one bank holds.
    fn add_bank(&mut self, bank: Bank<'_>) {
        let all = Arc::clone(&self.selection.wanted);
        for (i, wanted) in all.iter().enumerate() {
            // Rows are a few lines apart, on thousands of pages: without prefetching, each load would wait
            // for the one before.
            if let Some(next) = all.get(i + AHEAD) {
                bank.prefetch(next);
            }
            if let Some(at) = bank.row_of(wanted) {
                self.add_row(&bank, wanted, at);
            }
        }
    }

    #[inline]
    fn add_row(&mut self, bank: &Bank<'_>, wanted: &SelectedClass, at: usize) {
        let lines = wanted.kind.row_lines();
        let place = wanted.place as usize;
        let sums = &mut self.lines[place..place + lines];
        sums[0][TAG] = wanted.tag;
        if wanted.kind == Kind::Memory {
            let now = [cells(&bank.arena[at]), cells(&bank.arena[at + 1])];
            let rows = bank.baselines.memory_lines(at, now);
            for (i, (sum, line)) in sums.iter_mut().zip(&rows).enumerate() {
                add(wanted.kind, i, sum, line);
            }
            return;
        }
        if let Some(frozen) = bank.frozen {
            for (i, sum) in sums.iter_mut().enumerate() {
                let line = bank.frozen_line(frozen, wanted.kind, i, at + i);
                add(wanted.kind, i, sum, &line);
            }
            return;
        }
        for (i, sum) in sums.iter_mut().enumerate() {
            let line = &bank.arena[at + i];
            if wanted.kind.is_time_line(i)
                && bank.baselines.add_plain(wanted.kind, at + i, line, sum)
            {
                continue;
            }
            let now = cells(line);
            add(wanted.kind, i, sum, &bank.line(wanted.kind, i, at + i, now));
        }
    }

    /// The counts since an earlier reading. Counts and sums are subtracted; extremes are those of all time
    /// where they changed, and unknown (none) where they did not.
    pub fn since(&self, earlier: &Totals) -> Totals {
        let mut delta = self.clone();
        for wanted in self.selection.wanted.iter() {
            let Some(before) = earlier.row(wanted.class as usize) else {
                continue;
            };
            let place = wanted.place as usize;
            for (i, (line, before)) in delta.lines[place..].iter_mut().zip(before).enumerate() {
                crate::line::subtract(wanted.kind, i, line, before);
            }
        }
        delta
    }
}

/// A bank in one scope.
#[derive(Clone, Copy)]
struct Bank<'a> {
    view: View<'a>,
    number: usize,
    index: &'a [AtomicU16],
    arena: &'a [Line],
    baselines: Baselines<'a>,
    /// The baseline to read in place of the rows while sums of this scope are frozen.
    frozen: Option<&'a [Line]>,
    baseline: usize,
}

impl<'a> Bank<'a> {
    fn new(view: View<'a>, number: usize, scope: Scope, baselines: u32) -> Self {
        let baseline = scope.baseline();
        let truncated = baselines & 1 << baseline != 0;
        let frozen = scope != Scope::Global && baselines & 1 << baseline::FROZEN != 0;
        Self {
            view,
            number,
            index: view.class_index(number),
            arena: view.arena(number),
            baselines: Baselines {
                base: view.baseline(baseline::OWNER, number),
                base_used: &view.bank(number).base_used,
                truncated: truncated.then(|| view.baseline(baseline, number)),
                of_thread: scope == Scope::Thread,
            },
            frozen: frozen.then(|| view.baseline(baseline::FROZEN, number)),
            baseline,
        }
    }

    /// The first line of a class's row in the arena, if the bank has one.
    #[inline]
    fn row_of(&self, wanted: &SelectedClass) -> Option<usize> {
        // Acquire: a row that is found here is complete.
        let entry = self
            .index
            .get(wanted.class as usize)?
            .load(Ordering::Acquire);
        let at = match self.baselines.of_thread {
            true => bank::awake_line_of(entry),
            false => bank::line_of(entry),
        };
        if at == 0 {
            return None;
        }
        let fits = at + wanted.kind.row_lines() <= self.arena.len();
        (fits && self.arena[at].get(TAG) == wanted.tag).then_some(at)
    }

    /// Prefetches the row of a class that will be read soon.
    #[inline]
    fn prefetch(&self, wanted: &SelectedClass) {
        let at = self
            .index
            .get(wanted.class as usize)
            .map_or(0, |entry| bank::line_of(entry.load(Ordering::Relaxed)));
        if let Some(line) = self.arena.get(at) {
            mapping::prefetch(line);
        }
    }

    #[inline]
    fn line(&self, kind: Kind, i: usize, at: usize, now: Cells) -> Cells {
        if kind.is_time_line(i) {
            let blocks = now[HISTOGRAM];
            self.baselines.time_line(kind, at, now, || {
                let mut histogram = Histogram::default();
                self.add_histogram(blocks, Some(self.baseline), &mut histogram);
                histogram
            })
        } else if kind == Kind::Error {
            self.baselines.error_line(at, now)
        } else {
            self.baselines.counter_line(at, now)
        }
    }

    /// The value of a line while sums of this scope are frozen.
    #[cold]
    fn frozen_line(&self, frozen: &[Line], kind: Kind, i: usize, at: usize) -> Cells {
        let Some(then) = frozen.get(at).map(cells) else {
            return initial_cells(kind, i);
        };
        if !kind.is_time_line(i) {
            return self.line(kind, i, at, then);
        }
        let live = cells(&self.arena[at]);
        self.baselines.frozen_time_line(kind, at, then, live, || {
            let mut histogram = Histogram::default();
            self.add_histogram(live[HISTOGRAM], Some(self.baseline), &mut histogram);
            histogram
        })
    }

    /// Adds the blocks that a line names, less their values in a baseline.
    fn add_histogram(&self, blocks: u64, less: Option<usize>, histogram: &mut Histogram) {
        for block in 0..BLOCKS {
            let at = usize::from((blocks >> (16 * block)) as u16);
            if at == 0 || at + BLOCK_LINES > self.arena.len() {
                continue;
            }
            let now = match self.frozen {
                Some(_) => self.view.baseline_block(baseline::FROZEN, self.number, at),
                None => self.view.block(self.number, at),
            };
            let then = less.map(|baseline| self.view.baseline_block(baseline, self.number, at));
            let sums = &mut histogram.counts[block * BLOCK_BUCKETS..][..BLOCK_BUCKETS];
            for (i, sum) in sums.iter_mut().enumerate() {
                let before = then.map_or(0, |then| then[i].load(Ordering::Relaxed));
                // 32 bits that may have wrapped since.
                let since = now[i].load(Ordering::Relaxed).wrapping_sub(before);
                *sum = sum.wrapping_add(u64::from(since));
            }
        }
    }
}

/// Banks ever used.
pub(crate) fn banks_used(view: View<'_>) -> usize {
    let limit = view.geometry().region(Region::Banks).count;
    let used = view.shared().banks_used.0.load(Ordering::Acquire) as usize;
    used.min(limit)
}

/// Whether a bank belongs to a thread that logs in. Its counts by class move to its account's bank later;
/// they are hidden until then, so that they are never counted twice.
pub(crate) fn is_logging_in(view: View<'_>, bank: usize) -> bool {
    let account = view.bank(bank).account.load(Ordering::Acquire) as usize;
    account == view.geometry().nobody() + 1
}

/// The banks that are summed by class.
fn summed_banks(view: View<'_>) -> impl Iterator<Item = usize> {
    (0..banks_used(view)).filter(move |bank| !is_logging_in(view, *bank))
}

/// How long a reader waits for a merge without progress before it reads all the same. A merge copies at most
/// half a megabyte; a writer that was killed in one leaves the sequence odd for ever.
const MERGE_TIMEOUT: Duration = Duration::from_millis(200);

/// How long it waits for several merges in a row.
const MERGES_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs `read` until no two banks were merged while it ran.
pub(crate) fn unmerged<T>(view: View<'_>, live: bool, mut read: impl FnMut() -> T) -> T {
    let sequence = &view.shared().merge_sequence.0;
    let begin = Instant::now();
    let (mut last, mut since) = (sequence.load(Ordering::Acquire), begin);
    loop {
        let before = sequence.load(Ordering::Acquire);
        if before != last {
            (last, since) = (before, Instant::now());
        }
        let in_time = since.elapsed() < MERGE_TIMEOUT && begin.elapsed() < MERGES_TIMEOUT;
        let may_wait = live && in_time;
        if before.is_multiple_of(2) || !may_wait {
            let result = read();
            fence(Ordering::Acquire);
            if !may_wait || sequence.load(Ordering::Relaxed) == before {
                return result;
            }
        }
        std::thread::yield_now();
    }
}

/// Sums over the banks of a segment.
#[derive(Clone, Copy)]
pub struct Banks<'a> {
    view: View<'a>,
    live: bool,
}

impl<'a> Banks<'a> {
    /// The banks of the segment behind `view`; `live` = it is still being written.
    pub fn new(view: View<'a>, live: bool) -> Self {
        Self { view, live }
    }

    /// Runs `read` until no two banks were merged while it ran, for counts that are not summed here
    /// (instances, digests).
    pub fn unmerged<T>(&self, read: impl FnMut() -> T) -> T {
        unmerged(self.view, self.live, read)
    }

    pub(crate) fn view(&self) -> View<'a> {
        self.view
    }

    /// The number of banks that were ever used.
    pub fn count(&self) -> usize {
        banks_used(self.view)
    }

    /// The items of a bank below [`Banks::count`], with their first lines.
    pub fn items(&self, bank: usize) -> impl Iterator<Item = (usize, Tag)> + 'a {
        let used = self.view.bank(bank).used.load(Ordering::Acquire) as usize;
        crate::truncate::items(self.view.arena(bank), used)
    }

    /// The histogram of time line `at` of a bank, of all time.
    pub fn line_histogram(&self, bank: usize, at: usize) -> Histogram {
        let mut histogram = Histogram::default();
        let bank = Bank::new(self.view, bank, Scope::Global, 0);
        if let Some(line) = bank.arena.get(at) {
            bank.add_histogram(line.get(HISTOGRAM), None, &mut histogram);
        }
        histogram
    }

    fn baselines(&self) -> u32 {
        let used = self.view.control().baselines_used.load(Ordering::Acquire);
        match crate::freeze::is_frozen(self.view) {
            true => used,
            false => used & !(1 << baseline::FROZEN),
        }
    }

    /// All threads together.
    pub fn global(&self, selection: &Selection) -> Totals {
        let mut totals = Totals::new(selection);
        self.global_into(&mut totals);
        totals
    }

    /// As [`Banks::global`], into an existing sum, whose memory is reused.
    pub fn global_into(&self, totals: &mut Totals) {
        unmerged(self.view, self.live, || {
            totals.clear();
            let baselines = self.baselines();
            for number in summed_banks(self.view) {
                totals.add_bank(Bank::new(self.view, number, Scope::Global, baselines));
            }
        });
    }

    /// Each account, by number; `None` for an account that never had a bank.
    pub fn accounts(&self, selection: &Selection) -> Vec<Option<Totals>> {
        self.accounts_of(Scope::Account, selection)
    }

    /// As [`Banks::accounts`], in another scope: users and hosts are sums of accounts, but are truncated
    /// separately.
    pub fn accounts_of(&self, scope: Scope, selection: &Selection) -> Vec<Option<Totals>> {
        let limit = self.view.geometry().limits.accounts;
        unmerged(self.view, self.live, || {
            let mut accounts: Vec<Option<Totals>> = Vec::new();
            let baselines = self.baselines();
            for number in 0..banks_used(self.view) {
                let account = self.view.bank(number).account.load(Ordering::Acquire) as usize;
                let Some(account) = account.checked_sub(1).filter(|i| *i < limit) else {
                    continue;
                };
                if accounts.len() <= account {
                    accounts.resize(account + 1, None);
                }
                accounts[account]
                    .get_or_insert_with(|| Totals::new(selection))
                    .add_bank(Bank::new(self.view, number, scope, baselines));
            }
            accounts
        })
    }

    /// The counts of the thread in `slot` since it began; `None` if it has ended or moves to another bank
    /// just now. `bank` is the slot's number of its bank: a thread that has counted nothing has none.
    pub fn thread(&self, selection: &Selection, slot: usize, bank: usize) -> Option<Totals> {
        if bank == NO_BANK as usize {
            return Some(Totals::new(selection));
        }
        if bank >= banks_used(self.view) {
            return None;
        }
        let owner = self.view.bank(bank);
        let mut totals = Totals::new(selection);
        for _ in 0..MAX_TURN_READS {
            let sequence = owner.sequence.load(Ordering::Acquire);
            if owner.slot.load(Ordering::Relaxed) as usize != slot + 1 {
                return None;
            }
            if sequence.is_multiple_of(2) {
                totals.clear();
                totals.add_bank(Bank::new(self.view, bank, Scope::Thread, self.baselines()));
                fence(Ordering::Acquire);
                if owner.sequence.load(Ordering::Relaxed) == sequence {
                    return Some(totals);
                }
            }
            std::thread::yield_now();
        }
        None
    }

    /// The latency histograms of the selected classes, by class, of all threads; all operations of a
    /// class together.
    pub fn histograms(&self, selection: &Selection) -> Vec<Option<Histogram>> {
        let all = |_: usize| true;
        self.histograms_of(selection, all)
    }

    /// The latency histogram of one class.
    pub fn histogram(&self, selection: &Selection, class: usize) -> Option<Histogram> {
        let mut histograms = self.histograms_of(selection, |id| id == class);
        histograms.get_mut(class).and_then(Option::take)
    }

    fn histograms_of(
        &self,
        selection: &Selection,
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Option<Histogram>> {
        unmerged(self.view, self.live, || {
            let mut all: Vec<Option<Histogram>> = vec![None; selection.first_lines.len()];
            let mut counts = vec![0u64; all.len()];
            let baselines = self.baselines();
            let truncated = baselines & 1 << baseline::TRUNCATED_GLOBAL != 0;
            let less = truncated.then_some(baseline::TRUNCATED_GLOBAL);
            for number in summed_banks(self.view) {
                let bank = Bank::new(self.view, number, Scope::Global, baselines);
                for class in selection.wanted.iter() {
                    let id = class.class as usize;
                    let Some(at) = wanted(id).then(|| bank.row_of(class)).flatten() else {
                        continue;
                    };
                    let sum = all[id].get_or_insert_default();
                    for i in (0..class.kind.row_lines()).filter(|i| class.kind.is_time_line(*i)) {
                        let line = &bank.arena[at + i];
                        bank.add_histogram(line.get(HISTOGRAM), less, sum);
                        counts[id] = counts[id].saturating_add(line.get(COUNT));
                    }
                }
            }
            if !truncated {
                self.add_spill(&mut all, &counts);
            }
            all
        })
    }

    /// Adds counts beyond 32 bits. (After a truncation a bank's bucket is a difference, which is
    /// right for 2^32 events; the spill row is of all time.)
    fn add_spill(&self, all: &mut [Option<Histogram>], counts: &[u64]) {
        for (class, histogram) in all.iter_mut().enumerate() {
            // A bucket spills at 2^32 events. Before that the row's page is not allocated, and reading it
            // would allocate it.
            let Some(histogram) = histogram.as_mut().filter(|_| counts[class] >> 32 != 0) else {
                continue;
            };
            for (sum, more) in histogram.counts.iter_mut().zip(self.view.spill(class)) {
                *sum = sum.wrapping_add(more.load(Ordering::Relaxed));
            }
        }
    }
}

/// How often a thread's counts are read again because its bank changes its thread. That takes one or two
/// microseconds, and is rare.
const MAX_TURN_READS: usize = 64;
