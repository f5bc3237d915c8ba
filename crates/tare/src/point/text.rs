//! Texts of statements, in the ring of their thread.

use std::sync::atomic::Ordering;

use tare_layout::event::{self, statement as at};
use tare_layout::name::{floor_boundary, load_bytes, pack};
use tare_layout::primitive::{AtomicU64, bump};

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

/// Stores the text of a statement, as far as it is stored, in its thread's ring.
#[inline(always)]
pub(super) fn store(local: &Local, record: &event::Statement, text: &str, program: u32) {
    let limit = local.engine.sql_text_bytes;
    if limit == 0 {
        return;
    }
    let cut = floor_boundary(text, limit);
    if cut < text.len()
        && let Some(bank) = local.own_bank()
    {
        bump(&bank.cut_texts, 1);
    }
    let position = append(local, &text.as_bytes()[..cut]);
    let length = cut as u64 | if cut < text.len() { at::TRUNCATED } else { 0 };
    at::set_text(record, position, length, program);
}

/// Stores the error of a statement.
#[cold]
pub(super) fn store_error(
    local: &Local,
    record: &event::Statement,
    errno: u32,
    sqlstate: &str,
    message: &str,
) {
    let schema = record.word(at::ERROR) & !0xffff_ffff;
    record.set(at::ERROR, schema | u64::from(errno));
    let state = sqlstate.as_bytes();
    record.set(at::SQLSTATE, pack(&state[..state.len().min(5)]));
    let cut = floor_boundary(message, at::MESSAGE_BYTES);
    let position = append(local, &message.as_bytes()[..cut]);
    record.set(at::MESSAGE, position & ((1 << 48) - 1) | (cut as u64) << 48);
}

/// A statement's stored text, for its digest's sample, and whether it was cut.
#[cold]
pub(super) fn stored(local: &Local, record: Option<&event::Statement>) -> Option<(String, bool)> {
    let record = record?;
    let ring = local.rings.text;
    let length = at::text_bytes(record.word(at::TEXT_AND_PROGRAM));
    if length == 0 {
        return None;
    }
    let first = record.word(at::TEXT_AT) as usize / 8;
    let words: Vec<AtomicU64> = (first..first + length.div_ceil(8))
        .map(|i| AtomicU64::new(ring[i & (ring.len() - 1)].load(Ordering::Relaxed)))
        .collect();
    let mut bytes = vec![0; length];
    load_bytes(&words, &mut bytes);
    let cut = record.word(at::TEXT_AND_PROGRAM) & at::TRUNCATED != 0;
    String::from_utf8(bytes).ok().map(|text| (text, cut))
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
