//! Mutexes.

use std::ffi::{c_char, c_int, c_void};

use engine::host_lock::{self, PendingLock};
use engine::{Kind, Operation};

use super::exchange::{NONE, end, lend, source};
use super::keys;
use super::level;
use super::lock::{TaggedWord, end_lock, new_lock, resolve, unlock};
use crate::interface::word::{Word, is_mutex_free, is_mutex_free_as};

pub unsafe extern "C" fn init_mutex(key: u32, identity: *const c_void) -> *mut c_void {
    match keys::packed(key) {
        Some(instrument) if instrument.is(Kind::Mutex) => new_lock(instrument, identity),
        _ => NONE,
    }
}

pub unsafe extern "C" fn destroy_mutex(mutex: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    unsafe { end_lock(mutex) };
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_mutex_wait(
    state: *mut c_void,
    mutex: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    if let Some(tagged) = TaggedWord::of(mutex) {
        // SAFETY: rule 7 (the lock is at its address).
        let is_free = || unsafe { is_mutex_free(tagged.at()) };
        if host_lock::try_count_uncontended(tagged.class(), is_free) {
            return NONE;
        }
    }
    // SAFETY: rule 8 (the arguments are passed on). As its last act, with the arguments that it got: nothing
    // is saved above.
    unsafe { start_mutex_wait_slow(state, mutex, operation, file, line) }
}

#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub(super) unsafe extern "C" fn start_mutex_wait_slow(
    state: *mut c_void,
    mutex: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    if mutex.is_null() {
        return NONE;
    }
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let (lock, word, at) = unsafe { resolve(mutex) };
    // A try never waits.
    let is_try = operation != 0;
    let operation = OPERATIONS[usize::from(is_try)];
    // SAFETY: rule 4 (`file` is a C string).
    let source = unsafe { source(file, line) };
    let taking = host_lock::take(lock, operation, source, || {
        // SAFETY: rule 7 (the lock is at its address).
        is_try || word != Word::Unknown && unsafe { is_mutex_free_as(word, at) }
    });
    match taking {
        // SAFETY: rule 3 (48 bytes).
        Some(taking) => unsafe { lend(state, taking) },
        None => NONE,
    }
}

const OPERATIONS: [Operation; 2] = [Operation::Lock, Operation::TryLock];
const _: () = assert!(size_of::<PendingLock>() <= 48);

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_mutex_wait(locker: *mut c_void, failed: c_int) {
    // SAFETY: rule 2 (the event ends here).
    if !locker.is_null() && !unsafe { level::try_end(locker) } {
        // SAFETY: rule 2 (the event ends here).
        unsafe { end::<PendingLock>(locker) }.end(failed == 0);
    }
}

pub unsafe extern "C" fn unlock_mutex(mutex: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { unlock(mutex, Operation::Lock) };
}
