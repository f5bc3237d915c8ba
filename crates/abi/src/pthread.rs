//! Locks of the C library, which the host keeps: a lock that is free is counted, and a wait for it is timed.
//! The engine knows how each kind can be taken ([`engine::pthread`]).
//!
//! The functions return what the C library's do. Whatever happens inside of Tare, the C library's function is
//! called, and its result is the host's.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use engine::pthread::{Probe, is_valid_deadline, probe_mutex, probe_rwlock};
use engine::{Class, Kind, Operation, Source, host_lock};
use libc::{EINVAL, EOWNERDEAD, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t, timespec};

use crate::class::{of_kind, tare_class};
use crate::lock::{UNNAMED_COND, UNNAMED_MUTEX, UNNAMED_RWLOCK};
use crate::status::catch_panic;

// Declared here, because a thread that is cancelled (pthread_cancel) unwinds from within a wait: rule 9.
unsafe extern "C-unwind" {
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_timedwait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        deadline: *const timespec,
    ) -> c_int;
}

unsafe extern "C" {
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, deadline: *const timespec) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, deadline: *const timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, deadline: *const timespec) -> c_int;
}

/// A kind of lock.
trait Lock {
    /// The kinds of its classes.
    const KINDS: &'static [Kind];
    /// Its class if the host gives none of these kinds: it needs its lock all the same.
    const UNNAMED: &'static Class;

    /// How it is known whether it is free.
    ///
    /// # Safety
    /// A lock of the C library.
    unsafe fn probe(place: *const Self) -> Probe;
}

impl Lock for pthread_mutex_t {
    const KINDS: &'static [Kind] = &[Kind::Mutex];
    const UNNAMED: &'static Class = &UNNAMED_MUTEX;

    #[inline]
    unsafe fn probe(place: *const Self) -> Probe {
        // SAFETY: rule 8 (a mutex).
        unsafe { probe_mutex(place) }
    }
}

impl Lock for pthread_rwlock_t {
    const KINDS: &'static [Kind] = &[Kind::RwLock, Kind::SxLock];
    const UNNAMED: &'static Class = &UNNAMED_RWLOCK;

    #[inline]
    unsafe fn probe(_: *const Self) -> Probe {
        probe_rwlock()
    }
}

/// The class under which a lock counts.
///
/// # Safety
/// As [`of_kind`].
#[inline]
unsafe fn class_of<T: Lock>(class: *const tare_class) -> &'static Class {
    // SAFETY: rule 8 (NULL, or a registered class).
    unsafe { of_kind(class, |kind| T::KINDS.contains(&kind)) }.unwrap_or(T::UNNAMED)
}

/// Whether the C library's function has taken the lock: also if a thread died while it held the lock.
fn is_taken(status: c_int) -> bool {
    status == 0 || status == EOWNERDEAD
}

/// Takes a lock: at once by `try_lock`, or by `lock`, whose status this returns.
///
/// # Safety
/// `class` as [`of_kind`]; `place` is NULL, or both functions can be called for it.
#[inline]
unsafe fn take<T: Lock>(
    place: *mut T,
    class: *const tare_class,
    operation: Operation,
    try_lock: unsafe extern "C" fn(*mut T) -> c_int,
    lock: impl Fn() -> c_int,
) -> c_int {
    if place.is_null() {
        return EINVAL;
    }
    // SAFETY: rule 8 (NULL, or a registered class).
    let class = unsafe { class_of::<T>(class) };
    // SAFETY: rule 8 (a lock).
    match unsafe { T::probe(place) } {
        Probe::Try => {
            let attempt = || {
                // SAFETY: rule 8 (not NULL).
                let status = unsafe { try_lock(place) };
                is_taken(status).then_some(status)
            };
            take_or_wait(class, operation, attempt, lock)
        }
        // If another thread takes it before the call, the wait is counted without its time.
        Probe::Free => {
            let status = lock();
            count(class, status);
            status
        }
        Probe::Taken => take_or_wait(class, operation, || None, lock),
        // All are timed, and none counts as contended.
        Probe::Unknown => wait(|| class, operation, lock),
    }
}

/// Takes a lock at once, if `attempt` returns a status, or by `lock`. Returns the status.
#[inline]
fn take_or_wait(
    class: &'static Class,
    operation: Operation,
    attempt: impl Fn() -> Option<c_int>,
    lock: impl Fn() -> c_int,
) -> c_int {
    let status = Cell::new(None);
    let take_at_once = || {
        status.set(attempt());
        status.get().is_some()
    };
    let wait = || {
        let result = lock();
        status.set(Some(result));
        is_taken(result)
    };
    catch_panic(false, || {
        host_lock::take_by_class(class, operation, Source::UNKNOWN, take_at_once, wait)
    });
    status.get().unwrap_or_else(lock)
}

/// Counts a lock without a wait, if this status says that it is taken.
#[inline]
fn count(class: &Class, status: c_int) {
    if is_taken(status) {
        catch_panic((), || host_lock::count_by_class(class));
    }
}

/// Tries to take a lock, counts it if it is taken, and returns the status.
///
/// # Safety
/// As [`take`].
#[inline]
unsafe fn try_take<T: Lock>(
    place: *mut T,
    class: *const tare_class,
    try_lock: unsafe extern "C" fn(*mut T) -> c_int,
) -> c_int {
    if place.is_null() {
        return EINVAL;
    }
    // SAFETY: rule 8 (a registered class or NULL, and a lock that is not NULL).
    let (class, status) = unsafe { (class_of::<T>(class), try_lock(place)) };
    count(class, status);
    status
}

