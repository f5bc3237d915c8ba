//! Errors, of series that tell of each when it is raised.

use std::ffi::c_int;

use engine::error;

use super::quiet;

/// # Safety
/// The interface.
pub unsafe extern "C" fn log_error(code: u32, operation: c_int) {
    quiet((), || match operation {
        0 => error::raised(code),
        _ => error::handled(code),
    });
}
