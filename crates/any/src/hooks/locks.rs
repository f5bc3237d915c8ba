//! Mutexes, read-write locks and conditions of the C library.
//!
//! A lock is tried first. If it is free, it is counted; a wait is timed. Only the program's own calls are
//! replaced ([`imports`]), so the locks of libraries, of the dynamic linker and of Tare's memory stay as they
//! are. Releases are not replaced.
//!
//! What the program calls is a function of two instructions. It passes the address to which the call returns
//! as one more argument, and jumps on: so it has no frame, for a debugger as for a thread that is cancelled.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::io::Write as _;
use std::mem::ManuallyDrop;

use engine::host_lock::{self, HostLock, PendingLock};
use engine::pthread::{Probe, is_valid_deadline, probe_mutex, probe_rwlock};
use engine::wait::{self, Wait};
use engine::{Operation, Source};
use libc::{EOWNERDEAD, clockid_t, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t, timespec};

use crate::calls::{call, is_observing, observe, run_unobserved};
use crate::imports::{self, Import};
use crate::sites::{self, Lock};
use crate::start;

/// Replaces the functions, if the user wants that. Called before `main`.
pub fn open() {
    if !start::records_locks() {
        return;
    }
    run_unobserved(|| {
        sites::open();
        let mut functions = CONDS.to_vec();
        if table::pthread_mutex_trylock.resolve() {
            functions.extend(MUTEXES);
        }
        let has_tries =
            table::pthread_rwlock_tryrdlock.resolve() && table::pthread_rwlock_trywrlock.resolve();
        if has_tries && probe_rwlock() == Probe::Try {
            functions.extend(RWLOCKS);
        }
        if let Err(error) = imports::replace(&functions) {
            // Standard error may be closed.
            let _ = writeln!(
                std::io::stderr(),
                "tare: the calls for locks cannot be replaced ({error}); locks are not recorded"
            );
        }
    });
}

/// Whether the C library's function has taken the lock: also if a thread died while it held the lock.
fn is_taken(status: c_int) -> bool {
    status == 0 || status == EOWNERDEAD
}

/// A function that tries to take a lock.
type Try<T> = unsafe extern "C-unwind" fn(*mut T) -> c_int;

/// Takes a lock. `attempt` takes it if it is free, and `wait` waits for it. `is_valid`: whether the C library
/// accepts the time limit; otherwise `wait` decides which error that is.
///
/// # Safety
/// `attempt` is a function of type [`Try`] for this lock.
#[inline(always)]
unsafe fn take<T>(
    (lock, site, operation): (Lock, usize, Operation),
    is_valid: bool,
    attempt: &Import,
    place: *mut T,
    wait: impl Fn() -> c_int,
) -> c_int {
    if !is_valid || !is_observing() {
        return wait();
    }
    // SAFETY: rule 6, and the caller's promise.
    let attempt: Try<T> = unsafe { std::mem::transmute(attempt.real()) };
    // SAFETY: rule 2 (a lock).
    let status = unsafe { attempt(place) };
    match is_taken(status) {
        true => count(lock, site),
        false => return wait_for((lock, site, operation), wait),
    }
    status
}

/// Takes a mutex: see [`take`].
///
/// # Safety
/// A mutex.
#[inline(always)]
unsafe fn take_mutex(
    site: usize,
    is_valid: bool,
    mutex: *mut pthread_mutex_t,
    wait: impl Fn() -> c_int,
) -> c_int {
    let kind = (Lock::Mutex, site, Exclusive);
    // SAFETY: rule 2 (a mutex).
    match unsafe { probe_mutex(mutex) } {
        // SAFETY: the caller's promise.
        Probe::Try => unsafe { take(kind, is_valid, &table::pthread_mutex_trylock, mutex, wait) },
        probe => take_untried(kind, is_valid, probe, wait),
    }
}

/// Takes a lock that is not tried. If another thread takes it between the probe and the call, the wait is
/// counted without its time.
#[cold]
#[inline(never)]
fn take_untried(
    kind: (Lock, usize, Operation),
    is_valid: bool,
    probe: Probe,
    wait: impl Fn() -> c_int,
) -> c_int {
    match probe {
        _ if !is_valid || !is_observing() => wait(),
        Probe::Free => {
            let (lock, site, _) = kind;
            try_take(lock, site, wait)
        }
        _ => wait_for(kind, wait),
    }
}

