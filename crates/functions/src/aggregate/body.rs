//! Aggregates that SQLite lacks.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::panic::{RefUnwindSafe, UnwindSafe};

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use tare_mysql::error::SqlError;
use tare_mysql::memory;

use crate::call::{int, raise, real, text as text_of};
use crate::json;
use crate::text_builder::{MAX_TEXT_BYTES, TextBuilder};

/// Registers an aggregate with a connection.
pub(super) fn add<A, D>(db: &Connection, name: &str, arguments: c_int, aggregate: D) -> Result<()>
where
    A: Send + RefUnwindSafe + UnwindSafe + 'static,
    D: Aggregate<A, Value> + Send + 'static,
{
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_aggregate_function(name, arguments, flags, aggregate)
}

/// The value of a scalar subquery; an error for a second row.
pub(super) struct OnlyValue;

impl Aggregate<Option<Value>, Value> for OnlyValue {
    fn init(&self, _: &mut Context<'_>) -> Result<Option<Value>> {
        Ok(None)
    }

    fn step(&self, ctx: &mut Context<'_>, only: &mut Option<Value>) -> Result<()> {
        match only.replace(ctx.get(0)?) {
            None => Ok(()),
            Some(_) => Err(raise(SqlError::new(
                1242,
                "Subquery returns more than 1 row",
            ))),
        }
    }

    fn finalize(&self, _: &mut Context<'_>, only: Option<Option<Value>>) -> Result<Value> {
        Ok(only.flatten().unwrap_or(Value::Null))
    }
}

/// Variance and standard deviation, by Welford's method.
pub(super) struct Spread {
    pub(super) sample: bool,
    pub(super) root: bool,
}

#[derive(Default)]
pub(super) struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Aggregate<Moments, Value> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<Moments> {
        Ok(Moments::default())
    }

    fn step(&self, ctx: &mut Context<'_>, m: &mut Moments) -> Result<()> {
        if let Some(x) = real(ctx, 0) {
            m.n += 1.0;
            let off = x - m.mean;
            m.mean += off / m.n;
            m.squares += off * (x - m.mean);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, m: Option<Moments>) -> Result<Value> {
        let Some(m) = m else { return Ok(Value::Null) };
        let n = if self.sample { m.n - 1.0 } else { m.n };
        if n <= 0.0 {
            return Ok(Value::Null);
        }
        let variance = m.squares / n;
        Ok(Value::Real(if self.root {
            variance.sqrt()
        } else {
            variance
        }))
    }
}

pub(super) struct Bits {
    pub(super) start: u64,
    pub(super) join: fn(u64, u64) -> u64,
}

impl Aggregate<Option<u64>, Value> for Bits {
    fn init(&self, _: &mut Context<'_>) -> Result<Option<u64>> {
        Ok(None)
    }

    fn step(&self, ctx: &mut Context<'_>, bits: &mut Option<u64>) -> Result<()> {
        if let Some(n) = int(ctx, 0) {
            *bits = Some((self.join)(bits.unwrap_or(self.start), n as u64));
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, bits: Option<Option<u64>>) -> Result<Value> {
        // Without rows, the result is the neutral element.
        Ok(Value::Integer(bits.flatten().unwrap_or(self.start) as i64))
    }
}

/// Collects the values of a JSON array or object as texts, which take less memory than documents.
pub(super) struct JsonCollector {
    /// The function's name in error messages.
    pub(super) name: &'static str,
}

/// 1041 if the statement may not take so much more memory: SQLite does not count what is collected here.
fn check_memory(bytes: usize) -> Result<()> {
    match memory::admit(bytes) {
        true => Ok(()),
        false => Err(raise(memory::exhausted())),
    }
}

impl JsonCollector {
    /// A value's text as JSON.
    fn text(&self, value: ValueRef<'_>) -> Result<String> {
        check_memory(0)?;
        Ok(json::value::part_text(value).into_owned())
    }

    /// 1301 if the result is too long.
    fn within(&self, bytes: usize) -> Result<()> {
        match bytes > MAX_TEXT_BYTES {
            true => Err(self.too_long()),
            false => Ok(()),
        }
    }

    fn too_long(&self) -> rusqlite::Error {
        raise(SqlError::new(
            1301,
            format!(
                "Result of {}() was larger than max_allowed_packet ({MAX_TEXT_BYTES}) - truncated",
                self.name
            ),
        ))
    }
}

pub(super) struct Array(pub(super) JsonCollector);

impl Aggregate<String, Value> for Array {
    fn init(&self, _: &mut Context<'_>) -> Result<String> {
        Ok(String::new())
    }

    fn step(&self, ctx: &mut Context<'_>, all: &mut String) -> Result<()> {
        let text = self.0.text(ctx.get_raw(0))?;
        self.0.within(all.len() + text.len())?;
        if all.len() + text.len() + 2 > all.capacity() {
            check_memory(all.capacity())?;
        }
        all.push_str(if all.is_empty() { "[" } else { ", " });
        all.push_str(&text);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, all: Option<String>) -> Result<Value> {
        Ok(all.map_or(Value::Null, |all| Value::Text(all + "]")))
    }
}

/// Members in MySQL's order of keys (length, then bytes), and the length of their texts.
#[derive(Default)]
pub(super) struct Members {
    all: BTreeMap<(usize, String), String>,
    bytes: usize,
}

pub(super) struct Object(pub(super) JsonCollector);

impl Aggregate<Members, Value> for Object {
    fn init(&self, _: &mut Context<'_>) -> Result<Members> {
        Ok(Members::default())
    }

    fn step(&self, ctx: &mut Context<'_>, members: &mut Members) -> Result<()> {
        let text = self.0.text(ctx.get_raw(1))?;
        let key = text_of(ctx, 0).unwrap_or_default().into_owned();
        members.bytes += text.len();
        let more = key.len() + 6;
        // The last value of a name wins.
        match members.all.insert((key.len(), key), text) {
            Some(before) => members.bytes -= before.len(),
            None => members.bytes += more,
        }
        self.0.within(members.bytes)
    }

    fn finalize(&self, _: &mut Context<'_>, members: Option<Members>) -> Result<Value> {
        let Some(members) = members else {
            return Ok(Value::Null);
        };
        let mut builder = TextBuilder::from_iter(["{"]);
        for (i, ((_, key), text)) in members.all.iter().enumerate() {
            let Value::Text(key) = json::quoted(key) else {
                return Err(self.0.too_long());
            };
            for part in [if i > 0 { ", " } else { "" }, &*key, ": ", &**text] {
                builder.push(part);
            }
        }
        builder.push("}");
        match builder.into_value() {
            Value::Null => Err(self.0.too_long()),
            object => Ok(object),
        }
    }
}
