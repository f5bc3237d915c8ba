//! SUM and AVG of exact numbers, over groups and windows.

use std::ffi::c_int;

use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use tare_mysql::decimal::Decimal;

use crate::call::real;
use crate::exact::{MORE_DIGITS, integer, value};

/// A total, which is exact unless a double is added.
#[derive(Default)]
pub(super) struct Total {
    /// Integers of 64 bits.
    integers: i128,
    /// DECIMALs.
    exact: Option<Decimal>,
    /// The sum of the doubles, and their count.
    doubles: f64,
    real: i64,
    count: i64,
}

impl Total {
    /// Adds a value (`by` is 1) or removes it (-1).
    fn take(&mut self, ctx: &Context<'_>, by: i64) {
        match ctx.get_raw(0) {
            ValueRef::Null => return,
            ValueRef::Integer(n) => self.integers += i128::from(n) * i128::from(by),
            ValueRef::Real(_) => {
                self.real += by;
                self.doubles += real(ctx, 0).unwrap_or(0.0) * by as f64;
            }
            other => {
                let Some(d) = value(other) else { return };
                let zero = Decimal::from(0i64);
                let before = self.exact.take().unwrap_or(zero);
                self.exact = if by > 0 {
                    before.plus(&d)
                } else {
                    before.minus(&d)
                };
            }
        }
        self.count += by;
    }

    fn sum(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        match &self.exact {
            _ if self.real > 0 => Value::Real(self.double()),
            None => integer(self.integers),
            Some(_) => Value::Text(self.decimal().text()),
        }
    }

    fn decimal(&self) -> Decimal {
        let integers = Decimal::from(self.integers);
        match &self.exact {
            None => integers,
            Some(exact) => exact.plus(&integers).unwrap_or(integers),
        }
    }

    fn double(&self) -> f64 {
        self.doubles + self.decimal().to_double()
    }

    fn average(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        if self.real > 0 {
            return Value::Real(self.double() / self.count as f64);
        }
        let mean = self.decimal().over(&Decimal::from(self.count), MORE_DIGITS);
        mean.map_or(Value::Null, |d| Value::Text(d.text()))
    }
}

/// SUM, or AVG.
pub(super) struct Exact {
    pub(super) average: bool,
}

impl Exact {
    fn answer(&self, total: Option<&Total>) -> Value {
        match (total, self.average) {
            (None, _) => Value::Null,
            (Some(total), true) => total.average(),
            (Some(total), false) => total.sum(),
        }
    }
}

impl Aggregate<Total, Value> for Exact {
    fn init(&self, _: &mut Context<'_>) -> Result<Total> {
        Ok(Total::default())
    }

    fn step(&self, ctx: &mut Context<'_>, total: &mut Total) -> Result<()> {
        total.take(ctx, 1);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, total: Option<Total>) -> Result<Value> {
        Ok(self.answer(total.as_ref()))
    }
}

impl WindowAggregate<Total, Value> for Exact {
    fn value(&self, total: Option<&mut Total>) -> Result<Value> {
        Ok(self.answer(total.as_deref()))
    }

    fn inverse(&self, ctx: &mut Context<'_>, total: &mut Total) -> Result<()> {
        total.take(ctx, -1);
        Ok(())
    }
}

/// Registers one of them with a connection.
pub(super) fn add(db: &Connection, name: &str, arguments: c_int, function: Exact) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_window_function(name, arguments, flags, function)
}
