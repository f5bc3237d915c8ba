//! JSON paths: lookups and changes of documents.

use rusqlite::Result;
use serde_json::Value as Json;

use super::order::compare_numbers;
use super::value::part_document;
use super::writer::array;
use super::{document, text};
use crate::call::text as argument;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    hidden(
        "json_array_append",
        3,
        ANY,
        Json,
        "tare_json_array_append",
        |ctx| edited(ctx, "json_array_append", Edit::Append),
    ),
    hidden("json_contains", 2, 3, Int, "tare_json_contains", |ctx| {
        let (Some(doc), Some(wanted)) = (
            document(ctx, 0, "json_contains")?,
            document(ctx, 1, "json_contains")?,
        ) else {
            return Ok(Value::Null);
        };
        let mut matches = vec![&doc];
        if ctx.len() > 2 {
            let Some(legs) = legs(ctx, 2)? else {
                return Ok(Value::Null);
            };
            matches.clear();
            walk(&doc, &legs, &mut matches)?;
        }
        Ok(match matches.first() {
            Some(v) => Value::Integer(contains(v, &wanted)?.into()),
            None => Value::Null,
        })
    }),
    hidden(
        "json_contains_path",
        3,
        ANY,
        Int,
        "tare_json_contains_path",
        |ctx| {
            let (Some(doc), Some(needs_all)) = (
                document(ctx, 0, "json_contains_path")?,
                one_or_all(ctx, 1, "json_contains_path")?,
            ) else {
                return Ok(Value::Null);
            };
            let mut hits = 0;
            for i in 2..ctx.len() {
                let Some(legs) = legs(ctx, i)? else {
                    return Ok(Value::Null);
                };
                let mut matches = Vec::new();
                walk(&doc, &legs, &mut matches)?;
                hits += usize::from(!matches.is_empty());
            }
            let yes = if needs_all {
                hits == ctx.len() - 2
            } else {
                hits > 0
            };
            Ok(Value::Integer(yes.into()))
        },
    ),
    hidden("json_extract", 2, ANY, Json, "tare_json_extract", |ctx| {
        let Some(doc) = document(ctx, 0, "json_extract")? else {
            return Ok(Value::Null);
        };
        let mut matches = Vec::new();
        let mut many = ctx.len() > 2;
        for i in 1..ctx.len() {
            let Some(legs) = legs(ctx, i)? else {
                return Ok(Value::Null);
            };
            many |= legs
                .iter()
                .any(|l| matches!(l, Leg::AnyKey | Leg::AnyIndex | Leg::Deep));
            walk(&doc, &legs, &mut matches)?;
        }
        Ok(match matches.as_slice() {
            [] => Value::Null,
            [one] if !many => text(one),
            all => array(all.iter().copied()),
        })
    }),
    hidden("json_insert", 3, ANY, Json, "tare_json_insert", |ctx| {
        edited(ctx, "json_insert", Edit::Insert)
    }),
    hidden("json_keys", 1, 2, Json, "tare_json_keys", |ctx| {
        size(ctx, "json_keys", true)
    }),
    hidden("json_length", 1, 2, Int, "tare_json_length", |ctx| {
        size(ctx, "json_length", false)
    }),
    hidden("json_remove", 2, ANY, Json, "tare_json_remove", |ctx| {
        edited(ctx, "json_remove", Edit::Remove)
    }),
    hidden("json_replace", 3, ANY, Json, "tare_json_replace", |ctx| {
        edited(ctx, "json_replace", Edit::Replace)
    }),
    hidden("json_set", 3, ANY, Json, "tare_json_set", |ctx| {
        edited(ctx, "json_set", Edit::Set)
    }),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("tare_member_of", 2, 2, |ctx| {
    let Some(doc) = document(ctx, 1, "member of")? else {
        return Ok(Value::Null);
    };
    let wanted = part_document(ctx.get_raw(0))?;
    let is_member = contains(&doc, &wanted)?;
    Ok(Value::Integer(is_member.into()))
})];

/// Legs of a path: each may be a nested call. A document has 128 levels.
const MAX_PATH_LEGS: usize = 1000;

