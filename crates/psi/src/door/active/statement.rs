//! Statements. The locker of an outermost one is its state's address with bit 0 set; nested ones are as at
//! other levels ([`super::super::statement`]).
//!
//! Calls that refine or end a statement, or set its text, lead here at every level, because a statement may
//! have begun at another one.

use std::ffi::{c_char, c_void};

use engine::Kind;
use engine::active::{self, First, Outermost};

use super::super::exchange::catch_panic;
use super::super::level::{BEGAN_ACTIVE, began_active, period};
use super::super::{keys, statement};
use crate::interface::charset::utf8_bytes;
use crate::interface::{Interface, Outcome};

/// The data of an outermost statement, in the state that the server lends.
#[repr(C)]
struct Running {
    statement: Outermost,
    /// The client's character set.
    charset: *const c_void,
}

const _: () = assert!(size_of::<Running>() <= 256);

/// The outermost statement of a locker.
///
/// # Safety
/// `locker` came from [`get_thread_statement_locker`] and has not ended.
#[inline(always)]
unsafe fn outermost_at<'a>(locker: *mut c_void) -> Option<&'a Running> {
    let place = locker.wrapping_byte_sub(BEGAN_ACTIVE).cast::<Running>();
    // SAFETY: rule 8 (stored by `get_thread_statement_locker`).
    began_active(locker).then(|| unsafe { &*place })
}

#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn get_thread_statement_locker(
    state: *mut c_void,
    key: u32,
    charset: *const c_void,
    program: *mut c_void,
) -> *mut c_void {
    let begun = match keys::packed(key) {
        Some(instrument) if instrument.is(Kind::Statement) => {
            Outermost::begin(instrument.number(), period())
        }
        _ => None,
    };
    match begun {
        Some(statement) => {
            // SAFETY: rule 3 (256 bytes).
            unsafe {
                state
                    .cast::<Running>()
                    .write(Running { statement, charset })
            };
            state.wrapping_byte_add(BEGAN_ACTIVE)
        }
        // SAFETY: rule 8 (the arguments are passed on).
        None => unsafe { start_other(state, key, charset, program) },
    }
}

/// The first statement of a thread at this level, and a nested one.
#[inline(never)]
unsafe fn start_other(
    state: *mut c_void,
    key: u32,
    charset: *const c_void,
    program: *mut c_void,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on, and the locker has not ended).
    unsafe {
        let locker = statement::get_thread_statement_locker(state, key, charset, program);
        if let Some(running) = statement::locker_at(locker)
            && running.statement.is_active()
        {
            active::note_period(First::Statement, period());
        }
        locker
    }
}

#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn refine_statement(locker: *mut c_void, key: u32) -> *mut c_void {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { outermost_at(locker) }) else {
        // SAFETY: rule 8 (the arguments are passed on).
        return unsafe { statement::refine_exact(locker, key) };
    };
    if let Some(instrument) = keys::packed(key).filter(|each| each.is(Kind::Statement)) {
        running.statement.refine(instrument.number());
    }
    locker
}

#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn set_statement_text<S: Interface>(
    locker: *mut c_void,
    text: *const c_char,
    length: u32,
) {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { outermost_at(locker) }) else {
        // SAFETY: rule 8 (the arguments are passed on).
        return unsafe { statement::set_text_exact::<S>(locker, text, length) };
    };
    if !text.is_null() {
        // SAFETY: rule 4 (readable for its length).
        let text = unsafe { std::slice::from_raw_parts(text.cast(), length as usize) };
        // SAFETY: rule 8 (a collation of the server).
        let text = unsafe { utf8_bytes(running.charset, text) };
        running.statement.text(&text);
    }
}

#[unsafe(link_section = "tare_active")]
pub unsafe extern "C" fn end_statement<S: Interface>(
    locker: *mut c_void,
    diagnostics: *const c_void,
) {
    // SAFETY: rule 2 (the event ends here).
    let Some(running) = (unsafe { outermost_at(locker) }) else {
        // SAFETY: rule 8 (the arguments are passed on).
        return unsafe { statement::end_exact::<S>(locker, diagnostics) };
    };
    // SAFETY: rule 5 (laid out as the release declares).
    let outcome = unsafe { S::FIELDS.outcome(diagnostics) };
    let has_failed = matches!(outcome, Outcome::Failed { .. });
    catch_panic((), || running.statement.end(has_failed));
}
