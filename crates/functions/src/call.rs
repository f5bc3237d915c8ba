//! A call: its arguments with MySQL's conversions, and its value.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Deref;

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, Result, ffi};
use tare_mysql::date::{self, DateTime};
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
}

impl<'a> Call<'a> {
    pub(crate) fn new(context: &'a Context<'a>, session: &'a dyn EvaluationContext) -> Self {
        Self {
            context,
            session,
            chosen: Cell::default(),
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

/// An argument as text, without a copy if SQLite has a text.
pub fn text<'c>(ctx: &'c Context<'_>, i: usize) -> Option<Cow<'c, str>> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string().into()),
        ValueRef::Real(x) => Some(tare_mysql::wire::value::display_real(x).into()),
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
        ValueRef::Null | ValueRef::Text(_) => ctx.argument(i),
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
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(Number::of(t).double()),
    }
}

/// An argument as an integer.
pub fn int(ctx: &Context<'_>, i: usize) -> Option<i64> {
    match ctx.get_raw(i) {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Text(t) => Some(Number::of(t).int()),
        _ => real(ctx, i).map(|x| x.round() as i64),
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

/// An argument as a date.
pub fn date(ctx: &Context<'_>, i: usize) -> Option<DateTime> {
    if let ValueRef::Text(t) | ValueRef::Blob(t) = ctx.get_raw(i)
        && t.len() > date::MAX_TEXT_BYTES
    {
        return None;
    }
    text(ctx, i).and_then(|t| DateTime::parse(&t))
}

/// A value, or NULL.
pub fn opt<T: Into<Value>>(value: Option<T>) -> Answer {
    Ok(value.map_or(Value::Null, Into::into))
}

/// A number, or NULL if it is infinite or NaN.
pub fn number(x: f64) -> Value {
    if x.is_finite() {
        Value::Real(x)
    } else {
        Value::Null
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
