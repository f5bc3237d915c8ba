//! Texts of megabytes in a statement. sqlparser reads a text character by character and looks up at its end: at
//! 30 MB that takes it a third of a second, in which nobody can end the statement. So such texts are read
//! here, in steps, and sqlparser is given short ones in their places.

use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};
use tare_mysql::error::Result;
use tare_mysql::watch;

/// Bytes of a text that is long. A small one in tests, so that all of them come by here.
const LONG: usize = if cfg!(test) { 3 } else { 64 << 10 };

/// Bytes between two looks whether the statement goes on.
const STEP: usize = 64 << 10;

/// What a short text begins with; its number follows.
const MARK: &str = "\u{1}text ";

/// A statement with short texts in the place of long ones.
#[derive(Debug)]
pub(crate) struct Shortened {
    pub(crate) sql: String,
    cuts: Vec<Cut>,
    /// Texts that have been put back.
    given: usize,
}

/// A long text.
#[derive(Debug)]
struct Cut {
    text: String,
    /// Where it ends, in the short statement and in the one that came.
    short: Location,
    came: Location,
}

/// Where the first byte of a kind is, from a place on; the end, where there is none.
fn find(bytes: &[u8], from: usize, is: fn(u8) -> bool) -> Result<usize> {
    let mut at = from;
    for step in bytes[from..].chunks(STEP) {
        match step.iter().position(|b| is(*b)) {
            Some(found) => return Ok(at + found),
            None => at += step.len(),
        }
        watch::pace_by(step.len())?;
    }
    Ok(at)
}

/// The place behind some text that begins at another.
fn behind(from: Location, text: &str) -> Location {
    let lines = text.bytes().filter(|b| *b == b'\n').count() as u64;
    let last = text.rsplit('\n').next().unwrap_or(text);
    let columns = last.chars().count() as u64;
    match lines {
        0 => Location::new(from.line, from.column + columns),
        lines => Location::new(from.line + lines, columns + 1),
    }
}

/// A text that begins behind its opening quote: what it says, and where it ends, behind its closing one.
/// `None` where it does not end.
fn text(sql: &str, from: usize, quote: u8) -> Result<Option<(String, usize)>> {
    let bytes = sql.as_bytes();
    let is: fn(u8) -> bool = match quote {
        b'\'' => |b| matches!(b, b'\'' | b'\\'),
        _ => |b| matches!(b, b'"' | b'\\'),
    };
    let (mut text, mut at, mut steps) = (String::new(), from, 0);
    loop {
        let end = find(bytes, at, is)?;
        text.push_str(&sql[at..end]);
        steps += 1;
        if steps % 1024 == 0 {
            watch::look()?;
        }
        let Some(byte) = bytes.get(end) else {
            return Ok(None);
        };
        let mut rest = sql[end + 1..].chars();
        match rest.next() {
            Some(c) if *byte == b'\\' => {
                // A pattern's stay for LIKE.
                if matches!(c, '%' | '_') {
                    text.push('\\');
                }
                text.push(match c {
                    '0' => '\0',
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'Z' => '\u{1a}',
                    other => other,
                });
            }
            None if *byte == b'\\' => return Ok(None),
            Some(c) if c == char::from(quote) => text.push(c),
            _ => return Ok(Some((text, end + 1))),
        }
        at = sql.len() - rest.as_str().len();
    }
}

/// Behind a comment or a quoted name that begins here; `None` where there is none, or no end of it.
fn passed(bytes: &[u8], at: usize) -> Result<Option<usize>> {
    let line = |from| find(bytes, from, |b| b == b'\n').map(Some);
    match &bytes[at..] {
        [b'#', ..] => line(at),
        [b'-', b'-', space, ..] if space.is_ascii_whitespace() => line(at),
        [b'/', b'*', ..] => {
            let mut from = at + 2;
            loop {
                let star = find(bytes, from, |b| b == b'*')?;
                match bytes.get(star + 1) {
                    Some(b'/') => return Ok(Some(star + 2)),
                    Some(_) => from = star + 1,
                    None => return Ok(None),
                }
            }
        }
        [b'`', ..] => {
            let end = find(bytes, at + 1, |b| b == b'`')?;
            Ok((end < bytes.len()).then_some(end + 1))
        }
        _ => Ok(None),
    }
}

