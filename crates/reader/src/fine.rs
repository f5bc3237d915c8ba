//! Statement histograms, in MySQL's 450 buckets.

use std::sync::atomic::Ordering;

use tare_layout::bank::plane;
use tare_layout::fine::{
    ALL, BOUNDS_PS, DIGESTS, FINE_BLOCK_BUCKETS, FINE_BLOCK_LINES, FINE_BLOCKS, FINE_BUCKETS,
    SEED_LINE, Seeds,
};
use tare_layout::line::{COUNT, HISTOGRAM, Item, Line, TAG, Tag};
use tare_layout::primitive::AtomicU64;

use crate::totals::Banks;

/// How long statements took: bucket `i` holds those from [`BOUNDS_PS`]`[i]` to below
/// [`BOUNDS_PS`]`[i + 1]` picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FineHistogram {
    /// Statements by bucket.
    pub counts: [u64; FINE_BUCKETS],
}

impl Default for FineHistogram {
    fn default() -> Self {
        Self {
            counts: [0; FINE_BUCKETS],
        }
    }
}

impl FineHistogram {
    /// Statements in all buckets.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.wrapping_add(*n))
    }

    /// The picoseconds below which the share `q` (0 to 1) of the statements lies: where the bucket of
    /// the statement it asks for ends, as in MySQL. `None` without statements.
    pub fn quantile_ps(&self, q: f64) -> Option<u64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let rank = ((total as f64 * q).ceil() as u64).clamp(1, total);
        let mut seen = 0u64;
        let found = self.counts.iter().position(|n| {
            seen = seen.saturating_add(*n);
            seen >= rank
        });
        Some(BOUNDS_PS[found.unwrap_or(FINE_BUCKETS - 1) + 1])
    }

    /// Adds counts that many threads write.
    pub(crate) fn add_shared(&mut self, cells: &[AtomicU64]) {
        for (sum, cell) in self.counts.iter_mut().zip(cells) {
            *sum = sum.wrapping_add(cell.load(Ordering::Relaxed));
        }
    }

    /// Takes counts of before away.
    pub(crate) fn take_shared(&mut self, cells: &[AtomicU64]) {
        for (sum, cell) in self.counts.iter_mut().zip(cells) {
            *sum = sum.saturating_sub(cell.load(Ordering::Relaxed));
        }
    }
}

impl Banks<'_> {
    /// How long all statements took, since that was truncated.
    pub fn statements(&self) -> FineHistogram {
        let view = self.view();
        self.unmerged(|| {
            let mut histogram = FineHistogram::default();
            for bank in 0..self.count() {
                let blocks = view.bank(bank).statements.load(Ordering::Acquire);
                self.add_fine(bank, blocks, ALL, &mut histogram);
            }
            // Counts beyond 32 bits; before there are so many nobody has touched the page. After a
            // truncation a bucket is a difference, and these, which are of all time, are left out.
            if !self.fine_truncated(ALL) && self.statements_counted() >> 32 != 0 {
                histogram.add_shared(view.fine_spill());
            }
            histogram
        })
    }

    /// Statements of all classes: an upper bound of what one bucket can have spilt.
    fn statements_counted(&self) -> u64 {
        let view = self.view();
        let mut sum = 0u64;
        for bank in 0..self.count() {
            let arena = view.arena(bank);
            for (at, tag) in self.items(bank).filter(|(_, tag)| tag.item == Item::Class) {
                if tag.lines == tare_layout::Kind::Statement.row_lines() {
                    sum = sum.saturating_add(arena[at].get(COUNT));
                }
            }
        }
        sum
    }

    /// Whether these histograms were ever truncated.
    pub(crate) fn fine_truncated(&self, which: u32) -> bool {
        let control = self.view().control();
        control.fine_truncated.load(Ordering::Acquire) & which != 0
    }

    /// Adds the histogram of the digest's row at `row`, less what a truncation kept beside it.
    pub(crate) fn add_fine_of_digest(
        &self,
        bank: usize,
        row: usize,
        histogram: &mut FineHistogram,
    ) {
        let view = self.view();
        let lines = view.arena(bank);
        let seeds = |lines: &[Line]| Seeds::from_cell(lines[row + SEED_LINE].get(TAG));
        // Before the row's own: it only gains seeds, so that none is taken away that is not there.
        let before = self
            .fine_truncated(DIGESTS)
            .then(|| seeds(view.plane(plane::TRUNCATED_GLOBAL, bank)));
        for bucket in seeds(lines).buckets() {
            histogram.counts[bucket] = histogram.counts[bucket].wrapping_add(1);
        }
        for bucket in before.into_iter().flat_map(Seeds::buckets) {
            histogram.counts[bucket] = histogram.counts[bucket].saturating_sub(1);
        }
        self.add_fine(bank, lines[row].get(HISTOGRAM), DIGESTS, histogram);
    }

    /// Adds the blocks that a cell of a bank names, less what a truncation kept beside them.
    fn add_fine(&self, bank: usize, blocks: u64, which: u32, histogram: &mut FineHistogram) {
        let (view, number) = (self.view(), plane::TRUNCATED_GLOBAL);
        let arena = view.arena(bank);
        let truncated = self.fine_truncated(which);
        for block in 0..FINE_BLOCKS {
            let at = usize::from((blocks >> (16 * block)) as u16);
            if at == 0 || at + FINE_BLOCK_LINES > arena.len() {
                continue;
            }
            if Tag::unpack(arena[at].get(0)).is_none_or(|tag| tag.item != Item::Fine) {
                continue;
            }
            let now = view.fine_block(bank, at);
            let then = truncated.then(|| view.plane_fine_block(number, bank, at));
            let sums = histogram.counts.iter_mut().skip(block * FINE_BLOCK_BUCKETS);
            for (i, sum) in sums.take(FINE_BLOCK_BUCKETS).enumerate() {
                let before = then.map_or(0, |then| then[i].load(Ordering::Relaxed));
                // 32 bits that may have wrapped since.
                let since = now[i].load(Ordering::Relaxed).wrapping_sub(before);
                *sum = sum.wrapping_add(u64::from(since));
            }
        }
    }

    /// Texts of statements and digests that were cut.
    pub fn cut_texts(&self) -> (u64, u64) {
        let view = self.view();
        self.unmerged(|| {
            (0..self.count()).fold((0u64, 0u64), |(texts, digests), bank| {
                let bank = view.bank(bank);
                (
                    texts.wrapping_add(bank.cut_texts.load(Ordering::Relaxed)),
                    digests.wrapping_add(bank.cut_digests.load(Ordering::Relaxed)),
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_end_the_bucket_of_the_statement_they_ask_for() {
        let mut histogram = FineHistogram::default();
        assert_eq!(histogram.quantile_ps(0.5), None);
        histogram.counts[0] = 90;
        histogram.counts[50] = 9;
        histogram.counts[449] = 1;
        assert_eq!(histogram.total(), 100);
        assert_eq!(histogram.quantile_ps(0.5), Some(10_000_000));
        assert_eq!(histogram.quantile_ps(0.9), Some(10_000_000));
        assert_eq!(histogram.quantile_ps(0.95), Some(BOUNDS_PS[51]));
        assert_eq!(histogram.quantile_ps(0.999), Some(u64::MAX));
        for q in [f64::NAN, -1.0, 2.0, f64::INFINITY] {
            let _ = histogram.quantile_ps(q);
        }
    }
}
