//! Exact numbers: DECIMAL, and integers of 64 bits with and without a sign.
//!
//! An integer that fits 64 bits with a sign is SQLite's INTEGER; a larger one, and every DECIMAL, is
//! a text that [`tare_mysql::decimal::compare`] sorts. The dialect calls these functions where it
//! knows that the operands are exact.

use tare_mysql::decimal::Decimal;
use tare_mysql::wire::column::NOT_FIXED;
use tare_mysql::wire::value::format_real;

use crate::prelude::*;

/// The origin of a double that is cast: a column or an operator. 0 is any other.
const COLUMN: i64 = 1;
const COMPUTED: i64 = 2;
/// The operand is a DECIMAL, whatever its value.
const DECIMAL: i64 = 3;

/// Digits that a quotient has beyond those of its dividend: @@div_precision_increment.
pub(crate) const MORE_DIGITS: i64 = 4;

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_add", 2, 2, |ctx| {
        two(ctx, Decimal::plus, |a, b| a + b)
    }),
    helper("tare_sub", 2, 2, |ctx| {
        two(ctx, Decimal::minus, |a, b| a - b)
    }),
    helper("tare_mul", 2, 2, |ctx| {
        two(ctx, Decimal::times, |a, b| a * b)
    }),
    helper("tare_sub_unsigned", 2, 2, |ctx| {
        match two(ctx, Decimal::minus, |a, b| a - b)? {
            Value::Text(t) if t.starts_with('-') => Err(out_of_range("DECIMAL UNSIGNED")),
            other => Ok(other),
        }
    }),
    // The third argument of a division is whether a divisor of 0 is an error.
    helper("tare_over", 3, 3, |ctx| {
        divided(ctx, |a, b| match a.over(b, MORE_DIGITS) {
            Some(quotient) => Ok(Value::Text(quotient.text())),
            None => Err(out_of_range("DECIMAL")),
        })
    }),
    helper("tare_rest", 3, 3, |ctx| {
        divided(ctx, |a, b| Ok(Value::Text(a.remainder(b).text())))
    }),
    // The last argument is whether the result is unsigned.
    helper("tare_add_int", 3, 3, |ctx| integers(ctx, i128::checked_add)),
    helper("tare_sub_int", 3, 3, |ctx| integers(ctx, i128::checked_sub)),
    helper("tare_mul_int", 3, 3, |ctx| {
        // As in MySQL, no product is i64::MIN.
        integers(ctx, |a, b| {
            a.checked_mul(b).filter(|n| *n != i128::from(i64::MIN))
        })
    }),
    helper("tare_rest_int", 4, 4, |ctx| {
        let unsigned = int(ctx, 3) == Some(1);
        divided(ctx, |a, b| in_range(a.remainder(b).to_integer(), unsigned))
    }),
    helper("tare_div_int", 4, 4, |ctx| {
        let unsigned = int(ctx, 3) == Some(1);
        let integers = (0..2).all(|i| matches!(ctx.get_raw(i), ValueRef::Integer(_)));
        // As for a product, no quotient of two integers is i64::MIN.
        divided(ctx, |a, b| {
            let quotient = a.div(b).to_integer();
            in_range(
                quotient.filter(|n| !integers || *n != i128::from(i64::MIN)),
                unsigned,
            )
        })
    }),
    helper("tare_neg", 1, 1, |ctx| one(ctx, |d| d.negated())),
    helper("tare_neg_int", 1, 1, |ctx| match decimal(ctx, 0) {
        None => Ok(Value::Null),
        Some(d) => in_range(d.negated().to_integer(), false),
    }),
    // SQLite subtracts a double from 0, which loses the sign of zero.
    helper("tare_neg_real", 1, 1, |ctx| {
        real(ctx, 0).map_or(Ok(Value::Null), |x| number(-x))
    }),
    // Sums, differences and products of doubles.
    helper("tare_add_real", 2, 2, |ctx| reals(ctx, |a, b| a + b)),
    helper("tare_sub_real", 2, 2, |ctx| reals(ctx, |a, b| a - b)),
    helper("tare_mul_real", 2, 2, |ctx| reals(ctx, |a, b| a * b)),
    helper("tare_abs", 1, 1, |ctx| one(ctx, |d| d.abs())),
    // The number of a text: an integer if it is one.
    helper("tare_exact", 1, 1, |ctx| match ctx.get_raw(0) {
        ValueRef::Text(t) => Ok(match Decimal::prefix(t) {
            (d, _) if d.scale() == 0 => d.to_integer().map_or(Value::Null, integer),
            (d, _) => Value::Real(d.to_double()),
        }),
        _ => ctx.argument(0),
    }),
    // The exact number of a text, with a warning.
    helper("tare_decimal_of_text", 1, 1, |ctx| match ctx.get_raw(0) {
        ValueRef::Text(t) => {
            if !t.trim_ascii().is_empty() {
                ctx.session.truncated("DECIMAL", t);
            }
            Ok(Value::Text(Decimal::prefix(t).0.text()))
        }
        _ => ctx.argument(0),
    }),
    // CAST(x AS SIGNED), and AS UNSIGNED where the second argument is 1.
    // The third is whether the operand is unsigned, and the fourth whether a value out of range is an
    // error. The fifth is the origin of a double: see [`cast_double`].
    helper("tare_whole", 2, 5, |ctx| {
        let unsigned = int(ctx, 1) == Some(1);
        let bits = ctx.len() > 2 && int(ctx, 2) == Some(1);
        let refuses = ctx.len() > 3 && int(ctx, 3) == Some(1);
        if let ValueRef::Real(x) = ctx.get_raw(0) {
            let origin = if ctx.len() > 4 { int(ctx, 4) } else { None };
            return cast_double(ctx, x, unsigned, refuses, origin.unwrap_or(0));
        }
        let is_text = matches!(ctx.get_raw(0), ValueRef::Text(_));
        let is_decimal = ctx.len() > 4 && int(ctx, 4) == Some(DECIMAL);
        Ok(match decimal(ctx, 0) {
            None => Value::Null,
            Some(d) if is_decimal && !unsigned && cut(&d, false) => {
                let message = format!("Truncated incorrect DECIMAL value: '{}'", d.text());
                truncated(ctx, message, refuses)?;
                Value::Integer(if d.is_negative() { i64::MIN } else { i64::MAX })
            }
            // An integer keeps its bits, a DECIMAL does not.
            Some(d) if is_text && cut(&d, unsigned || bits) => {
                let message = format!("Truncated incorrect DECIMAL value: '{}'", d.text());
                truncated(ctx, message, refuses)?;
                match unsigned && d.is_negative() {
                    true => Value::Integer(0),
                    false => cast_to_bits(&d, unsigned, bits),
                }
            }
            Some(d) => cast_to_bits(&d, unsigned, bits),
        })
    }),
    // CAST(x AS CHAR(length)) of a double: of a FLOAT if the second argument is 1; the third is the digits
    // after the point.
    helper("tare_shown", 4, 4, |ctx| {
        let decimals = int(ctx, 2).and_then(|n| u8::try_from(n).ok());
        let mut text = match ctx.get_raw(0) {
            ValueRef::Real(x) => {
                format_real(x, int(ctx, 1) == Some(1), decimals.unwrap_or(NOT_FIXED))
            }
            _ => match text(ctx, 0) {
                Some(text) => text.into_owned(),
                None => return Ok(Value::Null),
            },
        };
        if let Some(most) = int(ctx, 3)
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| *n > 0)
        {
            text.truncate(crate::search::offset(&text, most));
        }
        Ok(Value::Text(text))
    }),
    // CAST(x AS DECIMAL(digits, scale)).
    helper("tare_decimal", 4, 4, |ctx| {
        let (Some(d), Some(digits), Some(scale)) = (decimal(ctx, 0), int(ctx, 1), int(ctx, 2))
        else {
            return Ok(Value::Null);
        };
        let rounded = d.rounded(scale);
        if rounded.integer_digits() <= digits - scale {
            return Ok(Value::Text(rounded.text()));
        }
        let error = SqlError::out_of_range("(null)");
        if int(ctx, 3) == Some(1) {
            return Err(raise(error));
        }
        ctx.session.warn(error.code, &error.message);
        Ok(Value::Text(largest(digits, scale, rounded.is_negative())))
    }),
    // GREATEST and LEAST of exact numbers, and NULLIF.
    // Operators on unsigned integers of 64 bits.
    helper("tare_bits", 3, 3, bits),
    helper("tare_byte_bits", 3, 3, bits_of_bytes),
    // An integer of 64 bits as SQLite's, with the same bits.
    helper("tare_word", 1, 1, |ctx| {
        Ok(word(ctx, 0).map_or(Value::Null, |bits| Value::Integer(bits as i64)))
    }),
    // A double as the nearest integer.
    // A computed one that is out of range is an error; the second argument is the origin.
    helper("tare_rounded", 2, 2, |ctx| match ctx.get_raw(0) {
        ValueRef::Real(x) => match x.round_ties_even() {
            x if x.abs() >= 9_223_372_036_854_775_808.0 && int(ctx, 1) == Some(COMPUTED) => {
                Err(out_of_range("BIGINT"))
            }
            x => Ok(Value::Integer(x as i64)),
        },
        _ => ctx.argument(0),
    }),
    // The bytes of a BIT.
    helper("tare_bit_bytes", 2, 2, |ctx| match ctx.get_raw(0) {
        ValueRef::Integer(n) => {
            let width = int(ctx, 1).unwrap_or(8).clamp(1, 8) as usize;
            Ok(Value::Blob(n.to_be_bytes()[8 - width..].to_vec()))
        }
        _ => ctx.argument(0),
    }),
    helper("tare_greatest", 2, ANY, |ctx| extreme(ctx, true)),
    helper("tare_least", 2, ANY, |ctx| extreme(ctx, false)),
    helper("tare_nullif", 2, 2, |ctx| {
        let same = decimal(ctx, 0)
            .zip(decimal(ctx, 1))
            .is_some_and(|(a, b)| a.minus(&b).is_some_and(|d| d.is_zero()));
        match same {
            true => Ok(Value::Null),
            false => ctx.argument(0),
        }
    }),
];

