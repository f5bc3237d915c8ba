//! Locks that lie in the host's memory.

use std::ffi::c_int;
use std::mem::forget;
use std::time::Duration;

use engine::sync::{Condvar, Mutex, RwLock};
use engine::{Class, Kind};
use lock_api::GuardNoSend;

use crate::class::{need_kind, tare_class};
use crate::place::{Place, Placed, fits};
use crate::status::{Failure, Outcome, Status, door};

engine::classes! {
    /// Mutexes whose host gave no class.
    static UNNAMED_MUTEX: Mutex = "wait/synch/mutex/tare/c_unnamed";
    /// Rwlocks whose host gave no class.
    static UNNAMED_RWLOCK: RwLock = "wait/synch/rwlock/tare/c_unnamed";
    /// Condition variables whose host gave no class.
    static UNNAMED_COND: Cond = "wait/synch/cond/tare/c_unnamed";
}

/// `struct tare_mutex`.
pub type tare_mutex = Place<Mutex<()>>;
/// `struct tare_rwlock`.
pub type tare_rwlock = Place<RwLock<()>>;
/// `struct tare_cond`.
pub type tare_cond = Place<Condvar>;

impl Placed for Mutex<()> {
    const MARK: u64 = u64::from_le_bytes(*b"taremutx");
    const NAME: &'static str = "mutex";
}

impl Placed for RwLock<()> {
    const MARK: u64 = u64::from_le_bytes(*b"tarerwlk");
    const NAME: &'static str = "rwlock";
}

impl Placed for Condvar {
    const MARK: u64 = u64::from_le_bytes(*b"tarecond");
    const NAME: &'static str = "condition variable";
}

const _: () = {
    fits::<Mutex<()>>(4);
    fits::<RwLock<()>>(6);
    fits::<Condvar>(4);
};

/// Initialises a lock; without a fitting class, as an unnamed one: the host needs its lock.
///
/// # Safety
/// `place` as [`Place::put`], `class` as [`need_kind`].
unsafe fn init<T: Placed>(
    place: *mut Place<T>,
    class: *const tare_class,
    kinds: &[Kind],
    unnamed: &'static Class,
    new: impl Fn(&'static Class) -> T,
) -> c_int {
    door(|| {
        if place.is_null() {
            return Err(Failure::null(T::NAME));
        }
        if class.is_null() {
            // SAFETY: the caller's promise.
            unsafe { Place::put(place, new(unnamed)) };
            return Ok(Outcome::Done);
        }
        // SAFETY: the caller's promise.
        let checked = unsafe { need_kind(class, |kind| kinds.contains(&kind)) };
        // SAFETY: the caller's promise.
        unsafe { Place::put(place, new(checked.as_ref().unwrap_or(&unnamed))) };
        checked.map(|_| Outcome::Done)
    })
}

/// Destroys what is not in use.
///
/// # Safety
/// As [`Place::take`].
unsafe fn destroy<T: Placed>(place: *mut Place<T>, held: impl Fn(&T) -> bool) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        if held(unsafe { Place::need(place) }?) {
            return Err(Failure::new(
                Status::Busy,
                format!("the {} is held; unlock it first", T::NAME),
            ));
        }
        // SAFETY: the caller's promise.
        drop(unsafe { Place::take(place) });
        Ok(Outcome::Done)
    })
}

#[cold]
fn not_held(what: &str) -> Failure {
    Failure::new(
        Status::NotHeld,
        format!("the {what} is not locked in this way"),
    )
}

