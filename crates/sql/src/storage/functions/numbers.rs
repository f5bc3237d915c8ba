//! Functions of numbers.

use std::sync::Arc;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use super::{fresh, int, number, opt, pure, real, text};
use crate::server::state::SessionState;

/// Functions by their names in SQL.
type Unary = (&'static str, fn(f64) -> f64);
type Binary = (&'static str, fn(f64, f64) -> f64);

/// What divides: by zero it is NULL, and a warning where @@sql_mode asks for one.
fn divisions(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    let divide = |name: &str,
                  whole: fn(i64, i64) -> Option<i64>,
                  real_of: fn(f64, f64) -> Value| {
        let session = session.clone();
        pure(db, name, 2, move |ctx| {
            let (Some(a), Some(b)) = (real(ctx, 0), real(ctx, 1)) else {
                return Ok(Value::Null);
            };
            if b == 0.0 {
                session.divided_by_zero();
                return Ok(Value::Null);
            }
            if let (ValueRef::Integer(a), ValueRef::Integer(b)) = (ctx.get_raw(0), ctx.get_raw(1))
                && let Some(n) = whole(a, b)
            {
                return Ok(Value::Integer(n));
            }
            Ok(real_of(a, b))
        })
    };
    divide("tare_div", |_, _| None, |a, b| number(a / b))?;
    divide("tare_intdiv", i64::checked_div, |a, b| {
        Value::Integer((a / b).trunc() as i64)
    })?;
    divide("mod", i64::checked_rem, |a, b| number(a % b))
}

/// CAST(x AS SIGNED): a number is rounded, a text is read as far as its digits go.
fn casts(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    let session = session.clone();
    pure(db, "tare_int", 1, move |ctx| {
        let ValueRef::Text(t) = ctx.get_raw(0) else {
            return Ok(int(ctx, 0).map_or(Value::Null, Value::Integer));
        };
        let text = String::from_utf8_lossy(t);
        let t = text.trim();
        let digits = t.strip_prefix(['-', '+']).unwrap_or(t);
        let (digits, rest) = digits.split_at(digits.bytes().take_while(u8::is_ascii_digit).count());
        if digits.is_empty() || !rest.is_empty() {
            session.truncated("INTEGER", &text);
        }
        let n = digits
            .parse::<u64>()
            .unwrap_or(if digits.is_empty() { 0 } else { u64::MAX });
        Ok(Value::Integer(if t.starts_with('-') {
            (n as i64).wrapping_neg()
        } else {
            n as i64
        }))
    })
}

pub(super) fn numbers(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    divisions(db, session)?;
    casts(db, session)?;
    let unary: [Unary; 15] = [
        ("sqrt", f64::sqrt),
        ("exp", f64::exp),
        ("ln", f64::ln),
        ("log2", f64::log2),
        ("log10", f64::log10),
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("asin", f64::asin),
        ("acos", f64::acos),
        ("atan", f64::atan),
        ("degrees", f64::to_degrees),
        ("radians", f64::to_radians),
        ("cot", |x| 1.0 / x.tan()),
        ("log", f64::ln),
    ];
    for (name, f) in unary {
        pure(db, name, 1, move |ctx| {
            Ok(real(ctx, 0).map_or(Value::Null, |x| number(f(x))))
        })?;
    }
    let binary: [Binary; 3] = [
        ("pow", f64::powf),
        ("atan2", f64::atan2),
        ("log", |base, x| x.log(base)),
    ];
    for (name, f) in binary {
        pure(db, name, 2, move |ctx| {
            Ok(real(ctx, 0)
                .zip(real(ctx, 1))
                .map_or(Value::Null, |(a, b)| number(f(a, b))))
        })?;
    }
    for (name, f) in [("ceil", f64::ceil as fn(f64) -> f64), ("floor", f64::floor)] {
        pure(db, name, 1, move |ctx| {
            Ok(match ctx.get_raw(0) {
                ValueRef::Integer(n) => Value::Integer(n),
                _ => real(ctx, 0).map_or(Value::Null, |x| Value::Integer(f(x) as i64)),
            })
        })?;
    }
    pure(db, "truncate", 2, |ctx| {
        Ok(real(ctx, 0).zip(int(ctx, 1)).map_or(Value::Null, |(x, n)| {
            let cut = truncated(x, n.clamp(-30, 30) as i32);
            if n <= 0 {
                Value::Integer(cut as i64)
            } else {
                number(cut)
            }
        }))
    })?;
    // A date or time in arithmetic: 2024-01-02 03:04:05 is 20240102030405.
    pure(db, "tare_moment", 1, |ctx| {
        Ok(match text(ctx, 0) {
            None => Value::Null,
            Some(text) => {
                let negative = text.starts_with('-');
                let digits = text.replace(|c: char| !c.is_ascii_digit() && c != '.', "");
                match digits.parse::<i64>() {
                    Ok(n) => Value::Integer(if negative { -n } else { n }),
                    Err(_) => opt(digits
                        .parse()
                        .ok()
                        .map(|x: f64| if negative { -x } else { x }))?,
                }
            }
        })
    })?;
    pure(db, "tare_xor", 2, |ctx| {
        opt(int(ctx, 0).zip(int(ctx, 1)).map(|(a, b)| a ^ b))
    })?;
    for args in [1, 2] {
        pure(db, "tare_round", args, |ctx| {
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
                ValueRef::Integer(n) => {
                    let unit = 10i128.pow(digits.unsigned_abs() as u32);
                    let half = unit / 2 * i128::from(n.signum());
                    Value::Integer(((i128::from(n) + half) / unit * unit) as i64)
                }
                _ => number(rounded(real(ctx, 0).unwrap_or(0.0), digits as i32)),
            })
        })?;
    }
    pure(db, "tare_sign", 1, |ctx| {
        opt(real(ctx, 0).map(|x| {
            if x > 0.0 {
                1i64
            } else if x < 0.0 {
                -1
            } else {
                0
            }
        }))
    })?;
    pure(db, "tare_real", 1, |ctx| opt(real(ctx, 0)))?;
    pure(db, "pi", 0, |_| Ok(Value::Real(std::f64::consts::PI)))?;
    pure(db, "isnull", 1, |ctx| {
        Ok(Value::Integer(
            matches!(ctx.get_raw(0), ValueRef::Null).into(),
        ))
    })?;
    pure(db, "bit_count", 1, |ctx| {
        opt(int(ctx, 0).map(|n| i64::from(n.count_ones())))
    })?;
    pure(db, "crc32", 1, |ctx| {
        opt(text(ctx, 0).map(|s| {
            let mut crc = flate2::Crc::new();
            crc.update(s.as_bytes());
            i64::from(crc.sum())
        }))
    })?;
    pure(db, "inet_aton", 1, |ctx| {
        opt(text(ctx, 0)
            .and_then(|s| s.parse::<std::net::Ipv4Addr>().ok())
            .map(|ip| i64::from(u32::from(ip))))
    })?;
    pure(db, "inet_ntoa", 1, |ctx| {
        opt(int(ctx, 0)
            .and_then(|n| u32::try_from(n).ok())
            .map(|n| std::net::Ipv4Addr::from(n).to_string()))
    })?;
    fresh(db, "rand", 0, |_| {
        let mut bytes = [0u8; 8];
        super::random(&mut bytes)?;
        Ok(Value::Real(
            (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64,
        ))
    })?;
    pure(db, "rand", 1, |ctx| {
        Ok({
            // A fixed number for a fixed seed (SplitMix64).
            let mut z = (int(ctx, 0).unwrap_or(0) as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            Value::Real(((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64)
        })
    })?;
    pure(db, "format_bytes", 1, |ctx| {
        opt(real(ctx, 0).map(|x| {
            let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
            let mut x = x;
            let mut unit = 0;
            while x.abs() >= 1024.0 && unit + 1 < units.len() {
                x /= 1024.0;
                unit += 1;
            }
            if unit == 0 {
                format!("{x:4} {}", units[0])
            } else {
                format!("{x:.2} {}", units[unit])
            }
        }))
    })?;
    pure(db, "format_pico_time", 1, |ctx| {
        opt(real(ctx, 0).map(|x| {
            let units = [
                (864e14, "d"),
                (36e14, "h"),
                (6e13, "min"),
                (1e12, "s"),
                (1e9, "ms"),
                (1e6, "us"),
                (1e3, "ns"),
            ];
            match units.iter().find(|(size, _)| x.abs() >= *size) {
                Some((size, unit)) => format!("{:.2} {unit}", x / size),
                None => format!("{x} ps"),
            }
        }))
    })?;
    Ok(())
}

/// The digits of a number's shortest text up to some place, and the next one.
fn digits(x: f64, places: i32) -> Option<(i128, u8)> {
    let text = format!("{}", x.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let all = format!("{whole}{fraction}");
    let keep = whole.len() as i32 + places;
    if keep < 0 {
        return Some((0, 0));
    }
    let keep = keep as usize;
    if keep >= all.len() {
        return None;
    }
    let kept = if keep == 0 {
        0
    } else {
        all[..keep].parse().ok()?
    };
    Some((kept, all.as_bytes()[keep] - b'0'))
}

fn scaled(n: i128, places: i32, x: f64) -> f64 {
    // By way of a text: a division would bring the error back that the digits do not have.
    format!("{n}e{}", -places)
        .parse::<f64>()
        .unwrap_or(0.0)
        .copysign(x)
}

/// Half is rounded away from zero, by the digits that a reader sees: 2.675 becomes 2.68.
fn rounded(x: f64, places: i32) -> f64 {
    match digits(x, places) {
        _ if !x.is_finite() => x,
        None => x,
        Some((n, next)) => scaled(n + i128::from(next >= 5), places, x),
    }
}

fn truncated(x: f64, places: i32) -> f64 {
    match digits(x, places) {
        _ if !x.is_finite() => x,
        None => x,
        Some((n, _)) => scaled(n, places, x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_away_from_zero() {
        for (x, places, expected) in [
            (2.5, 0, 3.0),
            (-2.5, 0, -3.0),
            (2.675, 2, 2.68),
            (1234.5, -2, 1200.0),
            (1.0, 5, 1.0),
            (0.05, 1, 0.1),
            (49.0, -2, 0.0),
        ] {
            assert_eq!(rounded(x, places), expected, "{x} {places}");
        }
        assert_eq!(truncated(2.567, 1), 2.5);
        assert_eq!(truncated(-1.99, 1), -1.9);
    }
}
