//! Which thread is which: what a server asks about threads other than the calling one.

use std::ffi::c_void;

use super::thread::{self, Thread};

/// The number of a thread in `threads`; 0 = none.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn get_thread_internal_id(thread: *mut c_void) -> u64 {
    if thread.addr() & IS_NUMBER != 0 {
        return (thread.addr() >> 1) as u64;
    }
    // SAFETY: the interface: NULL, or made by `new_thread`.
    unsafe { thread.cast::<Thread>().as_ref() }.map_or(0, |thread| thread.session.id())
}

/// The number of the calling thread.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn get_current_thread_internal_id() -> u64 {
    thread::current().map_or(0, |thread| thread.session.id())
}

/// Set in what stands for a thread that may end at any time: the rest is its number. Objects have even addresses.
const IS_NUMBER: usize = 1;

/// The thread of a connection. The server asks for its number next, and for nothing else.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn get_thread_by_id(processlist_id: u64) -> *mut c_void {
    match engine::thread::of_processlist(processlist_id) {
        0 => std::ptr::null_mut(),
        id => std::ptr::without_provenance_mut((id as usize) << 1 | IS_NUMBER),
    }
}

/// The number of a thread, and that of its newest event.
///
/// # Safety
/// The interface.
pub unsafe extern "C" fn get_thread_event_id(
    thread: *mut c_void,
    thread_id: *mut u64,
    event_id: *mut u64,
) {
    // SAFETY: the interface: a thread, and writable places or NULL.
    unsafe {
        let id = get_thread_internal_id(thread);
        let (current, event) = engine::thread::event();
        if let Some(place) = thread_id.as_mut() {
            *place = id;
        }
        if let Some(place) = event_id.as_mut() {
            *place = if id == current { event } else { 0 };
        }
    }
}
