//! Errors, of series that tell of each when it is raised.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::error;

use super::exchange::quiet;
use crate::series::Interface;

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

/// Codes whose names were looked for, a bit for each.
static LOOKED_FOR: [AtomicU64; 1 << 10] = [const { AtomicU64::new(0) }; 1 << 10];

/// # Safety
/// The interface.
pub unsafe extern "C" fn log_error<S: Interface>(code: u32, operation: c_int) {
    quiet((), || {
        if let Some(word) = LOOKED_FOR.get(code as usize / 64) {
            let bit = 1 << (code % 64);
            if word.load(Ordering::Relaxed) & bit == 0
                && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
                && let Some((name, state)) = named::<S>(code)
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

/// Name and SQLSTATE of an error, from the table that the server exports.
fn named<S: Interface>(code: u32) -> Option<(String, String)> {
    let (symbol, rows) = S::ERROR_NAMES?;
    // SAFETY: a C string; the symbol is only looked for.
    let table: *const c_void = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
    if table.is_null() {
        return None;
    }
    // SAFETY: the series says how many rows it has; they are constants of the server.
    let rows = unsafe { std::slice::from_raw_parts(table.cast::<Row>(), rows) };
    let row = rows
        .iter()
        .find(|row| row.code == code && !row.name.is_null())?;
    let text = |at: *const c_char| match at.is_null() {
        true => String::new(),
        // SAFETY: a C string of the server's, a constant.
        false => unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned(),
    };
    Some((text(row.name), text(row.sqlstate)))
}
