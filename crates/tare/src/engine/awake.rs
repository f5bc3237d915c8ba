//! Rows that are awake: those of a bank in which its present thread has counted.
//!
//! A row of another is dormant. It is nothing of the thread's, and what it holds becomes its base, from which the
//! thread's own figures are reckoned, when the thread counts there first. So taking a bank costs by what is used of it.
//! Where a thread has counted, the next one is likely to: those rows get their base when the thread leaves, while they are
//! in the caches, and are awake for the next one from its beginning.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering, fence};

use tare_layout::bank::{DORMANT, baseline, line_of};
use tare_layout::line::{CELLS, CONTENDED, COUNT, EXTRA, Line, MAX, MIN, NO_MIN, SUM, TAG, Tag};
use tare_layout::primitive::prefetch;

use super::bank::combine_extremes;
use super::state::Engine;

/// Classes whose rows are awake in a bank, by number; while nobody has it, those that were and whose base is what they
/// hold. As many as a connection uses that does little; of more, it is known that they are more.
pub struct Awake {
    count: AtomicU32,
    classes: [AtomicU16; AWAKE],
}

/// See [`Awake`].
const AWAKE: usize = 256;

impl Awake {
    /// One for each bank. Their memory is touched when they are used.
    pub fn all(banks: usize) -> Box<[Self]> {
        // SAFETY: zeroes are an `Awake`: integers, none listed.
        unsafe { Box::new_zeroed_slice(banks).assume_init() }
    }

    pub(super) fn are_more(&self) -> bool {
        self.count.load(Ordering::Relaxed) as usize > AWAKE
    }

    fn list(&self, class: u16) {
        let count = self.count.load(Ordering::Relaxed);
        if let Some(place) = self.classes.get(count as usize) {
            place.store(class, Ordering::Relaxed);
        }
        self.count.store(count.saturating_add(1), Ordering::Relaxed);
    }

    /// Forgets them all: their bases are no longer what they hold.
    pub fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// Keeps those on the list that `of` chooses.
    fn keep(&self, mut of: impl FnMut(u16) -> bool) {
        let count = self.count.load(Ordering::Relaxed) as usize;
        let mut kept = 0;
        for place in &self.classes[..count.min(AWAKE)] {
            let class = place.load(Ordering::Relaxed);
            if of(class) {
                self.classes[kept].store(class, Ordering::Relaxed);
                kept += 1;
            }
        }
        self.count.store(kept as u32, Ordering::Relaxed);
    }
}

impl Engine {
    /// The row of a class for the thread that has the bank and counts there first: its first line.
    pub fn awaken(&self, number: usize, class: u16) -> Option<usize> {
        let entry = self.view.class_index(number).get(usize::from(class))?;
        if entry.load(Ordering::Relaxed) == 0 {
            self.row_of(number, class)?;
        }
        let at = line_of(entry.load(Ordering::Relaxed));
        self.rebase(number, at);
        self.awake[number].list(class);
        // Release: a reader that finds the row awake finds its base.
        entry.store(at as u16, Ordering::Release);
        Some(at)
    }

    /// Those of the rows that are awake for which `stays` says so stay awake; the others sleep.
    pub(super) fn keep_awake(&self, number: usize, mut stays: impl FnMut(usize) -> bool) {
        let index = self.view.class_index(number);
        self.awake[number].keep(|class| {
            let entry = &index[usize::from(class)];
            let at = line_of(entry.load(Ordering::Relaxed));
            let stays = stays(at);
            if !stays {
                entry.store(at as u16 | DORMANT, Ordering::Relaxed);
            }
            stays
        });
    }

    /// Whether the rows of a bank stay awake while nobody has it: what a thread counts there that has no account yet
    /// [is moved](Self::move_classes), so that they are zero, and their bases are.
    fn never_sleeps(&self, number: usize) -> bool {
        let account = self.view.bank(number).account.load(Ordering::Relaxed) as usize;
        account == self.view.geometry().nobody() + 1 && !self.awake[number].are_more()
    }

    /// The rows where the thread before counted, for the one that takes the bank.
    pub fn awaken_listed(&self, number: usize) {
        if self.never_sleeps(number) {
            return;
        }
        let (index, arena) = (self.view.class_index(number), self.view.arena(number));
        self.awake[number].keep(|class| {
            let entry = &index[usize::from(class)];
            let at = line_of(entry.load(Ordering::Relaxed));
            // Memory is waited for once, and not when each of them is counted in.
            prefetch(&arena[at]);
            entry.store(at as u16, Ordering::Release);
            true
        });
    }

    /// Makes what a row holds its base.
    fn rebase(&self, number: usize, at: usize) {
        // A row that was made for the present thread has none before it.
        if at < self.view.bank(number).base_used.load(Ordering::Relaxed) as usize {
            let (arena, base) = (
                self.view.arena(number),
                self.view.baseline(baseline::OWNER, number),
            );
            begin_row(&arena[at..], &base[at..]);
        }
    }

    /// Calls `count` with a row of a bank that nobody has. Its base goes with it.
    pub fn count_in_free(&self, number: usize, class: u16, count: impl FnOnce(&[Line])) -> bool {
        let Some(row) = self.row_of(number, class) else {
            return false;
        };
        count(row);
        let entry = &self.view.class_index(number)[usize::from(class)];
        self.rebase(number, line_of(entry.load(Ordering::Relaxed)));
        true
    }

    /// Makes all rows of a bank dormant, whose thread is about to leave it, and keeps in mind where that has
    /// counted.
    pub fn sleep(&self, number: usize) {
        let (index, arena) = (self.view.class_index(number), self.view.arena(number));
        let base = self.view.baseline(baseline::OWNER, number);
        let bank = self.view.bank(number);
        let put_down = |entry: &AtomicU16| {
            let at = entry.load(Ordering::Relaxed);
            if at != 0 {
                entry.store(at | DORMANT, Ordering::Relaxed);
            }
        };
        let awake = &self.awake[number];
        if awake.are_more() {
            index.iter().for_each(put_down);
        }
        // Base is zeroes where it did not reach. Release: before extremes go there.
        bank.base_used
            .store(bank.used.load(Ordering::Relaxed), Ordering::Release);
        if self.never_sleeps(number) {
            return;
        }
        awake.keep(|class| {
            let entry = &index[usize::from(class)];
            let at = line_of(entry.load(Ordering::Relaxed));
            entry.store(at as u16 | DORMANT, Ordering::Relaxed);
            begin_row(&arena[at..], &base[at..])
        });
    }
}

/// Makes what a row holds its base; whether that was something else before.
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
        // Nothing of it changes without one of these.
        let has = |i| row[0].get(i) != base[0].get(i);
        changed = has(COUNT) || has(CONTENDED) || has(SUM);
    }
    if changed {
        let others = row[times..lines].iter().zip(&base[times..lines]);
        others.for_each(|(line, base)| (1..CELLS).for_each(|i| base.set(i, line.get(i))));
    }
    changed
}

/// Moves the figures of a line that counts times to the base of the thread that begins to count there.
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
        // Base keeps the extremes of all threads before, the line those of the present one. Base
        // first: a reader that looks at the line and then at base misses neither.
        combine_extremes(base, line);
        fence(Ordering::Release);
        line.set(MIN, NO_MIN);
        line.set(MAX, 0);
    }
    true
}
