//! Functions of texts and bytes.

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use sha1::Digest as _;

use super::{hex, int, opt, pure, real, text};

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

pub(super) fn strings(db: &Connection) -> Result<()> {
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
    // SQLite's own know ASCII alone.
    pure(db, "tare_lower", 1, |ctx| {
        opt(text(ctx, 0).map(|s| s.to_lowercase()))
    })?;
    pure(db, "tare_upper", 1, |ctx| {
        opt(text(ctx, 0).map(|s| s.to_uppercase()))
    })?;
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
    Ok(())
}