impl Shortened {
    /// Reads a statement's long texts; `None` where it has none, or is none that could be read.
    ///
    /// # Errors
    /// The statement must end.
    pub(crate) fn of(sql: &str) -> Result<Option<Self>> {
        if sql.len() <= LONG {
            return Ok(None);
        }
        let bytes = sql.as_bytes();
        let mut short = String::new();
        let mut cuts = Vec::new();
        // What has been copied, and the places that it ends at.
        let (mut copied, mut places) = (0, [Location::new(1, 1); 2]);
        let mut at = 0;
        loop {
            at = find(bytes, at, |b| {
                matches!(b, b'\'' | b'"' | b'`' | b'#' | b'-' | b'/')
            })?;
            let quote = match bytes.get(at) {
                None => break,
                Some(quote @ (b'\'' | b'"')) => *quote,
                // sqlparser counts the places within what MySQL executes in a way of its own.
                Some(_) if bytes[at..].starts_with(b"/*!") => return Ok(None),
                Some(_) => {
                    at = passed(bytes, at)?.unwrap_or(at + 1);
                    continue;
                }
            };
            let Some((text, end)) = text(sql, at + 1, quote)? else {
                return Ok(None);
            };
            if end - at > LONG {
                let before = &sql[copied..at];
                let quote = char::from(quote);
                let mark = format!("{quote}{MARK}{}{quote}", cuts.len());
                let [in_short, in_sql] = places.map(|place| behind(place, before));
                short.push_str(before);
                short.push_str(&mark);
                places = [behind(in_short, &mark), behind(in_sql, &sql[at..end])];
                cuts.push(Cut {
                    text,
                    short: places[0],
                    came: places[1],
                });
                copied = end;
            }
            at = end;
        }
        short.push_str(&sql[copied..]);
        Ok((!cuts.is_empty()).then_some(Self {
            sql: short,
            cuts,
            given: 0,
        }))
    }

    /// Where a place of the short statement is in the one that came.
    pub(crate) fn place(&self, at: Location) -> Location {
        let behind = |cut: &Cut| (cut.short.line, cut.short.column) <= (at.line, at.column);
        match &self.cuts[..self.cuts.partition_point(behind)] {
            [.., Cut { short, came, .. }] if short.line == at.line => {
                Location::new(came.line, came.column + at.column - short.column)
            }
            [.., Cut { short, came, .. }] => {
                Location::new(came.line + at.line - short.line, at.column)
            }
            [] => at,
        }
    }

    /// A token with its long text and its own place.
    pub(crate) fn token(&mut self, mut token: TokenWithSpan) -> TokenWithSpan {
        if let Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) = &mut token.token
            && let Some(number) = text.strip_prefix(MARK)
            && number == self.given.to_string()
            && let Some(cut) = self.cuts.get_mut(self.given)
        {
            *text = std::mem::take(&mut cut.text);
            self.given += 1;
        }
        token.span = Span::new(self.place(token.span.start), self.place(token.span.end));
        token
    }

    /// Whether all texts have been put back. Where one has not, sqlparser has read something else there.
    pub(crate) fn is_whole(&self) -> bool {
        self.given == self.cuts.len()
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::tokenizer::Tokenizer;

    use super::*;
    use crate::grammar::Grammar;
    use crate::tokenize::tokenize;

    /// As sqlparser reads it alone.
    fn same(sql: &str) {
        let alone = Tokenizer::new(&Grammar, sql).tokenize_with_location();
        match (tokenize(&Grammar, sql), alone) {
            (Ok(tokens), Ok(alone)) => {
                // What MySQL reads otherwise is not what is compared.
                let has = |alone: &TokenWithSpan| {
                    tokens
                        .iter()
                        .any(|t| t.span == alone.span && t.token == alone.token)
                };
                let texts = alone.iter().filter(|t| {
                    matches!(
                        t.token,
                        Token::SingleQuotedString(_)
                            | Token::DoubleQuotedString(_)
                            | Token::Number(..)
                    )
                });
                for token in texts {
                    assert!(has(token), "{sql:?}: {token:?} in {tokens:?}");
                }
            }
            (Err(_), Err(_)) => {}
            (found, alone) => panic!("{sql:?}: {found:?}, and not {alone:?}"),
        }
    }

    #[test]
    fn long_texts_are_what_they_were() {
        for sql in [
            "SELECT 'abcdef', 1, 'it''s', \"a\\\"b'c\" , 2",
            "SELECT 'a\\n\\%b\\'c\\\\' , 'zwei\n\nZeilen é' , 3\n, 'noch eine' , 4",
            "SELECT 'abc' -- 'not one\n, 'but this' /* 'none' */ , `a'b` , 1 # 'x\n, 2",
            "SELECT N'abcdef', X'414243', _utf8'abcdef', 'abc' 'def' , 5",
            "SELECT 'abcdef",
            "SELECT 'abcdef\\",
            "SELECT 'abcdef' /* no end",
            "SELECT '\u{1}text 0', 'abcdef', '\u{1}text 1' , 6",
            "SELECT 1--1, 'abcdef' , /*! 'abc' */ 7",
        ] {
            same(sql);
        }
    }

    #[test]
    fn what_is_long_is_cut_out() {
        let cut = |sql: &str| Shortened::of(sql).expect("goes on").map(|s| s.sql);
        assert_eq!(
            cut("SELECT 'abcdef', 'a'").as_deref(),
            Some("SELECT '\u{1}text 0', 'a'")
        );
        assert_eq!(cut("SELECT 'a', 1"), None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_read_alike(
            parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..12),
        ) {
            same(&parts.concat());
        }
    }

    const PARTS: &[&str] = &[
        "'abcd'",
        "'a''b\\'c'",
        "\"abcd\"",
        "'",
        "\"",
        "\\",
        "`a'b`",
        "`",
        "--",
        "-- ",
        "#",
        "/*",
        "*/",
        "\n",
        " ",
        "é",
        "1",
        ",",
        "N",
        "'\u{1}text 0'",
        "'ab\ncd'",
    ];
}
