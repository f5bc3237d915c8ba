//! Texts and bytes: CHAR, VARCHAR, TEXT, BINARY, VARBINARY and BLOB.

use super::{column, is_strict, misfit, truncated};
use crate::prelude::*;
use crate::search::offset;

/// Converts bytes to a text: they must be UTF-8.
pub(super) fn to_text(ctx: &Call<'_>) -> Answer {
    let ValueRef::Blob(bytes) = ctx.get_raw(0) else {
        return ctx.argument(0);
    };
    let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if valid.len() == bytes.len() {
        return Ok(Value::Text(valid.to_owned()));
    }
    let wrong: String = bytes[valid.len()..]
        .iter()
        .take(6)
        .map(|b| match b {
            b' '..=b'~' => char::from(*b).to_string(),
            _ => format!("\\x{b:02X}"),
        })
        .collect();
    let message = format!(
        "Incorrect string value: '{wrong}' for column '{}' at row 1",
        column(ctx)
    );
    misfit(
        ctx,
        SqlError::new(1366, message),
        Value::Text(valid.to_owned()),
    )
}

/// Converts to a CHAR of so many characters, without trailing spaces.
pub(super) fn to_char(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let value = value.trim_end_matches(' ');
    let most = int(ctx, 3).unwrap_or(1).max(0) as usize;
    let end = offset(value, most);
    if end == value.len() {
        return match ctx.get_raw(0) {
            ValueRef::Text(all) if all.len() == end => ctx.argument(0),
            _ => Ok(Value::Text(value.to_owned())),
        };
    }
    too_long(ctx, Value::Text(value[..end].to_owned()))
}

/// Converts to a VARCHAR of so many characters. Spaces beyond them are cut in strict mode, too.
pub(super) fn to_varchar(ctx: &Call<'_>) -> Answer {
    let most = int(ctx, 3).unwrap_or(0).max(0) as usize;
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    if value.len() <= most {
        return as_text(ctx, 0);
    }
    cut_text(ctx, &value, offset(&value, most))
}

/// Converts to a TEXT of so many bytes.
pub(super) fn to_text_bytes(ctx: &Call<'_>) -> Answer {
    let most = int(ctx, 3).unwrap_or(0).max(0) as usize;
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    if value.len() <= most {
        return as_text(ctx, 0);
    }
    cut_text(ctx, &value, value.floor_char_boundary(most))
}

/// A text that is cut at a position.
fn cut_text(ctx: &Call<'_>, value: &str, end: usize) -> Answer {
    let (stored, rest) = value.split_at(end);
    match rest.bytes().all(|b| b == b' ') {
        true if rest.is_empty() => as_text(ctx, 0),
        true => Ok(Value::Text(stored.to_owned())),
        false => too_long(ctx, Value::Text(stored.to_owned())),
    }
}

/// 1406 in strict mode; otherwise 1265, and the part that fits.
fn too_long(ctx: &Call<'_>, part: Value) -> Answer {
    match is_strict(ctx) {
        true => misfit(ctx, SqlError::data_too_long(&column(ctx)), part),
        false => truncated(ctx, part),
    }
}

/// Converts to a BINARY of so many bytes, padded with zeros.
pub(super) fn to_binary(ctx: &Call<'_>) -> Answer {
    bytes_within(ctx, true)
}

/// Converts to a VARBINARY or a BLOB of so many bytes.
pub(super) fn to_varbinary(ctx: &Call<'_>) -> Answer {
    bytes_within(ctx, false)
}

fn bytes_within(ctx: &Call<'_>, pads: bool) -> Answer {
    let Some(value) = bytes(ctx, 0) else {
        return Ok(Value::Null);
    };
    let most = int(ctx, 3).unwrap_or(1).max(0) as usize;
    if value.len() > most {
        return too_long(ctx, Value::Blob(value[..most].to_vec()));
    }
    let length = if pads { most } else { value.len() };
    if length == value.len() && matches!(ctx.get_raw(0), ValueRef::Blob(_)) {
        return ctx.argument(0);
    }
    let mut value = value.into_owned();
    value.resize(length, 0);
    Ok(Value::Blob(value))
}
