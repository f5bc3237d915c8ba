//! From tokens to the text of a digest.
//!
//! Literals become `?`, and literals in a row fold as they are written, so that ten thousand rows of
//! an INSERT never take more room than one:
//!
//! | read | written |
//! |---|---|
//! | literal | `?` |
//! | sign, literal, where an expression starts | `?` |
//! | `?` , `?` | `?, ...` |
//! | ( `?` ) | `(?)` |
//! | ( `?, ...` ) | `(...)` |
//! | `(?)` , `(?)` and `(...)` , `(...)` | the row, then `/* , ... */` |
//! | IN `(?)` and IN `(...)` | `IN (...)` |
//!
//! Reading the result again gives the result again.

use super::keywords::{self, Keyword};
use super::positions::Positions;
use super::tokens::{Scanner, Token};

/// Whether the text covers the complete statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Complete,
    /// Only the tokens that fitted the limit. Statements that differ further on share the digest,
    /// as with MySQL's `max_digest_length`.
    Truncated,
}

/// Writes the normalised form of `sql` to `out` (cleared first), at most `limit` bytes of it.
///
/// The form is MySQL 8.0's: ``SELECT `c` FROM `sbtest1` WHERE `id` = ?``. Any bytes will do for
/// `sql`; `out` is UTF-8 where `sql` is. Nothing is allocated when `out` has room for `limit` bytes.
pub fn normalize(sql: &[u8], limit: usize, out: &mut Vec<u8>) -> Extent {
    normalize_by(Rules::default(), sql, limit, out)
}

/// The differences between servers. The default is MySQL 8.0's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The number of a column in GROUP BY and ORDER BY stays: MySQL from 9.7 on.
    pub retains_positions: bool,
}

/// The same by other rules.
pub fn normalize_by(rules: Rules, sql: &[u8], limit: usize, out: &mut Vec<u8>) -> Extent {
    out.clear();
    Writer::new(rules, limit, out).run(Scanner::new(sql))
}

/// The meaning of a written token for the tokens after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    /// Before the first token.
    Start,
    /// `?`
    Value,
    /// `?, ...`
    Values,
    /// `(?)`
    Row,
    /// `(...)`
    WideRow,
    /// `(?) /* , ... */`
    Rows,
    /// `(...) /* , ... */`
    WideRows,
    /// One or more of `+` and `-`.
    Sign,
    Comma,
    Open,
    At,
    Semicolon,
    HintOpen,
    Name,
    In,
    Other,
}

/// An expression follows the token: a sign after it is unary.
const STARTS_EXPRESSION: u8 = 1;
/// A NULL after the token is a value.
const TAKES_NULL: u8 = 2;

#[derive(Clone, Copy)]
struct Written {
    kind: TokenKind,
    flags: u8,
    /// Offset of the token, and the blank before it, in the output.
    start: usize,
    /// Offset of the second of several signs.
    second: usize,
}

const START: Written = Written {
    kind: TokenKind::Start,
    flags: 0,
    start: 0,
    second: 0,
};

/// Tokens remembered. A rule reads the last five and removes at most four.
const HISTORY: usize = 16;

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    limit: usize,
    history: [Written; HISTORY],
    written: usize,
    positions: Option<Positions>,
}

/// The next token does not fit.
struct Full;

