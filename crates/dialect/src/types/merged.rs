//! The common type of several values: of COALESCE, CASE, UNION and their like.

use mysql_common::constants::{ColumnFlags, ColumnType};
use tare_mysql::wire::column::{CHARSET_BINARY, NOT_FIXED, WireType};

use super::arithmetic::real_of;
use super::kind::{
    CHARACTER_BYTES, MAX_DIGITS, characters, charset_of, decimal, digits, integer_digits, is_bytes,
    is_integer, is_null, is_number, is_number_literal, is_real, is_temporal, is_text, json, moment,
    signed_as, text_bytes,
};

use ColumnType::*;

/// The common type of values. It can be NULL if one of them can: callers correct that.
pub(super) fn merged(all: &[WireType]) -> WireType {
    let result = common(all);
    let is_null = all.iter().any(super::kind::is_nullable);
    super::kind::nullable(result, is_null)
}

fn common(all: &[WireType]) -> WireType {
    let values: Vec<&WireType> = all.iter().filter(|t| !is_null(t)).collect();
    let Some(&&first) = values.first() else {
        return WireType::null();
    };
    let code = values
        .iter()
        .skip(1)
        .fold(code_of(&first), |code, t| common_code(code, code_of(t)));
    match code {
        MYSQL_TYPE_BIT => WireType {
            length: longest(&values),
            flags: first.flags & (ColumnFlags::UNSIGNED_FLAG | ColumnFlags::BINARY_FLAG),
            ..first
        },
        MYSQL_TYPE_JSON => json(),
        MYSQL_TYPE_DATE => super::kind::date(),
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP | MYSQL_TYPE_TIME => {
            let digits = values.iter().map(|t| t.decimals).max();
            moment(code, digits.unwrap_or(0))
        }
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => WireType {
            code,
            ..real_of(&values)
        },
        MYSQL_TYPE_NEWDECIMAL => exact(&values),
        _ if is_integer(&WireType::number(code, 0)) => integer(code, &values),
        _ => string(code, &values),
    }
}

/// A type's code: that of an ENUM's or a SET's column is its own here.
fn code_of(t: &WireType) -> ColumnType {
    if t.flags.contains(ColumnFlags::ENUM_FLAG) {
        MYSQL_TYPE_ENUM
    } else if t.flags.contains(ColumnFlags::SET_FLAG) {
        MYSQL_TYPE_SET
    } else {
        t.code
    }
}

fn longest(values: &[&WireType]) -> u32 {
    values.iter().map(|t| t.length).max().unwrap_or(0)
}

fn exact(values: &[&WireType]) -> WireType {
    let before = values.iter().map(|t| integer_digits(t)).max().unwrap_or(0);
    let scale = values.iter().map(|t| digits(t).1).max().unwrap_or(0);
    decimal((before + scale).clamp(1, MAX_DIGITS), scale, false)
}

/// Integers: if only some are unsigned, the type is large enough for both.
fn integer(code: ColumnType, values: &[&WireType]) -> WireType {
    let unsigned = values.iter().filter(|t| t.is_unsigned()).count();
    let is_mixed = 0 < unsigned && unsigned < values.len();
    let fills = |t: &&&WireType| t.is_unsigned() && (t.code == code || t.code == MYSQL_TYPE_BIT);
    let code = match is_mixed && values.iter().any(|t| fills(&t)) {
        false => code,
        true => match code {
            MYSQL_TYPE_TINY => MYSQL_TYPE_SHORT,
            MYSQL_TYPE_SHORT => MYSQL_TYPE_INT24,
            MYSQL_TYPE_INT24 => MYSQL_TYPE_LONG,
            MYSQL_TYPE_LONG => MYSQL_TYPE_LONGLONG,
            _ => return exact(values),
        },
    };
    let t = WireType::number(code, longest(values));
    signed_as(t, unsigned == values.len())
}

