//! Log-linear latency histograms: four buckets to the octave, in blocks that are allocated when
//! first needed.
//!
//! A bucket is at most 25 % wide, so a percentile read from its middle is within 12.5 %. The
//! latencies of one class rarely span more than fifteen octaves (2 ns to 60 µs, say), so that most
//! classes need one block of 256 bytes.

use crate::line::LINE_BYTES;

/// Bits of a value, below its leading one, that choose the bucket within the octave.
const SUB_BITS: u32 = 2;
/// Buckets in a block: fifteen octaves of four.
pub const BLOCK_BUCKETS: usize = 60;
/// Blocks of a histogram.
pub const BLOCKS: usize = 4;
/// Buckets of a histogram.
pub const BUCKETS: usize = BLOCK_BUCKETS * BLOCKS;
/// Lines of a block: the tag, then the buckets as 32-bit counts.
pub const BLOCK_LINES: usize = 4;

const _: () = assert!(8 + BLOCK_BUCKETS * 4 <= BLOCK_LINES * LINE_BYTES);

/// The bucket of a latency in ticks.
#[inline(always)]
pub const fn bucket_of(ticks: u64) -> usize {
    if ticks < 1 << SUB_BITS {
        return ticks as usize;
    }
    let exponent = 63 - ticks.leading_zeros();
    let sub = (ticks >> (exponent - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
    let bucket = ((exponent - SUB_BITS + 1) << SUB_BITS) as usize + sub;
    if bucket < BUCKETS {
        bucket
    } else {
        BUCKETS - 1
    }
}

/// The lowest latency in ticks that falls into bucket `i`.
pub const fn bucket_low(i: usize) -> u64 {
    if i < 1 << SUB_BITS {
        return i as u64;
    }
    let octave = (i >> SUB_BITS) as u32;
    let sub = (i & ((1 << SUB_BITS) - 1)) as u64;
    ((1 << SUB_BITS) + sub) << (octave - 1)
}

/// One more than the highest latency of bucket `i`; `u64::MAX` for the last.
pub const fn bucket_high(i: usize) -> u64 {
    if i + 1 >= BUCKETS {
        u64::MAX
    } else {
        bucket_low(i + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_touch_and_hold_their_bounds() {
        for i in 0..BUCKETS - 1 {
            assert_eq!(bucket_of(bucket_low(i)), i);
            assert_eq!(bucket_of(bucket_high(i) - 1), i);
            assert_eq!(bucket_high(i), bucket_low(i + 1));
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_bucket_is_at_most_a_quarter_of_its_value_wide() {
        for i in 4..BUCKETS - 1 {
            let (low, high) = (bucket_low(i), bucket_high(i));
            assert!((high - low) * 4 <= low, "bucket {i}: {low}..{high}");
        }
    }
}
