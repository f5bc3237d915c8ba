//! The points of locks and condition variables when instrumentation is not compiled in.

use crate::class::Class;
use crate::lock::point::{Absent, LockMode, Point, sealed};
use crate::source::Source;
#[cfg(feature = "tokio")]
use tare_layout::event::Operation;

/// A lock's point when none is compiled in.
#[derive(Debug)]
pub struct LockPoint(Absent);

impl LockPoint {
    pub const fn new(_: &'static Class) -> Self {
        Self(Absent)
    }
}

#[cfg(feature = "tokio")]
impl LockPoint {
    #[inline(always)]
    pub fn wait_for<F: Future>(&self, _: LockMode, future: F) -> F {
        future
    }

    #[inline(always)]
    pub fn wait_as<F: Future>(&self, _: Operation, future: F) -> F {
        future
    }

    #[inline(always)]
    pub fn count_taken(&self, _: LockMode) {}

    #[inline(always)]
    pub fn count_taken_as(&self, _: Operation) {}
}

impl sealed::Sealed for LockPoint {}

impl Point for LockPoint {
    const MUTEX: Self = Self(Absent);
    const RWLOCK: Self = Self(Absent);

    #[inline(always)]
    fn take(
        &self,
        mode: LockMode,
        source: Source,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        self.0.take(mode, source, quick, slow)
    }

    #[inline(always)]
    fn try_take(&self, mode: LockMode, quick: impl Fn() -> bool) -> bool {
        self.0.try_take(mode, quick)
    }

    #[inline(always)]
    fn retaken(&self, _: LockMode) {}

    #[inline(always)]
    fn released(&self, _: LockMode) {}
}

/// No wait.
#[derive(Debug)]
pub struct NoWait;

/// A condition variable's point when none is compiled in.
#[derive(Debug)]
pub struct Cond;

impl Cond {
    pub const fn new(_: &'static Class) -> Self {
        Self
    }

    #[inline(always)]
    pub fn wait(&self, _: bool) -> NoWait {
        NoWait
    }
}
