//! Integers that all threads of the host write, and no reader sees: memory beside the segment.

use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// Zeroes at first. A page exists once it is written.
pub struct Cells {
    first: NonNull<AtomicU32>,
    count: usize,
}

// SAFETY: the cells are atomics in memory that this struct owns.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    /// This number of cells. `shared`: children of fork have the same ones, and not a copy.
    pub fn new(count: usize, shared: bool) -> io::Result<Self> {
        let sharing = match shared {
            true => libc::MAP_SHARED,
            false => libc::MAP_PRIVATE,
        };
        // SAFETY: a new mapping at an address that the kernel chooses.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                count.max(1) * size_of::<AtomicU32>(),
                libc::PROT_READ | libc::PROT_WRITE,
                sharing | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        match NonNull::new(place.cast()).filter(|_| place != libc::MAP_FAILED) {
            Some(first) => Ok(Self { first, count }),
            None => Err(io::Error::last_os_error()),
        }
    }
}

impl Deref for Cells {
    type Target = [AtomicU32];

    fn deref(&self) -> &[AtomicU32] {
        // SAFETY: mapped by `new` for this number of integers, which only atomics access.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, with this size; nobody has a reference any more.
        unsafe {
            libc::munmap(
                self.first.as_ptr().cast(),
                self.count.max(1) * size_of::<AtomicU32>(),
            )
        };
    }
}
