//! Prepared statements.

use std::ffi::{c_char, c_void};

use engine::prepared::Prepared;

use super::exchange::{NONE, catch_panic, give, take_back};
use super::statement;
use crate::interface::text::text;

pub unsafe extern "C" fn create_prepared_stmt(
    _identity: *mut c_void,
    id: u32,
    locker: *mut c_void,
    name: *const c_char,
    name_length: usize,
    statement: *const c_char,
    length: usize,
) -> *mut c_void {
    catch_panic(NONE, || {
        // SAFETY: rule 4 (readable for its length).
        let (name, sql) = unsafe { (text(name, name_length), text(statement, length)) };
        let name = (!name.is_empty()).then_some(&*name);
        let prepared = Prepared::new(u64::from(id), name, &sql);
        // SAFETY: rule 2 (the event has not ended).
        if let Some(running) = unsafe { statement::locker_at(locker) } {
            running.statement.prepares(&prepared);
        }
        give(prepared)
    })
}

pub unsafe extern "C" fn destroy_prepared_stmt(prepared: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    drop(catch_panic(None, || unsafe {
        take_back::<Prepared>(prepared)
    }));
}

pub unsafe extern "C" fn reprepare_prepared_stmt(prepared: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(prepared) = unsafe { prepared.cast::<Prepared>().as_ref() } {
        prepared.reprepared();
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn execute_prepared_stmt(locker: *mut c_void, prepared: *mut c_void) {
    // SAFETY: rules 1 and 2 (the statement has not ended, and the prepared one is not destroyed).
    unsafe {
        if let (Some(running), Some(prepared)) = (
            statement::locker_at(locker),
            prepared.cast::<Prepared>().as_ref(),
        ) {
            running.statement.executes(prepared);
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
            if let Some(prepared) = prepared.cast::<Prepared>().as_ref() {
                prepared.set_text(&text(statement, length as usize));
            }
        }
    });
}
