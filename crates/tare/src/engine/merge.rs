//! Merging two banks of an account into one, so that a bank of another account is free.

use std::sync::atomic::{AtomicU32, Ordering};

use tare_layout::bank::{awake_line_of, baseline};
use tare_layout::class::Kind;
use tare_layout::geometry::PAGE;
use tare_layout::histogram::{BLOCK_BUCKETS, BLOCK_LINES, BLOCKS};
use tare_layout::line::{
    CELLS, CONTENDED, COUNT, EXTRA, HISTOGRAM, Item, LINE_BYTES, Line, MIN, NO_MIN, SUM, TAG, Tag,
    error,
};

use super::bank::{buckets, combine_extremes, items};
use super::freelist;
use super::state::Engine;

impl Engine {
    /// Frees a bank by merging two free ones of some account. Rare: it happens when all banks are bound
    /// to other accounts, whose threads have gone.
    #[cold]
    pub(super) fn merged_bank(&self, account: u32) -> Option<usize> {
        let accounts = self.view.shared().accounts_used.0.load(Ordering::Acquire) as usize;
        for other in 0..accounts {
            let head = &self.view.account(other).free_banks;
            let Some(first) = freelist::pop(head, |i| self.bank_link(i)) else {
                continue;
            };
            let second = freelist::pop(head, |i| self.bank_link(i));
            if let Some(second) = second {
                let merged = self.merge(first, second);
                self.give_bank(first);
                if !merged {
                    self.give_bank(second);
                    continue;
                }
                self.view
                    .bank(second)
                    .account
                    .store(account + 1, Ordering::Release);
                return Some(second);
            }
            self.give_bank(first);
        }
        None
    }

    /// Adds `from` to `to` and empties it; false (and nothing done) if `to` is full.
    pub(super) fn merge(&self, to: usize, from: usize) -> bool {
        let used = |i: usize| {
            let bank = self.view.bank(i);
            (bank.used.load(Ordering::Relaxed) + bank.blocks.load(Ordering::Relaxed)) as usize
        };
        if used(to) + used(from) > self.view.geometry().limits.arena_lines {
            return false;
        }
        // One merge at a time; readers of the odd sequence read again.
        let sequence = &self.view.shared().merge_sequence.0;
        let mut now = sequence.load(Ordering::Relaxed);
        loop {
            now &= !1;
            match sequence.compare_exchange_weak(now, now + 1, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(other) => now = other,
            }
            std::hint::spin_loop();
        }
        self.merge_rows(to, from);
        sequence.store(now.wrapping_add(2), Ordering::Release);
        true
    }

