//! Texts compared with each other, and with patterns.

use std::borrow::Cow;

use tare_mysql::collation;

use crate::prelude::*;

/// How two texts stand to each other.
pub(crate) fn compared(ctx: &Call<'_>, a: &str, b: &str) -> rusqlite::Result<std::cmp::Ordering> {
    let found = collation::compare_bytes(a.as_bytes(), b.as_bytes(), &|| ctx.go_on().is_err());
    if a.len().min(b.len()) > STEP {
        ctx.go_on()?;
    }
    Ok(found)
}

/// How two texts stand to each other in lower case.
pub(crate) fn without_case(
    ctx: &Call<'_>,
    a: &str,
    b: &str,
) -> rusqlite::Result<std::cmp::Ordering> {
    let mut a = a.chars().flat_map(char::to_lowercase);
    let mut b = b.chars().flat_map(char::to_lowercase);
    for i in 0.. {
        ctx.go_on_at(i)?;
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => return Ok(a.cmp(&b)),
        }
    }
    Ok(std::cmp::Ordering::Equal)
}

/// The character after which a pattern's next one stands for itself; an empty text is none.
fn escape(ctx: &Call<'_>, i: usize) -> rusqlite::Result<Option<char>> {
    let text = text(ctx, i).unwrap_or("\\".into());
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (one, None) => Ok(one),
        _ => Err(raise(SqlError::new(1210, "Incorrect arguments to ESCAPE"))),
    }
}

/// A text, a pattern, what escapes, and whether to stop.
type Fits = fn(&str, &str, Option<char>, &dyn Fn() -> bool) -> bool;

/// An argument's bytes as text: each is a character.
fn characters<'c>(ctx: &'c Call<'_>, i: usize) -> rusqlite::Result<Option<Cow<'c, str>>> {
    let Some(bytes) = bytes(ctx, i) else {
        return Ok(None);
    };
    let mut text = String::with_capacity(bytes.len());
    ctx.in_steps(&bytes, |step| {
        text.extend(step.iter().copied().map(char::from));
    })?;
    Ok(Some(text.into()))
}

/// LIKE; NULL where the text or the pattern is.
pub(crate) fn like(ctx: &Call<'_>, fits: Fits) -> Answer {
    let escape = escape(ctx, 2)?;
    let is_bytes = |i: usize| matches!(ctx.get_raw(i), ValueRef::Blob(_));
    let read = |i: usize| match is_bytes(0) || is_bytes(1) {
        true => characters(ctx, i),
        false => Ok(text(ctx, i)),
    };
    let Some((text, pattern)) = read(0)?.zip(read(1)?) else {
        return Ok(Value::Null);
    };
    ctx.room(collation::pattern_bytes(pattern.len()))?;
    let fits = fits(&text, &pattern, escape, &|| ctx.go_on().is_err());
    if text.len().max(pattern.len()) > STEP {
        ctx.go_on()?;
    }
    Ok(Value::Integer(fits.into()))
}

/// A bound of the texts that are like a pattern; NULL of NULL.
pub(crate) fn bound(ctx: &Call<'_>, which: fn((String, String)) -> String, none: &str) -> Answer {
    let escape = escape(ctx, 1)?;
    let of = |p: &str| collation::bounds(p, escape).map_or_else(|| none.to_owned(), which);
    opt(text(ctx, 0).map(|p| of(&p)))
}

/// GREATEST and LEAST of texts; NULL where one is. Of equal ones the last is the greatest, and the
/// first the least.
pub(crate) fn extreme(ctx: &Call<'_>, way: std::cmp::Ordering) -> Answer {
    let mut best: Option<(usize, Cow<'_, str>)> = None;
    for i in 0..ctx.len() {
        let Some(value) = text(ctx, i) else {
            return Ok(Value::Null);
        };
        let better = match &best {
            None => true,
            Some((_, best)) => match compared(ctx, &value, best)? {
                std::cmp::Ordering::Equal => way.is_gt(),
                other => other == way,
            },
        };
        if better {
            best = Some((i, value));
        }
    }
    match best {
        Some((i, _)) => as_text(ctx, i),
        None => Ok(Value::Null),
    }
}
