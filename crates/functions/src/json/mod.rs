//! JSON functions: values in MySQL's text form, with its order of keys and its spaces.

mod order;
pub(crate) mod path;
mod search;
pub(crate) mod value;
mod writer;

use std::collections::BTreeMap;

use rusqlite::Result;
use serde_json::Value as Json;
use tare_mysql::interrupt;

pub(crate) use self::order::compare;
pub(crate) use self::writer::{quoted, text};
use crate::call::text as argument;
use crate::prelude::*;
use crate::text_builder::TextBuilder;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    hidden("json_array", 0, ANY, Json, "tare_json_array", |ctx| {
        let mut builder = TextBuilder::from_iter(["["]);
        for i in 0..ctx.len() {
            builder.push(if i > 0 { ", " } else { "" });
            builder.push(&value::part_text(ctx.get_raw(i)));
        }
        builder.push("]");
        Ok(builder.into_value())
    }),
    hidden(
        "json_depth",
        1,
        1,
        Int,
        "tare_json_depth",
        |ctx| match document(ctx, 0, "json_depth")? {
            Some(v) => Ok(Value::Integer(depth(&v))),
            None => Ok(Value::Null),
        },
    ),
    hidden("json_merge", 2, ANY, Json, "tare_json_merge", |ctx| {
        merged(ctx, "json_merge", preserve)
    }),
    hidden(
        "json_merge_patch",
        2,
        ANY,
        Json,
        "tare_json_merge_patch",
        |ctx| merged(ctx, "json_merge_patch", patch),
    ),
    hidden(
        "json_merge_preserve",
        2,
        ANY,
        Json,
        "tare_json_merge_preserve",
        |ctx| merged(ctx, "json_merge_preserve", preserve),
    ),
    hidden("json_object", 0, ANY, Json, "tare_json_object", |ctx| {
        if ctx.len() % 2 == 1 {
            return Err(raise(SqlError::new(
                1582,
                "Incorrect parameter count in the call to native function 'JSON_OBJECT'",
            )));
        }
        // MySQL sorts keys by length, then by their bytes. The last value of a key wins.
        let mut all = BTreeMap::new();
        for i in (0..ctx.len()).step_by(2) {
            if matches!(ctx.get_raw(i), ValueRef::Blob(_)) {
                return Err(binary());
            }
            let key = argument(ctx, i).ok_or_else(|| {
                raise(SqlError::new(
                    3158,
                    "JSON documents may not contain NULL member names.",
                ))
            })?;
            all.insert((key.len(), key), value::part_text(ctx.get_raw(i + 1)));
        }
        let mut builder = TextBuilder::from_iter(["{"]);
        for (i, ((_, key), part)) in all.iter().enumerate() {
            builder.push(if i > 0 { ", " } else { "" });
            let Value::Text(key) = quoted(key) else {
                return Ok(Value::Null);
            };
            for text in [&*key, ": ", part.as_ref()] {
                builder.push(text);
            }
        }
        builder.push("}");
        Ok(builder.into_value())
    }),
    hidden(
        "json_pretty",
        1,
        1,
        Text,
        "tare_json_pretty",
        |ctx| match document(ctx, 0, "json_pretty")? {
            Some(v) => Ok(writer::pretty(&v)),
            None => Ok(Value::Null),
        },
    ),
    hidden("json_quote", 1, 1, Text, "tare_json_quote", |ctx| {
        opt(text_argument(ctx, "json_quote")?.map(|t| quoted(&t)))
    }),
    hidden(
        "json_search",
        3,
        ANY,
        Json,
        "tare_json_search",
        search::search,
    ),
    hidden(
        "json_storage_size",
        1,
        1,
        Int,
        "tare_json_storage_size",
        |ctx| {
            let Some(v) = document(ctx, 0, "json_storage_size")? else {
                return Ok(Value::Null);
            };
            Ok(match text(&v) {
                Value::Text(t) => Value::Integer(t.len() as i64),
                other => other,
            })
        },
    ),
    hidden("json_type", 1, 1, Text, "tare_json_type", |ctx| {
        opt(document(ctx, 0, "json_type")?.map(|v| kind(&v).to_owned()))
    }),
    hidden("json_unquote", 1, 1, Text, "tare_json_unquote", |ctx| {
        let Some(t) = text_argument(ctx, "json_unquote")? else {
            return Ok(Value::Null);
        };
        if t.starts_with('"')
            && let Some(Json::String(s)) = parsed(&t)?
        {
            return Ok(s.into());
        }
        as_text(ctx, 0)
    }),
    hidden(
        "json_valid",
        1,
        1,
        Int,
        "tare_json_valid",
        |ctx| match ctx.get_raw(0) {
            ValueRef::Null => Ok(Value::Null),
            ValueRef::Text(t) => {
                let text = String::from_utf8_lossy(t);
                Ok(Value::Integer(parsed(&text)?.is_some().into()))
            }
            _ => Ok(Value::Integer(0)),
        },
    ),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("tare_json", 1, 1, |ctx| {
    match document(ctx, 0, CAST)? {
        Some(v) => Ok(text(&v)),
        None => Ok(Value::Null),
    }
})];

pub(super) fn invalid(position: usize, function: &str) -> rusqlite::Error {
    raise(SqlError::new(
        3141,
        format!("Invalid JSON text in argument {position} to function {function}"),
    ))
}

