//! Conditions. An instrumented wait is always timed, because every call does wait.

use std::ffi::{c_char, c_int, c_void};

use engine::wait::Wait;
use engine::{Kind, Operation, host_lock};

use super::exchange::{NONE, end_wait, lend_wait, source};
use super::keys;
use super::lock::{end_lock, new_lock, resolve};

const _: () = assert!(size_of::<Wait>() <= 56);

pub unsafe extern "C" fn init_cond(key: u32, identity: *const c_void) -> *mut c_void {
    match keys::packed(key) {
        Some(instrument) if instrument.is(Kind::Cond) => new_lock(instrument, identity),
        _ => NONE,
    }
}

pub unsafe extern "C" fn destroy_cond(cond: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    unsafe { end_lock(cond) };
}

pub unsafe extern "C" fn start_cond_wait(
    state: *mut c_void,
    cond: *mut c_void,
    _mutex: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    if cond.is_null() {
        return NONE;
    }
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let (lock, ..) = unsafe { resolve(cond) };
    let Some(instrument) = keys::by_number(lock.class) else {
        return NONE;
    };
    let operation = match operation {
        0 => Operation::Wait,
        _ => Operation::TimedWait,
    };
    // SAFETY: rules 3 and 4 (56 bytes, and `file` is a C string).
    unsafe {
        lend_wait(state, || {
            host_lock::wait(
                instrument.class,
                lock.instance,
                operation,
                source(file, line),
            )
        })
    }
}

pub unsafe extern "C" fn end_cond_wait(locker: *mut c_void, _failed: c_int) {
    if !locker.is_null() {
        // SAFETY: rule 2 (the event ends here).
        unsafe { end_wait(locker, |_| {}) };
    }
}
