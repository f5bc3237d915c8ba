//! Texts in other forms: parts of them, numbers in other bases, Base64, addresses.

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use super::{fresh, hex, int, opt, pure, real, text};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn bytes(ctx: &Context<'_>, i: usize) -> Option<Vec<u8>> {
    match ctx.get_raw(i) {
        ValueRef::Null => None,
        ValueRef::Text(b) | ValueRef::Blob(b) => Some(b.to_vec()),
        _ => text(ctx, i).map(String::into_bytes),
    }
}

fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let n = u32::from_be_bytes([
            0,
            chunk[0],
            chunk.get(1).copied().unwrap_or(0),
            chunk.get(2).copied().unwrap_or(0),
        ]);
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(char::from(BASE64[(n >> (18 - 6 * i) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
        // MySQL breaks lines after 76 characters.
        if out.len() % 77 == 76 {
            out.push('\n');
        }
    }
    out.trim_end_matches('\n').to_owned()
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut n, mut padded) = (0u32, 0, 0);
    for b in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        if b == b'=' {
            padded += 1;
            continue;
        }
        if padded > 0 {
            return None;
        }
        let value = BASE64.iter().position(|c| *c == b)? as u32;
        bits = bits << 6 | value;
        n += 1;
        if n % 4 == 0 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    match (n % 4, padded) {
        (0, 0) => {}
        (3, 1) => out.extend_from_slice(&(bits << 6).to_be_bytes()[1..3]),
        (2, 2) => out.extend_from_slice(&(bits << 12).to_be_bytes()[1..2]),
        _ => return None,
    }
    Some(out)
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

fn soundex(s: &str) -> String {
    let code = |c: char| match c.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => '1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
        'D' | 'T' => '3',
        'L' => '4',
        'M' | 'N' => '5',
        'R' => '6',
        _ => '0',
    };
    let mut letters = s.chars().filter(|c| c.is_alphabetic());
    let Some(first) = letters.next() else {
        return String::new();
    };
    let mut out: String = first.to_uppercase().collect();
    let mut last = code(first);
    for c in letters {
        if matches!(c.to_ascii_uppercase(), 'H' | 'W') {
            continue;
        }
        let d = code(c);
        if d != '0' && d != last {
            out.push(d);
        }
        last = d;
    }
    while out.chars().count() < 4 {
        out.push('0');
    }
    out
}

fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text
        .trim_matches(['{', '}'])
        .bytes()
        .filter(|b| *b != b'-')
        .collect();
    if digits.len() != 32 {
        return None;
    }
    let mut out = [0; 16];
    for (i, pair) in digits.chunks(2).enumerate() {
        let pair = std::str::from_utf8(pair).ok()?;
        out[i] = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(out)
}

fn swapped(b: [u8; 16], swap: bool) -> [u8; 16] {
    if !swap {
        return b;
    }
    let mut out = [0; 16];
    out[..2].copy_from_slice(&b[6..8]);
    out[2..4].copy_from_slice(&b[4..6]);
    out[4..8].copy_from_slice(&b[..4]);
    out[8..].copy_from_slice(&b[8..]);
    out
}

fn unswapped(b: [u8; 16], swap: bool) -> [u8; 16] {
    if !swap {
        return b;
    }
    let mut out = [0; 16];
    out[..4].copy_from_slice(&b[4..8]);
    out[4..6].copy_from_slice(&b[2..4]);
    out[6..8].copy_from_slice(&b[..2]);
    out[8..].copy_from_slice(&b[8..]);
    out
}

fn address(bytes: &[u8]) -> Option<std::net::IpAddr> {
    Some(match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok()?.into(),
        16 => <[u8; 16]>::try_from(bytes).ok()?.into(),
        _ => return None,
    })
}