/// The largest DECIMAL of so many digits.
pub(crate) fn largest(digits: i64, scale: i64, negative: bool) -> String {
    let nines = |n: i64| "9".repeat(n.max(0) as usize);
    let sign = if negative { "-" } else { "" };
    match scale {
        0 => format!("{sign}{}", nines(digits)),
        _ => format!("{sign}{}.{}", nines(digits - scale), nines(scale)),
    }
}

/// An argument as an exact number; `None` for NULL.
pub(crate) fn decimal(ctx: &Call<'_>, i: usize) -> Option<Decimal> {
    value(ctx.get_raw(i))
}

/// A value as an exact number; `None` for NULL.
pub(crate) fn value(value: ValueRef<'_>) -> Option<Decimal> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.into()),
        ValueRef::Real(x) => Some(Decimal::from_double(x).unwrap_or_else(|| 0i64.into())),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(Decimal::prefix(t).0),
    }
}

/// An integer in SQLite: an INTEGER, or a text beyond signed 64 bits.
pub(crate) fn integer(n: i128) -> Value {
    i64::try_from(n).map_or_else(|_| Value::Text(n.to_string()), Value::Integer)
}

/// 1690.
fn out_of_range(kind: &str) -> rusqlite::Error {
    raise(SqlError::new(1690, format!("{kind} value is out of range")))
}

