//! JSON functions: values in MySQL's text form, with its order of keys and its spaces.

use rusqlite::functions::Context;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use serde_json::Value as Json;
use tare_mysql::error::SqlError;

use super::{fail, opt, pure, raise, text as argument};

/// A JSON value of a plain one. A text is a JSON string, unless it is an object or array already:
/// SQLite does not tell JSON from text.
pub(super) fn value(raw: ValueRef<'_>) -> Json {
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
pub(super) fn text(value: &Json) -> String {
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

fn invalid(position: usize, function: &str) -> rusqlite::Error {
    raise(SqlError::new(
        3141,
        format!("Invalid JSON text in argument {position} to function {function}"),
    ))
}

fn document(ctx: &Context<'_>, i: usize, function: &str) -> Result<Option<Json>> {
    let Some(t) = argument(ctx, i) else {
        return Ok(None);
    };
    serde_json::from_str(&t)
        .map(Some)
        .map_err(|_| invalid(i + 1, function))
}

/// One step of a path.
enum Leg {
    Key(String),
    Index(usize),
    Last(usize),
    AnyKey,
    AnyIndex,
    Deep,
}

fn path(text: &str) -> Option<Vec<Leg>> {
    let mut rest = text.trim().strip_prefix('$')?;
    let mut legs = Vec::new();
    while !rest.is_empty() {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("**") {
            legs.push(Leg::Deep);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            let after = after.trim_start();
            if let Some(after) = after.strip_prefix('*') {
                legs.push(Leg::AnyKey);
                rest = after;
            } else if let Some(quoted) = after.strip_prefix('"') {
                let end = quoted.find('"')?;
                legs.push(Leg::Key(quoted[..end].to_owned()));
                rest = &quoted[end + 1..];
            } else {
                let end = after.find(['.', '[', ' ', '*']).unwrap_or(after.len());
                if end == 0 {
                    return None;
                }
                legs.push(Leg::Key(after[..end].to_owned()));
                rest = &after[end..];
            }
        } else if let Some(after) = rest.strip_prefix('[') {
            let end = after.find(']')?;
            let inside = after[..end].trim();
            legs.push(if inside == "*" {
                Leg::AnyIndex
            } else if let Some(back) = inside.strip_prefix("last") {
                let back = back.trim().strip_prefix('-').map_or("0", str::trim);
                Leg::Last(back.parse().ok()?)
            } else {
                Leg::Index(inside.parse().ok()?)
            });
            rest = &after[end + 1..];
        } else if rest.is_empty() {
            break;
        } else {
            return None;
        }
    }
    Some(legs)
}

fn walk<'v>(value: &'v Json, legs: &[Leg], found: &mut Vec<&'v Json>) {
    let Some((leg, rest)) = legs.split_first() else {
        found.push(value);
        return;
    };
    match (leg, value) {
        (Leg::Key(key), Json::Object(all)) => {
            if let Some(v) = all.get(key) {
                walk(v, rest, found);
            }
        }
        (Leg::AnyKey, Json::Object(all)) => all.values().for_each(|v| walk(v, rest, found)),
        (Leg::AnyIndex, Json::Array(all)) => all.iter().for_each(|v| walk(v, rest, found)),
        (Leg::Index(i), Json::Array(all)) => {
            if let Some(v) = all.get(*i) {
                walk(v, rest, found);
            }
        }
        (Leg::Last(back), Json::Array(all)) => {
            if let Some(v) = all.len().checked_sub(back + 1).and_then(|i| all.get(i)) {
                walk(v, rest, found);
            }
        }
        // What is no array is one of itself.
        (Leg::Index(0) | Leg::Last(0), other) => walk(other, rest, found),
        (Leg::Deep, value) => {
            walk(value, rest, found);
            match value {
                Json::Array(all) => all.iter().for_each(|v| walk(v, legs, found)),
                Json::Object(all) => all.values().for_each(|v| walk(v, legs, found)),
                _ => {}
            }
        }
        _ => {}
    }
}

fn legs(ctx: &Context<'_>, i: usize) -> Result<Option<Vec<Leg>>> {
    match argument(ctx, i) {
        None => Ok(None),
        Some(t) => path(&t).map(Some).ok_or_else(|| {
            raise(SqlError::new(
                3143,
                "Invalid JSON path expression. The error is around character position 1.",
            ))
        }),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Set,
    Insert,
    Replace,
    Remove,
    Append,
}

fn edit(value: &mut Json, legs: &[Leg], new: Option<&Json>, how: Edit) {
    let [leg, rest @ ..] = legs else {
        match (how, new) {
            (Edit::Set | Edit::Replace, Some(new)) => *value = new.clone(),
            (Edit::Append, Some(new)) => match value {
                Json::Array(all) => all.push(new.clone()),
                other => *other = Json::Array(vec![other.take(), new.clone()]),
            },
            _ => {}
        }
        return;
    };
    let last = rest.is_empty();
    match (leg, value) {
        (Leg::Key(key), Json::Object(all)) => {
            if last && how == Edit::Remove {
                all.remove(key);
            } else if last && how != Edit::Append {
                let there = all.contains_key(key);
                if let Some(new) = new
                    && ((there && how != Edit::Insert) || (!there && how != Edit::Replace))
                {
                    all.insert(key.clone(), new.clone());
                }
            } else if let Some(v) = all.get_mut(key) {
                edit(v, rest, new, how);
            }
        }
        (leg @ (Leg::Index(_) | Leg::Last(_)), Json::Array(all)) => {
            let i = match leg {
                Leg::Index(i) => *i,
                Leg::Last(back) => all.len().saturating_sub(back + 1),
                _ => return,
            };
            if last && how == Edit::Remove {
                if i < all.len() {
                    all.remove(i);
                }
            } else if i < all.len() {
                if !(last && how == Edit::Insert) {
                    edit(&mut all[i], rest, new, how);
                }
            } else if last
                && matches!(how, Edit::Set | Edit::Insert)
                && let Some(new) = new
            {
                all.push(new.clone());
            }
        }
        _ => {}
    }
}

fn contains(target: &Json, candidate: &Json) -> bool {
    match (target, candidate) {
        (Json::Array(all), Json::Array(wanted)) => {
            wanted.iter().all(|w| all.iter().any(|v| contains(v, w)))
        }
        (Json::Array(all), one) => all.iter().any(|v| contains(v, one)),
        (Json::Object(all), Json::Object(wanted)) => wanted
            .iter()
            .all(|(k, w)| all.get(k).is_some_and(|v| contains(v, w))),
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
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

pub(super) fn json(db: &Connection) -> Result<()> {
    pure(db, "tare_json", 1, |ctx| {
        opt(document(ctx, 0, "cast_as_json")?.map(|v| text(&v)))
    })?;
    pure(db, "tare_json_extract", -1, |ctx| {
        let Some(doc) = document(ctx, 0, "json_extract")? else {
            return Ok(Value::Null);
        };
        let mut found = Vec::new();
        let mut many = ctx.len() > 2;
        for i in 1..ctx.len() {
            let Some(legs) = legs(ctx, i)? else {
                return Ok(Value::Null);
            };
            many |= legs
                .iter()
                .any(|l| matches!(l, Leg::AnyKey | Leg::AnyIndex | Leg::Deep));
            walk(&doc, &legs, &mut found);
        }
        Ok(match found.as_slice() {
            [] => Value::Null,
            [one] if !many => text(one).into(),
            all => text(&Json::Array(all.iter().map(|v| (*v).clone()).collect())).into(),
        })
    })?;
    pure(db, "tare_json_unquote", 1, |ctx| {
        opt(
            argument(ctx, 0).map(|t| match serde_json::from_str::<Json>(&t) {
                Ok(Json::String(s)) if t.starts_with('"') => s,
                _ => t,
            }),
        )
    })?;
    pure(db, "tare_json_quote", 1, |ctx| {
        opt(argument(ctx, 0).map(|t| Json::String(t).to_string()))
    })?;
    pure(db, "tare_json_object", -1, |ctx| {
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
    })?;
    pure(db, "tare_json_array", -1, |ctx| {
        let all = (0..ctx.len()).map(|i| value(ctx.get_raw(i))).collect();
        Ok(text(&Json::Array(all)).into())
    })?;
    pure(db, "tare_json_valid", 1, |ctx| {
        opt(argument(ctx, 0).map(|t| i64::from(serde_json::from_str::<Json>(&t).is_ok())))
    })?;
    pure(db, "tare_json_type", 1, |ctx| {
        opt(document(ctx, 0, "json_type")?.map(|v| kind(&v).to_owned()))
    })?;
    pure(db, "tare_json_depth", 1, |ctx| {
        opt(document(ctx, 0, "json_depth")?.map(|v| depth(&v)))
    })?;
    pure(db, "tare_json_storage_size", 1, |ctx| {
        opt(document(ctx, 0, "json_storage_size")?.map(|v| text(&v).len() as i64))
    })?;
    pure(db, "tare_json_pretty", 1, |ctx| {
        opt(document(ctx, 0, "json_pretty")?
            .map(|v| serde_json::to_string_pretty(&v).unwrap_or_default()))
    })?;
    for (name, keys) in [("tare_json_length", false), ("tare_json_keys", true)] {
        pure(db, name, -1, move |ctx| {
            let Some(doc) = document(ctx, 0, &name[5..])? else {
                return Ok(Value::Null);
            };
            let mut found = vec![&doc];
            if ctx.len() > 1 {
                let Some(legs) = legs(ctx, 1)? else {
                    return Ok(Value::Null);
                };
                found.clear();
                walk(&doc, &legs, &mut found);
            }
            Ok(match (found.first(), keys) {
                (None, _) => Value::Null,
                (Some(Json::Object(all)), true) => {
                    let mut keys: Vec<&String> = all.keys().collect();
                    keys.sort_by_key(|k| (k.len(), k.as_str()));
                    text(&Json::Array(
                        keys.into_iter().map(|k| k.clone().into()).collect(),
                    ))
                    .into()
                }
                (Some(_), true) => Value::Null,
                (Some(Json::Object(all)), false) => Value::Integer(all.len() as i64),
                (Some(Json::Array(all)), false) => Value::Integer(all.len() as i64),
                (Some(_), false) => Value::Integer(1),
            })
        })?;
    }
    pure(db, "tare_json_contains", -1, |ctx| {
        let (Some(doc), Some(wanted)) = (
            document(ctx, 0, "json_contains")?,
            document(ctx, 1, "json_contains")?,
        ) else {
            return Ok(Value::Null);
        };
        let mut found = vec![&doc];
        if ctx.len() > 2 {
            let Some(legs) = legs(ctx, 2)? else {
                return Ok(Value::Null);
            };
            found.clear();
            walk(&doc, &legs, &mut found);
        }
        Ok(found
            .first()
            .map_or(Value::Null, |v| Value::Integer(contains(v, &wanted).into())))
    })?;
    pure(db, "tare_member_of", 2, |ctx| {
        let Some(doc) = document(ctx, 1, "member of")? else {
            return Ok(Value::Null);
        };
        let wanted = value(ctx.get_raw(0));
        Ok(Value::Integer(contains(&doc, &wanted).into()))
    })?;
    pure(db, "tare_json_contains_path", -1, |ctx| {
        let (Some(doc), Some(how)) = (
            document(ctx, 0, "json_contains_path")?,
            argument(ctx, 1).map(|t| t.to_lowercase()),
        ) else {
            return Ok(Value::Null);
        };
        if how != "one" && how != "all" {
            return Err(fail(
                "The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'.",
            ));
        }
        let mut hits = 0;
        for i in 2..ctx.len() {
            let Some(legs) = legs(ctx, i)? else {
                return Ok(Value::Null);
            };
            let mut found = Vec::new();
            walk(&doc, &legs, &mut found);
            hits += usize::from(!found.is_empty());
        }
        let yes = if how == "one" {
            hits > 0
        } else {
            hits == ctx.len() - 2
        };
        Ok(Value::Integer(yes.into()))
    })?;
    for (name, how) in [
        ("tare_json_set", Edit::Set),
        ("tare_json_insert", Edit::Insert),
        ("tare_json_replace", Edit::Replace),
        ("tare_json_remove", Edit::Remove),
        ("tare_json_array_append", Edit::Append),
    ] {
        pure(db, name, -1, move |ctx| {
            let Some(mut doc) = document(ctx, 0, &name[5..])? else {
                return Ok(Value::Null);
            };
            let step = if how == Edit::Remove { 1 } else { 2 };
            for i in (1..ctx.len()).step_by(step) {
                let Some(legs) = legs(ctx, i)? else {
                    return Ok(Value::Null);
                };
                let new = (step == 2 && i + 1 < ctx.len()).then(|| value(ctx.get_raw(i + 1)));
                edit(&mut doc, &legs, new.as_ref(), how);
            }
            Ok(text(&doc).into())
        })?;
    }
    for (name, join) in [
        ("tare_json_merge_patch", patch as fn(Json, Json) -> Json),
        ("tare_json_merge_preserve", preserve),
        ("tare_json_merge", preserve),
    ] {
        pure(db, name, -1, move |ctx| {
            let mut all = None;
            for i in 0..ctx.len() {
                let Some(doc) = document(ctx, i, &name[5..])? else {
                    return Ok(Value::Null);
                };
                all = Some(match all {
                    None => doc,
                    Some(before) => join(before, doc),
                });
            }
            opt(all.map(|v| text(&v)))
        })?;
    }
    Ok(())
}
