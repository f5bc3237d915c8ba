//! JSON functions: values in MySQL's text form, with its order of keys and its spaces.

pub(crate) mod path;

use rusqlite::Result;
use serde_json::Value as Json;

use crate::call::text as argument;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    hidden("json_array", 0, ANY, Json, "tare_json_array", |ctx| {
        let all = (0..ctx.len()).map(|i| value(ctx.get_raw(i))).collect();
        Ok(text(&Json::Array(all)).into())
    }),
    hidden("json_depth", 1, 1, Int, "tare_json_depth", |ctx| {
        opt(document(ctx, 0, "json_depth")?.map(|v| depth(&v)))
    }),
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
        let mut all = serde_json::Map::new();
        for i in (0..ctx.len()).step_by(2) {
            let key = argument(ctx, i).ok_or_else(|| {
                raise(SqlError::new(
                    3158,
                    "JSON documents may not contain NULL member names.",
                ))
            })?;
            all.insert(key, value(ctx.get_raw(i + 1)));
        }
        Ok(text(&Json::Object(all)).into())
    }),
    hidden("json_pretty", 1, 1, Text, "tare_json_pretty", |ctx| {
        opt(document(ctx, 0, "json_pretty")?
            .map(|v| serde_json::to_string_pretty(&v).unwrap_or_default()))
    }),
    hidden("json_quote", 1, 1, Text, "tare_json_quote", |ctx| {
        opt(argument(ctx, 0).map(|t| Json::String(t).to_string()))
    }),
    hidden(
        "json_storage_size",
        1,
        1,
        Int,
        "tare_json_storage_size",
        |ctx| opt(document(ctx, 0, "json_storage_size")?.map(|v| text(&v).len() as i64)),
    ),
    hidden("json_type", 1, 1, Text, "tare_json_type", |ctx| {
        opt(document(ctx, 0, "json_type")?.map(|v| kind(&v).to_owned()))
    }),
    hidden("json_unquote", 1, 1, Text, "tare_json_unquote", |ctx| {
        opt(
            argument(ctx, 0).map(|t| match serde_json::from_str::<Json>(&t) {
                Ok(Json::String(s)) if t.starts_with('"') => s,
                _ => t,
            }),
        )
    }),
    hidden(
        "json_valid",
        1,
        1,
        Int,
        "tare_json_valid",
        |ctx| match argument(ctx, 0) {
            Some(t) => Ok(Value::Integer(parsed(ctx, &t)?.is_some().into())),
            None => Ok(Value::Null),
        },
    ),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("tare_json", 1, 1, |ctx| {
    opt(document(ctx, 0, "cast_as_json")?.map(|v| text(&v)))
})];

/// A JSON value of a plain one. A text is a JSON string, unless it is an object or array already:
/// SQLite does not tell JSON from text.
pub(crate) fn value(raw: ValueRef<'_>) -> Json {
    match raw {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(n) => n.into(),
        ValueRef::Real(x) => x.into(),
        ValueRef::Text(t) | ValueRef::Blob(t) => {
            let text = String::from_utf8_lossy(t);
            if text.starts_with(['{', '['])
                && let Ok(parsed) = serde_json::from_str(&text)
            {
                return parsed;
            }
            text.into_owned().into()
        }
    }
}

/// A document's text, as MySQL prints it.
pub(crate) fn text(value: &Json) -> String {
    let mut out = String::new();
    put(value, &mut out);
    out
}

fn put(value: &Json, out: &mut String) {
    match value {
        Json::Array(all) => {
            out.push('[');
            for (i, v) in all.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                put(v, out);
            }
            out.push(']');
        }
        Json::Object(all) => {
            // MySQL sorts keys by length, then by their bytes.
            let mut keys: Vec<&String> = all.keys().collect();
            keys.sort_by_key(|k| (k.len(), k.as_str()));
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                put(&Json::String(key.clone()), out);
                out.push_str(": ");
                put(&all[key], out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

pub(super) fn invalid(position: usize, function: &str) -> rusqlite::Error {
    raise(SqlError::new(
        3141,
        format!("Invalid JSON text in argument {position} to function {function}"),
    ))
}

pub(super) fn document(ctx: &Call<'_>, i: usize, function: &str) -> Result<Option<Json>> {
    let Some(t) = argument(ctx, i) else {
        return Ok(None);
    };
    match parsed(ctx, &t)? {
        Some(document) => Ok(Some(document)),
        None => Err(invalid(i + 1, function)),
    }
}

/// A document; `None` for a text that is none.
fn parsed(ctx: &Call<'_>, text: &str) -> Result<Option<Json>> {
    if text.len() <= STEP {
        return Ok(serde_json::from_str(text).ok());
    }
    let steps = Steps {
        ctx,
        rest: text.as_bytes(),
    };
    let found = serde_json::from_reader(std::io::BufReader::with_capacity(STEP, steps));
    match found {
        Err(e) if e.is_io() => Err(raise(SqlError::interrupted())),
        other => Ok(other.ok()),
    }
}

/// A long text that is read in steps, and ends where its statement must.
struct Steps<'a> {
    ctx: &'a Call<'a>,
    rest: &'a [u8],
}

impl std::io::Read for Steps<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.ctx.session.must_stop() {
            true => Err(std::io::Error::other("interrupted")),
            false => self.rest.read(into),
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
        } else {
            let old = all.remove(&key).unwrap_or(Json::Null);
            all.insert(key, patch(old, value));
        }
    }
    Json::Object(all)
}

fn preserve(a: Json, b: Json) -> Json {
    match (a, b) {
        (Json::Object(mut a), Json::Object(b)) => {
            for (key, value) in b {
                let new = match a.remove(&key) {
                    Some(old) => preserve(old, value),
                    None => value,
                };
                a.insert(key, new);
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
    1 + match value {
        Json::Array(all) => all.iter().map(depth).max().unwrap_or(0),
        Json::Object(all) => all.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
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

/// One document of several.
fn merged(ctx: &Call<'_>, name: &str, join: fn(Json, Json) -> Json) -> Answer {
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
    opt(all.map(|v| text(&v)))
}
