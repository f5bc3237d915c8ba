//! Sleeping in the kernel until a word changes.

use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// Sleeps while the word is `expected`, at most until `deadline`; false when that has passed. May
/// wake for no reason.
pub fn wait(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    let left = match deadline.map(|d| d.saturating_duration_since(Instant::now())) {
        Some(Duration::ZERO) => return false,
        left => left,
    };
    let timeout = left.map(|left| libc::timespec {
        tv_sec: left.as_secs().min(i64::MAX as u64) as libc::time_t,
        tv_nsec: left.subsec_nanos().into(),
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the timeout are valid for the call. After any error (changed, interrupted,
    // timed out) the caller reads the word again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            timeout,
        )
    };
    true
}

/// Wakes at most `threads` threads that sleep on the word.
pub fn wake(word: &AtomicU32, threads: u32) {
    let threads = threads.min(i32::MAX as u32);
    // SAFETY: the kernel only uses the address as a key.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            threads,
        )
    };
}
