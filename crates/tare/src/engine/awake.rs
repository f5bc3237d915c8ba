//! Awake rows: the rows of a bank in which its present thread has counted.
//!
//! A row of another thread is dormant: the present thread has no counts there. When the thread first
//! counts in it, the row's values become the base from which the thread's own figures are computed. So
//! the cost of taking a bank depends on how much of it is used. The next thread is likely to count
//! where this one did: those rows get their base when the thread leaves, while they are in the caches,
//! and are awake for the next thread from its beginning.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering, fence};

use tare_layout::bank::{DORMANT, baseline, line_of};
use tare_layout::line::{CELLS, CONTENDED, COUNT, EXTRA, Line, MAX, MIN, NO_MIN, SUM, TAG, Tag};
use tare_layout::primitive::prefetch;

use super::bank::combine_extremes;
use super::state::Engine;
use super::zeroed::{Zeroes, zeroed};

/// Classes whose rows are awake in a bank, by number. While no thread has the bank: those that were
/// awake and whose base equals their values. The list has space for a connection that does little;
/// beyond that only the fact is stored.
pub struct Awake {
    count: AtomicU32,
    /// The bank's sequence when the list was complete. If it has another one, a thread of another process
    /// has had the bank.
    sequence: AtomicU32,
    classes: [AtomicU16; MAX_LISTED],
}

/// The length of the list in [`Awake`].
const MAX_LISTED: usize = 256;

// SAFETY: integers; zeroes are a list with nothing on it.
unsafe impl Zeroes for Awake {}

impl Awake {
    /// One for each bank. Their memory is touched when they are used.
    pub fn all(banks: usize) -> Box<[Self]> {
        zeroed(banks)
    }

    pub(super) fn are_more(&self) -> bool {
        self.count.load(Ordering::Relaxed) as usize > MAX_LISTED
    }

    fn list(&self, class: u16) {
        let count = self.count.load(Ordering::Relaxed);
        if let Some(place) = self.classes.get(count as usize) {
            place.store(class, Ordering::Relaxed);
        }
        self.count.store(count.saturating_add(1), Ordering::Relaxed);
    }

    /// Empties the list: the bases no longer equal the values.
    pub fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// Retains those on the list for which `is_retained` returns true.
    fn retain(&self, mut is_retained: impl FnMut(u16) -> bool) {
        let count = self.count.load(Ordering::Relaxed) as usize;
        let mut retained = 0;
        for place in &self.classes[..count.min(MAX_LISTED)] {
            let class = place.load(Ordering::Relaxed);
            if is_retained(class) {
                self.classes[retained].store(class, Ordering::Relaxed);
                retained += 1;
            }
        }
        self.count.store(retained as u32, Ordering::Relaxed);
    }
}

impl Engine {
    /// Wakes a class's row, for the thread that has the bank and counts there first. Returns its first
    /// line.
    pub fn awaken(&self, number: usize, class: u16) -> Option<usize> {
        let entry = self.view.class_index(number).get(usize::from(class))?;
        if entry.load(Ordering::Relaxed) == 0 {
            self.row_of(number, class)?;
        }
        let at = line_of(entry.load(Ordering::Relaxed));
        self.rebase(number, at);
        self.awake[number].list(class);
        // Release: a reader that finds the row awake also finds its base.
        entry.store(at as u16, Ordering::Release);
        Some(at)
    }

    /// Leaves those awake rows awake for which `stays` returns true; the others become dormant.
    pub(super) fn retain_awake(&self, number: usize, mut stays: impl FnMut(usize) -> bool) {
        let index = self.view.class_index(number);
        self.awake[number].retain(|class| {
            let entry = &index[usize::from(class)];
            let at = line_of(entry.load(Ordering::Relaxed));
            let stays = stays(at);
            if !stays {
                entry.store(at as u16 | DORMANT, Ordering::Relaxed);
            }
            stays
        });
    }

    /// Whether the rows of a bank stay awake while no thread has it. This holds for banks of threads
    /// without an account: their counts [are moved](Self::move_classes) to another bank, so that rows
    /// and bases are zero.
    fn never_sleeps(&self, number: usize) -> bool {
        let account = self.view.bank(number).account.load(Ordering::Relaxed) as usize;
        account == self.view.geometry().nobody() + 1 && !self.awake[number].are_more()
    }

    /// Makes all rows of a bank dormant: it is not known which are awake, and which have their base.
    #[cold]
    pub(super) fn put_all_to_sleep(&self, number: usize) {
        self.view.class_index(number).iter().for_each(put_to_sleep);
        self.awake[number].clear();
    }

