//! Parts of texts: cut off, looked for, trimmed, padded.

use crate::prelude::*;
use crate::text::MOST;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("instr", 2, 2, Int, instr),
    own("left", 2, 2, TextOf, |ctx| {
        opt(text(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(s, n)| s.chars().take(n.max(0) as usize).collect::<String>()))
    }),
    own("locate", 2, 3, Int, |ctx| {
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
    }),
    own("lpad", 3, 3, Text, |ctx| padded(ctx, true)),
    code("ltrim", 1, 1, Text, ltrim),
    renamed("mid", 3, 3, Text, "tare_substr"),
    own("right", 2, 2, TextOf, |ctx| {
        opt(text(ctx, 0).zip(int(ctx, 1)).map(|(s, n)| {
            let skip = s.chars().count().saturating_sub(n.max(0) as usize);
            s.chars().skip(skip).collect::<String>()
        }))
    }),
    own("rpad", 3, 3, Text, |ctx| padded(ctx, false)),
    code("rtrim", 1, 1, Text, rtrim),
    hidden("substr", 2, 3, Text, "tare_substr", substring),
    renamed("substring", 2, 3, Text, "tare_substr"),
    own("substring_index", 3, 3, Text, |ctx| {
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
    }),
    code("trim", 1, 2, Text, trim),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_ltrim", 2, 2, |ctx| trimmed(ctx, true, false)),
    helper("tare_rtrim", 2, 2, |ctx| trimmed(ctx, false, true)),
    helper("tare_trim", 2, 2, |ctx| trimmed(ctx, true, true)),
];

/// INSTR is LOCATE the other way round.
fn instr(call: SqlCall) -> Written {
    let [text, part] = plain(call)?;
    Ok(node::call("locate", vec![part, text]))
}

/// LTRIM: spaces at the beginning.
fn ltrim(call: SqlCall) -> Written {
    without_spaces(call, "tare_ltrim")
}

/// RTRIM: spaces at the end.
fn rtrim(call: SqlCall) -> Written {
    without_spaces(call, "tare_rtrim")
}

/// TRIM: the second argument is what is taken away.
fn trim(call: SqlCall) -> Written {
    match call.len() {
        1 => without_spaces(call, "tare_trim"),
        _ => Ok(call.kept()),
    }
}

fn without_spaces(call: SqlCall, helper: &str) -> Written {
    let [text] = plain(call)?;
    Ok(node::call(helper, vec![text, node::text(" ")]))
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

/// A text without what stands at its ends.
fn trimmed(ctx: &Call<'_>, start: bool, end: bool) -> Answer {
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
}

/// A text of a length, filled or cut.
fn padded(ctx: &Call<'_>, left: bool) -> Answer {
    match (text(ctx, 0), int(ctx, 1), text(ctx, 2)) {
        (Some(s), Some(n), Some(pad)) if n >= 0 => {
            let (n, len) = (n as usize, s.chars().count());
            if n > MOST || (pad.is_empty() && n > len) {
                return Ok(Value::Null);
            }
            let mut fill = String::new();
            let missing = n.saturating_sub(len);
            for (i, c) in pad.chars().cycle().take(missing).enumerate() {
                ctx.go_on_at(i)?;
                fill.push(c);
            }
            let s: String = s.chars().take(n).collect();
            Ok(if left { fill + &s } else { s + &fill }.into())
        }
        _ => Ok(Value::Null),
    }
}

fn substring(ctx: &Call<'_>) -> Answer {
    let (Some(s), Some(from)) = (text(ctx, 0), int(ctx, 1)) else {
        return Ok(Value::Null);
    };
    if ctx.len() == 2 {
        return Ok(substr(&s, from, None).into());
    }
    opt(int(ctx, 2).map(|n| substr(&s, from, Some(n))))
}