/// An integer of 64 bits; 1690 if it is out of range.
fn in_range(n: Option<i128>, unsigned: bool) -> Answer {
    let fits = |n: &i128| match unsigned {
        true => u64::try_from(*n).is_ok(),
        false => i64::try_from(*n).is_ok(),
    };
    match n.filter(fits) {
        Some(n) => Ok(integer(n)),
        None => Err(out_of_range(if unsigned {
            "BIGINT UNSIGNED"
        } else {
            "BIGINT"
        })),
    }
}

/// A function of one number.
fn one(ctx: &Call<'_>, f: fn(Decimal) -> Decimal) -> Answer {
    Ok(match ctx.get_raw(0) {
        ValueRef::Real(x) if x.is_finite() => {
            Decimal::from_double(x).map_or(Value::Null, |d| Value::Real(f(d).to_double()))
        }
        ValueRef::Integer(n) => f(Decimal::from(n))
            .to_integer()
            .map_or(Value::Null, integer),
        _ => decimal(ctx, 0).map_or(Value::Null, |d| Value::Text(f(d).text())),
    })
}

/// A double of two numbers.
fn reals(ctx: &Call<'_>, f: fn(f64, f64) -> f64) -> Answer {
    let operands = real(ctx, 0).zip(real(ctx, 1));
    operands.map_or(Ok(Value::Null), |(a, b)| number(f(a, b)))
}

