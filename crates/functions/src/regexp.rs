//! Regular expressions: REGEXP, and the REGEXP_ functions.

use regex::{Captures, Regex, RegexBuilder};
use rusqlite::Result;

use crate::prelude::*;
use crate::text_builder::TextBuilder;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("regexp_instr", 2, 6, Int, |ctx| {
        let (Some(value), Some(re)) = (text(ctx, 0), compiled(ctx, 1, Some(5))?) else {
            return Ok(Value::Null);
        };
        let (Some(at), Some(nth), Some(behind)) = (
            number_or(ctx, 2, 1),
            number_or(ctx, 3, 1),
            number_or(ctx, 4, 0),
        ) else {
            return Ok(Value::Null);
        };
        if !(0..=1).contains(&behind) {
            let message = "Incorrect arguments to regexp_instr: return_option must be 1 or 0.";
            return Err(wrong(1210, message));
        }
        if at < 1 || at > value.chars().count() as i64 {
            return Err(out_of_bounds());
        }
        let behind = behind == 1;
        let place = tail(&value, at).and_then(|(rest, before)| {
            let m = re.find_iter(rest).nth(nth.max(1) as usize - 1)?;
            let end = if behind { m.end() } else { m.start() };
            Some(before + rest[..end].chars().count() as i64 + 1)
        });
        Ok(Value::Integer(place.unwrap_or(0)))
    }),
    hidden("regexp_like", 2, 3, Int, "tare_regexp", |ctx| {
        let Some(value) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        if ctx.len() > 2 && matches!(ctx.get_raw(2), ValueRef::Null) {
            return Ok(Value::Null);
        }
        Ok(compiled(ctx, 1, Some(2))?
            .map_or(Value::Null, |re| Value::Integer(re.is_match(&value).into())))
    }),
    own("regexp_replace", 3, 6, Text, |ctx| {
        let (Some(value), Some(re), Some(new)) =
            (text(ctx, 0), compiled(ctx, 1, Some(5))?, text(ctx, 2))
        else {
            return Ok(Value::Null);
        };
        let (Some(at), Some(nth)) = (number_or(ctx, 3, 1), number_or(ctx, 4, 0)) else {
            return Ok(Value::Null);
        };
        let nth = if nth < 0 { 1 } else { nth };
        check_position(at, "regexp_replace")?;
        let Some((rest, _)) = tail(&value, at) else {
            return Err(out_of_bounds());
        };
        let head = &value[..value.len() - rest.len()];
        let mut builder = TextBuilder::default();
        builder.push(head);
        let mut done = 0;
        for (i, groups) in (1..).zip(re.captures_iter(rest)) {
            check_step()?;
            // 0 is all matches.
            if i < nth {
                continue;
            }
            let all = groups.get_match();
            builder.push(&rest[done..all.start()]);
            done = all.end();
            if !push_replacement(&mut builder, &groups, &new)? || i == nth {
                break;
            }
        }
        builder.push(&rest[done..]);
        Ok(builder.into_value())
    }),
    own("regexp_substr", 2, 5, Text, |ctx| {
        let (Some(value), Some(re)) = (text(ctx, 0), compiled(ctx, 1, Some(4))?) else {
            return Ok(Value::Null);
        };
        let (Some(at), Some(nth)) = (number_or(ctx, 2, 1), number_or(ctx, 3, 1)) else {
            return Ok(Value::Null);
        };
        check_position(at, "regexp_substr")?;
        let Some((rest, _)) = tail(&value, at) else {
            return Err(out_of_bounds());
        };
        let part = re.find_iter(rest).nth(nth.max(1) as usize - 1);
        opt(part.map(|m| m.as_str().to_owned()))
    }),
];

/// Appends a replacement. `$1` is a group, as in MySQL; a name after `$` is no group there. False: the text
/// is too long.
fn push_replacement(builder: &mut TextBuilder, groups: &Captures<'_>, new: &str) -> Result<bool> {
    let mut expanded = String::new();
    let mut rest = new;
    while !rest.is_empty() {
        check_step()?;
        // A piece has one group at most: it is expanded to little more than the text and itself.
        let from = if rest.starts_with('$') { 2 } else { 0 };
        let next = rest.bytes().skip(from).position(|b| b == b'$');
        let (piece, behind) = rest.split_at(next.map_or(rest.len(), |at| from + at));
        let fits = if piece.starts_with('$') {
            expanded.clear();
            groups.expand(piece, &mut expanded);
            builder.push(&expanded)
        } else {
            builder.push(piece)
        };
        if !fits {
            return Ok(false);
        }
        rest = behind;
    }
    Ok(true)
}

