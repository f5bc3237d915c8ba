//! Statement digests: the rows of `events_statements_summary_by_digest`.

use crate::line::Line;
use crate::primitive::{AtomicU32, AtomicU64};

/// Low half of [`Digest::state`]: it can be read.
pub const READY: u64 = 2;
/// Low half of [`Digest::state`]: a thread is filling it.
pub const FILLING: u64 = 1;

/// Two numbers in one word: [`Digest::state`] has an incarnation and [`READY`] or [`FILLING`], an entry
/// of the digest index has a generation and a digest's number.
///
/// Digests are numbered from 1 in order; the index, an open-addressing table by hash, finds them. An
/// entry of an older generation than the table's counts as free, so that TRUNCATE is one store. When
/// all numbers are in use, the least recently used digest is evicted and another gets its number. The
/// number's incarnation, which counts how often that happened, distinguishes what still refers to the
/// previous one.
#[inline(always)]
pub const fn state(high: u32, low: u64) -> u64 {
    (high as u64) << 32 | low
}

/// The most entries between a digest's hash and its entry.
pub const PROBES: usize = 64;

/// In [`Digest::text_flags`]: the statement was longer than the text.
pub const CUT: u32 = 1;
/// In [`Digest::sample_length`]: the statement was longer than the sample.
pub const SAMPLE_CUT: u32 = 1 << 31;

/// The fixed part of a digest. It is followed by the normalised text (the geometry's
/// `digest_text_bytes`), the sample's text (`sql_text_bytes`), the histogram of `shared`, and its
/// values at the last truncation. Digest 0 is "all else": statements without space in the table, and
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
    /// Ticks when its row was created.
    pub first_seen: AtomicU64,
    /// Bytes of normalised text.
    pub text_length: AtomicU32,
    /// [`CUT`]
    pub text_flags: AtomicU32,

    /// Odd while the sample is being replaced.
    pub sample_sequence: AtomicU32,
    /// Bytes of sample text, and [`SAMPLE_CUT`].
    pub sample_length: AtomicU32,
    /// Ticks at the end of the sampled statement.
    pub sample_end: AtomicU64,
    /// The duration of the sampled statement, in ticks.
    pub sample_wait: AtomicU64,

    /// Counts of threads whose bank has no row for it; written with atomic adds.
    pub shared: [Line; 4],
}
