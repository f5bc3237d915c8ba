//! Texts: their letters, their length, and what is put together of them.

use sqlparser::ast::{BinaryOperator, DataType};
use tare_mysql::collation;

use crate::prelude::*;

/// The longest text that a function makes, in bytes: MySQL's default of max_allowed_packet. What would
/// be longer is NULL, as in MySQL.
pub(crate) const MOST: usize = 64 << 20;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("ascii", 1, 1, Int, |ctx| {
        opt(text(ctx, 0).map(|s| i64::from(s.bytes().next().unwrap_or(0))))
    }),
    code("bit_length", 1, 1, Int, bit_length),
    renamed("char_length", 1, 1, Int, "length"),
    renamed("character_length", 1, 1, Int, "length"),
    code("charset", 1, 1, Text, charset),
    code("coercibility", 1, 1, Int, coercibility),
    code("collation", 1, 1, Text, collation),
    own("concat", 1, ANY, Text, concat),
    own("concat_ws", 2, ANY, Text, |ctx| {
        let Some(separator) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let mut out = String::new();
        for (i, part) in (1..ctx.len()).filter_map(|i| text(ctx, i)).enumerate() {
            if i > 0 {
                out.push_str(&separator);
            }
            if out.len() + part.len() > MOST {
                return Ok(Value::Null);
            }
            out.push_str(&part);
        }
        Ok(out.into())
    }),
    own("elt", 2, ANY, Text, |ctx| match int(ctx, 0) {
        Some(n) if n >= 1 && (n as usize) < ctx.len() => opt(text(ctx, n as usize)),
        _ => Ok(Value::Null),
    }),
    own("field", 2, ANY, Int, |ctx| {
        let Some(what) = text(ctx, 0) else {
            return Ok(Value::Integer(0));
        };
        let at =
            (1..ctx.len()).find(|&i| text(ctx, i).is_some_and(|t| t.eq_ignore_ascii_case(&what)));
        Ok(Value::Integer(at.unwrap_or(0) as i64))
    }),
    own("find_in_set", 2, 2, Int, |ctx| {
        let Some((what, set)) = text(ctx, 0).zip(text(ctx, 1)) else {
            return Ok(Value::Null);
        };
        for (i, part) in set.split(',').enumerate() {
            ctx.go_on_at(i)?;
            if part.eq_ignore_ascii_case(&what) {
                return Ok(Value::Integer(i as i64 + 1));
            }
        }
        Ok(Value::Integer(0))
    }),
    hidden("insert", 4, 4, Text, "tare_insert", |ctx| {
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
    }),
    renamed("lcase", 1, 1, TextOf, "tare_lower"),
    renamed("length", 1, 1, Int, "octet_length"),
    // SQLite's own know ASCII alone.
    hidden("lower", 1, 1, TextOf, "tare_lower", |ctx| {
        opt(text(ctx, 0).map(|s| s.to_lowercase()))
    }),
    sqlites("octet_length", 1, 1, Int),
    own("ord", 1, 1, Int, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
    }),
    own("quote", 1, 1, TextOf, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok("NULL".to_owned().into());
        };
        let mut out = String::with_capacity(s.len() + 2);
        out.push('\'');
        ctx.in_texts(&s, |step| {
            for c in step.chars() {
                match c {
                    '\\' | '\'' => out.extend(['\\', c]),
                    '\0' => out.push_str("\\0"),
                    _ => out.push(c),
                }
            }
        })?;
        out.push('\'');
        Ok(out.into())
    }),
    own("repeat", 2, 2, Text, |ctx| {
        match text(ctx, 0).zip(int(ctx, 1)) {
            Some((s, n)) => {
                let n = n.max(0) as usize;
                if s.len().saturating_mul(n) > MOST {
                    Ok(Value::Null)
                } else {
                    Ok(s.repeat(n).into())
                }
            }
            None => Ok(Value::Null),
        }
    }),
    hidden("replace", 3, 3, Text, "tare_replace", |ctx| {
        let (Some(s), Some(from), Some(to)) = (text(ctx, 0), text(ctx, 1), text(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if from.is_empty() {
            return Ok(s.into());
        }
        let grows = to.len().saturating_sub(from.len());
        if grows > 0 && s.len() + s.matches(&from).count().saturating_mul(grows) > MOST {
            return Ok(Value::Null);
        }
        let mut out = String::with_capacity(s.len());
        let mut done = 0;
        for (i, (at, _)) in s.match_indices(&from).enumerate() {
            ctx.go_on_at(i)?;
            out.push_str(&s[done..at]);
            out.push_str(&to);
            done = at + from.len();
        }
        out.push_str(&s[done..]);
        Ok(out.into())
    }),
    own("reverse", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().rev().collect::<String>()))
    }),
    own("soundex", 1, 1, Text, |ctx| match text(ctx, 0) {
        Some(s) => Ok(soundex(ctx, &s)?.into()),
        None => Ok(Value::Null),
    }),
    own("space", 1, 1, Text, |ctx| {
        opt(int(ctx, 0).map(|n| " ".repeat(n.clamp(0, MOST as i64) as usize)))
    }),
    own("strcmp", 2, 2, Int, |ctx| {
        opt(text(ctx, 0)
            .zip(text(ctx, 1))
            .map(|(a, b)| a.to_lowercase().cmp(&b.to_lowercase()) as i64))
    }),
    renamed("ucase", 1, 1, TextOf, "tare_upper"),
    hidden("upper", 1, 1, TextOf, "tare_upper", |ctx| {
        opt(text(ctx, 0).map(|s| s.to_uppercase()))
    }),
    code("weight_string", 1, 1, Bytes, weight_string),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_greatest_text", 2, ANY, |ctx| {
        extreme(ctx, std::cmp::Ordering::Greater)
    }),
    helper("tare_least_text", 2, ANY, |ctx| {
        extreme(ctx, std::cmp::Ordering::Less)
    }),
    helper("tare_nullif_text", 2, 2, |ctx| {
        match text(ctx, 0).zip(text(ctx, 1)) {
            Some((a, b)) if collation::compare(&a, &b).is_eq() => Ok(Value::Null),
            _ => ctx.get(0),
        }
    }),
    // LIKE: text, pattern, escape.
    helper("tare_like", 3, 3, |ctx| like(ctx, collation::like)),
    helper("tare_like_exactly", 3, 3, |ctx| {
        like(ctx, collation::like_exactly)
    }),
    // The least and the greatest text that can be like a pattern, for indexes.
    helper("tare_like_from", 2, 2, |ctx| bound(ctx, |(low, _)| low, "")),
    helper("tare_like_to", 2, 2, |ctx| {
        bound(ctx, |(_, high)| high, "\u{ffff}")
    }),
    helper("concat_", 0, ANY, concat),
    helper("tare_tuple", 0, ANY, |ctx| {
        // Rows that differ give texts that differ: each part with its length before it.
        let mut out = String::new();
        for i in 0..ctx.len() {
            let Some(part) = text(ctx, i) else {
                return Ok(Value::Null);
            };
            out.push_str(&format!("{}:{part}", part.len()));
        }
        Ok(out.into())
    }),
];

