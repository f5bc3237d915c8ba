//! Locks: adaptive, with parking_lot's interface, and instrumented.
//!
//! A lock is taken by one compare-and-swap when it is free; then its point adds one to a counter
//! and reads no clock. When it is not free, the thread spins for as long as that can pay (see
//! [`spin`]) and then sleeps in the kernel; that wait is timed.
//!
//! Without the feature `instrument` the same locks have no point and no room for one.

#[cfg(futex_locks)]
mod condvar;
#[cfg(futex_locks)]
mod futex;
#[cfg(futex_locks)]
mod mutex;
#[cfg(futex_locks)]
mod rwlock;
#[cfg(futex_locks)]
mod spin;

#[cfg(not(futex_locks))]
mod fallback;
#[cfg(not(futex_locks))]
use fallback::{condvar, mutex, rwlock};

mod no_point;
#[cfg(feature = "instrument")]
pub(crate) mod point;
#[cfg(not(feature = "instrument"))]
use no_point as point;

use std::ops::{Deref, DerefMut};

use crate::class::Class;
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::RawMutex;
pub use no_point::Absent;
pub use rwlock::RawRwLock;

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By one alone: a mutex, a writer.
    Exclusive,
    /// With others: a reader.
    Shared,
}

/// What a lock tells about itself: [`RawMutex`]'s and [`RawRwLock`]'s parameter.
pub trait Point: sealed::Sealed {
    /// The point of a mutex without a class of its own.
    const MUTEX: Self;
    /// The point of a rwlock without a class of its own.
    const RWLOCK: Self;

    /// Takes the lock: at once by `quick`, or by `slow`, which says whether it did.
    fn take(&self, way: Way, quick: impl Fn() -> bool, slow: impl FnOnce() -> bool) -> bool;

    /// Takes the lock if it is free. A try that fails is no wait and not counted.
    fn try_take(&self, way: Way, quick: impl Fn() -> bool) -> bool;

    /// The lock was taken without a wait of its own.
    fn retaken(&self, way: Way);

    /// The lock is about to be let go.
    fn released(&self, way: Way);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Absent {}
    impl Sealed for super::point::Lock {}
}

/// The same mutex without a point, in any build: for locks that are nobody's business.
pub type PlainMutex<T> = lock_api::Mutex<RawMutex<Absent>, T>;
/// The same rwlock without a point, in any build.
pub type PlainRwLock<T> = lock_api::RwLock<RawRwLock<Absent>, T>;

/// Mutual exclusion, instrumented under a class of kind Mutex.
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
/// Holds a [`Mutex`], seen as a part of its data.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

impl<T> Mutex<T> {
    /// A free mutex around `value`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self(lock_api::Mutex::from_raw(RawMutex::new(class), value))
    }

    /// The value, of a mutex that nobody else can have.
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

/// Many readers or one writer, instrumented under a class of kind RwLock. Writers go first: a
/// reader that comes while a writer waits, waits too.
#[derive(Debug)]
pub struct RwLock<T: ?Sized>(lock_api::RwLock<RawRwLock, T>);

/// Holds an [`RwLock`] for reading.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Holds an [`RwLock`] for writing.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;

impl<T> RwLock<T> {
    /// A free lock around `value`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self(lock_api::RwLock::from_raw(RawRwLock::new(class), value))
    }

    /// The value, of a lock that nobody else can have.
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
