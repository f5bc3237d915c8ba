//! The kinds that are active, as a host reads them in each of its calls: for hosts that do nothing while all
//! is off, and whose processes may be children of fork, without a thread that follows settings.
//!
//! A call compares the number of changes in the segment with that of the last change that its process has
//! followed. A *period* is a time in which something is active. What a host has not observed between two of
//! them, it has missed: it stores the period in which it observed an object last, and compares.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::running::NOW;
use super::settings::Active;
use super::state::Engine;
use super::{clock, hot, settings, system};
use crate::payload::IS_COMPILED_IN;

/// What the process has followed: the number of changes (bits 32-63) and the active kinds (0-31). The first
/// number is none that a segment begins with.
static FOLLOWED: AtomicU64 = AtomicU64::new(u64::MAX);
/// The number of the last period, from 1.
static PERIOD: AtomicU32 = AtomicU32::new(1);
/// When it began.
static PERIOD_BEGAN: AtomicU64 = AtomicU64::new(0);
/// Whether the host calls [`follow`].
static IS_USED: AtomicBool = AtomicBool::new(false);

/// The active kinds; all kinds if they are not known: then [`follow`] returns them. None if Tare does not run.
#[inline(always)]
pub fn active_kinds() -> Active {
    if !IS_COMPILED_IN || NOW.generation.load(Ordering::Relaxed) == 0 {
        return Active::default();
    }
    let followed = FOLLOWED.load(Ordering::Relaxed);
    let is_followed =
        hot::attached().is_some_and(|local| local.changes() == (followed >> 32) as u32);
    match is_followed {
        true => Active::of_bits(followed as u32),
        false => Active::ALL,
    }
}

/// Follows changes of settings, and returns the active kinds. The calling thread gets a slot, if it has none.
#[inline]
pub fn follow() -> Active {
    let Some(local) = hot::local() else {
        return Active::ALL;
    };
    let followed = FOLLOWED.load(Ordering::Relaxed);
    match local.changes() == (followed >> 32) as u32 {
        true => Active::of_bits(followed as u32),
        false => follow_change(&local.engine),
    }
}

#[cold]
#[inline(never)]
fn follow_change(engine: &Engine) -> Active {
    IS_USED.store(true, Ordering::Relaxed);
    let _one_at_a_time = settings::lock_following();
    // Read before the settings: a later change is followed by a later call.
    let changes = engine.view.control().changes.load(Ordering::SeqCst);
    let active = settings::apply_without_thread(engine);
    let before = FOLLOWED.load(Ordering::Relaxed);
    let was_off = before != u64::MAX && before as u32 == 0;
    if was_off && active != Active::default() {
        PERIOD_BEGAN.store(clock::now(), Ordering::Relaxed);
        PERIOD.fetch_add(1, Ordering::Relaxed);
    }
    let followed = u64::from(changes) << 32 | u64::from(active.bits());
    FOLLOWED.store(followed, Ordering::Relaxed);
    active
}

/// The number of the present period, or of the last one.
#[inline(always)]
pub fn present() -> u32 {
    PERIOD.load(Ordering::Relaxed)
}

/// When it began, as [`idle::now`](crate::idle::now) has it; 0 = before the host's first call.
#[inline]
pub fn present_began() -> u64 {
    PERIOD_BEGAN.load(Ordering::Relaxed)
}

/// In a child of fork: the words of its points are as at the start.
pub(super) fn forget_in_child() {
    FOLLOWED.fetch_xor(1 << 63, Ordering::Relaxed);
}

/// A class of this kind was registered, and is counted: the processes follow it as a change.
pub(super) fn registered(engine: &Engine, kind: tare_layout::Kind) {
    let active = Active::of_bits(FOLLOWED.load(Ordering::Relaxed) as u32);
    if IS_USED.load(Ordering::Relaxed) && !active.meets(Active::of(kind)) {
        let changes = &engine.view.control().changes;
        changes.fetch_add(1, Ordering::SeqCst);
        system::wake(changes);
    }
}
