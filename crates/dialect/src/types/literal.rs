//! Types that the text of an expression determines: literals, casts, formats and numbers of digits.

use mysql_common::constants::ColumnType;
use sqlparser::ast::{DataType, Expr, UnaryOperator, Value};
use tare_mysql::wire::column::{NOT_FIXED, WireType};

use super::kind::{bigint, is_integer, is_temporal, is_text, json, signed_as};

use ColumnType::*;

/// Whether an expression is an INTERVAL.
pub fn is_interval(expr: &Expr) -> bool {
    matches!(expr, Expr::Interval(_))
}

/// The type of a date plus an INTERVAL: it is a date for days and longer units.
pub fn moved(date: WireType, interval: &Expr) -> WireType {
    let Expr::Interval(i) = interval else {
        return date;
    };
    let unit = i
        .leading_field
        .as_ref()
        .map(|u| u.to_string().to_uppercase());
    match unit.as_deref() {
        Some("DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR" | "YEAR_MONTH") => date,
        _ => WireType::number(MYSQL_TYPE_DATETIME, 19),
    }
}

/// Fractional digits of a time: those of a literal, or the type's.
pub fn fraction_of(expr: &Expr, t: Option<WireType>) -> u8 {
    if let Expr::Value(v) = expr
        && let Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) = &v.value
    {
        let fraction = s.rsplit_once(':').and_then(|(_, s)| s.split_once('.'));
        return fraction.map_or(0, |(_, f)| {
            f.bytes().take_while(u8::is_ascii_digit).count().min(6) as u8
        });
    }
    match t {
        Some(t) if is_temporal(&t) => t.decimals.min(6),
        Some(t) if is_text(&t) => 6,
        _ => 0,
    }
}

/// The type of STR_TO_DATE with a format: a date, a time or both.
pub fn of_format(format: Option<&&Expr>) -> WireType {
    let both = WireType::number(MYSQL_TYPE_DATETIME, 19);
    let Some(Expr::Value(v)) = format else {
        return both;
    };
    let (Value::SingleQuotedString(format) | Value::DoubleQuotedString(format)) = &v.value else {
        return both;
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
    let wire = match (has("abcDdejMmUuVvWwXxYy"), has("fHhIiklprSsT")) {
        (true, false) => return WireType::number(MYSQL_TYPE_DATE, 10),
        (false, true) => WireType::number(MYSQL_TYPE_TIME, 10),
        _ => both,
    };
    WireType {
        decimals: micros,
        ..wire
    }
}

/// ROUND and TRUNCATE.
pub fn rounded(t: Option<WireType>, digits: Option<&Expr>) -> WireType {
    let wanted = match digits {
        None => Some(0),
        Some(e) => literal_number(e),
    };
    match t {
        Some(t) if is_integer(&t) => bigint(t.is_unsigned()),
        Some(t) if t.code == MYSQL_TYPE_NEWDECIMAL => {
            let digits = wanted.map_or(t.decimals, |n| n.clamp(0, 30) as u8);
            signed_as(WireType::decimal(t.length, digits), t.is_unsigned())
        }
        Some(t) if t.code == MYSQL_TYPE_NULL => WireType::double(),
        Some(_) => match wanted {
            Some(n) if (0..i64::from(NOT_FIXED)).contains(&n) => WireType {
                decimals: n as u8,
                ..WireType::double()
            },
            _ => WireType::double(),
        },
        None => WireType::double(),
    }
}

fn literal_number(e: &Expr) -> Option<i64> {
    match e {
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => n.parse().ok(),
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
pub fn of_literal(value: &Value) -> Option<WireType> {
    Some(match value {
        Value::Number(n, _) => {
            if n.parse::<i64>().is_ok() {
                WireType {
                    length: n.len() as u32 + 1,
                    ..WireType::bigint()
                }
            } else if n.parse::<u64>().is_ok() {
                WireType::bigint_unsigned()
            } else if !n.contains(['e', 'E']) {
                let decimals = n.split_once('.').map_or(0, |(_, d)| d.len());
                WireType::decimal(n.len() as u32, decimals.min(30) as u8)
            } else {
                WireType::double()
            }
        }
        Value::SingleQuotedString(s)
        | Value::DoubleQuotedString(s)
        | Value::NationalStringLiteral(s) => WireType::text(s.chars().count() as u32),
        Value::Boolean(_) => WireType {
            length: 1,
            ..WireType::bigint()
        },
        Value::Null => WireType::null(),
        Value::HexStringLiteral(hex) => {
            WireType::number(MYSQL_TYPE_VAR_STRING, hex.len() as u32 / 2)
        }
        Value::SingleQuotedByteStringLiteral(bits) => {
            WireType::number(MYSQL_TYPE_VAR_STRING, bits.len().div_ceil(8) as u32)
        }
        _ => return None,
    })
}

/// The type of a CAST.
pub fn of_cast(data_type: &DataType) -> WireType {
    use DataType::*;
    match data_type {
        Unsigned | UnsignedInteger => WireType::bigint_unsigned(),
        Signed | SignedInteger | Int(_) | Integer(_) | BigInt(_) => WireType::bigint(),
        Decimal(info) | Numeric(info) | Dec(info) => {
            let (length, digits) = match info {
                sqlparser::ast::ExactNumberInfo::PrecisionAndScale(p, s) => (*p, (*s).clamp(0, 30)),
                sqlparser::ast::ExactNumberInfo::Precision(p) => (*p, 0),
                sqlparser::ast::ExactNumberInfo::None => (10, 0),
            };
            WireType::decimal(length.min(65) as u32 + 2, digits as u8)
        }
        Double(_) | DoublePrecision | Float(_) | Real => WireType::double(),
        Date => WireType::number(MYSQL_TYPE_DATE, 10),
        Datetime(digits) | Timestamp(digits, _) => WireType {
            decimals: digits.unwrap_or(0).min(6) as u8,
            ..WireType::number(MYSQL_TYPE_DATETIME, 19)
        },
        Time(digits, _) => WireType {
            decimals: digits.unwrap_or(0).min(6) as u8,
            ..WireType::number(MYSQL_TYPE_TIME, 10)
        },
        Binary(_) | Varbinary(_) | Blob(_) => WireType::number(MYSQL_TYPE_VAR_STRING, 255),
        JSON => json(),
        _ => WireType::text(255),
    }
}
