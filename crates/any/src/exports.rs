//! What the program exports.

use std::ffi::{CStr, c_void};

/// The address under which the program exports a name.
pub fn exported(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}
