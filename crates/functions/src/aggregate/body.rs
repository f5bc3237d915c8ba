//! Aggregates that SQLite lacks.

use std::ffi::c_int;
use std::panic::{RefUnwindSafe, UnwindSafe};

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use tare_mysql::error::SqlError;
use tare_mysql::memory;

use crate::call::{int, raise, real, text};
use crate::json;

/// Gives a connection an aggregate.
pub(super) fn add<A, D>(db: &Connection, name: &str, arguments: c_int, aggregate: D) -> Result<()>
where
    A: Send + RefUnwindSafe + UnwindSafe + 'static,
    D: Aggregate<A, Value> + Send + 'static,
{
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_aggregate_function(name, arguments, flags, aggregate)
}

/// The value of the only row that there is: what a subquery in the place of a value has to have.
pub(super) struct Only;

impl Aggregate<Option<Value>, Value> for Only {
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
        // Of no rows they are what joins with anything.
        Ok(Value::Integer(bits.flatten().unwrap_or(self.start) as i64))
    }
}

/// What an aggregate keeps of its rows, and how much memory that takes of its statement's.
#[derive(Default)]
pub(super) struct Gathered<T> {
    all: T,
    bytes: usize,
}

/// What a value takes besides its text: serde_json's enum, its place and its text's own allocation.
const KEPT: usize = 64;

impl<T> Gathered<T> {
    /// Counts a value, and its text in the result.
    fn take(&mut self, value: &ValueRef<'_>) -> Result<()> {
        let bytes = match value {
            ValueRef::Text(t) | ValueRef::Blob(t) => 2 * t.len() + KEPT,
            _ => KEPT,
        };
        if !memory::take(bytes) {
            return Err(raise(memory::exhausted()));
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl<T> Drop for Gathered<T> {
    fn drop(&mut self) {
        memory::give(self.bytes);
    }
}

pub(super) struct Array;

impl Aggregate<Gathered<Vec<serde_json::Value>>, Value> for Array {
    fn init(&self, _: &mut Context<'_>) -> Result<Gathered<Vec<serde_json::Value>>> {
        Ok(Gathered::default())
    }

    fn step(
        &self,
        ctx: &mut Context<'_>,
        kept: &mut Gathered<Vec<serde_json::Value>>,
    ) -> Result<()> {
        kept.take(&ctx.get_raw(0))?;
        kept.all.push(json::value(ctx.get_raw(0)));
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        kept: Option<Gathered<Vec<serde_json::Value>>>,
    ) -> Result<Value> {
        Ok(kept.map_or(Value::Null, |mut kept| {
            let all = std::mem::take(&mut kept.all);
            Value::Text(json::text(&serde_json::Value::Array(all)))
        }))
    }
}

type Members = Gathered<serde_json::Map<String, serde_json::Value>>;

pub(super) struct Object;

impl Aggregate<Members, Value> for Object {
    fn init(&self, _: &mut Context<'_>) -> Result<Members> {
        Ok(Members::default())
    }

    fn step(&self, ctx: &mut Context<'_>, kept: &mut Members) -> Result<()> {
        let key = text(ctx, 0).unwrap_or_default();
        kept.take(&ctx.get_raw(0))?;
        kept.take(&ctx.get_raw(1))?;
        kept.all.insert(key, json::value(ctx.get_raw(1)));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, kept: Option<Members>) -> Result<Value> {
        Ok(kept.map_or(Value::Null, |mut kept| {
            let all = std::mem::take(&mut kept.all);
            Value::Text(json::text(&serde_json::Value::Object(all)))
        }))
    }
}
