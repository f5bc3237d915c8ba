//! The digests of a thread's last statements, so that a repeated statement is not normalised again.

use super::digest_table::DigestRef;
use crate::digest::FAST_HASH_LIMIT;

/// The hash selects one of the sets, and each set has several ways. An application's sessions run tens
/// of statements in turn: with one entry for each of 16 hashes, four of the fourteen statements of an
/// oltp_read_only transaction evicted each other every time.
const SETS: usize = 16;
const WAYS: usize = 4;

/// See the module.
#[derive(Default)]
pub struct DigestCache {
    sets: [[Entry; WAYS]; SETS],
    /// Buffer in which a text is normalised.
    pub text: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    of: Key,
    digest: DigestRef,
}

/// The key under which a digest is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    hash: u64,
    /// What was hashed: a text or tokens, with their length in bytes, or a digest; 0 = the entry is
    /// empty.
    what: u32,
    schema: u32,
}

const TOKENS: u32 = 1 << 31;
const DIGEST: u32 = u32::MAX;
const _: () = assert!(FAST_HASH_LIMIT < TOKENS as usize);

impl Key {
    /// Key of a text of this length; `None` if its hash does not cover all of it.
    pub fn of_text(hash: u64, length: usize, schema: u32) -> Option<Self> {
        Self::of_bytes(hash, length, 0, schema)
    }

    /// The same for the parser's tokens, whose bytes may equal some text's.
    pub fn of_tokens(hash: u64, length: usize, schema: u32) -> Option<Self> {
        Self::of_bytes(hash, length, TOKENS, schema)
    }

    /// Key of a digest that the host computed earlier, by its first word.
    pub fn of_digest(hash: u64, schema: u32) -> Self {
        Self {
            hash,
            what: DIGEST,
            schema,
        }
    }

    #[inline(always)]
    fn of_bytes(hash: u64, length: usize, flag: u32, schema: u32) -> Option<Self> {
        (1..=FAST_HASH_LIMIT).contains(&length).then_some(Self {
            hash,
            what: flag | length as u32,
            schema,
        })
    }

    fn set(self) -> usize {
        self.hash as usize % SETS
    }
}

impl DigestCache {
    /// The digest stored under the key, of any generation of the table.
    #[inline]
    pub fn get(&self, key: Key) -> Option<DigestRef> {
        let entry = self.sets[key.set()].iter().find(|entry| entry.of == key)?;
        Some(entry.digest)
    }

    /// Stores a digest, in place of the oldest one.
    pub fn remember(&mut self, key: Key, digest: DigestRef) {
        let set = &mut self.sets[key.set()];
        let last = set.iter().position(|entry| entry.of == key);
        set[..=last.unwrap_or(WAYS - 1)].rotate_right(1);
        set[0] = Entry { of: key, digest };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(id: u32) -> DigestRef {
        DigestRef {
            id,
            ..DigestRef::none(1)
        }
    }

    #[test]
    fn statements_of_one_set_stay_until_there_are_too_many() {
        let mut cache = DigestCache::default();
        let key = |i: u32| Key::of_text(u64::from(i) * SETS as u64, 10, 1).expect("short");
        let ways = WAYS as u32;
        for i in 0..ways {
            cache.remember(key(i), digest(i + 1));
        }
        // An existing entry is replaced and evicts none.
        cache.remember(key(1), digest(100));
        let has = |cache: &DigestCache, i| cache.get(key(i)).map(|digest| digest.id);
        assert_eq!(has(&cache, 0), Some(1));
        assert_eq!(has(&cache, 1), Some(100));
        cache.remember(key(ways), digest(7));
        assert_eq!(has(&cache, 0), None);
        assert!((1..=ways).all(|i| has(&cache, i).is_some()));
    }

    #[test]
    fn a_text_its_tokens_and_its_digest_are_distinguished() {
        let mut cache = DigestCache::default();
        let text = Key::of_text(5, 10, 1).expect("short");
        cache.remember(text, digest(1));
        for other in [
            Key::of_tokens(5, 10, 1).expect("short"),
            Key::of_text(5, 11, 1).expect("short"),
            Key::of_text(5, 10, 2).expect("short"),
            Key::of_digest(5, 1),
            Key::of_text(5 + SETS as u64, 10, 1).expect("short"),
        ] {
            assert_eq!(cache.get(other), None, "{other:?}");
        }
        assert_eq!(cache.get(text), Some(digest(1)));
        assert_eq!(Key::of_text(5, FAST_HASH_LIMIT + 1, 1), None);
        // No statement matches an empty entry.
        assert_eq!(Key::of_tokens(0, 0, 0), None);
    }
}
