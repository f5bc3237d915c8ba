//! Calls at the level `active` (docs/active-internals.md). They replace those of other levels while it is the level
//! ([`crate::hook`]), and check nothing. They are in a section of their own, because the fewer lines of code
//! a statement runs through, the less it costs (docs/overhead.md).
//!
//! A wait that begins here stores the word of the outer wait in the state that the server lends. Its locker
//! is the state's address with bit 0 set, so that its end is recognised at every level.

use std::ffi::{c_char, c_int, c_void};

use engine::active::Waiting;

use super::exchange::NONE;
use super::level::begin_word;
use super::lock::{TaggedWord, resolve};
use super::{flagged, mutex, rwlock};
use crate::interface::word::{is_free, is_mutex_free_as};

mod other_waits;
mod stage;
mod statement;

pub(crate) use other_waits::{start_socket_wait, start_table_io_wait, start_table_lock_wait};
pub(crate) use stage::start_stage;
pub(crate) use statement::{
    end_statement, get_thread_statement_locker, refine_statement, set_statement_text,
};

/// Stores a wait, unless the lock is free.
///
/// # Safety
/// `lock` is NULL or came from [`super::lock::new_lock`]; `state` has 8 bytes.
#[inline(always)]
unsafe fn begin(
    state: *mut c_void,
    lock: *mut c_void,
    is_free: impl FnOnce(TaggedWord) -> bool,
) -> *mut c_void {
    let word = match TaggedWord::of(lock) {
        Some(tagged) if is_free(tagged) => return NONE,
        Some(_) => lock.addr() as u64,
        // SAFETY: rule 8 (NULL, or from `new_lock`).
        None => match unsafe { word_of_object(lock) } {
            0 => return NONE,
            word => word,
        },
    };
    // SAFETY: as above.
    unsafe { begin_word(state, word) }
}

/// The word of a wait for a lock whose data does not fit into a word; 0 = there is none.
///
/// # Safety
/// As [`begin`].
#[cold]
#[inline(never)]
unsafe fn word_of_object(lock: *mut c_void) -> u64 {
    if lock.is_null() {
        return 0;
    }
    // SAFETY: rule 8 (from `new_lock`).
    let (lock, ..) = unsafe { resolve(lock) };
    Waiting::numbered(lock.class, 0, lock.instance.into())
}

#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_mutex_wait(
    state: *mut c_void,
    mutex: *mut c_void,
    operation: c_int,
    _file: *const c_char,
    _line: u32,
) -> *mut c_void {
    // A try never waits.
    if operation != 0 {
        return NONE;
    }
    // SAFETY: rules 1 and 7 (NULL, or a lock that is at its address).
    unsafe {
        begin(state, mutex, |tagged| {
            is_mutex_free_as(tagged.word(), tagged.at())
        })
    }
}

/// `start_rwlock_rdwait` and `start_rwlock_wrwait`.
#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_rwlock_wait(
    state: *mut c_void,
    rwlock: *mut c_void,
    operation: c_int,
    _file: *const c_char,
    _line: u32,
) -> *mut c_void {
    let Some(&(operation, false)) = rwlock::OPERATIONS.get(operation as usize) else {
        return NONE;
    };
    // SAFETY: rules 1 and 7 (NULL, or a lock that is at its address).
    unsafe {
        begin(state, rwlock, |tagged| {
            is_free(tagged.word(), tagged.at(), operation)
        })
    }
}

/// [`start_mutex_wait`] of servers that read a byte of the object: see [`flagged`].
#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_flagged_mutex_wait(
    state: *mut c_void,
    record: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_mutex_wait(state, flagged::lock_of(record), operation, file, line) }
}

/// [`start_rwlock_wait`] of these servers.
#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn start_flagged_rwlock_wait(
    state: *mut c_void,
    record: *mut c_void,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { start_rwlock_wait(state, flagged::lock_of(record), operation, file, line) }
}

/// The function that replaces another one while the level is `active`.
pub(crate) fn replacement(function: *const ()) -> Option<*const ()> {
    let pairs: [(*const (), *const ()); 4] = [
        (mutex::start_mutex_wait as _, start_mutex_wait as _),
        (rwlock::start_rwlock_wait as _, start_rwlock_wait as _),
        (
            flagged::start_mutex_wait as _,
            start_flagged_mutex_wait as _,
        ),
        (
            flagged::start_rwlock_wait as _,
            start_flagged_rwlock_wait as _,
        ),
    ];
    let pair = pairs.into_iter().find(|(of, _)| *of == function);
    pair.map(|(_, replacement)| replacement)
}

const _: () = assert!(super::lock::WORD_AT == engine::active::FORM_AT);
const _: () = assert!(super::lock::CLASS_AT == engine::active::LOCK_CLASS_AT);
