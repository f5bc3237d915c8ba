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

/// A bit for each code.
type Codes = [AtomicU64; 1 << 10];

/// The codes that were looked up in the server's table, and those of them that it has.
static LOOKED_UP: Codes = [const { AtomicU64::new(0) }; 1 << 10];
static DEFINED: Codes = [const { AtomicU64::new(0) }; 1 << 10];

pub unsafe extern "C" fn log_error(code: u32, operation: c_int) {
    catch_panic((), || {
        let code = if is_defined(code) { code } else { error::OTHER };
        match operation {
            0 => error::raised(code),
            _ => error::handled(code),
        }
    });
}

/// Whether the server has the error. SIGNAL raises any code; as in the server's own engine, those that it
/// does not have are counted together.
fn is_defined(code: u32) -> bool {
    let (Some(looked_up), Some(defined)) = (
        LOOKED_UP.get(code as usize / 64),
        DEFINED.get(code as usize / 64),
    ) else {
        return false;
    };
    let bit = 1 << (code % 64);
    if looked_up.load(Ordering::Acquire) & bit == 0 {
        match lookup(code) {
            Lookup::Listed(name, state) => {
                error::define(code, &name, &state);
                defined.fetch_or(bit, Ordering::Relaxed);
            }
            Lookup::NoTable => {
                defined.fetch_or(bit, Ordering::Relaxed);
            }
            Lookup::Missing => {}
        }
        // Release: whoever finds the bit also finds that of `DEFINED`.
        looked_up.fetch_or(bit, Ordering::Release);
    }
    defined.load(Ordering::Relaxed) & bit != 0
}

/// The address of the server's table of errors, and its bytes.
static NAMES: OnceLock<(usize, usize)> = OnceLock::new();

/// Sets the address of the server's table of errors, and its bytes.
pub fn set_names(address: usize, bytes: usize) {
    let _ = NAMES.set((address, bytes));
}

/// What the server's table has of a code.
enum Lookup {
    /// Name and SQLSTATE.
    Listed(String, String),
    Missing,
    /// The address of the table is unknown.
    NoTable,
}

/// Looks an error up in the table that the server exports.
fn lookup(code: u32) -> Lookup {
    let Some(&(address, bytes)) = NAMES.get() else {
        return Lookup::NoTable;
    };
    let table = std::ptr::with_exposed_provenance::<Row>(address);
    // SAFETY: `set_names` got the address and the size from the program's file; the rows are constants of the
    // server.
    let rows = unsafe { std::slice::from_raw_parts(table, bytes / size_of::<Row>()) };
    let mut named = rows.iter().filter(|row| !row.name.is_null());
    let Some(row) = named.find(|row| row.code == code) else {
        return Lookup::Missing;
    };
    // SAFETY: NULL, or C strings of the server's, which are constants.
    let (name, sqlstate) = unsafe { (c_text(row.name), c_text(row.sqlstate)) };
    Lookup::Listed(name.into_owned(), sqlstate.into_owned())
}
