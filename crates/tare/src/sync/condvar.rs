//! The condition variable: a counter that every notification changes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::instrumented::{Cond, LockPoint};
use crate::class::Class;
use crate::lock::futex;
use crate::lock::mutex::RawMutex;

/// A condition variable, instrumented under a class of kind Cond: a thread waits until another one notifies
/// it.
///
/// ```
/// use tare::sync::{Condvar, Mutex};
/// tare::classes! {
///     static LOCK_READY: Mutex = "wait/synch/mutex/app/LOCK_ready";
///     static COND_READY: Cond = "wait/synch/cond/app/COND_ready";
/// }
/// static READY: Mutex<bool> = Mutex::new(&LOCK_READY, false);
/// static CHANGED: Condvar = Condvar::new(&COND_READY);
/// std::thread::spawn(|| {
///     *READY.lock() = true;
///     CHANGED.notify_all();
/// });
/// let mut ready = READY.lock();
/// while !*ready {
///     CHANGED.wait(&mut ready);
/// }
/// ```
#[derive(Debug)]
pub struct Condvar {
    notifications: AtomicU32,
    point: Cond,
}

type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex<LockPoint>, T>;

/// Whether a wait ended because of its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the timeout ended the wait.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable.
    pub const fn new(class: &'static Class) -> Self {
        Self {
            notifications: AtomicU32::new(0),
            point: Cond::new(class),
        }
    }

    /// Wakes one thread that waits.
    #[inline]
    pub fn notify_one(&self) {
        self.notifications.fetch_add(1, Ordering::Release);
        futex::wake(&self.notifications, 1);
    }

    /// Wakes all threads that wait.
    #[inline]
    pub fn notify_all(&self) {
        self.notifications.fetch_add(1, Ordering::Release);
        futex::wake(&self.notifications, u32::MAX);
    }

    /// Releases the mutex, waits for a notification, and takes the mutex again. It may return without a
    /// notification, as all condition variables may.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        let _wait = self.point.wait(false);
        self.wait_until_changed(guard, None);
    }

    /// Waits as [`Condvar::wait`] does, while `condition` holds.
    #[track_caller]
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(&mut *guard) {
            self.wait(guard);
        }
    }

    /// Waits as [`Condvar::wait`] does, for at most `timeout`.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.wait_until(guard, deadline),
            None => {
                self.wait(guard);
                WaitTimeoutResult(false)
            }
        }
    }

    /// Waits as [`Condvar::wait`] does, until `deadline` at the latest.
    #[track_caller]
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
        // While this thread holds the mutex, no other holder can notify. A notification after the
        // release changes `notifications`, and the kernel then refuses to sleep.
        let notifications = self.notifications.load(Ordering::Relaxed);
        // SAFETY: this guard has locked the raw mutex, which is locked again before the guard is used.
        let mutex: &RawMutex<LockPoint> = unsafe { MutexGuard::mutex(guard).raw() };
        mutex.release_for_wait();
        let in_time = futex::wait(&self.notifications, notifications, deadline);
        mutex.reacquire_after_wait();
        // In time, or late but notified.
        in_time && deadline.is_none_or(|d| Instant::now() < d)
            || self.notifications.load(Ordering::Relaxed) != notifications
    }
}
