//! Locks for targets without futexes or 32-bit atomics: the operating system's, through std.

pub mod mutex {
    //! A mutex of std's condition variable and mutex, to be unlocked by hand.

    use std::sync::{Condvar, Mutex};
    use std::time::{Duration, Instant};

    use lock_api::{GuardNoSend, RawMutexTimed};

    use super::super::point::Lock;
    use super::super::{Point, Way};
    use super::held;
    use crate::class::Class;

    /// The mutex that [`Mutex`](crate::sync::Mutex) wraps.
    #[derive(Debug)]
    pub struct RawMutex<P = Lock> {
        held: Mutex<bool>,
        free: Condvar,
        point: P,
    }

    impl RawMutex {
        /// A free lock.
        pub const fn new(class: &'static Class) -> Self {
            Self::with(Lock::new(class))
        }
    }

    impl<P> RawMutex<P> {
        const fn with(point: P) -> Self {
            Self {
                held: Mutex::new(false),
                free: Condvar::new(),
                point,
            }
        }
    }

    impl<P: Point> RawMutex<P> {
        fn try_take(&self) -> bool {
            !std::mem::replace(&mut *held(&self.held), true)
        }

        fn take_slow(&self, deadline: Option<Instant>) -> bool {
            let mut taken = held(&self.held);
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
            *held(&self.held) = false;
            self.free.notify_one();
        }

        pub(in super::super) fn reacquire_after_wait(&self) {
            self.take_slow(None);
            self.point.retaken(Way::Exclusive);
        }

        pub(in super::super) fn release_for_wait(&self) {
            self.point.released(Way::Exclusive);
            self.let_go();
        }
    }

    // SAFETY: `held` is true for exactly one thread at a time, changed under std's mutex only.
    unsafe impl<P: Point> lock_api::RawMutex for RawMutex<P> {
        const INIT: Self = Self::with(P::MUTEX);

        type Guard = GuardNoSend;

        fn lock(&self) -> GuardNoSend {
            self.point
                .take(Way::Exclusive, || self.try_take(), || self.take_slow(None));
            GuardNoSend::new()
        }

        fn try_lock(&self) -> Option<GuardNoSend> {
            self.point
                .try_take(Way::Exclusive, || self.try_take())
                .then(GuardNoSend::new)
        }

        unsafe fn unlock(&self, _: GuardNoSend) {
            self.point.released(Way::Exclusive);
            self.let_go();
        }

        fn is_locked(&self) -> bool {
            *held(&self.held)
        }
    }

    // SAFETY: as above.
    unsafe impl<P: Point> RawMutexTimed for RawMutex<P> {
        type Duration = Duration;
        type Instant = Instant;

        fn try_lock_for(&self, timeout: Duration) -> Option<GuardNoSend> {
            let deadline = Instant::now().checked_add(timeout);
            let slow = || self.take_slow(deadline);
            self.point
                .take(Way::Exclusive, || self.try_take(), slow)
                .then(GuardNoSend::new)
        }

        fn try_lock_until(&self, deadline: Instant) -> Option<GuardNoSend> {
            let slow = || self.take_slow(Some(deadline));
            self.point
                .take(Way::Exclusive, || self.try_take(), slow)
                .then(GuardNoSend::new)
        }
    }
}

pub mod rwlock {
    //! A rwlock of std's condition variable and mutex.

    use std::sync::{Condvar, Mutex};

    use lock_api::GuardNoSend;

    use super::super::point::Lock;
    use super::super::{Point, Way};
    use super::held;
    use crate::class::Class;

    /// Readers, or -1 for a writer.
    #[derive(Debug)]
    pub struct RawRwLock<P = Lock> {
        holders: Mutex<i64>,
        free: Condvar,
        point: P,
    }

    impl RawRwLock {
        /// A free lock.
        pub const fn new(class: &'static Class) -> Self {
            Self::with(Lock::new(class))
        }
    }

    impl<P> RawRwLock<P> {
        const fn with(point: P) -> Self {
            Self {
                holders: Mutex::new(0),
                free: Condvar::new(),
                point,
            }
        }
    }

    impl<P: Point> RawRwLock<P> {
        fn try_read(&self) -> bool {
            let mut holders = held(&self.holders);
            let free = *holders >= 0;
            *holders += i64::from(free);
            free
        }

        fn try_write(&self) -> bool {
            let mut holders = held(&self.holders);
            let free = *holders == 0;
            if free {
                *holders = -1;
            }
            free
        }

