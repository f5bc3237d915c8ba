//! From a text to tokens.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use sqlparser::dialect::Dialect;
use sqlparser::tokenizer::{TokenWithSpan, Tokenizer, TokenizerError};
use tare_mysql::error::SqlError;
use tare_mysql::watch;

/// Why a text has no tokens.
#[derive(Debug)]
pub enum Unread {
    /// It is none that could be SQL.
    Text(TokenizerError),
    /// The statement must end.
    Ended(SqlError),
}

/// The tokens of a text.
pub fn tokenize(dialect: &dyn Dialect, sql: &str) -> Result<Vec<TokenWithSpan>, Unread> {
    /// What the tokenizer is left with: it has no other way out.
    struct Ended(SqlError);
    let mut tokens = Vec::new();
    let all = catch_unwind(AssertUnwindSafe(|| {
        Tokenizer::new(dialect, sql).tokenize_with_location_into_buf_with_mapper(
            &mut tokens,
            |token| match watch::pace() {
                Ok(()) => token,
                Err(error) => resume_unwind(Box::new(Ended(error))),
            },
        )
    }));
    match all {
        Ok(read) => read.map_err(Unread::Text)?,
        Err(panic) => match panic.downcast::<Ended>() {
            Ok(ended) => return Err(Unread::Ended(ended.0)),
            Err(other) => resume_unwind(other),
        },
    }
    Ok(tokens)
}
