//! The histograms of statements: MySQL 8.0's 450 buckets, fifty to the decade, from 10 µs on.
//!
//! Statements are recorded in the same buckets as in the tables, so that these need no interpolation. A
//! histogram has four blocks that are allocated when first used; most digests need one or two.

use crate::line::{LINE_BYTES, MAX_ITEM_LINES};

/// Buckets, as `events_statements_histogram_global` has them.
pub const FINE_BUCKETS: usize = 450;
/// Buckets in a block: two and a half decades.
pub const FINE_BLOCK_BUCKETS: usize = 126;
/// Blocks of a histogram.
pub const FINE_BLOCKS: usize = 4;
/// Lines of a block: the tag, then the buckets as 32-bit counts.
pub const FINE_BLOCK_LINES: usize = 8;

/// The line of a digest's row whose first cell has its [`Seeds`].
pub const SEED_LINE: usize = 2;

const _: () = assert!(8 + FINE_BLOCK_BUCKETS * 4 <= FINE_BLOCK_LINES * LINE_BYTES);
const _: () = assert!(FINE_BLOCK_LINES <= MAX_ITEM_LINES);
const _: () = assert!(FINE_BLOCKS * FINE_BLOCK_BUCKETS >= FINE_BUCKETS);

/// In [`crate::control::Control::fine_truncated`]: the histogram of all statements.
pub const ALL: u32 = 1;
/// In [`crate::control::Control::fine_truncated`]: the histograms of digests.
pub const DIGESTS: u32 = 2;

/// The buckets of a digest's first statements in a bank, packed into one cell: most digests of most
/// threads run a few times, and a block of half a KiB for each would be an idle connection's largest
/// part. They remain when a block is created: the histogram is the sum of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds(u64);

/// Bits of a seed: a bucket + 1, 0 = none.
const SEED_BITS: u32 = 10;
/// Seeds in a cell.
pub const SEEDS: u32 = u64::BITS / SEED_BITS;

const _: () = assert!(FINE_BUCKETS < 1 << SEED_BITS);

impl Seeds {
    /// Reads a cell.
    pub const fn from_cell(cell: u64) -> Self {
        Self(cell)
    }

    /// The cell's value.
    pub const fn to_cell(self) -> u64 {
        self.0
    }

    /// Adds a bucket; `None` if the cell is full.
    pub fn with(self, bucket: usize) -> Option<Self> {
        let taken = u64::BITS - self.0.leading_zeros();
        let place = taken.div_ceil(SEED_BITS);
        (place < SEEDS).then_some(Self(self.0 | (bucket as u64 + 1) << (place * SEED_BITS)))
    }

    /// The buckets in the order they were added; invalid ones are omitted.
    pub fn buckets(self) -> impl Iterator<Item = usize> {
        (0..SEEDS).filter_map(move |place| {
            let seed = (self.0 >> (place * SEED_BITS)) as usize & ((1 << SEED_BITS) - 1);
            seed.checked_sub(1).filter(|bucket| *bucket < FINE_BUCKETS)
        })
    }
}

/// Where bucket 1 begins, in picoseconds: 10 µs (MySQL manual, statement histogram tables).
const FIRST_PS: f64 = 10_000_000.0;
/// From one bucket to the next: the fiftieth root of ten.
const FACTOR: f64 = 1.047_128_548_050_899_6;

/// Lower bound of each bucket in picoseconds, and an upper bound that no time reaches.
pub const fn bounds_ps() -> [u64; FINE_BUCKETS + 1] {
    let mut bounds = [0; FINE_BUCKETS + 1];
    let mut low = FIRST_PS;
    let mut i = 1;
    while i < FINE_BUCKETS {
        bounds[i] = low as u64;
        low *= FACTOR;
        i += 1;
    }
    bounds[FINE_BUCKETS] = u64::MAX;
    bounds
}

/// The same, computed once.
pub static BOUNDS_PS: [u64; FINE_BUCKETS + 1] = bounds_ps();

/// Finds the bucket of a time in ticks: sixteen steps per octave give an approximate bucket, and at
/// most two comparisons the exact one.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// The bucket of the least time of each step.
    steps: [u16; STEPS],
    /// The first tick of each bucket, and two bounds that no time reaches.
    bounds: [u64; FINE_BUCKETS + 2],
}

/// Bits of a time, below its leading one, that choose the step within the octave.
const STEP_BITS: u32 = 4;
const STEPS: usize = 64 << STEP_BITS;

/// The step of a time.
#[inline(always)]
const fn step_of(ticks: u64) -> usize {
    // Zero is treated as one; the leading one is shifted out, and the next four bits select the step.
    let ticks = ticks | 1;
    let zeros = ticks.leading_zeros();
    let octave = (63 - zeros) as usize;
    let below = (ticks << zeros) << 1;
    octave << STEP_BITS | (below >> (64 - STEP_BITS)) as usize
}

