//! Bytes for tests that no client sends on purpose. They are the same in every run.

use crate::session::Protocol;

/// Numbers of a linear congruential generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one.
    pub fn below(&mut self, limit: usize) -> usize {
        // The multiplier and the increment of Knuth's MMIX.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Up to `most` pieces in any order. Some of them are cut, and some have another byte in them.
    pub fn bytes(&mut self, pieces: &[&[u8]], most: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.below(most + 1) {
            let piece = self.pick(pieces);
            let start = bytes.len();
            bytes.extend_from_slice(piece);
            match self.below(16) {
                0 => bytes.truncate(start + self.below(piece.len() + 1)),
                1 if !piece.is_empty() => {
                    let at = start + self.below(piece.len());
                    bytes[at] = self.below(256) as u8;
                }
                _ => {}
            }
        }
        bytes
    }
}

/// Reads bytes of `pieces` with `read`, which gets them in parts: all at once, each byte alone, and in two
/// parts for every place where they can be divided. The results are the same.
pub fn read_in_all_parts<T: PartialEq + std::fmt::Debug>(
    pieces: &[&[u8]],
    rounds: u64,
    mut read: impl FnMut(&[&[u8]]) -> T,
) {
    for seed in 0..rounds {
        let bytes = Random::new(seed).bytes(pieces, 12);
        let at_once = read(&[&bytes]);
        let each: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(read(&each), at_once, "{}", bytes.escape_ascii());
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            let result = read(&[first, second]);
            assert_eq!(result, at_once, "{at} of {}", bytes.escape_ascii());
        }
    }
}

/// A client sends bytes, or the program writes them: to one connection at once, and to another one byte by byte.
pub fn move_bytes(
    at_once: &mut impl Protocol,
    in_parts: &mut impl Protocol,
    is_sent_by_client: bool,
    bytes: &[u8],
) {
    match is_sent_by_client {
        true => at_once.receive(bytes),
        false => at_once.send(bytes),
    }
    for byte in bytes.chunks(1) {
        match is_sent_by_client {
            true => in_parts.receive(byte),
            false => in_parts.send(byte),
        }
    }
}
