//! How deep a statement nests, computed from its tokens before anything recurses over its tree.
//!
//! The parser, the rewriter, the printer and the destructor of the tree recurse, and a chain such as
//! `1+1+...` is a tree as deep as it is long. [`measure`] bounds the depth, [`with_stack`] gives
//! what recurses the stack that such a depth needs.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use tare_mysql::error::SqlError;

use crate::error::{Error, Result};

/// Levels of a statement: operators in a chain, and the levels around it. MySQL, whose
/// limit is its stack of 1 MiB, takes some thousands.
pub const MAX_LEVELS: usize = 20_000;
/// Nested parentheses. The parser's time is quadratic in these.
pub const MAX_PARENTHESES: usize = 256;
/// Nested calls of the parser: a subquery takes three or four.
pub const MAX_PARSER_CALLS: usize = 1200;
/// Levels of a tree that a plan retains: it may be dropped on a small stack.
pub const MAX_RETAINED_LEVELS: usize = 200;
/// Prefix operators of one operand: each is a nested call of the parser.
const MAX_PREFIX_OPERATORS: usize = 1000;
/// Named queries (WITH). SQLite recurses over those that use one another.
const MAX_NAMED_QUERIES: usize = 1000;
/// Levels of a statement that SQLite stores and parses whenever a schema changes: 550 bytes of stack each.
pub const MAX_STORED_LEVELS: usize = 4000;
/// Tables of a join: MySQL's limit.
pub const MAX_JOINED_TABLES: usize = 61;

/// Columns of a select list, an ORDER BY, a GROUP BY or an INSERT: MySQL's limit. Some checks compare each
/// column with all others.
pub const MAX_COLUMNS: usize = 4096;

/// Error 1117 if a list is longer than [`MAX_COLUMNS`].
pub fn check_column_count(columns: usize) -> Result<()> {
    match columns > MAX_COLUMNS {
        true => Err(SqlError::new(1117, "Too many columns").into()),
        false => Ok(()),
    }
}

/// The most stack that a level takes, in bytes: measured with `1+1+...`, `1 OR 1 OR ...` and
/// nested `CASE WHEN ... END`, and doubled.
const LEVEL_BYTES: usize = if cfg!(debug_assertions) {
    64 << 10
} else {
    16 << 10
};
/// Stack for everything else.
const BASE_BYTES: usize = 2 << 20;

/// The tokens since an opening parenthesis, up to the current one.
#[derive(Default)]
struct Frame {
    /// Tokens since the last comma, each of which may add a level.
    chain: usize,
    /// UNION and its kin, which commas do not end.
    sets: usize,
    /// Tables that the current SELECT joins.
    joins: usize,
}

/// An upper bound of the depth of a statement's tree, in levels. Error 1436 when it is beyond
/// [`MAX_LEVELS`], 1116 when a SELECT joins too many tables.
pub fn measure(tokens: &[TokenWithSpan]) -> Result<usize> {
    let mut frames = vec![Frame::default()];
    // The levels of the outer frames.
    let mut around = 0;
    let mut deepest = 0;
    let mut named = 0;
    // Operators that follow one another: NOT NOT ..., - - ...
    let mut run = 0;
    let mut before = &Token::EOF;
    for token in tokens {
        if matches!(token.token, Token::Whitespace(_)) {
            continue;
        }
        let after_as = matches!(before, Token::Word(w) if w.keyword == Keyword::AS);
        before = &token.token;
        let Some(frame) = frames.last_mut() else {
            return Err(Error::TooDeep);
        };
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                around += frame.chain + frame.sets + 1;
                frames.push(Frame::default());
                named += usize::from(after_as);
                if frames.len() > MAX_PARENTHESES || named > MAX_NAMED_QUERIES {
                    return Err(Error::TooDeep);
                }
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                // The parser refuses a closing parenthesis too many.
                if frames.len() > 1 {
                    frames.pop();
                    if let Some(outer) = frames.last() {
                        around -= outer.chain + outer.sets + 1;
                    }
                }
            }
            Token::Comma => frame.chain = 0,
            Token::Word(word) if word.quote_style.is_none() => match word.keyword {
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                    frame.sets += 1;
                    frame.chain = 0;
                    frame.joins = 0;
                }
                Keyword::SELECT | Keyword::WHERE => frame.joins = 0,
                Keyword::JOIN | Keyword::STRAIGHT_JOIN => {
                    frame.joins += 1;
                    if frame.joins >= MAX_JOINED_TABLES {
                        return Err(Error::TooManyTables);
                    }
                }
                Keyword::NoKeyword => run = 0,
                keyword if is_flat(keyword) => {}
                _ => {
                    frame.chain += 1;
                    run += 1;
                }
            },
            other if is_flat_token(other) => run = 0,
            _ => {
                frame.chain += 1;
                run += 1;
            }
        }
        if run > MAX_PREFIX_OPERATORS {
            return Err(Error::TooDeep);
        }
        if let Some(frame) = frames.last() {
            let depth = around + frame.chain + frame.sets;
            if depth > MAX_LEVELS {
                return Err(Error::TooDeep);
            }
            deepest = deepest.max(depth);
        }
    }
    Ok(deepest)
}

/// Words that add no level: names, and words between expressions.
fn is_flat(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::ALL
            | Keyword::DISTINCT
            | Keyword::FROM
            | Keyword::AS
            | Keyword::ON
            | Keyword::WHEN
            | Keyword::THEN
            | Keyword::ELSE
            | Keyword::END
            | Keyword::NULL
            | Keyword::TRUE
            | Keyword::FALSE
            | Keyword::VALUES
    )
}

fn is_flat_token(token: &Token) -> bool {
    matches!(
        token,
        Token::EOF
            | Token::Whitespace(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::Placeholder(_)
            | Token::Word(_)
            | Token::Period
            | Token::SemiColon
    )
}

/// Runs code that recurses over a tree of so many levels, on a new stack if this one is too small.
pub fn with_stack<R>(levels: usize, run: impl FnOnce() -> R) -> R {
    let bytes = BASE_BYTES + levels * LEVEL_BYTES;
    stacker::maybe_grow(bytes, bytes + BASE_BYTES, run)
}
