//! Banks: taking one, finding a class's row in it, giving it back. `merge` merges two.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering, fence};

use tare_layout::Kind;
use tare_layout::bank::{Bank, DORMANT, baseline, line_of};
use tare_layout::control::effective;
use tare_layout::geometry::PAGE;
use tare_layout::histogram::{BLOCK_BUCKETS, BLOCK_LINES};
use tare_layout::line::{CELLS, HISTOGRAM, Item, LINE_BYTES, Line, MAX, MIN, NO_MIN, TAG, Tag};
use tare_layout::shared::Lost;

use super::freelist;
use super::state::Engine;

/// The bank in which threads count memory outside of sessions. No thread owns it, and it is on no list.
pub struct Outside {
    bank: usize,
    index: &'static [AtomicU16],
    arena: &'static [Line],
    effective: &'static [AtomicU8],
}

/// A row of this bank.
pub struct OutsideRow {
    pub lines: &'static [Line],
    /// Whether its class is counted.
    pub is_counted: bool,
}

impl Engine {
    /// Takes a bank of this account for the thread in `slot`; `None` if even merging frees none, which
    /// [`tare_layout::Geometry`] rules out as long as threads are within their limit.
    pub fn take_bank(&self, account: u32, slot: usize) -> Option<usize> {
        let head = &self.view.account(account as usize).free_banks;
        let number = freelist::pop(head, |i| self.bank_link(i))
            .or_else(|| self.new_bank(account))
            .or_else(|| self.merged_bank(account))
            .or_else(|| self.nobodys_bank(account))?;
        self.begin(number, slot);
        Some(number)
    }

    /// The same, with retries: a thread that searches two banks to merge holds one during the search,
    /// which may be the one that another thread needs.
    pub fn take_bank_with_retries(&self, account: u32, slot: usize) -> Option<usize> {
        retry(|| self.take_bank(account, slot))
    }

    /// Takes a bank of this account in place of `old`, which the caller then gives back, unless it is
    /// the same one: when every bank is in use, the old one is emptied into another bank of its
    /// account.
    ///
    /// There are as many banks as threads and accounts together. Other threads hold fewer banks than
    /// there are threads, so at least as many banks as there are accounts are free: either one of the
    /// old bank's account, or two of some other account.
    pub fn change_bank(&self, account: u32, old: usize, slot: usize) -> Option<usize> {
        retry(|| {
            self.take_bank(account, slot)
                .or_else(|| self.emptied_bank(account, old, slot))
        })
    }

    #[cold]
    fn emptied_bank(&self, account: u32, old: usize, slot: usize) -> Option<usize> {
        let bank = self.view.bank(old);
        let before = bank.account.load(Ordering::Relaxed).saturating_sub(1);
        let head = &self.view.account(before as usize).free_banks;
        let other = freelist::pop(head, |i| self.bank_link(i))?;
        let merged = self.merge(other, old);
        self.give_bank(other);
        if !merged {
            return None;
        }
        bank.account.store(account + 1, Ordering::Release);
        self.begin(old, slot);
        Some(old)
    }

