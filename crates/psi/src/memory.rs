//! Locking the server's memory (mysqld's option `memlock`) without the segment's.

use std::ffi::c_int;
use std::panic::catch_unwind;

/// In place of the C library's function, which would give memory to all pages of the segment.
///
/// # Safety
/// As the C library's: none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    type Function = unsafe extern "C" fn(c_int) -> c_int;
    // SAFETY: a C string.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"mlockall".as_ptr()) };
    // SAFETY: NULL, or the C library's function of this name, which it declares so.
    let real = unsafe { std::mem::transmute::<*mut libc::c_void, Option<Function>>(real) };
    let lock = |flags| match real {
        // SAFETY: the function has no preconditions.
        Some(real) => unsafe { real(flags) },
        None => -1,
    };
    match catch_unwind(|| engine::lock_all(flags, lock)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            // SAFETY: the address of the calling thread's errno.
            unsafe { *libc::__errno_location() = error };
            -1
        }
        Err(_) => lock(flags),
    }
}
