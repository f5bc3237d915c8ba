//! A condition variable of std's.

use std::sync::{Condvar as Std, Mutex};
use std::time::{Duration, Instant};

use super::super::instrumented::{Cond, LockPoint};
use super::super::mutex::RawMutex;
use super::locked;
use crate::class::Class;

type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex<LockPoint>, T>;

/// Waits for something another thread says.
#[derive(Debug)]
pub struct Condvar {
    notifications: Mutex<u64>,
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
            notifications: Mutex::new(0),
            changed: Std::new(),
            point: Cond::new(class),
        }
    }

    /// Wakes one thread that waits.
    pub fn notify_one(&self) {
        *locked(&self.notifications) += 1;
        // All: std wakes any one, and that may be one that began to wait later.
        self.changed.notify_all();
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.notify_one();
    }

    /// Waits for a notification.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        let _wait = self.point.wait(false);
        self.wait_until_changed(guard, None);
    }

    /// Waits while `condition` holds.
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

    /// Waits for at most `timeout`.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        let _wait = self.point.wait(true);
        WaitTimeoutResult(!self.wait_until_changed(guard, Instant::now().checked_add(timeout)))
    }

    /// Waits until `deadline`.
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
        let mut notifications = locked(&self.notifications);
        let before = *notifications;
        // SAFETY: the raw mutex is locked by this guard, and is again before the guard is used.
        let mutex: &RawMutex<LockPoint> = unsafe { MutexGuard::mutex(guard).raw() };
        mutex.release_for_wait();
        while *notifications == before {
            let Some(deadline) = deadline else {
                notifications = self
                    .changed
                    .wait(notifications)
                    .unwrap_or_else(|e| e.into_inner());
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                break;
            }
            notifications = self
                .changed
                .wait_timeout(notifications, left)
                .unwrap_or_else(|e| e.into_inner())
                .0;
        }
        let notified = *notifications != before;
        drop(notifications);
        mutex.reacquire_after_wait();
        notified
    }
}
