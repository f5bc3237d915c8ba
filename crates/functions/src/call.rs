//! A call: its arguments with MySQL's conversions, and its value.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Deref;

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, Result, ffi};
use tare_mysql::date::DateTime;
use tare_mysql::date::argument::{self, Parts};
use tare_mysql::error::{SqlError, ticket};
use tare_mysql::interrupt;
use tare_mysql::number::Number;

use crate::evaluation::EvaluationContext;

/// A call's value.
pub type Answer = Result<Value>;

/// A call.
pub struct Call<'a> {
    context: &'a Context<'a>,
    /// The session that calls.
    pub session: &'a dyn EvaluationContext,
    /// The argument that is the value of the call.
    pub(crate) chosen: Cell<Option<usize>>,
    /// The call reads and returns bytes.
    reads_bytes: bool,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        context: &'a Context<'a>,
        session: &'a dyn EvaluationContext,
        handles_bytes: bool,
    ) -> Self {
        let is_bytes = |i| matches!(context.get_raw(i), ValueRef::Blob(_));
        Self {
            context,
            session,
            chosen: Cell::default(),
            reads_bytes: handles_bytes && (0..context.len()).any(is_bytes),
        }
    }

    /// The call's value: bytes instead of a text, if the call reads bytes.
    pub(crate) fn finished(&self, value: Value) -> Value {
        match value {
            Value::Text(text) if self.reads_bytes && text.is_ascii() => {
                Value::Blob(text.into_bytes())
            }
            Value::Text(text) if self.reads_bytes => {
                Value::Blob(text.chars().map(|c| c as u32 as u8).collect())
            }
            value => value,
        }
    }

    /// Checks whether the statement may go on, if an argument is long. One row may have thousands of calls,
    /// between which SQLite does not check.
    ///
    /// # Errors
    /// The statement must end.
    #[inline]
    pub(crate) fn check_arguments(&self) -> Result<()> {
        (0..self.len()).try_for_each(|i| check_long(self.get_raw(i)))
    }

    /// Returns an argument as the call's value, without reading and copying it.
    pub fn argument(&self, i: usize) -> Answer {
        self.chosen.set(Some(i));
        Ok(Value::Null)
    }
}

impl<'a> Deref for Call<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        self.context
    }
}

/// A call whose arguments can be read.
pub trait Arguments {
    /// An argument as SQLite has it.
    fn raw(&self, i: usize) -> ValueRef<'_>;
    /// Whether texts are read byte by byte, because one of them is bytes.
    fn reads_bytes(&self) -> bool {
        false
    }
}

impl Arguments for Context<'_> {
    fn raw(&self, i: usize) -> ValueRef<'_> {
        self.get_raw(i)
    }
}

impl Arguments for Call<'_> {
    fn raw(&self, i: usize) -> ValueRef<'_> {
        self.get_raw(i)
    }
    fn reads_bytes(&self) -> bool {
        self.reads_bytes
    }
}

/// An argument as text, without a copy if SQLite has a text. If the call reads bytes, it has a character for each.
pub fn text(ctx: &impl Arguments, i: usize) -> Option<Cow<'_, str>> {
    match ctx.raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string().into()),
        ValueRef::Real(x) => Some(tare_mysql::wire::value::display_real(x).into()),
        ValueRef::Text(t) | ValueRef::Blob(t) if ctx.reads_bytes() && !t.is_ascii() => {
            Some(t.iter().copied().map(char::from).collect())
        }
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(String::from_utf8_lossy(t)),
    }
}

/// Bytes of a value in MySQL's messages.
const MAX_QUOTED_BYTES: usize = 128;

/// The beginning of a value, for a message.
pub(crate) fn quoted(value: &[u8]) -> String {
    // A character has four bytes at most.
    let begins = String::from_utf8_lossy(&value[..value.len().min(MAX_QUOTED_BYTES + 3)]);
    begins[..begins.floor_char_boundary(MAX_QUOTED_BYTES)].to_owned()
}

/// Returns an argument as a text.
pub(crate) fn as_text(ctx: &Call<'_>, i: usize) -> Answer {
    match ctx.get_raw(i) {
        ValueRef::Null | ValueRef::Text(_) if !ctx.reads_bytes => ctx.argument(i),
        _ => opt(text(ctx, i).map(copied)),
    }
}

/// A text as a call's value.
pub fn copied(text: Cow<'_, str>) -> Value {
    Value::Text(text.into_owned())
}

/// An argument as a number.
pub fn real(ctx: &Context<'_>, i: usize) -> Option<f64> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(x) => Some(x),
        // A text's number is never infinite.
        ValueRef::Text(t) | ValueRef::Blob(t) => {
            Some(Number::of(t).double().clamp(f64::MIN, f64::MAX))
        }
    }
}

/// An argument as an integer.
pub fn int(ctx: &Context<'_>, i: usize) -> Option<i64> {
    match ctx.get_raw(i) {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Text(t) => Some(Number::of(t).int()),
        _ => real(ctx, i).map(|x| x.round_ties_even() as i64),
    }
}

