//! Locking the program's memory (mlockall) without the segment's.

use std::ffi::c_int;

use crate::calls::run_unobserved;
use crate::hooks::hooks;
use crate::real::real;

hooks! {
    fn mlockall(flags: c_int) -> c_int {
        |call| lock_all(flags, call)
    }
}

/// Locks the program's memory without the segment, of which nearly all pages have no memory.
fn lock_all(flags: c_int, call: impl Fn() -> c_int) -> c_int {
    let mlockall = real!(mlockall: unsafe extern "C-unwind" fn(c_int) -> c_int);
    let mut result = None;
    run_unobserved(|| {
        // SAFETY: rule 2 (flags).
        result = Some(engine::lock_all(flags, |flags| unsafe { mlockall(flags) }));
    });
    match result {
        Some(Ok(())) => 0,
        Some(Err(error)) => {
            // SAFETY: the address of the calling thread's errno.
            unsafe { *libc::__errno_location() = error };
            -1
        }
        // Tare has panicked.
        None => call(),
    }
}
