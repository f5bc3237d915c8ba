//! Types that the text of an expression determines: literals, casts, formats and numbers of digits.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{
    CharacterLength, DataType, DateTimeField, ExactNumberInfo, Expr, UnaryOperator, Value,
};
use tare_mysql::wire::column::{CHARSET_BINARY, NOT_FIXED, WireType};

use super::kind::{
    bigint, bytes, characters, date, decimal, fixed, int, is_nullable, is_real, is_temporal, json,
    moment, nullable, sized, text, text_bytes, uint,
};

use ColumnType::*;

/// Whether an expression is an INTERVAL.
pub fn is_interval(expr: &Expr) -> bool {
    matches!(expr, Expr::Interval(_))
}

/// The text of a literal.
pub(super) fn literal_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Nested(inner) => literal_text(inner),
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s)
            | Value::DoubleQuotedString(s)
            | Value::NationalStringLiteral(s) => Some(s),
            _ => None,
        },
        _ => None,
    }
}

/// Fractional digits of a time: those of a literal, or the type's.
pub(super) fn fraction_of(expr: &Expr, t: &WireType) -> u8 {
    if let Some(text) = literal_text(expr)
        && text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    {
        return fraction_of_text(text);
    }
    // A variable's DECIMAL may have any scale.
    let is_variable = matches!(expr, Expr::Identifier(name) if name.value.starts_with('@'));
    match t.code {
        MYSQL_TYPE_NULL => 0,
        MYSQL_TYPE_NEWDECIMAL if is_variable => 6,
        MYSQL_TYPE_NEWDECIMAL => t.decimals.min(6),
        _ if is_real(t) || is_temporal(t) => t.decimals.min(6),
        _ if super::kind::is_integer(t) => 0,
        _ => 6,
    }
}

/// Fractional digits of a number of seconds: a text may have any.
pub(super) fn fraction_of_seconds(expr: &Expr, t: &WireType) -> u8 {
    match literal_text(expr) {
        Some(_) => 6,
        None if super::kind::is_number_literal(t) => 0,
        None => fraction_of(expr, t),
    }
}

/// Fractional digits of a text.
pub(crate) fn fraction_of_text(text: &str) -> u8 {
    let fraction = text.rsplit_once('.');
    fraction.map_or(0, |(_, f)| {
        f.bytes().take_while(u8::is_ascii_digit).count().min(6) as u8
    })
}

/// The unit of an interval.
pub(super) fn unit_of(interval: &Expr) -> String {
    let Expr::Interval(i) = interval else {
        return "DAY".into();
    };
    let unit = i.leading_field.as_ref();
    unit.map_or_else(String::new, |u| u.to_string().to_uppercase())
}

/// The type of a date plus so many units; `value` is the amount, and its type.
pub(super) fn moved(of: &WireType, unit: &str, value: Option<(&Expr, WireType)>) -> WireType {
    let is_day = matches!(
        unit,
        "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR" | "YEAR_MONTH"
    );
    let digits = match unit {
        _ if unit.ends_with("MICROSECOND") => 6,
        "SECOND" => value.map_or(0, |(expr, t)| fraction_of_seconds(expr, &t)),
        _ => 0,
    };
    match of.code {
        MYSQL_TYPE_DATE if is_day => date(),
        // A unit with a day moves the date, too.
        MYSQL_TYPE_TIME if !is_day && !unit.starts_with("DAY") => {
            moment(MYSQL_TYPE_TIME, digits.max(of.decimals))
        }
        _ if is_temporal(of) => moment(MYSQL_TYPE_DATETIME, digits.max(of.decimals)),
        _ => moved_text(),
    }
}

/// A text that is read as a date or a time, and may be either.
pub(super) fn moved_text() -> WireType {
    WireType {
        code: MYSQL_TYPE_STRING,
        ..text(29)
    }
}

