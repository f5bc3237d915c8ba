//! MySQL's SQL, made into SQLite's.
//!
//! sqlparser reads a statement, [`rewrite`] changes its tree, and the tree's text is what SQLite
//! prepares. What SQLite has no statement for (SHOW, SET, KILL ...) is read by [`admin`].

pub mod admin;
pub mod ddl;
pub mod function;
pub mod names;
pub mod plan;
pub mod rewrite;
pub mod split;
pub mod translate;

use sqlparser::ast::Statement;
use sqlparser::dialect::MySqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::server::error::{Result, SqlError};

static MYSQL: MySqlDialect = MySqlDialect {};

/// A parser and what it parses, with `?` numbered in the order of the text.
pub fn parser(sql: &str) -> Result<(Parser<'static>, usize)> {
    let mut tokens: Vec<TokenWithSpan> = Tokenizer::new(&MYSQL, sql)
        .tokenize_with_location()
        .map_err(SqlError::syntax)?;
    let mut params = 0;
    let mut after_operand = false;
    for token in &mut tokens {
        // sqlparser knows MOD as a function only; after an operand it is an operator.
        if after_operand
            && matches!(&token.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("MOD"))
        {
            token.token = Token::Mod;
        }
        match &token.token {
            Token::Whitespace(_) => {}
            Token::Number(..)
            | Token::RParen
            | Token::Placeholder(_)
            | Token::SingleQuotedString(_) => {
                after_operand = true;
            }
            Token::Word(w) => after_operand = w.keyword == Keyword::NoKeyword,
            _ => after_operand = false,
        }
        if let Token::Placeholder(name) = &mut token.token {
            if name != "?" {
                return Err(near(name));
            }
            params += 1;
            *name = format!("?{params}");
        }
    }
    Ok((
        Parser::new(&MYSQL).with_tokens_with_locations(tokens),
        params,
    ))
}

/// Reads one statement that sqlparser knows.
pub fn parse_one(sql: &str) -> Result<Statement> {
    let (mut parser, _) = parser(sql)?;
    parse_statement(&mut parser)
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
    match parser.peek_token().token {
        Token::EOF => Ok(()),
        other => Err(near(other)),
    }
}

/// 1064 at a token.
pub fn near(token: impl std::fmt::Display) -> SqlError {
    SqlError::syntax(format!(
        "check the manual for the right syntax to use near '{token}'"
    ))
}
