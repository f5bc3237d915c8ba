//! Objects and lockers that the server stores for us, and the function that catches panics.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use engine::Source;
use engine::wait::Wait;

/// The null pointer that means nothing to the server.
pub const NONE: *mut c_void = ptr::null_mut();

/// Catches a panic, which must not reach the server, and returns `otherwise` instead.
#[unsafe(link_section = "tare_hot")]
pub(crate) fn catch_panic<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// The line of the server's source that calls.
///
/// # Safety
/// `file` is NULL or a C string, as long as the call lasts.
#[inline(always)]
pub(crate) unsafe fn source(file: *const c_char, line: u32) -> Source {
    // SAFETY: rule 8 (the source is used within the call).
    unsafe { Source::of_c(file, line) }
}

/// Allocates an object for the server, and returns its pointer.
pub(crate) fn give<T>(object: T) -> *mut c_void {
    Box::into_raw(Box::new(object)).cast()
}

/// Takes back an object that the server destroys.
///
/// # Safety
/// `object` is NULL, or came from [`give`] of the same type and is not used any more.
pub(crate) unsafe fn take_back<T>(object: *mut c_void) -> Option<Box<T>> {
    // SAFETY: rule 8 (it came from `give`, and is not used any more).
    (!object.is_null()).then(|| unsafe { Box::from_raw(object.cast()) })
}

/// Writes `value` into a state of the server, and returns it as a locker.
///
/// # Safety
/// `state` is writable for a `T`, aligned to 8 bytes.
#[inline(always)]
pub(crate) unsafe fn lend<T>(state: *mut c_void, value: T) -> *mut c_void {
    const { assert!(align_of::<T>() <= 8) };
    // SAFETY: rule 8 (writable for a `T`).
    unsafe { state.cast::<T>().write(value) };
    state
}

/// Builds a wait in a state of the server, and returns it as a locker if it runs. The wait also ends in
/// place: see [`end_wait`].
///
/// # Safety
/// As [`lend`].
#[inline(always)]
pub(crate) unsafe fn lend_wait(state: *mut c_void, wait: impl FnOnce() -> Wait) -> *mut c_void {
    let place = state.cast::<Wait>();
    // SAFETY: rule 8 (writable for a `Wait`; one that does not run need not be dropped).
    unsafe {
        place.write(wait());
        match (*place).is_running() {
            true => state,
            false => NONE,
        }
    }
}

/// Ends the wait of a locker, after `learn` has added what is known at its end.
///
/// # Safety
/// `locker` came from [`lend_wait`], once.
#[inline(always)]
pub(crate) unsafe fn end_wait(locker: *mut c_void, learn: impl FnOnce(&mut Wait)) {
    let place = locker.cast::<Wait>();
    // SAFETY: rule 8 (a wait from `lend_wait`).
    unsafe {
        learn(&mut *place);
        place.drop_in_place();
    }
}

/// Takes the value back from a locker whose event ends.
///
/// # Safety
/// `locker` came from [`lend`] of the same type, once.
#[inline(always)]
pub(crate) unsafe fn end<T>(locker: *mut c_void) -> T {
    // SAFETY: rule 8 (a value from `lend`).
    unsafe { locker.cast::<T>().read() }
}
