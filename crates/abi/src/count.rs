//! Memory and errors: what is only counted.

use engine::Kind;

use crate::class::{of_kind, tare_class};
use crate::status::quiet;

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