/// 3144: bytes are no document.
fn binary() -> rusqlite::Error {
    let message = "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
    raise(SqlError::new(3144, message))
}

/// An argument that must be a text; 3064 if it is none.
fn text_argument<'c>(
    ctx: &'c Call<'_>,
    function: &str,
) -> Result<Option<std::borrow::Cow<'c, str>>> {
    match ctx.get_raw(0) {
        ValueRef::Integer(_) | ValueRef::Real(_) => {
            let message = format!("Incorrect type for argument 1 in function {function}.");
            Err(raise(SqlError::new(3064, message)))
        }
        ValueRef::Blob(_) => Err(binary()),
        _ => Ok(argument(ctx, 0)),
    }
}

/// An argument that must be a document, or a text of one.
pub(super) fn document(ctx: &Call<'_>, i: usize, function: &str) -> Result<Option<Json>> {
    let text = match ctx.get_raw(i) {
        ValueRef::Null => return Ok(None),
        ValueRef::Text(_) => argument(ctx, i).unwrap_or_default(),
        // A cast makes a document of a number.
        ValueRef::Integer(_) | ValueRef::Real(_) if function == CAST => {
            argument(ctx, i).unwrap_or_default()
        }
        ValueRef::Integer(_) | ValueRef::Real(_) => {
            let message = format!(
                "Invalid data type for JSON data in argument {} to function {function}; a JSON string or JSON type is required.",
                i + 1
            );
            return Err(raise(SqlError::new(3146, message)));
        }
        ValueRef::Blob(_) => return Err(binary()),
    };
    match parsed(&text)? {
        Some(document) => Ok(Some(document)),
        None => Err(invalid(i + 1, function)),
    }
}

/// What messages call a cast.
const CAST: &str = "cast_as_json";

/// Parses a document; `None` for an invalid one.
pub(crate) fn parsed(text: &str) -> Result<Option<Json>> {
    if text.len() <= CHECK_BYTES {
        return Ok(serde_json::from_str(text).ok());
    }
    let mut text = CheckedText {
        rest: text.as_bytes(),
        error: None,
    };
    let reader = std::io::BufReader::with_capacity(CHECK_BYTES, &mut text);
    let document = serde_json::from_reader(reader);
    match text.error {
        Some(error) => Err(raise(error)),
        None => Ok(document.ok()),
    }
}

/// Bytes that are parsed between two checks of memory. A document takes up to a hundred times as much memory
/// as its text, and is counted after it is allocated.
const CHECK_BYTES: usize = 56 << 10;

/// A long text, whose reading ends if the statement must end.
struct CheckedText<'a> {
    rest: &'a [u8],
    /// Why the reading ended. It is stored because the memory is freed by then.
    error: Option<SqlError>,
}

impl std::io::Read for CheckedText<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match interrupt::check() {
            Err(error) => {
                self.error = Some(error);
                Err(std::io::Error::other("ended"))
            }
            Ok(()) => self.rest.read(into),
        }
    }
}

fn patch(target: Json, with: Json) -> Json {
    let Json::Object(with) = with else {
        return with;
    };
    let mut all = match target {
        Json::Object(all) => all,
        _ => serde_json::Map::new(),
    };
    for (key, value) in with {
        if value.is_null() {
            all.remove(&key);
        } else if let Some(old) = all.get_mut(&key) {
            *old = patch(old.take(), value);
        } else {
            all.insert(key, patch(Json::Null, value));
        }
    }
    Json::Object(all)
}

fn preserve(a: Json, b: Json) -> Json {
    match (a, b) {
        (Json::Object(mut a), Json::Object(b)) => {
            for (key, value) in b {
                match a.get_mut(&key) {
                    Some(old) => *old = preserve(old.take(), value),
                    None => _ = a.insert(key, value),
                }
            }
            Json::Object(a)
        }
        (a, b) => {
            let list = |v| match v {
                Json::Array(all) => all,
                other => vec![other],
            };
            let mut all = list(a);
            all.extend(list(b));
            Json::Array(all)
        }
    }
}

fn depth(value: &Json) -> i64 {
    let below = match value {
        Json::Array(all) => all.iter().map(depth).max(),
        Json::Object(all) => all.values().map(depth).max(),
        _ => None,
    };
    1 + below.unwrap_or(0)
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "NULL",
        Json::Bool(_) => "BOOLEAN",
        Json::Number(n) if n.is_u64() && !n.is_i64() => "UNSIGNED INTEGER",
        Json::Number(n) if n.is_i64() => "INTEGER",
        Json::Number(_) => "DOUBLE",
        Json::String(_) => "STRING",
        Json::Array(_) => "ARRAY",
        Json::Object(_) => "OBJECT",
    }
}

type Join = fn(Json, Json) -> Json;

/// Merges the documents of the arguments.
fn merged(ctx: &Call<'_>, name: &str, join: Join) -> Answer {
    let mut all = None;
    for i in 0..ctx.len() {
        let Some(doc) = document(ctx, i, name)? else {
            return Ok(Value::Null);
        };
        all = Some(match all {
            None => doc,
            Some(before) => join(before, doc),
        });
    }
    match all {
        Some(v) => Ok(text(&v)),
        None => Ok(Value::Null),
    }
}
