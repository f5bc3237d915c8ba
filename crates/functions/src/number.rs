//! Numbers as texts and bits, and conversions to numbers.

use tare_mysql::decimal::Decimal;
use tare_mysql::number::Number;

use crate::exact;
use crate::locale::Separators;
use crate::prelude::*;
use crate::rounding::rounded;
use crate::text_builder::TextBuilder;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("bin", 1, 1, Text, |ctx| {
        opt(text(ctx, 0)
            .filter(|s| !s.is_empty())
            .and_then(|s| conv(&s, 10, 2)))
    }),
    own("bit_count", 1, 1, Int, |ctx| match ctx.get_raw(0) {
        ValueRef::Blob(bytes) => {
            let ones = bytes.iter().map(|b| i64::from(b.count_ones())).sum::<i64>();
            Ok(Value::Integer(ones))
        }
        _ => opt(int(ctx, 0).map(|n| i64::from(n.count_ones()))),
    }),
    own("conv", 3, 3, Text, |ctx| {
        match (text(ctx, 0), int(ctx, 1), int(ctx, 2)) {
            (Some(s), Some(from), Some(to)) if !s.is_empty() => opt(conv(&s, from, to)),
            _ => Ok(Value::Null),
        }
    }),
    own("crc32", 1, 1, Unsigned, |ctx| {
        let Some(bytes) = bytes(ctx, 0) else {
            return Ok(Value::Null);
        };
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        Ok(Value::Integer(crc.sum().into()))
    }),
    own("export_set", 3, 5, Text, |ctx| {
        let (Some(bits), Some(on), Some(off)) = (int(ctx, 0), text(ctx, 1), text(ctx, 2)) else {
            return Ok(Value::Null);
        };
        let separator = if ctx.len() > 3 {
            text(ctx, 3)
        } else {
            Some(",".into())
        };
        let n = if ctx.len() > 4 { int(ctx, 4) } else { Some(64) };
        let (Some(separator), Some(n)) = (separator, n) else {
            return Ok(Value::Null);
        };
        let mut builder = TextBuilder::default();
        let n = if (0..=64).contains(&n) { n } else { 64 };
        for i in 0..n {
            let part = if bits >> i & 1 == 1 { &on } else { &off };
            if i > 0 {
                builder.push(&separator);
            }
            builder.push(part);
        }
        Ok(builder.into_value())
    })
    .of_bytes(),
    own("format", 2, 3, Text, format),
    own("format_bytes", 1, 1, Text, |ctx| {
        opt(readable_number(ctx).map(|x| {
            let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
            let mut x = x;
            let mut unit = 0;
            while x.abs() >= 1024.0 && unit + 1 < units.len() {
                x /= 1024.0;
                unit += 1;
            }
            match unit {
                0 => format!("{:4} {}", x as i64, units[0]),
                _ => in_units(x, units[unit]),
            }
        }))
    }),
    own("format_pico_time", 1, 1, Text, |ctx| {
        opt(readable_number(ctx).map(|x| {
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
                Some((size, unit)) => in_units(x / size, unit),
                None => format!("{:3} ps", x as i64),
            }
        }))
    }),
    own("make_set", 2, ANY, Text, |ctx| {
        let Some(bits) = int(ctx, 0) else {
            return Ok(Value::Null);
        };
        let mut builder = TextBuilder::default();
        let members = (1..ctx.len().min(64)).filter(|i| bits >> (i - 1) & 1 == 1);
        for (n, member) in members.filter_map(|i| text(ctx, i)).enumerate() {
            if n > 0 {
                builder.push(",");
            }
            builder.push(&member);
        }
        Ok(builder.into_value())
    })
    .of_bytes(),
    own("oct", 1, 1, Text, |ctx| {
        opt(text(ctx, 0)
            .filter(|s| !s.is_empty())
            .and_then(|s| conv(&s, 10, 8)))
    }),
];

/// FORMAT: a number with separators, as a locale has them.
fn format(ctx: &Call<'_>) -> Answer {
    let Some(digits) = int(ctx, 1) else {
        return Ok(Value::Null);
    };
    let digits = i64::from(digits as i32).clamp(0, 30);
    let number = match ctx.get_raw(0) {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Real(x) => {
            let text = format!("{}", rounded(x, digits as i32));
            Decimal::parse(&text).unwrap_or_else(|| 0i64.into())
        }
        _ => exact::decimal(ctx, 0).unwrap_or_else(|| 0i64.into()),
    };
    let number = number.rounded(digits);
    let locale = if ctx.len() == 3 { text(ctx, 2) } else { None };
    let locale = match Separators::of(locale.as_deref().unwrap_or("en_US")) {
        Some(locale) => locale,
        None => {
            let message = format!("Unknown locale: '{}'", locale.unwrap_or_default());
            ctx.session.warn(1649, &message);
            Separators::default()
        }
    };
    let text = number.abs().text();
    let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    if number.is_negative() && !number.is_zero() {
        out.push('-');
    }
    for (i, c) in integer.chars().enumerate() {
        if i > 0 && locale.is_before_group(integer.len() - i) {
            out.push_str(locale.group);
        }
        out.push(c);
    }
    if digits > 0 {
        out.push_str(locale.point);
        out.push_str(&format!("{fraction:0<0$}", digits as usize));
    }
    Ok(out.into())
}

