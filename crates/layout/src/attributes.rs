//! Connection attributes: what a thread's client reports of itself.
//!
//! Most clients send less than 248 bytes. A slot has space for these; what does not fit there follows in the
//! thread's part of the region `attributes`, whose pages exist once a client has sent more. A pair is
//!
//! ```text
//! bytes of the name 1 | bytes of the value 2 | name | value
//! ```
//!
//! in UTF-8, each text cut to the characters that its column has.

use crate::line::LINE_BYTES;
use crate::name::{load_bytes, store_bytes};
use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// Characters of ATTR_NAME.
pub const NAME_CHARACTERS: usize = 32;
/// Characters of ATTR_VALUE.
pub const VALUE_CHARACTERS: usize = 1024;

/// Stored bytes for each byte that was sent, at most. A byte of a character set is at most three bytes in
/// UTF-8, and a pair was sent with two bytes of lengths at least.
pub const EXPANSION: usize = 3;

const FIRST_WORDS: usize = 31;
/// Bytes in the slot.
pub const FIRST_BYTES: usize = 8 * FIRST_WORDS;

/// Bytes of lengths before a pair.
pub const PAIR_BYTES: usize = 3;

/// Bytes of what does not fit into the slot, for clients that send up to `sent` bytes.
pub(crate) const fn rest_bytes(sent: usize) -> usize {
    let rest = (EXPANSION * sent).saturating_sub(FIRST_BYTES);
    let lines = rest.div_ceil(LINE_BYTES);
    LINE_BYTES * if lines == 0 { 1 } else { lines }
}

/// The part of a thread's attributes that is in its slot.
#[repr(C)]
#[derive(Debug)]
pub struct FirstAttributes {
    /// Bytes, with the rest.
    length: AtomicU32,
    _reserved: AtomicU32,
    words: [AtomicU64; FIRST_WORDS],
}

impl Default for FirstAttributes {
    fn default() -> Self {
        Self {
            length: AtomicU32::new(0),
            _reserved: AtomicU32::new(0),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl FirstAttributes {
    /// The thread has none from now on.
    pub fn clear(&self) {
        self.length.store(0, Ordering::Relaxed);
    }
}

/// A thread's attributes.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// In its slot.
    pub first: &'a FirstAttributes,
    /// In the region.
    pub rest: &'a [AtomicU64],
}

impl Attributes<'_> {
    /// Bytes that fit.
    pub const fn capacity(&self) -> usize {
        FIRST_BYTES + 8 * self.rest.len()
    }

    /// Stores pairs, as far as they fit. The slot's sequence lock makes readers repeat what they read
    /// meanwhile.
    pub fn set(&self, pairs: &[u8]) {
        let pairs = &pairs[..pairs.len().min(self.capacity())];
        let (first, rest) = pairs.split_at(pairs.len().min(FIRST_BYTES));
        store_bytes(&self.first.words, first);
        store_bytes(self.rest, rest);
        self.first
            .length
            .store(pairs.len() as u32, Ordering::Relaxed);
    }

    /// Copies the pairs into `out` and returns them. Of hostile bytes it returns as many as fit.
    pub fn get<'b>(&self, out: &'b mut [u8]) -> &'b [u8] {
        let length = self.len().min(out.len());
        let (first, rest) = out[..length].split_at_mut(length.min(FIRST_BYTES));
        load_bytes(&self.first.words, first);
        load_bytes(self.rest, rest);
        &out[..length]
    }

    /// Bytes stored.
    pub fn len(&self) -> usize {
        (self.first.length.load(Ordering::Relaxed) as usize).min(self.capacity())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Cuts a name and a value to what their columns have, and returns them behind their lengths.
pub fn pair<'a>(name: &'a str, value: &'a str) -> ([u8; PAIR_BYTES], &'a str, &'a str) {
    let name = cut(name, NAME_CHARACTERS);
    let value = cut(value, VALUE_CHARACTERS);
    let [low, high] = (value.len() as u16).to_le_bytes();
    ([name.len() as u8, low, high], name, value)
}

fn cut(text: &str, characters: usize) -> &str {
    if text.len() <= characters {
        return text;
    }
    let mut indexes = text.char_indices();
    let end = indexes.nth(characters).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// The names and values of stored pairs. Hostile bytes end it.
pub fn pairs(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    core::iter::from_fn(move || {
        let (&[name, low, high], rest) = bytes.split_first_chunk::<PAIR_BYTES>()?;
        let (name, rest) = rest.split_at_checked(name.into())?;
        let (value, rest) = rest.split_at_checked(u16::from_le_bytes([low, high]).into())?;
        bytes = rest;
        Some((name, value))
    })
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    fn encode(name: &str, value: &str) -> Vec<u8> {
        let (lengths, name, value) = pair(name, value);
        [&lengths[..], name.as_bytes(), value.as_bytes()].concat()
    }

    #[test]
    fn pairs_continue_behind_the_slot() {
        let first = FirstAttributes::default();
        let rest: Vec<AtomicU64> = (0..rest_bytes(512) / 8)
            .map(|_| AtomicU64::new(0))
            .collect();
        let attributes = Attributes {
            first: &first,
            rest: &rest,
        };
        let value = "v".repeat(480);
        let bytes = [encode("a", &value), encode("z", "")].concat();
        attributes.set(&bytes);
        let mut out = Vec::from([0; 2000]);
        let stored: Vec<_> = pairs(attributes.get(&mut out)).collect();
        assert_eq!(stored, [(&b"a"[..], value.as_bytes()), (b"z", b"")]);
        attributes.set(&encode("b", "2"));
        assert_eq!(pairs(attributes.get(&mut out)).count(), 1);
        attributes.set(&Vec::from([0xff; 3000]));
        assert_eq!(attributes.len(), attributes.capacity());
        assert_eq!(pairs(attributes.get(&mut out)).count(), 0);
    }

    #[test]
    fn texts_are_cut_at_a_character() {
        let (lengths, name, value) = pair("\u{e9}", "v");
        assert_eq!((lengths, name, value), ([2, 1, 0], "\u{e9}", "v"));
        let (_, name, _) = pair("a", "");
        assert_eq!(name, "a");
        let long: String = "\u{1f600}".repeat(2000);
        let (lengths, name, value) = pair(&long, &long);
        assert_eq!((name.chars().count(), value.chars().count()), (32, 1024));
        assert_eq!(lengths, [128, 0, 16]);
    }

    #[test]
    fn what_a_server_accepts_fits() {
        for sent in [0, 1, 82, 83, 512, 65_536] {
            assert!(FIRST_BYTES + rest_bytes(sent) >= EXPANSION * sent);
            assert!(rest_bytes(sent).is_multiple_of(LINE_BYTES) && rest_bytes(sent) > 0);
        }
        let long = "\u{4e2d}".repeat(250);
        // A pair of two bytes of lengths and 250 bytes that become 750.
        let (lengths, name, value) = pair("a", &long);
        assert!(lengths.len() + name.len() + value.len() <= EXPANSION * (2 + 1 + 250));
    }
}
