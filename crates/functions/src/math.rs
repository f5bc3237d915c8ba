//! Functions of numbers.

use tare_mysql::decimal::Decimal;

use crate::exact;
use crate::prelude::*;
use crate::rounding::{rounded, truncated};

/// By name.
pub(crate) static FUNCTIONS: &[Function] =
    &[
        sqlites("abs", 1, 1, Magnitude),
        own("acos", 1, 1, Double, |ctx| unary(ctx, f64::acos)),
        own("asin", 1, 1, Double, |ctx| unary(ctx, f64::asin)),
        code("atan", 1, 2, Double, atan),
        code("atan2", 1, 2, Double, atan),
        own("ceil", 1, 1, Integral, |ctx| {
            to_integer(ctx, f64::ceil, Decimal::ceil)
        }),
        renamed("ceiling", 1, 1, Integral, "ceil"),
        own("cos", 1, 1, Double, |ctx| unary(ctx, f64::cos)),
        own("cot", 1, 1, Double, |ctx| unary(ctx, |x| 1.0 / x.tan())),
        own("degrees", 1, 1, Double, |ctx| unary(ctx, f64::to_degrees)),
        own("exp", 1, 1, Double, |ctx| unary(ctx, f64::exp)),
        own("floor", 1, 1, Integral, |ctx| {
            to_integer(ctx, f64::floor, Decimal::floor)
        }),
        own("ln", 1, 1, Double, |ctx| log(ctx, f64::ln)),
        own("log", 1, 2, Double, logarithm),
        own("log10", 1, 1, Double, |ctx| log(ctx, f64::log10)),
        own("log2", 1, 1, Double, |ctx| log(ctx, f64::log2)),
        own("mod", 2, 2, Remainder, |ctx| {
            divided(ctx, i64::checked_rem, |a, b| number(a % b))
        }),
        own("pi", 0, 0, Fixed(6), |_ctx| {
            Ok(Value::Real(std::f64::consts::PI))
        }),
        own("pow", 2, 2, Double, |ctx| {
            let power = |(a, b)| match f64::powf(a, b) {
                x if x.is_nan() => Err(out_of_range("DOUBLE")),
                x => number(x),
            };
            real(ctx, 0)
                .zip(real(ctx, 1))
                .map_or(Ok(Value::Null), power)
        }),
        renamed("power", 2, 2, Double, "pow"),
        own("radians", 1, 1, Double, |ctx| unary(ctx, f64::to_radians)),
        own("rand", 0, 1, Double, rand).volatile(),
        hidden("round", 1, 2, Rounded, "tare_round", |ctx| {
            let digits = if ctx.len() == 2 {
                match int(ctx, 1) {
                    Some(n) => n.clamp(-30, 30),
                    None => return Ok(Value::Null),
                }
            } else {
                0
            };
            Ok(match ctx.get_raw(0) {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(n) if digits >= 0 => Value::Integer(n),
                ValueRef::Text(_) => exact::decimal(ctx, 0).map_or(Value::Null, |d| {
                    Value::Text(d.rounded(digits.min(d.scale())).text())
                }),
                ValueRef::Integer(n) => {
                    let unit = 10i128.pow(digits.unsigned_abs() as u32);
                    let half = unit / 2 * i128::from(n.signum());
                    let rounded = (i128::from(n) + half) / unit * unit;
                    let rounded = i64::try_from(rounded).map_err(|_| out_of_range("BIGINT"))?;
                    Value::Integer(rounded)
                }
                _ => number(rounded(real(ctx, 0).unwrap_or(0.0), digits as i32))?,
            })
        }),
        hidden("sign", 1, 1, Int, "tare_sign", |ctx| {
            opt(real(ctx, 0).map(|x| {
                if x > 0.0 {
                    1i64
                } else if x < 0.0 {
                    -1
                } else {
                    0
                }
            }))
        }),
        own("sin", 1, 1, Double, |ctx| unary(ctx, f64::sin)),
        own("sqrt", 1, 1, Double, |ctx| unary(ctx, f64::sqrt)),
        own("tan", 1, 1, Double, |ctx| unary(ctx, f64::tan)),
        own("truncate", 2, 2, Rounded, |ctx| {
            let Some(digits) = int(ctx, 1).map(|n| n.clamp(-65, 65)) else {
                return Ok(Value::Null);
            };
            match ctx.get_raw(0) {
                ValueRef::Text(_) => opt(exact::decimal(ctx, 0)
                    .map(|d| d.truncated(digits.clamp(-65, d.scale())).text())),
                ValueRef::Integer(n) if digits >= 0 => Ok(Value::Integer(n)),
                ValueRef::Integer(n) => {
                    let unit = 10i64.checked_pow(digits.unsigned_abs() as u32);
                    Ok(Value::Integer(unit.map_or(0, |unit| n / unit * unit)))
                }
                _ => real(ctx, 0).map_or(Ok(Value::Null), |x| number(truncated(x, digits as i32))),
            }
        }),
    ];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_div", 2, 3, |ctx| {
        divided(ctx, |_, _| None, |a, b| number(a / b))
    }),
    helper("tare_mod", 2, 3, |ctx| {
        divided(ctx, i64::checked_rem, |a, b| number(a % b))
    }),
    helper("tare_intdiv", 2, 3, |ctx| {
        divided(ctx, i64::checked_div, |a, b| in_range((a / b).trunc()))
    }),
    helper("atan", 1, 1, |ctx| unary(ctx, f64::atan)),
    helper("atan2", 2, 2, |ctx| binary(ctx, f64::atan2)),
];

