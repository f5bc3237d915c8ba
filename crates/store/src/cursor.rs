//! A statement that runs: its parameters, its rows, SQLite's counters.
//!
//! A session steps through the rows straight into the client's buffer.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::ptr::NonNull;
use std::slice;

use rusqlite::ffi;
use tare_mysql::wire::value::Value;

use super::error::{Error, Result};
use super::replaced::ReplaceCounter;
use super::stack;
use super::statement::failure;

/// A statement that runs. Dropped, it is reset: its read transaction ends.
#[derive(Debug)]
pub struct Cursor<'c> {
    raw: NonNull<ffi::sqlite3_stmt>,
    db: NonNull<ffi::sqlite3>,
    /// Whether its text nests deeply, which counts when SQLite prepares it again after a change of a schema.
    deep: bool,
    _connection: std::marker::PhantomData<&'c ()>,
}

impl<'c> Cursor<'c> {
    /// Begins to run a statement.
    ///
    /// # Safety
    /// `raw` is a statement of `db`; for `'c` it is not finalized, and no other thread uses `db`.
    pub unsafe fn new(
        raw: NonNull<ffi::sqlite3_stmt>,
        db: NonNull<ffi::sqlite3>,
        deep: bool,
    ) -> Self {
        Self {
            raw,
            db,
            deep,
            _connection: std::marker::PhantomData,
        }
    }

    fn stmt(&self) -> *mut ffi::sqlite3_stmt {
        self.raw.as_ptr()
    }

