//! The rows that a REPLACE deletes. SQLite reports them only in its preupdate hook, which .cargo/config.toml
//! compiles in. The hook is set while a REPLACE runs.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::slice;

use rusqlite::ffi;

// Checked here, because the linker's error would only name a function of SQLite.
const _: () = assert!(
    option_env!("LIBSQLITE3_FLAGS").is_some(),
    "SQLite needs the flags that .cargo/config.toml in Tare's checkout gives: build there, or set LIBSQLITE3_FLAGS to them"
);

/// The rows that a REPLACE has deleted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ReplaceCounts {
    /// All deleted rows.
    pub deleted: u64,
    /// Deleted rows that were inserted again unchanged.
    pub same: u64,
}

#[derive(PartialEq)]
enum OwnedValue {
    Null,
    Real(f64),
    Integer(i64),
    Bytes(c_int, Vec<u8>),
}

#[derive(Default)]
struct Counts {
    replaced: ReplaceCounts,
    /// The row that was deleted last, until the row that replaces it is inserted.
    last: Option<Vec<OwnedValue>>,
}

/// Counts until it is ended or dropped.
pub struct ReplaceCounter {
    db: NonNull<ffi::sqlite3>,
    counts: NonNull<Counts>,
}

impl ReplaceCounter {
    /// Begins to count what a connection's REPLACE deletes.
    ///
    /// # Safety
    /// The connection stays open while this lives, is this thread's, and has no other such hook.
    pub(crate) unsafe fn new(db: NonNull<ffi::sqlite3>) -> Self {
        let counts = NonNull::from(Box::leak(Box::<Counts>::default()));
        // SAFETY: the connection is open; `drop` takes the hook away before it frees the counts.
        unsafe {
            ffi::sqlite3_preupdate_hook(db.as_ptr(), Some(count_change), counts.as_ptr().cast())
        };
        Self { db, counts }
    }

    /// What was deleted.
    pub fn end(self) -> ReplaceCounts {
        // SAFETY: the counts live until `drop`, and SQLite reads them only while it steps.
        unsafe { self.counts.as_ref() }.replaced
    }
}

impl Drop for ReplaceCounter {
    fn drop(&mut self) {
        // SAFETY: the connection is open (see `new`); the counts came from a box, and nobody has a
        // pointer to them once the hook is removed.
        unsafe {
            ffi::sqlite3_preupdate_hook(self.db.as_ptr(), None, ptr::null_mut());
            drop(Box::from_raw(self.counts.as_ptr()));
        }
    }
}

/// SQLite's preupdate hook: called before each row changes.
unsafe extern "C" fn count_change(
    counts: *mut c_void,
    db: *mut ffi::sqlite3,
    operation: c_int,
    _database: *const c_char,
    _table: *const c_char,
    _before: ffi::sqlite3_int64,
    _after: ffi::sqlite3_int64,
) {
    // SAFETY: SQLite calls with what `new` gave it, on the thread that steps, while `Counting` lives.
    let counts = unsafe { &mut *counts.cast::<Counts>() };
    // SAFETY: these may be called in the hook. Changes by foreign keys have a depth above 0.
    if unsafe { ffi::sqlite3_preupdate_depth(db) } != 0 {
        return;
    }
    match operation {
        ffi::SQLITE_DELETE => {
            counts.replaced.deleted += 1;
            // SAFETY: a DELETE has old values.
            counts.last = Some(unsafe { row(db, ffi::sqlite3_preupdate_old) });
        }
        ffi::SQLITE_INSERT => {
            if let Some(last) = counts.last.take() {
                // SAFETY: an INSERT has new values.
                let now = unsafe { row(db, ffi::sqlite3_preupdate_new) };
                counts.replaced.same += u64::from(now == last);
            }
        }
        _ => {}
    }
}

/// The row before or after, in the hook.
///
/// # Safety
/// To be called in the hook, for an operation that has these values.
unsafe fn row(
    db: *mut ffi::sqlite3,
    value: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *mut *mut ffi::sqlite3_value) -> c_int,
) -> Vec<OwnedValue> {
    // SAFETY: in the hook.
    let columns = unsafe { ffi::sqlite3_preupdate_count(db) };
    let column = |i| {
        let mut pointer = ptr::null_mut();
        // SAFETY: in the hook, of an existing column.
        match unsafe { value(db, i, &raw mut pointer) } {
            // SAFETY: SQLite gave it, and it lives until the hook returns.
            ffi::SQLITE_OK if !pointer.is_null() => unsafe { copy_value(pointer) },
            _ => OwnedValue::Null,
        }
    };
    (0..columns).map(column).collect()
}

/// # Safety
/// The value is alive.
unsafe fn copy_value(value: *mut ffi::sqlite3_value) -> OwnedValue {
    // SAFETY: the value is alive (see above); bytes are copied before SQLite can change them.
    unsafe {
        match ffi::sqlite3_value_type(value) {
            ffi::SQLITE_INTEGER => OwnedValue::Integer(ffi::sqlite3_value_int64(value)),
            ffi::SQLITE_FLOAT => {
                let number = ffi::sqlite3_value_double(value);
                // SQLite stores a double without a fraction as an integer, and reports it as either.
                match number as i64 {
                    integer if integer as f64 == number => OwnedValue::Integer(integer),
                    _ => OwnedValue::Real(number),
                }
            }
            kind @ (ffi::SQLITE_TEXT | ffi::SQLITE_BLOB) => {
                let bytes = ffi::sqlite3_value_blob(value).cast::<u8>();
                let length = usize::try_from(ffi::sqlite3_value_bytes(value)).unwrap_or(0);
                let copy = match bytes.is_null() {
                    true => Vec::new(),
                    false => slice::from_raw_parts(bytes, length).to_vec(),
                };
                OwnedValue::Bytes(kind, copy)
            }
            _ => OwnedValue::Null,
        }
    }
}
