//! The server's texts and words of its structures, as Rust reads them.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};

/// A text of the server.
///
/// # Safety
/// `at` is NULL or readable for `length` bytes as long as `'a` lasts.
pub(crate) unsafe fn text<'a>(at: *const c_char, length: usize) -> Cow<'a, str> {
    if at.is_null() || length == 0 {
        return Cow::Borrowed("");
    }
    // SAFETY: rule 8 (readable for `length` bytes).
    lossy(unsafe { std::slice::from_raw_parts(at.cast(), length) })
}

/// Bytes as a text.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    // `from_utf8` reads eight bytes at a time, `from_utf8_lossy` one.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A C string of the server.
///
/// # Safety
/// `at` is NULL or a C string, as long as `'a` lasts.
pub(crate) unsafe fn c_text<'a>(at: *const c_char) -> Cow<'a, str> {
    if at.is_null() {
        return Cow::Borrowed("");
    }
    // SAFETY: rule 8 (a C string).
    unsafe { CStr::from_ptr(at) }.to_string_lossy()
}

/// A field of a structure of the server.
///
/// # Safety
/// `base` has a `T` at `offset`.
#[inline(always)]
pub(crate) unsafe fn field<T: Copy>(base: *const c_void, offset: usize) -> T {
    // SAFETY: rule 8 (a `T` is at this offset).
    unsafe { base.cast::<u8>().add(offset).cast::<T>().read_unaligned() }
}
