//! Texts of statements, in the ring of their thread.

use std::sync::atomic::Ordering;

use tare_layout::event::{self, statement as at};
use tare_layout::name::{load_bytes, pack};
use tare_layout::primitive::AtomicU64;

use crate::engine::local::Local;

/// Appends bytes to the thread's text ring, at the start of a word. Returns their position.
#[inline]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(super) fn append(local: &Local, bytes: &[u8]) -> u64 {
    let ring = local.rings.text;
    let position = local.slot.text_at.load(Ordering::Relaxed);
    let words = bytes.len().div_ceil(8);
    // Stored first: a reader that finds the old text overwritten then also finds that the ring has
    // moved on.
    local
        .slot
        .text_at
        .store(position + 8 * words as u64, Ordering::Relaxed);
    std::sync::atomic::fence(Ordering::Release);
    let first = position as usize / 8;
    let (words, rest) = bytes.as_chunks();
    let put = |i: usize, word| {
        ring[(first + i) & (ring.len() - 1)].store(word, Ordering::Relaxed);
    };
    for (i, chunk) in words.iter().enumerate() {
        put(i, u64::from_le_bytes(*chunk));
    }
    if !rest.is_empty() {
        put(words.len(), pack(rest));
    }
    position
}

/// A statement's stored text, for its digest's sample, and whether it was cut.
#[cold]
pub(super) fn stored(local: &Local, record: Option<&event::Statement>) -> Option<(String, bool)> {
    let record = record?;
    let ring = local.rings.text;
    let length = at::text_bytes(record.word(at::TEXT_AND_PROGRAM));
    let first = record.word(at::TEXT_AT) as usize / 8;
    let words: Vec<AtomicU64> = (first..first + length.div_ceil(8))
        .map(|i| AtomicU64::new(ring[i & (ring.len() - 1)].load(Ordering::Relaxed)))
        .collect();
    let mut bytes = vec![0; length];
    load_bytes(&words, &mut bytes);
    let cut = record.word(at::TEXT_AND_PROGRAM) & at::TRUNCATED != 0;
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.is_empty())
        .map(|text| (text, cut))
}

/// Copies a text from the thread's ring; it begins at a word.
pub(super) fn copy(local: &Local, position: u64, length: usize, into: &[AtomicU64]) {
    let ring = local.rings.text;
    let first = position as usize / 8;
    for (i, cell) in into.iter().take(length.div_ceil(8)).enumerate() {
        let word = ring[(first + i) & (ring.len() - 1)].load(Ordering::Relaxed);
        cell.store(word, Ordering::Relaxed);
    }
}
