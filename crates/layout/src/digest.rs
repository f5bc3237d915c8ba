//! Statement digests: the rows of `events_statements_summary_by_digest`.

use crate::histogram::BUCKETS;
use crate::line::Line;
use crate::primitive::{AtomicU32, AtomicU64};

/// Low half of [`Digest::state`]: can be read.
pub const READY: u64 = 2;
/// Low half of [`Digest::state`]: a thread is filling it.
pub const MAKING: u64 = 1;

/// The value of [`Digest::state`], and with a digest's id for `state` that of a place in the digest
/// index.
///
/// Digests are numbered from 1 as they come; the index, an open-addressing table by hash, finds
/// them. What belongs to an older generation than the table's counts as free, so that TRUNCATE is
/// one store; within a generation nothing ever goes, so that a search stops at the first free place.
#[inline(always)]
pub const fn state(generation: u32, state: u64) -> u64 {
    (generation as u64) << 32 | state
}

/// How many places a digest may stand from its hash.
pub const PROBES: usize = 64;

/// The fixed part of a digest. The normalised text and the sample text follow, each of the
/// geometry's `digest_text_bytes`. Digest 0 is "all else": statements that found the table full.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Digest {
    /// See [`state`].
    pub state: AtomicU64,
    /// Number of the schema, 0 = none.
    pub schema: AtomicU32,
    /// Bytes of normalised text.
    pub text_length: AtomicU32,
    /// SHA-256 of the token stream.
    pub hash: [AtomicU64; 4],
    /// Ticks when first seen.
    pub first_seen: AtomicU64,

    /// Odd while the sample is being replaced.
    pub sample_turn: AtomicU32,
    /// Bytes of sample text.
    pub sample_length: AtomicU32,
    /// Ticks when the sample ended.
    pub sample_seen: AtomicU64,
    /// What the sample took, in ticks.
    pub sample_wait: AtomicU64,
    _reserved: [AtomicU64; 5],

    /// Counts of threads that had no row of their own left; written with atomic adds.
    pub shared: [Line; 4],
    /// Their histogram.
    pub shared_histogram: [AtomicU64; BUCKETS],
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            state: AtomicU64::new(0),
            schema: AtomicU32::new(0),
            text_length: AtomicU32::new(0),
            hash: core::array::from_fn(|_| AtomicU64::new(0)),
            first_seen: AtomicU64::new(0),
            sample_turn: AtomicU32::new(0),
            sample_length: AtomicU32::new(0),
            sample_seen: AtomicU64::new(0),
            sample_wait: AtomicU64::new(0),
            _reserved: core::array::from_fn(|_| AtomicU64::new(0)),
            shared: Default::default(),
            shared_histogram: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}
