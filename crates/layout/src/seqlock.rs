//! Records with one writer and any number of readers: published last, read until whole.

use crate::primitive::{AtomicU64, Ordering, fence};

/// A record of `N` words. Word 0 is its event id, and 0 there means "nothing, or being written".
///
/// | word 0 before | word 0 after | the reader's copy |
/// |---|---|---|
/// | 0 | any | none |
/// | a | a | whole |
/// | a | b ≠ a | torn: read again |
///
/// An id is never given twice within a thread, so that equal ids mean the same record. Words that
/// the writer [`set`](Record::set)s after publishing (the end of an event) are each whole, and a
/// reader may see the record with or without them.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Record<const N: usize> {
    words: [AtomicU64; N],
}

impl<const N: usize> Default for Record<N> {
    fn default() -> Self {
        Self {
            words: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl<const N: usize> Record<N> {
    /// Replaces the whole record. The caller is its only writer; `words[0]` is the new id.
    #[inline(always)]
    pub fn publish(&self, words: &[u64; N]) {
        self.publish_first(words);
    }

    /// The same of a record that begins with these words, while those behind them are 0.
    #[inline(always)]
    pub fn publish_first<const M: usize>(&self, words: &[u64; M]) {
        self.words[0].store(0, Ordering::Relaxed);
        // Pairs with the fence in `read`: who sees a new word also sees that word 0 was 0 or is new.
        fence(Ordering::Release);
        let mut i = 1;
        // A plain loop over a constant: unrolled, where iterators were not.
        while i < M {
            self.words[i].store(words[i], Ordering::Relaxed);
            i += 1;
        }
        self.store_from::<M>(|_| 0);
        // Pairs with the first load in `read`.
        self.words[0].store(words[0], Ordering::Release);
    }

    /// Replaces the whole record by what another of the same writer's holds. Word by word: in between,
    /// a copy of the whole would be written in smaller pieces than it is read in, and wait for them.
    #[inline(always)]
    pub fn publish_copy(&self, from: &Self) {
        self.words[0].store(0, Ordering::Relaxed);
        // As in `publish_first`.
        fence(Ordering::Release);
        // SAFETY: `store_from` asks for words that there are.
        self.store_from::<1>(|i| unsafe { from.words.get_unchecked(i) }.load(Ordering::Relaxed));
        self.words[0].store(from.word(0), Ordering::Release);
    }

    /// Stores the words from `FIRST` on; `word` is asked for these alone. Of a long record in a loop, four words a turn:
    /// written out that would be eight lines of code, which a statement's end finds in no near cache, and which take
    /// longer to fetch than the loop to run.
    #[inline(always)]
    fn store_from<const FIRST: usize>(&self, word: impl Fn(usize) -> u64) {
        let turns = if N >= LONG { (N - FIRST) / TURN } else { 0 };
        let mut i = FIRST;
        while i < N - TURN * turns {
            self.words[i].store(word(i), Ordering::Relaxed);
            i += 1;
        }
        while i < N {
            for j in i..i + TURN {
                // SAFETY: `i` goes from `N` less some turns to `N`, by a turn each time.
                let cell = unsafe { self.words.get_unchecked(j) };
                cell.store(word(j), Ordering::Relaxed);
            }
            i = not_unrolled(i + TURN);
        }
    }

    /// Takes the record away.
    #[inline]
    pub fn clear(&self) {
        self.words[0].store(0, Ordering::Release);
    }

    /// Where a word lies, for a host that writes it by itself.
    #[cfg(not(loom))]
    pub fn address(&self, word: usize) -> *mut u64 {
        self.words[word].as_ptr()
    }

    /// Sets one word of a published record; the caller is its only writer.
    #[inline(always)]
    pub fn set(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    /// One word, as it is now. For the writer, who needs no more.
    #[inline(always)]
    pub fn word(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Relaxed)
    }

    /// A whole copy, or `None` when there is no record or it changed in each of a few tries.
    pub fn read(&self) -> Option<[u64; N]> {
        for _ in 0..READ_TRIES {
            let id = self.words[0].load(Ordering::Acquire);
            if id == 0 {
                return None;
            }
            let copy = core::array::from_fn(|i| self.words[i].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if self.words[0].load(Ordering::Relaxed) == id && copy[0] == id {
                return Some(copy);
            }
        }
        None
    }
}

/// Records of so many words are written by a loop, of so many words a turn.
const LONG: usize = 32;
const TURN: usize = 4;

/// The same number, of which the compiler does not know that: a loop that counts by it is not unrolled.
#[inline(always)]
fn not_unrolled(mut i: usize) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction, and nothing but the register that holds `i` is named.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) i, options(pure, nomem, nostack, preserves_flags));
    }
    i
}

/// A writer that keeps changing a record leaves each copy stale within nanoseconds; a reader gains
/// nothing by insisting.
#[cfg(not(loom))]
const READ_TRIES: usize = 16;
#[cfg(loom)]
const READ_TRIES: usize = 2;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn words<const N: usize>(id: u64) -> [u64; N] {
        core::array::from_fn(|i| id + i as u64)
    }

    /// What each way of publishing leaves of a record that was another one before.
    fn publishes_every_word<const N: usize>() {
        let (record, other) = (Record::<N>::default(), Record::<N>::default());
        record.publish(&words(1000));
        assert_eq!(record.read(), Some(words(1000)));

        let mut expected = [0; N];
        expected[..3].copy_from_slice(&words::<3>(2000));
        record.publish_first(&words::<3>(2000));
        assert_eq!(record.read(), Some(expected));

        other.publish(&words(3000));
        record.publish_copy(&other);
        assert_eq!(record.read(), Some(words(3000)));
    }

    #[test]
    fn every_word_is_published_whatever_the_length() {
        publishes_every_word::<3>();
        publishes_every_word::<8>();
        publishes_every_word::<31>();
        publishes_every_word::<32>();
        publishes_every_word::<33>();
        publishes_every_word::<38>();
    }
}
