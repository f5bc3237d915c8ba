//! C's texts as Rust's.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

/// A NUL-terminated text; NULL is empty, bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `text` is NULL or NUL-terminated and unchanged for `'a`.
pub unsafe fn text<'a>(text: *const c_char) -> Cow<'a, str> {
    if text.is_null() {
        return Cow::Borrowed("");
    }
    // SAFETY: rule 8 (not NULL, so it ends with a zero).
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

/// A text of known length.
///
/// # Safety
/// `text` is NULL or of `length` bytes, unchanged for `'a`.
pub unsafe fn text_of<'a>(text: *const c_char, length: usize) -> Cow<'a, str> {
    // SAFETY: rule 8 (NULL, or a readable text).
    String::from_utf8_lossy(unsafe { bytes_of(text, length) })
}

/// Bytes of known length.
///
/// # Safety
/// As [`text_of`].
pub unsafe fn bytes_of<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if text.is_null() || length > isize::MAX as usize {
        return &[];
    }
    // SAFETY: rule 8 (not NULL, and of a possible length).
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_a_text() {
        // SAFETY: NULL, or C strings of the given length.
        unsafe {
            assert_eq!(text(std::ptr::null()), "");
            assert_eq!(text(c"caf\xc3\xa9".as_ptr()), "café");
            assert_eq!(text(c"a\xffb".as_ptr()), "a\u{fffd}b");
            assert_eq!(text_of(c"abc".as_ptr(), 2), "ab");
            assert_eq!(text_of(std::ptr::null(), 5), "");
            assert_eq!(text_of(c"abc".as_ptr(), usize::MAX), "");
        }
    }
}
