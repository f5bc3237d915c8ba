//! Converts values to the types of columns, or refuses them.
//!
//! Each function takes the value, the column's name, whether the mode is strict, and the properties of the
//! type. Unless the mode is strict, the nearest value is stored, with a warning.

use tare_mysql::decimal::Decimal;
use tare_mysql::real::Real;

use crate::exact::{decimal, integer, largest};
use crate::prelude::*;

mod member;
mod moment;
mod text;

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_to_int", 5, 5, to_int),
    helper("tare_to_decimal", 6, 6, to_decimal),
    helper("tare_to_double", 7, 7, to_double),
    helper("tare_to_bit", 4, 4, to_bit),
    helper("tare_to_json", 3, 3, to_json),
    helper("tare_to_text", 3, 3, text::to_text),
    helper("tare_to_char", 4, 4, text::to_char),
    helper("tare_to_varchar", 4, 4, text::to_varchar),
    helper("tare_to_text_bytes", 4, 4, text::to_text_bytes),
    helper("tare_to_binary", 4, 4, text::to_binary),
    helper("tare_to_varbinary", 4, 4, text::to_varbinary),
    helper("tare_to_date", 3, 3, moment::to_date),
    helper("tare_to_datetime", 5, 5, moment::to_datetime),
    helper("tare_to_time", 4, 4, moment::to_time),
    helper("tare_to_year", 3, 3, moment::to_year),
    helper("tare_then", 5, 5, then),
    helper("tare_to_enum", 4, ANY, member::to_enum),
    helper("tare_to_set", 4, ANY, member::to_set),
    helper("tare_member", 2, ANY, member::number_of_enum),
    helper("tare_members", 2, ANY, member::number_of_set),
];

/// The result for a value that does not fit: an error in strict mode, and otherwise a warning and another
/// value.
fn misfit(ctx: &Call<'_>, error: SqlError, instead: Value) -> Answer {
    if is_strict(ctx) {
        return Err(raise(error));
    }
    ctx.session.warn(error.code, &error.message);
    Ok(instead)
}

fn is_strict(ctx: &Call<'_>) -> bool {
    matches!(ctx.get_raw(2), ValueRef::Integer(1))
}

fn column(ctx: &Call<'_>) -> String {
    text(ctx, 1).unwrap_or_default().into_owned()
}

/// 1264.
fn out_of_range(ctx: &Call<'_>, instead: Value) -> Answer {
    misfit(ctx, SqlError::out_of_range(&column(ctx)), instead)
}

/// 1265.
fn truncated(ctx: &Call<'_>, instead: Value) -> Answer {
    misfit(ctx, SqlError::data_truncated(&column(ctx)), instead)
}

/// 1292, and 1366 for numbers. `kind` is the type that the value does not have.
fn incorrect(ctx: &Call<'_>, code: u16, kind: &str, instead: Value) -> Answer {
    let value = match ctx.get_raw(0) {
        ValueRef::Text(t) | ValueRef::Blob(t) => quoted(t),
        _ => text(ctx, 0).unwrap_or_default().into_owned(),
    };
    let message = format!(
        "Incorrect {kind} value: '{value}' for column '{}' at row 1",
        column(ctx)
    );
    misfit(ctx, SqlError::new(code, message), instead)
}

/// Whether a text is a number, begins with one, or neither.
enum NumberSyntax {
    Complete,
    Part,
    None,
}

fn number_syntax(ctx: &Call<'_>) -> NumberSyntax {
    let (ValueRef::Text(t) | ValueRef::Blob(t)) = ctx.get_raw(0) else {
        return NumberSyntax::Complete;
    };
    if Decimal::prefix(t).1 {
        return NumberSyntax::Complete;
    }
    let digits = t
        .trim_ascii_start()
        .iter()
        .find(|b| !matches!(b, b'-' | b'+' | b'.'));
    match digits.is_some_and(u8::is_ascii_digit) {
        true => NumberSyntax::Part,
        false => NumberSyntax::None,
    }
}

/// Converts to an integer: arguments 3 and 4 are the number of bits, and whether it is unsigned.
fn to_int(ctx: &Call<'_>) -> Answer {
    let (bits, unsigned) = (int(ctx, 3).unwrap_or(64), int(ctx, 4) == Some(1));
    let (low, high) = match unsigned {
        true => (0, (1i128 << bits) - 1),
        false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    };
    let number = match ctx.get_raw(0) {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Integer(n) => i128::from(n),
        // Doubles are rounded to even, other numbers away from zero.
        ValueRef::Real(x) => match x.round_ties_even() as i128 {
            // The double next to the largest integer counts as that integer.
            n if bits == 64 && !unsigned && n == high + 1 => high,
            n => n,
        },
        _ => match decimal(ctx, 0) {
            None => return Ok(Value::Null),
            // A negative number does not become zero by rounding.
            Some(d) if unsigned && d.is_negative() => -1,
            Some(d) => {
                let rounded = d.rounded(0);
                let limit = if rounded.is_negative() {
                    i128::MIN
                } else {
                    i128::MAX
                };
                rounded.to_integer().unwrap_or(limit)
            }
        },
    };
    let nearest = integer(number.clamp(low, high));
    match number_syntax(ctx) {
        NumberSyntax::None => incorrect(ctx, 1366, "integer", integer(0i128.max(low))),
        _ if !(low..=high).contains(&number) => out_of_range(ctx, nearest),
        NumberSyntax::Part => truncated(ctx, nearest),
        NumberSyntax::Complete => Ok(nearest),
    }
}