/// Keeps what a guard holds: C unlocks by hand.
#[inline]
fn kept<G>(guard: Option<G>, otherwise: Outcome) -> Result<Outcome, Failure> {
    match guard {
        Some(guard) => {
            forget(guard);
            Ok(Outcome::Done)
        }
        None => Ok(otherwise),
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_init(mutex: *mut tare_mutex, class: *mut tare_class) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        init(mutex, class, &[Kind::Mutex], &UNNAMED_MUTEX, |class| {
            Mutex::new(class, ())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`destroy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_destroy(mutex: *mut tare_mutex) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { destroy(mutex, |mutex| mutex.is_locked()) }
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_lock(mutex: *mut tare_mutex) -> c_int {
    // SAFETY: the caller's promise.
    door(|| kept(Some(unsafe { Place::need(mutex) }?.lock()), Outcome::Busy))
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_trylock(mutex: *mut tare_mutex) -> c_int {
    // SAFETY: the caller's promise.
    door(|| kept(unsafe { Place::need(mutex) }?.try_lock(), Outcome::Busy))
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_timedlock(mutex: *mut tare_mutex, timeout_ns: u64) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let mutex = unsafe { Place::need(mutex) }?;
        kept(
            mutex.try_lock_for(Duration::from_nanos(timeout_ns)),
            Outcome::Timeout,
        )
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`]; whoever holds the mutex has agreed to this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_unlock(mutex: *mut tare_mutex) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let mutex = unsafe { Place::need(mutex) }?;
        if !mutex.is_locked() {
            return Err(not_held("mutex"));
        }
        // SAFETY: it is locked, and by C: Rust's guards are all forgotten in this file.
        unsafe { mutex.force_unlock(GuardNoSend::new()) };
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_init(
    rwlock: *mut tare_rwlock,
    class: *mut tare_class,
) -> c_int {
    let kinds = [Kind::RwLock, Kind::SxLock];
    // SAFETY: the caller's promise.
    unsafe {
        init(rwlock, class, &kinds, &UNNAMED_RWLOCK, |class| {
            RwLock::new(class, ())
        })
    }
}

/// See `tare.h`.
///
/// # Safety
/// As [`destroy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_destroy(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { destroy(rwlock, |rwlock| rwlock.is_locked()) }
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_rdlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: the caller's promise.
    door(|| kept(Some(unsafe { Place::need(rwlock) }?.read()), Outcome::Busy))
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_tryrdlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: the caller's promise.
    door(|| kept(unsafe { Place::need(rwlock) }?.try_read(), Outcome::Busy))
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`]; whoever holds the lock has agreed to this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_rdunlock(rwlock: *mut tare_rwlock) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let rwlock = unsafe { Place::need(rwlock) }?;
        if !rwlock.is_locked() || rwlock.is_locked_exclusive() {
            return Err(not_held("rwlock"));
        }
        // SAFETY: it is locked by readers, and by C.
        unsafe { rwlock.force_unlock_read(GuardNoSend::new()) };
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_wrlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: the caller's promise.
    door(|| kept(Some(unsafe { Place::need(rwlock) }?.write()), Outcome::Busy))
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_trywrlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: the caller's promise.
    door(|| kept(unsafe { Place::need(rwlock) }?.try_write(), Outcome::Busy))
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`]; whoever holds the lock has agreed to this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_wrunlock(rwlock: *mut tare_rwlock) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let rwlock = unsafe { Place::need(rwlock) }?;
        if !rwlock.is_locked_exclusive() {
            return Err(not_held("rwlock"));
        }
        // SAFETY: it is locked by a writer, and by C.
        unsafe { rwlock.force_unlock_write(GuardNoSend::new()) };
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_init(cond: *mut tare_cond, class: *mut tare_class) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { init(cond, class, &[Kind::Cond], &UNNAMED_COND, Condvar::new) }
}

/// See `tare.h`.
///
/// # Safety
/// As [`destroy`]; nobody waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_destroy(cond: *mut tare_cond) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { destroy(cond, |_| false) }
}

/// Waits, with the guard that the mutex's holder would have in Rust.
///
/// # Safety
/// Both as [`Place::get`]; the caller holds the mutex.
unsafe fn wait(cond: *mut tare_cond, mutex: *mut tare_mutex, timeout: Option<Duration>) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let (cond, mutex) = unsafe { (Place::need(cond)?, Place::need(mutex)?) };
        if !mutex.is_locked() {
            return Err(not_held("mutex"));
        }
        // SAFETY: the caller holds the mutex, and its guard was forgotten.
        let mut guard = unsafe { mutex.make_guard_unchecked(GuardNoSend::new()) };
        let in_time = match timeout {
            None => {
                cond.wait(&mut guard);
                true
            }
            Some(timeout) => !cond.wait_for(&mut guard, timeout).timed_out(),
        };
        kept(Some(guard), Outcome::Done)?;
        Ok(if in_time {
            Outcome::Done
        } else {
            Outcome::Timeout
        })
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`wait`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_wait(cond: *mut tare_cond, mutex: *mut tare_mutex) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { wait(cond, mutex, None) }
}

/// See `tare.h`.
///
/// # Safety
/// As [`wait`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_timedwait(
    cond: *mut tare_cond,
    mutex: *mut tare_mutex,
    timeout_ns: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { wait(cond, mutex, Some(Duration::from_nanos(timeout_ns))) }
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_signal(cond: *mut tare_cond) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        unsafe { Place::need(cond) }?.notify_one();
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// As [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_broadcast(cond: *mut tare_cond) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        unsafe { Place::need(cond) }?.notify_all();
        Ok(Outcome::Done)
    })
}
