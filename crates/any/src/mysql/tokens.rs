//! The tokens of a statement of MySQL, as far as its kind and its end depend on them.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    /// A word without quotes, or a number.
    Word(&'t str),
    /// A name in backticks, with doubled ones still doubled.
    Quoted(&'t str),
    /// A text in quotes.
    Literal,
    /// Any other byte.
    Symbol(u8),
}

/// Reads tokens. Blanks, comments and optimizer hints are none; what `/*! */` contains is.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// Where the last token began.
    start: usize,
    /// Whether `\` escapes in texts.
    has_escapes: bool,
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str, has_escapes: bool) -> Self {
        Self {
            text,
            at: 0,
            start: 0,
            has_escapes,
        }
    }

    /// The offset of the last token.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The offset behind it.
    pub fn end(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let length = match rest {
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => 1,
                [b'#', ..] => length_until(rest, b"\n"),
                [b'-', b'-'] => 2,
                [b'-', b'-', next, ..] if next.is_ascii_whitespace() || next.is_ascii_control() => {
                    length_until(rest, b"\n")
                }
                [b'/', b'*', b'!', ..] => 3 + count_digits(&rest[3..]),
                [b'/', b'*', b'M', b'!', ..] => 4 + count_digits(&rest[4..]),
                [b'/', b'*', ..] => 2 + length_until(&rest[2..], b"*/"),
                // The end of what a comment contains.
                [b'*', b'/', ..] => 2,
                _ => return,
            };
            self.at += length;
        }
    }

    /// The length of the quoted text that begins here, with its quotes.
    fn quoted_length(&self, quote: u8) -> usize {
        let rest = self.rest();
        let has_escapes = self.has_escapes && quote != b'`';
        let mut at = 1;
        while let Some(&byte) = rest.get(at) {
            match byte {
                b'\\' if has_escapes => at += 2,
                byte if byte == quote && rest.get(at + 1) == Some(&quote) => at += 2,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        rest.len()
    }
}

/// The number of bytes up to and including this end, or all.
fn length_until(bytes: &[u8], end: &[u8]) -> usize {
    let position = bytes.windows(end.len()).position(|part| part == end);
    position.map_or(bytes.len(), |position| position + end.len())
}

fn count_digits(bytes: &[u8]) -> usize {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
    digits.count()
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip_blanks();
        self.start = self.at;
        let rest = self.rest();
        let first = *rest.first()?;
        // Quotes and the bytes behind words are of ASCII, so that a part is text.
        let part = |start: usize, end: usize| {
            let (start, end) = (self.at + start, self.at + end);
            self.text.get(start..end).unwrap_or_default()
        };
        let (token, length) = match first {
            b'\'' | b'"' => (Token::Literal, self.quoted_length(first)),
            b'`' => {
                let length = self.quoted_length(first);
                (Token::Quoted(part(1, (length - 1).max(1))), length)
            }
            byte if is_of_word(byte) => {
                let length = rest.iter().take_while(|&&byte| is_of_word(byte)).count();
                (Token::Word(part(0, length)), length)
            }
            byte => (Token::Symbol(byte), 1),
        };
        // An escape at the end of a text that is cut.
        self.at = (self.at + length).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        Some(token)
    }
}

/// Words that begin a statement of several statements, outside of stored programs too.
const COMPOUND: [&str; 7] = ["CASE", "DECLARE", "FOR", "IF", "LOOP", "REPEAT", "WHILE"];
/// Stored programs, whose bodies have statements.
const PROGRAMS: [&str; 5] = ["EVENT", "FUNCTION", "PACKAGE", "PROCEDURE", "TRIGGER"];

/// Whether a word is one of these, which are in upper case.
pub fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|listed| listed.eq_ignore_ascii_case(word))
}

/// A text's first statement, and the text behind it.
pub fn split(text: &str, has_escapes: bool) -> (&str, &str) {
    if !text.as_bytes().contains(&b';') || contains_statements(text, has_escapes) {
        return (text, "");
    }
    let mut tokens = Tokens::new(text, has_escapes);
    while let Some(token) = tokens.next() {
        if token == Token::Symbol(b';') {
            let end = tokens.start();
            return (&text[..end], &text[end + 1..]);
        }
    }
    (text, "")
}

/// Whether the first statement contains others.
pub fn contains_statements(text: &str, has_escapes: bool) -> bool {
    let mut tokens = Tokens::new(text, has_escapes);
    let Some(Token::Word(first)) = tokens.next() else {
        return false;
    };
    if first.eq_ignore_ascii_case("BEGIN") {
        // Otherwise it begins a transaction.
        return matches!(tokens.next(), Some(Token::Word(word)) if !word.eq_ignore_ascii_case("WORK"));
    }
    if !is_one_of(first, &["CREATE", "ALTER"]) {
        return is_one_of(first, &COMPOUND) || tokens.next() == Some(Token::Symbol(b':'));
    }
    for token in tokens.take(32) {
        match token {
            Token::Word(word) if is_one_of(word, &PROGRAMS) => return true,
            Token::Word(word) if is_one_of(word, &["TABLE", "VIEW", "DATABASE", "SCHEMA"]) => {
                return false;
            }
            Token::Symbol(b';') => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_tokens_and_quotes_hide_what_they_contain() {
        let words = |text| {
            let tokens = Tokens::new(text, true);
            let words = tokens.filter_map(|token| match token {
                Token::Word(word) | Token::Quoted(word) => Some(word),
                _ => None,
            });
            words.collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("SELECT 1 -- x\n, a", "SELECT 1 a"),
            ("SELECT /* x */ a # b", "SELECT a"),
            ("/*!50100 CREATE */ /*M!100100 TABLE */ t", "CREATE TABLE t"),
            ("SELECT 'a''b\\'c' d", "SELECT d"),
            ("SELECT \"a\\", "SELECT"),
            ("`a``b` `c", "a``b "),
            ("SELECT /*+ NO_ICP(t) */ 1", "SELECT 1"),
            ("é.ü --", "é ü"),
            ("'\\é", ""),
            ("/*", ""),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_split_where_its_first_statement_ends() {
        for (text, first) in [
            ("select 1; select 2", "select 1"),
            ("select ';'; select 2", "select ';'"),
            ("select `a;b` -- c;\n; x", "select `a;b` -- c;\n"),
            ("begin; select 1", "begin"),
            (
                "create table event_(a int); select 1",
                "create table event_(a int)",
            ),
            ("alter view v as select 1; x", "alter view v as select 1"),
            ("; select 1", ""),
        ] {
            assert_eq!(split(text, true).0, first);
        }
        for text in [
            "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
            "create definer = root@localhost trigger t before insert on t for each row begin set @a = 1; end",
            "BEGIN NOT ATOMIC SELECT 1; SELECT 2; END",
            "IF 1 THEN SELECT 1; END IF",
            "again: LOOP LEAVE again; END LOOP",
        ] {
            assert_eq!(split(text, true), (text, ""));
        }
        assert_eq!(split("select '\\'; x", false), ("select '\\'", " x"));
    }
}
