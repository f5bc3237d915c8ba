//! A rwlock of std's condition variable and mutex.

use std::sync::{Condvar, Mutex};

use lock_api::GuardNoSend;

use super::super::point::{LockMode, Point};
use super::locked;
use crate::source::Source;

/// Readers, or -1 for a writer.
#[derive(Debug)]
pub struct RawRwLock<P> {
    holders: Mutex<i64>,
    free: Condvar,
    point: P,
}

impl<P> RawRwLock<P> {
    pub(crate) const fn with(point: P) -> Self {
        Self {
            holders: Mutex::new(0),
            free: Condvar::new(),
            point,
        }
    }
}

impl<P: Point> RawRwLock<P> {
    fn try_read(&self) -> bool {
        let mut holders = locked(&self.holders);
        let free = *holders >= 0;
        *holders += i64::from(free);
        free
    }

    fn try_write(&self) -> bool {
        let mut holders = locked(&self.holders);
        let free = *holders == 0;
        if free {
            *holders = -1;
        }
        free
    }

    fn slow(&self, quick: impl Fn(&mut i64) -> bool) -> bool {
        let mut holders = locked(&self.holders);
        while !quick(&mut holders) {
            holders = self.free.wait(holders).unwrap_or_else(|e| e.into_inner());
        }
        true
    }

    fn let_go(&self, change: impl FnOnce(&mut i64)) {
        change(&mut locked(&self.holders));
        self.free.notify_all();
    }
}

// SAFETY: `holders` is -1 for exactly one writer or counts readers, changed under std's mutex.
unsafe impl<P: Point> lock_api::RawRwLock for RawRwLock<P> {
    const INIT: Self = Self::with(P::RWLOCK);

    type SharedGuard = GuardNoSend;
    type ExclusiveGuard = GuardNoSend;

    fn lock_shared(&self) -> GuardNoSend {
        let slow = || {
            self.slow(|holders| {
                let free = *holders >= 0;
                *holders += i64::from(free);
                free
            })
        };
        self.point
            .take(LockMode::Shared, Source::here(), || self.try_read(), slow);
        GuardNoSend::new()
    }

    fn try_lock_shared(&self) -> Option<GuardNoSend> {
        self.point
            .try_take(LockMode::Shared, || self.try_read())
            .then(GuardNoSend::new)
    }

    unsafe fn unlock_shared(&self, _: GuardNoSend) {
        self.point.released(LockMode::Shared);
        self.let_go(|holders| *holders -= 1);
    }

    fn lock_exclusive(&self) -> GuardNoSend {
        let slow = || {
            self.slow(|holders| {
                let free = *holders == 0;
                if free {
                    *holders = -1;
                }
                free
            })
        };
        self.point.take(
            LockMode::Exclusive,
            Source::here(),
            || self.try_write(),
            slow,
        );
        GuardNoSend::new()
    }

    fn try_lock_exclusive(&self) -> Option<GuardNoSend> {
        self.point
            .try_take(LockMode::Exclusive, || self.try_write())
            .then(GuardNoSend::new)
    }

    unsafe fn unlock_exclusive(&self, _: GuardNoSend) {
        self.point.released(LockMode::Exclusive);
        self.let_go(|holders| *holders = 0);
    }

    fn is_locked(&self) -> bool {
        *locked(&self.holders) != 0
    }

    fn is_locked_exclusive(&self) -> bool {
        *locked(&self.holders) < 0
    }
}
