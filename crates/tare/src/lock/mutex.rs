//! The mutex: a word, and next to it the number of the processor on which the holder ran.
//!
//! | word | means |
//! |---|---|
//! | 0 FREE | not held |
//! | 1 HELD | held; no thread sleeps |
//! | 2 SLEEPERS | held; threads may sleep, and the holder wakes one when it releases the mutex |

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lock_api::{GuardNoSend, RawMutexTimed};

use super::futex;
use super::point::{LockMode, Point};
use super::spin::{NOWHERE, Spin, processor};
use crate::source::Source;

const FREE: u32 = 0;
const HELD: u32 = 1;
const SLEEPERS: u32 = 2;

/// The mutex that [`Mutex`](crate::sync::Mutex) wraps, for hosts that lock and unlock by hand.
#[derive(Debug)]
pub struct RawMutex<P> {
    word: AtomicU32,
    /// The processor on which the holder took the lock; a hint.
    holder: AtomicU32,
    point: P,
}

impl<P> RawMutex<P> {
    pub(crate) const fn with(point: P) -> Self {
        Self {
            word: AtomicU32::new(FREE),
            holder: AtomicU32::new(NOWHERE),
            point,
        }
    }
}

impl<P: Point> RawMutex<P> {
    #[inline(always)]
    fn try_take(&self) -> bool {
        // Acquire: pairs with the release in `let_go`.
        let taken = self
            .word
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
        if taken {
            self.holder.store(processor(), Ordering::Relaxed);
        }
        taken
    }

    #[inline(always)]
    fn let_go(&self) {
        if self.word.swap(FREE, Ordering::Release) == SLEEPERS {
            self.wake_slow();
        }
    }

    #[cold]
    fn wake_slow(&self) {
        futex::wake(&self.word, 1);
    }

    /// Spins, then sleeps; false if the deadline has passed.
    #[cold]
    #[inline(never)] // In a crate with one caller it was inlined, and took the fast path's registers.
    fn take_slow(&self, deadline: Option<Instant>) -> bool {
        let mut spin = Spin::new();
        while spin.again(self.holder.load(Ordering::Relaxed)) {
            if self.word.load(Ordering::Relaxed) == FREE && self.try_take() {
                return true;
            }
        }
        // A thread that has slept takes it as SLEEPERS, because others may still sleep.
        while self.word.swap(SLEEPERS, Ordering::Acquire) != FREE {
            if !futex::wait(&self.word, SLEEPERS, deadline) {
                return false;
            }
        }
        self.holder.store(processor(), Ordering::Relaxed);
        true
    }

    /// Takes the mutex again after a condition variable's wait.
    pub(crate) fn reacquire_after_wait(&self) {
        if !self.try_take() {
            self.take_slow(None);
        }
        self.point.retaken(LockMode::Exclusive);
    }

    /// Releases the mutex for a condition variable's wait.
    pub(crate) fn release_for_wait(&self) {
        self.point.released(LockMode::Exclusive);
        self.let_go();
    }
}

// SAFETY: the word is FREE, or exactly one thread holds it: only the transition from FREE takes it, and
// each such transition is one atomic step.
unsafe impl<P: Point> lock_api::RawMutex for RawMutex<P> {
    const INIT: Self = Self::with(P::MUTEX);

    type GuardMarker = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        self.point.take(
            LockMode::Exclusive,
            Source::here(),
            || self.try_take(),
            || self.take_slow(None),
        );
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.point.try_take(LockMode::Exclusive, || self.try_take())
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.point.released(LockMode::Exclusive);
        self.let_go();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) != FREE
    }
}

// SAFETY: as above; a try that times out has not taken the mutex.
unsafe impl<P: Point> RawMutexTimed for RawMutex<P> {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.try_lock_until(deadline),
            None => {
                lock_api::RawMutex::lock(self);
                true
            }
        }
    }

    #[track_caller]
    fn try_lock_until(&self, deadline: Instant) -> bool {
        let slow = || self.take_slow(Some(deadline));
        self.point.take(
            LockMode::Exclusive,
            Source::here(),
            || self.try_take(),
            slow,
        )
    }
}
