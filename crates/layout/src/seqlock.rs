//! Records with one writer and any number of readers: published last, read until consistent.

use crate::primitive::{AtomicU64, Ordering, fence};

/// A record of `N` words. Word 0 is its event id, and 0 there means "nothing, or being written".
///
/// | word 0 before | word 0 after | the reader's copy |
/// |---|---|---|
/// | 0 | any | none |
/// | a | a | complete |
/// | a | b ≠ a | torn: read again |
///
/// An id is used once within a thread, so that equal ids mean the same record. Each word that the
/// writer [`set`](Record::set)s after publishing (the end of an event) is complete, and a reader may
/// see the record with or without them.
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
    /// Replaces all of the record. The caller is its only writer; `words[0]` is the new id.
    #[inline(always)]
    pub fn publish(&self, words: &[u64; N]) {
        self.publish_first(words);
    }

    /// The same for a record that begins with these words and is 0 after them.
    #[inline(always)]
    pub fn publish_first<const M: usize>(&self, words: &[u64; M]) {
        self.words[0].store(0, Ordering::Relaxed);
        // Pairs with the fence in `read`: a reader that sees a new word also sees that word 0 was 0 or
        // is new.
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

    /// Replaces the record by another of the same writer. Word by word: a copy in between would be
    /// written in smaller pieces than it is read in, and the reads would wait.
    #[inline(always)]
    pub fn publish_copy(&self, from: &Self) {
        self.words[0].store(0, Ordering::Relaxed);
        // As in `publish_first`.
        fence(Ordering::Release);
        // SAFETY: `store_from` calls this only with indexes below `N`.
        self.store_from::<1>(|i| unsafe { from.words.get_unchecked(i) }.load(Ordering::Relaxed));
        self.words[0].store(from.word(0), Ordering::Release);
    }

    /// Stores the words from `FIRST` on, from `word`. A long record is stored by a loop of four words
    /// per turn: unrolled it would be eight lines of code, which are in no near cache at a statement's
    /// end, and take longer to fetch than the loop to run.
    #[inline(always)]
    fn store_from<const FIRST: usize>(&self, word: impl Fn(usize) -> u64) {
        let turns = if N >= LOOP_MIN_WORDS {
            (N - FIRST) / WORDS_PER_TURN
        } else {
            0
        };
        let mut i = FIRST;
        while i < N - WORDS_PER_TURN * turns {
            self.words[i].store(word(i), Ordering::Relaxed);
            i += 1;
        }
        while i < N {
            for j in i..i + WORDS_PER_TURN {
                // SAFETY: `i` goes from `N` minus some turns to `N`, by one turn each time.
                let cell = unsafe { self.words.get_unchecked(j) };
                cell.store(word(j), Ordering::Relaxed);
            }
            i = not_unrolled(i + WORDS_PER_TURN);
        }
    }

    /// Removes the record.
    #[inline]
    pub fn clear(&self) {
        self.words[0].store(0, Ordering::Release);
    }

    /// Removes the record if it still has this id, and returns whether it had: also for a thread that is not its
    /// writer.
    pub fn remove(&self, id: u64) -> bool {
        let removed = self.words[0].compare_exchange(id, 0, Ordering::Release, Ordering::Relaxed);
        removed.is_ok()
    }

    /// Address of a word, for a host that writes it itself.
    #[cfg(not(loom))]
    pub fn address(&self, word: usize) -> *mut u64 {
        self.words[word].as_ptr()
    }

    /// Sets one word of a published record; the caller is its only writer.
    #[inline(always)]
    pub fn set(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    /// The present value of a word: for its writer.
    #[inline(always)]
    pub fn word(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Relaxed)
    }

    /// A consistent copy, or `None` if there is no record or it changed in each of a few tries.
    pub fn read(&self) -> Option<[u64; N]> {
        for _ in 0..MAX_READ_TRIES {
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

/// Records of at least this number of words are written by a loop, `WORDS_PER_TURN` words at a time.
const LOOP_MIN_WORDS: usize = 32;
const WORDS_PER_TURN: usize = 4;

/// The same number, hidden from the compiler: a loop that counts by it is not unrolled.
#[inline(always)]
fn not_unrolled(mut i: usize) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction, and nothing but the register that holds `i` is named.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) i, options(pure, nomem, nostack, preserves_flags));
    }
    i
}

/// If a writer keeps changing a record, each copy is stale within nanoseconds, and more tries do not
/// help.
#[cfg(not(loom))]
const MAX_READ_TRIES: usize = 16;
#[cfg(loom)]
const MAX_READ_TRIES: usize = 2;

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::seqlock::*;

    fn words<const N: usize>(id: u64) -> [u64; N] {
        core::array::from_fn(|i| id + i as u64)
    }

    /// Checks what each way of publishing leaves of an earlier record.
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
