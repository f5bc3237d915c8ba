//! Metrics that are not counted.

use crate::metric::Metric;

impl Metric {
    /// Does nothing.
    #[inline(always)]
    pub fn register(&self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn add(&self, _: u64) {}

    /// Does nothing.
    #[inline(always)]
    pub fn set(&self, _: i64) {}

    /// False.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        false
    }
}

/// Does nothing; 0.
#[inline(always)]
pub fn enable(_: &str) -> usize {
    0
}

/// Does nothing; 0.
#[inline(always)]
pub fn disable(_: &str) -> usize {
    0
}

/// Does nothing; 0.
#[inline(always)]
pub fn reset(_: &str) -> usize {
    0
}

/// Does nothing; 0.
#[inline(always)]
pub fn reset_all(_: &str) -> usize {
    0
}
