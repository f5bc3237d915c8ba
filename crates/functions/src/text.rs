//! Texts: their letters, their length, and what is put together of them.

use sqlparser::ast::{BinaryOperator, DataType};
use tare_mysql::collation;

use crate::compare::{bound, extreme, like};
use crate::prelude::*;
use crate::search::offset;
use crate::text_builder::{MAX_TEXT_BYTES, TextBuilder, limited};

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("ascii", 1, 1, Int, |ctx| {
        opt(bytes(ctx, 0).map(|b| i64::from(b.first().copied().unwrap_or(0))))
    }),
    code("bit_length", 1, 1, Int, bit_length),
    renamed("char_length", 1, 1, Int, "length"),
    renamed("character_length", 1, 1, Int, "length"),
    code("charset", 1, 1, Text, charset),
    code("coercibility", 1, 1, Int, coercibility),
    code("collation", 1, 1, Text, collation),
    own("concat", 1, ANY, Text, concat).of_bytes(),
    own("concat_ws", 2, ANY, Text, |ctx| {
        let Some(separator) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let mut builder = TextBuilder::default();
        for (i, part) in (1..ctx.len()).filter_map(|i| text(ctx, i)).enumerate() {
            if i > 0 {
                builder.push(&separator);
            }
            builder.push(&part);
        }
        Ok(builder.into_value())
    })
    .of_bytes(),
    own("elt", 2, ANY, Text, |ctx| match int(ctx, 0) {
        Some(n) if n >= 1 && (n as usize) < ctx.len() => as_text(ctx, n as usize),
        _ => Ok(Value::Null),
    })
    .of_bytes(),
    own("field", 2, ANY, Int, |ctx| {
        let is_number = |i| matches!(ctx.get_raw(i), ValueRef::Real(_) | ValueRef::Integer(_));
        let at = if (0..ctx.len()).any(is_number) {
            let what = real(ctx, 0);
            (1..ctx.len()).find(|&i| what.is_some() && real(ctx, i) == what)
        } else {
            let what = text(ctx, 0);
            let is_same = |t: &str| match &what {
                Some(what) if ctx.reads_bytes() => t == what,
                Some(what) => collation::compare(t, what).is_eq(),
                None => false,
            };
            (1..ctx.len()).find(|&i| text(ctx, i).is_some_and(|t| is_same(&t)))
        };
        Ok(Value::Integer(at.unwrap_or(0) as i64))
    })
    .of_bytes(),
    own("find_in_set", 2, 2, Int, |ctx| {
        let Some((what, set)) = text(ctx, 0).zip(text(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let at = set.split(',').position(|part| match ctx.reads_bytes() {
            true => part == what,
            false => collation::compare(part, &what).is_eq(),
        });
        Ok(Value::Integer(at.map_or(0, |at| at as i64 + 1)))
    })
    .of_bytes(),
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
        let parts = [&s[..from], &new, &s[to..]];
        Ok(TextBuilder::from_iter(parts).into_value())
    })
    .of_bytes(),
    renamed("lcase", 1, 1, TextOf, "tare_lower"),
    renamed("length", 1, 1, Int, "octet_length"),
    // SQLite's own functions change only ASCII letters.
    hidden("lower", 1, 1, TextOf, "tare_lower", |ctx| {
        match ctx.get_raw(0) {
            // Bytes have no letters.
            ValueRef::Blob(_) => ctx.argument(0),
            _ => opt(text(ctx, 0).map(|s| limited(s.to_lowercase()))),
        }
    }),
    sqlites("octet_length", 1, 1, Int),
    own("ord", 1, 1, Int, |ctx| {
        // The bytes of the first character, as a number.
        opt(text(ctx, 0).map(|s| {
            let first = s.chars().next();
            first.map_or(0, |c| {
                let mut buffer = [0; 4];
                let bytes = if ctx.reads_bytes() {
                    buffer[0] = c as u32 as u8;
                    &buffer[..1]
                } else {
                    c.encode_utf8(&mut buffer).as_bytes()
                };
                bytes.iter().fold(0, |n, b| n << 8 | i64::from(*b))
            })
        }))
    })
    .of_bytes(),
    own("quote", 1, 1, TextOf, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok("NULL".to_owned().into());
        };
        let mut builder = TextBuilder::default();
        builder.push("'");
        let mut rest = &*s;
        while let Some(at) = rest.find(['\\', '\'', '\0', '\u{1a}']) {
            builder.push(&rest[..at]);
            builder.push(match rest.as_bytes()[at] {
                b'\\' => "\\\\",
                b'\'' => "\\'",
                b'\x1a' => "\\Z",
                _ => "\\0",
            });
            rest = &rest[at + 1..];
        }
        builder.push(rest);
        builder.push("'");
        Ok(builder.into_value())
    })
    .of_bytes(),
    own("repeat", 2, 2, Text, |ctx| {
        let Some((s, n)) = text(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let n = n.max(0) as usize;
        match s.len().saturating_mul(n) > MAX_TEXT_BYTES {
            true => Ok(Value::Null),
            false => Ok(s.repeat(n).into()),
        }
    })
    .of_bytes(),
    hidden("replace", 3, 3, Text, "tare_replace", |ctx| {
        let (Some(s), Some(from), Some(to)) = (text(ctx, 0), text(ctx, 1), text(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if from.is_empty() {
            return as_text(ctx, 0);
        }
        let mut builder = TextBuilder::default();
        let mut done = 0;
        for (at, _) in s.match_indices(&*from) {
            builder.push(&s[done..at]);
            builder.push(&to);
            done = at + from.len();
        }
        builder.push(&s[done..]);
        Ok(builder.into_value())
    })
    .of_bytes(),
    own("reverse", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().rev().collect::<String>()))
    })
    .of_bytes(),
    own("soundex", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| soundex(&s)))
    }),
    own("space", 1, 1, Text, |ctx| {
        let n = int(ctx, 0).filter(|n| *n <= MAX_TEXT_BYTES as i64);
        opt(n.map(|n| " ".repeat(n.max(0) as usize)))
    }),
    own("strcmp", 2, 2, Int, |ctx| {
        let arguments = text(ctx, 0).zip(text(ctx, 1));
        opt(arguments.map(|(a, b)| match ctx.reads_bytes() {
            true => a.cmp(&b) as i64,
            false => collation::compare(&a, &b) as i64,
        }))
    })
    .of_bytes(),
    renamed("ucase", 1, 1, TextOf, "tare_upper"),
    hidden("upper", 1, 1, TextOf, "tare_upper", |ctx| {
        match ctx.get_raw(0) {
            ValueRef::Blob(_) => ctx.argument(0),
            _ => opt(text(ctx, 0).map(|s| limited(s.to_uppercase()))),
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
            Some((a, b)) if collation::compare(&a, &b).is_eq() => Ok(Value::Null),
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
    helper("concat_", 0, ANY, concat).of_bytes(),
    helper("tare_tuple", 0, ANY, |ctx| {
        // Rows that differ give texts that differ: each part with its length before it.
        let mut builder = TextBuilder::default();
        for i in 0..ctx.len() {
            let Some(part) = text(ctx, i) else {
                return Ok(Value::Null);
            };
            builder.push(&format!("{}:", part.len()));
            builder.push(&part);
        }
        Ok(builder.into_value())
    }),
];

/// BIT_LENGTH: eight for each byte.
fn bit_length(call: SqlCall) -> ExprResult {
    let bytes = node::call("octet_length", plain::<1>(call)?.into());
    let bits = node::binary(bytes, BinaryOperator::Multiply, node::number(8));
    Ok(node::nested(bits))
}

/// WEIGHT_STRING: the bytes that a text without case is compared by.
fn weight_string(call: SqlCall) -> ExprResult {
    let upper = node::call("tare_upper", plain::<1>(call)?.into());
    Ok(node::cast(upper, DataType::Blob(None)))
}

/// CHARSET.
fn charset(call: SqlCall) -> ExprResult {
    let [value] = plain(call)?;
    Ok(node::text(if node::is_bytes(&value) {
        "binary"
    } else {
        "utf8mb4"
    }))
}

/// COLLATION.
fn collation(call: SqlCall) -> ExprResult {
    let [value] = plain(call)?;
    Ok(node::text(if node::is_bytes(&value) {
        "binary"
    } else {
        "utf8mb4_general_ci"
    }))
}

/// COERCIBILITY: 2 of a column, 4 of a literal.
fn coercibility(call: SqlCall) -> ExprResult {
    Ok(node::number(if call.is_column() { 2 } else { 4 }))
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
    let mut rest = s.chars();
    let Some(first) = rest.find(|c| c.is_alphabetic()) else {
        return String::new();
    };
    let mut out: String = first.to_uppercase().collect();
    let mut last = code(first);
    for c in rest {
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
    out
}

/// The arguments one after the other.
fn concat(ctx: &Call<'_>) -> Answer {
    let mut builder = TextBuilder::default();
    for i in 0..ctx.len() {
        match text(ctx, i) {
            Some(t) => _ = builder.push(&t),
            None => return Ok(Value::Null),
        }
    }
    Ok(builder.into_value())
}
