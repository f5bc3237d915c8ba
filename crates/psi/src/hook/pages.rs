//! Pages of memory.

use std::ffi::c_void;
use std::io;

/// The size of a page in bytes.
pub fn page_size() -> usize {
    // SAFETY: the call only returns a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Changes the protection of a page.
pub fn protect(page: usize, protection: i32) -> io::Result<()> {
    // SAFETY: a page of the program's code or of our own mapping, which stays readable.
    let done = unsafe { libc::mprotect(page as *mut c_void, page_size(), protection) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
