//! The rwlock: readers counted in one word, sleepers flagged in it, writers first.
//!
//! | bits of the word | mean |
//! |---|---|
//! | 0-29 | readers; all ones = a writer |
//! | 30 | readers sleep (on the word) |
//! | 31 | writers sleep (on `writers`), or are about to |

use std::sync::atomic::{AtomicU32, Ordering};

use lock_api::GuardNoSend;

use super::futex;
use super::point::{LockMode, Point};
use super::spin::{NOWHERE, Spin, processor};
use crate::source::Source;

const READERS: u32 = (1 << 30) - 1;
const WRITER: u32 = READERS;
const READERS_SLEEP: u32 = 1 << 30;
const WRITERS_SLEEP: u32 = 1 << 31;
const SLEEP: u32 = READERS_SLEEP | WRITERS_SLEEP;

/// The lock that [`RwLock`](crate::sync::RwLock) wraps.
#[derive(Debug)]
pub struct RawRwLock<P> {
    word: AtomicU32,
    /// Incremented when a writer is woken; writers sleep on it.
    writers: AtomicU32,
    /// The processor on which the writer took the lock; a hint.
    holder: AtomicU32,
    point: P,
}

impl<P> RawRwLock<P> {
    pub(crate) const fn with(point: P) -> Self {
        Self {
            word: AtomicU32::new(0),
            writers: AtomicU32::new(0),
            holder: AtomicU32::new(NOWHERE),
            point,
        }
    }
}

impl<P: Point> RawRwLock<P> {
    #[inline(always)]
    fn try_read(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        // New readers queue behind a sleeping writer, so that it is not starved. The most readers are
        // one less than WRITER. If another reader comes or goes before the exchange, the loop only retries.
        while word & SLEEP == 0 && word < WRITER - 1 {
            match self.word.compare_exchange_weak(
                word,
                word + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[inline(always)]
    fn try_write(&self) -> bool {
        let taken = self
            .word
            .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
        if taken {
            self.holder.store(processor(), Ordering::Relaxed);
        }
        taken
    }

    #[cold]
    #[inline(never)]
    fn read_slow(&self) -> bool {
        let mut spin = Spin::new();
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & READERS < WRITER - 1 && word & SLEEP == 0 {
                if self
                    .word
                    .compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
                {
                    return true;
                }
                continue;
            }
            let holder = if word & READERS == WRITER {
                self.holder.load(Ordering::Relaxed)
            } else {
                NOWHERE
            };
            if word & SLEEP == 0 && spin.again(holder) {
                continue;
            }
            let sleeping = word | READERS_SLEEP;
            if word != sleeping
                && self
                    .word
                    .compare_exchange(word, sleeping, Ordering::Relaxed, Ordering::Relaxed)
                    .is_err()
            {
                continue;
            }
            futex::wait(&self.word, sleeping, None);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_slow(&self) -> bool {
        let mut spin = Spin::new();
        // Other writers may sleep as well: a writer that has slept takes the lock with their flag.
        let mut others = 0;
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & READERS == 0 {
                let taken = word | WRITER | others;
                if self
                    .word
                    .compare_exchange_weak(word, taken, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
                {
                    self.holder.store(processor(), Ordering::Relaxed);
                    return true;
                }
                continue;
            }
            let holder = if word & READERS == WRITER {
                self.holder.load(Ordering::Relaxed)
            } else {
                NOWHERE
            };
            if word & WRITERS_SLEEP == 0 && spin.again(holder) {
                continue;
            }
            if word & WRITERS_SLEEP == 0
                && self
                    .word
                    .compare_exchange(
                        word,
                        word | WRITERS_SLEEP,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    )
                    .is_err()
            {
                continue;
            }
            others = WRITERS_SLEEP;
            // Acquire: pairs with the increment in `wake`, so that the word is read after it.
            let turn = self.writers.load(Ordering::Acquire);
            let now = self.word.load(Ordering::Relaxed);
            if now & READERS == 0 || now & WRITERS_SLEEP == 0 {
                continue;
            }
            futex::wait(&self.writers, turn, None);
        }
    }

    #[inline(always)]
    fn let_go_read(&self) {
        let word = self.word.fetch_sub(1, Ordering::Release) - 1;
        if word & READERS == 0 && word & SLEEP != 0 {
            self.wake(word);
        }
    }

    #[inline(always)]
    fn let_go_write(&self) {
        let word = self.word.fetch_sub(WRITER, Ordering::Release) - WRITER;
        if word & SLEEP != 0 {
            self.wake(word);
        }
    }

    /// Wakes one writer and all readers, because the lock was free and threads sleep. A thread that
    /// takes the lock meanwhile does this when it releases it.
    #[cold]
    fn wake(&self, mut word: u32) {
        while word & READERS == 0 && word & SLEEP != 0 {
            // The flags are cleared; a woken thread that must sleep again sets them again. Readers are
            // woken together with the writer: the flag does not show whether a writer still sleeps, and
            // readers left behind a writer that has gone would sleep for ever.
            if let Err(now) =
                self.word
                    .compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed)
            {
                word = now;
                continue;
            }
            if word & WRITERS_SLEEP != 0 {
                self.writers.fetch_add(1, Ordering::Release);
                futex::wake(&self.writers, 1);
            }
            if word & READERS_SLEEP != 0 {
                futex::wake(&self.word, u32::MAX);
            }
            return;
        }
    }
}

// SAFETY: the word's low bits are WRITER for exactly one writer, or count the readers; each
// transition is one atomic step from a word that allows it.
unsafe impl<P: Point> lock_api::RawRwLock for RawRwLock<P> {
    const INIT: Self = Self::with(P::RWLOCK);

    type GuardMarker = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) {
        self.point.take(
            LockMode::Shared,
            Source::here(),
            || self.try_read(),
            || self.read_slow(),
        );
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.point.try_take(LockMode::Shared, || self.try_read())
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        self.point.released(LockMode::Shared);
        self.let_go_read();
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) {
        self.point.take(
            LockMode::Exclusive,
            Source::here(),
            || self.try_write(),
            || self.write_slow(),
        );
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.point
            .try_take(LockMode::Exclusive, || self.try_write())
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        self.point.released(LockMode::Exclusive);
        self.let_go_write();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) & READERS != 0
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.word.load(Ordering::Relaxed) & READERS == WRITER
    }
}
