//! Prepared statements of SQLite, close to its C interface.
//!
//! A session keeps hundreds of statements prepared between executions; rusqlite's statements borrow
//! their connection, which a session that owns both cannot express. Here a [`Statements`] owns them
//! all, and finalizes them before the connection closes; a [`Cursor`](super::cursor::Cursor) borrows
//! the connection while it runs.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::ptr::NonNull;

use rusqlite::ffi;

use super::error::{Error, Result};
use super::metrics;

/// Names a prepared statement of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StatementId(u32);

impl StatementId {
    /// The bit of statements of the connection that has only the system schemas.
    const SYSTEM: u32 = 1 << 31;

    /// The same number, of the connection that has only the system schemas.
    #[must_use]
    pub fn of_system(self) -> Self {
        Self(self.0 | Self::SYSTEM)
    }

    /// Whether it is that connection's.
    pub fn is_system(self) -> bool {
        self.0 & Self::SYSTEM != 0
    }

    fn index(self) -> usize {
        (self.0 & !Self::SYSTEM) as usize
    }
}

/// The prepared statements of one connection.
#[derive(Debug, Default)]
pub struct Statements {
    /// The statements, and whether each needs a deep stack.
    slots: Vec<Option<(NonNull<ffi::sqlite3_stmt>, bool)>>,
    free: Vec<u32>,
}

// SAFETY: a statement may be used by any thread, one at a time, as its connection may; `Statements`
// is only reached through the `Connection` that owns it, which is not Sync.
unsafe impl Send for Statements {}

/// SQLite's last error on a connection; SQLITE_BUSY is counted.
///
/// # Safety
/// `db` is an open connection that no other thread uses.
pub(super) unsafe fn failure(db: *mut ffi::sqlite3) -> Error {
    // SAFETY: `db` is open (see above); the message is valid until the next call.
    let (code, message) = unsafe {
        let message = ffi::sqlite3_errmsg(db);
        (
            ffi::sqlite3_extended_errcode(db),
            CStr::from_ptr(message).to_string_lossy(),
        )
    };
    metrics::count_refusal(code);
    Error::from_sqlite(code, message)
}

impl Statements {
    /// Prepares one statement.
    ///
    /// # Safety
    /// `db` is open, used by no other thread, and closed only after `self` was cleared.
    pub unsafe fn prepare(
        &mut self,
        db: *mut ffi::sqlite3,
        sql: &str,
        deep: bool,
    ) -> Result<StatementId> {
        let mut raw = std::ptr::null_mut();
        let len = c_int::try_from(sql.len()).map_err(|_| Error::TooLong)?;
        // SAFETY: `db` is open (see above); the text is `len` bytes long; the result
        // goes to a local.
        let rc = unsafe {
            ffi::sqlite3_prepare_v3(
                db,
                sql.as_ptr().cast::<c_char>(),
                len,
                ffi::SQLITE_PREPARE_PERSISTENT,
                &mut raw,
                std::ptr::null_mut(),
            )
        };
        if rc != ffi::SQLITE_OK {
            // SAFETY: `db` is open (see above).
            return Err(unsafe { failure(db) });
        }
        let raw = NonNull::new(raw).ok_or(Error::Empty)?;
        let slot = Some((raw, deep));
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        Ok(StatementId(id))
    }

    /// The statement of that id, and whether it needs a deep stack.
    pub fn raw(&self, id: StatementId) -> Option<(NonNull<ffi::sqlite3_stmt>, bool)> {
        self.slots.get(id.index()).copied().flatten()
    }

    /// Finalizes a statement.
    pub fn close(&mut self, id: StatementId) {
        if let Some((raw, _)) = self.slots.get_mut(id.index()).and_then(Option::take) {
            // SAFETY: the statement came from sqlite3_prepare_v3 and was just taken from its
            // slot, so that it cannot be finalized again; its connection is still open.
            unsafe { ffi::sqlite3_finalize(raw.as_ptr()) };
            self.free.push(id.index() as u32);
        }
    }

    /// Finalizes all.
    pub fn clear(&mut self) {
        for id in 0..self.slots.len() {
            self.close(StatementId(id as u32));
        }
    }
}

impl Drop for Statements {
    fn drop(&mut self) {
        self.clear();
    }
}