/// The type of STR_TO_DATE with a format: a date, a time or both.
pub(super) fn of_format(format: Option<&&Expr>) -> WireType {
    let Some(format) = format.and_then(|e| literal_text(e)) else {
        return moment(MYSQL_TYPE_DATETIME, 6);
    };
    let has = |letters: &str| {
        let mut chars = format.chars();
        std::iter::from_fn(|| {
            chars
                .by_ref()
                .find(|c| *c == '%')
                .and_then(|_| chars.next())
        })
        .any(|c| letters.contains(c))
    };
    let micros = if has("f") { 6 } else { 0 };
    match (has("abcDdejMmUuVvWwXxYy"), has("fHhIiklprSsT")) {
        (_, false) => date(),
        (false, true) => moment(MYSQL_TYPE_TIME, micros),
        _ => moment(MYSQL_TYPE_DATETIME, micros),
    }
}

/// The characters of a date that a format displays, at most.
pub(super) fn format_width(format: &str) -> u32 {
    let mut width: u32 = 0;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        width += match (c, (c == '%').then(|| chars.next()).flatten()) {
            ('%', Some(letter)) => match letter {
                'M' | 'W' => 64,
                'a' | 'b' => 32,
                'r' => 11,
                'T' => 8,
                'H' | 'k' => 7,
                'f' => 6,
                'D' | 'Y' | 'X' | 'x' => 4,
                'j' => 3,
                'U' | 'u' | 'V' | 'v' | 'y' | 'm' | 'd' | 'h' | 'i' | 'I' | 'l' | 'p' | 'S'
                | 's' | 'c' | 'e' => 2,
                _ => 1,
            },
            _ => 1,
        };
    }
    width
}

/// The characters of EXTRACT of a unit.
pub(super) fn extract_width(unit: &DateTimeField) -> u32 {
    match unit.to_string().to_uppercase().as_str() {
        "QUARTER" => 2,
        "WEEK" | "MONTH" | "MINUTE" | "SECOND" | "DAY" => 3,
        "HOUR" => 4,
        "YEAR" | "MINUTE_SECOND" => 5,
        "HOUR_MINUTE" => 6,
        "YEAR_MONTH" | "MICROSECOND" => 7,
        "HOUR_SECOND" => 8,
        "DAY_HOUR" | "SECOND_MICROSECOND" => 9,
        "DAY_MINUTE" | "MINUTE_MICROSECOND" => 11,
        "DAY_SECOND" => 13,
        "HOUR_MICROSECOND" => 14,
        _ => 20,
    }
}

/// The value of a literal integer.
pub(super) fn literal_number(e: &Expr) -> Option<i64> {
    match e {
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => n.parse::<f64>().ok().map(|x| x.round() as i64),
            Value::Boolean(b) => Some((*b).into()),
            _ => None,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => literal_number(expr).map(|n| -n),
        Expr::Nested(e) => literal_number(e),
        _ => None,
    }
}

/// The type of a literal.
pub(super) fn of_literal(value: &Value) -> Option<WireType> {
    let t = match value {
        Value::Number(n, _) => of_number(n),
        Value::SingleQuotedString(s)
        | Value::DoubleQuotedString(s)
        | Value::NationalStringLiteral(s) => text(s.chars().count() as u32),
        Value::Boolean(_) => int(1),
        Value::Null => return Some(WireType::null()),
        Value::HexStringLiteral(hex) => WireType {
            decimals: 0,
            flags: ColumnFlags::UNSIGNED_FLAG | ColumnFlags::BINARY_FLAG,
            ..bytes((hex.len() as u32).div_ceil(2))
        },
        Value::SingleQuotedByteStringLiteral(bits) => WireType {
            decimals: 0,
            ..bytes(bits.len().div_ceil(8) as u32)
        },
        _ => return None,
    };
    Some(nullable(t, false))
}

fn of_number(n: &str) -> WireType {
    let length = n.len() as u32;
    if n.parse::<i64>().is_ok() {
        return int(length + 1);
    }
    if n.parse::<u64>().is_ok() {
        return uint(length);
    }
    if n.contains(['e', 'E']) {
        return WireType {
            length,
            ..fixed(NOT_FIXED)
        };
    }
    let (before, behind) = n.split_once('.').unwrap_or((n, ""));
    let (before, behind) = (before.len() as u32, behind.len() as u32);
    decimal(before + behind.min(30), behind, false)
}