    pub(super) fn bank_link(&self, i: usize) -> Option<&'static AtomicU32> {
        (i < self.banks()).then(|| &self.view.bank(i).next_free)
    }

    pub(super) fn banks(&self) -> usize {
        self.view.geometry().banks()
    }

    fn new_bank(&self, account: u32) -> Option<usize> {
        let number = freelist::take_new(&self.view.shared().banks_used.0, self.banks())?;
        self.begin_bank(number, account);
        Some(number)
    }

    /// Initialises a bank that was never used.
    pub(super) fn begin_bank(&self, number: usize, account: u32) {
        let bank = self.view.bank(number);
        // Line 0 is no item, so that 0 in an index means "none".
        bank.used.store(1, Ordering::Relaxed);
        bank.account.store(account + 1, Ordering::Release);
    }

    /// Takes a free bank of threads whose account is unknown: it has no counts by class.
    #[cold]
    fn nobodys_bank(&self, account: u32) -> Option<usize> {
        let nobody = self.view.account(self.view.geometry().nobody());
        let number = freelist::pop(&nobody.free_banks, |i| self.bank_link(i))?;
        self.rename_bank(number, account);
        Some(number)
    }

    /// Gives a bank with all its counts to another account.
    pub(super) fn rename_bank(&self, number: usize, account: u32) {
        let bank = self.view.bank(number);
        bank.account.store(account + 1, Ordering::Release);
    }

    /// Gives the bank to a new thread. The rows' values become that thread's base: at once in rows
    /// where the previous thread counted, which this one is likely to use; in others when it first
    /// counts there.
    fn begin(&self, number: usize, slot: usize) {
        let bank = self.view.bank(number);
        under_sequence_lock(bank, || {
            let used = bank.used.load(Ordering::Relaxed);
            bank.base_used.store(used, Ordering::Relaxed);
            // A thread that has just begun holds no lock.
            if !self.without_holders.load(Ordering::Relaxed) {
                let arena = self.view.arena(number);
                for entry in &bank.instances {
                    let at = entry.load(Ordering::Relaxed) as u32 as usize;
                    if at != 0 && arena[at].get(HISTOGRAM) != 0 {
                        arena[at].set(HISTOGRAM, 0);
                    }
                }
            }
            self.awaken_listed(number);
            bank.slot.store(slot as u32 + 1, Ordering::Relaxed);
        });
    }

    /// Gives a bank back to its account.
    pub fn give_bank(&self, number: usize) {
        let bank = self.view.bank(number);
        if bank.slot.load(Ordering::Relaxed) != 0 {
            under_sequence_lock(bank, || {
                self.sleep(number);
                bank.slot.store(0, Ordering::Relaxed);
            });
        }
        let account = bank.account.load(Ordering::Relaxed).saturating_sub(1) as usize;
        freelist::push(
            &self.view.account(account).free_banks,
            number,
            &bank.next_free,
        );
    }

    /// Calls `count` with a class's row in a free bank of the account, which no other thread writes
    /// meanwhile; false if no bank is free.
    pub fn with_free_row(&self, account: u32, class: u16, count: impl FnOnce(&[Line])) -> bool {
        let exclusive = self.exclusive();
        if !self.may_change(exclusive.as_ref()) {
            return false;
        }
        let head = &self.view.account(account as usize).free_banks;
        let bank = freelist::pop(head, |i| self.bank_link(i)).or_else(|| self.new_bank(account));
        let Some(bank) = bank else { return false };
        let counted = self.count_in_free(bank, class, count);
        self.give_bank(bank);
        counted
    }

    /// The row of a memory class in the bank that all threads outside of sessions share, if it exists;
    /// they add to it atomically. Some twenty allocations of a connection come before or after its
    /// session.
    #[inline]
    pub fn existing_outside_row(&self, class: u16) -> Option<OutsideRow> {
        let outside = self.outside.get()?;
        let class = usize::from(class);
        let at = line_of(outside.index.get(class)?.load(Ordering::Acquire));
        let lines = outside.arena.get(at..at + Kind::Memory.row_lines())?;
        let flags = outside.effective.get(class)?.load(Ordering::Relaxed);
        let is_counted = flags & effective::COUNT != 0;
        (at != 0).then_some(OutsideRow { lines, is_counted })
    }

    /// The same, created if necessary. `None` if the bank is full.
    #[inline]
    pub fn outside_row(&self, class: u16) -> Option<&'static [Line]> {
        let existing = self.existing_outside_row(class).map(|row| row.lines);
        existing.or_else(|| self.new_outside_row(class))
    }

    #[cold]
    #[inline(never)]
    fn new_outside_row(&self, class: u16) -> Option<&'static [Line]> {
        let _one_at_a_time = self.lock(&self.registering);
        let bank = match self.outside.get() {
            Some(outside) => outside.bank,
            None => {
                let bank = self.new_bank(0)?;
                let (index, arena) = (self.view.class_index(bank), self.view.arena(bank));
                let outside = Outside {
                    bank,
                    index,
                    arena,
                    effective: self.view.controls().effective,
                };
                self.outside.get_or_init(|| outside).bank
            }
        };
        self.row_of(bank, class)
    }

    /// The row of a class in a bank that the caller owns, created (dormant) if necessary.
    pub fn row_of(&self, bank: usize, class: u16) -> Option<&'static [Line]> {
        let index = self.view.class_index(bank).get(usize::from(class))?;
        let arena = self.view.arena(bank);
        let kind = self.kind_of(usize::from(class))?;
        let lines = kind.row_lines();
        let at = match line_of(index.load(Ordering::Relaxed)) {
            0 => {
                let at = self.new_item(bank, Tag::of_class(kind, u32::from(class)));
                let Some(at) = at else {
                    self.lose(Lost::Rows, 1);
                    return None;
                };
                for i in 0..lines {
                    if kind.is_time_line(i) {
                        arena[at + i].set(MIN, NO_MIN);
                    }
                }
                // Release: a reader that finds the row finds it initialised.
                index.store(at as u16 | DORMANT, Ordering::Release);
                at
            }
            at => at,
        };
        arena.get(at..at + lines)
    }

    /// Sets a baseline's line to zero, without touching its page if it is zero.
    fn clear_baseline_line(&self, number: usize, bank: usize, line: &Line) {
        let written = self.view.control().baselines_used.load(Ordering::Relaxed) & 1 << number != 0;
        // Lines that base never covered have always been zero.
        let covered =
            number != baseline::OWNER || self.view.bank(bank).sequence.load(Ordering::Relaxed) > 4;
        if written && covered && line.cells.iter().any(|c| c.load(Ordering::Relaxed) != 0) {
            for i in 0..CELLS {
                line.set(i, 0);
            }
        }
    }

    /// Allocates a row in a bank's arena. Returns its first line. If the arena is full, the caller
    /// decides what that means: instances and digests then use shared lines.
    pub fn new_item(&self, bank: usize, tag: Tag) -> Option<usize> {
        let lines = tag.lines;
        let header = self.view.bank(bank);
        let at = header.used.load(Ordering::Relaxed) as usize;
        let blocks = header.blocks.load(Ordering::Relaxed) as usize;
        let end = self.view.arena(bank).len() - blocks;
        if at == 0 || at + lines > end {
            return None;
        }
        if !self.try_touch(self.pages(at, at + lines)) {
            return None;
        }
        self.init_item(bank, at, tag);
        header.used.store((at + lines) as u32, Ordering::Release);
        Some(at)
    }

    /// Allocates a histogram block: at the arena's other end, except for the first few blocks, which
    /// are among the rows so that a thread that does little touches no page only for them.
    pub(super) fn new_block(&self, bank: usize, item: Item, lines: usize) -> Option<usize> {
        let tag = Tag::new(item, lines, 0);
        let used = self.view.bank(bank).used.load(Ordering::Relaxed) as usize;
        if used + lines <= self.first_lines() {
            return self.new_item(bank, tag);
        }
        self.new_at_end(bank, tag)
    }

    fn new_at_end(&self, bank: usize, tag: Tag) -> Option<usize> {
        let lines = tag.lines;
        let header = self.view.bank(bank);
        let blocks = header.blocks.load(Ordering::Relaxed) as usize;
        let end = self.view.arena(bank).len() - blocks;
        let used = header.used.load(Ordering::Relaxed) as usize;
        let at = end.checked_sub(lines).filter(|at| *at >= used)?;
        if used == 0 || !self.try_touch(self.pages_down(end, at)) {
            return None;
        }
        self.init_item(bank, at, tag);
        let blocks = (blocks + lines) as u32;
        header.blocks.store(blocks, Ordering::Release);
        Some(at)
    }

    /// Number of lines of an arena in which histogram blocks are among the rows: the rest of the page
    /// that the bank's indexes are in, and the next page.
    fn first_lines(&self) -> usize {
        let arena = self.view.geometry().arena;
        (arena.next_multiple_of(PAGE) + PAGE - arena) / LINE_BYTES
    }

    fn init_item(&self, bank: usize, at: usize, tag: Tag) {
        let lines = &self.view.arena(bank)[at..at + tag.lines];
        for line in lines {
            for cell in 0..CELLS {
                line.set(cell, 0);
            }
        }
        // The baselines may still hold values of a merged bank. Base covers classes only.
        let first = match tag.item {
            Item::Class => baseline::OWNER,
            _ => baseline::TRUNCATED_GLOBAL,
        };
        for number in first..baseline::COUNT {
            for line in &self.view.baseline(number, bank)[at..at + tag.lines] {
                self.clear_baseline_line(number, bank, line);
            }
        }
        lines[0].cells[TAG].store(tag.pack(), Ordering::Release);
    }

    /// Gives an item's lines to another instance, digest or object with the same number of lines.
    pub fn reuse_item(&self, bank: usize, at: usize, tag: Tag) {
        let lines = tag.lines;
        let arena = self.view.arena(bank);
        for line in &arena[at..at + lines] {
            for cell in 1..CELLS {
                line.set(cell, 0);
            }
        }
        for line in &self.view.baseline(baseline::TRUNCATED_GLOBAL, bank)[at..at + lines] {
            self.clear_baseline_line(baseline::TRUNCATED_GLOBAL, bank, line);
        }
        arena[at].cells[TAG].store(tag.pack(), Ordering::Release);
    }

    /// Number of pages that the lines from `from` to `to` are the first to touch.
    pub(super) fn pages(&self, from: usize, to: usize) -> usize {
        self.byte_of(to).div_ceil(PAGE) - self.byte_of(from).div_ceil(PAGE)
    }

    /// The same for lines from `from` down to `to`.
    pub(super) fn pages_down(&self, from: usize, to: usize) -> usize {
        self.byte_of(from) / PAGE - self.byte_of(to) / PAGE
    }

    /// Offset of a line within its bank.
    fn byte_of(&self, line: usize) -> usize {
        self.view.geometry().arena + line * LINE_BYTES
    }

    /// Counts pages that are about to be touched for the first time; false at the memory limit.
    fn try_touch(&self, pages: usize) -> bool {
        if pages == 0 {
            return true;
        }
        let bytes = (pages * PAGE) as u64;
        let limit = self.view.control().memory_limit.load(Ordering::Relaxed);
        let touched = &self.view.shared().bank_bytes.0;
        if limit != 0 && touched.load(Ordering::Relaxed) + bytes > limit {
            return false;
        }
        touched.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    /// Block `block` of the histogram of the time line `line`, created if necessary.
    #[cold]
    pub fn block_of(&self, bank: usize, line: &Line, block: usize) -> Option<&'static [Line]> {
        let blocks = line.get(HISTOGRAM);
        let at = match (blocks >> (16 * block)) as u16 {
            0 => {
                let Some(at) = self.new_block(bank, Item::Histogram, BLOCK_LINES) else {
                    self.lose(Lost::Histograms, 1);
                    return None;
                };
                let packed = blocks | (at as u64) << (16 * block);
                line.cells[HISTOGRAM].store(packed, Ordering::Release);
                at
            }
            at => usize::from(at),
        };
        self.view.arena(bank).get(at..at + BLOCK_LINES)
    }

    /// A bucket of 32 bits has wrapped to zero: adds 2^32 to the class's spill row.
    #[cold]
    pub fn spill(&self, class: u16, bucket: usize) {
        if let Some(cell) = self.view.spill(usize::from(class)).get(bucket) {
            cell.fetch_add(1 << 32, Ordering::Relaxed);
        }
    }
}

