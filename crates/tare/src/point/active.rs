//! The level `active` (docs/active.md), for a host that switches what its own points call. Such a point
//! calls these functions only at that level, and they check nothing.

use std::sync::atomic::Ordering;

pub use tare_layout::activity::{ADDRESS_MASK, FORM_AT, LOCK_CLASS_AT, MAX_LOCK_CLASS, Waiting};

use crate::engine::hot;

/// Stores the word of a wait ([`Waiting`]) as the calling thread's innermost one. Returns the word of the
/// outer one, for [`end_wait`]; `None`: the thread has no slot, and nothing is to be ended.
#[inline(always)]
pub fn begin_wait(word: u64) -> Option<u64> {
    let line = hot::activity()?;
    let outer = line.wait.load(Ordering::Relaxed);
    line.wait.store(word, Ordering::Relaxed);
    Some(outer)
}

/// Ends a wait: stores the word of the outer one again.
#[inline(always)]
pub fn end_wait(outer: u64) {
    if let Some(line) = hot::activity() {
        line.wait.store(outer, Ordering::Relaxed);
    }
}