/// A text's bytes at most: a search cannot be ended, and takes up to 25 ns for each.
const MAX_SUBJECT_BYTES: usize = 4 << 20;

/// A pattern's bytes at most: what it is compiled to takes a time that grows with their square, and
/// nothing can end that.
const MAX_PATTERN_BYTES: usize = 8 << 10;

fn wrong(code: u16, message: &str) -> rusqlite::Error {
    raise(SqlError::new(code, message))
}

/// Compiles once per statement where the pattern is a constant.
fn compiled(
    ctx: &Call<'_>,
    i: usize,
    options: Option<usize>,
) -> Result<Option<std::sync::Arc<Regex>>> {
    if matches!(ctx.get_raw(0), ValueRef::Text(t) | ValueRef::Blob(t) if t.len() > MAX_SUBJECT_BYTES)
    {
        return Err(wrong(3699, "Timeout exceeded in regular expression match."));
    }
    let Some(pattern) = text(ctx, i) else {
        return Ok(None);
    };
    if (0..=i).any(|i| matches!(ctx.get_raw(i), ValueRef::Blob(_))) {
        return Err(wrong(
            3995,
            "Character set 'binary' cannot be used in conjunction with 'utf8mb4_general_ci' in call to regexp_like.",
        ));
    }
    if pattern.is_empty() {
        return Err(wrong(3685, "Illegal argument to a regular expression."));
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(wrong(
            3700,
            "The regular expression pattern exceeds limits on size or complexity.",
        ));
    }
    let options = options
        .filter(|o| *o < ctx.len())
        .and_then(|o| text(ctx, o));
    let regex = ctx.get_or_create_aux(i as i32, |_| -> std::result::Result<_, rusqlite::Error> {
        build(&pattern, options.as_deref().unwrap_or(""))
    });
    Ok(Some(regex.map_err(as_raised)?))
}

/// rusqlite wraps what building gave: the error's code is its ticket.
fn as_raised(error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::UserFunctionError(inner) => match inner.downcast::<rusqlite::Error>() {
            Ok(raised) => *raised,
            Err(other) => rusqlite::Error::UserFunctionError(other),
        },
        other => other,
    }
}

fn build(pattern: &str, options: &str) -> Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(true).size_limit(1 << 20);
    for option in options.chars() {
        match option {
            'c' => builder.case_insensitive(false),
            'i' => builder.case_insensitive(true),
            'm' => builder.multi_line(true),
            'n' => builder.dot_matches_new_line(true),
            'u' => &mut builder,
            _ => return Err(wrong(1210, "Incorrect arguments to regexp_like")),
        };
    }
    builder.build().map_err(|e| {
        let detail = e.to_string();
        let detail = detail.lines().last().unwrap_or_default().to_owned();
        // Before the last line comes the pattern; the parser's kinds of errors are not public.
        match detail.as_str() {
            d if d.contains("unclosed group") || d.contains("unopened group") => {
                wrong(3691, "Mismatched parenthesis in regular expression.")
            }
            d if d.contains("unclosed character class") => wrong(
                3696,
                "The regular expression contains an unclosed bracket expression.",
            ),
            d if d.contains("repetition operator missing expression") => {
                wrong(3688, "Syntax error in regular expression.")
            }
            _ => wrong(1139, &format!("Got error '{detail}' from regexp")),
        }
    })
}

/// The text from a position on, and how many characters stand before.
fn tail(s: &str, position: i64) -> Option<(&str, i64)> {
    let skip = usize::try_from(position.checked_sub(1)?).ok()?;
    match s.char_indices().nth(skip) {
        Some((i, _)) => Some((&s[i..], position - 1)),
        None if skip == s.chars().count() => Some(("", position - 1)),
        None => None,
    }
}

/// A number that may be left out, of 32 bits; `None` for NULL.
fn number_or(ctx: &Call<'_>, i: usize, otherwise: i64) -> Option<i64> {
    match i < ctx.len() {
        true => int(ctx, i).map(|n| i64::from(n as i32)),
        false => Some(otherwise),
    }
}

/// 1583 for a position before the first character.
fn check_position(at: i64, function: &str) -> Result<()> {
    match at < 1 {
        true => Err(wrong(
            1583,
            &format!("Incorrect parameters in the call to native function '{function}'"),
        )),
        false => Ok(()),
    }
}

fn out_of_bounds() -> rusqlite::Error {
    wrong(3686, "Index out of bounds in regular expression search.")
}
