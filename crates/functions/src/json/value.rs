//! Values of SQL as parts of JSON documents. SQLite does not distinguish texts from documents, dates or exact
//! numbers, so the dialect passes a value's kind.

use rusqlite::Result;
use serde_json::Value as Json;

use super::{parsed, quoted, text};
use crate::encode::to_base64;
use crate::prelude::*;

/// The kinds; `crates/dialect/src/rewrite/exact/document.rs` has the same.
const DOCUMENT: i64 = 1;
const TEXT: i64 = 2;
const NUMBER: i64 = 3;
const TRUTH: i64 = 4;
const DATE: i64 = 5;
const TIME: i64 = 6;
const BYTES: i64 = 7;
const BIT: i64 = 8;
const PARAMETER: i64 = 9;

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_json_value", 3, 3, part),
    // A document is true unless it is the number 0.
    helper("tare_json_truth", 1, 1, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            raw => {
                let is_zero = part_text(raw).trim().parse::<f64>() == Ok(0.0);
                Value::Integer((!is_zero).into())
            }
        })
    }),
];

/// The text of a document: the first argument, whose kind and detail follow. NULL for NULL.
fn part(ctx: &Call<'_>) -> Answer {
    let (kind, detail) = (int(ctx, 1).unwrap_or(0), int(ctx, 2).unwrap_or(0));
    let raw = ctx.get_raw(0);
    Ok(match (kind, raw) {
        (_, ValueRef::Null) => Value::Null,
        (DOCUMENT, _) => return ctx.argument(0),
        (TRUTH, ValueRef::Integer(n)) => Value::Text((n != 0).to_string()),
        // A DECIMAL, or an integer beyond 64 bits.
        (NUMBER, ValueRef::Text(_)) => return ctx.argument(0),
        (TIME, _) => {
            let value = crate::call::text(ctx, 0).unwrap_or_default();
            quoted(&crate::date::with_fraction(&value, 6))
        }
        (TEXT | DATE, _) | (PARAMETER, ValueRef::Text(_)) => {
            quoted(&crate::call::text(ctx, 0).unwrap_or_default())
        }
        (BIT, ValueRef::Integer(n)) => {
            let bytes = n.to_be_bytes();
            let width = usize::try_from(detail).unwrap_or(8).clamp(1, 8);
            encoded(16, &bytes[8 - width..])
        }
        (BYTES, _) => encoded(detail, &bytes(ctx, 0).unwrap_or_default()),
        (_, ValueRef::Blob(bytes)) => encoded(15, bytes),
        _ => text(&value(raw)?),
    })
}

/// Bytes as a string of a document: their type's number, and the bytes in base64.
fn encoded(kind: i64, bytes: &[u8]) -> Value {
    match to_base64(bytes) {
        Value::Text(digits) => quoted(&format!("base64:type{kind}:{digits}")),
        too_long => too_long,
    }
}

/// The document of a value whose kind is not known: a text is a string, unless it is an object or array.
fn value(raw: ValueRef<'_>) -> Result<Json> {
    Ok(match raw {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(n) => n.into(),
        ValueRef::Real(x) => x.into(),
        ValueRef::Text(t) | ValueRef::Blob(t) => {
            let text = String::from_utf8_lossy(t);
            if text.starts_with(['{', '['])
                && let Some(parsed) = parsed(&text)?
            {
                return Ok(parsed);
            }
            text.into_owned().into()
        }
    })
}

/// The text of a part that `tare_json_value` returned.
pub(crate) fn part_text(raw: ValueRef<'_>) -> std::borrow::Cow<'_, str> {
    match raw {
        ValueRef::Text(t) => String::from_utf8_lossy(t),
        _ => "null".into(),
    }
}

/// The document of such a part.
pub(super) fn part_document(raw: ValueRef<'_>) -> Result<Json> {
    Ok(parsed(&part_text(raw))?.unwrap_or_default())
}
