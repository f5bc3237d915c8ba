//! The point of a lock: the code that records how the lock is taken and released, or none.

use crate::source::Source;

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// By one thread only: a mutex, a writer.
    Exclusive,
    /// With others: a reader.
    Shared,
}

/// Records what happens to a lock: the parameter of [`RawMutex`](crate::sync::RawMutex) and
/// [`RawRwLock`](crate::sync::RawRwLock).
pub trait Point: sealed::Sealed {
    /// The point of a mutex without a class of its own.
    const MUTEX: Self;
    /// The point of a rwlock without a class of its own.
    const RWLOCK: Self;

    /// Takes the lock: at once by `quick`, or by `slow`, which returns whether it did. `source`: the
    /// place in the host's source.
    fn take(
        &self,
        mode: LockMode,
        source: Source,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool;

    /// Takes the lock if it is free. A try that fails is no wait and not counted.
    fn try_take(&self, mode: LockMode, quick: impl Fn() -> bool) -> bool;

    /// The lock was taken without a wait of its own.
    fn retaken(&self, mode: LockMode);

    /// The lock is about to be released.
    fn released(&self, mode: LockMode);
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// The point of a lock that is not instrumented: it records nothing.
#[derive(Debug)]
pub struct Absent;

impl sealed::Sealed for Absent {}

impl Point for Absent {
    const MUTEX: Self = Self;
    const RWLOCK: Self = Self;

    #[inline(always)]
    fn take(
        &self,
        _: LockMode,
        _: Source,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        quick() || slow()
    }

    #[inline(always)]
    fn try_take(&self, _: LockMode, quick: impl Fn() -> bool) -> bool {
        quick()
    }

    #[inline(always)]
    fn retaken(&self, _: LockMode) {}

    #[inline(always)]
    fn released(&self, _: LockMode) {}
}
