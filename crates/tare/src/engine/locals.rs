//! What threads keep, by slot, as the engine sees it: places that it frees and never looks into.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One place for each slot: what its present thread keeps, or its last one. `slot` puts it there and knows
/// its type, which has the engine in it; so the engine knows only how to free it.
pub(super) struct Locals {
    places: Box<[AtomicPtr<()>]>,
    free: unsafe fn(*mut ()),
}

impl Locals {
    /// Empty places for so many slots.
    pub fn new(slots: usize, free: unsafe fn(*mut ())) -> Self {
        Self {
            places: (0..slots).map(|_| AtomicPtr::default()).collect(),
            free,
        }
    }

    /// The place of a slot.
    pub fn of(&self, slot: usize) -> &AtomicPtr<()> {
        &self.places[slot]
    }

    /// Frees them all.
    ///
    /// # Safety
    /// No thread uses any of them any more.
    pub unsafe fn free_all(&self) {
        for place in &self.places {
            // SAFETY: null, or what `free` is for; the caller's promise.
            unsafe { (self.free)(place.swap(ptr::null_mut(), Ordering::AcqRel)) };
        }
    }
}
