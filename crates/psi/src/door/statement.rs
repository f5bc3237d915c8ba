//! Statements and their digests.

use std::borrow::Cow;
use std::ffi::{c_char, c_void};
use std::ptr;

use engine::statement::{self, Statement};
use engine::{Counter, Kind, Source};

use super::exchange::{NONE, catch_panic, end, source};
use super::keys;
use super::level;
use super::thread;
use crate::interface::charset::{text_in, utf8_bytes};
use crate::interface::{Interface, Outcome, Tokens};

/// The data of a statement until its end, in the state of at least 256 bytes that the server lends.
pub(super) struct Locker {
    pub statement: Statement,
    /// The text, which lives as long as the statement.
    text: *const c_char,
    length: u32,
    /// The client's character set.
    charset: *const c_void,
    /// The parser's tokens, which live as long as the statement. The server may report them before the text,
    /// in which it may still replace passwords. NULL = there are none, or the digest is computed.
    storage: *const c_void,
    /// Whether tokens were reported. Later ones are those of a view that the statement opens, or of a
    /// statement that it prepares.
    has_tokens: bool,
    /// When it began: see [`level::has_all_calls_since`].
    period: u32,
}

impl Locker {
    /// The client's character set.
    pub fn charset(&self) -> *const c_void {
        self.charset
    }

    /// Computes the digest once tokens and text are there.
    unsafe fn digest<S: Interface>(&mut self, verb: &str) {
        if self.storage.is_null() || self.text.is_null() {
            return;
        }
        // SAFETY: rule 4 (text and tokens live as long as the statement).
        let tokens = match unsafe { S::FIELDS.tokens(self.storage) } {
            Tokens::None => None,
            // The text is normalised instead.
            Tokens::Some => Some(&[][..]),
            Tokens::All(tokens) => Some(tokens),
        };
        self.storage = ptr::null();
        if let Some(tokens) = tokens {
            // SAFETY: rule 4 (text and tokens live as long as the statement).
            let text = unsafe { sql_text(self) };
            self.statement.digest_by_tokens(tokens, verb, &text);
        }
    }
}

const _: () = assert!(size_of::<Locker>() <= 256);

/// `None` for a statement that began at the level `active`, which needs no more than [`super::active`] does.
///
/// # Safety
/// `locker` is NULL or came from [`get_thread_statement_locker`] and has not ended.
#[inline(always)]
pub(super) unsafe fn locker_at<'a>(locker: *mut c_void) -> Option<&'a mut Locker> {
    if level::began_active(locker) {
        return None;
    }
    // SAFETY: rule 8 (NULL, or a locker that has not ended).
    unsafe { locker.cast::<Locker>().as_mut() }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn get_thread_statement_locker(
    state: *mut c_void,
    key: u32,
    charset: *const c_void,
    _program: *mut c_void,
) -> *mut c_void {
    let Some(instrument) = keys::packed(key).filter(|instrument| instrument.is(Kind::Statement))
    else {
        return NONE;
    };
    let place = state.cast::<Locker>();
    // SAFETY: rule 3 (256 bytes).
    unsafe {
        let statement = &raw mut (*place).statement;
        if !statement::start_number_at(statement, instrument.number(), Source::UNKNOWN) {
            return NONE;
        }
        (&raw mut (*place).text).write(ptr::null());
        (&raw mut (*place).length).write(0);
        (&raw mut (*place).charset).write(charset);
        (&raw mut (*place).storage).write(ptr::null());
        (&raw mut (*place).has_tokens).write(false);
        (&raw mut (*place).period).write(level::period());
    }
    state
}

/// Changes the class of a statement of which [`level::began_active`] is false.
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub(super) unsafe extern "C" fn refine_exact(locker: *mut c_void, key: u32) -> *mut c_void {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { locker_at(locker) }) else {
        return NONE;
    };
    let Some(instrument) = keys::packed(key).filter(|instrument| instrument.is(Kind::Statement))
    else {
        return locker;
    };
    running.statement.refine_number(instrument.number());
    if running.statement.is_counted() {
        return locker;
    }
    // A statement whose refined class is off is not counted at all.
    // SAFETY: rule 2 (the event ends here).
    unsafe { end::<Locker>(locker) }.statement.discard();
    NONE
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_statement(
    locker: *mut c_void,
    schema: *const c_char,
    length: u32,
    file: *const c_char,
    line: u32,
) {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { locker_at(locker) }) else {
        return;
    };
    // SAFETY: rule 4 (`file` is a C string).
    running.statement.source(unsafe { source(file, line) });
    let name = match schema.is_null() {
        true => &[][..],
        // SAFETY: rule 4 (readable for its length).
        false => unsafe { std::slice::from_raw_parts(schema.cast(), length as usize) },
    };
    if !thread::is_default_schema(name) {
        catch_panic((), || {
            running.statement.schema(&String::from_utf8_lossy(name))
        });
    }
}

