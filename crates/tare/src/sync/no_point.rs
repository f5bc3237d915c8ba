//! No point: what a lock keeps for Tare when it is not to be instrumented.

use super::{Point, Way};

/// Nothing.
#[derive(Debug)]
pub struct Absent;

impl Point for Absent {
    const MUTEX: Self = Self;
    const RWLOCK: Self = Self;

    #[inline(always)]
    fn take(&self, _: Way, quick: impl Fn() -> bool, slow: impl FnOnce() -> bool) -> bool {
        quick() || slow()
    }

    #[inline(always)]
    fn try_take(&self, _: Way, quick: impl Fn() -> bool) -> bool {
        quick()
    }

    #[inline(always)]
    fn retaken(&self, _: Way) {}

    #[inline(always)]
    fn released(&self, _: Way) {}
}

#[cfg(not(feature = "instrument"))]
pub use off::{Cond, Lock};

#[cfg(not(feature = "instrument"))]
mod off {
    use super::{Absent, Point, Way};
    use crate::class::Class;

    /// A lock's point when none is compiled in.
    #[derive(Debug)]
    pub struct Lock(Absent);

    impl Lock {
        pub const fn new(_: &'static Class) -> Self {
            Self(Absent)
        }
    }

    impl Point for Lock {
        const MUTEX: Self = Self(Absent);
        const RWLOCK: Self = Self(Absent);

        #[inline(always)]
        fn take(&self, way: Way, quick: impl Fn() -> bool, slow: impl FnOnce() -> bool) -> bool {
            self.0.take(way, quick, slow)
        }

        #[inline(always)]
        fn try_take(&self, way: Way, quick: impl Fn() -> bool) -> bool {
            self.0.try_take(way, quick)
        }

        #[inline(always)]
        fn retaken(&self, _: Way) {}

        #[inline(always)]
        fn released(&self, _: Way) {}
    }

    /// No wait.
    #[derive(Debug)]
    pub struct Nothing;

    /// A condition variable's point when none is compiled in.
    #[derive(Debug)]
    pub struct Cond;

    impl Cond {
        pub const fn new(_: &'static Class) -> Self {
            Self
        }

        #[inline(always)]
        pub fn wait(&self, _: bool) -> Nothing {
            Nothing
        }
    }
}
