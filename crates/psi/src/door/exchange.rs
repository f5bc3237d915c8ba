//! Objects and lockers that the server stores for us, and the guard that no panic leaves the library by.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use engine::Source;
use engine::wait::Wait;

/// Nothing, as a pointer to the server's own.
pub const NONE: *mut c_void = ptr::null_mut();

/// Whatever goes wrong within us ends here: a panic must not reach the server.
#[unsafe(link_section = "tare_hot")]
pub(crate) fn quiet<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Where the server says that it calls from.
///
/// # Safety
/// `file` is NULL or a C string, as long as the call lasts.
#[inline(always)]
pub(crate) unsafe fn source(file: *const c_char, line: u32) -> Source {
    // SAFETY: the caller's promise: whatever takes it looks at it within the call.
    unsafe { Source::of_c(file, line) }
}

/// Gives an object to the server.
pub(crate) fn give<T>(object: T) -> *mut c_void {
    Box::into_raw(Box::new(object)).cast()
}

/// Takes an object back that the server destroys.
///
/// # Safety
/// `object` is NULL, or came from [`give`] of the same type and is not used any more.
pub(crate) unsafe fn take_back<T>(object: *mut c_void) -> Option<Box<T>> {
    // SAFETY: the caller's promise.
    (!object.is_null()).then(|| unsafe { Box::from_raw(object.cast()) })
}

/// Puts `value` into a state of the server's and makes a locker of that.
///
/// # Safety
/// `state` is writable for a `T`, aligned to 8 bytes.
#[inline(always)]
pub(crate) unsafe fn lend<T>(state: *mut c_void, value: T) -> *mut c_void {
    const { assert!(align_of::<T>() <= 8) };
    // SAFETY: the caller's promise.
    unsafe { state.cast::<T>().write(value) };
    state
}

/// Puts a wait into a state of the server's and makes a locker of that, if it runs. It is made where it shall
/// lie, and so it is ended there: see [`end_wait`].
///
/// # Safety
/// As [`lend`].
#[inline(always)]
pub(crate) unsafe fn lend_wait(state: *mut c_void, wait: impl FnOnce() -> Wait) -> *mut c_void {
    let place = state.cast::<Wait>();
    // SAFETY: the caller's promise; what does not run has nothing to be dropped.
    unsafe {
        place.write(wait());
        match (*place).is_running() {
            true => state,
            false => NONE,
        }
    }
}

/// Ends the wait of a locker, of which `learn` says what is known now.
///
/// # Safety
/// `locker` came from [`lend_wait`], once.
#[inline(always)]
pub(crate) unsafe fn end_wait(locker: *mut c_void, learn: impl FnOnce(&mut Wait)) {
    let place = locker.cast::<Wait>();
    // SAFETY: the caller's promise.
    unsafe {
        learn(&mut *place);
        place.drop_in_place();
    }
}

/// Takes the value back from a locker, which is over.
///
/// # Safety
/// `locker` came from [`lend`] of the same type, once.
#[inline(always)]
pub(crate) unsafe fn end<T>(locker: *mut c_void) -> T {
    // SAFETY: the caller's promise.
    unsafe { locker.cast::<T>().read() }
}