/// Sets the text of a statement of which [`level::began_active`] is false.
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub(super) unsafe extern "C" fn set_text_exact<S: Interface>(
    locker: *mut c_void,
    statement: *const c_char,
    length: u32,
) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(running) = unsafe { locker_at(locker) } {
        if running.statement.is_active() {
            if !statement.is_null() {
                // SAFETY: rule 4 (readable for its length).
                let text = unsafe { std::slice::from_raw_parts(statement.cast(), length as usize) };
                // SAFETY: rule 8 (a collation of the server).
                let text = unsafe { utf8_bytes(running.charset, text) };
                running.statement.text_active(&text);
            }
            return;
        }
        running.text = statement;
        running.length = length;
        catch_panic((), || {
            // SAFETY: rule 4 (text and tokens live as long as the statement). Only
            // the bytes that may be stored are read.
            let text = unsafe { sql_text(running) };
            running.statement.text_only(&text);
            // SAFETY: rule 4 (text and tokens live as long as the statement).
            unsafe { running.digest::<S>("") };
        });
    }
}

/// The bytes of a text that are read: more than are stored or normalised.
const MAX_TEXT_BYTES: usize = 65_536;

/// The text, as far as it is read.
unsafe fn sql_text<'a>(locker: &Locker) -> Cow<'a, str> {
    // SAFETY: rule 4 (readable for its length).
    unsafe {
        let length = (locker.length as usize).min(MAX_TEXT_BYTES);
        text_in(locker.charset, locker.text, length)
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn digest_start(locker: *mut c_void) -> *mut c_void {
    // SAFETY: rule 2 (the event has not ended).
    match unsafe { locker_at(locker) } {
        Some(running) if running.statement.wants_digest() => locker,
        _ => NONE,
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn digest_end<S: Interface>(locker: *mut c_void, storage: *const c_void) {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { locker_at(locker) }) else {
        return;
    };
    if running.has_tokens {
        return;
    }
    running.has_tokens = true;
    running.storage = storage;
    // SAFETY: rule 4 (text and tokens live as long as the statement).
    catch_panic((), || unsafe { running.digest::<S>("") });
}

/// Replaces the statement's tokens with those of the prepared statement that it executes.
pub unsafe extern "C" fn digest_set<S: Interface>(locker: *mut c_void, storage: *const c_void) {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { locker_at(locker) }) else {
        return;
    };
    running.has_tokens = true;
    running.storage = storage;
    // SAFETY: rule 4 (text and tokens live as long as the statement).
    catch_panic((), || unsafe {
        running.digest::<S>(verb(&running.statement))
    });
}

/// The verb that the tokens of a prepared statement begin with.
fn verb(statement: &Statement) -> &'static str {
    keys::by_number(statement.class_number()).map_or("", |instrument| instrument.verb)
}

macro_rules! counters {
    ($($set:ident $type:ty => $method:ident $counter:ident;)*) => {$(
        #[unsafe(link_section = "tare_hot")]
        pub unsafe extern "C" fn $set(locker: *mut c_void, count: $type) {
            // SAFETY: rule 2 (the event has not ended).
            if let Some(running) = unsafe { locker_at(locker) } {
                running.statement.$method(Counter::$counter, count);
            }
        }
    )*};
}

counters! {
    set_statement_rows_sent u64 => set RowsSent;
    set_statement_rows_examined u64 => set RowsExamined;
    inc_statement_created_tmp_disk_tables u64 => add CreatedTmpDiskTables;
    inc_statement_created_tmp_tables u64 => add CreatedTmpTables;
    inc_statement_select_full_join u64 => add SelectFullJoin;
    inc_statement_select_full_range_join u64 => add SelectFullRangeJoin;
    inc_statement_select_range u64 => add SelectRange;
    inc_statement_select_range_check u64 => add SelectRangeCheck;
    inc_statement_select_scan u64 => add SelectScan;
    inc_statement_sort_merge_passes u64 => add SortMergePasses;
    inc_statement_sort_range u64 => add SortRange;
    inc_statement_sort_rows u64 => add SortRows;
    inc_statement_sort_scan u64 => add SortScan;
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_statement_lock_time(locker: *mut c_void, us: u64) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(running) = unsafe { locker_at(locker) } {
        running.statement.lock_time_us(us);
    }
}

pub unsafe extern "C" fn set_statement_no_index_used(locker: *mut c_void) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(running) = unsafe { locker_at(locker) } {
        running.statement.set(Counter::NoIndexUsed, 1);
    }
}

