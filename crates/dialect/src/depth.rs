//! How deep a statement nests, computed from its tokens before anything recurses over its tree.
//!
//! The parser, the rewriter, the printer and the destructor of the tree recurse, and a chain such as
//! `1+1+...` is a tree as deep as it is long. [`Meter`] bounds the depth, [`with_stack`] gives
//! what recurses the stack that such a depth needs.

use std::mem;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use tare_mysql::error::SqlError;

use crate::error::{Error, Result};
use crate::tokenize::operator_parts;

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

/// Measures a statement's tree: an upper bound of its depth.
pub struct Meter {
    frames: Vec<Frame>,
    /// The levels of the outer frames.
    around: usize,
    deepest: usize,
    named: usize,
    /// Operators that follow one another: NOT NOT ..., - - ...
    run: usize,
    is_after_as: bool,
    /// The name of a variable follows.
    is_after_at: bool,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            frames: vec![Frame::default()],
            around: 0,
            deepest: 0,
            named: 0,
            run: 0,
            is_after_as: false,
            is_after_at: false,
        }
    }
}

impl Meter {
    /// The depth up to here, in levels.
    pub fn levels(&self) -> usize {
        self.deepest
    }

    /// Measures the next token that sqlparser reads. Error 1436 when the depth is beyond [`MAX_LEVELS`], 1116 when a
    /// SELECT joins too many tables.
    pub fn add(&mut self, token: &Token) -> Result<()> {
        if matches!(token, Token::Whitespace(_)) {
            return Ok(());
        }
        let after_as = mem::replace(
            &mut self.is_after_as,
            matches!(token, Token::Word(w) if w.keyword == Keyword::AS),
        );
        let after_at = mem::replace(
            &mut self.is_after_at,
            matches!(token, Token::AtSign | Token::ArrowAt | Token::CaretAt),
        );
        let Some(frame) = self.frames.last_mut() else {
            return Err(Error::TooDeep);
        };
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                self.around += frame.chain + frame.sets + 1;
                self.frames.push(Frame::default());
                self.named += usize::from(after_as);
                if self.frames.len() > MAX_PARENTHESES || self.named > MAX_NAMED_QUERIES {
                    return Err(Error::TooDeep);
                }
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                // The parser refuses a closing parenthesis too many.
                if self.frames.len() > 1 {
                    self.frames.pop();
                    if let Some(outer) = self.frames.last() {
                        self.around -= outer.chain + outer.sets + 1;
                    }
                }
            }
            Token::Comma => frame.chain = 0,
            Token::Word(word) if word.quote_style.is_none() && !after_at => match word.keyword {
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
                Keyword::NoKeyword => self.run = 0,
                keyword if is_flat(keyword) => {}
                _ => {
                    frame.chain += 1;
                    self.run += 1;
                }
            },
            other if is_flat_token(other) => self.run = 0,
            operator => {
                // `!~~` is three operators of MySQL's.
                let operators = operator_parts(operator).map_or(1, |(parts, _)| parts.len());
                frame.chain += operators;
                self.run += operators;
            }
        }
        if self.run > MAX_PREFIX_OPERATORS {
            return Err(Error::TooDeep);
        }
        if let Some(frame) = self.frames.last() {
            let depth = self.around + frame.chain + frame.sets;
            if depth > MAX_LEVELS {
                return Err(Error::TooDeep);
            }
            self.deepest = self.deepest.max(depth);
        }
        Ok(())
    }
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
            | Token::AtSign
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Mode;
    use crate::read::read;

    fn levels(sql: &str) -> Result<usize> {
        read(sql, Mode::default()).map(|reading| reading.levels)
    }

    #[test]
    fn a_statement_that_is_too_deep_is_not_read_to_its_end() {
        let unterminated = format!("SELECT 1{} '", "+1".repeat(MAX_LEVELS + 1));
        assert_eq!(levels(&unterminated), Err(Error::TooDeep));
        let unterminated = format!("SELECT 1{} '", "+1".repeat(10));
        assert!(matches!(levels(&unterminated), Err(Error::Syntax(_))));
    }

    #[test]
    fn the_name_of_a_variable_is_no_level() {
        for name in ["a", "union", "not", "`join`", "'join'"] {
            let sum = format!("SELECT 1{}", format!("+@{name}").repeat(MAX_LEVELS));
            assert_eq!(levels(&sum), Ok(MAX_LEVELS), "{name}");
            let less = format!("SELECT 1{}", format!("<@{name}").repeat(MAX_LEVELS));
            assert_eq!(levels(&less), Ok(MAX_LEVELS), "{name}");
        }
    }

    #[test]
    fn each_operator_of_several_is_a_level() {
        assert_eq!(levels("SELECT !~~1"), Ok(3));
        let prefixes = format!("SELECT {}1", "~~".repeat(MAX_PREFIX_OPERATORS / 2 + 1));
        assert_eq!(levels(&prefixes), Err(Error::TooDeep));
    }
}