        fn slow(&self, quick: impl Fn(&mut i64) -> bool) -> bool {
            let mut holders = held(&self.holders);
            while !quick(&mut holders) {
                holders = self.free.wait(holders).unwrap_or_else(|e| e.into_inner());
            }
            true
        }

        fn let_go(&self, change: impl FnOnce(&mut i64)) {
            change(&mut held(&self.holders));
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
            self.point.take(Way::Shared, || self.try_read(), slow);
            GuardNoSend::new()
        }

        fn try_lock_shared(&self) -> Option<GuardNoSend> {
            self.point
                .try_take(Way::Shared, || self.try_read())
                .then(GuardNoSend::new)
        }

        unsafe fn unlock_shared(&self, _: GuardNoSend) {
            self.point.released(Way::Shared);
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
            self.point.take(Way::Exclusive, || self.try_write(), slow);
            GuardNoSend::new()
        }

        fn try_lock_exclusive(&self) -> Option<GuardNoSend> {
            self.point
                .try_take(Way::Exclusive, || self.try_write())
                .then(GuardNoSend::new)
        }

        unsafe fn unlock_exclusive(&self, _: GuardNoSend) {
            self.point.released(Way::Exclusive);
            self.let_go(|holders| *holders = 0);
        }

        fn is_locked(&self) -> bool {
            *held(&self.holders) != 0
        }

        fn is_locked_exclusive(&self) -> bool {
            *held(&self.holders) < 0
        }
    }
}

pub mod condvar {
    //! A condition variable of std's.

    use std::sync::{Condvar as Std, Mutex};
    use std::time::{Duration, Instant};

    use super::super::MutexGuard;
    use super::super::mutex::RawMutex;
    use super::super::point::Cond;
    use super::held;
    use crate::class::Class;

    /// Waits for something another thread says.
    #[derive(Debug)]
    pub struct Condvar {
        turn: Mutex<u64>,
        changed: Std,
        point: Cond,
    }

    /// Whether a wait ended because its time was over.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WaitTimeoutResult(bool);

    impl WaitTimeoutResult {
        /// Whether the time was over.
        pub fn timed_out(self) -> bool {
            self.0
        }
    }

    impl Condvar {
        /// A condition variable that nobody waits for.
        pub const fn new(class: &'static Class) -> Self {
            Self {
                turn: Mutex::new(0),
                changed: Std::new(),
                point: Cond::new(class),
            }
        }

        /// Wakes one thread that waits.
        pub fn notify_one(&self) {
            *held(&self.turn) += 1;
            // All: std wakes any one, and that may be one that began to wait later.
            self.changed.notify_all();
        }

        /// Wakes all threads that wait.
        pub fn notify_all(&self) {
            self.notify_one();
        }

        /// Waits for a notification.
        pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
            let _wait = self.point.wait(false);
            self.wait_until_changed(guard, None);
        }

        /// Waits while `condition` holds.
        pub fn wait_while<T: ?Sized>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            mut condition: impl FnMut(&mut T) -> bool,
        ) {
            while condition(&mut *guard) {
                self.wait(guard);
            }
        }

        /// Waits for at most `timeout`.
        pub fn wait_for<T: ?Sized>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            timeout: Duration,
        ) -> WaitTimeoutResult {
            let _wait = self.point.wait(true);
            WaitTimeoutResult(!self.wait_until_changed(guard, Instant::now().checked_add(timeout)))
        }

        /// Waits until `deadline`.
        pub fn wait_until<T: ?Sized>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            deadline: Instant,
        ) -> WaitTimeoutResult {
            let _wait = self.point.wait(true);
            WaitTimeoutResult(!self.wait_until_changed(guard, Some(deadline)))
        }

        fn wait_until_changed<T: ?Sized>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            deadline: Option<Instant>,
        ) -> bool {
            let mut turn = held(&self.turn);
            let before = *turn;
            // SAFETY: the raw mutex is locked by this guard, and is again before the guard is used.
            let mutex: &RawMutex = unsafe { MutexGuard::mutex(guard).raw() };
            mutex.release_for_wait();
            while *turn == before {
                let Some(deadline) = deadline else {
                    turn = self.changed.wait(turn).unwrap_or_else(|e| e.into_inner());
                    continue;
                };
                let left = deadline.saturating_duration_since(Instant::now());
                if left == Duration::ZERO {
                    break;
                }
                turn = self
                    .changed
                    .wait_timeout(turn, left)
                    .unwrap_or_else(|e| e.into_inner())
                    .0;
            }
            let notified = *turn != before;
            drop(turn);
            mutex.reacquire_after_wait();
            notified
        }
    }
}

fn held<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