/// ATAN and ATAN2 are the same.
fn atan(call: SqlCall) -> ExprResult {
    let name = if call.len() == 2 { "atan2" } else { "atan" };
    Ok(node::call(name, call.into_arguments()))
}

/// A function of one number; NULL if the result is none.
fn unary(ctx: &Call<'_>, f: fn(f64) -> f64) -> Answer {
    real(ctx, 0).map_or(Ok(Value::Null), |x| number(f(x)))
}

/// A function of two numbers.
fn binary(ctx: &Call<'_>, f: fn(f64, f64) -> f64) -> Answer {
    let arguments = real(ctx, 0).zip(real(ctx, 1));
    arguments.map_or(Ok(Value::Null), |(a, b)| number(f(a, b)))
}

/// Rounds to an integer; an integer stays as it is.
fn to_integer(ctx: &Call<'_>, f: fn(f64) -> f64, of: fn(&Decimal) -> Decimal) -> Answer {
    Ok(match ctx.get_raw(0) {
        ValueRef::Text(_) => {
            let integer = exact::decimal(ctx, 0).and_then(|d| of(&d).to_integer());
            integer.map_or(Value::Null, exact::integer)
        }
        ValueRef::Integer(n) => Value::Integer(n),
        _ => match real(ctx, 0) {
            // A double stays one.
            Some(x) => number(f(x))?,
            None => Value::Null,
        },
    })
}

/// A logarithm; NULL of what is not positive, with a warning.
fn log(ctx: &Call<'_>, f: fn(f64) -> f64) -> Answer {
    match real(ctx, 0) {
        Some(x) if x > 0.0 => number(f(x)),
        Some(_) => no_logarithm(ctx),
        None => Ok(Value::Null),
    }
}

fn no_logarithm(ctx: &Call<'_>) -> Answer {
    ctx.session.warn(3020, "Invalid argument for logarithm");
    Ok(Value::Null)
}

/// LOG of a number, or of a base and a number.
fn logarithm(ctx: &Call<'_>) -> Answer {
    if ctx.len() == 1 {
        return log(ctx, f64::ln);
    }
    match real(ctx, 0).zip(real(ctx, 1)) {
        Some((base, x)) if base > 0.0 && x > 0.0 && base != 1.0 => number(x.ln() / base.ln()),
        Some(_) => no_logarithm(ctx),
        None => Ok(Value::Null),
    }
}

/// RAND: a random number, or the first one of the sequence that a seed determines.
fn rand(ctx: &Call<'_>) -> Answer {
    if ctx.is_empty() {
        let mut bytes = [0u8; 8];
        fill_random(&mut bytes)?;
        let bits = u64::from_le_bytes(bytes);
        return Ok(Value::Real((bits >> 11) as f64 / (1u64 << 53) as f64));
    }
    // Two linear congruences, which the seed starts.
    const MODULUS: u64 = 0x3fff_ffff;
    let seed = int(ctx, 0).unwrap_or(0) as u32;
    let first = u64::from(seed.wrapping_mul(0x1_0001).wrapping_add(55_555_555)) % MODULUS;
    let second = u64::from(seed.wrapping_mul(0x1000_0001)) % MODULUS;
    let next = (first * 3 + second) % MODULUS;
    Ok(Value::Real(next as f64 / MODULUS as f64))
}

/// 1690.
fn out_of_range(kind: &str) -> rusqlite::Error {
    raise(SqlError::new(1690, format!("{kind} value is out of range")))
}

/// A double that is an integer, as one.
fn in_range(x: f64) -> Answer {
    match x.abs() < 9_223_372_036_854_775_808.0 {
        true => Ok(Value::Integer(x as i64)),
        false => Err(out_of_range("BIGINT")),
    }
}

/// A division. By zero it is NULL, with a warning if @@sql_mode has one.
fn divided(
    ctx: &Call<'_>,
    of_integers: fn(i64, i64) -> Option<i64>,
    real_of: fn(f64, f64) -> Answer,
) -> Answer {
    let (Some(a), Some(b)) = (real(ctx, 0), real(ctx, 1)) else {
        return Ok(Value::Null);
    };
    if b == 0.0 {
        return exact::by_zero(ctx, 2);
    }
    if let (ValueRef::Integer(a), ValueRef::Integer(b)) = (ctx.get_raw(0), ctx.get_raw(1))
        && let Some(n) = of_integers(a, b)
    {
        return Ok(Value::Integer(n));
    }
    real_of(a, b)
}
