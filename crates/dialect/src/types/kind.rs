//! Kinds of types, and the common type of two.

use mysql_common::constants::{ColumnFlags, ColumnType};
use tare_mysql::wire::column::{CHARSET_UTF8MB4, NOT_FIXED, WireType};

use ColumnType::*;

/// JSON.
pub const fn json() -> WireType {
    WireType {
        code: MYSQL_TYPE_JSON,
        charset: CHARSET_UTF8MB4,
        ..WireType::blob()
    }
}

/// Whether values are numbers.
pub fn is_number(t: &WireType) -> bool {
    is_integer(t)
        || matches!(
            t.code,
            MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT | MYSQL_TYPE_NEWDECIMAL
        )
}

/// Whether values are integers.
pub fn is_integer(t: &WireType) -> bool {
    matches!(
        t.code,
        MYSQL_TYPE_LONGLONG
            | MYSQL_TYPE_LONG
            | MYSQL_TYPE_INT24
            | MYSQL_TYPE_SHORT
            | MYSQL_TYPE_TINY
            | MYSQL_TYPE_YEAR
    )
}

/// Whether values are texts.
pub fn is_text(t: &WireType) -> bool {
    matches!(
        t.code,
        MYSQL_TYPE_VAR_STRING | MYSQL_TYPE_STRING | MYSQL_TYPE_BLOB
    )
}

/// Whether values are dates or times.
pub fn is_temporal(t: &WireType) -> bool {
    matches!(
        t.code,
        MYSQL_TYPE_DATE | MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP | MYSQL_TYPE_TIME
    )
}

/// The type without the properties of a table's column.
pub fn loose(mut t: WireType) -> WireType {
    t.flags &= ColumnFlags::UNSIGNED_FLAG | ColumnFlags::BINARY_FLAG;
    if t.code == MYSQL_TYPE_TIMESTAMP {
        t.code = MYSQL_TYPE_DATETIME;
    }
    t
}

/// BIGINT, with a sign or without.
pub fn bigint(unsigned: bool) -> WireType {
    if unsigned {
        WireType::bigint_unsigned()
    } else {
        WireType::bigint()
    }
}

/// Digits after the decimal point in decimal arithmetic.
pub fn scale(t: &WireType) -> u8 {
    if t.code == MYSQL_TYPE_NEWDECIMAL {
        t.decimals
    } else {
        0
    }
}

/// The common type of two, for UNION and COALESCE.
pub fn merged(a: Option<WireType>, b: Option<WireType>) -> Option<WireType> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (None, _) | (_, None) => return None,
    };
    Some(match (a, b) {
        (a, b) if a.code == MYSQL_TYPE_NULL => b,
        (a, b) if b.code == MYSQL_TYPE_NULL => a,
        (a, b) if a.code == b.code && !is_number(&a) => WireType {
            length: a.length.max(b.length),
            ..loose(a)
        },
        // No integer has both ranges.
        (a, b)
            if is_integer(&a)
                && is_integer(&b)
                && (is_big(&a) && !b.is_unsigned() || is_big(&b) && !a.is_unsigned()) =>
        {
            WireType::decimal(21, 0)
        }
        (a, b) if is_integer(&a) && is_integer(&b) => bigint(a.is_unsigned() && b.is_unsigned()),
        (a, b) if is_number(&a) && is_number(&b) => {
            if [a.code, b.code].contains(&MYSQL_TYPE_DOUBLE)
                || [a.code, b.code].contains(&MYSQL_TYPE_FLOAT)
            {
                fixed(display_decimals(&a).max(display_decimals(&b)))
            } else {
                let all = WireType::decimal(a.length.max(b.length), scale(&a).max(scale(&b)));
                signed_as(all, a.is_unsigned() && b.is_unsigned())
            }
        }
        (a, b) if is_temporal(&a) && is_temporal(&b) => WireType::number(MYSQL_TYPE_DATETIME, 19),
        _ => WireType::text(255),
    })
}

/// BIGINT UNSIGNED.
fn is_big(t: &WireType) -> bool {
    t.code == MYSQL_TYPE_LONGLONG && t.is_unsigned()
}

/// The type with a sign, or without.
pub fn signed_as(mut t: WireType, unsigned: bool) -> WireType {
    t.flags.set(ColumnFlags::UNSIGNED_FLAG, unsigned);
    t
}

/// The type of a sum, difference, product or remainder; `digits` joins the operands' scales.
pub fn arithmetic(a: Option<WireType>, b: Option<WireType>, digits: fn(u8, u8) -> u8) -> WireType {
    let (Some(a), Some(b)) = (a, b) else {
        // A parameter or variable: the type of SQLite's value is better than a guess.
        return WireType::double();
    };
    let as_number = |t: WireType| match t {
        t if is_number(&t) => t,
        t if is_temporal(&t) => WireType::bigint(),
        _ => WireType::double(),
    };
    let (a, b) = (as_number(a), as_number(b));
    if is_integer(&a) && is_integer(&b) {
        return bigint(a.is_unsigned() || b.is_unsigned());
    }
    if a.code == MYSQL_TYPE_NEWDECIMAL && (b.code == MYSQL_TYPE_NEWDECIMAL || is_integer(&b))
        || b.code == MYSQL_TYPE_NEWDECIMAL && is_integer(&a)
    {
        let digits = digits(scale(&a), scale(&b)).min(30);
        let mut sum = WireType::decimal(a.length + b.length + 1, digits);
        if a.is_unsigned() && b.is_unsigned() {
            sum.flags |= ColumnFlags::UNSIGNED_FLAG;
        }
        return sum;
    }
    fixed(display_decimals(&a).max(display_decimals(&b)))
}

/// Displayed digits after the decimal point.
pub fn display_decimals(t: &WireType) -> u8 {
    match t.code {
        MYSQL_TYPE_NEWDECIMAL | MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT => t.decimals.min(NOT_FIXED),
        _ if is_number(t) => 0,
        _ => NOT_FIXED,
    }
}

/// A double with so many displayed digits after the point; NOT_FIXED displays those that it has.
pub fn fixed(decimals: u8) -> WireType {
    WireType {
        decimals: decimals.min(NOT_FIXED),
        ..WireType::double()
    }
}

/// SUM of a type.
pub fn sum(t: Option<WireType>) -> WireType {
    match t {
        Some(t) if is_integer(&t) => WireType::decimal(t.length.max(20) + 22, 0),
        Some(t) if t.code == MYSQL_TYPE_NEWDECIMAL => WireType::decimal(t.length + 22, t.decimals),
        t => fixed(t.map_or(NOT_FIXED, |t| display_decimals(&t))),
    }
}

/// AVG of a type.
pub fn average(t: Option<WireType>) -> WireType {
    match t {
        Some(t) if is_integer(&t) || t.code == MYSQL_TYPE_NULL => WireType::decimal(25, 4),
        Some(t) if t.code == MYSQL_TYPE_NEWDECIMAL => {
            WireType::decimal(t.length + 4, (t.decimals + 4).min(30))
        }
        None => WireType::decimal(25, 4),
        Some(t) => fixed(display_decimals(&t).saturating_add(4)),
    }
}
