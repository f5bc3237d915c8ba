//! Memory and errors, which are only counted.

use std::ffi::{c_char, c_int};

use engine::Kind;

use crate::class::{of_kind, tare_class};
use crate::status::{Failure, Outcome, catch_panic, return_status};
use crate::text::text;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_memory_allocated(class: *mut tare_class, bytes: usize) {
    catch_panic((), || {
        // SAFETY: rule 1 (NULL, or a registered class).
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Memory) } {
            engine::memory::allocated(class, bytes);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_memory_freed(class: *mut tare_class, bytes: usize) {
    catch_panic((), || {
        // SAFETY: rule 1 (NULL, or a registered class).
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Memory) } {
            engine::memory::freed(class, bytes);
        }
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_error_raised(code: u32) {
    catch_panic((), || engine::error::raised(code));
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_error_handled(code: u32) {
    catch_panic((), || engine::error::handled(code));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_error_define(
    code: u32,
    name: *const c_char,
    sqlstate: *const c_char,
) -> c_int {
    return_status(|| {
        if name.is_null() {
            return Err(Failure::null("the error's name"));
        }
        // SAFETY: rule 5 (NULL, or a readable text). A NULL text is empty.
        let (name, state) = unsafe { (text(name), text(sqlstate)) };
        engine::error::define(code, &name, &state);
        Ok(Outcome::Done)
    })
}