/// The least time of a step.
const fn step_low(step: usize) -> u64 {
    let octave = (step >> STEP_BITS) as u32;
    let sub = (step & ((1 << STEP_BITS) - 1)) as u64;
    // In the lowest octaves there are fewer times than steps.
    let one = 1u64 << octave;
    one + ((sub as u128 * one as u128) >> STEP_BITS) as u64
}

impl Buckets {
    /// For a clock with this number of ticks per second.
    pub fn new(ticks_per_second: u64) -> Self {
        let mut bounds = [u64::MAX; FINE_BUCKETS + 2];
        for (bound, ps) in bounds.iter_mut().zip(BOUNDS_PS).take(FINE_BUCKETS) {
            // The first tick that is displayed as at least the bound.
            let ticks = (u128::from(ps) * u128::from(ticks_per_second)).div_ceil(1_000_000_000_000);
            *bound = u64::try_from(ticks).unwrap_or(u64::MAX);
        }
        let mut steps = [0; STEPS];
        let mut bucket = 0;
        for (step, cell) in steps.iter_mut().enumerate() {
            let low = step_low(step);
            while bucket + 1 < FINE_BUCKETS && bounds[bucket + 1] <= low {
                bucket += 1;
            }
            *cell = bucket as u16;
        }
        Self { steps, bounds }
    }

    /// The bucket of a time below 2^62 (see [`crate::histogram::LIMIT`]).
    #[inline(always)]
    pub fn of(&self, ticks: u64) -> usize {
        let mut bucket = usize::from(self.steps[step_of(ticks)]);
        // The next bounds are farther apart than a step is wide, except for the widest steps, which
        // cover two bounds.
        bucket += usize::from(ticks >= self.bounds[bucket + 1]);
        bucket += usize::from(ticks >= self.bounds[bucket + 1]);
        bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_mysqls() {
        assert_eq!(BOUNDS_PS[0], 0);
        assert_eq!(BOUNDS_PS[1], 10_000_000);
        assert_eq!(BOUNDS_PS[2], 10_471_285);
        // Fifty buckets on is ten times as long, within the rounding of a product of fifty.
        for i in 1..FINE_BUCKETS - 50 {
            let ratio = BOUNDS_PS[i + 50] as f64 / BOUNDS_PS[i] as f64;
            assert!((ratio - 10.0).abs() < 1e-5, "{i}: {ratio}");
        }
        assert!(BOUNDS_PS.windows(2).all(|two| two[0] < two[1]));
        assert_eq!(BOUNDS_PS[FINE_BUCKETS], u64::MAX);
    }

    #[test]
    fn seeds_come_back_in_order_until_the_space_is_used() {
        let added = [0, 449, 0, 1, 448, 125];
        assert_eq!(added.len(), SEEDS as usize);
        let mut seeds = Seeds::default();
        for (i, bucket) in added.into_iter().enumerate() {
            assert!(seeds.buckets().eq(added[..i].iter().copied()));
            seeds = seeds.with(bucket).expect("room");
        }
        assert!(Seeds::from_cell(seeds.to_cell()).buckets().eq(added));
        assert_eq!(seeds.with(0), None);
        // Hostile bytes name no bucket that does not exist.
        assert_eq!(Seeds::from_cell(u64::MAX).buckets().count(), 0);
    }

    #[test]
    fn every_time_falls_into_the_bucket_whose_bounds_hold_it() {
        for frequency in [
            1_000_000_000,
            2_400_000_000,
            3_812_345_678,
            25_000_000,
            19_999_999_999,
        ] {
            let buckets = Buckets::new(frequency);
            let slow = |ticks: u64| {
                let bucket = buckets.bounds[..FINE_BUCKETS]
                    .iter()
                    .rposition(|b| *b <= ticks);
                bucket.unwrap_or(0)
            };
            let check =
                |ticks: u64| assert_eq!(buckets.of(ticks), slow(ticks), "{frequency}: {ticks}");
            for i in 0..FINE_BUCKETS {
                let bound = buckets.bounds[i];
                for ticks in [bound.saturating_sub(1), bound, bound + 1] {
                    check(ticks);
                }
            }
            for step in 0..STEPS {
                let low = step_low(step);
                for ticks in [low.saturating_sub(1), low, low.saturating_add(1)] {
                    check(ticks & ((1 << 62) - 1));
                }
            }
            for ticks in [0, 1, 2, (1 << 62) - 1] {
                check(ticks);
            }
        }
    }
}
