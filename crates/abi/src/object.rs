//! Tables, metadata locks, prepared statements and stored programs.

use std::ffi::{c_char, c_int};

use engine::metadata::MetadataLock;
use engine::prepared::Prepared;
use engine::program::{Call, Program};
use engine::table::{Classes, Handle, Table};
use engine::{
    Kind, LockDuration, LockStatus, LockType, Namespace, ObjectType, Operation, TableLock,
};

use crate::class::{require_kind, tare_class};
use crate::place::{HostObject, Place, assert_fits};
use crate::statement::{tare_statement, with};
use crate::status::{Failure, catch_panic, free, pointer_or_null};
use crate::text::{text, text_of};
use crate::wait::{begin, tare_wait};

/// `struct tare_table`.
pub type tare_table = Table;
/// `struct tare_table_handle`.
pub type tare_table_handle = Handle;
/// `struct tare_metadata_lock`.
pub type tare_metadata_lock = MetadataLock;
/// `struct tare_prepared`.
pub type tare_prepared = Prepared;
/// `struct tare_program`.
pub type tare_program = Program<Box<str>>;
/// `struct tare_call`.
pub type tare_call = Place<Call>;

impl HostObject for Call {
    const MARK: u64 = u64::from_le_bytes(*b"tarecall");
    const NAME: &'static str = "call";
}

const _: () = assert_fits::<Call>(8);