/// Counts what a call has taken that does not wait.
#[inline(always)]
fn try_take(lock: Lock, site: usize, call: impl Fn() -> c_int) -> c_int {
    let status = call();
    if is_taken(status) && is_observing() {
        count(lock, site);
    }
    status
}

#[inline(always)]
fn count(lock: Lock, site: usize) {
    let is_counted = sites::existing(lock, site).is_some_and(host_lock::try_count_by_class);
    if !is_counted {
        count_slow(lock, site);
    }
}

#[cold]
#[inline(never)]
fn count_slow(lock: Lock, site: usize) {
    observe(|| {
        if let Some(class) = sites::class(lock, site) {
            host_lock::count_by_class(class);
        }
    });
}

/// A wait for a lock. It has no destructor: rule 5.
enum Pending {
    Lock(PendingLock),
    /// At the level `active` and when all is off, a point for locks does nothing.
    Wait(ManuallyDrop<Wait>),
}

/// Waits for a lock, which another thread holds.
#[cold]
#[inline(never)]
fn wait_for((lock, site, operation): (Lock, usize, Operation), wait: impl Fn() -> c_int) -> c_int {
    let pending = observe(|| {
        let class = sites::class(lock, site)?;
        if !wait::are_counted() {
            return Some(Pending::Wait(ManuallyDrop::new(wait::start(
                class, operation,
            ))));
        }
        let lock = HostLock {
            class: host_lock::class_number(class),
            instance: 0,
            counts_all: false,
        };
        host_lock::take(lock, operation, Source::here(), || false).map(Pending::Lock)
    });
    let status = wait();
    if let Some(Some(pending)) = pending {
        observe(|| match pending {
            Pending::Lock(lock) => lock.end(is_taken(status)),
            Pending::Wait(wait) => drop(ManuallyDrop::into_inner(wait)),
        });
    }
    status
}

/// Waits for a condition. The time includes that for taking the mutex again.
#[inline(always)]
fn wait_for_cond<T>(site: usize, operation: Operation, wait: impl FnOnce() -> T) -> T {
    let pending = observe(|| {
        let class = sites::class(Lock::Cond, site)?;
        Some(ManuallyDrop::new(wait::start(class, operation)))
    });
    let result = call(wait);
    if let Some(Some(pending)) = pending {
        observe(|| drop(ManuallyDrop::into_inner(pending)));
    }
    result
}

/// Whether the C library accepts a clock and a time limit of it.
///
/// # Safety
/// NULL, or readable.
unsafe fn is_valid_on(clock: clockid_t, until: *const timespec) -> bool {
    // SAFETY: the caller's promise.
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC)
        && unsafe { is_valid_deadline(until) }
}

/// Declares functions of the C library, and a table of them for each group. The register is that of the
/// argument behind the last one (the System V ABI), which is the address to which the call returns.
/// `|site, call|`: this address, and a call of the C library's own function with the same arguments.
macro_rules! locks {
    ($($group:ident {$(
        fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty, $register:literal
        { |$site:ident, $call:ident| $body:expr }
    )*})*) => {
        mod recorded {
            use super::*;

            $($(
                #[allow(non_snake_case, reason = "the library's name")]
                pub unsafe extern "C-unwind" fn $name($($argument: $type,)* $site: usize) -> $result {
                    type Function = unsafe extern "C-unwind" fn($($type),*) -> $result;
                    // SAFETY: rule 6 (the address was there under this name).
                    let real: Function = unsafe { std::mem::transmute(table::$name.real()) };
                    // SAFETY: rule 2 (the arguments are passed on).
                    let $call = || unsafe { real($($argument),*) };
                    $body
                }
            )*)*
        }

        mod called {
            use super::*;

            $($(
                #[allow(non_snake_case, reason = "the library's name")]
                #[unsafe(naked)]
                pub unsafe extern "C-unwind" fn $name() {
                    naked_asm!(
                        concat!("mov ", $register, ", [rsp]"),
                        "jmp {}",
                        sym recorded::$name,
                    )
                }
            )*)*
        }

        #[allow(non_upper_case_globals, reason = "the library's names")]
        mod table {
            use super::*;

            $($(
                pub static $name: Import = Import::new(
                    crate::real::c_name!($name),
                    || called::$name as *mut c_void,
                );
            )*)*
        }

        $(const $group: &[&Import] = &[$(&table::$name),*];)*
    };
}

