//! Locks in the host's memory.

use std::ffi::c_int;
use std::mem::forget;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::sync::{Condvar, Mutex, RwLock};
use engine::{Class, Kind};

use crate::class::{require_kind, tare_class};
use crate::place::{HostObject, Place, SelfInitialising, assert_fits};
use crate::status::{Failure, Outcome, Status, return_status};

engine::classes! {
    /// Mutexes whose host gave no class.
    pub static UNNAMED_MUTEX: Mutex = "wait/synch/mutex/tare/c_unnamed";
    /// Rwlocks whose host gave no class.
    pub static UNNAMED_RWLOCK: RwLock = "wait/synch/rwlock/tare/c_unnamed";
    /// Condition variables whose host gave no class.
    pub static UNNAMED_COND: Cond = "wait/synch/cond/tare/c_unnamed";
}

/// `struct tare_mutex`.
pub type tare_mutex = Place<Mutex<()>>;
/// `struct tare_rwlock`.
pub type tare_rwlock = Place<RwLock<()>>;
/// `struct tare_cond`.
pub type tare_cond = Place<Condvar>;

impl HostObject for Mutex<()> {
    const MARK: u64 = u64::from_le_bytes(*b"taremutx");
    const NAME: &'static str = "mutex";
}

impl SelfInitialising for Mutex<()> {
    fn new_unnamed() -> Self {
        Self::new(&UNNAMED_MUTEX, ())
    }
}

impl HostObject for RwLock<()> {
    const MARK: u64 = u64::from_le_bytes(*b"tarerwlk");
    const NAME: &'static str = "rwlock";
}

impl SelfInitialising for RwLock<()> {
    fn new_unnamed() -> Self {
        Self::new(&UNNAMED_RWLOCK, ())
    }
}

impl HostObject for Condvar {
    const MARK: u64 = u64::from_le_bytes(*b"tarecond");
    const NAME: &'static str = "condition variable";
}

impl SelfInitialising for Condvar {
    fn new_unnamed() -> Self {
        Self::new(&UNNAMED_COND)
    }
}

const _: () = {
    assert_fits::<Mutex<()>>(4);
    assert_fits::<RwLock<()>>(6);
    assert_fits::<Condvar>(4);
};

