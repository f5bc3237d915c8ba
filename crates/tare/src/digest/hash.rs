//! The digest's hash, and a faster one to look up a text.

use std::fmt;

#[cfg(feature = "instrument")]
use sha2::{Digest as _, Sha256};

/// MySQL's default `max_digest_length`: bytes of stored normalised text.
pub const MAX_DIGEST_LENGTH: usize = 1024;

/// Identifies a normalised statement: the SHA-256 of its text, as in MySQL 8.0 (whose own hash is over
/// its token numbers and so differs).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    #[cfg(feature = "instrument")]
    hash: [u8; 32],
}

impl Digest {
    /// The digest of a text that [`normalize`](super::normalize) wrote.
    pub fn of_normalized(text: &[u8]) -> Self {
        let _ = text;
        Self {
            #[cfg(feature = "instrument")]
            hash: Sha256::digest(text).into(),
        }
    }

    /// The digest with these bytes, which another one [had](Self::hash).
    pub const fn of_hash(hash: [u8; 32]) -> Self {
        let _ = hash;
        Self {
            #[cfg(feature = "instrument")]
            hash,
        }
    }

    /// The 32 bytes of the hash; zeroes when instrumentation is not compiled in.
    pub const fn hash(&self) -> [u8; 32] {
        #[cfg(feature = "instrument")]
        return self.hash;
        #[cfg(not(feature = "instrument"))]
        [0; 32]
    }
}

/// 64 hexadecimal digits, as in the column DIGEST.
impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hash()
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

/// Bytes of a text that [`fast_hash`] reads.
pub const FAST_HASH_LIMIT: usize = 1024;

/// Odd constants whose bits are half ones: fractional digits of pi (as in Blowfish's tables).
const KEYS: [u64; 3] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7345,
    0xa409_3822_299f_31d1,
];

/// A hash of a text's length and its first [`FAST_HASH_LIMIT`] bytes.
///
/// For tables of texts that the host itself sends: it spreads well, but does not resist an attacker. A
/// lookup by it also compares the text.
#[inline]
pub fn fast_hash(text: &[u8]) -> u64 {
    let length = text.len() as u64;
    let mut state = KEYS[0];
    let text = &text[..text.len().min(FAST_HASH_LIMIT)];
    let mut chunks = text.chunks_exact(16);
    for chunk in &mut chunks {
        state = fold(word(&chunk[..8]) ^ KEYS[1], word(&chunk[8..]) ^ state);
    }
    // The remainder is read as two words, which may overlap: the length, mixed in last, distinguishes
    // the cases.
    let (low, high) = match chunks.remainder() {
        [] => (0, 0),
        rest if rest.len() >= 8 => (word(&rest[..8]), word(&rest[rest.len() - 8..])),
        rest if rest.len() >= 4 => (half(&rest[..4]), half(&rest[rest.len() - 4..])),
        rest => (
            u64::from(rest[0]),
            u64::from(rest[rest.len() / 2]) << 8 | u64::from(rest[rest.len() - 1]),
        ),
    };
    state = fold(low ^ KEYS[1], high ^ state);
    fold(state ^ length, KEYS[2])
}

/// Both halves of the product, so that every bit of both factors takes part.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[inline]
fn half(bytes: &[u8]) -> u64 {
    let mut half = [0; 4];
    half.copy_from_slice(bytes);
    u64::from(u32::from_le_bytes(half))
}

#[cfg(all(test, feature = "instrument"))]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn prints_as_mysql_does() {
        let digest = Digest::of_normalized(b"abc");
        // FIPS 180-2, appendix B.1.
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), hex);
        assert_eq!(format!("{digest:?}"), format!("Digest({hex})"));
    }

    #[test]
    fn equal_shapes_share_a_digest() {
        assert_eq!(
            Digest::of("select 1 from t"),
            Digest::of("SELECT  'x' FROM `t`")
        );
        assert_ne!(Digest::of("select 1 from t"), Digest::of("select 1 from u"));
    }

    #[test]
    fn fast_hash_distinguishes_texts() {
        let mut hashes = HashSet::new();
        let text: Vec<u8> = (0..2048u32).map(|at| (at * 7 % 251) as u8).collect();
        for length in 0..=text.len() {
            assert!(hashes.insert(fast_hash(&text[..length])), "length {length}");
        }
        for length in 0..64 {
            for at in 0..length {
                for bit in 0..8 {
                    let mut changed = text[..length].to_vec();
                    changed[at] ^= 1 << bit;
                    assert!(hashes.insert(fast_hash(&changed)), "{length} {at} {bit}");
                }
            }
        }
        for id in 0..100_000 {
            let sql = format!("SELECT c FROM sbtest1 WHERE id={id}");
            assert!(hashes.insert(fast_hash(sql.as_bytes())), "{id}");
        }
    }

    /// Every input bit changes about half of the hash.
    #[test]
    fn fast_hash_spreads() {
        let text = b"SELECT c FROM sbtest1 WHERE id=5004";
        let (mut flipped, mut pairs) = (0, 0);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut changed = *text;
                changed[at] ^= 1 << bit;
                let difference = fast_hash(text) ^ fast_hash(&changed);
                assert!(difference.count_ones() >= 10, "byte {at} bit {bit}");
                flipped += difference.count_ones();
                pairs += 1;
            }
        }
        let average = f64::from(flipped) / f64::from(pairs);
        assert!((30.0..34.0).contains(&average), "{average}");
    }

    #[test]
    fn fast_hash_reads_no_further_than_its_limit() {
        let mut text = vec![b'a'; 4096];
        let hash = fast_hash(&text);
        text[FAST_HASH_LIMIT] = b'b';
        assert_eq!(fast_hash(&text), hash);
        text[FAST_HASH_LIMIT - 1] = b'b';
        assert_ne!(fast_hash(&text), hash);
    }
}
