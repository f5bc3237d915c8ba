//! The type of an expression's value, as MySQL would tell a client: from its operands', without
//! a row. What cannot be told is `None`, and SQLite's first row decides.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
    Value,
};
use tare_mysql::wire::column::{CHARSET_UTF8MB4, NOT_FIXED, WireType};

use super::function::{self, arguments, name_of};
use super::scope::Names;

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
    is_whole(t)
        || matches!(
            t.code,
            MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT | MYSQL_TYPE_NEWDECIMAL
        )
}

fn is_whole(t: &WireType) -> bool {
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

/// The type without what only a table's column has.
pub fn loose(mut t: WireType) -> WireType {
    t.flags &= ColumnFlags::UNSIGNED_FLAG | ColumnFlags::BINARY_FLAG;
    if t.code == MYSQL_TYPE_TIMESTAMP {
        t.code = MYSQL_TYPE_DATETIME;
    }
    t
}

fn whole(unsigned: bool) -> WireType {
    if unsigned {
        WireType::bigint_unsigned()
    } else {
        WireType::bigint()
    }
}

/// Digits behind the point that a number has when it takes part in decimal arithmetic.
fn scale(t: &WireType) -> u8 {
    if t.code == MYSQL_TYPE_NEWDECIMAL {
        t.decimals
    } else {
        0
    }
}

/// The type of both, as UNION and COALESCE need it.
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
        (a, b) if is_whole(&a) && is_whole(&b) => whole(a.is_unsigned() && b.is_unsigned()),
        (a, b) if is_number(&a) && is_number(&b) => {
            if [a.code, b.code].contains(&MYSQL_TYPE_DOUBLE)
                || [a.code, b.code].contains(&MYSQL_TYPE_FLOAT)
            {
                WireType::double()
            } else {
                WireType::decimal(a.length.max(b.length), scale(&a).max(scale(&b)))
            }
        }
        (a, b) if is_temporal(&a) && is_temporal(&b) => WireType::number(MYSQL_TYPE_DATETIME, 19),
        _ => WireType::text(255),
    })
}

/// The type of a sum, difference, product or remainder; `digits` joins the operands' scales.
pub fn arithmetic(a: Option<WireType>, b: Option<WireType>, digits: fn(u8, u8) -> u8) -> WireType {
    let (Some(a), Some(b)) = (a, b) else {
        // A parameter or variable: SQLite's value tells more than a guess.
        return WireType::double();
    };
    let as_number = |t: WireType| match t {
        t if is_number(&t) => t,
        t if is_temporal(&t) => WireType::bigint(),
        _ => WireType::double(),
    };
    let (a, b) = (as_number(a), as_number(b));
    if is_whole(&a) && is_whole(&b) {
        return whole(a.is_unsigned() || b.is_unsigned());
    }
    if a.code == MYSQL_TYPE_NEWDECIMAL && (b.code == MYSQL_TYPE_NEWDECIMAL || is_whole(&b))
        || b.code == MYSQL_TYPE_NEWDECIMAL && is_whole(&a)
    {
        let digits = digits(scale(&a), scale(&b)).min(30);
        return WireType::decimal(a.length + b.length + 1, digits);
    }
    WireType::double()
}

/// Whether an expression is an INTERVAL.
pub fn is_interval(expr: &Expr) -> bool {
    matches!(expr, Expr::Interval(_))
}

/// A date that an INTERVAL is added to: days and more keep it a date.
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

/// Digits behind the second: as a text writes them, or as the type has them.
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

/// What STR_TO_DATE makes of a format: a date, a time or both.
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

/// SUM of a type.
pub fn sum(t: Option<WireType>) -> WireType {
    match t {
        Some(t) if is_whole(&t) => WireType::decimal(t.length.max(20) + 22, 0),
        Some(t) if t.code == MYSQL_TYPE_NEWDECIMAL => WireType::decimal(t.length + 22, t.decimals),
        _ => WireType::double(),
    }
}

/// AVG of a type.
pub fn average(t: Option<WireType>) -> WireType {
    match t {
        Some(t) if is_whole(&t) || t.code == MYSQL_TYPE_NULL => WireType::decimal(25, 4),
        Some(t) if t.code == MYSQL_TYPE_NEWDECIMAL => {
            WireType::decimal(t.length + 4, (t.decimals + 4).min(30))
        }
        None => WireType::decimal(25, 4),
        _ => WireType::double(),
    }
}