/// Initialises a lock. Without a fitting class it gets an unnamed one, because the host needs its lock.
///
/// # Safety
/// `place` as [`Place::put`], `class` as [`require_kind`].
unsafe fn init<T: HostObject>(
    place: *mut Place<T>,
    class: *const tare_class,
    kinds: &[Kind],
    unnamed: &'static Class,
    new: impl Fn(&'static Class) -> T,
) -> c_int {
    return_status(|| {
        if place.is_null() {
            return Err(Failure::null(T::NAME));
        }
        if class.is_null() {
            // SAFETY: rule 8 (a struct of the calling thread).
            unsafe { Place::put(place, new(unnamed)) };
            return Ok(Outcome::Done);
        }
        // SAFETY: rule 8 (NULL, or a registered class).
        let checked = unsafe { require_kind(class, |kind| kinds.contains(&kind)) };
        // SAFETY: rule 8 (a struct of the calling thread).
        unsafe { Place::put(place, new(checked.as_ref().unwrap_or(&unnamed))) };
        checked.map(|_| Outcome::Done)
    })
}

/// Destroys a lock that is not held.
///
/// # Safety
/// As [`Place::destroy`].
unsafe fn destroy<T: SelfInitialising>(place: *mut Place<T>, held: impl Fn(&T) -> bool) -> c_int {
    return_status(|| {
        // SAFETY: rule 8 (a struct that stays at its address).
        if held(unsafe { Place::need(place) }?) {
            return Err(Failure::new(
                Status::Busy,
                format!("the {} is held; unlock it first", T::NAME),
            ));
        }
        // SAFETY: rule 8 (a struct of the calling thread).
        unsafe { Place::destroy(place) };
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

/// Forgets a guard, because C unlocks by hand.
#[inline]
fn forget_guard<G>(guard: Option<G>, otherwise: Outcome) -> Result<Outcome, Failure> {
    match guard {
        Some(guard) => {
            forget(guard);
            Ok(Outcome::Done)
        }
        None => Ok(otherwise),
    }
}

/// How long it is until a moment of `CLOCK_REALTIME`; none if it has passed.
///
/// # Safety
/// `deadline` is NULL or readable.
unsafe fn time_until(deadline: *const libc::timespec) -> Result<Duration, Failure> {
    // SAFETY: rule 8 (NULL, or readable).
    let Some(deadline) = (unsafe { deadline.as_ref() }) else {
        return Err(Failure::null("the deadline"));
    };
    match u32::try_from(deadline.tv_nsec) {
        Ok(nanoseconds @ 0..1_000_000_000) => {
            let seconds = u64::try_from(deadline.tv_sec).unwrap_or(0);
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = now.unwrap_or_default();
            Ok(Duration::new(seconds, nanoseconds).saturating_sub(now))
        }
        _ => Err(Failure::invalid(
            "the deadline's tv_nsec is not below 1,000,000,000",
        )),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_init(mutex: *mut tare_mutex, class: *mut tare_class) -> c_int {
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
    unsafe {
        init(mutex, class, &[Kind::Mutex], &UNNAMED_MUTEX, |class| {
            Mutex::new(class, ())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_destroy(mutex: *mut tare_mutex) -> c_int {
    // SAFETY: rules 3 and 4 (a struct of the calling thread).
    unsafe { destroy(mutex, |mutex| mutex.is_locked()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_lock(mutex: *mut tare_mutex) -> c_int {
    // SAFETY: rule 3 (a struct that stays at its address).
    return_status(|| forget_guard(Some(unsafe { Place::need(mutex) }?.lock()), Outcome::Busy))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_trylock(mutex: *mut tare_mutex) -> c_int {
    // SAFETY: rule 3 (a struct that stays at its address).
    return_status(|| forget_guard(unsafe { Place::need(mutex) }?.try_lock(), Outcome::Busy))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_timedlock(
    mutex: *mut tare_mutex,
    deadline: *const libc::timespec,
) -> c_int {
    return_status(|| {
        // SAFETY: rule 3 (a struct that stays at its address), and rule 5.
        let (mutex, timeout) = unsafe { (Place::need(mutex)?, time_until(deadline)?) };
        forget_guard(mutex.try_lock_for(timeout), Outcome::Timeout)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_mutex_unlock(mutex: *mut tare_mutex) -> c_int {
    return_status(|| {
        // SAFETY: rule 3 (a struct that stays at its address).
        let mutex = unsafe { Place::need(mutex) }?;
        if !mutex.is_locked() {
            return Err(not_held("mutex"));
        }
        // SAFETY: rule 7; the lock is held by C, because this file forgets all guards.
        unsafe { mutex.force_unlock() };
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_init(
    rwlock: *mut tare_rwlock,
    class: *mut tare_class,
) -> c_int {
    let kinds = [Kind::RwLock, Kind::SxLock];
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
    unsafe {
        init(rwlock, class, &kinds, &UNNAMED_RWLOCK, |class| {
            RwLock::new(class, ())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_destroy(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: rules 3 and 4 (a struct of the calling thread).
    unsafe { destroy(rwlock, |rwlock| rwlock.is_locked()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_rdlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: rule 3 (a struct that stays at its address).
    return_status(|| forget_guard(Some(unsafe { Place::need(rwlock) }?.read()), Outcome::Busy))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_tryrdlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: rule 3 (a struct that stays at its address).
    return_status(|| forget_guard(unsafe { Place::need(rwlock) }?.try_read(), Outcome::Busy))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_rdunlock(rwlock: *mut tare_rwlock) -> c_int {
    return_status(|| {
        // SAFETY: rule 3 (a struct that stays at its address).
        let rwlock = unsafe { Place::need(rwlock) }?;
        if !rwlock.is_locked() || rwlock.is_locked_exclusive() {
            return Err(not_held("rwlock"));
        }
        // SAFETY: rule 7; readers hold it, by C.
        unsafe { rwlock.force_unlock_read() };
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_wrlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: rule 3 (a struct that stays at its address).
    return_status(|| forget_guard(Some(unsafe { Place::need(rwlock) }?.write()), Outcome::Busy))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_trywrlock(rwlock: *mut tare_rwlock) -> c_int {
    // SAFETY: rule 3 (a struct that stays at its address).
    return_status(|| forget_guard(unsafe { Place::need(rwlock) }?.try_write(), Outcome::Busy))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_rwlock_wrunlock(rwlock: *mut tare_rwlock) -> c_int {
    return_status(|| {
        // SAFETY: rule 3 (a struct that stays at its address).
        let rwlock = unsafe { Place::need(rwlock) }?;
        if !rwlock.is_locked_exclusive() {
            return Err(not_held("rwlock"));
        }
        // SAFETY: rule 7; a writer holds it, by C.
        unsafe { rwlock.force_unlock_write() };
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_init(cond: *mut tare_cond, class: *mut tare_class) -> c_int {
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
    unsafe { init(cond, class, &[Kind::Cond], &UNNAMED_COND, Condvar::new) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_destroy(cond: *mut tare_cond) -> c_int {
    // SAFETY: rules 3 and 4 (a struct of the calling thread).
    unsafe { destroy(cond, |_| false) }
}

/// Waits for the condition. The caller holds the mutex.
///
/// # Safety
/// Both as [`Place::get`]; the caller holds the mutex.
unsafe fn wait(
    cond: *mut tare_cond,
    mutex: *mut tare_mutex,
    timeout: impl FnOnce() -> Result<Option<Duration>, Failure>,
) -> c_int {
    return_status(|| {
        // SAFETY: rule 8 (a struct that stays at its address).
        let (cond, mutex) = unsafe { (Place::need(cond)?, Place::need(mutex)?) };
        let timeout = timeout()?;
        if !mutex.is_locked() {
            return Err(not_held("mutex"));
        }
        // SAFETY: the caller holds the mutex, and its guard was forgotten.
        let mut guard = unsafe { mutex.make_guard_unchecked() };
        let in_time = match timeout {
            None => {
                cond.wait(&mut guard);
                true
            }
            Some(timeout) => !cond.wait_for(&mut guard, timeout).timed_out(),
        };
        forget_guard(Some(guard), Outcome::Done)?;
        Ok(if in_time {
            Outcome::Done
        } else {
            Outcome::Timeout
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_wait(cond: *mut tare_cond, mutex: *mut tare_mutex) -> c_int {
    // SAFETY: rules 3 and 7 (structs that stay at their addresses, and a mutex that is held).
    unsafe { wait(cond, mutex, || Ok(None)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_timedwait(
    cond: *mut tare_cond,
    mutex: *mut tare_mutex,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: rule 5 (NULL, or readable).
    let timeout = || unsafe { time_until(deadline) }.map(Some);
    // SAFETY: rules 3 and 7 (structs that stay at their addresses, and a mutex that is held).
    unsafe { wait(cond, mutex, timeout) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_signal(cond: *mut tare_cond) -> c_int {
    return_status(|| {
        // SAFETY: rule 3 (a struct that stays at its address).
        unsafe { Place::need(cond) }?.notify_one();
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_cond_broadcast(cond: *mut tare_cond) -> c_int {
    return_status(|| {
        // SAFETY: rule 3 (a struct that stays at its address).
        unsafe { Place::need(cond) }?.notify_all();
        Ok(Outcome::Done)
    })
}