/// BIT_LENGTH: eight for each byte.
fn bit_length(call: SqlCall) -> Written {
    let bytes = node::call("octet_length", plain::<1>(call)?.into());
    let bits = node::binary(bytes, BinaryOperator::Multiply, node::number(8));
    Ok(node::nested(bits))
}

/// WEIGHT_STRING: the bytes that a text without case is compared by.
fn weight_string(call: SqlCall) -> Written {
    let upper = node::call("upper", plain::<1>(call)?.into());
    Ok(node::cast(upper, DataType::Blob(None)))
}

/// CHARSET.
fn charset(call: SqlCall) -> Written {
    let [value] = plain(call)?;
    Ok(node::text(if node::is_bytes(&value) {
        "binary"
    } else {
        "utf8mb4"
    }))
}

/// COLLATION.
fn collation(call: SqlCall) -> Written {
    let [value] = plain(call)?;
    Ok(node::text(if node::is_bytes(&value) {
        "binary"
    } else {
        "utf8mb4_general_ci"
    }))
}

/// COERCIBILITY: 2 of a column, 4 of a literal.
fn coercibility(call: SqlCall) -> Written {
    Ok(node::number(if call.is_column() { 2 } else { 4 }))
}

fn soundex(ctx: &Call<'_>, s: &str) -> rusqlite::Result<String> {
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
        return Ok(String::new());
    };
    let mut out: String = first.to_uppercase().collect();
    let mut last = code(first);
    for (i, c) in letters.enumerate() {
        ctx.go_on_at(i)?;
        if matches!(c.to_ascii_uppercase(), 'H' | 'W') {
            continue;
        }
        let d = code(c);
        if d != '0' && d != last {
            out.push(d);
        }
        last = d;
    }
    // Digits are one byte each.
    while out.len() < 4 && out.chars().count() < 4 {
        out.push('0');
    }
    Ok(out)
}

/// The arguments one after the other.
fn concat(ctx: &Call<'_>) -> Answer {
    let mut out = String::new();
    for i in 0..ctx.len() {
        match text(ctx, i) {
            Some(t) if out.len() + t.len() <= MOST => out.push_str(&t),
            _ => return Ok(Value::Null),
        }
    }
    Ok(out.into())
}

/// The character after which a pattern's next one stands for itself; an empty text is none.
fn escape(ctx: &Call<'_>, i: usize) -> rusqlite::Result<Option<char>> {
    let text = text(ctx, i).unwrap_or_else(|| "\\".into());
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (one, None) => Ok(one),
        _ => Err(raise(SqlError::new(1210, "Incorrect arguments to ESCAPE"))),
    }
}

/// LIKE; NULL where the text or the pattern is.
fn like(ctx: &Call<'_>, fits: fn(&str, &str, Option<char>) -> bool) -> Answer {
    let escape = escape(ctx, 2)?;
    let is_bytes = |i: usize| matches!(ctx.get_raw(i), ValueRef::Blob(_));
    // Of bytes each is a character.
    let read = |i: usize| match is_bytes(0) || is_bytes(1) {
        true => bytes(ctx, i).map(|b| b.into_iter().map(char::from).collect()),
        false => text(ctx, i),
    };
    Ok(match read(0).zip(read(1)) {
        Some((text, pattern)) => Value::Integer(fits(&text, &pattern, escape).into()),
        None => Value::Null,
    })
}

/// A bound of the texts that are like a pattern; NULL of NULL.
fn bound(ctx: &Call<'_>, which: fn((String, String)) -> String, none: &str) -> Answer {
    let escape = escape(ctx, 1)?;
    let of = |p: String| collation::bounds(&p, escape).map_or_else(|| none.to_owned(), which);
    opt(text(ctx, 0).map(of))
}

/// GREATEST and LEAST of texts; NULL where one is. Of equal ones the last is the greatest, and the
/// first the least.
fn extreme(ctx: &Call<'_>, way: std::cmp::Ordering) -> Answer {
    let mut best: Option<String> = None;
    for i in 0..ctx.len() {
        let Some(value) = text(ctx, i) else {
            return Ok(Value::Null);
        };
        if best
            .as_ref()
            .is_none_or(|b| match collation::compare(&value, b) {
                std::cmp::Ordering::Equal => way.is_gt(),
                other => other == way,
            })
        {
            best = Some(value);
        }
    }
    opt(best)
}