use Operation::{Lock as Exclusive, ReadLock, TimedWait, Wait as Untimed, WriteLock};

// SAFETY of all: rule 2 (a lock of this kind, and a time limit that is NULL or readable).
locks! {
    MUTEXES {
        fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int, "rsi" {
            |site, call| {
                // SAFETY: see above.
                unsafe { take_mutex(site, true, mutex, call) }
            }
        }
        fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int, "rsi" {
            |site, call| try_take(Lock::Mutex, site, call)
        }
        fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int, "rdx" {
            |site, call| {
                // SAFETY: see above.
                unsafe { take_mutex(site, is_valid_deadline(until), mutex, call) }
            }
        }
        fn pthread_mutex_clocklock(
            mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec
        ) -> c_int, "rcx" {
            |site, call| {
                // SAFETY: see above.
                unsafe { take_mutex(site, is_valid_on(clock, until), mutex, call) }
            }
        }
    }
    RWLOCKS {
        fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int, "rsi" {
            |site, call| {
                let kind = (Lock::Rwlock, site, ReadLock);
                // SAFETY: see above.
                unsafe { take(kind, true, &table::pthread_rwlock_tryrdlock, lock, call) }
            }
        }
        fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int, "rsi" {
            |site, call| try_take(Lock::Rwlock, site, call)
        }
        fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int, "rdx" {
            |site, call| {
                let kind = (Lock::Rwlock, site, ReadLock);
                // SAFETY: see above.
                unsafe { take(kind, is_valid_deadline(until), &table::pthread_rwlock_tryrdlock, lock, call) }
            }
        }
        fn pthread_rwlock_clockrdlock(
            lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec
        ) -> c_int, "rcx" {
            |site, call| {
                let kind = (Lock::Rwlock, site, ReadLock);
                // SAFETY: see above.
                unsafe { take(kind, is_valid_on(clock, until), &table::pthread_rwlock_tryrdlock, lock, call) }
            }
        }
        fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int, "rsi" {
            |site, call| {
                let kind = (Lock::Rwlock, site, WriteLock);
                // SAFETY: see above.
                unsafe { take(kind, true, &table::pthread_rwlock_trywrlock, lock, call) }
            }
        }
        fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int, "rsi" {
            |site, call| try_take(Lock::Rwlock, site, call)
        }
        fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int, "rdx" {
            |site, call| {
                let kind = (Lock::Rwlock, site, WriteLock);
                // SAFETY: see above.
                unsafe { take(kind, is_valid_deadline(until), &table::pthread_rwlock_trywrlock, lock, call) }
            }
        }
        fn pthread_rwlock_clockwrlock(
            lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec
        ) -> c_int, "rcx" {
            |site, call| {
                let kind = (Lock::Rwlock, site, WriteLock);
                // SAFETY: see above.
                unsafe { take(kind, is_valid_on(clock, until), &table::pthread_rwlock_trywrlock, lock, call) }
            }
        }
    }
    CONDS {
        fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int, "rdx" {
            |site, call| wait_for_cond(site, Untimed, call)
        }
        fn pthread_cond_timedwait(
            cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec
        ) -> c_int, "rcx" {
            |site, call| wait_for_cond(site, TimedWait, call)
        }
        fn pthread_cond_clockwait(
            cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec
        ) -> c_int, "r8" {
            |site, call| wait_for_cond(site, TimedWait, call)
        }
        // std::condition_variable::wait, which calls the C library from within libstdc++. C++'s other locks
        // and waits call it from the program's own code.
        fn _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
            cond: *mut c_void, lock: *mut c_void
        ) -> (), "rdx" {
            |site, call| wait_for_cond(site, Untimed, call)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_checked() {
        let time = |tv_nsec| timespec { tv_sec: 0, tv_nsec };
        // SAFETY: NULL, or readable.
        unsafe {
            assert!(is_valid_on(libc::CLOCK_MONOTONIC, &time(0)));
            assert!(!is_valid_on(libc::CLOCK_PROCESS_CPUTIME_ID, &time(0)));
        }
    }
}
