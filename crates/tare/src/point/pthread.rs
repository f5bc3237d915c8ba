//! The C library's locks, for hosts that keep them: how a lock is taken so that it is counted if it is free,
//! and timed if it is not.

use std::sync::atomic::{AtomicU32, Ordering};

use libc::{pthread_mutex_t, timespec};

/// How it is known whether a lock is free, before its thread waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A try takes it if it is free.
    Try,
    /// It is not tried, because a try may do harm. It is free now.
    Free,
    /// It is not tried either. It is not free now.
    Taken,
    /// It is not tried, and nothing tells whether it is free.
    Unknown,
}

/// Whether a mutex has the layout that [`probe_mutex`] reads: that of the GNU C library on targets with 64
/// bits. Programs contain it in constants (PTHREAD_MUTEX_INITIALIZER), so no version can change it.
const HAS_GNU_LAYOUT: bool = cfg!(all(
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64"
));

/// Robust mutexes, and those that change a thread's priority, are not tried: a try would leave a robust mutex
/// that is not recoverable locked for ever. Their first word says whether a thread has them.
///
/// # Safety
/// A mutex of the C library, which has been initialised.
#[inline(always)]
pub unsafe fn probe_mutex(mutex: *const pthread_mutex_t) -> Probe {
    const WORD: usize = 0;
    const KIND: usize = 4;
    const ROBUST_INHERIT: u32 = 16 | 32;
    const PROTECT: u32 = 64;
    // In the first word: the thread that has the mutex. Beside it is whether others wait, and whether one
    // died.
    const THREAD: u32 = 0x3fff_ffff;
    // The same of a mutex with a ceiling for priorities, which is in the upper bits.
    const STATE: u32 = (1 << 19) - 1;
    // SAFETY: the caller passes a mutex, and it has this layout.
    let read = |index| unsafe { (*mutex.cast::<AtomicU32>().add(index)).load(Ordering::Relaxed) };
    let kind = match HAS_GNU_LAYOUT {
        true => read(KIND) & (ROBUST_INHERIT | PROTECT),
        false => 0,
    };
    let holder = match kind {
        0 => return Probe::Try,
        kind if kind & PROTECT != 0 => STATE,
        _ => THREAD,
    };
    match read(WORD) & holder {
        0 => Probe::Free,
        _ => Probe::Taken,
    }
}

/// Read-write locks are tried if the C library's tries are correct. Before version 2.30 of the GNU C
/// library, a try could leave other threads asleep (its bug 23844).
#[inline]
pub fn probe_rwlock() -> Probe {
    match are_rwlock_tries_correct() {
        true => Probe::Try,
        false => Probe::Unknown,
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn are_rwlock_tries_correct() -> bool {
    /// 0 = the version was not read.
    static ANSWER: AtomicU32 = AtomicU32::new(0);
    const NO: u32 = 1;
    const YES: u32 = 2;
    if ANSWER.load(Ordering::Relaxed) == 0 {
        // SAFETY: a C string, which is a constant of the C library.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        let is_correct = is_since(version.to_str().unwrap_or_default(), (2, 30));
        ANSWER.store(if is_correct { YES } else { NO }, Ordering::Relaxed);
    }
    ANSWER.load(Ordering::Relaxed) == YES
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn are_rwlock_tries_correct() -> bool {
    true
}

/// Whether a version is this one or a later one.
#[cfg(any(test, all(target_os = "linux", target_env = "gnu")))]
fn is_since(version: &str, (major, minor): (u32, u32)) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    version >= (major, minor)
}

/// Whether the C library accepts a time limit. If not, only its function decides what the result is: a try
/// would take a free lock.
///
/// # Safety
/// NULL, or readable.
#[inline]
pub unsafe fn is_valid_deadline(deadline: *const timespec) -> bool {
    // SAFETY: the caller's promise.
    unsafe { deadline.as_ref() }.is_some_and(|time| (0..1_000_000_000).contains(&time.tv_nsec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_c_library_are_compared() {
        for (version, is_new) in [
            ("2.30", true),
            ("2.41", true),
            ("3.0", true),
            ("2.29", false),
            ("2.4", false),
            ("", false),
        ] {
            assert_eq!(is_since(version, (2, 30)), is_new, "{version}");
        }
    }

    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    #[test]
    fn mutexes_that_are_not_tried_are_free_without_a_holder() {
        let died = 0x4000_0000;
        let ceiling = 7 << 19;
        for (kind, word, expected) in [
            (0, 0, Probe::Try),
            (2, 1, Probe::Try),
            (16, 0, Probe::Free),
            (16, died, Probe::Free),
            (16, 4711, Probe::Taken),
            (17, 0x8000_0000 | 4711, Probe::Taken),
            (32, 0, Probe::Free),
            (32 | 16, 4711, Probe::Taken),
            (64, ceiling, Probe::Free),
            (64, ceiling | 1, Probe::Taken),
            (66, ceiling | 2, Probe::Taken),
        ] {
            let mutex = [word, 0, 0, 0, kind, 0, 0, 0, 0, 0u32];
            // SAFETY: a mutex of the GNU C library, as it is in memory.
            let probe = unsafe { probe_mutex(mutex.as_ptr().cast()) };
            assert_eq!(probe, expected, "{kind} {word:#x}");
        }
    }

    #[test]
    fn time_limits_are_checked() {
        let time = |tv_nsec| timespec { tv_sec: 0, tv_nsec };
        // SAFETY: NULL, or readable.
        unsafe {
            assert!(is_valid_deadline(&time(0)) && is_valid_deadline(&time(999_999_999)));
            assert!(!is_valid_deadline(&time(-1)) && !is_valid_deadline(&time(1_000_000_000)));
            assert!(!is_valid_deadline(std::ptr::null()));
        }
    }
}
