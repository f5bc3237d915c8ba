//! MySQL's functions that SQLite lacks, or that mean something else there.

use std::sync::Arc;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};
use sha1::Digest as _;

use super::time::{self, DateTime};
use crate::server::variables::SessionState;

type Answer = Result<Value>;
/// Functions by their names in SQL.
type Unary = (&'static str, fn(f64) -> f64);
type Binary = (&'static str, fn(f64, f64) -> f64);
type OfDate = (&'static str, fn(DateTime) -> i64);
type OfMicros = (&'static str, fn(i64) -> i64);

fn text(ctx: &Context<'_>, i: usize) -> Option<String> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(crate::wire::value::display_real(x, false)),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(String::from_utf8_lossy(t).into_owned()),
    }
}

/// A number as MySQL reads it out of a text: as far as it goes, else 0.
fn prefix_number(text: &str) -> f64 {
    let text = text.trim();
    let mut end = 0;
    for (i, c) in text.char_indices() {
        let ok = c.is_ascii_digit()
            || ((c == '-' || c == '+') && (i == 0 || text[..i].ends_with(['e', 'E'])))
            || c == '.'
            || ((c == 'e' || c == 'E') && i > 0);
        if !ok {
            break;
        }
        end = i + 1;
    }
    (0..=end)
        .rev()
        .filter(|&n| text.is_char_boundary(n))
        .find_map(|n| text[..n].parse().ok())
        .unwrap_or(0.0)
}

fn real(ctx: &Context<'_>, i: usize) -> Option<f64> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(x) => Some(x),
        ValueRef::Text(t) | ValueRef::Blob(t) => Some(prefix_number(&String::from_utf8_lossy(t))),
    }
}

fn int(ctx: &Context<'_>, i: usize) -> Option<i64> {
    match ctx.get_raw(i) {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Text(t) => {
            let t = String::from_utf8_lossy(t);
            Some(
                t.trim()
                    .parse()
                    .unwrap_or_else(|_| prefix_number(&t).round() as i64),
            )
        }
        _ => real(ctx, i).map(|x| x.round() as i64),
    }
}

fn date(ctx: &Context<'_>, i: usize) -> Option<DateTime> {
    text(ctx, i).and_then(|t| DateTime::parse(&t))
}

fn opt<T: Into<Value>>(value: Option<T>) -> Answer {
    Ok(value.map_or(Value::Null, Into::into))
}

fn number(x: f64) -> Value {
    if x.is_finite() {
        Value::Real(x)
    } else {
        Value::Null
    }
}

fn fail(message: &str) -> Error {
    Error::UserFunctionError(message.to_owned().into())
}

/// Registers all for a session.
pub fn register(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    strings(db)?;
    numbers(db)?;
    dates(db)?;
    context(db, session)
}

fn pure(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function(name, args, flags, move |ctx| f(ctx))
}

fn fresh(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    db.create_scalar_function(name, args, FunctionFlags::SQLITE_UTF8, move |ctx| f(ctx))
}

/// Characters `from` (1 is the first, negative counts from the end) and on, as MySQL counts them.
fn substr(s: &str, from: i64, count: Option<i64>) -> String {
    let len = s.chars().count() as i64;
    let start = if from > 0 { from - 1 } else { len + from };
    if from == 0 || start < 0 || start >= len {
        return String::new();
    }
    s.chars()
        .skip(start as usize)
        .take(count.unwrap_or(len).max(0) as usize)
        .collect()
}

fn strings(db: &Connection) -> Result<()> {
    let concat = |ctx: &Context<'_>| {
        let mut out = String::new();
        for i in 0..ctx.len() {
            match text(ctx, i) {
                Some(t) => out.push_str(&t),
                None => return Ok(Value::Null),
            }
        }
        Ok(out.into())
    };
    pure(db, "concat", -1, concat)?;
    pure(db, "concat_", -1, concat)?;
    pure(db, "concat_ws", -1, |ctx| {
        let Some(separator) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let parts: Vec<String> = (1..ctx.len()).filter_map(|i| text(ctx, i)).collect();
        Ok(parts.join(&separator).into())
    })?;
    pure(db, "left", 2, |ctx| {
        opt(text(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(s, n)| s.chars().take(n.max(0) as usize).collect::<String>()))
    })?;
    pure(db, "right", 2, |ctx| {
        opt(text(ctx, 0).zip(int(ctx, 1)).map(|(s, n)| {
            let skip = s.chars().count().saturating_sub(n.max(0) as usize);
            s.chars().skip(skip).collect::<String>()
        }))
    })?;
    pure(db, "tare_substr", 2, |ctx| {
        opt(text(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(s, n)| substr(&s, n, None)))
    })?;
    pure(db, "tare_substr", 3, |ctx| {
        match (text(ctx, 0), int(ctx, 1), int(ctx, 2)) {
            (Some(s), Some(from), Some(n)) => Ok(substr(&s, from, Some(n)).into()),
            _ => Ok(Value::Null),
        }
    })?;
    for (name, start, end) in [
        ("tare_trim", true, true),
        ("tare_ltrim", true, false),
        ("tare_rtrim", false, true),
    ] {
        pure(db, name, 2, move |ctx| {
            opt(text(ctx, 0).zip(text(ctx, 1)).map(|(s, what)| {
                let mut s = s.as_str();
                if !what.is_empty() {
                    while start && let Some(rest) = s.strip_prefix(&*what) {
                        s = rest;
                    }
                    while end && let Some(rest) = s.strip_suffix(&*what) {
                        s = rest;
                    }
                }
                s.to_owned()
            }))
        })?;
    }
    for (name, left) in [("lpad", true), ("rpad", false)] {
        pure(db, name, 3, move |ctx| {
            match (text(ctx, 0), int(ctx, 1), text(ctx, 2)) {
                (Some(s), Some(n), Some(pad)) if n >= 0 => {
                    let (n, len) = (n as usize, s.chars().count());
                    if n > 64 << 20 || (pad.is_empty() && n > len) {
                        return Ok(Value::Null);
                    }
                    let fill: String = pad.chars().cycle().take(n.saturating_sub(len)).collect();
                    let s: String = s.chars().take(n).collect();
                    Ok(if left { fill + &s } else { s + &fill }.into())
                }
                _ => Ok(Value::Null),
            }
        })?;
    }
    pure(db, "repeat", 2, |ctx| match text(ctx, 0).zip(int(ctx, 1)) {
        Some((s, n)) => {
            let n = n.max(0) as usize;
            if s.len().saturating_mul(n) > 64 << 20 {
                Ok(Value::Null)
            } else {
                Ok(s.repeat(n).into())
            }
        }
        None => Ok(Value::Null),
    })?;
    pure(db, "space", 1, |ctx| {
        opt(int(ctx, 0).map(|n| " ".repeat(n.clamp(0, 64 << 20) as usize)))
    })?;
    pure(db, "reverse", 1, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().rev().collect::<String>()))
    })?;
    for args in [2, 3] {
        pure(db, "locate", args, |ctx| {
            let from = if ctx.len() == 3 {
                int(ctx, 2).unwrap_or(0)
            } else {
                1
            };
            opt(text(ctx, 0).zip(text(ctx, 1)).map(|(what, s)| {
                if from < 1 {
                    return 0;
                }
                let (what, s) = (what.to_lowercase(), s.to_lowercase());
                let start = s
                    .char_indices()
                    .nth(from as usize - 1)
                    .map_or(s.len(), |(i, _)| i);
                s[start..]
                    .find(&what)
                    .map_or(0, |at| s[..start + at].chars().count() as i64 + 1)
            }))
        })?;
    }
    pure(db, "strcmp", 2, |ctx| {
        opt(text(ctx, 0)
            .zip(text(ctx, 1))
            .map(|(a, b)| a.to_lowercase().cmp(&b.to_lowercase()) as i64))
    })?;
    pure(db, "field", -1, |ctx| {
        let Some(what) = text(ctx, 0) else {
            return Ok(Value::Integer(0));
        };
        let at =
            (1..ctx.len()).find(|&i| text(ctx, i).is_some_and(|t| t.eq_ignore_ascii_case(&what)));
        Ok(Value::Integer(at.unwrap_or(0) as i64))
    })?;
    pure(db, "elt", -1, |ctx| match int(ctx, 0) {
        Some(n) if n >= 1 && (n as usize) < ctx.len() => opt(text(ctx, n as usize)),
        _ => Ok(Value::Null),
    })?;
    pure(db, "find_in_set", 2, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).map(|(what, set)| {
            set.split(',')
                .position(|p| p.eq_ignore_ascii_case(&what))
                .map_or(0, |i| i as i64 + 1)
        }))
    })?;
    pure(db, "ascii", 1, |ctx| {
        opt(text(ctx, 0).map(|s| i64::from(s.bytes().next().unwrap_or(0))))
    })?;
    pure(db, "ord", 1, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
    })?;
    pure(db, "bin", 1, |ctx| {
        opt(int(ctx, 0).map(|n| format!("{n:b}")))
    })?;
    pure(db, "oct", 1, |ctx| {
        opt(int(ctx, 0).map(|n| format!("{n:o}")))
    })?;
    pure(db, "hex", 1, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => format!("{n:X}").into(),
            ValueRef::Real(x) => format!("{:X}", x.round() as i64).into(),
            ValueRef::Text(b) | ValueRef::Blob(b) => hex(b, true).into(),
        })
    })?;
    pure(db, "md5", 1, |ctx| {
        opt(text(ctx, 0).map(|s| hex(&md5::Md5::digest(s), false)))
    })?;
    for name in ["sha", "sha1"] {
        pure(db, name, 1, |ctx| {
            opt(text(ctx, 0).map(|s| hex(&sha1::Sha1::digest(s), false)))
        })?;
    }
    pure(db, "sha2", 2, |ctx| {
        opt(text(ctx, 0)
            .zip(int(ctx, 1))
            .and_then(|(s, bits)| match bits {
                0 | 256 => Some(hex(&sha2::Sha256::digest(s), false)),
                224 => Some(hex(&sha2::Sha224::digest(s), false)),
                384 => Some(hex(&sha2::Sha384::digest(s), false)),
                512 => Some(hex(&sha2::Sha512::digest(s), false)),
                _ => None,
            }))
    })?;
    pure(db, "tare_regexp", 2, |ctx| {
        match text(ctx, 0).zip(text(ctx, 1)) {
            None => Ok(Value::Null),
            Some((value, pattern)) => {
                let compiled = ctx.get_or_create_aux(1, |_| -> std::result::Result<_, Error> {
                    regex::RegexBuilder::new(&pattern)
                        .case_insensitive(true)
                        .build()
                        .map_err(|e| fail(&e.to_string()))
                })?;
                Ok(Value::Integer(compiled.is_match(&value).into()))
            }
        }
    })?;
    for args in [2, 3] {
        pure(db, "format", args, |ctx| {
            opt(real(ctx, 0).zip(int(ctx, 1)).map(|(x, n)| {
                let text = format!("{:.*}", n.clamp(0, 30) as usize, x.abs());
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                let mut grouped = String::new();
                for (i, c) in whole.chars().enumerate() {
                    if i > 0 && (whole.len() - i) % 3 == 0 {
                        grouped.push(',');
                    }
                    grouped.push(c);
                }
                let sign = if x < 0.0 { "-" } else { "" };
                if fraction.is_empty() {
                    format!("{sign}{grouped}")
                } else {
                    format!("{sign}{grouped}.{fraction}")
                }
            }))
        })?;
    }
    pure(db, "quote", 1, |ctx| {
        Ok(text(ctx, 0)
            .map_or_else(
                || "NULL".into(),
                |s| {
                    format!(
                        "'{}'",
                        s.replace('\\', "\\\\")
                            .replace('\'', "\\'")
                            .replace('\0', "\\0")
                    )
                },
            )
            .into())
    })?;
    pure(db, "tare_json_length", 1, |ctx| {
        opt(text(ctx, 0)
            .and_then(|t| serde_json::from_str::<serde_json::Value>(&t).ok())
            .map(|v| match v {
                serde_json::Value::Array(a) => a.len() as i64,
                serde_json::Value::Object(o) => o.len() as i64,
                _ => 1,
            }))
    })?;
    Ok(())
}

