//! Kinds of types, and the types that expressions have in MySQL.

use mysql_common::constants::{ColumnFlags, ColumnType};
use tare_mysql::wire::column::{CHARSET_BINARY, CHARSET_UTF8MB4, NOT_FIXED, WireType};

use ColumnType::*;

/// The bytes of the longest character.
pub(super) const CHARACTER_BYTES: u32 = 4;
/// The digits of a DOUBLE as a text, at most.
const REAL_CHARACTERS: u32 = 22;
/// The most digits of a DECIMAL.
pub(super) const MAX_DIGITS: u32 = 65;

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
            | MYSQL_TYPE_BIT
    )
}

/// Whether values are floating-point numbers.
pub(super) fn is_real(t: &WireType) -> bool {
    matches!(t.code, MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT)
}

/// Whether values are texts or bytes.
pub fn is_text(t: &WireType) -> bool {
    matches!(
        t.code,
        MYSQL_TYPE_VAR_STRING | MYSQL_TYPE_STRING | MYSQL_TYPE_ENUM | MYSQL_TYPE_SET
    ) || t.is_long_text()
}

/// Whether values are bytes.
pub(super) fn is_bytes(t: &WireType) -> bool {
    t.charset == CHARSET_BINARY && (is_text(t) || t.code == MYSQL_TYPE_BIT)
}

/// Whether a type is JSON.
pub fn is_json(t: &WireType) -> bool {
    t.code == MYSQL_TYPE_JSON
}

/// Whether values are dates or times.
pub fn is_temporal(t: &WireType) -> bool {
    matches!(
        t.code,
        MYSQL_TYPE_DATE | MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP | MYSQL_TYPE_TIME
    )
}

/// Whether it is a hexadecimal literal, which is a number in arithmetic.
pub(super) fn is_number_literal(t: &WireType) -> bool {
    is_text(t) && t.is_unsigned()
}

/// A type without the mark of an ENUM's or a SET's column.
pub fn unmarked(mut t: WireType) -> WireType {
    t.flags &= !(ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG);
    t
}

/// Whether the value is NULL.
pub(super) fn is_null(t: &WireType) -> bool {
    t.code == MYSQL_TYPE_NULL
}

/// Whether a value can be NULL.
pub fn is_nullable(t: &WireType) -> bool {
    !t.flags.contains(ColumnFlags::NOT_NULL_FLAG)
}

/// The same type for values that can be NULL, or not.
pub fn nullable(mut t: WireType, nullable: bool) -> WireType {
    t.flags.set(ColumnFlags::NOT_NULL_FLAG, !nullable);
    t
}

/// The type of a column as an operand: without the properties that only a column has.
pub fn operand(mut t: WireType) -> WireType {
    if t.flags.contains(ColumnFlags::BLOB_FLAG) {
        t.length = match t.charset {
            CHARSET_BINARY => t.length,
            _ => t.length.saturating_mul(CHARACTER_BYTES),
        };
    }
    t.flags &= ColumnFlags::UNSIGNED_FLAG
        | ColumnFlags::BINARY_FLAG
        | ColumnFlags::NOT_NULL_FLAG
        | ColumnFlags::ENUM_FLAG
        | ColumnFlags::SET_FLAG;
    if is_number(&t) && t.code != MYSQL_TYPE_BIT {
        t.flags |= ColumnFlags::BINARY_FLAG;
    }
    match t.code {
        MYSQL_TYPE_JSON => nullable(json(), is_nullable(&t)),
        // BOOL has room for one digit, but a TINYINT's values.
        MYSQL_TYPE_TINY if !t.is_unsigned() => WireType { length: 4, ..t },
        _ if is_text(&t) && !is_number_literal(&t) => WireType {
            decimals: NOT_FIXED,
            ..t
        },
        _ => t,
    }
}

/// The character set of texts together: that of a system table's text, or else the connection's.
pub(super) fn charset_of<'t>(values: impl IntoIterator<Item = &'t WireType>) -> u16 {
    let is_own = |t: &&WireType| ![CHARSET_BINARY, CHARSET_UTF8MB4].contains(&t.charset);
    let own = values.into_iter().find(is_own);
    own.map_or(CHARSET_UTF8MB4, |t| t.charset)
}

/// JSON.
pub fn json() -> WireType {
    WireType {
        code: MYSQL_TYPE_JSON,
        charset: CHARSET_UTF8MB4,
        decimals: NOT_FIXED,
        ..WireType::blob()
    }
}

/// BIGINT of a number of characters.
pub(super) fn int(length: u32) -> WireType {
    WireType::number(MYSQL_TYPE_LONGLONG, length)
}

/// BIGINT UNSIGNED of a number of characters.
pub(super) fn uint(length: u32) -> WireType {
    signed_as(int(length), true)
}

/// BIGINT of 21 characters, with a sign or without.
pub(super) fn bigint(unsigned: bool) -> WireType {
    signed_as(int(21), unsigned)
}

/// A truth value: 0, 1 or NULL.
pub(super) fn truth() -> WireType {
    int(1)
}

/// The type with a sign, or without.
pub(super) fn signed_as(mut t: WireType, unsigned: bool) -> WireType {
    t.flags.set(ColumnFlags::UNSIGNED_FLAG, unsigned);
    t
}

