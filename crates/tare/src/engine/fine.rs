//! Statement histograms: of all statements of a bank, and of each digest's row.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare_layout::bank::baseline;
use tare_layout::fine::{
    ALL, DIGESTS, FINE_BLOCK_BUCKETS, FINE_BLOCK_LINES, FINE_BLOCKS, SEED_LINE, Seeds,
};
use tare_layout::line::{HISTOGRAM, Item, Line, TAG};
use tare_layout::shared::Lost;

use super::merge::add_bucket;
use super::state::Engine;

/// The location of a bucket: its block, and the bucket within it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(super) block: usize,
    pub(super) within: usize,
}

impl Place {
    /// The location of a bucket number.
    #[inline(always)]
    pub fn of(bucket: usize) -> Self {
        let block = bucket / FINE_BLOCK_BUCKETS;
        Self {
            block,
            within: bucket - block * FINE_BLOCK_BUCKETS,
        }
    }

    /// The bucket number.
    pub fn bucket(self) -> usize {
        self.block * FINE_BLOCK_BUCKETS + self.within
    }
}

impl Engine {
    /// Block `block` of a statement histogram in a bank that the caller owns, created if necessary.
    pub fn fine_block_of(&self, bank: usize, blocks: &AtomicU64, block: usize) -> Option<usize> {
        let named = blocks.load(Ordering::Relaxed);
        match (named >> (16 * block)) as u16 {
            0 => {
                let Some(at) = self.new_block(bank, Item::Fine, FINE_BLOCK_LINES) else {
                    self.lose(Lost::Histograms, 1);
                    return None;
                };
                // Release: a reader that finds the block finds it initialised.
                blocks.store(named | (at as u64) << (16 * block), Ordering::Release);
                Some(at)
            }
            at => Some(usize::from(at)),
        }
    }

    /// Whether these histograms were ever truncated.
    pub fn fine_truncated(&self, which: u32) -> bool {
        let control = self.view.control();
        control.fine_truncated.load(Ordering::Relaxed) & which != 0
    }

    /// The baseline of these histograms, unless nothing was ever written there.
    fn fine_baseline(&self, which: u32, bank: usize) -> Option<&'static [Line]> {
        self.fine_truncated(which)
            .then(|| self.view.baseline(baseline::TRUNCATED_GLOBAL, bank))
    }

    /// Empties the blocks of a histogram, and their values at the last truncation.
    pub fn clear_fine(&self, bank: usize, blocks: u64) {
        let truncated = self.fine_baseline(DIGESTS, bank);
        for (_, at) in fine_blocks(blocks) {
            let lines = &self.view.arena(bank)[at..at + FINE_BLOCK_LINES];
            zero(lines);
            if let Some(baseline) = truncated {
                zero(&baseline[at..at + FINE_BLOCK_LINES]);
            }
        }
    }

    /// Adds the histogram of a digest's row to the shared one, and its values at the last truncation to
    /// those of the shared one.
    pub fn share_fine(
        &self,
        bank: usize,
        row: usize,
        shared: &[AtomicU64],
        truncated: &[AtomicU64],
    ) {
        let arena = self.view.arena(bank);
        share_lines(arena, row, arena[row].get(HISTOGRAM), shared);
        if let Some(baseline) = self.fine_baseline(DIGESTS, bank) {
            share_lines(baseline, row, arena[row].get(HISTOGRAM), truncated);
        }
    }

    /// Adds a bank's histogram of all statements to another bank's.
    pub fn merge_fine(&self, to: usize, from: usize) {
        let target = &self.view.bank(to).statements;
        let blocks = self.view.bank(from).statements.load(Ordering::Relaxed);
        for (block, at) in fine_blocks(blocks) {
            let Some(into) = self.fine_block_of(to, target, block) else {
                continue;
            };
            let of = |arena: &'static [Line], at: usize| &arena[at..at + FINE_BLOCK_LINES];
            let (source, sum) = (of(self.view.arena(from), at), of(self.view.arena(to), into));
            for i in 0..FINE_BLOCK_BUCKETS {
                let bucket = block * FINE_BLOCK_BUCKETS + i;
                if add_bucket(fine_bucket(sum, i), fine_bucket(source, i))
                    && let Some(cell) = self.view.fine_spill().get(bucket)
                {
                    cell.fetch_add(1 << 32, Ordering::Relaxed);
                }
            }
            if let Some(baseline) = self.fine_baseline(ALL, from) {
                let truncated = of(self.view.baseline(baseline::TRUNCATED_GLOBAL, to), into);
                for i in 0..FINE_BLOCK_BUCKETS {
                    // Compared with the buckets modulo 2^32: these may wrap.
                    add_bucket(fine_bucket(truncated, i), fine_bucket(of(baseline, at), i));
                }
            }
        }
    }
}

/// Adds the values of the blocks, and of the seeds in the row at `row`, in an arena or in a baseline.
fn share_lines(lines: &[Line], row: usize, blocks: u64, shared: &[AtomicU64]) {
    let add = |bucket: usize, n: u64| {
        if let Some(cell) = shared.get(bucket).filter(|_| n != 0) {
            cell.fetch_add(n, Ordering::Relaxed);
        }
    };
    for (block, at) in fine_blocks(blocks) {
        let counts = &lines[at..at + FINE_BLOCK_LINES];
        for i in 0..FINE_BLOCK_BUCKETS {
            let n = fine_bucket(counts, i).load(Ordering::Relaxed);
            add(block * FINE_BLOCK_BUCKETS + i, u64::from(n));
        }
    }
    let seeds = Seeds::from_cell(lines[row + SEED_LINE].get(TAG));
    seeds.buckets().for_each(|bucket| add(bucket, 1));
}

fn zero(lines: &[Line]) {
    for i in 0..FINE_BLOCK_BUCKETS {
        let cell = fine_bucket(lines, i);
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

/// The blocks that a cell names: number and first line.
pub(super) fn fine_blocks(blocks: u64) -> impl Iterator<Item = (usize, usize)> {
    (0..FINE_BLOCKS)
        .map(move |block| (block, usize::from((blocks >> (16 * block)) as u16)))
        .filter(|(_, at)| *at != 0)
}

/// Bucket `i` of a block.
#[inline(always)]
pub(super) fn fine_bucket(block: &[Line], i: usize) -> &AtomicU32 {
    debug_assert!(i < FINE_BLOCK_BUCKETS && block.len() >= FINE_BLOCK_LINES);
    // SAFETY: a block is FINE_BLOCK_LINES lines, of which byte 8 + 4 * i .. + 4 is within for every
    // bucket (asserted in `fine`); 4-byte atomics over memory that is otherwise only accessed as
    // such.
    unsafe { &*block.as_ptr().cast::<u8>().add(8 + 4 * i).cast() }
}
