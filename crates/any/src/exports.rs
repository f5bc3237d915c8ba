//! What the program and its libraries export.

use std::ffi::{CStr, CString, c_void};

/// The address under which the program, or else the first library, exports a name.
pub fn exported(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The same, in the version that a caller names. A library may have several functions of a name.
pub fn exported_version(name: &CStr, version: Option<&str>) -> Option<*mut c_void> {
    let of_version = || {
        let version = CString::new(version?).ok()?;
        // SAFETY: C strings.
        let address = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), version.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    // The dynamic linker also accepts a library without versions.
    of_version().or_else(|| exported(name))
}