/// Converts to a DECIMAL: arguments 3 to 5 are its digits, its scale, and whether it is unsigned.
fn to_decimal(ctx: &Call<'_>) -> Answer {
    let Some(d) = decimal(ctx, 0) else {
        return Ok(Value::Null);
    };
    let (digits, scale) = (int(ctx, 3).unwrap_or(10), int(ctx, 4).unwrap_or(0));
    let rounded = d.rounded(scale);
    match number_syntax(ctx) {
        NumberSyntax::None => return incorrect(ctx, 1366, "decimal", Value::Text(rounded.text())),
        NumberSyntax::Part if is_strict(ctx) => {
            return incorrect(ctx, 1366, "decimal", Value::Text(rounded.text()));
        }
        NumberSyntax::Part | NumberSyntax::Complete => {}
    }
    if d.is_negative() && int(ctx, 5) == Some(1) {
        let zero = Decimal::from(0i64).rounded(scale).text();
        return out_of_range(ctx, Value::Text(zero));
    }
    if rounded.integer_digits() > digits - scale {
        let nearest = largest(digits, scale, rounded.is_negative());
        return out_of_range(ctx, Value::Text(nearest));
    }
    Ok(Value::Text(rounded.text()))
}

/// Converts to a double: arguments 3 and 4 are 1 if it is unsigned, and of single precision; 5 and 6 are the
/// digits and the scale of DOUBLE(m,d), or 0.
fn to_double(ctx: &Call<'_>) -> Answer {
    let Some(x) = real(ctx, 0) else {
        return Ok(Value::Null);
    };
    let digits = |i| int(ctx, i).and_then(|n| u8::try_from(n).ok());
    let column = Real {
        unsigned: int(ctx, 3) == Some(1),
        single: int(ctx, 4) == Some(1),
        digits: digits(5).filter(|n| *n > 0).zip(digits(6)),
    };
    let x = column.rounded(x);
    let (least, most) = column.bounds();
    let nearest = Value::Real(column.stored(x.clamp(least, most)));
    let kind = if column.single { "FLOAT" } else { "DOUBLE" };
    match number_syntax(ctx) {
        NumberSyntax::None | NumberSyntax::Part => incorrect(ctx, 1366, kind, nearest),
        NumberSyntax::Complete if !(least..=most).contains(&x) => out_of_range(ctx, nearest),
        NumberSyntax::Complete => Ok(nearest),
    }
}

/// Converts to a BIT of so many bits. A value that is a text is the number of its bytes.
fn to_bit(ctx: &Call<'_>) -> Answer {
    let width = int(ctx, 3).unwrap_or(1).clamp(1, 64) as u32;
    let bits = match ctx.get_raw(0) {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Integer(n) => Some(n as u64),
        ValueRef::Real(x) => Some(x.round_ties_even() as i128 as u64),
        ValueRef::Text(t) | ValueRef::Blob(t) => {
            let skip = t.iter().take_while(|b| **b == 0).count();
            let significant = &t[skip..];
            (significant.len() <= 8)
                .then(|| significant.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
        }
    };
    let most = u64::MAX >> (64 - width);
    match bits.filter(|bits| *bits <= most) {
        Some(bits) => Ok(Value::Integer(bits as i64)),
        None => misfit(
            ctx,
            SqlError::data_too_long(&column(ctx)),
            Value::Integer(most as i64),
        ),
    }
}

/// Converts a text to a JSON document. Other values are none: error 3140, and 3144 for bytes.
fn to_json(ctx: &Call<'_>) -> Answer {
    let document = match ctx.get_raw(0) {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Blob(_) => {
            let message = "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
            return Err(raise(SqlError::new(3144, message)));
        }
        ValueRef::Text(t) => crate::json::parsed(&String::from_utf8_lossy(t))?,
        _ => None,
    };
    match document {
        Some(document) => Ok(crate::json::text(&document)),
        None => {
            let message = format!(
                "Invalid JSON text: \"Invalid value.\" at position 0 in value for column '{}'.",
                column(ctx)
            );
            Err(raise(SqlError::new(3140, message)))
        }
    }
}

/// The second of two values that are assigned to a column, if the first one fits, too. Arguments 3 and 4:
/// whether NULL is refused, and the maximum length.
fn then(ctx: &Call<'_>) -> Answer {
    let name = text(ctx, 2).unwrap_or_default();
    let most = int(ctx, 4).and_then(|n| usize::try_from(n).ok());
    let long = |most: usize| match ctx.get_raw(0) {
        ValueRef::Blob(b) => b.len() > most,
        // Trailing spaces are cut without a warning.
        ValueRef::Text(t) => {
            let text = String::from_utf8_lossy(t);
            text.trim_end_matches(' ').chars().count() > most
        }
        _ => text(ctx, 0).is_some_and(|t| t.len() > most),
    };
    if matches!(ctx.get_raw(0), ValueRef::Null) {
        if int(ctx, 3) == Some(1) {
            return Err(raise(SqlError::cannot_be_null(&name)));
        }
    } else if most.is_some_and(long) {
        return Err(raise(SqlError::data_too_long(&name)));
    }
    ctx.argument(1)
}
