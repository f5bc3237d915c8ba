//! Parts of texts: cut off, looked for, trimmed, padded.

use crate::prelude::*;
use crate::search::offset;
use crate::text_builder::{MAX_TEXT_BYTES, TextBuilder};

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("instr", 2, 2, Int, instr),
    own("left", 2, 2, TextOf, |ctx| {
        let arguments = text(ctx, 0).zip(int(ctx, 1));
        opt(arguments.map(|(s, n)| s[..offset(&s, n.max(0) as usize)].to_owned()))
    })
    .of_bytes(),
    own("locate", 2, 3, Int, |ctx| {
        let from = if ctx.len() == 3 { int(ctx, 2) } else { Some(1) };
        let (Some(what), Some(s), Some(from)) = (text(ctx, 0), text(ctx, 1), from) else {
            return Ok(Value::Null);
        };
        let Some(skip) = usize::try_from(from).ok().and_then(|n| n.checked_sub(1)) else {
            return Ok(Value::Integer(0));
        };
        let (what, s) = match ctx.reads_bytes() {
            true => (what, s),
            false => (what.to_lowercase().into(), s.to_lowercase().into()),
        };
        if skip > s.chars().count() {
            return Ok(Value::Integer(0));
        }
        let start = offset(&s, skip);
        let at = s[start..].find(&*what).map(|at| start + at);
        Ok(Value::Integer(
            at.map_or(0, |at| s[..at].chars().count() as i64 + 1),
        ))
    })
    .of_bytes(),
    own("lpad", 3, 3, Text, |ctx| padded(ctx, true)).of_bytes(),
    code("ltrim", 1, 1, Text, ltrim),
    renamed("mid", 3, 3, Text, "tare_substr"),
    own("right", 2, 2, TextOf, |ctx| {
        let Some((s, n)) = text(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let skip = s.chars().count().saturating_sub(n.max(0) as usize);
        Ok(s[offset(&s, skip)..].to_owned().into())
    })
    .of_bytes(),
    own("rpad", 3, 3, Text, |ctx| padded(ctx, false)).of_bytes(),
    code("rtrim", 1, 1, Text, rtrim),
    hidden("substr", 2, 3, Text, "tare_substr", substring).of_bytes(),
    renamed("substring", 2, 3, Text, "tare_substr"),
    own("substring_index", 3, 3, Text, |ctx| {
        let (Some(s), Some(delimiter), Some(n)) = (text(ctx, 0), text(ctx, 1), int(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if delimiter.is_empty() || n == 0 {
            return Ok(String::new().into());
        }
        let nth = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX) - 1;
        let matched = match n > 0 {
            true => s.match_indices(&*delimiter).nth(nth),
            // They are counted from the beginning, which matters where they overlap.
            false => {
                let count = s.match_indices(&*delimiter).count();
                let from_start = count.checked_sub(nth).and_then(|n| n.checked_sub(1));
                from_start.and_then(|i| s.match_indices(&*delimiter).nth(i))
            }
        };
        match matched {
            Some((at, _)) if n > 0 => Ok(s[..at].to_owned().into()),
            Some((at, _)) => Ok(s[at + delimiter.len()..].to_owned().into()),
            None => as_text(ctx, 0),
        }
    })
    .of_bytes(),
    code("trim", 1, 2, Text, trim),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_ltrim", 2, 2, |ctx| trimmed(ctx, true, false)).of_bytes(),
    helper("tare_rtrim", 2, 2, |ctx| trimmed(ctx, false, true)).of_bytes(),
    helper("tare_trim", 2, 2, |ctx| trimmed(ctx, true, true)).of_bytes(),
];

/// INSTR is LOCATE the other way round.
fn instr(call: SqlCall) -> ExprResult {
    let [text, part] = plain(call)?;
    Ok(node::call("locate", vec![part, text]))
}

/// LTRIM: spaces at the beginning.
fn ltrim(call: SqlCall) -> ExprResult {
    without_spaces(call, "tare_ltrim")
}

/// RTRIM: spaces at the end.
fn rtrim(call: SqlCall) -> ExprResult {
    without_spaces(call, "tare_rtrim")
}

/// TRIM: the second argument is what is taken away.
fn trim(call: SqlCall) -> ExprResult {
    match call.len() {
        1 => without_spaces(call, "tare_trim"),
        _ => Ok(call.unchanged()),
    }
}

fn without_spaces(call: SqlCall, helper: &str) -> ExprResult {
    let [text] = plain(call)?;
    Ok(node::call(helper, vec![text, node::text(" ")]))
}

/// Characters `from` (1 is the first, negative counts from the end) and on, as MySQL counts them.
fn substr(s: &str, from: i64, count: Option<i64>) -> &str {
    let len = s.chars().count() as i64;
    let start = if from > 0 { from - 1 } else { len + from };
    if from == 0 || start < 0 || start >= len {
        return "";
    }
    let rest = &s[offset(s, start as usize)..];
    &rest[..offset(rest, count.unwrap_or(len).max(0) as usize)]
}

/// A text without the repetitions of a string at its ends.
fn trimmed(ctx: &Call<'_>, start: bool, end: bool) -> Answer {
    let Some((all, what)) = text(ctx, 0).zip(text(ctx, 1)) else {
        return Ok(Value::Null);
    };
    let mut s = &*all;
    if !what.is_empty() {
        while start && let Some(rest) = s.strip_prefix(&*what) {
            s = rest;
        }
        while end && let Some(rest) = s.strip_suffix(&*what) {
            s = rest;
        }
    }
    match s.len() == all.len() {
        true => as_text(ctx, 0),
        false => Ok(s.to_owned().into()),
    }
}

/// A text of a length, filled or cut.
fn padded(ctx: &Call<'_>, left: bool) -> Answer {
    let (Some(s), Some(n), Some(pad)) = (text(ctx, 0), int(ctx, 1), text(ctx, 2)) else {
        return Ok(Value::Null);
    };
    let (n, length) = (usize::try_from(n).unwrap_or(usize::MAX), s.chars().count());
    // A character may have four bytes.
    let width = if ctx.reads_bytes() { 1 } else { 4 };
    if n.saturating_mul(width) > MAX_TEXT_BYTES {
        return Ok(Value::Null);
    }
    // Nothing fills nothing.
    let n = if pad.is_empty() { n.min(length) } else { n };
    let s = &s[..offset(&s, n)];
    let mut builder = TextBuilder::default();
    if !left {
        builder.push(s);
    }
    let missing = n.saturating_sub(length);
    if missing > 0 {
        let period = pad.chars().count();
        for _ in 0..missing / period {
            builder.push(&pad);
        }
        builder.push(&pad[..offset(&pad, missing % period)]);
    }
    if left {
        builder.push(s);
    }
    Ok(builder.into_value())
}

fn substring(ctx: &Call<'_>) -> Answer {
    let (Some(s), Some(from)) = (text(ctx, 0), int(ctx, 1)) else {
        return Ok(Value::Null);
    };
    let count = match ctx.len() {
        2 => None,
        _ => match int(ctx, 2) {
            None => return Ok(Value::Null),
            count => count,
        },
    };
    Ok(substr(&s, from, count).to_owned().into())
}
