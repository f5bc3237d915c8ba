//! What calls of every level know about the level `active` (docs/active-internals.md): the tag of lockers that began
//! there, and whether calls rest.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::active;

use super::exchange::NONE;

/// In the address of a locker: the event began at the level `active`.
pub(super) const BEGAN_ACTIVE: usize = 1;

/// Whether a locker is of a wait, or of an outermost statement, that began at the level `active`.
#[inline(always)]
pub(super) fn began_active(locker: *mut c_void) -> bool {
    locker.addr() & BEGAN_ACTIVE != 0
}

/// Stores the word of a wait.
///
/// # Safety
/// `state` has 8 bytes.
#[inline(always)]
pub(super) unsafe fn begin_word(state: *mut c_void, word: u64) -> *mut c_void {
    let Some(outer) = active::begin_wait(word) else {
        return NONE;
    };
    // SAFETY: rule 3 (more than 8 bytes).
    unsafe { state.cast::<u64>().write(outer) };
    state.wrapping_byte_add(BEGAN_ACTIVE)
}

/// Ends a wait if it began at the level `active`.
///
/// # Safety
/// `locker` came from a start of this interface, and has not ended.
#[inline(always)]
pub(super) unsafe fn try_end(locker: *mut c_void) -> bool {
    if !began_active(locker) {
        return false;
    }
    let state = locker.wrapping_byte_sub(BEGAN_ACTIVE).cast::<u64>();
    // SAFETY: rule 2 (`begin_word` has stored the word).
    active::end_wait(unsafe { state.read() });
    true
}

/// Odd while the calls about statements are those of the level `active`, where the server's reports of rows,
/// sorts and tokens rest.
static PERIOD: AtomicU32 = AtomicU32::new(0);

/// The present period.
#[inline(always)]
pub(super) fn period() -> u32 {
    PERIOD.load(Ordering::Relaxed)
}

/// Whether all calls about a statement have arrived that began in this period.
#[inline(always)]
pub(super) fn has_all_calls_since(period: u32) -> bool {
    period & 1 == 0 && PERIOD.load(Ordering::Relaxed) == period
}

/// Notes that calls rest from here on (before they do), or arrive again (once they do).
pub(crate) fn note_level(is_active: bool) {
    if (PERIOD.load(Ordering::Relaxed) & 1 == 1) != is_active {
        PERIOD.fetch_add(1, Ordering::SeqCst);
    }
}
