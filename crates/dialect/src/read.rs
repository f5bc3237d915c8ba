//! From a text to sqlparser's tree.

use sqlparser::ast::{Query, Statement};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use tare_mysql::interrupt;

use crate::deprecation::Deprecated;
use crate::depth::{self, Meter};
use crate::error::{Result, at};
use crate::grammar::Grammar;
use crate::mode::Mode;
use crate::tokenize::tokenize;
use crate::tokens;

/// A statement's tokens, ready to be parsed.
pub struct Reading {
    /// The parser.
    pub parser: Parser<'static>,
    /// Number of `?`.
    pub params: usize,
    /// SELECT ... INTO.
    pub into: tokens::Into,
    /// What is deprecated.
    pub deprecated: Vec<&'static Deprecated>,
    /// How deep the statement's tree is at most, in levels.
    pub levels: usize,
}

/// A parser, with `?` numbered in the order of the text.
pub fn read(sql: &str, mode: Mode) -> Result<Reading> {
    let mut meter = Meter::default();
    let tokens = tokenize(&Grammar, sql, &mut |token| meter.add(token))?;
    let prepared = tokens::prepare(tokens, mode)?;
    Ok(Reading {
        parser: Parser::new(&Grammar)
            .with_recursion_limit(depth::MAX_PARSER_CALLS)
            .with_tokens_with_locations(prepared.tokens),
        params: prepared.params,
        into: prepared.into,
        deprecated: prepared.deprecated,
        levels: meter.levels(),
    })
}

/// Reads one statement that sqlparser can parse.
pub fn parse_one(sql: &str) -> Result<Statement> {
    let mut reading = read(sql, Mode::default())?;
    parse_statement(&mut reading.parser)
}

/// Reads the query of a view; `None` if it is none.
pub fn parse_query(text: &str) -> Option<Query> {
    let reading = read(text, Mode::default()).ok()?;
    depth::with_stack(reading.levels, || {
        let mut parser = reading.parser;
        match parse_statement(&mut parser).ok()? {
            Statement::Query(query) => Some(*query),
            _ => None,
        }
    })
}

/// Reads one statement and nothing after it.
pub fn parse_statement(parser: &mut Parser<'_>) -> Result<Statement> {
    let statement = with_interruption(parser.parse_statement())?;
    expect_end(parser)?;
    Ok(statement)
}

/// The parser's result, with the error of the interruption if the statement must end.
pub fn with_interruption<T>(result: Result<T, ParserError>) -> Result<T> {
    match result {
        Ok(read) => Ok(read),
        Err(error) => {
            interrupt::check()?;
            Err(error.into())
        }
    }
}

/// Nothing but `;` may follow.
pub fn expect_end(parser: &mut Parser<'_>) -> Result<()> {
    while parser.consume_token(&Token::SemiColon) {}
    let next = parser.peek_token();
    match next.token {
        Token::EOF => Ok(()),
        _ => Err(at(&next)),
    }
}