/// A DECIMAL of two numbers; a double if one of them is one.
fn two(
    ctx: &Call<'_>,
    f: fn(&Decimal, &Decimal) -> Option<Decimal>,
    doubles: fn(f64, f64) -> f64,
) -> Answer {
    if let (ValueRef::Real(_), _) | (_, ValueRef::Real(_)) = (ctx.get_raw(0), ctx.get_raw(1)) {
        return reals(ctx, doubles);
    }
    match (decimal(ctx, 0), decimal(ctx, 1)) {
        (Some(a), Some(b)) => f(&a, &b)
            .map(|d| Value::Text(d.text()))
            .ok_or_else(|| out_of_range("DECIMAL")),
        _ => Ok(Value::Null),
    }
}

/// An integer of two integers.
fn integers(ctx: &Call<'_>, f: fn(i128, i128) -> Option<i128>) -> Answer {
    let unsigned = matches!(ctx.get_raw(2), ValueRef::Integer(1));
    let operand = |i: usize| match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(i128::from(n)),
        other => value(other).and_then(|d| d.rounded(0).to_integer()),
    };
    match (operand(0), operand(1)) {
        (Some(a), Some(b)) => in_range(f(a, b), unsigned),
        _ => Ok(Value::Null),
    }
}

/// A division. By zero it is NULL, with a warning if @@sql_mode has one.
fn divided(ctx: &Call<'_>, f: impl Fn(&Decimal, &Decimal) -> Answer) -> Answer {
    let (Some(a), Some(b)) = (decimal(ctx, 0), decimal(ctx, 1)) else {
        return Ok(Value::Null);
    };
    if b.is_zero() {
        return by_zero(ctx, 2);
    }
    f(&a, &b)
}

/// The result of a division by zero: NULL with a warning, or 1365 if both an argument and @@sql_mode make it
/// an error.
pub(crate) fn by_zero(ctx: &Call<'_>, refuses: usize) -> Answer {
    let warns = ctx.session.divided_by_zero();
    match warns && ctx.len() > refuses && int(ctx, refuses) == Some(1) {
        true => Err(raise(SqlError::new(1365, "Division by 0"))),
        false => Ok(Value::Null),
    }
}

/// Whether a DECIMAL is out of range of 64 bits, signed or unsigned.
fn cut(d: &Decimal, unsigned: bool) -> bool {
    let integer = d.rounded(0).to_integer();
    !integer.is_some_and(|n| match unsigned {
        true => u64::try_from(n).is_ok(),
        false => i64::try_from(n).is_ok(),
    })
}

/// 1292, as an error or a warning.
fn truncated(ctx: &Call<'_>, message: String, refuses: bool) -> rusqlite::Result<()> {
    if refuses {
        return Err(raise(SqlError::new(1292, message)));
    }
    ctx.session.warn(1292, &message);
    // No CAST of the statement: the conversion to the column's type decides whether the value is an error.
    let _ = ctx.session.refused_warning();
    Ok(())
}

/// CAST of a double to the nearest integer; a negative one keeps its bits when cast to UNSIGNED.
///
/// Beyond signed 64 bits the result depends on the origin: a column's double is clamped with 1292, a computed
/// one is error 1690, and others are clamped without a warning.
fn cast_double(ctx: &Call<'_>, x: f64, unsigned: bool, refuses: bool, origin: i64) -> Answer {
    // This is exact: all doubles this large are integers.
    let n = x.round_ties_even() as i128;
    let fits = i64::try_from(n).is_ok();
    match origin {
        // 2 to the 63rd counts as a number of 64 bits.
        COMPUTED if !(fits || unsigned && n == 1 << 63) => return Err(out_of_range("BIGINT")),
        COMPUTED => {}
        COLUMN if !fits || n == i128::from(i64::MIN) => {
            let text = tare_mysql::wire::value::display_real(x);
            truncated(
                ctx,
                format!("Truncated incorrect INTEGER value: '{text}'"),
                refuses,
            )?;
        }
        _ => {}
    }
    let n = match origin {
        COMPUTED => n,
        _ => n.clamp(i64::MIN.into(), i64::MAX.into()),
    };
    Ok(match unsigned && n < 0 {
        true => integer(i128::from(n as i64 as u64)),
        false => integer(n),
    })
}

/// The same; an unsigned operand keeps its bits.
fn cast_to_bits(d: &Decimal, unsigned: bool, bits: bool) -> Value {
    match cast_integer(d, unsigned || bits) {
        Value::Text(t) if !unsigned => Value::Integer(t.parse::<u64>().unwrap_or(u64::MAX) as i64),
        other => other,
    }
}

