//! Statements, digests and stages.

use std::ffi::{c_char, c_int};

use engine::digest::{Digest, MAX_DIGEST_LENGTH, normalize};
use engine::statement::Statement;
use engine::{Counter, Kind};

use crate::class::{of_kind, tare_class};
use crate::place::{Place, Placed, fits};
use crate::status::{Failure, Outcome, door, quiet};
use crate::text::{bytes_of, text, text_of};

/// `struct tare_statement`.
pub type tare_statement = Place<Statement>;

impl Placed for Statement {
    const MARK: u64 = u64::from_le_bytes(*b"tarestmt");
    const NAME: &'static str = "statement";
}

const _: () = fits::<Statement>(40);

/// `enum tare_counter`, in its order.
const COUNTERS: [Counter; 19] = [
    Counter::LockTime,
    Counter::Errors,
    Counter::Warnings,
    Counter::RowsAffected,
    Counter::RowsSent,
    Counter::RowsExamined,
    Counter::CreatedTmpDiskTables,
    Counter::CreatedTmpTables,
    Counter::SelectFullJoin,
    Counter::SelectFullRangeJoin,
    Counter::SelectRange,
    Counter::SelectRangeCheck,
    Counter::SelectScan,
    Counter::SortMergePasses,
    Counter::SortRange,
    Counter::SortRows,
    Counter::SortScan,
    Counter::NoIndexUsed,
    Counter::NoGoodIndexUsed,
];

pub(crate) fn counter(number: c_int) -> Option<Counter> {
    COUNTERS.get(usize::try_from(number).ok()?).copied()
}

/// Runs something on a statement that runs.
///
/// # Safety
/// `statement` as [`Place::get`].
#[inline]
pub(crate) unsafe fn with(statement: *const tare_statement, body: impl FnOnce(&Statement)) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(statement) = unsafe { Place::get(statement) } {
            body(statement);
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::put`], `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_begin(
    statement: *mut tare_statement,
    class: *mut tare_class,
) {
    // SAFETY: the caller's promise, throughout.
    quiet((), || unsafe {
        if statement.is_null() {
            return;
        }
        // A statement is large: one that is not recorded is not even made.
        let class = of_kind(class, |kind| kind == Kind::Statement);
        match class.filter(|_| engine::is_running()) {
            Some(class) => Place::put(statement, engine::statement::start(class)),
            None => Place::clear(statement),
        }
    });
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::end`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_end(statement: *mut tare_statement) {
    // SAFETY: the caller's promise.
    quiet((), || unsafe { Place::end(statement, |_| ()) });
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_is_recorded(statement: *const tare_statement) -> c_int {
    quiet(0, || {
        // SAFETY: the caller's promise.
        let statement = unsafe { Place::get(statement) };
        c_int::from(statement.is_some_and(Statement::is_recorded))
    })
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`], `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_refine(
    statement: *mut tare_statement,
    class: *mut tare_class,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with(statement, |statement| {
            if let Some(class) = of_kind(class, |kind| kind == Kind::Statement) {
                statement.refine(class);
            }
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`], the text as [`text_of`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_text(
    statement: *mut tare_statement,
    text: *const c_char,
    length: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with(statement, |statement| {
            if statement.is_recorded() {
                statement.text(&text_of(text, length));
            }
        });
    }
}

/// `struct tare_digest`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tare_digest {
    hash: [u8; 32],
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`], the text as [`text_of`], `digest` NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_prepared(
    statement: *mut tare_statement,
    text: *const c_char,
    length: usize,
    digest: *const tare_digest,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with(statement, |statement| {
            if !statement.is_recorded() {
                return;
            }
            let text = text_of(text, length);
            match digest.as_ref() {
                Some(digest) => statement.prepared(&text, &Digest { hash: digest.hash }),
                None => statement.text(&text),
            }
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`], `name` NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_schema(
    statement: *mut tare_statement,
    name: *const c_char,
) {
    // SAFETY: the caller's promise.
    unsafe { with(statement, |statement| statement.schema(&text(name))) };
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_set(
    statement: *mut tare_statement,
    number: c_int,
    value: u64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with(statement, |statement| {
            if let Some(counter) = counter(number) {
                statement.set(counter, value);
            }
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_add(statement: *mut tare_statement, number: c_int, n: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        with(statement, |statement| {
            if let Some(counter) = counter(number) {
                statement.add(counter, n);
            }
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `statement` as [`Place::get`], the texts NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_error(
    statement: *mut tare_statement,
    number: u32,
    sqlstate: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the caller's promise.
    unsafe {
        with(statement, |statement| {
            statement.error(number, &text(sqlstate), &text(message));
        });
    }
}

/// See `tare.h`.
///
/// # Safety
/// `digest` is NULL or writable, the text as [`text_of`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_digest_of(
    digest: *mut tare_digest,
    text: *const c_char,
    length: usize,
) -> c_int {
    door(|| {
        // SAFETY: the caller's promise.
        let digest = unsafe { digest.as_mut() }.ok_or_else(|| Failure::null("the digest"))?;
        // SAFETY: the caller's promise.
        digest.hash = Digest::of(&unsafe { text_of(text, length) }).hash;
        Ok(Outcome::Done)
    })
}

/// See `tare.h`.
///
/// # Safety
/// The text as [`text_of`]; `out` is NULL or of `size` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_digest_text(
    text: *const c_char,
    length: usize,
    out: *mut c_char,
    size: usize,
) -> usize {
    quiet(0, || {
        if out.is_null() || size == 0 {
            return 0;
        }
        let mut digest = Vec::with_capacity(MAX_DIGEST_LENGTH);
        // SAFETY: the caller's promise.
        normalize(
            unsafe { bytes_of(text, length) },
            MAX_DIGEST_LENGTH.min(size - 1),
            &mut digest,
        );
        // SAFETY: `out` has `size` bytes, of which the digest takes at most `size - 1`.
        unsafe {
            std::ptr::copy_nonoverlapping(digest.as_ptr(), out.cast(), digest.len());
            *out.add(digest.len()) = 0;
        }
        digest.len()
    })
}

/// See `tare.h`.
///
/// # Safety
/// `class` as [`of_kind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_stage_set(class: *mut tare_class) {
    quiet((), || {
        // SAFETY: the caller's promise.
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Stage) } {
            engine::stage::set(class);
        }
    });
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_stage_end() {
    quiet((), engine::stage::end);
}

/// See `tare.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tare_stage_progress(completed: u64, estimated: u64) {
    quiet((), || engine::stage::progress(completed, estimated));
}
