//! What a lock tells about itself, and to whom: nobody, or the engine.

use crate::source::Source;

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// By one alone: a mutex, a writer.
    Exclusive,
    /// With others: a reader.
    Shared,
}

/// What a lock tells about itself: the parameter of [`RawMutex`](super::RawMutex) and
/// [`RawRwLock`](super::RawRwLock).
pub trait Point: sealed::Sealed {
    /// The point of a mutex without a class of its own.
    const MUTEX: Self;
    /// The point of a rwlock without a class of its own.
    const RWLOCK: Self;

    /// Takes the lock: at once by `quick`, or by `slow`, which says whether it did. `source`: where that is.
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

    /// The lock is about to be let go.
    fn released(&self, mode: LockMode);
}

pub(super) mod sealed {
    pub trait Sealed {}
}