/// A number clamped to 64 bits, as CAST does.
fn cast_integer(d: &Decimal, unsigned: bool) -> Value {
    let rounded = d.rounded(0);
    let n = rounded.to_integer().unwrap_or(match rounded.is_negative() {
        true => i128::MIN,
        false => i128::MAX,
    });
    let n = match unsigned {
        // A negative integer keeps its bits.
        true if n < 0 => i128::from(n.max(i64::MIN.into()) as i64 as u64),
        true => n.min(u64::MAX.into()),
        false if d.scale() == 0 && (0..=i128::from(u64::MAX)).contains(&n) => {
            i128::from(n as u64 as i64)
        }
        false => n.clamp(i64::MIN.into(), i64::MAX.into()),
    };
    integer(n)
}

/// The largest argument, or the smallest; NULL if one is NULL.
fn extreme(ctx: &Call<'_>, largest: bool) -> Answer {
    let mut best: Option<(usize, Decimal)> = None;
    for i in 0..ctx.len() {
        let Some(d) = decimal(ctx, i) else {
            return Ok(Value::Null);
        };
        let better = best.as_ref().is_none_or(|(_, b)| {
            d.minus(b)
                .is_some_and(|d| !d.is_zero() && d.is_negative() != largest)
        });
        if better {
            best = Some((i, d));
        }
    }
    best.map_or(Ok(Value::Null), |(i, _)| ctx.argument(i))
}

/// The bits of a number; negative numbers are in two's complement.
fn word(ctx: &Call<'_>, i: usize) -> Option<u64> {
    Some(match ctx.get_raw(i) {
        ValueRef::Null => return None,
        ValueRef::Integer(n) => n as u64,
        other => {
            let n = value(other)?.rounded(0);
            match n.to_integer() {
                Some(n) if n < 0 => n.max(i64::MIN.into()) as i64 as u64,
                // A DECIMAL that is too large is the largest integer with a sign.
                Some(n) => u64::try_from(n).unwrap_or(i64::MAX as u64),
                None if n.is_negative() => i64::MIN as u64,
                None => i64::MAX as u64,
            }
        }
    })
}

/// `&`, `|`, `^`, `<<`, `>>` and `~`, of numbers and, in the second form, of bytes.
fn bits(ctx: &Call<'_>) -> Answer {
    let (Some(a), Some(b)) = (word(ctx, 1), word(ctx, 2)) else {
        return Ok(Value::Null);
    };
    let by = u32::try_from(b).unwrap_or(u32::MAX);
    let bits = match text(ctx, 0).as_deref() {
        Some("&") => a & b,
        Some("|") => a | b,
        Some("^") => a ^ b,
        Some("<<") => a.checked_shl(by).unwrap_or(0),
        Some(">>") => a.checked_shr(by).unwrap_or(0),
        _ => !a,
    };
    Ok(integer(bits.into()))
}

/// The same of bytes, whose length the result has.
fn bits_of_bytes(ctx: &Call<'_>) -> Answer {
    let Some(a) = bytes(ctx, 1) else {
        return Ok(Value::Null);
    };
    let op = text(ctx, 0).unwrap_or_default();
    let joined = match &*op {
        "~" => a.iter().map(|a| !a).collect(),
        "<<" | ">>" => match word(ctx, 2) {
            Some(by) => shifted(&a, by, &*op == "<<"),
            None => return Ok(Value::Null),
        },
        _ => {
            let Some(b) = bytes(ctx, 2) else {
                return Ok(Value::Null);
            };
            if a.len() != b.len() {
                let message = "Binary operands of bitwise operators must be of equal length";
                return Err(raise(SqlError::new(3513, message)));
            }
            let pairs = a.iter().zip(&*b);
            match &*op {
                "&" => pairs.map(|(a, b)| a & b).collect(),
                "|" => pairs.map(|(a, b)| a | b).collect(),
                _ => pairs.map(|(a, b)| a ^ b).collect(),
            }
        }
    };
    Ok(Value::Blob(joined))
}

/// Bytes whose bits are moved to the left or to the right.
fn shifted(bytes: &[u8], by: u64, left: bool) -> Vec<u8> {
    let bits = bytes.len() as u64 * 8;
    let bit = |at: u64| bytes[(at / 8) as usize] >> (7 - at % 8) & 1;
    let mut out = vec![0; bytes.len()];
    for at in 0..bits {
        let from = match left {
            true => at.checked_add(by).filter(|from| *from < bits),
            false => at.checked_sub(by),
        };
        if let Some(from) = from {
            out[(at / 8) as usize] |= bit(from) << (7 - at % 8);
        }
    }
    out
}
