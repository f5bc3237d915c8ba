//! Statements, digests and stages.

use std::ffi::{c_char, c_int};

use engine::digest::{Digest, MAX_DIGEST_LENGTH, normalize};
use engine::statement::Statement;
use engine::{Counter, Kind};

use crate::class::{of_kind, tare_class};
use crate::place::{HostObject, Place, assert_fits};
use crate::status::{Failure, Outcome, catch_panic, return_status};
use crate::text::{bytes_of, text, text_of};

/// `struct tare_statement`.
pub type tare_statement = Place<Statement>;

impl HostObject for Statement {
    const MARK: u64 = u64::from_le_bytes(*b"tarestmt");
    const NAME: &'static str = "statement";
}

const _: () = assert_fits::<Statement>(40);

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

/// A counter's value in the engine's unit: the host has no ticks, so it gives microseconds.
fn in_engine_unit(counter: Counter, value: u64) -> u64 {
    match counter {
        Counter::LockTime => engine::statement::ticks_of_us(value),
        _ => value,
    }
}

/// Runs `body` on a statement that runs.
///
/// # Safety
/// `statement` as [`Place::get`].
#[inline]
pub(crate) unsafe fn with(statement: *const tare_statement, body: impl FnOnce(&Statement)) {
    catch_panic((), || {
        // SAFETY: rule 8 (a struct that stays at its address).
        if let Some(statement) = unsafe { Place::get(statement) } {
            body(statement);
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_begin(
    statement: *mut tare_statement,
    class: *mut tare_class,
) {
    // SAFETY: rules 1, 3 and 4 (a registered class, and a struct of the calling thread).
    catch_panic((), || unsafe {
        if statement.is_null() {
            return;
        }
        // A statement is large: one that is not recorded is not built.
        let class = of_kind(class, |kind| kind == Kind::Statement);
        match class.filter(|_| engine::is_running()) {
            Some(class) => Place::put(statement, engine::statement::start(class)),
            None => Place::clear(statement),
        }
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_end(statement: *mut tare_statement) {
    // SAFETY: rules 3 and 4 (a struct of the calling thread).
    catch_panic((), || unsafe { Place::end(statement, |_| ()) });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_is_recorded(statement: *const tare_statement) -> c_int {
    catch_panic(0, || {
        // SAFETY: rule 3 (a struct that stays at its address).
        let statement = unsafe { Place::get(statement) };
        c_int::from(statement.is_some_and(Statement::is_recorded))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_refine(
    statement: *mut tare_statement,
    class: *mut tare_class,
) {
    // SAFETY: rules 1 and 3 (a registered class, and a struct that stays at its address).
    unsafe {
        with(statement, |statement| {
            if let Some(class) = of_kind(class, |kind| kind == Kind::Statement) {
                statement.refine(class);
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_text(
    statement: *mut tare_statement,
    text: *const c_char,
    length: usize,
) {
    // SAFETY: rules 3 and 5 (a struct that stays at its address, and a readable text).
    unsafe {
        with(statement, |statement| {
            if statement.is_recorded() {
                statement.text(&text_of(text, length));
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_shape(
    statement: *mut tare_statement,
    shape: *const c_char,
    text: *const c_char,
    length: usize,
) {
    // SAFETY: rules 3 and 5 (a struct that stays at its address, and readable texts).
    unsafe {
        with(statement, |statement| {
            if !statement.is_recorded() {
                return;
            }
            let shape = crate::text::text(shape);
            if text.is_null() {
                return statement.shape(&shape);
            }
            let text = text_of(text, length);
            statement.text_only(&text);
            statement.digest_by_shape(&shape, &text);
        });
    }
}

/// `struct tare_digest`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tare_digest {
    hash: [u8; 32],
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_prepared(
    statement: *mut tare_statement,
    text: *const c_char,
    length: usize,
    digest: *const tare_digest,
) {
    // SAFETY: rules 3 and 5 (structs that stay at their addresses, and a readable text).
    unsafe {
        with(statement, |statement| {
            if !statement.is_recorded() {
                return;
            }
            let text = text_of(text, length);
            match digest.as_ref() {
                Some(digest) => statement.prepared(&text, &Digest::of_hash(digest.hash)),
                None => statement.text(&text),
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_schema(
    statement: *mut tare_statement,
    name: *const c_char,
) {
    // SAFETY: rules 3 and 5 (a struct that stays at its address, and a readable text).
    unsafe { with(statement, |statement| statement.schema(&text(name))) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_set(
    statement: *mut tare_statement,
    number: c_int,
    value: u64,
) {
    // SAFETY: rule 3 (a struct that stays at its address).
    unsafe {
        with(statement, |statement| {
            if let Some(counter) = counter(number) {
                statement.set(counter, in_engine_unit(counter, value));
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_add(statement: *mut tare_statement, number: c_int, n: u64) {
    // SAFETY: rule 3 (a struct that stays at its address).
    unsafe {
        with(statement, |statement| {
            if let Some(counter) = counter(number) {
                statement.add(counter, in_engine_unit(counter, n));
            }
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_statement_error(
    statement: *mut tare_statement,
    number: u32,
    sqlstate: *const c_char,
    message: *const c_char,
) {
    // SAFETY: rules 3 and 5 (a struct that stays at its address, and a readable text).
    unsafe {
        with(statement, |statement| {
            statement.error(number, &text(sqlstate), &text(message));
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_digest_of(
    digest: *mut tare_digest,
    text: *const c_char,
    length: usize,
) -> c_int {
    return_status(|| {
        // SAFETY: rule 6 (NULL, or writable).
        let digest = unsafe { digest.as_mut() }.ok_or_else(|| Failure::null("the digest"))?;
        // SAFETY: rule 5 (NULL, or a readable text).
        digest.hash = Digest::of(&unsafe { text_of(text, length) }).hash();
        Ok(Outcome::Done)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_digest_text(
    text: *const c_char,
    length: usize,
    out: *mut c_char,
    size: usize,
) -> usize {
    catch_panic(0, || {
        if out.is_null() || size == 0 {
            return 0;
        }
        let mut digest = Vec::with_capacity(MAX_DIGEST_LENGTH);
        // SAFETY: rule 5 (NULL, or a readable text).
        normalize(
            unsafe { bytes_of(text, length) },
            MAX_DIGEST_LENGTH.min(size - 1),
            &mut digest,
        );
        // SAFETY: rule 6 (`out` has `size` bytes, of which the digest takes at most `size - 1`).
        unsafe {
            std::ptr::copy_nonoverlapping(digest.as_ptr(), out.cast(), digest.len());
            *out.add(digest.len()) = 0;
        }
        digest.len()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_stage_set(class: *mut tare_class) {
    catch_panic((), || {
        // SAFETY: rule 1 (NULL, or a registered class).
        if let Some(class) = unsafe { of_kind(class, |kind| kind == Kind::Stage) } {
            engine::stage::set(class);
        }
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_stage_end() {
    catch_panic((), engine::stage::end);
}

#[unsafe(no_mangle)]
pub extern "C" fn tare_stage_progress(completed: u64, estimated: u64) {
    catch_panic((), || engine::stage::progress(completed, estimated));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_locks_is_in_microseconds() {
        let second = in_engine_unit(Counter::LockTime, 1_000_000);
        assert_eq!(in_engine_unit(Counter::LockTime, 3_000_000), 3 * second);
        // A tick is one cycle of the processor, or a nanosecond.
        assert!((100_000_000..20_000_000_000).contains(&second), "{second}");
        assert!(in_engine_unit(Counter::LockTime, u64::MAX) > second);
        assert_eq!(in_engine_unit(Counter::RowsSent, 7), 7);
    }
}