impl<'o> Writer<'o> {
    fn new(rules: Rules, limit: usize, out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            limit,
            history: [START; HISTORY],
            written: 0,
            positions: rules.retains_positions.then(Positions::new),
        }
    }

    fn run(mut self, mut tokens: Scanner<'_>) -> Extent {
        while let Some(token) = tokens.next() {
            if self.token(token, &mut tokens).is_err() {
                return Extent::Truncated;
            }
        }
        if self.last(0).kind == TokenKind::Semicolon {
            self.take_back(1);
        }
        Extent::Complete
    }

    fn last(&self, back: usize) -> Written {
        if back < self.written {
            self.history[(self.written - 1 - back) % HISTORY]
        } else {
            START
        }
    }

    fn take_back(&mut self, tokens: usize) {
        self.out.truncate(self.last(tokens - 1).start);
        self.written -= tokens;
    }

    /// Checks that `length` bytes and the blank before them fit; writes the blank.
    #[inline]
    fn begin(
        &mut self,
        kind: TokenKind,
        flags: u8,
        length: usize,
        glued: bool,
    ) -> Result<(), Full> {
        let start = self.out.len();
        let blank = usize::from(!glued && start != 0 && self.last(0).kind != TokenKind::At);
        if blank + length > self.limit - start {
            return Err(Full);
        }
        if blank != 0 {
            self.out.push(b' ');
        }
        self.history[self.written % HISTORY] = Written {
            kind,
            flags,
            start,
            second: start,
        };
        self.written += 1;
        Ok(())
    }

    #[inline]
    fn put_text(&mut self, kind: TokenKind, flags: u8, text: &str) -> Result<(), Full> {
        self.begin(kind, flags, text.len(), false)?;
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    #[inline]
    fn put_byte(&mut self, kind: TokenKind, flags: u8, byte: u8, glued: bool) -> Result<(), Full> {
        self.begin(kind, flags, 1, glued)?;
        self.out.push(byte);
        Ok(())
    }

    fn token(&mut self, token: Token<'_>, tokens: &mut Scanner<'_>) -> Result<(), Full> {
        if let Some(positions) = &mut self.positions {
            let column = positions.column(token, tokens);
            positions.pass(token);
            if let Some(number) = column {
                return self.put_text(TokenKind::Other, 0, number);
            }
        }
        match token {
            Token::Word(word) => self.word(word, tokens),
            Token::Name(name) | Token::Quoted(name) => self.name(name),
            Token::Literal => self.value(),
            Token::Ellipsis => self.ellipsis(),
            Token::Introducer => self.put_text(TokenKind::Other, 0, "(_charset)"),
            Token::More => self.more(),
            Token::HintOpen => self.put_text(TokenKind::HintOpen, 0, "/*+"),
            Token::HintClose if self.last(0).kind == TokenKind::HintOpen => {
                self.take_back(1);
                Ok(())
            }
            Token::HintClose => {
                self.put_text(TokenKind::Other, STARTS_EXPRESSION | TAKES_NULL, "*/")
            }
            Token::Operator(text) => {
                let starts = matches!(
                    text,
                    "<<" | ">>" | "||" | "&&" | "<=" | ">=" | "!=" | "<>" | "<=>"
                );
                let flags = if starts {
                    STARTS_EXPRESSION | TAKES_NULL
                } else {
                    TAKES_NULL
                };
                self.put_text(TokenKind::Other, flags, text)
            }
            Token::Byte(byte) => self.byte(byte, tokens),
        }
    }

    fn name(&mut self, name: &[u8]) -> Result<(), Full> {
        self.begin(TokenKind::Name, 0, name.len() + 2, false)?;
        self.out.push(b'`');
        self.out.extend_from_slice(name);
        self.out.push(b'`');
        Ok(())
    }

    fn word(&mut self, word: &[u8], tokens: &mut Scanner<'_>) -> Result<(), Full> {
        let Some(Keyword { text, flags }) = keywords::find(word) else {
            return self.name(word);
        };
        let wanted = if tokens.in_hint() {
            keywords::HINT
        } else {
            keywords::ORDINARY
        };
        if flags & wanted == 0 || (flags & keywords::FUNCTION != 0 && !tokens.parenthesis_follows())
        {
            return self.name(word);
        }
        if flags & keywords::NULL != 0 && self.last(0).flags & TAKES_NULL != 0 {
            return self.value();
        }
        if flags & keywords::TAKES_HINT != 0 {
            tokens.allow_hint();
        }
        let kind = if flags & keywords::IN != 0 {
            TokenKind::In
        } else {
            TokenKind::Other
        };
        let mut written = 0;
        if flags & keywords::STARTS_EXPRESSION != 0 {
            written |= STARTS_EXPRESSION;
        }
        if flags & keywords::TAKES_NULL != 0 {
            written |= TAKES_NULL;
        }
        self.put_text(kind, written, text)
    }

    fn byte(&mut self, byte: u8, tokens: &Scanner<'_>) -> Result<(), Full> {
        let both = STARTS_EXPRESSION | TAKES_NULL;
        let (kind, flags) = match byte {
            b'+' | b'-' => return self.sign(byte),
            b')' => return self.close(),
            // A dotted name in a hint is written without dots.
            b'.' if tokens.in_hint() => return Ok(()),
            b'@' if tokens.in_hint() && tokens.follows_name_by(1) => {
                return self.put_byte(TokenKind::At, 0, byte, true);
            }
            b'@' => (TokenKind::At, 0),
            b'(' => (TokenKind::Open, both),
            b',' => (TokenKind::Comma, both),
            // An empty statement between two others is omitted.
            b';' if self.last(0).kind == TokenKind::Semicolon => return Ok(()),
            b';' => (TokenKind::Semicolon, 0),
            b'.' | b'}' => (TokenKind::Other, 0),
            b'*' | b'/' | b'%' | b'^' | b'|' | b'&' | b'=' | b'<' | b'>' => {
                (TokenKind::Other, both)
            }
            _ => (TokenKind::Other, TAKES_NULL),
        };
        self.put_byte(kind, flags, byte, false)
    }

    /// Adjacent signs are one entry, because a literal may remove any number of them.
    fn sign(&mut self, sign: u8) -> Result<(), Full> {
        let before = self.last(0);
        self.put_byte(TokenKind::Sign, STARTS_EXPRESSION | TAKES_NULL, sign, false)?;
        if before.kind == TokenKind::Sign {
            let second = if before.second > before.start {
                before.second
            } else {
                self.last(0).start
            };
            self.written -= 1;
            self.history[(self.written - 1) % HISTORY] = Written { second, ..before };
        }
        Ok(())
    }

    fn value(&mut self) -> Result<(), Full> {
        self.fold_sign();
        if self.value_and_comma_wait() {
            self.take_back(2);
            self.put_text(TokenKind::Values, 0, "?, ...")
        } else {
            self.put_text(TokenKind::Value, 0, "?")
        }
    }

    /// The first of several signs may be binary; all others are unary.
    fn fold_sign(&mut self) {
        let sign = self.last(0);
        if sign.kind != TokenKind::Sign {
            return;
        }
        if sign.second > sign.start {
            self.out.truncate(sign.second);
            self.history[(self.written - 1) % HISTORY].second = sign.start;
        }
        if self.last(1).flags & STARTS_EXPRESSION != 0 {
            self.take_back(1);
        }
    }

    fn value_and_comma_wait(&self) -> bool {
        self.last(0).kind == TokenKind::Comma
            && matches!(self.last(1).kind, TokenKind::Value | TokenKind::Values)
    }

    fn ellipsis(&mut self) -> Result<(), Full> {
        match self.last(0).kind {
            TokenKind::Open => self.put_text(TokenKind::Values, 0, "?, ..."),
            _ => self.value(),
        }
    }

    fn more(&mut self) -> Result<(), Full> {
        match self.last(0).kind {
            TokenKind::Row => self.rows(TokenKind::Rows),
            TokenKind::WideRow => self.rows(TokenKind::WideRows),
            _ => Ok(()),
        }
    }

    /// Replaces the last row.
    fn rows(&mut self, kind: TokenKind) -> Result<(), Full> {
        self.take_back(1);
        let row = if kind == TokenKind::Rows {
            "(?) /* , ... */"
        } else {
            "(...) /* , ... */"
        };
        self.put_text(kind, 0, row)
    }

    fn close(&mut self) -> Result<(), Full> {
        let (row, rows) = match self.last(0).kind {
            TokenKind::Value => (TokenKind::Row, TokenKind::Rows),
            TokenKind::Values => (TokenKind::WideRow, TokenKind::WideRows),
            _ => return self.put_text(TokenKind::Other, 0, ")"),
        };
        if self.last(1).kind != TokenKind::Open {
            return self.put_text(TokenKind::Other, 0, ")");
        }
        self.take_back(2);
        if self.last(0).kind == TokenKind::In {
            return self.put_text(TokenKind::Other, 0, "(...)");
        }
        let before = self.last(1).kind;
        if self.last(0).kind == TokenKind::Comma && (before == row || before == rows) {
            self.take_back(1);
            return self.rows(rows);
        }
        self.put_text(
            row,
            0,
            if row == TokenKind::Row {
                "(?)"
            } else {
                "(...)"
            },
        )
    }
}
