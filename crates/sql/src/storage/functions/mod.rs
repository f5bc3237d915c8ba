//! MySQL's functions that SQLite lacks, or that mean something else there.

mod aggregate;
mod calendar;
mod context;
mod dates;
mod encode;
mod json;
pub mod locks;
mod numbers;
mod regexp;
mod strings;
pub mod sys;

use std::sync::Arc;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result, ffi};
use tare_mysql::date::DateTime;
use tare_mysql::error::{SqlError, raised};

use crate::server::state::SessionState;

type Answer = Result<Value>;

fn text(ctx: &Context<'_>, i: usize) -> Option<String> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(tare_mysql::wire::value::display_real(x, false)),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(String::from_utf8_lossy(t).into_owned()),
    }
}

/// A number as MySQL reads it out of a text: as far as it goes, else 0.
fn prefix_number(text: &str) -> f64 {
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

fn real(ctx: &Context<'_>, i: usize) -> Option<f64> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(x) => Some(x),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(prefix_number(&String::from_utf8_lossy(t))),
    }
}

fn int(ctx: &Context<'_>, i: usize) -> Option<i64> {
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

fn date(ctx: &Context<'_>, i: usize) -> Option<DateTime> {
    text(ctx, i).and_then(|t| DateTime::parse(&t))
}

fn opt<T: Into<Value>>(value: Option<T>) -> Answer {
    Ok(value.map_or(Value::Null, Into::into))
}

fn number(x: f64) -> Value {
    if x.is_finite() {
        Value::Real(x)
    } else {
        Value::Null
    }
}

fn fail(message: &str) -> Error {
    Error::UserFunctionError(message.to_owned().into())
}

/// The error for SQLite to report. It waits in [`tare_mysql::error::raised`], and SQLite carries its
/// ticket: whoever asked SQLite finds it by the extended code.
fn raise(error: SqlError) -> Error {
    let code = raised::keep(error).code(ffi::SQLITE_ERROR);
    Error::SqliteFailure(ffi::Error::new(code), None)
}

/// Registers all for a session.
pub fn register(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    strings::strings(db)?;
    numbers::numbers(db, session)?;
    dates::dates(db)?;
    sys::sys(db, session)?;
    calendar::calendar(db)?;
    encode::encode(db)?;
    regexp::regexp(db)?;
    json::json(db)?;
    aggregate::aggregates(db)?;
    locks::locks(db, session)?;
    context::context(db, session)
}

fn pure(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function(name, args, flags, move |ctx| f(ctx))
}

fn fresh(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    db.create_scalar_function(name, args, FunctionFlags::SQLITE_UTF8, move |ctx| f(ctx))
}

/// Fills a buffer with random bytes from the system.
fn random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|e| Error::UserFunctionError(Box::new(e)))
}

fn hex(bytes: &[u8], upper: bool) -> String {
    bytes
        .iter()
        .map(|b| {
            if upper {
                format!("{b:02X}")
            } else {
                format!("{b:02x}")
            }
        })
        .collect()
}
