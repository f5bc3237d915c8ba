//! The border between the program and Tare: recursion, errno and panics.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use engine::thread;

/// Whether the calling thread runs Tare's code. What it calls then is Tare's own, or a signal handler's.
///
/// The engine has a word for its host next to what its own points read: the dynamic linker need not find it.
#[inline(always)]
fn is_inside() -> bool {
    !thread::of_host().is_null()
}

/// Sets it. Returns what it was.
#[inline(always)]
fn set_inside(is_inside: bool) -> bool {
    let was_inside = self::is_inside();
    thread::set_of_host(match is_inside {
        true => ptr::dangling_mut(),
        false => ptr::null_mut(),
    });
    was_inside
}

/// Restores errno when it is dropped.
struct SavedErrno(c_int);

impl Drop for SavedErrno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the address of the calling thread's errno.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

/// Runs code of Tare on a thread of the program. `None`: Tare does not record, the thread is inside already,
/// or the code panicked.
///
/// A signal may interrupt the thread here, outside of Tare, and the handler may be cancelled. Then this
/// frame is unwound at any of its instructions, which Rust allows only if it has nothing to clean up (rule
/// 5).
#[inline]
pub fn observe<T>(body: impl FnOnce() -> T) -> Option<T> {
    if !engine::is_running() {
        return None;
    }
    if set_inside(true) {
        return None;
    }
    let result = run_inside(body);
    set_inside(false);
    result
}

/// Runs code of Tare. It has a frame of its own, which exists only while the thread is inside and is not
/// cancelled.
#[inline(never)]
fn run_inside<T>(body: impl FnOnce() -> T) -> Option<T> {
    // SAFETY: the address of the calling thread's errno.
    let _errno = SavedErrno(unsafe { *libc::__errno_location() });
    catch_unwind(AssertUnwindSafe(body)).ok()
}

/// Whether [`observe`] would run code.
#[inline(always)]
pub fn is_observing() -> bool {
    engine::is_running() && !is_inside()
}

/// Calls a function of the C library for the program. A signal handler may do so while the thread that it
/// interrupted is inside of Tare: the thread is not cancelled there (rule 5), but at its next call.
#[inline(always)]
pub fn call<T>(real: impl FnOnce() -> T) -> T {
    match is_inside() {
        false => real(),
        true => call_uncancelled(real),
    }
}

#[cold]
fn call_uncancelled<T>(real: impl FnOnce() -> T) -> T {
    let mut before = 0;
    // SAFETY: `before` outlives the call.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut before) };
    let result = real();
    // SAFETY: the C library ignores a NULL.
    unsafe { pthread_setcancelstate(before, std::ptr::null_mut()) };
    result
}

/// Of the GNU C library.
const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Runs code of Tare whose own calls must not be observed, whether or not the engine records.
pub fn run_unobserved(body: impl FnOnce()) {
    let was_inside = set_inside(true);
    let _ = catch_unwind(AssertUnwindSafe(body));
    set_inside(was_inside);
}
