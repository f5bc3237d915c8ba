//! A mutex of std's condition variable and mutex, to be unlocked by hand.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use lock_api::{GuardNoSend, RawMutexTimed};

use super::super::point::{LockMode, Point};
use super::locked;
use crate::source::Source;

/// The mutex that [`Mutex`](crate::sync::Mutex) wraps.
#[derive(Debug)]
pub struct RawMutex<P> {
    held: Mutex<bool>,
    free: Condvar,
    point: P,
}

impl<P> RawMutex<P> {
    pub(crate) const fn with(point: P) -> Self {
        Self {
            held: Mutex::new(false),
            free: Condvar::new(),
            point,
        }
    }
}

impl<P: Point> RawMutex<P> {
    fn try_take(&self) -> bool {
        !std::mem::replace(&mut *locked(&self.held), true)
    }

    fn take_slow(&self, deadline: Option<Instant>) -> bool {
        let mut taken = locked(&self.held);
        while *taken {
            let Some(deadline) = deadline else {
                taken = self.free.wait(taken).unwrap_or_else(|e| e.into_inner());
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return false;
            }
            taken = self
                .free
                .wait_timeout(taken, left)
                .unwrap_or_else(|e| e.into_inner())
                .0;
        }
        *taken = true;
        true
    }

    fn let_go(&self) {
        *locked(&self.held) = false;
        self.free.notify_one();
    }

    pub(crate) fn reacquire_after_wait(&self) {
        self.take_slow(None);
        self.point.retaken(LockMode::Exclusive);
    }

    pub(crate) fn release_for_wait(&self) {
        self.point.released(LockMode::Exclusive);
        self.let_go();
    }
}

// SAFETY: `held` is true for exactly one thread at a time, changed under std's mutex only.
unsafe impl<P: Point> lock_api::RawMutex for RawMutex<P> {
    const INIT: Self = Self::with(P::MUTEX);

    type Guard = GuardNoSend;

    fn lock(&self) -> GuardNoSend {
        self.point.take(
            LockMode::Exclusive,
            Source::here(),
            || self.try_take(),
            || self.take_slow(None),
        );
        GuardNoSend::new()
    }

    fn try_lock(&self) -> Option<GuardNoSend> {
        self.point
            .try_take(LockMode::Exclusive, || self.try_take())
            .then(GuardNoSend::new)
    }

    unsafe fn unlock(&self, _: GuardNoSend) {
        self.point.released(LockMode::Exclusive);
        self.let_go();
    }

    fn is_locked(&self) -> bool {
        *locked(&self.held)
    }
}

// SAFETY: as above.
unsafe impl<P: Point> RawMutexTimed for RawMutex<P> {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        let deadline = Instant::now().checked_add(timeout);
        let slow = || self.take_slow(deadline);
        self.point
            .take(
                LockMode::Exclusive,
                Source::here(),
                || self.try_take(),
                slow,
            )
            .then(GuardNoSend::new)
    }

    #[track_caller]
    fn try_lock_until(&self, deadline: Instant) -> Option<GuardNoSend> {
        let slow = || self.take_slow(Some(deadline));
        self.point
            .take(
                LockMode::Exclusive,
                Source::here(),
                || self.try_take(),
                slow,
            )
            .then(GuardNoSend::new)
    }
}