/// The bytes of a text or a BLOB.
pub fn bytes<'c>(ctx: &'c Context<'_>, i: usize) -> Option<Cow<'c, [u8]>> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Text(b) | ValueRef::Blob(b) => Some(b.into()),
        _ => text(ctx, i).map(|t| t.into_owned().into_bytes().into()),
    }
}

/// An argument as a date and time of which a part may be zero.
pub fn date_parts(ctx: &Context<'_>, i: usize) -> Option<Parts> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Parts::of_number(n, 0),
        ValueRef::Real(x) if x.abs() < 1e15 => {
            Parts::of_number(x.trunc() as i64, (x.fract() * 1e6).round() as i64)
        }
        ValueRef::Real(_) => None,
        ValueRef::Text(t) | ValueRef::Blob(t) => Parts::of_text(str::from_utf8(t).ok()?),
    }
}

/// 1292: warns that an argument is no date or time, which its value is read as: `date`, `datetime` or `time`.
pub(crate) fn warn_of_moment(ctx: &Call<'_>, i: usize, kind: &str) {
    let is_text = matches!(ctx.get_raw(i), ValueRef::Text(_) | ValueRef::Blob(_));
    let Some(value) = text(&**ctx, i) else { return };
    // A time is one of the current day.
    let is_time = kind != "time" && value.trim_start_matches('-').as_bytes().get(2) == Some(&b':');
    if is_time || kind == "time" && !is_text {
        return;
    }
    match is_text && kind != "datetime" {
        true => ctx.session.truncated(kind, value.as_bytes()),
        false => {
            let value = quoted(value.as_bytes());
            let message = format!("Incorrect datetime value: '{value}'");
            ctx.session.warn(1292, &message);
        }
    }
}

/// An argument as a date; with a warning if it is none.
pub(crate) fn checked_date(ctx: &Call<'_>, i: usize, kind: &str) -> Option<DateTime> {
    let date = date(ctx, i);
    if date.is_none() {
        warn_of_moment(ctx, i, kind);
    }
    date
}

/// An argument as a time; with a warning if it is none.
pub(crate) fn checked_clock(ctx: &Call<'_>, i: usize) -> Option<i64> {
    let clock = clock(ctx, i);
    if clock.is_none() {
        warn_of_moment(ctx, i, "time");
    }
    clock
}

/// An argument as a date.
pub fn date(ctx: &Context<'_>, i: usize) -> Option<DateTime> {
    date_parts(ctx, i)?.moment()
}

/// An argument as a time, in microseconds; of a date and time, its time.
pub fn clock(ctx: &Context<'_>, i: usize) -> Option<i64> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => argument::time_of_number(n, 0),
        ValueRef::Real(x) if x.abs() < 1e15 => {
            argument::time_of_number(x.trunc() as i64, (x.fract().abs() * 1e6).round() as i64)
        }
        ValueRef::Real(_) => None,
        ValueRef::Text(t) | ValueRef::Blob(t) => argument::time_of_text(str::from_utf8(t).ok()?),
    }
}

/// A value, or NULL.
pub fn opt<T: Into<Value>>(value: Option<T>) -> Answer {
    Ok(value.map_or(Value::Null, Into::into))
}

/// A number; 1690 if it is infinite, and NULL if it is none.
pub fn number(x: f64) -> Answer {
    match x {
        _ if x.is_infinite() => Err(raise(SqlError::new(1690, "DOUBLE value is out of range"))),
        _ if x.is_nan() => Ok(Value::Null),
        _ => Ok(Value::Real(x)),
    }
}

/// An error without a number.
pub fn fail(message: &str) -> Error {
    Error::UserFunctionError(message.to_owned().into())
}

/// An error of ours, which the caller of SQLite finds by its result code.
pub fn raise(error: SqlError) -> Error {
    let code = ticket::store(error).code(ffi::SQLITE_ERROR);
    Error::SqliteFailure(ffi::Error::new(code), None)
}

/// Bytes of a long text: reading or building it takes some 10 microseconds.
const LONG_TEXT_BYTES: usize = 64 << 10;

/// Checks whether the statement may go on, if a value is long.
///
/// # Errors
/// The statement must end.
#[inline]
pub(crate) fn check_long(value: ValueRef<'_>) -> Result<()> {
    match value {
        ValueRef::Text(text) | ValueRef::Blob(text) if text.len() >= LONG_TEXT_BYTES => {
            interrupt::check().map_err(raise)
        }
        _ => Ok(()),
    }
}

/// A step of work that grows faster than the arguments: see [`interrupt::check_step`].
///
/// # Errors
/// The statement must end.
#[inline]
pub(crate) fn check_step() -> Result<()> {
    interrupt::check_step().map_err(raise)
}

/// Fills a buffer with random bytes from the system.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|e| Error::UserFunctionError(Box::new(e)))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], upper: bool) -> String {
    let digits: &[u8; 16] = match upper {
        true => b"0123456789ABCDEF",
        false => b"0123456789abcdef",
    };
    let mut out = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        out.push(char::from(digits[usize::from(b >> 4)]));
        out.push(char::from(digits[usize::from(b & 15)]));
    }
    out
}
