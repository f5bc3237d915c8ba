//! Rwlocks and sxlocks.

use std::ffi::{c_char, c_int, c_void};

use engine::host_lock::{self, PendingLock};
use engine::{Kind, Operation};

use super::exchange::{NONE, end, lend, source};
use super::keys;
use super::level;
use super::lock::{TaggedWord, end_lock, new_lock, resolve, unlock};
use crate::interface::word::is_free;

pub unsafe extern "C" fn init_rwlock(key: u32, identity: *const c_void) -> *mut c_void {
    match keys::packed(key) {
        Some(instrument) if instrument.is(Kind::RwLock) || instrument.is(Kind::SxLock) => {
            new_lock(instrument, identity)
        }
        _ => NONE,
    }
}

pub unsafe extern "C" fn destroy_rwlock(rwlock: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    unsafe { end_lock(rwlock) };
}

/// The interface's operations by number, and whether each only tries.
pub(super) const OPERATIONS: [(Operation, bool); 10] = [
    (Operation::ReadLock, false),
    (Operation::WriteLock, false),
    (Operation::TryReadLock, true),
    (Operation::TryWriteLock, true),
    (Operation::SharedLock, false),
    (Operation::SharedExclusiveLock, false),
    (Operation::ExclusiveLock, false),
    (Operation::SharedLock, true),
    (Operation::SharedExclusiveLock, true),
    (Operation::ExclusiveLock, true),
];

/// `start_rwlock_rdwait` and `start_rwlock_wrwait`.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_rwlock_wait(
    state: *mut c_void,
    rwlock: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    if let Some(tagged) = TaggedWord::of(rwlock) {
        let is_free = || match OPERATIONS.get(operation as usize) {
            // SAFETY: rule 7 (the lock is at its address).
            Some(&(operation, false)) => unsafe { is_free(tagged.word(), tagged.at(), operation) },
            _ => false,
        };
        if host_lock::try_count_uncontended(tagged.class(), is_free) {
            return NONE;
        }
    }
    // SAFETY: rule 8 (the arguments are passed on). As its last act, see `start_mutex_wait`.
    unsafe { start_rwlock_wait_slow(state, rwlock, operation, file, line) }
}

#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub(super) unsafe extern "C" fn start_rwlock_wait_slow(
    state: *mut c_void,
    rwlock: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    let Some(&(operation, is_try)) = OPERATIONS.get(operation as usize) else {
        return NONE;
    };
    if rwlock.is_null() {
        return NONE;
    }
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let (lock, word, at) = unsafe { resolve(rwlock) };
    // SAFETY: rule 4 (`file` is a C string).
    let source = unsafe { source(file, line) };
    let taking = host_lock::take(lock, operation, source, || {
        // SAFETY: rule 7 (the lock is at its address).
        is_try || unsafe { is_free(word, at, operation) }
    });
    match taking {
        // SAFETY: rule 3 (48 bytes).
        Some(taking) => unsafe { lend(state, taking) },
        None => NONE,
    }
}

/// `end_rwlock_rdwait` and `end_rwlock_wrwait`.
#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_rwlock_wait(locker: *mut c_void, failed: c_int) {
    // SAFETY: rule 2 (the event ends here).
    if !locker.is_null() && !unsafe { level::try_end(locker) } {
        // SAFETY: rule 2 (the event ends here).
        unsafe { end::<PendingLock>(locker) }.end(failed == 0);
    }
}

/// `unlock_rwlock` of releases that do not report how the lock was held.
pub unsafe extern "C" fn unlock_rwlock(rwlock: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { unlock(rwlock, Operation::ReadLock) };
}