    /// Wakes the rows in which the previous thread counted, for the thread that takes the bank. The bank's
    /// sequence is odd.
    pub fn awaken_listed(&self, number: usize) {
        let sequence = self.view.bank(number).sequence.load(Ordering::Relaxed);
        let listed = self.awake[number].sequence.load(Ordering::Relaxed);
        if listed != sequence.wrapping_sub(1) {
            self.put_all_to_sleep(number);
        }
        if self.never_sleeps(number) {
            return;
        }
        let (index, arena) = (self.view.class_index(number), self.view.arena(number));
        self.awake[number].retain(|class| {
            let entry = &index[usize::from(class)];
            let at = line_of(entry.load(Ordering::Relaxed));
            // Waits for the memory once, and not at each row's first event.
            prefetch(&arena[at]);
            entry.store(at as u16, Ordering::Release);
            true
        });
    }

    /// Makes the values of a row its base.
    fn rebase(&self, number: usize, at: usize) {
        // A row that was created for the present thread has no base.
        if at < self.view.bank(number).base_used.load(Ordering::Relaxed) as usize {
            let (arena, base) = (
                self.view.arena(number),
                self.view.baseline(baseline::OWNER, number),
            );
            begin_row(&arena[at..], &base[at..]);
        }
    }

    /// Calls `count` with a row of a bank that no thread has, and updates its base.
    pub fn count_in_free(&self, number: usize, class: u16, count: impl FnOnce(&[Line])) -> bool {
        let Some(row) = self.row_of(number, class) else {
            return false;
        };
        count(row);
        let entry = &self.view.class_index(number)[usize::from(class)];
        self.rebase(number, line_of(entry.load(Ordering::Relaxed)));
        true
    }

    /// Makes all rows of a bank dormant, when its thread is about to leave it, and stores which rows it
    /// counted in. The bank's sequence is odd.
    pub fn sleep(&self, number: usize) {
        let (index, arena) = (self.view.class_index(number), self.view.arena(number));
        let base = self.view.baseline(baseline::OWNER, number);
        let bank = self.view.bank(number);
        let awake = &self.awake[number];
        if awake.are_more() {
            index.iter().for_each(put_to_sleep);
        }
        let even = bank.sequence.load(Ordering::Relaxed).wrapping_add(1);
        awake.sequence.store(even, Ordering::Relaxed);
        // Base is zero beyond the old end. Release: before extremes are stored there.
        bank.base_used
            .store(bank.used.load(Ordering::Relaxed), Ordering::Release);
        if self.never_sleeps(number) {
            return;
        }
        awake.retain(|class| {
            let entry = &index[usize::from(class)];
            let at = line_of(entry.load(Ordering::Relaxed));
            entry.store(at as u16 | DORMANT, Ordering::Relaxed);
            begin_row(&arena[at..], &base[at..])
        });
    }
}

/// Makes a row dormant, if it exists.
fn put_to_sleep(entry: &AtomicU16) {
    let at = entry.load(Ordering::Relaxed);
    if at != 0 {
        entry.store(at | DORMANT, Ordering::Relaxed);
    }
}

/// Makes the values of a row its base. Returns whether they differed.
#[inline(always)]
fn begin_row(row: &[Line], base: &[Line]) -> bool {
    let Some(tag) = Tag::unpack(row[0].get(TAG)) else {
        return false;
    };
    let (times, lines) = (usize::from(tag.part).min(tag.lines), tag.lines);
    let mut changed = false;
    for (line, base) in row[..times].iter().zip(base) {
        changed |= begin_time_line(line, base);
    }
    if times == 0 {
        // No other value changes unless one of these does.
        let has = |i| row[0].get(i) != base[0].get(i);
        changed = has(COUNT) || has(CONTENDED) || has(SUM);
    }
    if changed {
        let others = row[times..lines].iter().zip(&base[times..lines]);
        others.for_each(|(line, base)| (1..CELLS).for_each(|i| base.set(i, line.get(i))));
    }
    changed
}

/// Moves the figures of a line that counts times to its base. Returns whether they differed.
#[inline(always)]
fn begin_time_line(line: &Line, base: &Line) -> bool {
    let count = line.get(COUNT);
    if count == base.get(COUNT) {
        return false;
    }
    base.set(COUNT, count);
    for i in [CONTENDED, SUM, EXTRA] {
        base.set(i, line.get(i));
    }
    if line.get(MIN) != NO_MIN {
        // Base has the extremes of all earlier threads, the line those of the present one. Base is
        // written first: a reader that reads the line and then base misses neither.
        combine_extremes(base, line);
        fence(Ordering::Release);
        line.set(MIN, NO_MIN);
        line.set(MAX, 0);
    }
    true
}
