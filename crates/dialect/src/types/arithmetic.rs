//! The types of arithmetic: operators, and functions that compute with numbers.

use mysql_common::constants::ColumnType;
use tare_mysql::wire::column::{NOT_FIXED, WireType};

use super::kind::{
    Arithmetic, MAX_DIGITS, arithmetic_kind, bigint, characters, decimal, digits, fixed, int,
    integer_digits, is_nullable, is_real, nullable, real_decimals, real_length, signed_as,
};

use Arithmetic::*;

/// An operator whose result has the digits of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// A sum or a difference.
    Add,
    Multiply,
    Modulo,
}

/// The type of a sum, difference, product or remainder.
pub(super) fn arithmetic(op: Operator, a: &WireType, b: &WireType) -> WireType {
    let kind = [a, b].map(arithmetic_kind);
    let result = if kind.contains(&Real) {
        real(op, a, b)
    } else if kind.contains(&Decimal) {
        exact(op, a, b)
    } else {
        integer(op, a, b)
    };
    let is_null = op == Operator::Modulo || is_nullable(a) || is_nullable(b);
    nullable(result, is_null)
}

fn integer(op: Operator, a: &WireType, b: &WireType) -> WireType {
    let (x, y) = (digits(a).0, digits(b).0);
    let unsigned = a.is_unsigned() || b.is_unsigned();
    let sign = u32::from(!unsigned);
    match op {
        Operator::Add => signed_as(int(x.max(y) + 1 + sign), unsigned),
        Operator::Multiply => signed_as(int(x + y + sign), unsigned),
        // The sign is the dividend's.
        Operator::Modulo => signed_as(int(x.max(y) + 1), a.is_unsigned()),
    }
}

fn exact(op: Operator, a: &WireType, b: &WireType) -> WireType {
    let ((x, x_scale), (y, y_scale)) = (digits(a), digits(b));
    let unsigned = a.is_unsigned() && b.is_unsigned();
    let scale = x_scale.max(y_scale);
    match op {
        Operator::Add => {
            let before = integer_digits(a).max(integer_digits(b)) + 1;
            decimal(before + scale, scale, unsigned)
        }
        Operator::Multiply => {
            let scale = (x_scale + y_scale).min(30);
            decimal((x + y).min(MAX_DIGITS), scale, unsigned)
        }
        Operator::Modulo => signed_as(decimal(x.max(y), scale, false), a.is_unsigned()),
    }
}

fn real(op: Operator, a: &WireType, b: &WireType) -> WireType {
    let result = real_of(&[a, b]);
    signed_as(result, op == Operator::Modulo && a.is_unsigned())
}

/// The double that displays all of these numbers.
pub(super) fn real_of(all: &[&WireType]) -> WireType {
    let decimals = all.iter().map(|t| real_decimals(t)).max().unwrap_or(0);
    let before = all.iter().map(|t| {
        let own = u32::from(real_decimals(t));
        t.length.saturating_sub(own)
    });
    WireType {
        length: match decimals {
            NOT_FIXED => real_length(NOT_FIXED),
            _ => before.max().unwrap_or(0) + u32::from(decimals),
        },
        ..fixed(decimals)
    }
}

/// The type of a quotient: four more digits behind the point than the dividend has.
pub(super) fn quotient(a: &WireType, b: &WireType) -> WireType {
    if [a, b].map(arithmetic_kind).contains(&Real) {
        let decimals = real_decimals(a)
            .max(real_decimals(b))
            .saturating_add(4)
            .min(NOT_FIXED);
        let before = a.length.saturating_sub(real_decimals(a).into());
        let length = real_length(decimals);
        return WireType {
            length: match decimals {
                NOT_FIXED => length,
                _ => length.min(before + u32::from(decimals)),
            },
            ..fixed(decimals)
        };
    }
    let ((x, x_scale), (_, y_scale)) = (digits(a), digits(b));
    decimal(
        (x + 4 + y_scale).min(MAX_DIGITS),
        x_scale + 4,
        a.is_unsigned() && b.is_unsigned(),
    )
}

/// The type of DIV.
pub(super) fn integer_quotient(a: &WireType, b: &WireType) -> WireType {
    let behind = |t: &WireType| u32::from(real_decimals(t));
    let more = match arithmetic_kind(b) {
        Real if real_decimals(b) == NOT_FIXED => characters(b),
        _ => behind(b),
    };
    let before = match arithmetic_kind(a) {
        Real if real_decimals(a) == NOT_FIXED => characters(a),
        Real => characters(a).saturating_sub(behind(a)),
        _ => integer_digits(a),
    };
    let unsigned = a.is_unsigned() || b.is_unsigned();
    let length = before.saturating_add(more).min(21);
    signed_as(int(length + u32::from(!unsigned)), unsigned)
}

/// The type of `-x`.
pub(super) fn negative(t: &WireType) -> WireType {
    let result = match arithmetic_kind(t) {
        Int if !super::kind::is_temporal(t) => int(t.length + u32::from(t.is_unsigned())),
        Decimal if t.code == ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            let (all, scale) = digits(t);
            decimal(all, scale, false)
        }
        _ => fixed(real_decimals(t)),
    };
    nullable(result, is_nullable(t))
}

/// The type of ABS.
pub(super) fn magnitude(t: &WireType) -> WireType {
    let result = match arithmetic_kind(t) {
        Int if !super::kind::is_temporal(t) => signed_as(int(t.length), t.is_unsigned()),
        Decimal if t.code == ColumnType::MYSQL_TYPE_NEWDECIMAL => *t,
        _ => signed_as(fixed(real_decimals(t)), t.is_unsigned() && is_real(t)),
    };
    nullable(result, is_nullable(t))
}

/// The type of SUM.
pub(super) fn sum(t: &WireType) -> WireType {
    match arithmetic_kind(t) {
        Real => fixed(real_decimals(t)),
        _ => {
            let (all, scale) = digits(t);
            decimal((all + 22).min(MAX_DIGITS), scale, false)
        }
    }
}

/// The type of AVG: four more digits behind the point.
pub(super) fn average(t: &WireType) -> WireType {
    match arithmetic_kind(t) {
        Real => fixed(real_decimals(t).saturating_add(4)),
        _ => {
            let (all, scale) = digits(t);
            decimal((all + 4).min(MAX_DIGITS), scale + 4, false)
        }
    }
}

/// The type of FLOOR and CEIL.
pub(super) fn integral(t: &WireType) -> WireType {
    let result = match t.code {
        ColumnType::MYSQL_TYPE_NEWDECIMAL => match integer_digits(t) {
            0..=17 => bigint(false),
            before => decimal(before + 1, 0, false),
        },
        _ if super::kind::is_integer(t) => bigint(t.is_unsigned()),
        _ => fixed(NOT_FIXED),
    };
    nullable(result, is_nullable(t))
}

/// The type of ROUND to a number of digits, or of TRUNCATE; `None`: the number is not constant.
pub(super) fn rounded(t: &WireType, to: Option<i64>, truncates: bool) -> WireType {
    match t.code {
        ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            let (all, scale) = digits(t);
            let new = to.map_or(scale, |n| n.clamp(0, 30) as u32).min(scale);
            let carries = !truncates && to.is_some_and(|n| n <= i64::from(scale));
            decimal(all - scale + new + u32::from(carries), new, false)
        }
        _ if super::kind::is_integer(t) => bigint(t.is_unsigned()),
        _ => fixed(NOT_FIXED),
    }
}
