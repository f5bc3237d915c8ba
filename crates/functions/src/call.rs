//! A call: its arguments as MySQL reads them, and its answer.

use std::ops::Deref;

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, Result, ffi};
use tare_mysql::date::DateTime;
use tare_mysql::error::{SqlError, raised};

use crate::session::Session;

/// Bytes that a function computes with before it looks whether its statement must end: some milliseconds.
/// A multiple of 2, as UNHEX wants it, and of 57, as lines of base64 do.
pub(crate) const STEP: usize = 57 * 8192;

/// Rounds of a small loop between two such looks.
const ROUNDS: usize = 1 << 16;

/// A call's value.
pub type Answer = Result<Value>;

/// A call.
pub struct Call<'a> {
    context: &'a Context<'a>,
    /// Whose call it is.
    pub session: &'a dyn Session,
}

impl<'a> Call<'a> {
    pub(crate) fn new(context: &'a Context<'a>, session: &'a dyn Session) -> Self {
        Self { context, session }
    }

    /// 1317, where the statement must end. To be asked between steps of a few milliseconds.
    pub(crate) fn go_on(&self) -> Result<()> {
        match self.session.must_stop() {
            true => Err(raise(SqlError::interrupted())),
            false => Ok(()),
        }
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
    pub(crate) fn in_texts<'b>(
        &self,
        mut rest: &'b str,
        mut each: impl FnMut(&'b str),
    ) -> Result<()> {
        while rest.len() > STEP {
            self.go_on()?;
            let (step, more) = rest.split_at(rest.floor_char_boundary(STEP));
            each(step);
            rest = more;
        }
        each(rest);
        Ok(())
    }
}

impl<'a> Deref for Call<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        self.context
    }
}

/// An argument as text.
pub fn text(ctx: &Context<'_>, i: usize) -> Option<String> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(tare_mysql::wire::value::display_real(x, false)),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(String::from_utf8_lossy(t).into_owned()),
    }
}

/// A number as MySQL reads it out of a text: as far as it goes, else 0.
pub(crate) fn prefix_number(text: &str) -> f64 {
    let text = text.trim();
    let mut end = 0;
    for (i, c) in text.char_indices() {
        let ok = c.is_ascii_digit()
            || ((c == '-' || c == '+') && (i == 0 || text[..i].ends_with(['e', 'E'])))
            || c == '.'
            || ((c == 'e' || c == 'E') && i > 0);
        if !ok {
            break;
        }
        end = i + 1;
    }
    (0..=end)
        .rev()
        .filter(|&n| text.is_char_boundary(n))
        .find_map(|n| text[..n].parse().ok())
        .unwrap_or(0.0)
}

/// An argument as a number.
pub fn real(ctx: &Context<'_>, i: usize) -> Option<f64> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(x) => Some(x),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(prefix_number(&String::from_utf8_lossy(t))),
    }
}

/// An argument as a whole number.
pub fn int(ctx: &Context<'_>, i: usize) -> Option<i64> {
    match ctx.get_raw(i) {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Text(t) => {
            let t = String::from_utf8_lossy(t);
            Some(
                t.trim()
                    .parse()
                    .unwrap_or_else(|_| prefix_number(&t).round() as i64),
            )
        }
        _ => real(ctx, i).map(|x| x.round() as i64),
    }
}

/// The bytes of a text or a BLOB.
pub fn bytes(ctx: &Context<'_>, i: usize) -> Option<Vec<u8>> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Text(b) | ValueRef::Blob(b) => Some(b.to_vec()),
        _ => text(ctx, i).map(String::into_bytes),
    }
}

/// An argument as a date.
pub fn date(ctx: &Context<'_>, i: usize) -> Option<DateTime> {
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
    let mut out = String::with_capacity(bytes.len() * 2);
    ctx.in_steps(bytes, |step| {
        for b in step {
            out.push(char::from(digits[usize::from(b >> 4)]));
            out.push(char::from(digits[usize::from(b & 15)]));
        }
    })?;
    Ok(out)
}
