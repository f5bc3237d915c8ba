//! Translates a statement's text into a plan.

mod alter;
mod define;
mod maintain;
mod program;
mod statement;

use crate::error::{Error, Place, Result, near};
use sqlparser::ast::{Expr, SelectItem};

use tare_mysql::series::Series;

use self::maintain::maintenance;
use self::statement::Translation;
use crate::mode::Mode;
use crate::node::query;
use crate::plan::{Action, Command, Plan, Sql};
use crate::read::{Reading, parse_statement, read};
use crate::rewrite::Rewriter;
use crate::schema::Schema;
use crate::{absent, admin};
use crate::{depth, hint, split};

/// Reads a statement and rewrites it.
pub fn translate(
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    generation: u64,
    mode: Mode,
) -> Result<Plan> {
    plan(text, database, schema, generation, mode).map_err(|error| explained(error, text))
}

/// A syntax error with its place; of a statement that MySQL has and this server has not, what is missing.
fn explained(error: Error, text: &str) -> Error {
    let missing = match &error {
        Error::Syntax(_) | Error::Unsupported(_) => absent::statement(text),
        _ => None,
    };
    match missing {
        Some(statement) => Error::unsupported(statement),
        None => located(error, text),
    }
}

/// A syntax error with its place: behind the first words, if MySQL has statements that begin with them.
fn located(error: Error, text: &str) -> Error {
    match error.located_in(text) {
        Error::Syntax(place) if place.is_beginning_of(text) => {
            let rest = absent::behind_first_words(text);
            Error::Syntax(rest.map_or(place, |rest| {
                Place::from_offset(text, text.len() - rest.len())
            }))
        }
        error => error,
    }
}

/// Checks that a text is a statement, without looking up its names.
pub fn check_syntax(text: &str, sql_mode: &str, series: Series) -> Result<()> {
    let mut mode = Mode::of(sql_mode);
    mode.series = series;
    let check = || {
        let opened = split::open_comments(text, mode.series);
        let text = opened.as_deref().unwrap_or(text);
        if split::is_blank(text) {
            return Err(Error::Empty);
        }
        let Reading {
            mut parser,
            params,
            levels,
            ..
        } = read(text, mode)?;
        if params > 0 {
            return Err(near("?"));
        }
        depth::with_stack(levels, || {
            if admin::parse(&mut parser, series)?.is_none()
                && maintenance(&mut parser, Some(""))?.is_none()
                && alter::parse(&mut parser)?.is_none()
                && program::parse(&mut parser)?.is_none()
            {
                parse_statement(&mut parser)?;
            }
            Ok(())
        })
    };
    match check().map_err(|error| explained(error, text)) {
        // MySQL can parse it.
        Err(Error::Unsupported(_)) => Ok(()),
        result => result,
    }
}

fn plan(
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    generation: u64,
    mode: Mode,
) -> Result<Plan> {
    let opened = split::open_comments(text, mode.series);
    let written = text;
    let text = opened.as_deref().unwrap_or(text);
    if split::is_blank(text) {
        return empty(written, generation);
    }
    let reading = read(text, mode)?;
    depth::with_stack(reading.levels, || {
        let levels = reading.levels;
        let plan = read_plan(reading, text, database, schema, generation, mode)?;
        // The plan's tree may be dropped on a small stack, and SQLite parses a stored statement on one.
        let too_deep = levels > depth::MAX_RETAINED_LEVELS && plan.action.retains_tree()
            || levels > depth::MAX_STORED_LEVELS && plan.action.is_stored();
        match too_deep {
            true => Err(Error::TooDeep),
            false => Ok(plan),
        }
    })
}

/// A statement without words: an empty one is an error, and a comment does nothing.
fn empty(written: &str, generation: u64) -> Result<Plan> {
    let nothing = |c: char| c.is_whitespace() || c == ';';
    match written.trim_matches(nothing).is_empty() {
        true => Err(Error::Empty),
        false => Ok(Plan {
            action: Action::Empty,
            params: 0,
            command: Command::of(&Action::Empty),
            generation,
            at_most: None,
            deprecated: Vec::new(),
        }),
    }
}

/// A statement's plan, from its tokens.
fn read_plan(
    reading: Reading,
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    generation: u64,
    mode: Mode,
) -> Result<Plan> {
    let Reading {
        mut parser,
        params,
        into,
        deprecated,
        ..
    } = reading;
    if into.file {
        return Err(Error::NoFiles);
    }
    let plan = move |action, command| Plan {
        action,
        params,
        command,
        generation,
        at_most: hint::max_execution_time(text),
        deprecated,
    };
    if let Some(action) = admin::parse(&mut parser, mode.series)? {
        let command = Command::of(&action);
        return Ok(plan(action, command));
    }
    let action = match maintenance(&mut parser, database)? {
        Some(action) => action,
        None => {
            let mut translation = Translation {
                text,
                database,
                schema,
                mode,
                doubles: into.doubles,
            };
            match alter::parse(&mut parser)? {
                Some((name, operations)) => translation.alter(&name, operations)?,
                None => match program::parse(&mut parser)? {
                    Some(ddl) => Action::Ddl(Box::new(ddl)),
                    None => translation.named(parse_statement(&mut parser)?)?,
                },
            }
        }
    };
    let command = Command::of(&action);
    let action = match action {
        Action::Rows(sql) if into.nowhere => return Ok(plan(Action::Do(sql), Command::Do)),
        Action::Rows(sql) if !into.variables.is_empty() => Action::Into(sql, into.variables),
        other => other,
    };
    Ok(plan(action, command))
}

/// Translates an expression of SET or KILL.
pub fn expression(
    expr: Expr,
    database: Option<&str>,
    mode: Mode,
    schema: &mut dyn Schema,
) -> Result<Sql> {
    let text = format!("SELECT {expr}");
    let query = query::query(query::select(vec![SelectItem::UnnamedExpr(expr)]));
    Rewriter::new(database, schema, mode).query(query, &text)
}

/// SQLite's text for the condition of a SHOW, over the columns of its rows.
pub fn condition(expr: Expr, schema: &mut dyn Schema) -> Result<String> {
    let expr = Rewriter::new(None, schema, Mode::default()).expression(expr)?;
    Ok(expr.to_string())
}
