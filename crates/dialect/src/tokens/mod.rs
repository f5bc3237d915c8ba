//! Replaces syntax of MySQL that sqlparser does not support, token by token, before it parses: `CURRENT_USER`,
//! `INTERVAL '1:30' MINUTE_SECOND`, `LOCK IN SHARE MODE` and the like.

mod clauses;
mod deprecated;
mod literals;
mod pass;
mod place;

use sqlparser::tokenizer::{Token, TokenWithSpan};

pub use self::clauses::{DuplicateRows, Into};
use self::clauses::{
    create_database, doubles, explain_format, first_words, into, modifiers, several_tables,
};
use self::literals::parameters;
use self::pass::Pass;
pub use self::place::COMPOSITE_UNITS;
use self::place::is;
use crate::deprecation::Deprecated;
use crate::error::Result;
use crate::mode::Mode;

/// A statement's tokens, as sqlparser reads them.
pub struct Prepared {
    /// The tokens without space and comments.
    pub tokens: Vec<TokenWithSpan>,
    /// Number of `?`.
    pub params: usize,
    /// SELECT ... INTO.
    pub into: Into,
    /// What is deprecated.
    pub deprecated: Vec<&'static Deprecated>,
}

/// Rewrites the tokens, and removes space and comments.
pub fn prepare(tokens: Vec<TokenWithSpan>, mode: Mode) -> Result<Prepared> {
    let mut tokens: Vec<TokenWithSpan> = tokens
        .into_iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .collect();
    let deprecated = deprecated::deprecated(&tokens, mode);
    let params = parameters(&mut tokens, mode)?;
    let mut into = into(&mut tokens);
    first_words(&mut tokens);
    if let Some(first) = tokens.first_mut().filter(|t| is(&t.token, "DO")) {
        first.token = Token::make_keyword("SELECT");
        into.nowhere = true;
    }
    explain_format(&mut tokens)?;
    modifiers(&mut tokens)?;
    let mut tokens = several_tables(tokens);
    create_database(&mut tokens)?;
    into.doubles = doubles(&mut tokens);
    Ok(Prepared {
        tokens: Pass::new(tokens).run(),
        params,
        into,
        deprecated,
    })
}
