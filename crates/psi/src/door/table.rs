//! Tables: their rows and their locks.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use engine::table::{Classes, Handle, Table};
use engine::wait::Wait;
use engine::{Operation, TableLock, table};

use super::exchange::{NONE, catch_panic, end_wait, give, lend_wait, source, take_back};
use super::level;
use crate::interface::Interface;
use crate::interface::text::text;

static CLASSES: OnceLock<Classes> = OnceLock::new();
/// The server's own locks by number.
static LOCKS: OnceLock<fn(i32) -> Option<TableLock>> = OnceLock::new();

/// Sets the classes of tables, and the server's own locks by number.
pub fn set_classes<S: Interface>(classes: Classes) {
    let _ = CLASSES.set(classes);
    let _ = LOCKS.set(S::table_lock);
}

/// The server's own lock with this number.
pub(super) fn internal_lock(number: i32) -> Option<TableLock> {
    LOCKS.get().and_then(|lock| lock(number))
}

const _: () = assert!(size_of::<Wait>() <= 64);

/// Forgets the owners and locks of open tables, because calls that rest do not report them.
pub fn forget_owners() {
    catch_panic((), table::disown_all);
}

pub unsafe extern "C" fn get_table_share<S: Interface>(
    temporary: u8,
    share: *const c_void,
) -> *mut c_void {
    catch_panic(NONE, || {
        let Some(classes) = CLASSES.get().filter(|_| temporary == 0) else {
            return NONE;
        };
        // SAFETY: rule 5 (laid out as the release declares).
        let Some(share) = (unsafe { S::FIELDS.table_share(share) }) else {
            return NONE;
        };
        let indexes: Vec<&str> = share.indexes.iter().map(AsRef::as_ref).collect();
        give(Table::new(*classes, &share.schema, &share.name, &indexes))
    })
}

pub unsafe extern "C" fn release_table_share(share: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    drop(catch_panic(None, || unsafe { take_back::<Table>(share) }));
}

pub unsafe extern "C" fn drop_table_share(
    temporary: u8,
    schema: *const c_char,
    schema_length: c_int,
    name: *const c_char,
    name_length: c_int,
) {
    if temporary != 0 {
        return;
    }
    catch_panic((), || {
        // SAFETY: rule 4 (readable for its length).
        let (schema, name) = unsafe {
            (
                text(schema, schema_length.max(0) as usize),
                text(name, name_length.max(0) as usize),
            )
        };
        table::dropped(&schema, &name);
    });
}

pub unsafe extern "C" fn open_table(share: *mut c_void, _identity: *const c_void) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(table) = (unsafe { share.cast::<Table>().as_ref() }) else {
        return NONE;
    };
    catch_panic(NONE, || give(table.open()))
}

unsafe fn handle_at<'a>(table: *mut c_void) -> Option<&'a mut Handle> {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { table.cast::<Handle>().as_mut() }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn unbind_table(table: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(handle) = unsafe { handle_at(table) } {
        handle.unbind();
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn rebind_table(
    share: *mut c_void,
    identity: *const c_void,
    table: *mut c_void,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    match unsafe { handle_at(table) } {
        Some(handle) => {
            handle.bind();
            table
        }
        // SAFETY: rule 8 (the arguments are passed on).
        None => unsafe { open_table(share, identity) },
    }
}

pub unsafe extern "C" fn close_table(_share: *mut c_void, table: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    drop(catch_panic(None, || unsafe { take_back::<Handle>(table) }));
}

pub(super) const OPERATIONS: [Operation; 4] = [
    Operation::Fetch,
    Operation::Insert,
    Operation::Update,
    Operation::DeleteRow,
];

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_table_io_wait(
    state: *mut c_void,
    table: *mut c_void,
    operation: c_int,
    index: u32,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(handle) = (unsafe { handle_at(table) }) else {
        return NONE;
    };
    let Some(&operation) = OPERATIONS.get(operation as usize) else {
        return NONE;
    };
    // A number beyond the last index means that no index is used.
    // SAFETY: rules 3 and 4 (64 bytes, and `file` is a C string).
    unsafe {
        lend_wait(state, || {
            handle.io_at(operation, Some(index as usize), source(file, line))
        })
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_table_io_wait(locker: *mut c_void, rows: u64) {
    // SAFETY: rule 2 (the event ends here).
    if !locker.is_null() && !unsafe { level::try_end(locker) } {
        // SAFETY: as above.
        unsafe { end_wait(locker, |wait| wait.rows(rows)) };
    }
}

/// The operation of a wait for the storage engine's lock; 0 = for the server's own.
const EXTERNAL: c_int = 1;

/// The lock that a call waits for. `by_number`: the server's own locks.
#[inline(always)]
pub(super) fn lock_of(
    operation: c_int,
    flags: usize,
    by_number: fn(i32) -> Option<TableLock>,
) -> Option<TableLock> {
    match (operation, flags as c_int) {
        (0, kind) => by_number(kind),
        (EXTERNAL, libc::F_RDLCK) => Some(TableLock::ReadExternal),
        (EXTERNAL, libc::F_WRLCK) => Some(TableLock::WriteExternal),
        _ => None,
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_table_lock_wait<S: Interface>(
    state: *mut c_void,
    table: *mut c_void,
    operation: c_int,
    flags: usize,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(handle) = (unsafe { handle_at(table) }) else {
        return NONE;
    };
    if operation == EXTERNAL && flags as c_int == libc::F_UNLCK {
        handle.unlocked();
    }
    let Some(lock) = lock_of(operation, flags, S::table_lock) else {
        return NONE;
    };
    // SAFETY: rule 4 (`file` is a C string).
    let source = unsafe { source(file, line) };
    let begin = || {
        let wait = handle.lock_at(lock, source);
        handle.holds(lock);
        wait
    };
    // SAFETY: rule 3 (64 bytes).
    unsafe { lend_wait(state, begin) }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_table_lock_wait(locker: *mut c_void) {
    // SAFETY: rule 2 (the event ends here).
    if !locker.is_null() && !unsafe { level::try_end(locker) } {
        // SAFETY: as above.
        unsafe { end_wait(locker, |_| {}) };
    }
}

pub unsafe extern "C" fn unlock_table(table: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(handle) = unsafe { handle_at(table) } {
        handle.unlocked();
    }
}
