//! No point: what a lock keeps for Tare when it is not to be instrumented.

use super::point::{LockMode, Point, sealed};
use crate::source::Source;

/// The point of a lock that nobody watches.
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