/// Texts and bytes, or values that have no other common type.
fn string(code: ColumnType, values: &[&WireType]) -> WireType {
    let binary = are_bytes(values);
    let characters_of = |t: &&WireType| match is_text(t) || t.code == MYSQL_TYPE_JSON {
        true => text_bytes(t),
        false => characters(t).saturating_mul(CHARACTER_BYTES),
    };
    let length = match binary {
        true => longest(values),
        false => values.iter().map(characters_of).max().unwrap_or(0),
    };
    // Bytes beside a text are a hexadecimal literal, which takes the text's collation.
    let compares_bytes = |t: &&WireType| {
        (is_text(t) || t.code == MYSQL_TYPE_JSON)
            && t.flags.contains(ColumnFlags::BINARY_FLAG)
            && !is_bytes(t)
    };
    let exact = binary || values.iter().any(compares_bytes);
    let mut flags = ColumnFlags::empty();
    flags.set(ColumnFlags::BINARY_FLAG, exact);
    WireType {
        code,
        flags,
        charset: if binary {
            CHARSET_BINARY
        } else {
            charset_of(values.iter().copied())
        },
        length,
        decimals: NOT_FIXED,
    }
}

/// Whether texts and bytes together are bytes: a hexadecimal literal becomes a text beside a text.
pub(super) fn are_bytes(values: &[&WireType]) -> bool {
    let is_literal = |t: &&&WireType| is_number_literal(t);
    let has_bytes = values.iter().any(|t| is_bytes(t) && !is_literal(&t));
    let has_text = |t: &&WireType| t.charset != CHARSET_BINARY;
    has_bytes || values.iter().any(|t| is_literal(&t)) && !values.iter().any(has_text)
}

/// The rank of an integer's code.
fn rank(code: ColumnType) -> u8 {
    match code {
        MYSQL_TYPE_TINY => 0,
        MYSQL_TYPE_SHORT | MYSQL_TYPE_YEAR => 1,
        MYSQL_TYPE_INT24 => 2,
        MYSQL_TYPE_LONG => 3,
        _ => 4,
    }
}

/// The common code of two.
fn common_code(a: ColumnType, b: ColumnType) -> ColumnType {
    let [x, y] = [a, b].map(|code| WireType::number(code, 0));
    if a == b {
        return match a {
            MYSQL_TYPE_ENUM | MYSQL_TYPE_SET => MYSQL_TYPE_VAR_STRING,
            _ => a,
        };
    }
    if is_integer(&x) && is_integer(&y) {
        let code = if rank(a) >= rank(b) { a } else { b };
        return match code {
            MYSQL_TYPE_YEAR => MYSQL_TYPE_SHORT,
            MYSQL_TYPE_BIT => MYSQL_TYPE_LONGLONG,
            other => other,
        };
    }
    if is_number(&x) && is_number(&y) {
        return match (a, b) {
            _ if !is_real(&x) && !is_real(&y) => MYSQL_TYPE_NEWDECIMAL,
            // A FLOAT keeps the digits of integers that are not larger.
            (
                MYSQL_TYPE_FLOAT,
                MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_INT24 | MYSQL_TYPE_YEAR
                | MYSQL_TYPE_LONGLONG,
            )
            | (
                MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_INT24 | MYSQL_TYPE_YEAR,
                MYSQL_TYPE_FLOAT,
            ) => MYSQL_TYPE_FLOAT,
            _ => MYSQL_TYPE_DOUBLE,
        };
    }
    if is_temporal(&x) && is_temporal(&y) {
        return MYSQL_TYPE_DATETIME;
    }
    let codes = [a, b];
    let has = |code| codes.contains(&code);
    if has(MYSQL_TYPE_JSON) || has(MYSQL_TYPE_LONG_BLOB) {
        return MYSQL_TYPE_LONG_BLOB;
    }
    if has(MYSQL_TYPE_MEDIUM_BLOB) {
        return MYSQL_TYPE_MEDIUM_BLOB;
    }
    if has(MYSQL_TYPE_BLOB) {
        return MYSQL_TYPE_BLOB;
    }
    match has(MYSQL_TYPE_STRING) && !has(MYSQL_TYPE_VAR_STRING) {
        true => MYSQL_TYPE_STRING,
        false => MYSQL_TYPE_VAR_STRING,
    }
}
