//! How deep a statement nests, known from its tokens: before anything recurses over its tree.
//!
//! The parser, the rewriter, the tree's text and its end all recurse, and a chain such as
//! `1+1+...` is a tree as deep as it is long. [`measure`] bounds the depth, [`with_stack`] gives
//! what recurses the stack that such a depth needs.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use tare_mysql::error::SqlError;

use crate::error::{Error, Result};

/// Levels of a statement at most: operators in a chain, and what stands around it. MySQL, whose
/// limit is its stack of 1 MiB, takes some thousands.
pub const MAX_LEVELS: usize = 20_000;
/// Parentheses in parentheses at most. The parser's time is quadratic in these.
pub const MAX_PARENTHESES: usize = 256;
/// Calls that the parser makes inside of one another: a subquery takes three or four.
pub const MAX_PARSER_CALLS: usize = 1200;
/// Levels of a tree that a plan keeps, and that ends on a stack of any size.
pub const MAX_RETAINED_LEVELS: usize = 200;
/// Operators in front of one operand at most: each is a call of the parser in a call.
const MAX_PREFIX_OPERATORS: usize = 1000;
/// Queries with a name (WITH) at most. SQLite recurses over those that use one another.
const MAX_NAMED_QUERIES: usize = 1000;
/// Levels of what SQLite stores: it reads a schema whenever it has changed. 550 bytes of stack each.
pub const MAX_STORED_LEVELS: usize = 4000;
/// Tables of a join at most; MySQL's limit.
pub const MAX_JOINED_TABLES: usize = 61;

/// Columns of a select list, an ORDER BY, a GROUP BY or an INSERT at most; MySQL's limit. Some of what is
/// done for each looks at all others.
pub const MAX_COLUMNS: usize = 4096;

/// Error 1117 where a list is longer than [`MAX_COLUMNS`].
pub fn check_column_count(columns: usize) -> Result<()> {
    match columns > MAX_COLUMNS {
        true => Err(SqlError::new(1117, "Too many columns").into()),
        false => Ok(()),
    }
}

/// Stack that a level takes at most, in bytes: measured with `1+1+...`, `1 OR 1 OR ...` and
/// `CASE WHEN ... END` in one another, and doubled.
const LEVEL_BYTES: usize = if cfg!(debug_assertions) {
    64 << 10
} else {
    16 << 10
};
/// Stack for everything else.
const BASE_BYTES: usize = 2 << 20;

/// What stands between two parentheses, up to the token at hand.
#[derive(Default)]
struct Frame {
    /// Tokens since the last comma that may put what stands before them one level deeper.
    chain: usize,
    /// UNION and its kin, which commas do not end.
    sets: usize,
    /// Tables that the present SELECT joins.
    joins: usize,
}

/// An upper bound of the depth of a statement's tree, in levels. Error 1436 when it is beyond
/// [`MAX_LEVELS`], 1116 when a SELECT joins too many tables.
pub fn measure(tokens: &[TokenWithSpan]) -> Result<usize> {
    let mut frames = vec![Frame::default()];
    // Of the frames around the innermost one.
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
                // One too many is for the parser to refuse.
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

/// Words that add no level: names, and what stands between expressions.
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

/// Runs what recurses over a tree of so many levels, on a stack of its own if this one is short.
pub fn with_stack<R>(levels: usize, run: impl FnOnce() -> R) -> R {
    let bytes = BASE_BYTES + levels * LEVEL_BYTES;
    stacker::maybe_grow(bytes, bytes + BASE_BYTES, run)
}