fn hex(bytes: &[u8], upper: bool) -> String {
    bytes
        .iter()
        .map(|b| {
            if upper {
                format!("{b:02X}")
            } else {
                format!("{b:02x}")
            }
        })
        .collect()
}

fn numbers(db: &Connection) -> Result<()> {
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
    let binary: [Binary; 4] = [
        ("pow", f64::powf),
        ("atan2", f64::atan2),
        ("log", |base, x| x.log(base)),
        ("tare_div", |a, b| a / b),
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
            let scale = 10f64.powi(n.clamp(-30, 30) as i32);
            let cut = (x * scale).trunc() / scale;
            if n <= 0 {
                Value::Integer(cut as i64)
            } else {
                number(cut)
            }
        }))
    })?;
    pure(db, "mod", 2, |ctx| {
        Ok(match (ctx.get_raw(0), ctx.get_raw(1)) {
            (ValueRef::Integer(a), ValueRef::Integer(b)) => {
                a.checked_rem(b).map_or(Value::Null, Value::Integer)
            }
            _ => real(ctx, 0)
                .zip(real(ctx, 1))
                .map_or(Value::Null, |(a, b)| number(a % b)),
        })
    })?;
    pure(db, "tare_intdiv", 2, |ctx| {
        Ok(match (ctx.get_raw(0), ctx.get_raw(1)) {
            (ValueRef::Integer(a), ValueRef::Integer(b)) => {
                a.checked_div(b).map_or(Value::Null, Value::Integer)
            }
            _ => match real(ctx, 0).zip(real(ctx, 1)) {
                Some((a, b)) if b != 0.0 => Value::Integer((a / b).trunc() as i64),
                _ => Value::Null,
            },
        })
    })?;
    pure(db, "tare_xor", 2, |ctx| {
        opt(int(ctx, 0).zip(int(ctx, 1)).map(|(a, b)| a ^ b))
    })?;
    pure(db, "tare_int", 1, |ctx| opt(int(ctx, 0)))?;
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
        crate::server::random(&mut bytes);
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