/// The type of the negative of a literal number; `None` if the expression is something else.
pub(super) fn of_negative_literal(expr: &Expr) -> Option<WireType> {
    let Expr::Value(v) = expr else { return None };
    let Value::Number(n, _) = &v.value else {
        return None;
    };
    let t = of_number(n);
    let result = match t.code {
        MYSQL_TYPE_LONGLONG if t.is_unsigned() => match format!("-{n}").parse::<i64>() {
            Ok(_) => int(20),
            Err(_) => decimal(n.len() as u32, 0, false),
        },
        MYSQL_TYPE_DOUBLE => fixed(NOT_FIXED),
        _ => t,
    };
    Some(nullable(result, false))
}

/// The type of a CAST; its length without the operand is the longest.
pub fn of_cast(data_type: &DataType) -> WireType {
    cast(data_type, &nullable(text(255), true))
}

/// The type of a CAST of an operand.
pub(super) fn cast(data_type: &DataType, of: &WireType) -> WireType {
    use DataType::*;
    let returns_null = |t| nullable(t, is_nullable(of));
    let length = |n: &Option<CharacterLength>| match n {
        Some(CharacterLength::IntegerLength { length, .. }) => u32::try_from(*length).ok(),
        _ => None,
    };
    match data_type {
        Unsigned | UnsignedInteger => returns_null(bigint(true)),
        Signed | SignedInteger | Int(_) | Integer(_) | BigInt(_) => returns_null(bigint(false)),
        Decimal(info) | Numeric(info) | Dec(info) => {
            let (digits, scale) = match info {
                ExactNumberInfo::PrecisionAndScale(p, s) => (*p, (*s).clamp(0, 30) as u32),
                ExactNumberInfo::Precision(p) => (*p, 0),
                ExactNumberInfo::None => (10, 0),
            };
            returns_null(decimal(digits.min(65) as u32, scale, false))
        }
        Double(_) | DoublePrecision | Real => returns_null(fixed(NOT_FIXED)),
        Float(info) => returns_null(match info {
            ExactNumberInfo::Precision(25..) => fixed(NOT_FIXED),
            _ => WireType {
                code: MYSQL_TYPE_FLOAT,
                ..fixed(NOT_FIXED)
            },
        }),
        Date => date(),
        Datetime(digits) | Timestamp(digits, _) => {
            moment(MYSQL_TYPE_DATETIME, digits.unwrap_or(0).min(6) as u8)
        }
        Time(digits, _) => moment(MYSQL_TYPE_TIME, digits.unwrap_or(0).min(6) as u8),
        Binary(n) => bytes(n.map_or(of.length, |n| u32::try_from(n).unwrap_or(u32::MAX))),
        Varbinary(_) | Blob(_) => bytes(of.length),
        JSON => json(),
        Char(n) | Character(n) | Varchar(n) | Nvarchar(n) => match length(n) {
            Some(n) => text(n),
            None => as_text(of),
        },
        Custom(name, _) if name.to_string().eq_ignore_ascii_case("year") => year(),
        _ => as_text(of),
    }
}

/// YEAR.
pub(super) fn year() -> WireType {
    WireType {
        code: MYSQL_TYPE_YEAR,
        ..uint(4)
    }
}

/// A value as a text of characters.
pub(super) fn as_text(of: &WireType) -> WireType {
    let charset = super::kind::charset_of([of]);
    WireType {
        charset,
        ..sized(text(1), text_bytes(of))
    }
}

/// A text with the length and the collation of a value that is used as a text.
pub(super) fn like_text(of: &WireType) -> WireType {
    let t = match super::kind::is_bytes(of) || of.code == MYSQL_TYPE_NULL {
        true => bytes(of.length),
        false => as_text(of),
    };
    let compares_bytes = of.charset != CHARSET_BINARY
        && of.flags.contains(ColumnFlags::BINARY_FLAG)
        && !super::kind::is_number(of);
    let mut t = t;
    if compares_bytes {
        t.flags |= ColumnFlags::BINARY_FLAG;
    }
    t
}

/// The same, of at most so many characters.
pub(super) fn at_most(of: &WireType, most: u32) -> WireType {
    let t = like_text(of);
    let one = if t.charset == CHARSET_BINARY { 1 } else { 4 };
    sized(t, t.length.min(most.saturating_mul(one)))
}

/// The characters of a text, or the bytes of binary values.
pub(super) fn units(of: &WireType) -> u32 {
    match super::kind::is_bytes(of) {
        true => of.length,
        false => characters(of),
    }
}