/// Declares functions for locks. `take` tries by the first function of the C library, and waits by the
/// second, whose deadline must not be NULL. If the deadline is not valid, only the second one is called.
/// `try_take` only tries.
macro_rules! lock_functions {
    ($($kind:ident $function:tt;)*) => { $(lock_function! { $kind $function })* };
}
macro_rules! lock_function {
    (take ($name:ident($lock:ident: *mut $type:ty $(, $deadline:ident)?), $operation:ident, $try_lock:path, $wait:path)) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $lock: *mut $type,
            $($deadline: *const timespec,)?
            class: *mut tare_class,
        ) -> c_int {
            $(if $deadline.is_null() {
                return EINVAL;
            })?
            let wait = || {
                // SAFETY: rule 9 (a lock of the C library, and a deadline that is not NULL).
                unsafe { $wait($lock $(, $deadline)?) }
            };
            $(
                // SAFETY: rule 5 (readable).
                if !$lock.is_null() && !unsafe { is_valid_deadline($deadline) } {
                    return wait();
                }
            )?
            // SAFETY: rules 1 and 9 (a registered class, and a lock of the C library).
            unsafe { take($lock, class, Operation::$operation, $try_lock, wait) }
        }
    };
    (try_take ($name:ident($lock:ident: *mut $type:ty), $try_lock:path)) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($lock: *mut $type, class: *mut tare_class) -> c_int {
            // SAFETY: rules 1 and 9 (a registered class, and a lock of the C library).
            unsafe { try_take($lock, class, $try_lock) }
        }
    };
    (release ($name:ident($lock:ident: *mut $type:ty), $unlock:path)) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($lock: *mut $type) -> c_int {
            if $lock.is_null() {
                return EINVAL;
            }
            // SAFETY: rules 7 and 9 (a lock of the C library that the caller holds).
            unsafe { $unlock($lock) }
        }
    };
}

lock_functions! {
    take (tare_pthread_mutex_lock(mutex: *mut pthread_mutex_t), Lock,
        libc::pthread_mutex_trylock, libc::pthread_mutex_lock);
    take (tare_pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, deadline), Lock,
        libc::pthread_mutex_trylock, pthread_mutex_timedlock);
    try_take (tare_pthread_mutex_trylock(mutex: *mut pthread_mutex_t), libc::pthread_mutex_trylock);
    release (tare_pthread_mutex_unlock(mutex: *mut pthread_mutex_t), libc::pthread_mutex_unlock);

    take (tare_pthread_rwlock_rdlock(rwlock: *mut pthread_rwlock_t), ReadLock,
        libc::pthread_rwlock_tryrdlock, libc::pthread_rwlock_rdlock);
    take (tare_pthread_rwlock_timedrdlock(rwlock: *mut pthread_rwlock_t, deadline), ReadLock,
        libc::pthread_rwlock_tryrdlock, pthread_rwlock_timedrdlock);
    try_take (tare_pthread_rwlock_tryrdlock(rwlock: *mut pthread_rwlock_t), libc::pthread_rwlock_tryrdlock);

    take (tare_pthread_rwlock_wrlock(rwlock: *mut pthread_rwlock_t), WriteLock,
        libc::pthread_rwlock_trywrlock, libc::pthread_rwlock_wrlock);
    take (tare_pthread_rwlock_timedwrlock(rwlock: *mut pthread_rwlock_t, deadline), WriteLock,
        libc::pthread_rwlock_trywrlock, pthread_rwlock_timedwrlock);
    try_take (tare_pthread_rwlock_trywrlock(rwlock: *mut pthread_rwlock_t), libc::pthread_rwlock_trywrlock);

    release (tare_pthread_rwlock_unlock(rwlock: *mut pthread_rwlock_t), libc::pthread_rwlock_unlock);
}

/// Times a call that waits, and returns its status. No destructor runs if the thread is cancelled.
#[inline]
fn wait(
    class: impl FnOnce() -> &'static Class,
    operation: Operation,
    wait: impl FnOnce() -> c_int,
) -> c_int {
    let begun = catch_panic(None, || {
        let begun = engine::wait::start_at(class(), operation, Source::UNKNOWN);
        Some(ManuallyDrop::new(begun))
    });
    let status = wait();
    catch_panic((), || drop(begun.map(ManuallyDrop::into_inner)));
    status
}

/// The class under which a condition counts.
///
/// # Safety
/// As [`of_kind`].
unsafe fn class_of_cond(class: *const tare_class) -> &'static Class {
    // SAFETY: rule 8 (NULL, or a registered class).
    unsafe { of_kind(class, |kind| kind == Kind::Cond) }.unwrap_or(&UNNAMED_COND)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn tare_pthread_cond_wait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    class: *mut tare_class,
) -> c_int {
    if cond.is_null() || mutex.is_null() {
        return EINVAL;
    }
    // SAFETY: rules 1 and 9 (a registered class, and objects of the C library).
    unsafe {
        wait(
            || class_of_cond(class),
            Operation::Wait,
            || pthread_cond_wait(cond, mutex),
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn tare_pthread_cond_timedwait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: *const timespec,
    class: *mut tare_class,
) -> c_int {
    if cond.is_null() || mutex.is_null() || deadline.is_null() {
        return EINVAL;
    }
    // SAFETY: rules 1 and 9 (a registered class, and objects of the C library).
    unsafe {
        wait(
            || class_of_cond(class),
            Operation::TimedWait,
            || pthread_cond_timedwait(cond, mutex, deadline),
        )
    }
}
