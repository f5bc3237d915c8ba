//! Texts: their letters, their length, and what is put together of them.

use std::borrow::Cow;

use sqlparser::ast::{BinaryOperator, DataType};
use tare_mysql::collation;

use crate::compare::{bound, compared, extreme, like, without_case};
use crate::made::{MOST, Made};
use crate::prelude::*;
use crate::search::offset;

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
        let mut made = Made::new(ctx.session);
        for (i, part) in (1..ctx.len()).filter_map(|i| text(ctx, i)).enumerate() {
            if i > 0 && !made.push(&separator)? || !made.push(&part)? {
                return Ok(Value::Null);
            }
        }
        Ok(made.value())
    }),
    own("elt", 2, ANY, Text, |ctx| match int(ctx, 0) {
        Some(n) if n >= 1 && (n as usize) < ctx.len() => as_text(ctx, n as usize),
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
            return as_text(ctx, 0);
        }
        let n = if n < 0 || n > len - at + 1 {
            len - at + 1
        } else {
            n
        };
        let from = offset(&s, at as usize - 1);
        let to = from + offset(&s[from..], n as usize);
        ctx.joined([&s[..from], &new, &s[to..]])
    }),
    renamed("lcase", 1, 1, TextOf, "tare_lower"),
    renamed("length", 1, 1, Int, "octet_length"),
    // SQLite's own know ASCII alone.
    hidden("lower", 1, 1, TextOf, "tare_lower", |ctx| {
        match text(ctx, 0) {
            Some(s) => ctx.mapped(&s, str::to_lowercase),
            None => Ok(Value::Null),
        }
    }),
    sqlites("octet_length", 1, 1, Int),
    own("ord", 1, 1, Int, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
    }),
    own("quote", 1, 1, TextOf, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok("NULL".to_owned().into());
        };
        let mut made = Made::new(ctx.session);
        let mut whole = made.push("'")?;
        for mut rest in pieces(&s) {
            while whole && let Some(at) = rest.find(['\\', '\'', '\0']) {
                let quoted = match rest.as_bytes()[at] {
                    b'\\' => "\\\\",
                    b'\'' => "\\'",
                    _ => "\\0",
                };
                whole = made.push(&rest[..at])? && made.push(quoted)?;
                rest = &rest[at + 1..];
            }
            whole = whole && made.push(rest)?;
        }
        match whole && made.push("'")? {
            true => Ok(made.value()),
            false => Ok(Value::Null),
        }
    }),
    own("repeat", 2, 2, Text, |ctx| {
        let Some((s, n)) = text(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let n = n.max(0) as usize;
        match s.len().saturating_mul(n) {
            0 => Ok(String::new().into()),
            bytes if bytes > MOST => Ok(Value::Null),
            _ => repeated(ctx, &s, n),
        }
    }),
    hidden("replace", 3, 3, Text, "tare_replace", |ctx| {
        let (Some(s), Some(from), Some(to)) = (text(ctx, 0), text(ctx, 1), text(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if from.is_empty() {
            return as_text(ctx, 0);
        }
        let mut made = Made::new(ctx.session);
        let mut done = 0;
        while let Some(at) = ctx.find(&s, &from, done)? {
            if !made.push(&s[done..at])? || !made.push(&to)? {
                return Ok(Value::Null);
            }
            done = at + from.len();
        }
        match made.push(&s[done..])? {
            true => Ok(made.value()),
            false => Ok(Value::Null),
        }
    }),
    own("reverse", 1, 1, Text, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let mut made = Made::new(ctx.session);
        let mut rest = &*s;
        while !rest.is_empty() {
            let (more, piece) =
                rest.split_at(rest.ceil_char_boundary(rest.len().saturating_sub(STEP)));
            // The last character may be longer than a step.
            let (more, piece) = if piece.is_empty() {
                ("", rest)
            } else {
                (more, piece)
            };
            made.push(&piece.chars().rev().collect::<String>())?;
            rest = more;
        }
        Ok(made.value())
    }),
    own("soundex", 1, 1, Text, |ctx| match text(ctx, 0) {
        Some(s) => Ok(soundex(ctx, &s)?.into()),
        None => Ok(Value::Null),
    }),
    own("space", 1, 1, Text, |ctx| match int(ctx, 0) {
        Some(n) => repeated(ctx, " ", n.clamp(0, MOST as i64) as usize),
        None => Ok(Value::Null),
    }),
    own("strcmp", 2, 2, Int, |ctx| {
        let Some((a, b)) = text(ctx, 0).zip(text(ctx, 1)) else {
            return Ok(Value::Null);
        };
        Ok(Value::Integer(without_case(ctx, &a, &b)? as i64))
    }),
    renamed("ucase", 1, 1, TextOf, "tare_upper"),
    hidden("upper", 1, 1, TextOf, "tare_upper", |ctx| {
        match text(ctx, 0) {
            Some(s) => ctx.mapped(&s, str::to_uppercase),
            None => Ok(Value::Null),
        }
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
            Some((a, b)) if compared(ctx, &a, &b)?.is_eq() => Ok(Value::Null),
            _ => ctx.argument(0),
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
        let mut made = Made::new(ctx.session);
        for i in 0..ctx.len() {
            let Some(part) = text(ctx, i) else {
                return Ok(Value::Null);
            };
            if !made.push(&format!("{}:", part.len()))? || !made.push(&part)? {
                return Ok(Value::Null);
            }
        }
        Ok(made.value())
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
    let upper = node::call("tare_upper", plain::<1>(call)?.into());
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
    let mut rest = s.chars().enumerate();
    let first = loop {
        match rest.next() {
            Some((_, c)) if c.is_alphabetic() => break c,
            Some((i, _)) => ctx.go_on_at(i)?,
            None => return Ok(String::new()),
        }
    };
    let mut out: String = first.to_uppercase().collect();
    let mut last = code(first);
    for (i, c) in rest {
        ctx.go_on_at(i)?;
        if !c.is_alphabetic() || matches!(c.to_ascii_uppercase(), 'H' | 'W') {
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

/// A text so many times, of at most [`MOST`] bytes.
fn repeated(ctx: &Call<'_>, text: &str, times: usize) -> Answer {
    let mut made = Made::new(ctx.session);
    // Small ones many at once.
    let at_once = (STEP / text.len().max(1)).clamp(1, times.max(1));
    let many = match at_once {
        1 => text.into(),
        _ => Cow::Owned(text.repeat(at_once)),
    };
    for _ in 0..times / at_once {
        made.push(&many)?;
    }
    made.push(&text.repeat(times % at_once))?;
    Ok(made.value())
}

/// The arguments one after the other.
fn concat(ctx: &Call<'_>) -> Answer {
    let mut made = Made::new(ctx.session);
    for i in 0..ctx.len() {
        match text(ctx, i) {
            Some(t) if made.push(&t)? => {}
            _ => return Ok(Value::Null),
        }
    }
    Ok(made.value())
}