/// A DECIMAL of so many digits, of which some are behind the point.
pub(super) fn decimal(digits: u32, scale: u32, unsigned: bool) -> WireType {
    let scale = scale.min(30);
    let length = digits.max(scale) + u32::from(scale > 0) + u32::from(!unsigned);
    signed_as(WireType::decimal(length, scale as u8), unsigned)
}

/// A double with so many displayed digits behind the point; [`NOT_FIXED`] displays those that it has.
pub fn fixed(decimals: u8) -> WireType {
    let decimals = decimals.min(NOT_FIXED);
    WireType {
        decimals,
        length: real_length(decimals),
        ..WireType::double()
    }
}

/// The longest text of a double with so many digits behind the point.
pub(super) fn real_length(decimals: u8) -> u32 {
    match decimals {
        NOT_FIXED.. => 23,
        _ => 17 + u32::from(decimals),
    }
}

/// A text of so many characters.
pub(super) fn text(characters: u32) -> WireType {
    sized(
        WireType::text(1),
        characters.saturating_mul(CHARACTER_BYTES),
    )
}

/// So many bytes.
pub(super) fn bytes(length: u32) -> WireType {
    sized(
        WireType {
            decimals: NOT_FIXED,
            ..WireType::number(MYSQL_TYPE_VAR_STRING, 1)
        },
        length,
    )
}

/// A text's type for another length in bytes.
pub(super) fn sized(t: WireType, length: u32) -> WireType {
    let code = match length {
        0..=65_535 => MYSQL_TYPE_VAR_STRING,
        65_536..=16_777_215 => MYSQL_TYPE_MEDIUM_BLOB,
        _ => MYSQL_TYPE_LONG_BLOB,
    };
    WireType {
        code,
        length,
        decimals: NOT_FIXED,
        ..t
    }
}

/// A time, or a date and time, with so many digits behind the second.
pub(super) fn moment(code: ColumnType, digits: u8) -> WireType {
    let length = match code {
        MYSQL_TYPE_TIME => 10,
        _ => 19,
    };
    let digits = digits.min(6);
    WireType {
        decimals: digits,
        ..WireType::number(code, length + u32::from(digits) + u32::from(digits > 0))
    }
}

/// DATE.
pub(super) fn date() -> WireType {
    WireType::number(MYSQL_TYPE_DATE, 10)
}

/// The characters of a value as a text.
pub fn characters(t: &WireType) -> u32 {
    match t.code {
        MYSQL_TYPE_DOUBLE => REAL_CHARACTERS,
        _ if t.charset == CHARSET_BINARY => t.length,
        _ if t.length == u32::MAX => u32::MAX,
        _ => t.length / CHARACTER_BYTES,
    }
}

/// The bytes of a value as a text that is made of these characters.
pub(super) fn text_bytes(t: &WireType) -> u32 {
    match t.charset {
        CHARSET_BINARY => characters(t).saturating_mul(CHARACTER_BYTES),
        _ => t.length,
    }
}

/// Digits of an exact number, and how many of them are behind the point.
pub fn digits(t: &WireType) -> (u32, u32) {
    let scale = u32::from(t.decimals);
    let sign = u32::from(!t.is_unsigned());
    match t.code {
        MYSQL_TYPE_NEWDECIMAL => (
            t.length.saturating_sub(sign + u32::from(scale > 0)).max(1),
            scale,
        ),
        MYSQL_TYPE_DATE => (8, 0),
        MYSQL_TYPE_TIME => (7 + scale, scale),
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => (14 + scale, scale),
        _ if is_integer(t) => (t.length.saturating_sub(sign).max(1), 0),
        // A hexadecimal literal.
        _ if is_number_literal(t) => ((t.length * 2).clamp(3, 20), 0),
        _ => (characters(t).min(MAX_DIGITS), 0),
    }
}

/// The digits before the point.
pub(super) fn integer_digits(t: &WireType) -> u32 {
    let (all, scale) = digits(t);
    all - scale.min(all)
}

/// How a type counts in arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Int,
    Decimal,
    Real,
}

/// How a type counts in arithmetic.
pub(super) fn arithmetic_kind(t: &WireType) -> Arithmetic {
    match t.code {
        MYSQL_TYPE_NEWDECIMAL => Arithmetic::Decimal,
        _ if is_temporal(t) && t.decimals > 0 => Arithmetic::Decimal,
        _ if is_temporal(t) || is_integer(t) => Arithmetic::Int,
        _ if is_number_literal(t) => Arithmetic::Int,
        _ => Arithmetic::Real,
    }
}

/// Displayed digits behind the point of a number.
pub(super) fn real_decimals(t: &WireType) -> u8 {
    match t.code {
        MYSQL_TYPE_NULL => 0,
        _ if is_text(t) && !is_number_literal(t) || is_json(t) => NOT_FIXED,
        _ => t.decimals.min(NOT_FIXED),
    }
}

/// The characters of a text, or its bytes.
pub(super) fn units_of(t: &WireType) -> u32 {
    match t.charset {
        CHARSET_BINARY => t.length,
        _ => t.length / CHARACTER_BYTES,
    }
}
