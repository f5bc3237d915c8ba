//! Functions of numbers.

use tare_mysql::decimal::Decimal;

use crate::exact;
use crate::prelude::*;
use crate::rounding::{rounded, truncated};

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
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
    own("ln", 1, 1, Double, |ctx| unary(ctx, f64::ln)),
    own("log", 1, 2, Double, logarithm),
    own("log10", 1, 1, Double, |ctx| unary(ctx, f64::log10)),
    own("log2", 1, 1, Double, |ctx| unary(ctx, f64::log2)),
    own("mod", 2, 2, Remainder, |ctx| {
        divided(ctx, i64::checked_rem, |a, b| number(a % b))
    }),
    own("pi", 0, 0, Fixed(6), |_ctx| {
        Ok(Value::Real(std::f64::consts::PI))
    }),
    own("pow", 2, 2, Double, |ctx| binary(ctx, f64::powf)),
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
                Value::Integer(((i128::from(n) + half) / unit * unit) as i64)
            }
            _ => number(rounded(real(ctx, 0).unwrap_or(0.0), digits as i32)),
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
        if let (ValueRef::Text(_), Some(n)) = (ctx.get_raw(0), int(ctx, 1)) {
            let cut = |d: Decimal| d.truncated(n.clamp(-65, d.scale())).text();
            return opt(exact::decimal(ctx, 0).map(cut));
        }
        Ok(real(ctx, 0).zip(int(ctx, 1)).map_or(Value::Null, |(x, n)| {
            let cut = truncated(x, n.clamp(-30, 30) as i32);
            if n <= 0 {
                Value::Integer(cut as i64)
            } else {
                number(cut)
            }
        }))
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
        divided(ctx, i64::checked_div, |a, b| {
            Value::Integer((a / b).trunc() as i64)
        })
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
    Ok(real(ctx, 0).map_or(Value::Null, |x| number(f(x))))
}

/// A function of two numbers.
fn binary(ctx: &Call<'_>, f: fn(f64, f64) -> f64) -> Answer {
    Ok(real(ctx, 0)
        .zip(real(ctx, 1))
        .map_or(Value::Null, |(a, b)| number(f(a, b))))
}

/// Rounds to an integer; an integer stays as it is.
fn to_integer(ctx: &Call<'_>, f: fn(f64) -> f64, of: fn(&Decimal) -> Decimal) -> Answer {
    Ok(match ctx.get_raw(0) {
        ValueRef::Text(_) => {
            let integer = exact::decimal(ctx, 0).and_then(|d| of(&d).to_integer());
            integer.map_or(Value::Null, exact::integer)
        }
        ValueRef::Integer(n) => Value::Integer(n),
        _ => real(ctx, 0).map_or(Value::Null, |x| Value::Integer(f(x) as i64)),
    })
}

/// LOG of a number, or of a base and a number.
fn logarithm(ctx: &Call<'_>) -> Answer {
    match ctx.len() {
        1 => unary(ctx, f64::ln),
        _ => binary(ctx, |base, x| x.log(base)),
    }
}

/// RAND: a fixed number for a fixed seed.
fn rand(ctx: &Call<'_>) -> Answer {
    let bits = if ctx.is_empty() {
        let mut bytes = [0u8; 8];
        fill_random(&mut bytes)?;
        u64::from_le_bytes(bytes)
    } else {
        // SplitMix64.
        let mut z = (int(ctx, 0).unwrap_or(0) as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    Ok(Value::Real((bits >> 11) as f64 / (1u64 << 53) as f64))
}

/// A division. By zero it is NULL, with a warning if @@sql_mode has one.
fn divided(
    ctx: &Call<'_>,
    of_integers: fn(i64, i64) -> Option<i64>,
    real_of: fn(f64, f64) -> Value,
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
    Ok(real_of(a, b))
}