pub unsafe extern "C" fn set_statement_no_good_index_used(locker: *mut c_void) {
    // SAFETY: rule 2 (the event has not ended).
    if let Some(running) = unsafe { locker_at(locker) } {
        running.statement.set(Counter::NoGoodIndexUsed, 1);
    }
}

/// Ends a statement of which [`level::began_active`] is false.
#[inline(never)]
#[unsafe(link_section = "tare_hot")]
pub(super) unsafe extern "C" fn end_exact<S: Interface>(
    locker: *mut c_void,
    diagnostics: *const c_void,
) {
    // SAFETY: rule 2 (the event has not ended).
    let Some(running) = (unsafe { locker_at(locker) }) else {
        return;
    };
    // SAFETY: rule 5 (laid out as the release declares).
    let outcome = unsafe { S::FIELDS.outcome(diagnostics) };
    let (is_active, failed) = (
        running.statement.is_active(),
        matches!(outcome, Outcome::Failed { .. }),
    );
    if is_active || !level::has_all_calls_since(running.period) {
        return catch_panic((), || {
            if failed {
                running.statement.failed_active();
            }
            // SAFETY: rule 2 (the event ends here).
            unsafe {
                match is_active {
                    true => ptr::drop_in_place(running),
                    false => end::<Locker>(locker).statement.end_as_active(failed),
                }
            }
        });
    }
    match outcome {
        Outcome::Unknown => running.statement.end_without_sqlstate(),
        Outcome::Changed { rows, warnings } => {
            let counters = [
                (Counter::RowsAffected, rows),
                (Counter::Warnings, u64::from(warnings)),
            ];
            running.statement.set_all(counters);
        }
        Outcome::Gave { warnings } => {
            running
                .statement
                .set_all([(Counter::Warnings, u64::from(warnings))]);
            running.statement.end_without_sqlstate();
        }
        Outcome::Failed {
            number,
            sqlstate,
            message,
        } => catch_panic((), || {
            let (state, message) = (
                String::from_utf8_lossy(sqlstate),
                String::from_utf8_lossy(message),
            );
            match S::REPORTS_ERRORS {
                true => running.statement.failed(number, &state, &message),
                false => running.statement.error(number, &state, &message),
            }
        }),
    }
    // The statement ends in place. A copy would load it in other pieces than it was stored in, and wait for
    // the stores.
    // SAFETY: rule 2 (the event ends here).
    catch_panic((), || unsafe { ptr::drop_in_place(running) });
}
