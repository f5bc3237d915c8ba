//! The digests of what a thread ran last, so that a statement seen again is not normalised again.

use super::digest_table::Found;
use crate::digest::FAST_HASH_LIMIT;

/// A statement may be in one of so many sets, by its hash, and in each of its ways. An application's sessions run
/// tens of statements in turn: with one place for each hash, of 16, four of the fourteen of a transaction of
/// oltp_read_only pushed each other out every time.
const SETS: usize = 16;
const WAYS: usize = 4;

/// See the module.
#[derive(Default)]
pub struct DigestCache {
    sets: [[Entry; WAYS]; SETS],
    /// Where a text is normalised.
    pub text: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    of: Key,
    found: Found,
}

/// What a digest is found by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    hash: u64,
    /// What was hashed: a text of so many bytes, tokens of so many bytes, or a digest; 0 = the entry is empty.
    what: u32,
    schema: u32,
}

const TOKENS: u32 = 1 << 31;
const DIGEST: u32 = u32::MAX;
const _: () = assert!(FAST_HASH_LIMIT < TOKENS as usize);

impl Key {
    /// A text of so many bytes; `None` if its hash does not read all of them.
    pub fn of_text(hash: u64, length: usize, schema: u32) -> Option<Self> {
        Self::of_bytes(hash, length, 0, schema)
    }

    /// The same of the parser's tokens, which may read as some text.
    pub fn of_tokens(hash: u64, length: usize, schema: u32) -> Option<Self> {
        Self::of_bytes(hash, length, TOKENS, schema)
    }

    /// The first word of a digest that the host computed before.
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
    /// The digest that was remembered, whichever generation of the table it is of.
    #[inline]
    pub fn get(&self, key: Key) -> Option<Found> {
        let entry = self.sets[key.set()].iter().find(|entry| entry.of == key)?;
        Some(entry.found)
    }

    /// Remembers a digest, in place of the one that has been there for longest.
    pub fn remember(&mut self, key: Key, found: Found) {
        let set = &mut self.sets[key.set()];
        let last = set.iter().position(|entry| entry.of == key);
        set[..=last.unwrap_or(WAYS - 1)].rotate_right(1);
        set[0] = Entry { of: key, found };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(id: u32) -> Found {
        Found {
            id,
            ..Found::none(1)
        }
    }

    #[test]
    fn statements_of_one_set_stay_until_there_are_too_many() {
        let mut cache = DigestCache::default();
        let key = |i: u32| Key::of_text(u64::from(i) * SETS as u64, 10, 1).expect("short");
        let ways = WAYS as u32;
        for i in 0..ways {
            cache.remember(key(i), found(i + 1));
        }
        // One that is there is replaced, and pushes none out.
        cache.remember(key(1), found(100));
        let has = |cache: &DigestCache, i| cache.get(key(i)).map(|found| found.id);
        assert_eq!(has(&cache, 0), Some(1));
        assert_eq!(has(&cache, 1), Some(100));
        cache.remember(key(ways), found(7));
        assert_eq!(has(&cache, 0), None);
        assert!((1..=ways).all(|i| has(&cache, i).is_some()));
    }

    #[test]
    fn texts_tokens_and_digests_are_told_apart() {
        let mut cache = DigestCache::default();
        let text = Key::of_text(5, 10, 1).expect("short");
        cache.remember(text, found(1));
        for other in [
            Key::of_tokens(5, 10, 1).expect("short"),
            Key::of_text(5, 11, 1).expect("short"),
            Key::of_text(5, 10, 2).expect("short"),
            Key::of_digest(5, 1),
            Key::of_text(5 + SETS as u64, 10, 1).expect("short"),
        ] {
            assert_eq!(cache.get(other), None, "{other:?}");
        }
        assert_eq!(cache.get(text), Some(found(1)));
        assert_eq!(Key::of_text(5, FAST_HASH_LIMIT + 1, 1), None);
        // An empty entry is no statement's.
        assert_eq!(Key::of_tokens(0, 0, 0), None);
    }
}