fn dates(db: &Connection) -> Result<()> {
    for args in [0, 1] {
        fresh(db, "now", args, |ctx| {
            let digits = if ctx.len() == 1 {
                int(ctx, 0).unwrap_or(0)
            } else {
                0
            };
            Ok(time::now_local(digits > 0).text().into())
        })?;
        fresh(db, "sysdate", args, |ctx| {
            Ok(time::now_local(ctx.len() == 1).text().into())
        })?;
        fresh(db, "current_time_", args, |_| {
            Ok(time::time_text(time::now_local(false).micros).into())
        })?;
    }
    fresh(db, "current_date_", 0, |_| {
        Ok(time::now_local(false).date_text().into())
    })?;
    fresh(db, "utc_timestamp", 0, |_| {
        Ok(DateTime::from_local(time::now_utc().0, 0).text().into())
    })?;
    fresh(db, "utc_date", 0, |_| {
        Ok(DateTime::from_local(time::now_utc().0, 0)
            .date_text()
            .into())
    })?;
    fresh(db, "unix_timestamp", 0, |_| {
        Ok(Value::Integer(time::now_utc().0))
    })?;
    pure(db, "unix_timestamp", 1, |ctx| {
        opt(date(ctx, 0).map(|d| {
            let local = d.total().div_euclid(1_000_000);
            local - time::utc_offset(local - time::utc_offset(local))
        }))
    })?;
    for args in [1, 2] {
        pure(db, "from_unixtime", args, |ctx| {
            opt(real(ctx, 0).and_then(|x| {
                let seconds = x.floor() as i64;
                if seconds < 0 {
                    return None;
                }
                let at = DateTime::from_local(
                    seconds + time::utc_offset(seconds),
                    ((x - x.floor()) * 1e6).round() as i64,
                );
                if ctx.len() == 2 {
                    text(ctx, 1).map(|f| time::format(at, &f))
                } else {
                    Some(at.text())
                }
            }))
        })?;
    }
    pure(
        db,
        "date",
        1,
        |ctx| opt(date(ctx, 0).map(|d| d.date_text())),
    )?;
    pure(db, "time", 1, |ctx| {
        opt(text(ctx, 0).and_then(|t| {
            DateTime::parse(&t)
                .filter(|d| d.has_time)
                .map(|d| d.micros)
                .or_else(|| time::parse_time(&t))
                .map(time::time_text)
        }))
    })?;
    pure(db, "tare_datetime", 1, |ctx| {
        opt(date(ctx, 0).map(|d| d.text()))
    })?;
    let parts: [OfDate; 12] = [
        ("year", |d| d.civil().0),
        ("month", |d| d.civil().1),
        ("dayofmonth", |d| d.civil().2),
        ("dayofweek", |d| (d.weekday() + 1) % 7 + 1),
        ("weekday", |d| d.weekday()),
        ("dayofyear", |d| d.day_of_year()),
        ("quarter", |d| (d.civil().1 + 2) / 3),
        ("weekofyear", |d| time::week(d, 3)),
        ("week", |d| time::week(d, 0)),
        ("to_days", |d| d.days + 719_528),
        ("microsecond", |d| d.clock().3),
        ("yearweek", |d| d.civil().0 * 100 + time::week(d, 0)),
    ];
    for (name, f) in parts {
        pure(db, name, 1, move |ctx| opt(date(ctx, 0).map(f)))?;
    }
    pure(db, "week", 2, |ctx| {
        opt(date(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(d, mode)| time::week(d, mode)))
    })?;
    let clock: [OfMicros; 4] = [
        ("hour", |u| u / 3_600_000_000),
        ("minute", |u| u / 60_000_000 % 60),
        ("second", |u| u / 1_000_000 % 60),
        ("time_to_sec", |u| u / 1_000_000),
    ];
    for (name, f) in clock {
        pure(db, name, 1, move |ctx| {
            opt(text(ctx, 0).and_then(|t| {
                DateTime::parse(&t)
                    .map(|d| d.micros)
                    .or_else(|| time::parse_time(&t))
                    .map(f)
            }))
        })?;
    }
    pure(db, "sec_to_time", 1, |ctx| {
        opt(real(ctx, 0).map(|s| time::time_text((s * 1e6) as i64)))
    })?;
    pure(db, "dayname", 1, |ctx| {
        opt(date(ctx, 0).map(|d| time::day_name(d).to_owned()))
    })?;
    pure(db, "monthname", 1, |ctx| {
        opt(date(ctx, 0).map(|d| time::month_name(d).to_owned()))
    })?;
    pure(db, "last_day", 1, |ctx| {
        opt(date(ctx, 0).map(|d| {
            let (y, m, _) = d.civil();
            format!("{y:04}-{m:02}-{:02}", time::days_in_month(y, m))
        }))
    })?;
    pure(db, "datediff", 2, |ctx| {
        opt(date(ctx, 0).zip(date(ctx, 1)).map(|(a, b)| a.days - b.days))
    })?;
    pure(db, "timediff", 2, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(a, b)| {
            let total = |t: &str| {
                DateTime::parse(t)
                    .map(|d| d.total())
                    .or_else(|| time::parse_time(t))
            };
            Some(time::time_text(total(&a)? - total(&b)?))
        }))
    })?;
    pure(db, "timestampdiff", 3, |ctx| {
        opt(text(ctx, 0).and_then(|unit| {
            date(ctx, 1)
                .zip(date(ctx, 2))
                .and_then(|(a, b)| time::difference(unit.trim_start_matches("SQL_TSI_"), a, b))
        }))
    })?;
    let moved = |d: DateTime| if d.has_time { d.text() } else { d.date_text() };
    pure(db, "tare_date_add", 3, move |ctx| {
        match (date(ctx, 0), real(ctx, 1), text(ctx, 2)) {
            (Some(d), Some(n), Some(unit)) => match unit.as_str() {
                "MICROSECOND" | "SECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK" | "MONTH"
                | "QUARTER" | "YEAR" => opt(d.add(n, &unit).map(moved)),
                _ => Err(fail(&format!("INTERVAL unit {unit} is not supported"))),
            },
            _ => Ok(Value::Null),
        }
    })?;
    pure(db, "timestampadd", 3, move |ctx| {
        match (text(ctx, 0), real(ctx, 1), date(ctx, 2)) {
            (Some(unit), Some(n), Some(d)) => opt(d.add(n, &unit).map(moved)),
            _ => Ok(Value::Null),
        }
    })?;
    pure(db, "tare_extract", 2, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(unit, t)| {
            let d = DateTime::parse(&t);
            let micros = d.map(|d| d.micros).or_else(|| time::parse_time(&t));
            match unit.as_str() {
                "YEAR" => d.map(|d| d.civil().0),
                "QUARTER" => d.map(|d| (d.civil().1 + 2) / 3),
                "MONTH" => d.map(|d| d.civil().1),
                "WEEK" => d.map(|d| time::week(d, 0)),
                "DAY" => d.map(|d| d.civil().2),
                "HOUR" => micros.map(|u| u / 3_600_000_000),
                "MINUTE" => micros.map(|u| u / 60_000_000 % 60),
                "SECOND" => micros.map(|u| u / 1_000_000 % 60),
                "MICROSECOND" => micros.map(|u| u % 1_000_000),
                _ => None,
            }
        }))
    })?;
    for name in ["date_format", "time_format"] {
        pure(db, name, 2, |ctx| {
            opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(t, f)| {
                let at = DateTime::parse(&t)
                    .or_else(|| time::parse_time(&t).map(|u| DateTime::from_total(u, true)))?;
                Some(time::format(at, &f))
            }))
        })?;
    }
    Ok(())
}