/// The number to format, with a warning if a text is not entirely a number. An empty text is 0.
fn readable_number(ctx: &Call<'_>) -> Option<f64> {
    if let ValueRef::Text(t) = ctx.get_raw(0)
        && !t.is_empty()
        && !Number::of(t).is_all()
    {
        ctx.session.truncated("DOUBLE", t);
    }
    real(ctx, 0)
}

/// A number with its unit; a very large one with an exponent.
fn in_units(x: f64, unit: &str) -> String {
    if x.abs() < 1e5 {
        return format!("{x:.2} {unit}");
    }
    let written = format!("{x:.2e}");
    match written.split_once('e') {
        Some((digits, power)) => format!("{digits}e+{power:0>2} {unit}"),
        None => format!("{written} {unit}"),
    }
}

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_int", 1, 2, to_integer),
    helper("tare_uint", 1, 1, |ctx| {
        Ok(match to_integer(ctx)? {
            Value::Integer(n) => crate::exact::integer((n as u64).into()),
            other => other,
        })
    }),
    // A date or time in arithmetic: 2024-01-02 03:04:05 is 20240102030405.
    helper("tare_moment", 1, 1, |ctx| {
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
    }),
    // The same, with its fraction: an exact number.
    helper("tare_moment_digits", 1, 1, |ctx| {
        opt(text(ctx, 0).map(|text| {
            let is_digit = |c: &char| c.is_ascii_digit() || *c == '.';
            let digits: String = text.chars().filter(is_digit).collect();
            let negative = text.starts_with('-');
            let number = Decimal::prefix(digits.as_bytes()).0;
            if negative { number.negated() } else { number }.text()
        }))
    }),
    helper("tare_xor", 2, 2, |ctx| {
        opt(int(ctx, 0).zip(int(ctx, 1)).map(|(a, b)| a ^ b))
    }),
    helper("tare_real", 1, 2, |ctx| {
        warn_of_text(ctx);
        opt(real(ctx, 0))
    }),
    helper("tare_float", 1, 1, |ctx| match real(ctx, 0) {
        Some(x) if x.abs() > f64::from(f32::MAX) => {
            Err(raise(SqlError::new(1690, "FLOAT value is out of range")))
        }
        x => opt(x.map(|x| f64::from(x as f32))),
    }),
    // A number as it is, a text's as far as it goes.
    helper("tare_number", 1, 2, |ctx| {
        warn_of_text(ctx);
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => Value::Integer(n),
            ValueRef::Text(t) => {
                let number = Number::of(t);
                match number.text().parse::<i64>() {
                    Ok(n) if number.is_all() => Value::Integer(n),
                    _ => number_of(number.double()),
                }
            }
            _ => Value::Real(real(ctx, 0).unwrap_or(0.0)),
        })
    }),
];

/// Warns of a text that is read as a number and is none, unless there is a second argument. MySQL reads a blank one
/// as 0.
fn warn_of_text(ctx: &Call<'_>) {
    if let ValueRef::Text(text) | ValueRef::Blob(text) = ctx.get_raw(0)
        && ctx.len() == 1
        && !text.trim_ascii().is_empty()
        && !Number::of(text).is_all()
    {
        ctx.session.truncated("DOUBLE", text);
    }
}

/// CONV: a number's digits in another base.
fn conv(digits: &str, from: i64, to: i64) -> Option<String> {
    let (from_base, to_base) = (from.unsigned_abs(), to.unsigned_abs());
    if !(2..=36).contains(&from_base) || !(2..=36).contains(&to_base) {
        return None;
    }
    let digits = digits.trim();
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    let mut n = 0u64;
    for c in digits.chars() {
        let Some(d) = c.to_digit(from_base as u32) else {
            break;
        };
        n = n.saturating_mul(from_base).saturating_add(d.into());
        // More digits make it no larger.
        if n == u64::MAX {
            break;
        }
    }
    if negative {
        n = n.wrapping_neg();
    }
    let (sign, mut n) = if to < 0 && (n as i64) < 0 {
        ("-", (n as i64).unsigned_abs())
    } else {
        ("", n)
    };
    let mut out = Vec::new();
    loop {
        out.push(std::char::from_digit((n % to_base) as u32, to_base as u32)?);
        n /= to_base;
        if n == 0 {
            break;
        }
    }
    let digits: String = out.iter().rev().collect();
    Some(format!("{sign}{}", digits.to_uppercase()))
}

fn number_of(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 9e15 {
        Value::Integer(x as i64)
    } else {
        Value::Real(x)
    }
}

/// CAST(x AS SIGNED): a number is rounded, a text is read as far as its digits go.
fn to_integer(ctx: &Call<'_>) -> Answer {
    let ValueRef::Text(t) = ctx.get_raw(0) else {
        return Ok(int(ctx, 0).map_or(Value::Null, Value::Integer));
    };
    let integer = Number::of_integer(t);
    if !integer.is_all() && ctx.len() == 1 {
        ctx.session.truncated("INTEGER", t);
    }
    Ok(Value::Integer(integer.bits()))
}

#[cfg(test)]
mod tests {
    use super::conv;

    #[test]
    fn numbers_change_their_base() {
        assert_eq!(conv("ff", 16, 10).as_deref(), Some("255"));
        assert_eq!(conv("-1", 10, 16).as_deref(), Some("FFFFFFFFFFFFFFFF"));
        assert_eq!(conv("-1", 10, -10).as_deref(), Some("-1"));
        assert_eq!(conv("1", 1, 10), None);
    }
}
