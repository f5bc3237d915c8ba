//! The level `active` (docs/active-internals.md), for a host that switches what its own points call. Such a
//! point calls these functions only at that level, and they check nothing.

use std::sync::atomic::Ordering;

pub use super::statement::active::Outermost;
pub use tare_layout::activity::{ADDRESS_MASK, FORM_AT, LOCK_CLASS_AT, MAX_LOCK_CLASS, Waiting};
pub use tare_layout::object::target;

use tare_layout::activity::Activity;

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

/// What a thread begins for the first time at the level `active`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum First {
    /// A stage: one of another level may still run.
    Stage,
    /// A statement.
    Statement,
}

/// Stores the stage of the calling thread. False: nothing was done, because the thread has no slot, or enters
/// its first stage in this period, so that a stage of another level may run: call
/// [`set_state_only`](crate::stage::set_state_only) or [`set_number`](crate::stage::set_number), and then
/// [`note_period`].
///
/// `period`: the host's number for the time since the level is `active`, never 0.
#[inline(always)]
pub fn try_set_stage(number: u16, period: u32) -> bool {
    match hot::activity() {
        Some(line) if is_settled(line, First::Stage, period) => {
            line.stage.store(number.into(), Ordering::Relaxed);
            true
        }
        _ => false,
    }
}

#[inline(always)]
pub(super) fn is_settled(line: &Activity, first: First, period: u32) -> bool {
    line.periods[first as usize].load(Ordering::Relaxed) == period
}

/// Notes that no stage of another level runs on the calling thread, or that it has begun a statement at the
/// level `active`.
pub fn note_period(first: First, period: u32) {
    if let Some(line) = hot::activity() {
        line.periods[first as usize].store(period, Ordering::Relaxed);
    }
}
