//! Stages.

use std::ffi::{c_char, c_int, c_void};

use engine::{Kind, stage};

use super::keys::{self, NONE};

/// # Safety
/// The interface.
pub unsafe extern "C" fn start_stage(key: u32, _file: *const c_char, _line: c_int) -> *mut c_void {
    let Some(known) = keys::of_kind(key, Kind::Stage) else {
        stage::end();
        return NONE;
    };
    stage::set(known.class);
    match known.has_progress {
        true => progress(),
        false => NONE,
    }
}

/// Two words of the thread's, done and estimated, which the server writes itself.
fn progress() -> *mut c_void {
    stage::progress_words().map_or(NONE, |words| words.cast())
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn get_current_stage_progress() -> *mut c_void {
    match stage::reports_progress() {
        true => progress(),
        false => NONE,
    }
}

/// # Safety
/// The interface.
pub unsafe extern "C" fn end_stage() {
    stage::end();
}
