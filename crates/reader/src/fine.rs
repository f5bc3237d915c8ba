//! Statement histograms, in MySQL's 450 buckets.

use std::sync::atomic::Ordering;

use tare_layout::bank::baseline;
use tare_layout::fine::{
    ALL, BOUNDS_PS, DIGESTS, FINE_BLOCK_BUCKETS, FINE_BLOCK_LINES, FINE_BLOCKS, FINE_BUCKETS,
    SEED_LINE, Seeds,
};
use tare_layout::line::{COUNT, HISTOGRAM, Item, Line, TAG, Tag};
use tare_layout::primitive::AtomicU64;

use crate::totals::Banks;

/// The latencies of statements: bucket `i` counts those from [`BOUNDS_PS`]`[i]` to below
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

    /// The quantile `q` (0 to 1) in picoseconds: the end of that statement's bucket, as in MySQL. `None`
    /// without statements.
    pub fn quantile_ps(&self, q: f64) -> Option<u64> {
        quantile_ps(self.counts.iter().copied().enumerate(), q)
    }

    /// Adds counts that many threads write.
    pub(crate) fn add_shared(&mut self, cells: &[AtomicU64]) {
        for (sum, cell) in self.counts.iter_mut().zip(cells) {
            *sum = sum.wrapping_add(cell.load(Ordering::Relaxed));
        }
    }
}

/// The latencies of one digest among thousands: only the buckets with statements, of which there are few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseHistogram {
    /// Bucket and statements, by bucket.
    counts: Box<[(u16, u64)]>,
}

impl SparseHistogram {
    /// Statements in all buckets.
    pub fn total(&self) -> u64 {
        self.counts
            .iter()
            .fold(0, |sum, (_, n)| sum.wrapping_add(*n))
    }

    /// As [`FineHistogram::quantile_ps`].
    pub fn quantile_ps(&self, q: f64) -> Option<u64> {
        let counts = self.counts.iter();
        quantile_ps(counts.map(|(bucket, n)| (usize::from(*bucket), *n)), q)
    }

    /// All buckets.
    pub fn to_fine(&self) -> FineHistogram {
        let mut fine = FineHistogram::default();
        for (bucket, n) in &self.counts {
            fine.counts[usize::from(*bucket)] = *n;
        }
        fine
    }
}

/// The end of the bucket of the statement at quantile `q`.
fn quantile_ps(counts: impl Iterator<Item = (usize, u64)> + Clone, q: f64) -> Option<u64> {
    let total = counts.clone().fold(0u64, |sum, (_, n)| sum.wrapping_add(n));
    if total == 0 {
        return None;
    }
    let rank = ((total as f64 * q).ceil() as u64).clamp(1, total);
    let mut cumulative = 0u64;
    let mut counts = counts;
    let first = counts.find(|(_, n)| {
        cumulative = cumulative.saturating_add(*n);
        cumulative >= rank
    });
    let bucket = first.map_or(FINE_BUCKETS - 1, |(bucket, _)| bucket);
    Some(BOUNDS_PS[bucket + 1])
}

/// The counts that each bank adds to a bucket of a digest's histogram, or subtracts for the time before a
/// truncation, modulo 2^64.
#[derive(Debug, Default)]
pub(crate) struct Additions(Vec<(u16, u64)>);

impl Additions {
    fn add(&mut self, bucket: usize, n: u64) {
        if n != 0 {
            self.0.push((bucket as u16, n));
        }
    }
}

/// Adds up digest after digest in one array: a histogram for each would take 36 MB for a full table.
pub(crate) struct Adder {
    counts: [u64; FINE_BUCKETS],
}

impl Adder {
    pub(crate) fn new() -> Self {
        Self {
            counts: [0; FINE_BUCKETS],
        }
    }

