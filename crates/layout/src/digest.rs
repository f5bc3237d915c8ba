//! Statement digests: the rows of `events_statements_summary_by_digest`.

use crate::line::Line;
use crate::primitive::{AtomicU32, AtomicU64};

/// Low half of [`Digest::state`]: can be read.
pub const READY: u64 = 2;
/// Low half of [`Digest::state`]: a thread is filling it.
pub const MAKING: u64 = 1;

/// Two numbers in one word: the value of [`Digest::state`] is an incarnation with [`READY`] or
/// [`MAKING`], that of a place in the digest index a generation with a digest's number.
///
/// Digests are numbered from 1 as they come; the index, an open-addressing table by hash, finds
/// them. What belongs to an older generation than the table's counts as free, so that TRUNCATE is
/// one store. When all numbers are in use, the digest that was least recently used is evicted: its
/// number becomes another's, and its incarnation, which counts how often that happened, tells what
/// is still about the one before.
#[inline(always)]
pub const fn state(high: u32, low: u64) -> u64 {
    (high as u64) << 32 | low
}

/// How many places a digest may stand from its hash.
pub const PROBES: usize = 64;

/// In [`Digest::text_flags`]: the statement was longer than the text.
pub const CUT: u32 = 1;
/// In [`Digest::sample_length`]: the statement was longer than the sample.
pub const SAMPLE_CUT: u32 = 1 << 31;

/// The fixed part of a digest. Behind it lie the normalised text (the geometry's
/// `digest_text_bytes`), the sample's (`sql_text_bytes`), the histogram of `shared`, and the one
/// of when the histograms were truncated. Digest 0 is "all else": statements that found no room, and
/// those of evicted digests.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Digest {
    /// See [`state`].
    pub state: AtomicU64,
    /// Generation of the table that it belongs to.
    pub generation: AtomicU32,
    /// Number of the schema, 0 = none.
    pub schema: AtomicU32,
    /// SHA-256 of the token stream.
    pub hash: [AtomicU64; 4],
    /// Ticks when first seen.
    pub first_seen: AtomicU64,
    /// Bytes of normalised text.
    pub text_length: AtomicU32,
    /// [`CUT`]
    pub text_flags: AtomicU32,

    /// Odd while the sample is being replaced.
    pub sample_sequence: AtomicU32,
    /// Bytes of sample text, and [`SAMPLE_CUT`].
    pub sample_length: AtomicU32,
    /// Ticks when the sample ended.
    pub sample_seen: AtomicU64,
    /// What the sample took, in ticks.
    pub sample_wait: AtomicU64,

    /// Counts of threads that had no row of their own left; written with atomic adds.
    pub shared: [Line; 4],
}
