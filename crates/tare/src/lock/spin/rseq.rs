//! The calling thread's processor, from the memory that glibc registers for each thread.

use std::ffi::c_void;
use std::sync::atomic::{AtomicIsize, Ordering};

use super::NOWHERE;

/// The processor on which the calling thread ran when the kernel last updated it, or [`NOWHERE`].
#[inline(always)]
pub fn processor() -> u32 {
    let offset = RSEQ_OFFSET.load(Ordering::Relaxed);
    if !(UNKNOWN..=ABSENT).contains(&offset) {
        let number: u32;
        // SAFETY: glibc registered an rseq area for every thread at this offset from the
        // thread pointer (fs:0); its second word, cpu_id, is readable at any time
        // (Linux, Documentation/userspace-api/rseq.rst).
        unsafe {
            core::arch::asm!(
                "mov {number:e}, fs:[{offset} + 4]",
                offset = in(reg) offset,
                number = out(reg) number,
                options(nostack, readonly, preserves_flags),
            );
        }
        return number;
    }
    if offset == UNKNOWN {
        find_rseq();
    }
    NOWHERE
}

/// [`RSEQ_OFFSET`] before the first search.
const UNKNOWN: isize = -1;
/// [`RSEQ_OFFSET`] where there is no rseq.
const ABSENT: isize = 0;

static RSEQ_OFFSET: AtomicIsize = AtomicIsize::new(UNKNOWN);

/// Finds the rseq area that glibc 2.35 and later register (`__rseq_offset`, `__rseq_size`).
#[cold]
fn find_rseq() {
    // SAFETY: dlsym with C strings; the symbols are variables of these types where they exist
    // (glibc manual, "Restartable Sequences"). A size of 0 means that it was not registered.
    let offset = unsafe {
        let offset: *const c_void = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
        let size: *const c_void = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
        if offset.is_null() || size.is_null() || *size.cast::<u32>() == 0 {
            ABSENT
        } else {
            *offset.cast::<isize>()
        }
    };
    // An offset of -1 is not aligned, so the area is never at it.
    RSEQ_OFFSET.store(offset, Ordering::Relaxed);
}
