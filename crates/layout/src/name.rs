//! Short texts of a fixed capacity, stored as 64-bit words so that reading them is never a race.

use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// A text of at most `8 * WORDS` bytes of UTF-8, cut at a character when it is longer.
#[repr(C)]
#[derive(Debug)]
pub struct Name<const WORDS: usize> {
    length: AtomicU32,
    _reserved: AtomicU32,
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Default for Name<WORDS> {
    fn default() -> Self {
        Self {
            length: AtomicU32::new(0),
            _reserved: AtomicU32::new(0),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl<const WORDS: usize> Name<WORDS> {
    /// Bytes that fit.
    pub const CAPACITY: usize = WORDS * 8;

    /// Stores `text`, cut to the capacity. The publication of the surrounding entry orders it.
    pub fn set(&self, text: &str) {
        let cut = floor_boundary(text, Self::CAPACITY);
        store_bytes(&self.words, &text.as_bytes()[..cut]);
        self.length.store(cut as u32, Ordering::Relaxed);
    }

    /// Copies the text into `out` and returns its bytes. If the bytes are hostile, it returns as many
    /// as fit.
    pub fn get<'a>(&self, out: &'a mut [u8]) -> &'a [u8] {
        let length = (self.length.load(Ordering::Relaxed) as usize)
            .min(Self::CAPACITY)
            .min(out.len());
        load_bytes(&self.words, &mut out[..length]);
        &out[..length]
    }

    /// Whether the stored text equals `text` (cut as it would be when stored).
    pub fn is(&self, text: &str) -> bool {
        let cut = floor_boundary(text, Self::CAPACITY);
        self.length.load(Ordering::Relaxed) as usize == cut
            && text.as_bytes()[..cut]
                .chunks(8)
                .zip(&self.words)
                .all(|(chunk, word)| word.load(Ordering::Relaxed) == pack(chunk))
    }

    /// Whether another one stores the same text.
    pub fn equals(&self, other: &Self) -> bool {
        let length = self.len();
        let mut words = self.words.iter().zip(&other.words).take(length.div_ceil(8));
        other.len() == length
            && words.all(|(a, b)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed))
    }

    /// Bytes stored.
    pub fn len(&self) -> usize {
        (self.length.load(Ordering::Relaxed) as usize).min(Self::CAPACITY)
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The largest cut of `text` at or below `limit` that splits no character.
pub fn floor_boundary(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let mut cut = limit;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    cut
}

/// Writes bytes into words, the last one padded with zeros.
pub fn store_bytes(words: &[AtomicU64], bytes: &[u8]) {
    for (word, chunk) in words.iter().zip(bytes.chunks(8)) {
        word.store(pack(chunk), Ordering::Relaxed);
    }
}

/// Reads bytes from words; bytes beyond the words do not change.
pub fn load_bytes(words: &[AtomicU64], bytes: &mut [u8]) {
    for (word, chunk) in words.iter().zip(bytes.chunks_mut(8)) {
        let value = word.load(Ordering::Relaxed).to_le_bytes();
        chunk.copy_from_slice(&value[..chunk.len()]);
    }
}

/// Up to eight bytes as a little-endian word.
#[inline]
pub fn pack(chunk: &[u8]) -> u64 {
    match chunk.try_into() {
        Ok(word) => u64::from_le_bytes(word),
        Err(_) => {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(bytes)
        }
    }
}