    fn merge_rows(&self, to: usize, from: usize) {
        let source = self.view.arena(from);
        let bank = self.view.bank(from);
        self.awake[to].clear();
        self.awake[from].clear();
        for (at, tag) in items(source, bank.used.load(Ordering::Relaxed) as usize) {
            match tag.item {
                Item::Class => self.merge_class(to, from, at, tag),
                Item::Instance => {
                    let before = self.baseline_of(baseline::TRUNCATED_GLOBAL, from);
                    let before = before.map(|baseline| &baseline[at..at + tag.lines]);
                    self.add_instance_shared(tag.id, &source[at..at + tag.lines], before);
                }
                Item::Object => {
                    let before = self.baseline_of(baseline::TRUNCATED_GLOBAL, from);
                    let before = before.map(|baseline| &baseline[at..at + tag.lines]);
                    self.add_object_shared(tag, &source[at..at + tag.lines], before);
                }
                Item::Digest => self.merge_digest(from, at, tag.id),
                Item::Histogram | Item::Fine => {}
            }
        }
        self.merge_fine(to, from);
        let target = self.view.bank(to);
        for (into, of) in [
            (&target.cut_texts, &bank.cut_texts),
            (&target.cut_digests, &bank.cut_digests),
            (&target.read_texts, &bank.read_texts),
        ] {
            into.fetch_add(of.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
        bank.statements.store(0, Ordering::Relaxed);
        for cell in self.view.class_index(from) {
            cell.store(0, Ordering::Relaxed);
        }
        let cells = bank.instances.iter().chain(&bank.digests);
        for cell in cells.chain(&bank.objects) {
            cell.store(0, Ordering::Relaxed);
        }
        // The pages are counted again when the bank is filled again.
        let rows = self.pages(1, bank.used.load(Ordering::Relaxed) as usize);
        let end = self.view.arena(from).len();
        let blocks = end - bank.blocks.load(Ordering::Relaxed) as usize;
        let bytes = ((rows + self.pages_down(end, blocks)) * PAGE) as u64;
        let touched = &self.view.shared().bank_bytes.0;
        touched.fetch_sub(bytes, Ordering::Relaxed);
        bank.used.store(1, Ordering::Relaxed);
        bank.blocks.store(0, Ordering::Relaxed);
        bank.base_used.store(0, Ordering::Relaxed);
    }

    /// Moves a bank's counts by class to another bank of the same thread. No reader sums the first bank
    /// by class, so that nothing is counted twice; its other rows belong to no account and remain.
    /// `with_histograms`: some of its times have entered histograms.
    pub(super) fn move_classes(&self, to: usize, from: usize, with_histograms: bool) {
        let source = self.view.arena(from);
        let move_row = |at: usize, tag: Tag| {
            let lines = &source[at..at + tag.lines];
            let kind = self.kind_of(tag.id as usize);
            let Some(kind) = kind.filter(|kind| has_counted(*kind, lines)) else {
                return false;
            };
            self.move_class(to, from, kind, tag, lines, with_histograms);
            for (i, line) in lines.iter().enumerate() {
                self.clear_class_line(kind, i, from, line, with_histograms);
            }
            true
        };
        if self.awake[from].are_more() {
            let used = self.view.bank(from).used.load(Ordering::Relaxed) as usize;
            let classes = items(source, used).filter(|(_, tag)| tag.item == Item::Class);
            classes.for_each(|(at, tag)| _ = move_row(at, tag));
            return;
        }
        self.retain_awake(from, |at| {
            Tag::unpack(source[at].get(TAG)).is_some_and(|tag| move_row(at, tag))
        });
    }

    fn move_class(
        &self,
        to: usize,
        from: usize,
        kind: Kind,
        tag: Tag,
        lines: &[Line],
        with_histograms: bool,
    ) {
        let class = tag.id as u16;
        let entry = &self.view.class_index(to)[usize::from(class)];
        let first = match awake_line_of(entry.load(Ordering::Relaxed)) {
            0 => self.awaken(to, class),
            at => Some(at),
        };
        // A full bank is counted as lost.
        let Some(first) = first else { return };
        for (i, line) in lines.iter().enumerate() {
            let target = &self.view.arena(to)[first + i];
            add_cells(kind, i, target, line);
            if with_histograms && kind.is_time_line(i) {
                self.merge_histogram(class, to, target, from, line);
            }
        }
    }

    fn clear_class_line(
        &self,
        kind: Kind,
        i: usize,
        bank: usize,
        line: &Line,
        with_histograms: bool,
    ) {
        for cell in 1..CELLS {
            match cell {
                // Blocks created for it remain.
                HISTOGRAM if kind.is_time_line(i) => {}
                _ => line.set(cell, 0),
            }
        }
        if kind.is_time_line(i) {
            line.set(MIN, NO_MIN);
            if !with_histograms {
                return;
            }
            let arena = self.view.arena(bank);
            for block in 0..BLOCKS {
                let at = usize::from((line.get(HISTOGRAM) >> (16 * block)) as u16);
                if at != 0 {
                    let block = &arena[at..at + BLOCK_LINES];
                    buckets(block).for_each(|bucket| bucket.store(0, Ordering::Relaxed));
                }
            }
        }
    }

    /// A baseline of a bank, unless nothing was ever written there: reading it would create its pages.
    fn baseline_of(&self, number: usize, bank: usize) -> Option<&'static [Line]> {
        let used = self.view.control().baselines_used.load(Ordering::Relaxed);
        (used & 1 << number != 0).then(|| self.view.baseline(number, bank))
    }

    fn merge_class(&self, to: usize, from: usize, at: usize, tag: Tag) {
        let Some(lines) = self.row_of(to, tag.id as u16) else {
            return;
        };
        let Some(kind) = self.kind_of(tag.id as usize) else {
            return;
        };
        let source = self.view.arena(from);
        let covered = self.view.bank(from).base_used.load(Ordering::Relaxed) as usize;
        for (i, line) in lines.iter().enumerate().take(tag.lines) {
            let target = line_number(self.view.arena(to), line);
            add_cells(kind, i, line, &source[at + i]);
            for number in baseline::MERGED {
                if let Some(of) = self.baseline_of(number, from) {
                    add_cells(
                        kind,
                        i,
                        &self.view.baseline(number, to)[target],
                        &of[at + i],
                    );
                }
            }
            if kind.is_time_line(i) {
                if at + i < covered {
                    combine_extremes(line, &self.view.baseline(baseline::OWNER, from)[at + i]);
                }
                self.merge_histogram(tag.id as u16, to, line, from, &source[at + i]);
            }
        }
    }

    fn merge_histogram(
        &self,
        class: u16,
        to_bank: usize,
        to: &Line,
        from_bank: usize,
        from: &Line,
    ) {
        let blocks = from.get(HISTOGRAM);
        for block in 0..BLOCKS {
            let at = usize::from((blocks >> (16 * block)) as u16);
            if at == 0 {
                continue;
            }
            let Some(target) = self.block_of(to_bank, to, block) else {
                continue;
            };
            let arena = self.view.arena(from_bank);
            let pairs = buckets(target).zip(buckets(&arena[at..at + BLOCK_LINES]));
            for (i, (into, of)) in pairs.enumerate() {
                if add_bucket(into, of) {
                    self.spill(class, block * BLOCK_BUCKETS + i);
                }
            }
            let target_at = line_number(self.view.arena(to_bank), &target[0]);
            for number in baseline::MERGED {
                if let Some(of) = self.baseline_of(number, from_bank) {
                    let into = &self.view.baseline(number, to_bank)[target_at..][..BLOCK_LINES];
                    let pairs = buckets(into).zip(buckets(&of[at..at + BLOCK_LINES]));
                    // Compared with the buckets modulo 2^32: these may wrap.
                    pairs.for_each(|(into, of)| _ = add_bucket(into, of));
                }
            }
        }
    }

    /// Moves a digest's row to the digest's shared lines. The row of an evicted digest goes to "all
    /// else", one of an older generation is discarded.
    fn merge_digest(&self, from: usize, at: usize, id: u32) {
        let mut entries = self.view.bank(from).digests.iter();
        let mine = |entry: u64| (entry >> 32) as u32 == id && entry as u16 as usize == at;
        let entry = entries.find_map(|cell| {
            let entry = cell.load(Ordering::Relaxed);
            (entry != 0 && mine(entry)).then_some(entry)
        });
        if let Some(entry) = entry {
            self.share_digest_row(from, entry);
        }
    }
}

/// Whether a row has counted anything.
fn has_counted(kind: Kind, lines: &[Line]) -> bool {
    lines
        .iter()
        .enumerate()
        .any(|(i, line)| match kind.is_time_line(i) {
            true => line.get(COUNT) != 0,
            false => (1..CELLS).any(|cell| line.get(cell) != 0),
        })
}

/// Adds a bucket to another that only the caller writes; true if that wrapped.
pub(super) fn add_bucket(into: &AtomicU32, of: &AtomicU32) -> bool {
    let (sum, wrapped) = into
        .load(Ordering::Relaxed)
        .overflowing_add(of.load(Ordering::Relaxed));
    into.store(sum, Ordering::Relaxed);
    wrapped
}

fn line_number(arena: &[Line], line: &Line) -> usize {
    (std::ptr::from_ref(line).addr() - arena.as_ptr().addr()) / LINE_BYTES
}

/// Adds the figures of one line to another: sums are added, extremes combined.
pub(super) fn add_cells(kind: Kind, i: usize, to: &Line, from: &Line) {
    if kind.is_time_line(i) {
        for cell in [COUNT, CONTENDED, SUM] {
            to.add(cell, from.get(cell));
        }
        // A statement's last-seen time.
        match kind {
            Kind::Statement => to.set(EXTRA, to.get(EXTRA).max(from.get(EXTRA))),
            _ => to.add(EXTRA, from.get(EXTRA)),
        }
        combine_extremes(to, from);
    } else if kind == Kind::Error {
        to.add(error::RAISED, from.get(error::RAISED));
        to.add(error::HANDLED, from.get(error::HANDLED));
        let (first, other) = (to.get(error::FIRST_SEEN), from.get(error::FIRST_SEEN));
        to.set(
            error::FIRST_SEEN,
            match (first, other) {
                (0, one) | (one, 0) => one,
                (one, other) => one.min(other),
            },
        );
        to.set(
            error::LAST_SEEN,
            to.get(error::LAST_SEEN).max(from.get(error::LAST_SEEN)),
        );
    } else {
        for cell in 1..CELLS {
            to.add(cell, from.get(cell));
        }
    }
}
