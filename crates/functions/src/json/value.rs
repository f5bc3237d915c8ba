//! Values of SQL as parts of JSON documents.

use rusqlite::Result;
use serde_json::Value as Json;
use tare_dialect::function::DocumentPart;

use super::{parsed, quoted, text};
use crate::encode::to_base64;
use crate::prelude::*;

/// The first character of what is greater than all documents.
pub(super) const ABOVE: &[u8] = "\u{1}".as_bytes();

// The numbers of types in MySQL.
const VARCHAR_TYPE: i64 = 15;
const BIT_TYPE: i64 = 16;

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_json_value", 3, 3, part),
    // The number or the text of a scalar, from which operators read a number; others are 0.
    helper("tare_json_scalar", 1, 1, |ctx| {
        Ok(match ctx.get_raw(0) {
            raw @ ValueRef::Text(_) => match part_document(raw)? {
                Json::Bool(truth) => Value::Integer(truth.into()),
                Json::String(text) => Value::Text(text),
                Json::Number(n) => match (n.as_i64(), n.is_u64()) {
                    (Some(n), _) => Value::Integer(n),
                    (None, true) => Value::Text(n.to_string()),
                    (None, false) => Value::Real(n.as_f64().unwrap_or_default()),
                },
                _ => Value::Integer(0),
            },
            // It is a number already.
            _ => return ctx.argument(0),
        })
    }),
    // Operands of comparisons that are greater than documents: see `order`.
    helper("tare_json_bytes", 1, 1, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            raw => Value::Text(format!("\u{1}{}", part_text(raw))),
        })
    }),
    helper("tare_json_moment", 1, 1, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            _ => Value::Text("\u{1}".into()),
        })
    }),
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

/// The text of a document: the first argument, whose [`DocumentPart`] follows as numbers. NULL for NULL.
fn part(ctx: &Call<'_>) -> Answer {
    let numbers = [1, 2].map(|i| int(ctx, i).unwrap_or(0));
    let raw = ctx.get_raw(0);
    Ok(match (DocumentPart::from_numbers(numbers), raw) {
        (_, ValueRef::Null) => Value::Null,
        (DocumentPart::Document, _) => return ctx.argument(0),
        (DocumentPart::Truth, ValueRef::Integer(n)) => Value::Text((n != 0).to_string()),
        // A DECIMAL, or an integer beyond 64 bits.
        (DocumentPart::Number, ValueRef::Text(_)) => return ctx.argument(0),
        (DocumentPart::Time, _) => {
            let value = crate::call::text(ctx, 0).unwrap_or_default();
            quoted(&crate::date::with_fraction(&value, 6))
        }
        (DocumentPart::Text | DocumentPart::Date, _)
        | (DocumentPart::Parameter, ValueRef::Text(_)) => {
            quoted(&crate::call::text(ctx, 0).unwrap_or_default())
        }
        (DocumentPart::Bit(width), ValueRef::Integer(n)) => {
            let bytes = n.to_be_bytes();
            let width = usize::try_from(width).unwrap_or(8).clamp(1, 8);
            encoded(BIT_TYPE, &bytes[8 - width..])
        }
        (DocumentPart::Bytes(kind), _) => encoded(kind, &bytes(ctx, 0).unwrap_or_default()),
        (_, ValueRef::Blob(bytes)) => encoded(VARCHAR_TYPE, bytes),
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
