//! Errors, in releases that report each one when it is raised.

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::error;

use super::exchange::catch_panic;
use crate::interface::text::c_text;

/// A row of the server's own table of errors.
#[repr(C)]
struct Row {
    name: *const c_char,
    code: u32,
    text: *const c_char,
    sqlstate: *const c_char,
    jdbc_state: *const c_char,
    index: u32,
}

const _: () = assert!(size_of::<Row>() == 48);

/// The codes whose names were defined, a bit for each.
static DEFINED: [AtomicU64; 1 << 10] = [const { AtomicU64::new(0) }; 1 << 10];

pub unsafe extern "C" fn log_error(code: u32, operation: c_int) {
    catch_panic((), || {
        if let Some(word) = DEFINED.get(code as usize / 64) {
            let bit = 1 << (code % 64);
            if word.load(Ordering::Relaxed) & bit == 0
                && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
                && let Some((name, state)) = lookup(code)
            {
                error::define(code, &name, &state);
            }
        }
        match operation {
            0 => error::raised(code),
            _ => error::handled(code),
        }
    });
}

/// The address of the server's table of errors, and its bytes.
static NAMES: OnceLock<(usize, usize)> = OnceLock::new();

/// Sets the address of the server's table of errors, and its bytes.
pub fn set_names(address: usize, bytes: usize) {
    let _ = NAMES.set((address, bytes));
}

/// Name and SQLSTATE of an error, from the table that the server exports.
fn lookup(code: u32) -> Option<(String, String)> {
    let &(address, bytes) = NAMES.get()?;
    let table = std::ptr::with_exposed_provenance::<Row>(address);
    // SAFETY: `set_names` got the address and the size from the program's file; the rows are constants of the
    // server.
    let rows = unsafe { std::slice::from_raw_parts(table, bytes / size_of::<Row>()) };
    let row = rows
        .iter()
        .find(|row| row.code == code && !row.name.is_null())?;
    // SAFETY: NULL, or C strings of the server's, which are constants.
    let (name, sqlstate) = unsafe { (c_text(row.name), c_text(row.sqlstate)) };
    Some((name.into_owned(), sqlstate.into_owned()))
}
