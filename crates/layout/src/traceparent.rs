//! The `traceparent` of the request that a session's client has sent: a text of W3C's Trace Context.
//!
//! The slot's thread is its only writer. It writes the text before the request's statement begins, and only if the
//! request or the one before it has a text. The text is at the slot's end, so that a thread without one, and its
//! readers, do not touch another page.

#[cfg(not(loom))]
use crate::line::LINE_BYTES;
use crate::name::{load_bytes, store_bytes};
use crate::primitive::{AtomicU32, AtomicU64, Ordering, fence};

const WORDS: usize = 7;

/// Bytes that fit. A text of version 00 has 55.
pub const MAX_BYTES: usize = 8 * WORDS;

/// The text and its length, which belong together.
#[repr(C)]
#[derive(Debug)]
pub struct TraceparentText {
    /// Bytes of the text; 0 = none.
    length: AtomicU64,
    words: [AtomicU64; WORDS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<TraceparentText>() == LINE_BYTES);

impl Default for TraceparentText {
    fn default() -> Self {
        Self {
            length: AtomicU64::new(0),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

/// A text under a sequence lock.
#[derive(Clone, Copy, Debug)]
pub struct Traceparent<'a> {
    /// Odd while the text changes; 0: there was never one.
    pub sequence: &'a AtomicU32,
    /// At the slot's end.
    pub text: &'a TraceparentText,
}

impl Traceparent<'_> {
    /// Stores a text; empty = none. A longer one than fits is not stored. The caller is the only writer.
    pub fn set(&self, text: &[u8]) {
        let text = if text.len() > MAX_BYTES { &[] } else { text };
        // After the death of a writer it may be odd.
        let sequence = self.sequence.load(Ordering::Relaxed) | 1;
        self.sequence.store(sequence, Ordering::Relaxed);
        // Pairs with the fence in `get`: a reader that sees a part of the text also sees that the sequence changed.
        fence(Ordering::Release);
        store_bytes(&self.text.words, text);
        self.text.length.store(text.len() as u64, Ordering::Relaxed);
        // Pairs with `sequence`.
        let next = match sequence.wrapping_add(1) {
            0 => 2,
            next => next,
        };
        self.sequence.store(next, Ordering::Release);
    }

    /// The thread has none from now on.
    pub fn clear(&self) {
        if self.sequence.load(Ordering::Relaxed) != 0 {
            self.set(b"");
        }
    }

    /// The number of the text, for `get`. A reader takes it before it reads which statement runs.
    pub fn sequence(&self) -> u32 {
        self.sequence.load(Ordering::Acquire)
    }

    /// Copies the text into `out` and returns it. `None`: it has changed since it had this number.
    pub fn get<'a>(&self, sequence: u32, out: &'a mut [u8; MAX_BYTES]) -> Option<&'a [u8]> {
        if sequence == 0 {
            let is_same = self.sequence.load(Ordering::Relaxed) == 0;
            return is_same.then_some(&[]);
        }
        let length = self
            .text
            .length
            .load(Ordering::Relaxed)
            .min(MAX_BYTES as u64) as usize;
        load_bytes(&self.text.words, &mut out[..length]);
        fence(Ordering::Acquire);
        let is_same = self.sequence.load(Ordering::Relaxed) == sequence;
        (is_same && sequence.is_multiple_of(2)).then_some(&out[..length])
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_while_it_has_its_number() {
        let (sequence, text) = (AtomicU32::new(0), TraceparentText::default());
        let place = Traceparent {
            sequence: &sequence,
            text: &text,
        };
        place.clear();
        assert_eq!(place.sequence(), 0);
        let mut out = [0; MAX_BYTES];
        let first = place.sequence();
        assert_eq!(place.get(first, &mut out), Some(&b""[..]));
        place.set(&[b'a'; 55]);
        assert_eq!(place.get(first, &mut out), None);
        let second = place.sequence();
        assert_eq!(place.get(second, &mut out), Some(&[b'a'; 55][..]));
        place.set(&[b'b'; MAX_BYTES + 1]);
        assert_eq!(place.get(place.sequence(), &mut out), Some(&b""[..]));
        assert_eq!(place.get(second, &mut out), None);
        // It does not become 0 again.
        sequence.store(u32::MAX - 1, Ordering::Relaxed);
        place.set(b"");
        assert_eq!(place.sequence(), 2);
    }
}
