//! What the engine asks of Linux. On other systems the crate compiles, and nothing starts: none of these
//! functions is called.

#[cfg(target_os = "linux")]
pub(super) use linux::*;
#[cfg(not(target_os = "linux"))]
pub(super) use other::*;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{CStr, c_int, c_void};
    use std::sync::atomic::AtomicU32;

    /// The clock that counts from the start of the system.
    pub const BOOT_CLOCK: libc::clockid_t = libc::CLOCK_BOOTTIME;

    /// The calling thread's number.
    pub fn thread_id() -> u32 {
        // Not libc::gettid: std has a weak reference to that, which is null in a program without shared
        // libraries. SAFETY: the call has no preconditions.
        unsafe { libc::syscall(libc::SYS_gettid) as u32 }
    }

    /// Names the calling thread. A name of more than 15 bytes is not set.
    pub fn set_thread_name(name: &CStr) {
        // SAFETY: the calling thread's, and a C string.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
    }

    /// Timers of the calling thread are not late in order to expire together, as by default up to 50 µs.
    pub fn expire_timers_in_time() {
        // SAFETY: the calling thread's own timers.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    }

    /// A file in memory; negative: an error.
    pub fn new_memory_file() -> c_int {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string.
        unsafe { libc::memfd_create(c"tare".as_ptr(), flags) }
    }

    /// Seals a file in memory: no other process can change its size. A kernel without seals leaves it
    /// unsealed, which costs only the protection.
    pub fn seal(file: c_int) {
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: fcntl touches no memory of this process.
        unsafe { libc::fcntl(file, libc::F_ADD_SEALS, seals) };
    }

    /// Returns pages of a mapped file to the system. They read as zero from then on. If it fails, their
    /// memory remains in use.
    ///
    /// # Safety
    /// The range is mapped from a file, and may become zeroes.
    pub unsafe fn free_mapped_pages(base: *mut c_void, bytes: usize) {
        // SAFETY: the caller promises it.
        unsafe { libc::madvise(base, bytes, libc::MADV_REMOVE) };
    }

    /// Leaves mapped memory out of core dumps. If it stays in them after a failure, no harm is done.
    ///
    /// # Safety
    /// The range is mapped.
    pub unsafe fn leave_out_of_dumps(base: *mut c_void, bytes: usize) {
        // SAFETY: the caller promises it; the advice changes no content.
        unsafe { libc::madvise(base, bytes, libc::MADV_DONTDUMP) };
    }

    /// Sleeps while the word, which readers have mapped too, is `expected`, or until the timeout. May wake
    /// for no reason.
    pub fn sleep(word: &AtomicU32, expected: u32, timeout_ns: Option<u64>) {
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the word and the time are valid for the call; after an error the caller reads the word
        // again.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                expected,
                timeout,
            )
        };
    }

    /// Wakes the threads that sleep on the word.
    pub fn wake(word: &AtomicU32) {
        // SAFETY: the kernel only uses the address as a key.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    pub use libc::{pthread_mutex_consistent, pthread_mutex_timedlock};

    /// Makes mutexes with these attributes robust: if the owner dies, the next one learns of it. Returns an
    /// error, 0 = none.
    ///
    /// # Safety
    /// The attributes are initialised.
    pub unsafe fn set_robust(attributes: *mut libc::pthread_mutexattr_t) -> c_int {
        // SAFETY: the caller promises it.
        unsafe { libc::pthread_mutexattr_setrobust(attributes, libc::PTHREAD_MUTEX_ROBUST) }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::ffi::{CStr, c_int, c_void};
    use std::sync::atomic::AtomicU32;

    pub const BOOT_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

    pub fn thread_id() -> u32 {
        0
    }

    pub fn set_thread_name(_: &CStr) {}

    pub fn expire_timers_in_time() {}

    pub fn new_memory_file() -> c_int {
        -1
    }

    pub fn seal(_: c_int) {}

    pub unsafe fn free_mapped_pages(_: *mut c_void, _: usize) {}

    pub unsafe fn leave_out_of_dumps(_: *mut c_void, _: usize) {}

    pub fn sleep(_: &AtomicU32, _: u32, _: Option<u64>) {}

    pub fn wake(_: &AtomicU32) {}

    pub unsafe fn set_robust(_: *mut libc::pthread_mutexattr_t) -> c_int {
        libc::ENOTSUP
    }

    pub unsafe fn pthread_mutex_timedlock(
        _: *mut libc::pthread_mutex_t,
        _: *const libc::timespec,
    ) -> c_int {
        libc::ENOTSUP
    }

    pub unsafe fn pthread_mutex_consistent(_: *mut libc::pthread_mutex_t) -> c_int {
        libc::ENOTSUP
    }
}