/// One step of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leg {
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
    // A path that is too long is not read to its end.
    while !rest.is_empty() && legs.len() <= MAX_PATH_LEGS {
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

fn walk<'v>(value: &'v Json, legs: &[Leg], matches: &mut Vec<&'v Json>) -> Result<()> {
    check_step()?;
    let Some((leg, rest)) = legs.split_first() else {
        matches.push(value);
        return Ok(());
    };
    let mut on = |v: Option<&'v Json>, legs: &[Leg]| match v {
        Some(v) => walk(v, legs, matches),
        None => Ok(()),
    };
    match (leg, value) {
        (Leg::Key(key), Json::Object(all)) => on(all.get(key), rest),
        (Leg::AnyKey, Json::Object(all)) => all.values().try_for_each(|v| on(Some(v), rest)),
        (Leg::AnyIndex, Json::Array(all)) => all.iter().try_for_each(|v| on(Some(v), rest)),
        (Leg::Index(i), Json::Array(all)) => on(all.get(*i), rest),
        (Leg::Last(back), Json::Array(all)) => {
            let i = all.len().checked_sub(back + 1);
            on(i.and_then(|i| all.get(i)), rest)
        }
        // A value that is no array counts as an array of itself.
        (Leg::Index(0) | Leg::Last(0), other) => on(Some(other), rest),
        (Leg::Deep, value) => {
            on(Some(value), rest)?;
            match value {
                Json::Array(all) => all.iter().try_for_each(|v| on(Some(v), legs)),
                Json::Object(all) => all.values().try_for_each(|v| on(Some(v), legs)),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Whether an argument is 'all', not 'one'; 3154 if it is neither.
pub(super) fn one_or_all(ctx: &Call<'_>, i: usize, function: &str) -> Result<Option<bool>> {
    let Some(how) = argument(ctx, i) else {
        return Ok(None);
    };
    match &*how.to_lowercase() {
        "one" => Ok(Some(false)),
        "all" => Ok(Some(true)),
        _ => Err(raise(SqlError::new(
            3154,
            format!("The oneOrAll argument to {function} may take these values: 'one' or 'all'."),
        ))),
    }
}

pub(super) fn legs(ctx: &Call<'_>, i: usize) -> Result<Option<Vec<Leg>>> {
    let Some(t) = argument(ctx, i) else {
        return Ok(None);
    };
    if matches!(ctx.get_raw(i), ValueRef::Blob(_)) {
        let message = "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
        return Err(raise(SqlError::new(3144, message)));
    }
    match path(&t) {
        Some(legs) if legs.len() > MAX_PATH_LEGS => Err(raise(SqlError::new(
            3157,
            "The JSON document exceeds the maximum depth.",
        ))),
        Some(legs) => Ok(Some(legs)),
        None => Err(raise(SqlError::new(
            3143,
            "Invalid JSON path expression. The error is around character position 1.",
        ))),
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

fn contains(target: &Json, candidate: &Json) -> Result<bool> {
    check_step()?;
    match (target, candidate) {
        (Json::Array(_), Json::Array(wanted)) => {
            for w in wanted {
                if !contains_one(target, w)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::Array(_), one) => contains_one(target, one),
        (Json::Object(all), Json::Object(wanted)) => {
            for (key, w) in wanted {
                match all.get(key) {
                    Some(v) if contains(v, w)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Json::Number(a), Json::Number(b)) => Ok(compare_numbers(a, b).is_eq()),
        (a, b) => Ok(a == b),
    }
}

/// Whether one of an array's members contains a value.
fn contains_one(array: &Json, wanted: &Json) -> Result<bool> {
    for v in array.as_array().into_iter().flatten() {
        if contains(v, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of members, or their keys.
fn size(ctx: &Call<'_>, name: &str, keys: bool) -> Answer {
    let Some(doc) = document(ctx, 0, name)? else {
        return Ok(Value::Null);
    };
    let mut matches = vec![&doc];
    if ctx.len() > 1 {
        let Some(legs) = legs(ctx, 1)? else {
            return Ok(Value::Null);
        };
        matches.clear();
        walk(&doc, &legs, &mut matches)?;
    }
    Ok(match (matches.first(), keys) {
        (None, _) => Value::Null,
        (Some(Json::Object(all)), true) => {
            let mut keys: Vec<&String> = all.keys().collect();
            keys.sort_by_key(|k| (k.len(), k.as_str()));
            let keys = keys.into_iter().map(|k| k.clone().into());
            text(&Json::Array(keys.collect()))
        }
        (Some(_), true) => Value::Null,
        (Some(Json::Object(all)), false) => Value::Integer(all.len() as i64),
        (Some(Json::Array(all)), false) => Value::Integer(all.len() as i64),
        (Some(_), false) => Value::Integer(1),
    })
}

/// A document with values set or removed at paths.
fn edited(ctx: &Call<'_>, name: &str, how: Edit) -> Answer {
    let Some(mut doc) = document(ctx, 0, name)? else {
        return Ok(Value::Null);
    };
    let step = if how == Edit::Remove { 1 } else { 2 };
    for i in (1..ctx.len()).step_by(step) {
        let Some(legs) = legs(ctx, i)? else {
            return Ok(Value::Null);
        };
        let new = match step == 2 && i + 1 < ctx.len() {
            true => Some(part_document(ctx.get_raw(i + 1))?),
            false => None,
        };
        edit(&mut doc, &legs, new.as_ref(), how);
    }
    Ok(text(&doc))
}