    /// Gives parameter `index` (from 1) a value.
    pub fn bind(&mut self, index: usize, value: Value<'_>) -> Result<()> {
        let i = index as c_int;
        // SAFETY: the statement is live (see `new`); text and bytes are copied by SQLite during
        // the call (SQLITE_TRANSIENT), their lengths are those of the slices.
        let rc = unsafe {
            match value {
                Value::Null => ffi::sqlite3_bind_null(self.stmt(), i),
                Value::Int(n) => ffi::sqlite3_bind_int64(self.stmt(), i, n),
                Value::Real(x) => ffi::sqlite3_bind_double(self.stmt(), i, x),
                Value::Text(t) => ffi::sqlite3_bind_text64(
                    self.stmt(),
                    i,
                    t.as_ptr().cast(),
                    t.len() as u64,
                    ffi::SQLITE_TRANSIENT(),
                    ffi::SQLITE_UTF8 as u8,
                ),
                Value::Blob(b) => ffi::sqlite3_bind_blob64(
                    self.stmt(),
                    i,
                    b.as_ptr().cast(),
                    b.len() as u64,
                    ffi::SQLITE_TRANSIENT(),
                ),
            }
        };
        if rc == ffi::SQLITE_OK {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    fn error(&self) -> Error {
        // SAFETY: the connection is open and ours for as long as the cursor (see `new`).
        unsafe { failure(self.db.as_ptr()) }
    }

    /// Goes to the next row; false after the last one.
    #[inline]
    pub fn step(&mut self) -> Result<bool> {
        // SAFETY: the statement is live (see `new`).
        match stack::with_stack(self.deep, || unsafe { ffi::sqlite3_step(self.stmt()) }) {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => Ok(false),
            _ => Err(self.error()),
        }
    }

    /// How many columns a row has; 0 for a statement that returns none.
    pub fn columns(&self) -> usize {
        // SAFETY: the statement is live (see `new`).
        unsafe { ffi::sqlite3_column_count(self.stmt()) as usize }
    }

    /// How often SQLite has prepared the statement anew because the schema changed.
    pub fn reprepared(&self) -> i32 {
        // SAFETY: the statement is live (see `new`).
        unsafe { ffi::sqlite3_stmt_status(self.stmt(), ffi::SQLITE_STMTSTATUS_REPREPARE, 0) }
    }

    /// Rows that were stepped over in full scans, and whether there was a sort, since the last
    /// call.
    pub fn scan_status(&mut self) -> (i32, i32) {
        // SAFETY: the statement is live (see `new`).
        unsafe {
            (
                ffi::sqlite3_stmt_status(self.stmt(), ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP, 1),
                ffi::sqlite3_stmt_status(self.stmt(), ffi::SQLITE_STMTSTATUS_SORT, 1),
            )
        }
    }

    /// Counts the rows that a REPLACE deletes, from now on.
    pub fn count_replaced(&self) -> ReplaceCounter {
        // SAFETY: the connection is open for as long as its cursor lives, which is this thread's.
        unsafe { ReplaceCounter::new(self.db) }
    }

    /// Steps of SQLite's machine since the last call.
    pub fn steps(&mut self) -> u64 {
        // SAFETY: the statement is live (see `new`).
        let steps =
            unsafe { ffi::sqlite3_stmt_status(self.stmt(), ffi::SQLITE_STMTSTATUS_VM_STEP, 1) };
        // SQLite counts in 32 bits, which may have wrapped.
        u64::from(steps as u32)
    }

    /// A column of the current row.
    #[inline]
    pub fn value(&self, column: usize) -> Value<'_> {
        let (stmt, i) = (self.stmt(), column as c_int);
        // SAFETY: the statement is live; the text or blob that SQLite returns stays valid until
        // the next step, reset or conversion of that column, none of which can happen while the
        // returned value borrows `self`: this function reads each type without converting.
        unsafe {
            match ffi::sqlite3_column_type(stmt, i) {
                ffi::SQLITE_INTEGER => Value::Int(ffi::sqlite3_column_int64(stmt, i)),
                ffi::SQLITE_FLOAT => Value::Real(ffi::sqlite3_column_double(stmt, i)),
                ffi::SQLITE_TEXT => {
                    let text = ffi::sqlite3_column_text(stmt, i);
                    Value::Text(bytes(text, ffi::sqlite3_column_bytes(stmt, i)))
                }
                ffi::SQLITE_BLOB => {
                    let blob = ffi::sqlite3_column_blob(stmt, i);
                    Value::Blob(bytes(blob.cast(), ffi::sqlite3_column_bytes(stmt, i)))
                }
                _ => Value::Null,
            }
        }
    }

    /// What a column of the result is called.
    pub fn name(&self, column: usize) -> &str {
        // SAFETY: the statement is live, and the name is until it is finalized or prepared anew.
        unsafe { text(ffi::sqlite3_column_name(self.stmt(), column as c_int)) }.unwrap_or("")
    }

    /// The declared type of the table's column behind a column of the result.
    pub fn decltype(&self, column: usize) -> Option<&str> {
        // SAFETY: as in `name`.
        unsafe { text(ffi::sqlite3_column_decltype(self.stmt(), column as c_int)) }
    }

    /// Database, table and column behind a column of the result.
    pub fn origin(&self, column: usize) -> Option<(&str, &str, &str)> {
        let (stmt, i) = (self.stmt(), column as c_int);
        // SAFETY: as in `name`.
        unsafe {
            Some((
                text(ffi::sqlite3_column_database_name(stmt, i))?,
                text(ffi::sqlite3_column_table_name(stmt, i))?,
                text(ffi::sqlite3_column_origin_name(stmt, i))?,
            ))
        }
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: the statement is live (see `new`). The result repeats an error of `step`.
        unsafe {
            ffi::sqlite3_reset(self.stmt());
        }
    }
}

/// # Safety
/// `pointer` is null, or `len` bytes that live for `'a`.
unsafe fn bytes<'a>(pointer: *const u8, len: c_int) -> &'a [u8] {
    match usize::try_from(len) {
        // SAFETY: `pointer` is not null, and has `len` bytes (see above).
        Ok(len) if len > 0 && !pointer.is_null() => unsafe { slice::from_raw_parts(pointer, len) },
        _ => &[],
    }
}

/// # Safety
/// `pointer` is null, or a C string that lives for `'a`.
unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, so a C string (see above).
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}
