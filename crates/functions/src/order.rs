//! Collations: the orders of texts that SQLite asks for, with its own bytes.
//!
//! rusqlite's closures take texts, and so every comparison would first read both to their ends, to learn
//! that they are UTF-8. A sort of a hundred rows compares six hundred times.

use std::cmp::Ordering;
use std::ffi::{CStr, c_int, c_void};
use std::panic::catch_unwind;
use std::{ptr, slice};

use rusqlite::{Connection, Error, ffi};

/// An order of texts.
trait Order {
    /// What statements call it.
    const NAME: &'static CStr;
    /// How two texts stand to each other. They need not be UTF-8.
    fn compare(a: &[u8], b: &[u8]) -> Ordering;
}

/// NOCASE for all letters. SQLite's own ignores the case of ASCII letters only, and compares trailing spaces.
struct General;

impl Order for General {
    const NAME: &'static CStr = c"NOCASE";

    fn compare(a: &[u8], b: &[u8]) -> Ordering {
        tare_mysql::collation::compare_bytes(a, b)
    }
}

/// TIMEs.
struct Time;

impl Order for Time {
    const NAME: &'static CStr = c"tare_time";

    fn compare(a: &[u8], b: &[u8]) -> Ordering {
        let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
        tare_mysql::date::read::compare_times(&a, &b)
    }
}

/// Exact numbers.
struct Exact;

impl Order for Exact {
    const NAME: &'static CStr = c"tare_decimal";

    fn compare(a: &[u8], b: &[u8]) -> Ordering {
        tare_mysql::decimal::compare(a, b)
    }
}

/// JSON documents.
struct Document;

impl Order for Document {
    const NAME: &'static CStr = c"tare_json";

    fn compare(a: &[u8], b: &[u8]) -> Ordering {
        crate::json::compare(a, b)
    }
}

/// A collation in which all texts are equal, so that UNION does not compare a column.
struct Any;

impl Order for Any {
    const NAME: &'static CStr = c"tare_any";

    fn compare(_: &[u8], _: &[u8]) -> Ordering {
        Ordering::Equal
    }
}

/// Gives a connection all of them.
pub fn register(db: &Connection) -> rusqlite::Result<()> {
    add::<General>(db)?;
    add::<Any>(db)?;
    add::<Time>(db)?;
    add::<Document>(db)?;
    add::<Exact>(db)
}

fn add<O: Order>(db: &Connection) -> rusqlite::Result<()> {
    // SAFETY: the connection is open, the name ends with a zero, and `compare` needs no data.
    let rc = unsafe {
        ffi::sqlite3_create_collation_v2(
            db.handle(),
            O::NAME.as_ptr(),
            ffi::SQLITE_UTF8,
            ptr::null_mut(),
            Some(compare::<O>),
            None,
        )
    };
    match rc {
        ffi::SQLITE_OK => Ok(()),
        _ => Err(Error::SqliteFailure(ffi::Error::new(rc), None)),
    }
}

unsafe extern "C" fn compare<O: Order>(
    _: *mut c_void,
    a_len: c_int,
    a: *const c_void,
    b_len: c_int,
    b: *const c_void,
) -> c_int {
    // SAFETY: SQLite passes two texts and their lengths in bytes, which it leaves as they are until this
    // returns.
    let (a, b) = unsafe { (bytes(a, a_len), bytes(b, b_len)) };
    // A panic must not unwind into C: where nothing is known, all are equal.
    catch_unwind(|| O::compare(a, b)).unwrap_or(Ordering::Equal) as c_int
}

/// # Safety
/// `len` bytes that live for `'a`; null only where there are none.
unsafe fn bytes<'a>(text: *const c_void, len: c_int) -> &'a [u8] {
    match usize::try_from(len) {
        // SAFETY: by the caller's promise.
        Ok(len) if len > 0 => unsafe { slice::from_raw_parts(text.cast(), len) },
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So a statement that names one of them is refused: see `rewrite::visit` in crates/dialect.
    #[test]
    fn no_collation_of_the_evaluation_is_one_of_mysql() {
        let db = Connection::open_in_memory().expect("opens");
        register(&db).expect("registers");
        let mut list = db
            .prepare("SELECT name FROM pragma_collation_list")
            .expect("prepares");
        let names = list.query_map([], |row| row.get(0)).expect("runs");
        let names: Vec<String> = names.collect::<Result<_, _>>().expect("texts");
        assert!(names.iter().any(|name| name == "tare_any"), "{names:?}");
        for name in names.iter().filter(|name| *name != "BINARY") {
            let result = tare_mysql::charset::check_collation(name, None);
            assert_eq!(result.map_err(|error| error.code), Err(1273), "{name}");
        }
    }
}
