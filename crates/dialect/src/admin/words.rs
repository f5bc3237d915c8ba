//! The next word of a statement, which is consumed if it is the expected one.

use crate::error::{Error, Result, at, near};
use sqlparser::ast::{Expr, Ident, ObjectName};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::read;

pub(crate) fn word(parser: &Parser<'_>) -> String {
    match &parser.peek_token().token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
        _ => String::new(),
    }
}

pub(crate) fn take(parser: &mut Parser<'_>, expected: &str) -> bool {
    let is_next = word(parser) == expected;
    if is_next {
        parser.next_token();
    }
    is_next
}

pub(crate) fn need(parser: &mut Parser<'_>, expected: &str) -> Result<()> {
    if take(parser, expected) {
        Ok(())
    } else {
        Err(at(&parser.peek_token()))
    }
}

pub(crate) fn any<'w>(parser: &mut Parser<'_>, words: &[&'w str]) -> Option<&'w str> {
    let next = word(parser);
    let hit = words.iter().find(|w| **w == next).copied();
    if hit.is_some() {
        parser.next_token();
    }
    hit
}

pub(crate) fn name(parser: &mut Parser<'_>) -> Result<ObjectName> {
    parser.parse_object_name(false).map_err(Error::from)
}

pub(crate) fn identifier(parser: &mut Parser<'_>) -> Result<Ident> {
    parser.parse_identifier().map_err(Error::from)
}

pub(crate) fn expr(parser: &mut Parser<'_>) -> Result<Expr> {
    read::with_interruption(parser.parse_expr())
}

pub(crate) fn text(parser: &mut Parser<'_>) -> Result<String> {
    match parser.next_token().token {
        Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => Ok(s),
        Token::Word(w) => Ok(w.value),
        other => Err(near(other)),
    }
}

/// A text in quotes: not a name without them.
pub(crate) fn quoted(parser: &mut Parser<'_>) -> Result<String> {
    match parser.peek_token().token {
        Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => text(parser),
        _ => Err(at(&parser.peek_token())),
    }
}