/// An enum's value by its number.
fn enum_value<T>(given: c_int, of: impl Fn(u8) -> Option<T>, what: &str) -> Result<T, Failure> {
    let value = u8::try_from(given).ok().and_then(of);
    value.ok_or_else(|| Failure::invalid(format!("{given} is no {what}; see tare.h")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_new(
    io: *mut tare_class,
    lock: *mut tare_class,
    schema: *const c_char,
    name: *const c_char,
    indexes: *const *const c_char,
    count: usize,
) -> *mut tare_table {
    pointer_or_null(|| {
        // SAFETY: rules 1 and 5 (a registered class, and texts).
        let (classes, schema, name, indexes) = unsafe {
            let classes = Classes {
                io: require_kind(io, |kind| kind == Kind::TableIo)?,
                lock: require_kind(lock, |kind| kind == Kind::TableLock)?,
            };
            let given = match indexes.is_null() {
                true => &[],
                false => std::slice::from_raw_parts(indexes, count),
            };
            let indexes: Vec<_> = given.iter().map(|name| text(*name)).collect();
            (classes, text(schema), text(name), indexes)
        };
        let indexes: Vec<&str> = indexes.iter().map(AsRef::as_ref).collect();
        let table = Table::new(classes, &schema, &name, &indexes);
        Ok(Box::into_raw(Box::new(table)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_free(table: *mut tare_table) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(table) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_dropped(schema: *const c_char, name: *const c_char) {
    // SAFETY: rule 5 (NULL, or a readable text).
    catch_panic((), || unsafe {
        engine::table::dropped(&text(schema), &text(name));
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_open(table: *mut tare_table) -> *mut tare_table_handle {
    pointer_or_null(|| {
        // SAFETY: rule 2 (NULL, or not freed).
        let table = unsafe { table.as_ref() }.ok_or_else(|| Failure::null("the table"))?;
        Ok(Box::into_raw(Box::new(table.open())))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_close(handle: *mut tare_table_handle) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(handle) };
}

/// Changes an object that only the calling thread uses.
///
/// # Safety
/// `object` is NULL, or was created and not freed; no other thread uses it now.
unsafe fn change<T>(object: *mut T, body: impl FnOnce(&mut T)) {
    catch_panic((), || {
        // SAFETY: rule 8 (only the calling thread uses it).
        if let Some(object) = unsafe { object.as_mut() } {
            body(object);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_bind(handle: *mut tare_table_handle) {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe { change(handle, Handle::bind) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_unbind(handle: *mut tare_table_handle) {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe { change(handle, Handle::unbind) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_io_begin(
    wait: *mut tare_wait,
    handle: *mut tare_table_handle,
    operation: c_int,
    index: c_int,
) {
    // SAFETY: rules 2, 3 and 4 (an object that is not freed, and a struct of the calling thread).
    unsafe {
        begin(wait, || {
            let handle = handle.as_ref().filter(|_| !wait.is_null())?;
            let operation = Operation::from_u8(u8::try_from(operation).ok()?)?;
            let rows = Operation::Fetch as u8..=Operation::DeleteRow as u8;
            rows.contains(&(operation as u8))
                .then(|| handle.io(operation, usize::try_from(index).ok()))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_lock_begin(
    wait: *mut tare_wait,
    handle: *mut tare_table_handle,
    lock: c_int,
) {
    // SAFETY: rules 2, 3 and 4 (an object that is not freed, and a struct of the calling thread).
    unsafe {
        begin(wait, || {
            let handle = handle.as_ref().filter(|_| !wait.is_null())?;
            Some(handle.lock(TableLock::from_u8(u8::try_from(lock).ok()?)?))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_locked(
    handle: *mut tare_table_handle,
    lock: c_int,
    waited: c_int,
) {
    let lock = enum_value(lock, TableLock::from_u8, "way to lock a table");
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe {
        change(handle, |handle| match (lock, waited) {
            (Ok(lock), 0) => handle.locked(lock),
            (Ok(lock), _) => handle.holds(lock),
            (Err(_), _) => {}
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_table_unlocked(handle: *mut tare_table_handle, external: c_int) {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe {
        change(handle, |handle| match external {
            0 => handle.unlocked_internally(),
            _ => handle.unlocked(),
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metadata_lock_new(
    class: *mut tare_class,
    on: c_int,
    schema: *const c_char,
    name: *const c_char,
    column: *const c_char,
) -> *mut tare_metadata_lock {
    pointer_or_null(|| {
        let on = enum_value(on, Namespace::from_u8, "namespace of metadata locks")?;
        // SAFETY: rules 1 and 5 (a registered class, and texts).
        let lock = unsafe {
            let class = require_kind(class, |kind| kind == Kind::MetadataLock)?;
            MetadataLock::of_column(class, on, &text(schema), &text(name), &text(column))
        };
        Ok(Box::into_raw(Box::new(lock)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metadata_lock_free(lock: *mut tare_metadata_lock) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(lock) };
}

fn kind_and_duration(kind: c_int, duration: c_int) -> Option<(LockType, LockDuration)> {
    let kind = LockType::from_u8(u8::try_from(kind).ok()?)?;
    let duration = LockDuration::from_u8(u8::try_from(duration).ok()?)?;
    Some((kind, duration))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metadata_lock_begin(
    wait: *mut tare_wait,
    lock: *mut tare_metadata_lock,
    kind: c_int,
    duration: c_int,
) {
    // SAFETY: rules 2, 3 and 4 (an object that is not freed, and a struct of the calling thread).
    unsafe {
        begin(wait, || {
            let lock = lock.as_mut().filter(|_| !wait.is_null())?;
            let (kind, duration) = kind_and_duration(kind, duration)?;
            Some(lock.wait(kind, duration))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metadata_lock_set(
    lock: *mut tare_metadata_lock,
    kind: c_int,
    duration: c_int,
    status: c_int,
) {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe {
        change(lock, |lock| {
            let status = u8::try_from(status).ok().and_then(LockStatus::from_u8);
            if let Some(((kind, duration), status)) = kind_and_duration(kind, duration).zip(status)
            {
                lock.publish(kind, duration, status);
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_metadata_lock_release(lock: *mut tare_metadata_lock) {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe { change(lock, MetadataLock::released) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_prepared_new(
    id: u64,
    name: *const c_char,
    sql: *const c_char,
    length: usize,
) -> *mut tare_prepared {
    pointer_or_null(|| {
        // SAFETY: rule 5 (NULL, or a readable text).
        let (name, sql) = unsafe { (text(name), text_of(sql, length)) };
        let name = (!name.is_empty()).then_some(&*name);
        Ok(Box::into_raw(Box::new(Prepared::new(id, name, &sql))))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_prepared_free(prepared: *mut tare_prepared) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(prepared) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_prepared_anew(prepared: *mut tare_prepared) {
    // SAFETY: rules 2 and 4 (only the calling thread uses it).
    unsafe { change(prepared, |prepared| prepared.reprepared()) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_prepares(
    statement: *mut tare_statement,
    prepared: *const tare_prepared,
) {
    // SAFETY: rules 2 and 3 (an object that is not freed, and a struct that stays at its address).
    unsafe {
        with(statement, |statement| {
            if let Some(prepared) = prepared.as_ref() {
                statement.prepares(prepared);
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_executes(
    statement: *mut tare_statement,
    prepared: *const tare_prepared,
) {
    // SAFETY: rules 2 and 3 (an object that is not freed, and a struct that stays at its address).
    unsafe {
        with(statement, |statement| {
            if let Some(prepared) = prepared.as_ref() {
                statement.executes(prepared);
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_program_new(
    kind: c_int,
    schema: *const c_char,
    name: *const c_char,
) -> *mut tare_program {
    pointer_or_null(|| {
        let kind = enum_value(kind, ObjectType::from_u8, "type of program")?;
        if kind.is_table() {
            return Err(Failure::invalid("a table is no program; see tare.h"));
        }
        // SAFETY: rule 5 (NULL, or a readable text).
        let (schema, name) = unsafe { (text(schema), text(name)) };
        let program = Program::new(kind, (&*schema).into(), (&*name).into());
        Ok(Box::into_raw(Box::new(program)))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_program_free(program: *mut tare_program) {
    // SAFETY: rule 2 (it is not used any more).
    unsafe { free(program) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_program_dropped(program: *mut tare_program) {
    catch_panic((), || {
        if !program.is_null() {
            // SAFETY: rule 2 (it is not used any more).
            unsafe { Box::from_raw(program) }.dropped();
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_program_begin(call: *mut tare_call, program: *const tare_program) {
    // SAFETY: rules 2, 3 and 4 (an object that is not freed, and a struct of the calling thread).
    catch_panic((), || unsafe {
        match program.as_ref() {
            Some(program) => Place::put(call, program.start()),
            None => Place::clear(call),
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_program_end(call: *mut tare_call) {
    // SAFETY: rules 3 and 4 (a struct of the calling thread).
    catch_panic((), || unsafe { Place::end(call, |_| ()) });
}
