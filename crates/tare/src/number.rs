//! The number that a static (a class, a metric) has in the segment that records now.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of whatever got no number. The segment has no row for it, and its flags are always off.
pub(crate) const NO_NUMBER: u16 = 0;

/// Bits 0-15: number in the segment; bits 16-31: the generation of Tare that gave it.
#[derive(Debug)]
pub(crate) struct Number(AtomicU32);

impl Number {
    pub const fn none() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The number under `generation`, if one was given.
    #[inline(always)]
    pub fn get(&self, generation: u32) -> Option<u16> {
        let number = self.0.load(Ordering::Relaxed);
        (number >> 16 == generation).then_some(number as u16)
    }

    pub fn set(&self, generation: u32, number: u16) {
        let number = generation << 16 | u32::from(number);
        self.0.store(number, Ordering::Relaxed);
    }
}
