//! Registering a class by hand.

use crate::class::Class;

impl Class {
    /// Does nothing.
    #[inline(always)]
    pub fn register(&self) {}
}