/// Changes the owner of a bank: readers of a single thread's counts read again.
fn under_sequence_lock(bank: &Bank, change: impl FnOnce()) {
    let sequence = bank.sequence.load(Ordering::Relaxed);
    bank.sequence
        .store(sequence.wrapping_add(1), Ordering::Relaxed);
    fence(Ordering::Release);
    change();
    // Pairs with the reader's second load of `sequence`.
    bank.sequence
        .store(sequence.wrapping_add(2), Ordering::Release);
}

/// How often a thread looks for a bank. A thread that holds one for a moment may have been pre-empted:
/// with 64 tries eight threads on two processors gave up in one run of ten.
const MAX_TRIES: usize = 16_384;

/// Retries, and yields to other threads in between.
fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..MAX_TRIES {
        if let Some(result) = attempt() {
            return Some(result);
        }
        std::thread::yield_now();
    }
    None
}

/// The buckets of a histogram block, which follow its tag.
pub fn buckets(block: &[Line]) -> impl Iterator<Item = &AtomicU32> {
    (0..BLOCK_BUCKETS).map(move |i| bucket(block, i))
}

/// Bucket `i` of a block.
#[inline(always)]
pub fn bucket(block: &[Line], i: usize) -> &AtomicU32 {
    debug_assert!(i < BLOCK_BUCKETS && block.len() >= BLOCK_LINES);
    // SAFETY: a block is BLOCK_LINES lines, of which byte 8 + 4 * i .. + 4 is within for every
    // bucket (asserted in `histogram`); 4-byte atomics over memory that is otherwise only accessed
    // as such (readers of the block use the same view).
    unsafe { &*block.as_ptr().cast::<u8>().add(8 + 4 * i).cast() }
}

/// The items of an arena, by their first line.
pub fn items(arena: &[Line], used: usize) -> impl Iterator<Item = (usize, Tag)> + '_ {
    let used = used.min(arena.len());
    let mut at = 1;
    std::iter::from_fn(move || {
        let tag = Tag::unpack(arena.get(at).filter(|_| at < used)?.get(TAG))?;
        let first = at;
        at += tag.lines;
        (at <= used).then_some((first, tag))
    })
}

/// Lowers the minimum and raises the maximum of `to` by those of `from`. A line of zeros has none.
pub(super) fn combine_extremes(to: &Line, from: &Line) {
    let has_extremes = |line: &Line| line.get(MAX) != 0 || line.get(MIN) != 0;
    if !has_extremes(from) {
        return;
    }
    let low = if has_extremes(to) {
        to.get(MIN).min(from.get(MIN))
    } else {
        from.get(MIN)
    };
    to.set(MIN, low);
    to.set(MAX, to.get(MAX).max(from.get(MAX)));
}
