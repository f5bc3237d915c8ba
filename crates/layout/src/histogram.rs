//! Log-linear latency histograms: four buckets to the octave, in blocks that are allocated when
//! first needed.
//!
//! A bucket is at most 25 % wide, so a percentile read from its middle is within 12.5 %. The
//! latencies of one class rarely span more than sixteen octaves (1 ns to 60 µs, say), so that most
//! classes need one block.

use crate::line::{LINE_BYTES, MAX_ITEM_LINES};

/// Bits of a value, below its leading one, that choose the bucket within the octave.
const SUB_BITS: u32 = 2;
/// Buckets in a block: sixteen octaves of four.
pub const BLOCK_BUCKETS: usize = 64;
/// Blocks of a histogram.
pub const BLOCKS: usize = 4;
/// Buckets of a histogram; the last few are never used.
pub const BUCKETS: usize = BLOCK_BUCKETS * BLOCKS;
/// Lines of a block: the tag, then the buckets as 32-bit counts.
pub const BLOCK_LINES: usize = 5;

const _: () = assert!(8 + BLOCK_BUCKETS * 4 <= BLOCK_LINES * LINE_BYTES);
const _: () = assert!(BLOCK_LINES <= MAX_ITEM_LINES);

/// Added to a latency before its logarithm is taken, so that no bucket below the first complete octave
/// is empty and there is no special case.
const SHIFT: u64 = 1 << SUB_BITS;

/// Latencies are below 2^62 ticks (decades): a longer one is counted as a broken clock.
pub const LIMIT: u64 = 1 << 62;

/// The bucket of a latency in ticks, below [`LIMIT`].
#[inline(always)]
pub const fn bucket_of(ticks: u64) -> usize {
    let shifted = ticks.wrapping_add(SHIFT);
    bucket_at(shifted, shifted.leading_zeros())
}

/// Latencies below this, some 100 µs, are in a histogram's first block.
pub const FIRST_BLOCK: u64 = bucket_low(BLOCK_BUCKETS);

/// The bucket of a latency below [`FIRST_BLOCK`]. The exponent of a floating-point number and the first
/// bits of its fraction are a log-linear scale: this takes three instructions, [`bucket_of`] a dozen.
#[inline(always)]
pub const fn bucket_in_first_block(ticks: u64) -> usize {
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1 - SUB_BITS;
    const FIRST: u64 = (SHIFT as f64).to_bits() >> FRACTION_BITS;
    // Signed, for which there is an instruction; and exact, because it is far below 2^53.
    let shifted = (ticks.wrapping_add(SHIFT)) as i64 as f64;
    (shifted.to_bits() >> FRACTION_BITS).wrapping_sub(FIRST) as usize
}

/// The bucket of a shifted value of at least four, with this number of leading zeros. Written so that
/// the parts that depend only on the zeros are computed in parallel.
#[inline(always)]
const fn bucket_at(shifted: u64, zeros: u32) -> usize {
    // The leading one and the bits below it: 4 + sub.
    let top = shifted.wrapping_shl(zeros) >> (63 - SUB_BITS);
    let octave = (63 - SUB_BITS).wrapping_sub(zeros) as usize;
    (octave << SUB_BITS)
        .wrapping_sub(1 << SUB_BITS)
        .wrapping_add(top as usize)
}

/// The lowest latency in ticks that falls into bucket `i`; [`LIMIT`] for those never used.
pub const fn bucket_low(i: usize) -> u64 {
    let octave = (i >> SUB_BITS) as u32;
    let sub = (i & ((1 << SUB_BITS) - 1)) as u64;
    if octave >= 60 {
        return LIMIT;
    }
    ((SHIFT + sub) << octave) - SHIFT
}

/// One more than the highest latency of bucket `i`.
pub const fn bucket_high(i: usize) -> u64 {
    bucket_low(i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_adjacent_and_include_their_lower_bounds() {
        assert_eq!(bucket_low(0), 0);
        for i in 0..BUCKETS {
            let (low, high) = (bucket_low(i), bucket_high(i));
            if low < LIMIT {
                assert_eq!(bucket_of(low), i);
            }
            if high < LIMIT {
                assert_eq!(bucket_of(high - 1), i);
            }
        }
        assert!(bucket_of(LIMIT - 1) < BUCKETS);
    }

    #[test]
    fn both_ways_find_the_same_bucket() {
        for ticks in 0..FIRST_BLOCK {
            assert_eq!(bucket_in_first_block(ticks), bucket_of(ticks), "{ticks}");
        }
        assert_eq!(bucket_of(FIRST_BLOCK), BLOCK_BUCKETS);
    }

    #[test]
    fn a_bucket_is_at_most_a_quarter_of_its_values_wide() {
        for i in 0..BUCKETS {
            let (low, high) = (bucket_low(i), bucket_high(i));
            // Below the shift's reach a bucket is one or two ticks.
            assert!((high - low) * 4 <= low + SHIFT, "bucket {i}: {low}..{high}");
        }
    }
}
