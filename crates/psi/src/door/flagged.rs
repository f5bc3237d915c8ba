//! Locks and conditions of servers that read the first byte of the object that they store. The byte says
//! whether the object is instrumented. The server reports waits only if it is.
//!
//! These servers store the address of a [`Record`], which has the word or the object that other servers
//! store.

use std::ffi::{c_char, c_int, c_void};

use engine::{Operation, host_lock};

use super::exchange::{NONE, catch_panic, give, take_back};
use super::lock::{TaggedWord, unlock};
use super::{cond, mutex, rwlock};
use crate::interface::word::{is_free, is_mutex_free_as};

/// What the server stores for a lock or a condition.
#[repr(C)]
struct Record {
    /// The byte that the server reads. It stays 1: the calls of a kind that is off rest ([`crate::hook`]) for
    /// all locks.
    is_enabled: u8,
    /// What other servers store.
    lock: *mut c_void,
}

const _: () = assert!(size_of::<Record>() == 16 && std::mem::offset_of!(Record, is_enabled) == 0);

fn flagged(lock: *mut c_void) -> *mut c_void {
    match lock.is_null() {
        true => NONE,
        false => give(Record {
            is_enabled: 1,
            lock,
        }),
    }
}

/// The lock of a record; NULL for NULL.
///
/// # Safety
/// `record` is NULL or came from [`flagged`].
#[inline(always)]
pub(super) unsafe fn lock_of(record: *mut c_void) -> *mut c_void {
    // SAFETY: rule 8 (NULL, or from `flagged`).
    unsafe { record.cast::<Record>().as_ref() }.map_or(NONE, |record| record.lock)
}

/// Frees a record and returns its lock.
///
/// # Safety
/// As [`lock_of`], and it is not used any more.
unsafe fn take_lock(record: *mut c_void) -> *mut c_void {
    // SAFETY: rule 8 (NULL, or from `flagged`, and not used any more).
    let record = catch_panic(None, || unsafe { take_back::<Record>(record) });
    record.map_or(NONE, |record| record.lock)
}

pub unsafe extern "C" fn init_mutex(key: u32, identity: *const c_void) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    flagged(unsafe { mutex::init_mutex(key, identity) })
}

pub unsafe extern "C" fn destroy_mutex(record: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    unsafe { mutex::destroy_mutex(take_lock(record)) };
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_mutex_wait(
    state: *mut c_void,
    record: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let lock = unsafe { lock_of(record) };
    if let Some(tagged) = TaggedWord::of(lock) {
        // SAFETY: rule 7 (the lock is at its address).
        let is_free = || unsafe { is_mutex_free_as(tagged.word(), tagged.at()) };
        if host_lock::try_count_uncontended(tagged.class(), is_free) {
            return NONE;
        }
    }
    // SAFETY: rule 8 (the arguments are passed on). As its last act: nothing is saved above.
    unsafe { mutex::start_mutex_wait_slow(state, lock, operation, file, line) }
}

pub unsafe extern "C" fn unlock_mutex(record: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { unlock(lock_of(record), Operation::Lock) };
}

pub unsafe extern "C" fn init_rwlock(key: u32, identity: *const c_void) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    flagged(unsafe { rwlock::init_rwlock(key, identity) })
}

pub unsafe extern "C" fn destroy_rwlock(record: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    unsafe { rwlock::destroy_rwlock(take_lock(record)) };
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_rwlock_wait(
    state: *mut c_void,
    record: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let lock = unsafe { lock_of(record) };
    if let Some(tagged) = TaggedWord::of(lock) {
        let is_free = || match rwlock::OPERATIONS.get(operation as usize) {
            // SAFETY: rule 7 (the lock is at its address).
            Some(&(operation, false)) => unsafe { is_free(tagged.word(), tagged.at(), operation) },
            _ => false,
        };
        if host_lock::try_count_uncontended(tagged.class(), is_free) {
            return NONE;
        }
    }
    // SAFETY: rule 8 (the arguments are passed on). As its last act, see `start_mutex_wait`.
    unsafe { rwlock::start_rwlock_wait_slow(state, lock, operation, file, line) }
}

/// The operation says how the lock was held; 0 = unknown.
pub unsafe extern "C" fn unlock_rwlock(record: *mut c_void, _operation: c_int) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { unlock(lock_of(record), Operation::ReadLock) };
}

pub unsafe extern "C" fn init_cond(key: u32, identity: *const c_void) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    flagged(unsafe { cond::init_cond(key, identity) })
}

pub unsafe extern "C" fn destroy_cond(record: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    unsafe { cond::destroy_cond(take_lock(record)) };
}

pub unsafe extern "C" fn start_cond_wait(
    state: *mut c_void,
    record: *mut c_void,
    mutex: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { cond::start_cond_wait(state, lock_of(record), mutex, operation, file, line) }
}
