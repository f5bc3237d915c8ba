//! MySQL's SQL, made into SQLite's.
//!
//! sqlparser reads a statement, [`rewrite`] changes its tree, and the tree's text is what SQLite
//! prepares. What SQLite has no statement for (SHOW, SET, KILL ...) is read by [`admin`].

pub mod admin;
pub mod blame;
pub mod call;
pub mod ddl;
pub mod function;
pub mod grammar;
mod join;
pub mod name;
pub mod names;
pub mod node;
pub mod plan;
pub mod rewrite;
pub mod schema;
pub mod scope;
pub mod split;
pub mod tokens;
pub mod translate;
pub mod types;

use self::grammar::Grammar;
use sqlparser::ast::Statement;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use tare_mysql::error::{Result, SqlError};

/// How a session's sql_mode has statements read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mode {
    /// ANSI_QUOTES: `"x"` is a name.
    pub ansi_quotes: bool,
    /// PIPES_AS_CONCAT: `||` joins texts.
    pub pipes_concat: bool,
    /// STRICT_TRANS_TABLES: a value that does not fit is an error.
    pub strict: bool,
    /// ONLY_FULL_GROUP_BY: a column beside aggregates is grouped by.
    pub full_group_by: bool,
    /// CLIENT_FOUND_ROWS: an UPDATE counts the rows that it finds, not those that it changes.
    pub found_rows: bool,
}

impl Mode {
    /// Out of the text of @@sql_mode.
    pub fn of(sql_mode: &str) -> Self {
        let has = |name: &str| sql_mode.split(',').any(|m| m.eq_ignore_ascii_case(name));
        let ansi = has("ANSI");
        Self {
            ansi_quotes: ansi || has("ANSI_QUOTES"),
            pipes_concat: ansi || has("PIPES_AS_CONCAT"),
            strict: ["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"]
                .into_iter()
                .any(has),
            full_group_by: ansi || has("ONLY_FULL_GROUP_BY"),
            found_rows: false,
        }
    }
}

/// A statement's tokens, ready to be parsed.
pub struct Reading {
    /// The parser.
    pub parser: Parser<'static>,
    /// Number of `?`.
    pub params: usize,
    /// SELECT ... INTO.
    pub into: tokens::Into,
}

/// A parser, with `?` numbered in the order of the text.
pub fn read(sql: &str, mode: Mode) -> Result<Reading> {
    let tokens: Vec<TokenWithSpan> = Tokenizer::new(&Grammar, sql)
        .tokenize_with_location()
        .map_err(SqlError::syntax)?;
    let (tokens, params, into) = tokens::prepare(tokens, mode).map_err(near)?;
    Ok(Reading {
        parser: Parser::new(&Grammar).with_tokens_with_locations(tokens),
        params,
        into,
    })
}

/// Reads one statement that sqlparser knows.
pub fn parse_one(sql: &str) -> Result<Statement> {
    let mut reading = read(sql, Mode::default())?;
    parse_statement(&mut reading.parser)
}

/// Reads one statement and nothing after it.
pub fn parse_statement(parser: &mut Parser<'_>) -> Result<Statement> {
    let statement = parser.parse_statement().map_err(SqlError::syntax)?;
    end(parser)?;
    Ok(statement)
}

/// Nothing but `;` may follow.
pub fn end(parser: &mut Parser<'_>) -> Result<()> {
    while parser.consume_token(&Token::SemiColon) {}
    let next = parser.peek_token();
    match next.token {
        Token::EOF => Ok(()),
        _ => Err(at(&next)),
    }
}

/// 1064 at a token.
pub fn near(token: impl std::fmt::Display) -> SqlError {
    SqlError::syntax(format!(
        "check the manual for the right syntax to use near '{token}'"
    ))
}

/// 1064 at a token whose place is known.
pub fn at(token: &TokenWithSpan) -> SqlError {
    SqlError::syntax(format!("found: {token}{}", token.span.start))
}

/// A syntax error in MySQL's words: what the statement says from the wrong place on.
pub fn located(error: SqlError, sql: &str) -> SqlError {
    if error.code != 1064 {
        return error;
    }
    let message = &error.message;
    let place = |text: &str| -> Option<usize> {
        let (_, place) = text.rsplit_once(" at Line: ")?;
        let (line, column) = place.split_once(", Column: ")?;
        let line: usize = line.trim().parse().ok()?;
        let column: usize = column.trim().parse().ok()?;
        Some(names::offset(sql, line, column))
    };
    let offset = place(message).or_else(|| {
        let (_, rest) = message.split_once(" near '")?;
        let token = rest.strip_suffix('\'').unwrap_or(rest);
        (!token.is_empty())
            .then(|| sql.to_lowercase().rfind(&token.to_lowercase()))
            .flatten()
            .filter(|&at| sql.is_char_boundary(at))
    });
    let offset = offset.unwrap_or(sql.len());
    let rest = sql[offset..].trim_start();
    let shown: String = rest.chars().take(80).collect();
    let line = sql[..offset].matches('\n').count() + 1;
    SqlError::new(
        1064,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '{shown}' at line {line}"
        ),
    )
}
