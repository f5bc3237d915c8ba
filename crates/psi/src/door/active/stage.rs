//! Stages.

use std::ffi::{c_char, c_int, c_void};

use engine::active::{self, First};

use super::super::exchange::NONE;
use super::super::level::period;
use super::super::{keys, stage};

/// A stage reports no progress at this level.
#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_stage(key: u32, file: *const c_char, line: c_int) -> *mut c_void {
    match active::try_set_stage(keys::stage(key), period()) {
        true => NONE,
        // SAFETY: rule 8 (the arguments are passed on).
        false => unsafe { start_first_stage(key, file, line) },
    }
}

/// The first stage of a thread at this level ends the one before.
#[cold]
#[inline(never)]
unsafe fn start_first_stage(key: u32, file: *const c_char, line: c_int) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    let _ = unsafe { stage::start_stage_unobserved(key, file, line) };
    active::note_period(First::Stage, period());
    NONE
}
