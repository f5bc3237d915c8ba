//! Prepared statements.

use std::ffi::{c_char, c_void};
use std::ptr;

use engine::prepared::Prepared;

use super::exchange::{NONE, catch_panic, give, take_back};
use super::statement;
use crate::interface::Interface;
use crate::interface::charset::text_in;
use crate::interface::text::text;

/// A prepared statement, and the character set of the client that prepared it.
struct Instance {
    prepared: Prepared,
    charset: *const c_void,
}

pub unsafe extern "C" fn create_prepared_stmt<S: Interface>(
    _identity: *mut c_void,
    id: u32,
    locker: *mut c_void,
    name: *const c_char,
    name_length: usize,
    statement: *const c_char,
    length: usize,
) -> *mut c_void {
    catch_panic(NONE, || {
        // SAFETY: rule 2 (the event has not ended).
        let running = unsafe { statement::locker_at(locker) };
        // PREPARE gives the statement a name.
        let is_utf8 = S::PREPARE_IS_UTF8 && name_length != 0;
        let charset = running.as_ref().filter(|_| !is_utf8);
        let charset = charset.map_or(ptr::null(), |running| running.charset());
        // SAFETY: rule 4 (readable for its length).
        let (name, sql) = unsafe { (text(name, name_length), text_in(charset, statement, length)) };
        let name = (!name.is_empty()).then_some(&*name);
        let prepared = Prepared::new(u64::from(id), name, &sql);
        if let Some(running) = running {
            running.statement.prepares(&prepared);
        }
        give(Instance { prepared, charset })
    })
}

pub unsafe extern "C" fn destroy_prepared_stmt(prepared: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    drop(catch_panic(None, || unsafe {
        take_back::<Instance>(prepared)
    }));
}

pub unsafe extern "C" fn reprepare_prepared_stmt(prepared: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(prepared) = unsafe { prepared.cast::<Instance>().as_ref() } {
        prepared.prepared.reprepared();
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn execute_prepared_stmt(locker: *mut c_void, prepared: *mut c_void) {
    // SAFETY: rules 1 and 2 (the statement has not ended, and the prepared one is not destroyed).
    unsafe {
        if let (Some(running), Some(prepared)) = (
            statement::locker_at(locker),
            prepared.cast::<Instance>().as_ref(),
        ) {
            running.statement.executes(&prepared.prepared);
        }
    }
}

pub unsafe extern "C" fn set_prepared_stmt_text(
    prepared: *mut c_void,
    statement: *const c_char,
    length: u32,
) {
    catch_panic((), || {
        // SAFETY: rules 1 and 4 (the statement is not destroyed, and its text readable).
        unsafe {
            if let Some(prepared) = prepared.cast::<Instance>().as_ref() {
                let text = text_in(prepared.charset, statement, length as usize);
                prepared.prepared.set_text(&text);
            }
        }
    });
}