    /// The sum of the banks' additions and of the shared counts, less the shared counts at a truncation.
    pub(crate) fn sum(
        &mut self,
        additions: &Additions,
        shared: &[AtomicU64],
        truncated: &[AtomicU64],
    ) -> SparseHistogram {
        self.counts.fill(0);
        for (bucket, n) in &additions.0 {
            let sum = &mut self.counts[usize::from(*bucket)];
            *sum = sum.wrapping_add(*n);
        }
        for (sum, cell) in self.counts.iter_mut().zip(shared) {
            *sum = sum.wrapping_add(cell.load(Ordering::Relaxed));
        }
        for (sum, cell) in self.counts.iter_mut().zip(truncated) {
            *sum = sum.wrapping_sub(cell.load(Ordering::Relaxed));
        }
        // For a moment the counts at a truncation may exceed those that were read before it.
        let counts = self.counts.iter().enumerate();
        let counts = counts.filter(|(_, n)| **n != 0 && (**n as i64) > 0);
        SparseHistogram {
            counts: counts.map(|(bucket, n)| (bucket as u16, *n)).collect(),
        }
    }
}

impl Banks<'_> {
    /// The latencies of all statements since the histogram was truncated.
    pub fn statements(&self) -> FineHistogram {
        let view = self.view();
        self.unmerged(|| {
            let mut histogram = FineHistogram::default();
            for bank in 0..self.count() {
                let blocks = view.bank(bank).statements.load(Ordering::Acquire);
                self.add_fine(bank, blocks, ALL, |bucket, n| {
                    let sum = &mut histogram.counts[bucket];
                    *sum = sum.wrapping_add(n);
                });
            }
            // Counts beyond 32 bits; their page is not allocated before. After a truncation a bucket is a
            // difference, and these counts, which are of all time, are left out.
            if !self.fine_truncated(ALL) && self.statements_counted() >> 32 != 0 {
                histogram.add_shared(view.fine_spill());
            }
            histogram
        })
    }

    /// Statements of all classes: an upper bound of one bucket's spilt count.
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

    /// Adds the histogram of the digest's row at `row`, less its baseline.
    pub(crate) fn add_fine_of_digest(&self, bank: usize, row: usize, additions: &mut Additions) {
        let view = self.view();
        let lines = view.arena(bank);
        let seeds = |lines: &[Line]| Seeds::from_cell(lines[row + SEED_LINE].get(TAG));
        // Read before the row itself, which only gains seeds, so that no seed is subtracted that was not
        // added.
        let before = self
            .fine_truncated(DIGESTS)
            .then(|| seeds(view.baseline(baseline::TRUNCATED_GLOBAL, bank)));
        for bucket in seeds(lines).buckets() {
            additions.add(bucket, 1);
        }
        for bucket in before.into_iter().flat_map(Seeds::buckets) {
            additions.add(bucket, 1u64.wrapping_neg());
        }
        self.add_fine(bank, lines[row].get(HISTOGRAM), DIGESTS, |bucket, n| {
            additions.add(bucket, n);
        });
    }

    /// Calls `add` with the buckets of the blocks that a cell of a bank names, less their baselines.
    fn add_fine(&self, bank: usize, blocks: u64, which: u32, mut add: impl FnMut(usize, u64)) {
        let (view, number) = (self.view(), baseline::TRUNCATED_GLOBAL);
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
            let then = truncated.then(|| view.baseline_fine_block(number, bank, at));
            let first = block * FINE_BLOCK_BUCKETS;
            for i in 0..FINE_BLOCK_BUCKETS.min(FINE_BUCKETS - first) {
                let before = then.map_or(0, |then| then[i].load(Ordering::Relaxed));
                // 32 bits that may have wrapped since.
                let since = now[i].load(Ordering::Relaxed).wrapping_sub(before);
                add(first + i, u64::from(since));
            }
        }
    }

    /// The number of statement texts that were read for a digest.
    pub fn read_texts(&self) -> u64 {
        let view = self.view();
        let read = |bank| view.bank(bank).read_texts.load(Ordering::Relaxed);
        self.unmerged(|| (0..self.count()).fold(0, |sum: u64, bank| sum.wrapping_add(read(bank))))
    }

    /// The numbers of statement texts and of digest texts that were cut.
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
    fn a_quantile_is_the_end_of_its_statements_bucket() {
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
