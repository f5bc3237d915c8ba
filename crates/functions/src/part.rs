//! Parts of texts: cut off, looked for, trimmed, padded.

use crate::made::{MOST, Made};
use crate::prelude::*;
use crate::search::offset;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("instr", 2, 2, Int, instr),
    own("left", 2, 2, TextOf, |ctx| {
        match text(ctx, 0).zip(int(ctx, 1)) {
            Some((s, n)) => ctx.joined([&s[..offset(&s, n.max(0) as usize)]]),
            None => Ok(Value::Null),
        }
    }),
    own("locate", 2, 3, Int, |ctx| {
        let from = if ctx.len() == 3 {
            int(ctx, 2).unwrap_or(0)
        } else {
            1
        };
        let Some((what, s)) = text(ctx, 0).zip(text(ctx, 1)) else {
            return Ok(Value::Null);
        };
        if from < 1 {
            return Ok(Value::Integer(0));
        }
        let (Value::Text(what), Value::Text(s)) = (
            ctx.mapped(&what, str::to_lowercase)?,
            ctx.mapped(&s, str::to_lowercase)?,
        ) else {
            return Ok(Value::Null);
        };
        let start = offset(&s, from as usize - 1);
        let at = ctx.find(&s, &what, start)?;
        Ok(Value::Integer(
            at.map_or(0, |at| s[..at].chars().count() as i64 + 1),
        ))
    }),
    own("lpad", 3, 3, Text, |ctx| padded(ctx, true)),
    code("ltrim", 1, 1, Text, ltrim),
    renamed("mid", 3, 3, Text, "tare_substr"),
    own("right", 2, 2, TextOf, |ctx| {
        let Some((s, n)) = text(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let skip = s.chars().count().saturating_sub(n.max(0) as usize);
        ctx.joined([&s[offset(&s, skip)..]])
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
        // The bytes before and behind the delimiter that is asked for.
        let mut found = None;
        if n > 0 {
            let mut from = 0;
            for i in 0..many {
                ctx.go_on_at(i)?;
                found = ctx.find(&s, &delimiter, from)?;
                match found {
                    Some(at) => from = at + delimiter.len(),
                    None => break,
                }
            }
        } else {
            let mut to = s.len();
            for i in 0..many {
                ctx.go_on_at(i)?;
                found = ctx.find_last(&s, &delimiter, to)?;
                match found {
                    Some(at) => to = at,
                    None => break,
                }
            }
        }
        match found {
            Some(at) if n > 0 => ctx.joined([&s[..at]]),
            Some(at) => ctx.joined([&s[at + delimiter.len()..]]),
            None => as_text(ctx, 0),
        }
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
fn substr(s: &str, from: i64, count: Option<i64>) -> &str {
    let len = s.chars().count() as i64;
    let start = if from > 0 { from - 1 } else { len + from };
    if from == 0 || start < 0 || start >= len {
        return "";
    }
    let rest = &s[offset(s, start as usize)..];
    &rest[..offset(rest, count.unwrap_or(len).max(0) as usize)]
}

/// A text without what stands at its ends.
fn trimmed(ctx: &Call<'_>, start: bool, end: bool) -> Answer {
    let Some((all, what)) = text(ctx, 0).zip(text(ctx, 1)) else {
        return Ok(Value::Null);
    };
    let mut s = &*all;
    if !what.is_empty() {
        let mut rounds = 0;
        while start && let Some(rest) = s.strip_prefix(&*what) {
            rounds += 1;
            ctx.go_on_at(rounds)?;
            s = rest;
        }
        while end && let Some(rest) = s.strip_suffix(&*what) {
            rounds += 1;
            ctx.go_on_at(rounds)?;
            s = rest;
        }
    }
    match s.len() == all.len() {
        true => as_text(ctx, 0),
        false => ctx.joined([s]),
    }
}

/// A text of a length, filled or cut.
fn padded(ctx: &Call<'_>, left: bool) -> Answer {
    match (text(ctx, 0), int(ctx, 1), text(ctx, 2)) {
        (Some(s), Some(n), Some(pad)) if n >= 0 => {
            let (n, len) = (n as usize, s.chars().count());
            if n > MOST || (pad.is_empty() && n > len) {
                return Ok(Value::Null);
            }
            let s = &s[..offset(&s, n)];
            let missing = n.saturating_sub(len);
            let mut made = Made::new(ctx.session);
            let mut whole = left || made.push(s)?;
            // Many characters of a short one at once.
            let at_once = match pad.len() {
                0..STEP => pad.repeat(STEP / pad.len().max(1) + 1).into(),
                _ => pad,
            };
            let each = at_once.chars().count();
            let mut filled = 0;
            while whole && filled < missing {
                let more = each.min(missing - filled);
                whole = made.push(&at_once[..offset(&at_once, more)])?;
                filled += more;
            }
            match whole && (!left || made.push(s)?) {
                true => Ok(made.value()),
                false => Ok(Value::Null),
            }
        }
        _ => Ok(Value::Null),
    }
}

fn substring(ctx: &Call<'_>) -> Answer {
    let (Some(s), Some(from)) = (text(ctx, 0), int(ctx, 1)) else {
        return Ok(Value::Null);
    };
    if ctx.len() == 2 {
        return ctx.joined([substr(&s, from, None)]);
    }
    match int(ctx, 2) {
        Some(n) => ctx.joined([substr(&s, from, Some(n))]),
        None => Ok(Value::Null),
    }
}