/// ROUND and TRUNCATE.
pub fn rounded(t: Option<WireType>, digits: Option<&Expr>) -> WireType {
    let wanted = match digits {
        None => Some(0),
        Some(e) => literal_number(e),
    };
    match t {
        Some(t) if is_whole(&t) => whole(t.is_unsigned()),
        Some(t) if t.code == MYSQL_TYPE_NEWDECIMAL => {
            let digits = wanted.map_or(t.decimals, |n| n.clamp(0, t.decimals.into()) as u8);
            WireType::decimal(t.length, digits)
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

fn of_literal(value: &Value) -> Option<WireType> {
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

/// The type that a cast makes.
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

/// The type of an expression; of one that has not been rewritten yet.
pub fn of(expr: &Expr, names: &mut Names<'_>) -> Option<WireType> {
    match expr {
        Expr::Nested(inner) => of(inner, names),
        Expr::Value(v) => of_literal(&v.value),
        Expr::Prefixed { value, .. } => of(value, names),
        Expr::Identifier(name) if name.value.starts_with('@') && name.quote_style.is_none() => {
            of_variable(&name.value, names)
        }
        Expr::CompoundIdentifier(parts)
            if parts[0].value.starts_with("@@") && parts[0].quote_style.is_none() =>
        {
            of_variable(&format!("@@{}", parts.last()?.value), names)
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            names.column_of(expr).and_then(|c| c.wire)
        }
        Expr::UnaryOp { op, expr } => match op {
            UnaryOperator::Not | UnaryOperator::BangNot => Some(WireType::bigint()),
            UnaryOperator::BitwiseNot => Some(WireType::bigint_unsigned()),
            UnaryOperator::Minus => of(expr, names).map(|t| match t {
                t if is_whole(&t) => WireType::bigint(),
                t if is_text(&t) || t.code == MYSQL_TYPE_NULL => WireType::double(),
                t => t,
            }),
            _ => of(expr, names),
        },
        Expr::BinaryOp { op, left, right } => of_binary(op, left, right, names),
        Expr::Exists { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Like { .. }
        | Expr::RLike { .. }
        | Expr::MemberOf(_)
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. } => Some(WireType {
            length: 1,
            ..WireType::bigint()
        }),
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let mut all = of(&conditions.first()?.result, names);
            for when in &conditions[1..] {
                all = merged(all, of(&when.result, names));
            }
            if let Some(other) = else_result {
                all = merged(all, of(other, names));
            }
            all.map(loose)
        }
        Expr::Cast { data_type, .. } => Some(of_cast(data_type)),
        Expr::Convert { data_type, .. } => {
            Some(data_type.as_ref().map_or(WireType::text(255), of_cast))
        }
        Expr::Collate { expr, .. } => of(expr, names),
        Expr::Substring { .. } | Expr::Trim { .. } | Expr::Overlay { .. } => {
            Some(WireType::text(255))
        }
        Expr::Position { .. } | Expr::Extract { .. } => Some(WireType::bigint()),
        Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => {
            function::result("floor", &[expr], names)
        }
        Expr::TypedString(typed) => Some(of_cast(&typed.data_type)),
        Expr::Subquery(query) => names.columns(query)?.first()?.wire.map(loose),
        Expr::Function(f) => {
            let list = match &f.args {
                FunctionArguments::List(list) => arguments(list),
                _ => Vec::new(),
            };
            function::result(&name_of(f), &list, names)
        }
        _ => None,
    }
}

/// The type of what an operator makes of two operands.
fn of_binary(
    op: &BinaryOperator,
    left: &Expr,
    right: &Expr,
    names: &mut Names<'_>,
) -> Option<WireType> {
    let mut both = || (of(left, names), of(right, names));
    Some(match op {
        BinaryOperator::Plus | BinaryOperator::Minus
            if matches!(left, Expr::Interval(_)) || matches!(right, Expr::Interval(_)) =>
        {
            let (date, by) = if matches!(left, Expr::Interval(_)) {
                (of(right, names), left)
            } else {
                (of(left, names), right)
            };
            match date {
                Some(t) if t.code == MYSQL_TYPE_DATE => moved(loose(t), by),
                Some(t) if t.code == MYSQL_TYPE_TIME => t,
                Some(t) if is_temporal(&t) => WireType::number(MYSQL_TYPE_DATETIME, 19),
                _ => WireType::text(29),
            }
        }
        BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Modulo => {
            let (a, b) = both();
            if a.is_none() || b.is_none() {
                return None;
            }
            match arithmetic(a, b, u8::max) {
                // A difference may be negative here, where MySQL gives up with 1690.
                t if *op == BinaryOperator::Minus && is_whole(&t) => WireType::bigint(),
                t => t,
            }
        }
        BinaryOperator::Multiply => {
            let (a, b) = both();
            if a.is_none() || b.is_none() {
                return None;
            }
            arithmetic(a, b, |a, b| a + b)
        }
        BinaryOperator::Divide => {
            let (a, b) = both();
            let exact = |t: &WireType| {
                is_whole(t) || matches!(t.code, MYSQL_TYPE_NEWDECIMAL | MYSQL_TYPE_NULL)
            };
            match (a, b) {
                (Some(a), Some(b)) if exact(&a) && exact(&b) => {
                    WireType::decimal(a.length + 6, (scale(&a) + 4).min(30))
                }
                (None, Some(b)) | (Some(b), None) if exact(&b) => WireType::decimal(21, 4),
                (None, None) => WireType::decimal(21, 4),
                _ => WireType::double(),
            }
        }
        BinaryOperator::MyIntegerDivide => WireType::bigint(),
        BinaryOperator::BitwiseAnd
        | BinaryOperator::BitwiseOr
        | BinaryOperator::BitwiseXor
        | BinaryOperator::PGBitwiseShiftLeft
        | BinaryOperator::PGBitwiseShiftRight => WireType::bigint_unsigned(),
        BinaryOperator::Arrow => json(),
        BinaryOperator::LongArrow => WireType::text(255),
        BinaryOperator::Assignment => return of(right, names),
        _ => WireType {
            length: 1,
            ..WireType::bigint()
        },
    })
}

/// System variables whose names tell; a user variable's value decides.
fn of_variable(name: &str, names: &Names<'_>) -> Option<WireType> {
    let name = name.strip_prefix("@@")?;
    names.schema.variable(&name.to_ascii_lowercase())
}

/// The plain arguments of a call.
pub fn plain(arg: &FunctionArg) -> Option<&Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
        _ => None,
    }
}
