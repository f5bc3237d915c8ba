//! The stage that a thread is in.

use std::cell::Cell;

/// The running stage. The fields are separate, and each is read as it was written: a copy of the struct
/// would be loaded in other pieces than it was stored in, and the loads would wait for the stores.
#[derive(Default)]
pub(crate) struct OpenStage {
    /// Bits 0-7 flags (0 = no stage runs), bits 8-23 class.
    head: Cell<u32>,
    /// Number of open waits: not the stage's, but this cache line has space.
    pub waits: Cell<u32>,
    /// Ticks at its start.
    pub start: Cell<u64>,
    /// Event id, 0 = none.
    pub id: Cell<u64>,
}

impl OpenStage {
    /// Class and flags.
    #[inline(always)]
    pub fn head(&self) -> (u16, u8) {
        let head = self.head.get();
        ((head >> 8) as u16, head as u8)
    }

    /// Replaces the running stage; flags 0 = none.
    #[inline(always)]
    pub fn set(&self, class: u16, bits: u8, start: u64, id: u64) {
        self.head.set(u32::from(class) << 8 | u32::from(bits));
        self.start.set(start);
        self.id.set(id);
    }
}