fn context(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    let with = |f: fn(&SessionState) -> Value| {
        let session = session.clone();
        move |_: &Context<'_>| Ok(f(&session))
    };
    fresh(
        db,
        "version",
        0,
        with(|_| crate::server::variables::VERSION.to_owned().into()),
    )?;
    fresh(
        db,
        "database",
        0,
        with(|s| s.database().map_or(Value::Null, Value::Text)),
    )?;
    fresh(db, "user", 0, with(|s| s.account().into()))?;
    fresh(db, "current_user", 0, with(|s| s.account().into()))?;
    fresh(db, "ps_current_thread_id", 0, |_| {
        Ok(match tare::thread::id() {
            0 => Value::Null,
            id => Value::Integer(id as i64),
        })
    })?;
    fresh(db, "current_role", 0, |_| Ok("NONE".to_owned().into()))?;
    fresh(
        db,
        "connection_id",
        0,
        with(|s| Value::Integer(s.id as i64)),
    )?;
    fresh(
        db,
        "last_insert_id",
        0,
        with(|s| Value::Integer(s.last_insert_id())),
    )?;
    fresh(db, "row_count", 0, with(|s| Value::Integer(s.row_count())))?;
    fresh(
        db,
        "found_rows",
        0,
        with(|s| Value::Integer(s.found_rows())),
    )?;
    let s = session.clone();
    fresh(db, "last_insert_id", 1, move |ctx| {
        let n = int(ctx, 0).unwrap_or(0);
        s.set_last_insert_id(n);
        Ok(Value::Integer(n))
    })?;
    let s = session.clone();
    fresh(db, "tare_variable", 2, move |ctx| {
        let (scope, name) = (
            text(ctx, 0).unwrap_or_default(),
            text(ctx, 1).unwrap_or_default(),
        );
        Ok(s.variable(&scope, &name))
    })?;
    let s = session.clone();
    fresh(db, "tare_user_variable", 1, move |ctx| {
        Ok(s.user_variable(&text(ctx, 0).unwrap_or_default()))
    })?;
    let s = session.clone();
    fresh(db, "tare_set_variable", 2, move |ctx| {
        let value: Value = ctx.get(1)?;
        s.set_user_variable(&text(ctx, 0).unwrap_or_default(), value.clone());
        Ok(value)
    })?;
    let s = session.clone();
    fresh(db, "sleep", 1, move |ctx| {
        let Some(seconds) = real(ctx, 0).filter(|s| *s >= 0.0) else {
            return Err(fail("Incorrect arguments to sleep"));
        };
        Ok(Value::Integer(s.sleep(seconds).into()))
    })?;
    fresh(db, "uuid", 0, |_| {
        let mut b = [0u8; 16];
        crate::server::random(&mut b);
        b[6] = b[6] & 0x0f | 0x40;
        b[8] = b[8] & 0x3f | 0x80;
        let h = hex(&b, false);
        Ok(format!(
            "{}-{}-{}-{}-{}",
            &h[..8],
            &h[8..12],
            &h[12..16],
            &h[16..20],
            &h[20..]
        )
        .into())
    })?;
    Ok(())
}
