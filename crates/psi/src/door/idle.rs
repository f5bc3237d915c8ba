//! Idle times: a connection waits for its client.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use engine::{Class, idle};

use super::exchange::{NONE, source};
use super::thread;

static CLASS: OnceLock<&'static Class> = OnceLock::new();

/// Sets the class of idle times.
pub fn set_class(class: &'static Class) {
    let _ = CLASS.set(class);
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_idle_wait(
    state: *mut c_void,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    let (Some(class), Some(thread)) = (CLASS.get(), thread::current()) else {
        return NONE;
    };
    // SAFETY: rule 4 (`file` is a C string).
    let wait = idle::start_at(class, unsafe { source(file, line) });
    if !wait.is_running() {
        return NONE;
    }
    // SAFETY: the calling thread's alone; the one before has ended.
    unsafe { *thread.idle.get() = Some(wait) };
    state
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_idle_wait(locker: *mut c_void) {
    if !locker.is_null()
        && let Some(thread) = thread::current()
    {
        // SAFETY: as above.
        unsafe { *thread.idle.get() = None };
    }
}
