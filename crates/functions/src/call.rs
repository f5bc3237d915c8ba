//! A call: its arguments as MySQL reads them, and its answer.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Deref;

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, Result, ffi};
use tare_mysql::date::{DateTime, LONGEST};
use tare_mysql::error::{SqlError, raised};
use tare_mysql::memory;
use tare_mysql::number::Number;
use tare_mysql::watch::lossy;

use crate::evaluation::EvaluationContext;

/// Bytes that a function computes with before it looks whether its statement must end: some milliseconds.
/// A multiple of 2, as UNHEX wants it, and of 57, as lines of base64 do. Tests count the looks at texts
/// that are smaller than those that clients send, by the same factor.
pub(crate) const STEP: usize = 57 * if cfg!(test) { 16 } else { 8192 };

/// Rounds of a small loop between two such looks.
pub(crate) const ROUNDS: usize = 1 << if cfg!(test) { 7 } else { 16 };

/// A call's value.
pub type Answer = Result<Value>;

/// A call.
pub struct Call<'a> {
    context: &'a Context<'a>,
    /// Whose call it is.
    pub session: &'a dyn EvaluationContext,
    /// The argument that is its value.
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

    /// An argument as the call's value: not read, and not copied as often as others are.
    pub fn argument(&self, i: usize) -> Answer {
        self.chosen.set(Some(i));
        Ok(Value::Null)
    }

    /// 1317, where the statement must end, and 1041, where it has taken more memory than it may. To be
    /// asked between steps of a few milliseconds.
    pub(crate) fn go_on(&self) -> Result<()> {
        go_on(self.session)
    }

    /// 1041, where the statement may not take so many bytes more. To be asked before a large text is made:
    /// memory is counted when it is there, and the allocator cannot refuse it.
    pub(crate) fn room(&self, bytes: usize) -> Result<()> {
        room(bytes)
    }

    /// The same in a loop, now and then: `i` is the round.
    #[inline]
    pub(crate) fn go_on_at(&self, i: usize) -> Result<()> {
        match i % ROUNDS {
            0 if i > 0 => self.go_on(),
            _ => Ok(()),
        }
    }

    /// Hands bytes over in steps, and ends between two of them where the statement must.
    pub(crate) fn in_steps<'b>(&self, all: &'b [u8], mut each: impl FnMut(&'b [u8])) -> Result<()> {
        for step in all.chunks(STEP) {
            if all.len() > STEP {
                self.go_on()?;
            }
            each(step);
        }
        Ok(())
    }

    /// The same of a text: a step ends where a character does.
    pub(crate) fn in_texts<'b>(&self, all: &'b str, mut each: impl FnMut(&'b str)) -> Result<()> {
        for step in pieces(all) {
            if all.len() > STEP {
                self.go_on()?;
            }
            each(step);
        }
        Ok(())
    }
}

impl<'a> Deref for Call<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        self.context
    }
}

/// A text piece by piece. A piece is as long as a step, and ends where a character does.
pub(crate) fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, more) = text.split_at(text.floor_char_boundary(STEP));
        text = more;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Whether the statement of this thread may take so much: see [`Call::room`].
pub(crate) fn room(bytes: usize) -> Result<()> {
    match bytes > STEP && !memory::has_room(bytes) {
        true => Err(raise(memory::exhausted())),
        false => Ok(()),
    }
}

/// Whether a session's statement goes on: see [`Call::go_on`].
pub(crate) fn go_on(session: &dyn EvaluationContext) -> Result<()> {
    if session.must_stop() {
        return Err(raise(SqlError::interrupted()));
    }
    match memory::has_room(0) {
        true => Ok(()),
        false => Err(raise(memory::exhausted())),
    }
}

/// An argument as text. SQLite's own is not copied.
pub fn text<'c>(ctx: &'c Context<'_>, i: usize) -> Option<Cow<'c, str>> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string().into()),
        ValueRef::Real(x) => Some(tare_mysql::wire::value::display_real(x).into()),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(lossy(t)),
    }
}

/// Bytes of a value that a message shows, as MySQL's do.
const TOLD: usize = 128;

/// What a value begins with, for a message.
pub(crate) fn told(value: &[u8]) -> String {
    // A character has four bytes at most.
    let begins = String::from_utf8_lossy(&value[..value.len().min(TOLD + 3)]);
    begins[..begins.floor_char_boundary(TOLD)].to_owned()
}

/// An argument as a text, and the call's value.
pub(crate) fn as_text(ctx: &Call<'_>, i: usize) -> Answer {
    match ctx.get_raw(i) {
        ValueRef::Null | ValueRef::Text(_) => ctx.argument(i),
        _ => opt(text(ctx, i).map(copied)),
    }
}

/// A text as a function's value.
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

/// An argument as a whole number.
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
        && t.len() > LONGEST
    {
        return None;
    }
    text(ctx, i).and_then(|t| DateTime::parse(&t))
}

/// A value, or NULL.
pub fn opt<T: Into<Value>>(value: Option<T>) -> Answer {
    Ok(value.map_or(Value::Null, Into::into))
}

/// A number, or NULL where it is infinite or none.
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

/// An error of ours, which whoever asked SQLite finds again by its code.
pub fn raise(error: SqlError) -> Error {
    let code = raised::keep(error).code(ffi::SQLITE_ERROR);
    Error::SqliteFailure(ffi::Error::new(code), None)
}

/// Fills a buffer with random bytes from the system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|e| Error::UserFunctionError(Box::new(e)))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(ctx: &Call<'_>, bytes: &[u8], upper: bool) -> Result<String> {
    let digits: &[u8; 16] = match upper {
        true => b"0123456789ABCDEF",
        false => b"0123456789abcdef",
    };
    ctx.room(bytes.len() * 2)?;
    let mut out = String::with_capacity(bytes.len() * 2);
    ctx.in_steps(bytes, |step| {
        for b in step {
            out.push(char::from(digits[usize::from(b >> 4)]));
            out.push(char::from(digits[usize::from(b & 15)]));
        }
    })?;
    Ok(out)
}
