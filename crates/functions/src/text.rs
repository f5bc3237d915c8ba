//! Texts: their letters, their length, and what is put together of them.

use sqlparser::ast::{BinaryOperator, DataType};
use tare_mysql::collation;

use crate::compare::{bound, compare_lowercase, extreme, like};
use crate::prelude::*;
use crate::search::offset;
use crate::text_builder::{MAX_TEXT_BYTES, TextBuilder, limited};

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
        let mut builder = TextBuilder::default();
        for (i, part) in (1..ctx.len()).filter_map(|i| text(ctx, i)).enumerate() {
            if i > 0 {
                builder.push(&separator);
            }
            builder.push(&part);
        }
        Ok(builder.into_value())
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
        let at = set
            .split(',')
            .position(|part| part.eq_ignore_ascii_case(&what));
        Ok(Value::Integer(at.map_or(0, |at| at as i64 + 1)))
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
        let parts = [&s[..from], &new, &s[to..]];
        Ok(TextBuilder::from_iter(parts).into_value())
    }),
    renamed("lcase", 1, 1, TextOf, "tare_lower"),
    renamed("length", 1, 1, Int, "octet_length"),
    // SQLite's own functions change only ASCII letters.
    hidden("lower", 1, 1, TextOf, "tare_lower", |ctx| {
        opt(text(ctx, 0).map(|s| limited(s.to_lowercase())))
    }),
    sqlites("octet_length", 1, 1, Int),
    own("ord", 1, 1, Int, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
    }),
    own("quote", 1, 1, TextOf, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok("NULL".to_owned().into());
        };
        let mut builder = TextBuilder::default();
        builder.push("'");
        let mut rest = &*s;
        while let Some(at) = rest.find(['\\', '\'', '\0']) {
            builder.push(&rest[..at]);
            builder.push(match rest.as_bytes()[at] {
                b'\\' => "\\\\",
                b'\'' => "\\'",
                _ => "\\0",
            });
            rest = &rest[at + 1..];
        }
        builder.push(rest);
        builder.push("'");
        Ok(builder.into_value())
    }),
    own("repeat", 2, 2, Text, |ctx| {
        let Some((s, n)) = text(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let n = n.max(0) as usize;
        match s.len().saturating_mul(n) > MAX_TEXT_BYTES {
            true => Ok(Value::Null),
            false => Ok(s.repeat(n).into()),
        }
    }),
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
    }),
    own("reverse", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| s.chars().rev().collect::<String>()))
    }),
    own("soundex", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| soundex(&s)))
    }),
    own("space", 1, 1, Text, |ctx| {
        let spaces = |n: i64| " ".repeat(n.clamp(0, MAX_TEXT_BYTES as i64) as usize);
        opt(int(ctx, 0).map(spaces))
    }),
    own("strcmp", 2, 2, Int, |ctx| {
        let arguments = text(ctx, 0).zip(text(ctx, 1));
        opt(arguments.map(|(a, b)| compare_lowercase(&a, &b) as i64))
    }),
    renamed("ucase", 1, 1, TextOf, "tare_upper"),
    hidden("upper", 1, 1, TextOf, "tare_upper", |ctx| {
        opt(text(ctx, 0).map(|s| limited(s.to_uppercase())))
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
    helper("concat_", 0, ANY, concat),
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
