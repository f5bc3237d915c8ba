//! JSON functions: values in MySQL's text form, with its order of keys and its spaces.

pub(crate) mod path;
mod written;

use rusqlite::Result;
use serde_json::Value as Json;
use tare_mysql::watch::lossy;

pub(crate) use self::written::{quoted, text};
use crate::call::text as argument;
use crate::evaluation::EvaluationContext;
use crate::made::{Watch, owned};
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    hidden("json_array", 0, ANY, Json, "tare_json_array", |ctx| {
        let all = (0..ctx.len()).map(|i| value(ctx.session, ctx.get_raw(i)));
        text(ctx.session, &Json::Array(all.collect::<Result<_>>()?))
    }),
    hidden(
        "json_depth",
        1,
        1,
        Int,
        "tare_json_depth",
        |ctx| match document(ctx, 0, "json_depth")? {
            Some(v) => Ok(Value::Integer(depth(&Watch::new(ctx.session), &v)?)),
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
        let mut all = serde_json::Map::new();
        for i in (0..ctx.len()).step_by(2) {
            let key = argument(ctx, i).ok_or_else(|| {
                raise(SqlError::new(
                    3158,
                    "JSON documents may not contain NULL member names.",
                ))
            })?;
            all.insert(
                owned(ctx.session, key)?,
                value(ctx.session, ctx.get_raw(i + 1))?,
            );
        }
        text(ctx.session, &Json::Object(all))
    }),
    hidden(
        "json_pretty",
        1,
        1,
        Text,
        "tare_json_pretty",
        |ctx| match document(ctx, 0, "json_pretty")? {
            Some(v) => written::pretty(ctx.session, &v),
            None => Ok(Value::Null),
        },
    ),
    hidden(
        "json_quote",
        1,
        1,
        Text,
        "tare_json_quote",
        |ctx| match argument(ctx, 0) {
            Some(t) => quoted(ctx.session, &t),
            None => Ok(Value::Null),
        },
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
            Ok(match text(ctx.session, &v)? {
                Value::Text(t) => Value::Integer(t.len() as i64),
                other => other,
            })
        },
    ),
    hidden("json_type", 1, 1, Text, "tare_json_type", |ctx| {
        opt(document(ctx, 0, "json_type")?.map(|v| kind(&v).to_owned()))
    }),
    hidden("json_unquote", 1, 1, Text, "tare_json_unquote", |ctx| {
        let Some(t) = argument(ctx, 0) else {
            return Ok(Value::Null);
        };
        if t.starts_with('"')
            && let Some(Json::String(s)) = parsed(ctx.session, &t)?
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
        |ctx| match argument(ctx, 0) {
            Some(t) => Ok(Value::Integer(parsed(ctx.session, &t)?.is_some().into())),
            None => Ok(Value::Null),
        },
    ),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("tare_json", 1, 1, |ctx| {
    match document(ctx, 0, "cast_as_json")? {
        Some(v) => text(ctx.session, &v),
        None => Ok(Value::Null),
    }
})];

/// A JSON value of a plain one. A text is a JSON string, unless it is an object or array already:
/// SQLite does not tell JSON from text.
pub(crate) fn value(session: &dyn EvaluationContext, raw: ValueRef<'_>) -> Result<Json> {
    Ok(match raw {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(n) => n.into(),
        ValueRef::Real(x) => x.into(),
        ValueRef::Text(t) | ValueRef::Blob(t) => {
            let text = lossy(t);
            if text.starts_with(['{', '['])
                && let Some(parsed) = parsed(session, &text)?
            {
                return Ok(parsed);
            }
            owned(session, text)?.into()
        }
    })
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
    match parsed(ctx.session, &t)? {
        Some(document) => Ok(Some(document)),
        None => Err(invalid(i + 1, function)),
    }
}

/// A document; `None` for a text that is none.
fn parsed(session: &dyn EvaluationContext, text: &str) -> Result<Option<Json>> {
    if text.len() <= AT_ONCE {
        return Ok(serde_json::from_str(text).ok());
    }
    let mut steps = Steps {
        session,
        rest: text.as_bytes(),
        ended: None,
    };
    let found = serde_json::from_reader(std::io::BufReader::with_capacity(AT_ONCE, &mut steps));
    match steps.ended {
        Some(error) => Err(error),
        None => Ok(found.ok()),
    }
}

/// Bytes of a text that become a document's parts between two looks. A part takes up to a hundred times
/// as much memory as its text, which is counted when it is there.
const AT_ONCE: usize = STEP / 8;

/// A long text that is read in steps, and ends where its statement must.
struct Steps<'a> {
    session: &'a dyn EvaluationContext,
    rest: &'a [u8],
    /// Why it ended: memory that was too much is given back by then.
    ended: Option<rusqlite::Error>,
}

impl std::io::Read for Steps<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match go_on(self.session) {
            Err(error) => {
                self.ended = Some(error);
                Err(std::io::Error::other("ended"))
            }
            Ok(()) => self.rest.read(into),
        }
    }
}

fn patch(watch: &Watch<'_>, target: Json, with: Json) -> Result<Json> {
    let Json::Object(with) = with else {
        return Ok(with);
    };
    let mut all = match target {
        Json::Object(all) => all,
        _ => serde_json::Map::new(),
    };
    for (key, value) in with {
        watch.step(key.len())?;
        if value.is_null() {
            all.remove(&key);
        } else if let Some(old) = all.get_mut(&key) {
            *old = patch(watch, old.take(), value)?;
        } else {
            all.insert(key, patch(watch, Json::Null, value)?);
        }
    }
    Ok(Json::Object(all))
}

fn preserve(watch: &Watch<'_>, a: Json, b: Json) -> Result<Json> {
    match (a, b) {
        (Json::Object(mut a), Json::Object(b)) => {
            for (key, value) in b {
                watch.step(key.len())?;
                match a.get_mut(&key) {
                    Some(old) => *old = preserve(watch, old.take(), value)?,
                    None => _ = a.insert(key, value),
                }
            }
            Ok(Json::Object(a))
        }
        (a, b) => {
            let list = |v| match v {
                Json::Array(all) => all,
                other => vec![other],
            };
            let mut all = list(a);
            all.extend(list(b));
            Ok(Json::Array(all))
        }
    }
}

fn depth(watch: &Watch<'_>, value: &Json) -> Result<i64> {
    let mut deepest = 0;
    watch.step(0)?;
    match value {
        Json::Array(all) => {
            for v in all {
                deepest = deepest.max(depth(watch, v)?);
            }
        }
        Json::Object(all) => {
            for v in all.values() {
                deepest = deepest.max(depth(watch, v)?);
            }
        }
        _ => {}
    }
    Ok(1 + deepest)
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

type Join = fn(&Watch<'_>, Json, Json) -> Result<Json>;

/// One document of several.
fn merged(ctx: &Call<'_>, name: &str, join: Join) -> Answer {
    let mut all = None;
    for i in 0..ctx.len() {
        let Some(doc) = document(ctx, i, name)? else {
            return Ok(Value::Null);
        };
        all = Some(match all {
            None => doc,
            Some(before) => join(&Watch::new(ctx.session), before, doc)?,
        });
    }
    match all {
        Some(v) => text(ctx.session, &v),
        None => Ok(Value::Null),
    }
}
