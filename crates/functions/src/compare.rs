//! Comparisons of texts with each other and with patterns.

use std::borrow::Cow;

use tare_mysql::collation;

use crate::prelude::*;

/// The escape character of a pattern; none for an empty text.
pub(crate) fn escape(ctx: &Call<'_>, i: usize) -> rusqlite::Result<Option<char>> {
    let text = text(ctx, i).unwrap_or("\\".into());
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (one, None) => Ok(one),
        _ => Err(raise(SqlError::new(1210, "Incorrect arguments to ESCAPE"))),
    }
}

/// Whether a text is like a pattern, in which a character escapes others.
type Like = fn(&str, &str, Option<char>) -> tare_mysql::Result<bool>;

/// An argument's bytes as text, one character for each byte.
fn characters<'c>(ctx: &'c Call<'_>, i: usize) -> Option<Cow<'c, str>> {
    let bytes = bytes(ctx, i)?;
    Some(bytes.iter().copied().map(char::from).collect())
}

/// LIKE; NULL if the text or the pattern is NULL.
pub(crate) fn like(ctx: &Call<'_>, is_like: Like) -> Answer {
    let escape = escape(ctx, 2)?;
    let is_bytes = |i: usize| matches!(ctx.get_raw(i), ValueRef::Blob(_));
    let read = |i: usize| match is_bytes(0) || is_bytes(1) {
        true => characters(ctx, i),
        false => text(ctx, i),
    };
    let Some((text, pattern)) = read(0).zip(read(1)) else {
        return Ok(Value::Null);
    };
    let is_like = is_like(&text, &pattern, escape).map_err(raise)?;
    Ok(Value::Integer(is_like.into()))
}

/// A bound of the texts that match a pattern; NULL for NULL.
pub(crate) fn bound(ctx: &Call<'_>, which: fn((String, String)) -> String, none: &str) -> Answer {
    let escape = escape(ctx, 1)?;
    let of = |p: &str| collation::bounds(p, escape).map_or_else(|| none.to_owned(), which);
    opt(text(ctx, 0).map(|p| of(&p)))
}

/// GREATEST and LEAST of texts; NULL if one is NULL. Of equal texts the last is the greatest, and the first
/// the least.
pub(crate) fn extreme(ctx: &Call<'_>, way: std::cmp::Ordering) -> Answer {
    let mut best: Option<(usize, Cow<'_, str>)> = None;
    for i in 0..ctx.len() {
        let Some(value) = text(ctx, i) else {
            return Ok(Value::Null);
        };
        let better = match &best {
            None => true,
            Some((_, best)) => match collation::compare(&value, best) {
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
