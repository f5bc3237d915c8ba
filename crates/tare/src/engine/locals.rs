//! The locals of threads, by slot, as the engine sees them: pointers that it frees and never
//! dereferences.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::zeroed::zeroed;

/// A pointer for each slot to the local of its present thread, or the last one. `slot` stores it and
/// knows its type, which contains the engine; so the engine knows only how to free it.
pub(super) struct Locals {
    slots: Box<[AtomicPtr<()>]>,
    free: unsafe fn(*mut ()),
}

impl Locals {
    /// Null pointers for this number of slots. Their memory is touched when they are used.
    pub fn new(slots: usize, free: unsafe fn(*mut ())) -> Self {
        Self {
            slots: zeroed(slots),
            free,
        }
    }

    /// The pointer of a slot.
    pub fn of(&self, slot: usize) -> &AtomicPtr<()> {
        &self.slots[slot]
    }

    /// In a child of fork: those of the first `used` slots are of its parent's threads. A session may still
    /// have one, so that none is freed.
    pub fn forget_all(&self, used: usize) {
        for place in &self.slots[..used] {
            if !place.load(Ordering::Relaxed).is_null() {
                place.store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
    }

    /// Frees those of the first `used` slots. Later slots never had one.
    ///
    /// # Safety
    /// No thread uses any of them any more.
    pub unsafe fn free_all(&self, used: usize) {
        for place in &self.slots[..used] {
            // SAFETY: null, or allocated for `free`; by the rule above no thread uses it.
            unsafe { (self.free)(place.swap(ptr::null_mut(), Ordering::AcqRel)) };
        }
    }
}
