//! Collations: the orders of texts that SQLite asks for, with its own bytes.
//!
//! rusqlite's closures take texts, and so every comparison would first read both to their ends, to learn
//! that they are UTF-8. A sort of a hundred rows compares six hundred times.

use std::cmp::Ordering;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use rusqlite::{Connection, Error, ffi};
use tare_mysql::watch;

use crate::evaluation::EvaluationContext;

/// An order of texts.
trait Order {
    /// What statements call it.
    const NAME: &'static CStr;
    /// How two texts stand to each other. They need not be UTF-8. Nobody's answer, where `stop` says so.
    fn compare(a: &[u8], b: &[u8], stop: &dyn Fn() -> bool) -> Ordering;
}

/// SQLite's own knows no letters but ASCII's, and counts spaces at the end.
struct General;

impl Order for General {
    const NAME: &'static CStr = c"NOCASE";

    fn compare(a: &[u8], b: &[u8], stop: &dyn Fn() -> bool) -> Ordering {
        tare_mysql::collation::compare_bytes(a, b, stop)
    }
}

/// TIMEs.
struct Time;

impl Order for Time {
    const NAME: &'static CStr = c"tare_time";

    fn compare(a: &[u8], b: &[u8], _: &dyn Fn() -> bool) -> Ordering {
        let (a, b) = (watch::lossy(a), watch::lossy(b));
        tare_mysql::date::read::compare_times(&a, &b)
    }
}

/// Exact numbers.
struct Exact;

impl Order for Exact {
    const NAME: &'static CStr = c"tare_decimal";

    fn compare(a: &[u8], b: &[u8], _: &dyn Fn() -> bool) -> Ordering {
        tare_mysql::decimal::compare(a, b)
    }
}

/// All texts are the same: UNION leaves a column out of what it compares.
struct Any;

impl Order for Any {
    const NAME: &'static CStr = c"tare_any";

    fn compare(_: &[u8], _: &[u8], _: &dyn Fn() -> bool) -> Ordering {
        Ordering::Equal
    }
}

/// Gives a connection all of them, for a session.
pub fn register(db: &Connection, session: &Arc<dyn EvaluationContext>) -> rusqlite::Result<()> {
    add::<General>(db, session)?;
    add::<Any>(db, session)?;
    add::<Time>(db, session)?;
    add::<Exact>(db, session)
}

/// What a comparison asks whether its statement must end.
type Asked = Arc<dyn EvaluationContext>;

fn add<O: Order>(db: &Connection, session: &Asked) -> rusqlite::Result<()> {
    let asked = Box::into_raw(Box::new(session.clone()));
    // SAFETY: the connection is open; the name ends with a zero; `asked` is an `Asked` that `forget` frees,
    // which SQLite calls when the connection ends.
    let rc = unsafe {
        ffi::sqlite3_create_collation_v2(
            db.handle(),
            O::NAME.as_ptr(),
            ffi::SQLITE_UTF8,
            asked.cast(),
            Some(compare::<O>),
            Some(forget),
        )
    };
    if rc == ffi::SQLITE_OK {
        return Ok(());
    }
    // SAFETY: it came from a box, and SQLite does not call `forget` of what it has refused.
    drop(unsafe { Box::from_raw(asked) });
    Err(Error::SqliteFailure(ffi::Error::new(rc), None))
}

unsafe extern "C" fn forget(asked: *mut c_void) {
    // SAFETY: `add` made it, and SQLite gives it back once.
    drop(unsafe { Box::from_raw(asked.cast::<Asked>()) });
}

unsafe extern "C" fn compare<O: Order>(
    asked: *mut c_void,
    a_len: c_int,
    a: *const c_void,
    b_len: c_int,
    b: *const c_void,
) -> c_int {
    // SAFETY: SQLite passes two texts and their lengths in bytes, which it leaves as they are until this
    // returns.
    let (a, b) = unsafe { (bytes(a, a_len), bytes(b, b_len)) };
    // SAFETY: `add` made it, and it lives until SQLite calls `forget`.
    let asked = unsafe { &*asked.cast::<Asked>() };
    // A sort asks for nothing else. What comes of wrong answers nobody sees: a statement that changes rows
    // gets right ones.
    if watch::may_cut(a.len().saturating_add(b.len())) {
        return 0;
    }
    // A panic must not unwind into C: where nothing is known, all are equal.
    let found = catch_unwind(AssertUnwindSafe(|| {
        O::compare(a, b, &|| watch::may_cut_if(|| asked.must_stop()))
    }));
    found.unwrap_or(Ordering::Equal) as c_int
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
