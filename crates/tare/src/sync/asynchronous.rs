//! tokio's locks, counted: one that is free is counted without a clock, and only a wait is timed.
//!
//! Each has the interface of tokio's lock. What this module does not define is reached by `Deref`, and is not
//! counted. Holders are not recorded: a guard may be dropped by any task. In the feature `tokio`; other
//! runtimes' locks are counted by [`wait::future`](crate::wait::future).

use std::ops::Deref;

use tare_layout::event::Operation;
use tokio::sync::{AcquireError, MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::{SemaphorePermit, TryAcquireError, TryLockError};

use super::LockMode::{Exclusive, Shared};
use super::instrumented::LockPoint;
use crate::class::Class;

/// tokio's mutex, instrumented under a class of kind Mutex.
///
/// ```
/// tare::classes! { static LOCK_QUEUE: Mutex = "wait/synch/mutex/app/LOCK_queue"; }
/// # async fn work() {
/// let queue = tare::sync::asynchronous::Mutex::new(&LOCK_QUEUE, Vec::new());
/// queue.lock().await.push(1);
/// # }
/// ```
#[derive(Debug)]
pub struct Mutex<T: ?Sized> {
    point: LockPoint,
    lock: tokio::sync::Mutex<T>,
}

impl<T> Mutex<T> {
    /// Creates a free mutex around `value`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self {
            point: LockPoint::new(class),
            lock: tokio::sync::Mutex::const_new(value),
        }
    }

    /// Returns the value. The caller owns the mutex, so no other task holds it.
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the mutex.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        self.point.wait_for(Exclusive, self.lock.lock())
    }

    /// Takes the mutex if it is free.
    ///
    /// # Errors
    /// The mutex is held.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let guard = self.lock.try_lock()?;
        self.point.count_taken(Exclusive);
        Ok(guard)
    }
}

/// tokio's rwlock, instrumented under a class of kind RwLock.
#[derive(Debug)]
pub struct RwLock<T: ?Sized> {
    point: LockPoint,
    lock: tokio::sync::RwLock<T>,
}

impl<T> RwLock<T> {
    /// Creates a free lock around `value`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self {
            point: LockPoint::new(class),
            lock: tokio::sync::RwLock::const_new(value),
        }
    }

    /// Returns the value. The caller owns the lock, so no other task holds it.
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        self.point.wait_for(Shared, self.lock.read())
    }

    /// Takes the lock for writing.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        self.point.wait_for(Exclusive, self.lock.write())
    }

    /// Takes the lock for reading if no task writes or waits to write.
    ///
    /// # Errors
    /// A task writes, or waits to write.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let guard = self.lock.try_read()?;
        self.point.count_taken(Shared);
        Ok(guard)
    }

    /// Takes the lock for writing if it is free.
    ///
    /// # Errors
    /// The lock is held.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let guard = self.lock.try_write()?;
        self.point.count_taken(Exclusive);
        Ok(guard)
    }
}

/// tokio's semaphore, instrumented under a class of kind Cond: one wait for each acquisition.
#[derive(Debug)]
pub struct Semaphore {
    point: LockPoint,
    semaphore: tokio::sync::Semaphore,
}

impl Semaphore {
    /// Creates a semaphore with this number of permits.
    pub const fn new(class: &'static Class, permits: usize) -> Self {
        Self {
            point: LockPoint::new(class),
            semaphore: tokio::sync::Semaphore::const_new(permits),
        }
    }

    /// Acquires a permit.
    ///
    /// # Errors
    /// The semaphore was closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Acquires several permits.
    ///
    /// # Errors
    /// The semaphore was closed.
    #[track_caller]
    pub fn acquire_many(
        &self,
        permits: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let permits = self.semaphore.acquire_many(permits);
        self.point.wait_as(Operation::Wait, permits)
    }

    /// Acquires a permit if one is free.
    ///
    /// # Errors
    /// No permit is free, or the semaphore was closed.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let permit = self.semaphore.try_acquire()?;
        self.point.count_taken_as(Operation::Wait);
        Ok(permit)
    }
}

/// tokio's notifications, instrumented under a class of kind Cond.
#[derive(Debug)]
pub struct Notify {
    point: LockPoint,
    notify: tokio::sync::Notify,
}

impl Notify {
    /// Creates it without a notification.
    pub const fn new(class: &'static Class) -> Self {
        Self {
            point: LockPoint::new(class),
            notify: tokio::sync::Notify::const_new(),
        }
    }

    /// Waits for a notification.
    #[track_caller]
    pub fn notified(&self) -> impl Future<Output = ()> {
        self.point.wait_as(Operation::Wait, self.notify.notified())
    }
}

/// Access to what tokio's type can do besides.
macro_rules! deref {
    ($($name:ident $(<$t:ident>)?, $field:ident;)*) => {
        $(
            impl $(<$t: ?Sized>)? Deref for $name $(<$t>)? {
                type Target = tokio::sync::$name $(<$t>)?;

                #[inline]
                fn deref(&self) -> &Self::Target {
                    &self.$field
                }
            }
        )*
    };
}

deref! {
    Mutex<T>, lock;
    RwLock<T>, lock;
    Semaphore, semaphore;
    Notify, notify;
}
