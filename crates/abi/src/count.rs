//! Memory and errors: what is only counted.

use std::ffi::{c_char, c_int};

use engine::Kind;

use crate::class::{of_kind, tare_class};
use crate::status::{Failure, Outcome, door, quiet};
use crate::text::text;

/// See `tare.h`.
///
/// # Safety
/// `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_memory_allocated(class: *mut tare_class, bytes: usize) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Memory) } {
            engine::memory::allocated(class, bytes);
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_memory_freed(class: *mut tare_class, bytes: usize) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Memory) } {
            engine::memory::freed(class, bytes);
        }
    });
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_error_raised(code: u32) {
    quiet((), || engine::error::raised(code));
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_error_handled(code: u32) {
    quiet((), || engine::error::handled(code));
}

/// See `tare.h`.
///
/// # Safety
/// `name` and `sqlstate` are NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_error_define(
    code: u32,
    name: *const c_char,
    sqlstate: *const c_char,
) -> c_int {
    door(|| {
        if name.is_null() {
            return Err(Failure::null("the error's name"));
        }
        // SAFETY: the caller's promise; a NULL text is an empty one.
        let (name, state) = unsafe { (text(name), text(sqlstate)) };
        engine::error::define(code, &name, &state);
        Ok(Outcome::Done)
    })
}
