//! JSON_SEARCH: the paths of texts.

use rusqlite::Result;
use serde_json::Value as Json;
use tare_mysql::collation;

use super::path::{Leg, legs, one_or_all};
use super::{document, quoted, text};
use crate::call::text as argument;
use crate::compare::escape;
use crate::prelude::*;

/// JSON_SEARCH(document, 'one' or 'all', pattern, escape, paths).
pub(super) fn search(ctx: &Call<'_>) -> Answer {
    let (Some(doc), Some(all), Some(pattern)) = (
        document(ctx, 0, "json_search")?,
        one_or_all(ctx, 1, "json_search")?,
        argument(ctx, 2),
    ) else {
        return Ok(Value::Null);
    };
    let has_escape = ctx.len() > 3 && argument(ctx, 3).is_some_and(|e| !e.is_empty());
    let escape = if has_escape {
        escape(ctx, 3)?
    } else {
        Some('\\')
    };
    let mut paths = Vec::new();
    for i in 4..ctx.len() {
        match legs(ctx, i)? {
            Some(legs) => paths.push(legs),
            None => return Ok(Value::Null),
        }
    }
    if paths.is_empty() {
        paths.push(Vec::new());
    }
    let mut search = Search {
        pattern: &pattern,
        escape,
        all,
        matches: Vec::new(),
    };
    for legs in &paths {
        search.at_path(&doc, legs, &mut "$".to_owned())?;
    }
    Ok(match search.matches.as_slice() {
        [] => Value::Null,
        [one] => quoted(one),
        many => text(&Json::Array(
            many.iter().cloned().map(Json::String).collect(),
        )),
    })
}

struct Search<'a> {
    pattern: &'a str,
    escape: Option<char>,
    /// All matches, not only the first one.
    all: bool,
    /// The paths of matches, each once.
    matches: Vec<String>,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        !self.all && !self.matches.is_empty()
    }

    /// Searches the values of a path's rest.
    fn at_path(&mut self, value: &Json, legs: &[Leg], path: &mut String) -> Result<()> {
        check_step()?;
        let Some((leg, rest)) = legs.split_first() else {
            return self.below(value, path);
        };
        if *leg == Leg::Deep {
            self.at_path(value, rest, path)?;
        }
        // A value that is no array counts as an array of itself.
        if matches!(leg, Leg::Index(0) | Leg::Last(0)) && !value.is_array() {
            return self.at_path(value, rest, path);
        }
        let legs = if *leg == Leg::Deep { legs } else { rest };
        self.members(value, path, |search, i, key, member, path| {
            let is_there = match (leg, key) {
                (Leg::Deep, _) | (Leg::AnyKey, Some(_)) | (Leg::AnyIndex, None) => true,
                (Leg::Key(wanted), Some(key)) => wanted == key,
                (Leg::Index(wanted), None) => *wanted == i,
                (Leg::Last(back), None) => value
                    .as_array()
                    .is_some_and(|all| i + back + 1 == all.len()),
                _ => false,
            };
            match is_there {
                true => search.at_path(member, legs, path),
                false => Ok(()),
            }
        })
    }

    /// Searches a value and all values in it.
    fn below(&mut self, value: &Json, path: &mut String) -> Result<()> {
        check_step()?;
        if let Json::String(text) = value {
            let is_match =
                collation::like_exactly(text, self.pattern, self.escape).map_err(raise)?;
            if is_match && !self.is_done() && !self.matches.contains(path) {
                self.matches.push(path.clone());
            }
            return Ok(());
        }
        self.members(value, path, |search, _, _, member, path| {
            search.below(member, path)
        })
    }

    /// Calls a function for each member of an array or an object, with its number or key and its path.
    fn members(
        &mut self,
        value: &Json,
        path: &mut String,
        mut visit: impl FnMut(&mut Self, usize, Option<&str>, &Json, &mut String) -> Result<()>,
    ) -> Result<()> {
        let length = path.len();
        match value {
            Json::Array(all) => {
                for (i, member) in all.iter().enumerate() {
                    if self.is_done() {
                        break;
                    }
                    path.push_str(&format!("[{i}]"));
                    visit(self, i, None, member, path)?;
                    path.truncate(length);
                }
            }
            Json::Object(all) => {
                let mut keys: Vec<&String> = all.keys().collect();
                keys.sort_unstable_by_key(|key| (key.len(), key.as_str()));
                for (i, key) in keys.into_iter().enumerate() {
                    if self.is_done() {
                        break;
                    }
                    path.push('.');
                    match is_plain(key) {
                        true => path.push_str(key),
                        false => path.push_str(&Json::String(key.clone()).to_string()),
                    }
                    visit(self, i, Some(key), &all[key], path)?;
                    path.truncate(length);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a key stands in a path without quotes.
fn is_plain(key: &str) -> bool {
    let mut chars = key.chars();
    let starts = chars
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$');
    starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