pub(super) fn encode(db: &Connection) -> Result<()> {
    pure(db, "substring_index", 3, |ctx| {
        let (Some(s), Some(delimiter), Some(n)) = (text(ctx, 0), text(ctx, 1), int(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if delimiter.is_empty() || n == 0 {
            return Ok(String::new().into());
        }
        let many = n.unsigned_abs() as usize;
        let cut = if n > 0 {
            s.match_indices(&delimiter)
                .nth(many - 1)
                .map(|(i, _)| &s[..i])
        } else {
            s.rmatch_indices(&delimiter)
                .nth(many - 1)
                .map(|(i, _)| &s[i + delimiter.len()..])
        };
        Ok(cut.unwrap_or(&s).to_owned().into())
    })?;
    pure(db, "tare_replace", 3, |ctx| {
        let (Some(s), Some(from), Some(to)) = (text(ctx, 0), text(ctx, 1), text(ctx, 2)) else {
            return Ok(Value::Null);
        };
        Ok(if from.is_empty() {
            s
        } else {
            s.replace(&from, &to)
        }
        .into())
    })?;
    pure(db, "tare_insert", 4, |ctx| {
        let (Some(s), Some(at), Some(n), Some(new)) =
            (text(ctx, 0), int(ctx, 1), int(ctx, 2), text(ctx, 3))
        else {
            return Ok(Value::Null);
        };
        let len = s.chars().count() as i64;
        if at < 1 || at > len {
            return Ok(s.into());
        }
        let n = if n < 0 || at - 1 + n > len {
            len - at + 1
        } else {
            n
        };
        let head: String = s.chars().take(at as usize - 1).collect();
        let tail: String = s.chars().skip((at - 1 + n) as usize).collect();
        Ok((head + &new + &tail).into())
    })?;
    pure(db, "conv", 3, |ctx| {
        match (text(ctx, 0), int(ctx, 1), int(ctx, 2)) {
            (Some(s), Some(from), Some(to)) => opt(conv(&s, from, to)),
            _ => Ok(Value::Null),
        }
    })?;
    pure(db, "tare_unhex", 1, |ctx| {
        opt(text(ctx, 0).and_then(|s| {
            let s = if s.len() % 2 == 1 { format!("0{s}") } else { s };
            s.as_bytes()
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect::<Option<Vec<u8>>>()
        }))
    })?;
    for (name, as_text) in [("tare_char", false), ("tare_char_text", true)] {
        pure(db, name, -1, move |ctx| {
            let mut out = Vec::new();
            for i in 0..ctx.len() {
                if let Some(n) = int(ctx, i) {
                    let all = (n as u32).to_be_bytes();
                    let skip = all.iter().take(3).take_while(|b| **b == 0).count();
                    out.extend_from_slice(&all[skip..]);
                }
            }
            Ok(if as_text {
                String::from_utf8(out).map_or(Value::Null, Value::Text)
            } else {
                Value::Blob(out)
            })
        })?;
    }
    pure(db, "to_base64", 1, |ctx| {
        opt(bytes(ctx, 0).map(|b| to_base64(&b)))
    })?;
    pure(db, "from_base64", 1, |ctx| {
        opt(text(ctx, 0).and_then(|s| from_base64(&s)))
    })?;
    pure(db, "soundex", 1, |ctx| {
        opt(text(ctx, 0).map(|s| soundex(&s)))
    })?;
    pure(db, "export_set", -1, |ctx| {
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
        let all: Vec<&str> = (0..n.clamp(0, 64))
            .map(|i| {
                if bits >> i & 1 == 1 {
                    on.as_str()
                } else {
                    off.as_str()
                }
            })
            .collect();
        Ok(all.join(&separator).into())
    })?;
    pure(db, "make_set", -1, |ctx| {
        let Some(bits) = int(ctx, 0) else {
            return Ok(Value::Null);
        };
        let all: Vec<String> = (1..ctx.len().min(64))
            .filter(|i| bits >> (i - 1) & 1 == 1)
            .filter_map(|i| text(ctx, i))
            .collect();
        Ok(all.join(",").into())
    })?;
    pure(db, "inet6_aton", 1, |ctx| {
        opt(text(ctx, 0).and_then(|s| {
            s.parse::<std::net::IpAddr>().ok().map(|ip| match ip {
                std::net::IpAddr::V4(ip) => ip.octets().to_vec(),
                std::net::IpAddr::V6(ip) => ip.octets().to_vec(),
            })
        }))
    })?;
    pure(db, "inet6_ntoa", 1, |ctx| {
        opt(bytes(ctx, 0).and_then(|b| address(&b).map(|ip| ip.to_string())))
    })?;
    for (name, four) in [("is_ipv4", true), ("is_ipv6", false)] {
        pure(db, name, 1, move |ctx| {
            let ip = text(ctx, 0).and_then(|s| s.parse::<std::net::IpAddr>().ok());
            Ok(Value::Integer(
                ip.is_some_and(|ip| ip.is_ipv4() == four).into(),
            ))
        })?;
    }
    for (name, mapped) in [("is_ipv4_mapped", true), ("is_ipv4_compat", false)] {
        pure(db, name, 1, move |ctx| {
            let yes = bytes(ctx, 0).is_some_and(|b| {
                b.len() == 16
                    && b[..10].iter().all(|x| *x == 0)
                    && b[10..12] == if mapped { [255, 255] } else { [0, 0] }
            });
            Ok(Value::Integer(yes.into()))
        })?;
    }
    pure(db, "is_uuid", 1, |ctx| {
        opt(text(ctx, 0).map(|s| i64::from(uuid_bytes(&s).is_some())))
    })?;
    for args in [1, 2] {
        pure(db, "uuid_to_bin", args, |ctx| {
            let swap = ctx.len() == 2 && int(ctx, 1).unwrap_or(0) != 0;
            opt(text(ctx, 0)
                .and_then(|s| uuid_bytes(&s))
                .map(|b| swapped(b, swap).to_vec()))
        })?;
        pure(db, "bin_to_uuid", args, |ctx| {
            let swap = ctx.len() == 2 && int(ctx, 1).unwrap_or(0) != 0;
            opt(bytes(ctx, 0)
                .and_then(|b| <[u8; 16]>::try_from(b).ok())
                .map(|b| {
                    let h = hex(&unswapped(b, swap), false);
                    format!(
                        "{}-{}-{}-{}-{}",
                        &h[..8],
                        &h[8..12],
                        &h[12..16],
                        &h[16..20],
                        &h[20..]
                    )
                }))
        })?;
    }
    fresh(db, "random_bytes", 1, |ctx| {
        let n = int(ctx, 0).unwrap_or(0);
        if !(1..=1024).contains(&n) {
            return Err(super::fail(
                "length value is out of range in 'random_bytes'",
            ));
        }
        let mut all = vec![0; n as usize];
        super::random(&mut all)?;
        Ok(Value::Blob(all))
    })?;
    fresh(db, "tare_uuid_short", 0, |_| {
        use std::sync::atomic::{AtomicI64, Ordering};
        static NEXT: AtomicI64 = AtomicI64::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let (seconds, _) = tare_mysql::date::now_utc();
        Ok(Value::Integer((seconds << 24).wrapping_add(n)))
    })?;
    pure(db, "tare_tuple", -1, |ctx| {
        // Rows that differ give texts that differ: each part with its length before it.
        let mut out = String::new();
        for i in 0..ctx.len() {
            let Some(part) = text(ctx, i) else {
                return Ok(Value::Null);
            };
            out.push_str(&format!("{}:{part}", part.len()));
        }
        Ok(out.into())
    })?;
    // A number as it is, a text's as far as it goes.
    pure(db, "tare_number", 1, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => Value::Integer(n),
            ValueRef::Text(t) => {
                let s = String::from_utf8_lossy(t);
                match s.trim().parse::<i64>() {
                    Ok(n) => Value::Integer(n),
                    Err(_) => number_of(real(ctx, 0).unwrap_or(0.0)),
                }
            }
            _ => Value::Real(real(ctx, 0).unwrap_or(0.0)),
        })
    })
}

fn number_of(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 9e15 {
        Value::Integer(x as i64)
    } else {
        Value::Real(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_round() {
        for text in ["", "a", "ab", "abc", "abcd"] {
            let coded = to_base64(text.as_bytes());
            assert_eq!(
                from_base64(&coded).as_deref(),
                Some(text.as_bytes()),
                "{coded}"
            );
        }
        assert_eq!(from_base64("YQ"), None);
    }

    #[test]
    fn numbers_change_their_base() {
        assert_eq!(conv("ff", 16, 10).as_deref(), Some("255"));
        assert_eq!(conv("-1", 10, 16).as_deref(), Some("FFFFFFFFFFFFFFFF"));
        assert_eq!(conv("-1", 10, -10).as_deref(), Some("-1"));
        assert_eq!(conv("1", 1, 10), None);
    }
}
