//! Numbers of threads, which a server also queries for threads other than the calling one.

use std::ffi::c_void;

use super::thread::{self, Thread};

/// The number of a thread in `threads`; 0 = none.
pub unsafe extern "C" fn get_thread_internal_id(thread: *mut c_void) -> u64 {
    if thread.addr() & IS_NUMBER != 0 {
        return (thread.addr() >> 1) as u64;
    }
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { thread.cast::<Thread>().as_ref() }.map_or(0, |thread| thread.session.id())
}

/// The number of the calling thread.
pub unsafe extern "C" fn get_current_thread_internal_id() -> u64 {
    thread::current().map_or(0, |thread| thread.session.id())
}

/// Marks a pointer that is a thread's number, because the thread may end at any time. Objects have even
/// addresses.
const IS_NUMBER: usize = 1;

/// A pointer that represents the thread of a connection. The server passes it back only to get the thread's number.
pub unsafe extern "C" fn get_thread_by_id(processlist_id: u64) -> *mut c_void {
    match engine::thread::of_processlist(processlist_id) {
        0 => std::ptr::null_mut(),
        id => std::ptr::without_provenance_mut((id as usize) << 1 | IS_NUMBER),
    }
}

/// The number of a thread, and that of its next event.
pub unsafe extern "C" fn get_thread_event_id(
    thread: *mut c_void,
    thread_id: *mut u64,
    event_id: *mut u64,
) {
    // SAFETY: rules 1 and 6 (the thread is not destroyed, and the results are NULL or writable).
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
