//! Locks: adaptive, with parking_lot's interface, and instrumented.
//!
//! If the lock is free, its point adds one to a counter and reads no clock. If it is not, the wait is
//! timed.
//!
//! Without the feature `instrument` the same locks have no point and no memory for one.

#[cfg(feature = "tokio")]
pub mod asynchronous;
mod condvar;

mod instrumented;

use std::ops::{Deref, DerefMut};

use crate::class::Class;
pub use crate::lock::point::{Absent, LockMode, Point};
pub use crate::lock::{PlainMutex, PlainRwLock};
use crate::lock::{mutex, rwlock};
pub use condvar::{Condvar, WaitTimeoutResult};
use instrumented::LockPoint;

/// The mutex that [`Mutex`] wraps, for hosts that lock and unlock by hand.
pub type RawMutex<P = LockPoint> = mutex::RawMutex<P>;
/// The lock that [`RwLock`] wraps.
pub type RawRwLock<P = LockPoint> = rwlock::RawRwLock<P>;

impl mutex::RawMutex<LockPoint> {
    /// Creates a free mutex.
    pub const fn new(class: &'static Class) -> Self {
        Self::with(LockPoint::new(class))
    }
}

impl rwlock::RawRwLock<LockPoint> {
    /// Creates a free lock.
    pub const fn new(class: &'static Class) -> Self {
        Self::with(LockPoint::new(class))
    }
}

/// A mutex with parking_lot's interface, instrumented under a class of kind Mutex.
///
/// ```
/// tare::classes! { static LOCK_QUEUE: Mutex = "wait/synch/mutex/app/LOCK_queue"; }
/// static QUEUE: tare::sync::Mutex<Vec<u32>> = tare::sync::Mutex::new(&LOCK_QUEUE, Vec::new());
/// QUEUE.lock().push(1);
/// ```
#[derive(Debug)]
pub struct Mutex<T: ?Sized>(lock_api::Mutex<RawMutex, T>);

/// Holds a [`Mutex`] until it is dropped.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// Holds a [`Mutex`] and refers to a part of its data.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

impl<T> Mutex<T> {
    /// Creates a free mutex around `value`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self(lock_api::Mutex::from_raw(RawMutex::new(class), value))
    }

    /// Returns the value. The caller owns the mutex, so no other thread holds it.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Deref for Mutex<T> {
    type Target = lock_api::Mutex<RawMutex, T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for Mutex<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// A lock for many readers or one writer, with parking_lot's interface, instrumented under a class of kind
/// RwLock. Writers go first: a reader that comes while a writer waits, waits too.
#[derive(Debug)]
pub struct RwLock<T: ?Sized>(lock_api::RwLock<RawRwLock, T>);

/// Holds an [`RwLock`] for reading.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Holds an [`RwLock`] for writing.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;

impl<T> RwLock<T> {
    /// Creates a free lock around `value`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self(lock_api::RwLock::from_raw(RawRwLock::new(class), value))
    }

    /// Returns the value. The caller owns the lock, so no other thread holds it.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Deref for RwLock<T> {
    type Target = lock_api::RwLock<RawRwLock, T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for RwLock<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
