//! Stages.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Kind, stage};

use super::exchange::{NONE, source};
use super::keys;

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_stage(key: u32, file: *const c_char, line: c_int) -> *mut c_void {
    if let Some(number) = keys::plain_stage(key)
        && stage::try_set_fast(number)
    {
        return NONE;
    }
    // SAFETY: the interface. As its last act, with the arguments that it got: nothing is saved above.
    unsafe { start_stage_slow(key, file, line) }
}

/// # Safety
/// The interface.
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
unsafe extern "C" fn start_stage_slow(key: u32, file: *const c_char, line: c_int) -> *mut c_void {
    let Some(instrument) = keys::packed(key).filter(|instrument| instrument.is(Kind::Stage)) else {
        stage::end();
        return NONE;
    };
    // SAFETY: the interface.
    let source = unsafe { source(file, line as u32) };
    stage::set_number(instrument.number(), source);
    match keys::has_progress(key) {
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
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_stage() {
    stage::end();
}

/// How often these calls arrive again after they had rested.
static RESUMED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// What of that this thread has seen.
    static OBSERVED_RESUMES: Cell<u32> = const { Cell::new(0) };
}

/// From here on the calls arrive again, at the functions below.
pub(crate) fn resume() {
    RESUMED.fetch_add(1, Ordering::Relaxed);
}

/// The stage that this thread was in when the calls came to rest has ended since, at a time that nobody knows.
#[inline(always)]
fn forget_missed() {
    let resumed = RESUMED.load(Ordering::Relaxed);
    OBSERVED_RESUMES.with(|observed| {
        if observed.replace(resumed) != resumed {
            stage::forget();
        }
    });
}

/// # Safety
/// The interface.
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_stage_resumed(
    key: u32,
    file: *const c_char,
    line: c_int,
) -> *mut c_void {
    forget_missed();
    // SAFETY: the interface.
    unsafe { start_stage(key, file, line) }
}

/// The same outside of the windows of sampling, where a stage is shown and not counted.
///
/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_stage_unobserved(
    key: u32,
    file: *const c_char,
    line: c_int,
) -> *mut c_void {
    // Of a stage that is only shown nobody reports progress.
    if stage::set_state_only(keys::stage(key)) {
        return NONE;
    }
    // SAFETY: the interface. As its last act, with the arguments that it got: nothing is saved above.
    unsafe { start_stage_resumed(key, file, line) }
}

/// # Safety
/// The interface.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_stage_resumed() {
    forget_missed();
    stage::end();
}
