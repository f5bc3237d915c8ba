//! What each call of the interface means in Tare's engine.
//!
//! Written once; what differs between series (where a field lies in a structure of the server's, how
//! a class is registered) comes from [`crate::series::Series`].
//!
//! Whatever the server is given as a pointer is ours to read back, and the server's to keep: it never
//! looks behind it. What a call needs until its end lies in the state that the server lends for it.
//!
//! What a statement runs through lies together, in the section `tare_hot` of the library, and so does what it calls of the
//! engine: spread over all of the code, it would take three times as many pages, and a server that has pushed them out of what
//! the processor keeps of page tables pays for each of them (docs/overhead.md).
//!
//! **Safety of everything here**: the functions are called by the server as the interface says: a pointer
//! that we gave comes back as it was, and not after it was destroyed; a state is writable, of its
//! series' size, and its locker ends once, on the thread that began it; texts are readable for their
//! length. This is the invariant that the SAFETY comments below call "the interface".

pub mod attributes;
pub mod cond;
pub mod error;
pub mod file;
pub mod idle;
pub mod keys;
pub mod lock;
pub mod memory;
pub mod metadata;
pub mod mutex;
pub mod other;
pub mod prepared;
pub mod program;
pub mod rwlock;
pub mod socket;
pub mod stage;
pub mod statement;
pub mod table;
pub mod thread;
pub mod transaction;
pub mod word;

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::wait::Wait;

/// Whether nothing happens in a function as Tare was started: then the server's calls need not come to us.
pub fn does_nothing(function: *const ()) -> bool {
    let unlocks: [*const (); 2] = [
        mutex::unlock_mutex as *const (),
        rwlock::unlock_rwlock as *const (),
    ];
    function == other::ignore as *const ()
        || unlocks.contains(&function) && !lock::are_unlocks_counted()
}

/// Whatever goes wrong within us ends here: a panic must not reach the server.
#[unsafe(link_section = "tare_hot")]
pub(crate) fn quiet<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// A text of the server's.
///
/// # Safety
/// `at` is NULL or readable for `length` bytes as long as `'a` lasts.
pub(crate) unsafe fn text<'a>(at: *const c_char, length: usize) -> Cow<'a, str> {
    if at.is_null() || length == 0 {
        return Cow::Borrowed("");
    }
    // SAFETY: the caller's promise.
    lossy(unsafe { std::slice::from_raw_parts(at.cast(), length) })
}

/// Bytes as a text.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    // This reads eight bytes at a time, the other one by one.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A text of the server's that ends with a zero byte.
///
/// # Safety
/// `at` is NULL or a C string, as long as `'a` lasts.
pub(crate) unsafe fn c_text<'a>(at: *const c_char) -> Cow<'a, str> {
    if at.is_null() {
        return Cow::Borrowed("");
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_string_lossy()
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
            false => keys::NONE,
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
