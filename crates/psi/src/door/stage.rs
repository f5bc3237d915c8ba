//! Stages.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Kind, stage};

use super::exchange::{NONE, source};
use super::keys;

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_stage(key: u32, file: *const c_char, line: c_int) -> *mut c_void {
    if let Some(number) = keys::plain_stage(key)
        && stage::try_set_fast(number)
    {
        return NONE;
    }
    // SAFETY: rule 8 (the arguments are passed on). As its last act, with the arguments that it got: nothing
    // is saved above.
    unsafe { start_stage_slow(key, file, line) }
}

#[inline(never)]
#[unsafe(link_section = "tare_hot")]
unsafe extern "C" fn start_stage_slow(key: u32, file: *const c_char, line: c_int) -> *mut c_void {
    let Some(instrument) = keys::packed(key).filter(|instrument| instrument.is(Kind::Stage)) else {
        stage::end();
        return NONE;
    };
    // SAFETY: rule 4 (`file` is a C string).
    let source = unsafe { source(file, line as u32) };
    stage::set_number(instrument.number(), source);
    match keys::has_progress(key) {
        true => progress(),
        false => NONE,
    }
}

/// The thread's two words of progress, done and estimated, which the server writes itself.
fn progress() -> *mut c_void {
    stage::progress_words().map_or(NONE, |words| words.cast())
}

pub unsafe extern "C" fn get_current_stage_progress() -> *mut c_void {
    match stage::reports_progress() {
        true => progress(),
        false => NONE,
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_stage() {
    stage::end();
}

/// The number of times that the calls below have resumed after a rest.
static RESUMES: AtomicU32 = AtomicU32::new(0);

/// Notes that calls arrive again, at the functions below.
pub(crate) fn resume() {
    RESUMES.fetch_add(1, Ordering::Relaxed);
}

/// Forgets the session's stage if the calls came to rest since it began: it has ended at an unknown time.
#[inline(always)]
fn forget_missed() {
    stage::forget_missed(RESUMES.load(Ordering::Relaxed));
}

#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_stage_resumed(
    key: u32,
    file: *const c_char,
    line: c_int,
) -> *mut c_void {
    forget_missed();
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_stage(key, file, line) }
}

/// [`start_stage`] outside of the windows of sampling, where a stage is displayed and not counted.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_stage_unobserved(
    key: u32,
    file: *const c_char,
    line: c_int,
) -> *mut c_void {
    // A stage that is only displayed reports no progress.
    if stage::set_state_only(keys::stage(key)) {
        return NONE;
    }
    // SAFETY: rule 8 (the arguments are passed on). As its last act, with the arguments that it got: nothing
    // is saved above.
    unsafe { start_stage_resumed(key, file, line) }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_stage_resumed() {
    forget_missed();
    stage::end();
}
