//! The tokens of a statement, as a MySQL or MariaDB server would read them. Where the server's settings
//! decide, such as sql_mode, there are none. The scanner of `tare_mysql::secret` guesses there instead: it
//! has to hide a password also in a statement that no server accepts.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword.
    Word,
    /// A name in backquotes.
    QuotedName,
    /// A text in quotes, or a name with ANSI_QUOTES.
    Text,
    /// A number, also in hexadecimal or binary digits.
    Number,
    /// Any other character.
    Sign,
    /// The mark that begins or ends an optimizer hint.
    HintMark,
    /// A comment.
    Comment,
}

/// A token: a range of a text's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its first byte.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
}

impl Token {
    /// Its text.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    /// Whether it is this keyword, in any case.
    pub fn is_word(&self, text: &str, word: &str) -> bool {
        self.kind == Kind::Word && self.text(text).eq_ignore_ascii_case(word)
    }
}

/// All tokens; `None` if a quote or comment has no end, if it depends on sql_mode where a quoted text ends, or if the
/// statement has parts that only servers of some versions read.
pub fn tokenize(text: &str) -> Option<Vec<Token>> {
    let tokens = tokenize_with(text, true)?;
    (!text.contains('\\') || tokenize_with(text, false)? == tokens).then_some(tokens)
}

fn tokenize_with(text: &str, has_escapes: bool) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut is_in_hint) = (0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (kind, length) = match *rest {
            [blank, ..] if blank.is_ascii_whitespace() || blank == 0x0b => {
                at += 1;
                continue;
            }
            [b'*', b'/', ..] if is_in_hint => {
                is_in_hint = false;
                (Kind::HintMark, 2)
            }
            // Only the first of both may be a hint, and only in places that the server knows.
            [b'/', b'*', b'+', ..] if !is_in_hint => {
                is_in_hint = true;
                (Kind::HintMark, 3)
            }
            // Their contents are executed by servers of some products and versions.
            [b'/', b'*', b'!', ..] | [b'/', b'*', b'M', b'!', ..] => return None,
            [b'/', b'*', ..] => (Kind::Comment, end_of(rest, 2, b"*/")?),
            [b'-', b'-', next, ..] if next.is_ascii_whitespace() || next.is_ascii_control() => {
                (Kind::Comment, line(rest))
            }
            [b'-', b'-'] => (Kind::Comment, 2),
            [b'#', ..] => (Kind::Comment, line(rest)),
            [quote @ (b'\'' | b'"'), ..] => (Kind::Text, quoted(rest, quote, has_escapes)?),
            [b'`', ..] => (Kind::QuotedName, quoted(rest, b'`', false)?),
            [b'.', digit, ..] if digit.is_ascii_digit() && !is_after_name(&tokens, at) => {
                (Kind::Number, number(rest))
            }
            [digit, ..] if digit.is_ascii_digit() => {
                word_or_number(rest, is_after_dot(&tokens, bytes))
            }
            [byte, ..] if is_of_word(byte) => (Kind::Word, word(rest)),
            _ => (Kind::Sign, 1),
        };
        tokens.push(Token {
            kind,
            start: at,
            end: at + length,
        });
        at += length;
    }
    (!is_in_hint).then_some(tokens)
}

/// Letters outside ASCII are part of a word, so that a token ends at a character's boundary.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$".contains(&byte) || !byte.is_ascii()
}

fn word(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| is_of_word(**byte)).count()
}

/// The length of a line, with its end.
fn line(rest: &[u8]) -> usize {
    let end = rest.iter().position(|byte| *byte == b'\n');
    end.map_or(rest.len(), |end| end + 1)
}

/// The length up to the end of `end`, which is searched from `from` on.
fn end_of(rest: &[u8], from: usize, end: &[u8]) -> Option<usize> {
    let mut windows = rest.get(from..)?.windows(end.len());
    Some(from + windows.position(|place| place == end)? + end.len())
}

/// The length of a quoted text.
fn quoted(rest: &[u8], quote: u8, has_escapes: bool) -> Option<usize> {
    let mut at = 1;
    loop {
        match *rest.get(at)? {
            b'\\' if has_escapes => at += 2,
            byte if byte == quote && rest.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The length of a number that begins with a digit or a point.
fn number(rest: &[u8]) -> usize {
    let mut at = 0;
    let mut has_point = false;
    while let Some(byte) = rest.get(at) {
        let is_exponent_sign = b"+-".contains(byte)
            && at > 0
            && rest[at - 1].eq_ignore_ascii_case(&b'e')
            && rest.get(at + 1).is_some_and(u8::is_ascii_digit);
        match byte {
            b'.' if !has_point => has_point = true,
            byte if is_of_word(*byte) || is_exponent_sign => {}
            _ => break,
        }
        at += 1;
    }
    at
}

/// A name may begin with a digit, and does so after a point.
fn word_or_number(rest: &[u8], is_after_dot: bool) -> (Kind, usize) {
    let length = word(rest);
    let letters = |set: &[u8]| rest[2..length].iter().all(|byte| set.contains(byte));
    let is_number = match rest {
        _ if is_after_dot => false,
        [b'0', b'x' | b'X', _, ..] if length > 2 => letters(b"0123456789abcdefABCDEF"),
        [b'0', b'b' | b'B', _, ..] if length > 2 => letters(b"01"),
        _ => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match &rest[digits..length] {
                [] => return (Kind::Number, number(rest)),
                // 1e5 is a number, and so is 1e+5.
                [b'e' | b'E', exponent @ ..] => {
                    let has_sign = exponent.is_empty()
                        && matches!(rest.get(length..length + 2), Some([b'+' | b'-', digit]) if digit.is_ascii_digit());
                    if has_sign {
                        return (Kind::Number, number(rest));
                    }
                    !exponent.is_empty() && exponent.iter().all(u8::is_ascii_digit)
                }
                _ => false,
            }
        }
    };
    (if is_number { Kind::Number } else { Kind::Word }, length)
}

fn is_after_dot(tokens: &[Token], bytes: &[u8]) -> bool {
    tokens
        .last()
        .is_some_and(|last| last.kind == Kind::Sign && bytes[last.start] == b'.')
}

fn is_after_name(tokens: &[Token], at: usize) -> bool {
    let is_name = |token: &Token| matches!(token.kind, Kind::Word | Kind::QuotedName);
    tokens
        .last()
        .is_some_and(|last| is_name(last) && last.end == at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Option<Vec<(Kind, &str)>> {
        let tokens = tokenize(text)?;
        Some(
            tokens
                .iter()
                .map(|token| (token.kind, token.text(text)))
                .collect(),
        )
    }

    #[test]
    fn statements_are_divided_as_the_server_does() {
        use Kind::{Comment, HintMark, Number, QuotedName, Sign, Text, Word};
        for (text, expected) in [
            ("a.1b", vec![(Word, "a"), (Sign, "."), (Word, "1b")]),
            (
                "1e5+1.5e-3 .5 0x41 0b1 1a",
                vec![
                    (Number, "1e5"),
                    (Sign, "+"),
                    (Number, "1.5e-3"),
                    (Number, ".5"),
                    (Number, "0x41"),
                    (Number, "0b1"),
                    (Word, "1a"),
                ],
            ),
            (
                "'it''s' \"x\"\"y\" `a``b`",
                vec![
                    (Text, "'it''s'"),
                    (Text, "\"x\"\"y\""),
                    (QuotedName, "`a``b`"),
                ],
            ),
            (
                "1--1",
                vec![(Number, "1"), (Sign, "-"), (Sign, "-"), (Number, "1")],
            ),
            (
                "1 -- c\n2 # d",
                vec![
                    (Number, "1"),
                    (Comment, "-- c\n"),
                    (Number, "2"),
                    (Comment, "# d"),
                ],
            ),
            (
                "/*+ A(t) */x/* y */",
                vec![
                    (HintMark, "/*+"),
                    (Word, "A"),
                    (Sign, "("),
                    (Word, "t"),
                    (Sign, ")"),
                    (HintMark, "*/"),
                    (Word, "x"),
                    (Comment, "/* y */"),
                ],
            ),
            ("'a\\tb' 'ö'", vec![(Text, "'a\\tb'"), (Text, "'ö'")]),
        ] {
            assert_eq!(kinds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_depends_on_settings_has_no_tokens() {
        for text in [
            "'a",
            "\"a",
            "`a",
            "/* a",
            "/*+ a",
            "'a\\' , 'b'",
            "\"a\\\" , \"b\"",
            "'\\\\' , '\\'",
            "SELECT /*!80000 1 */",
            "SELECT /*M! 1 */",
        ] {
            assert_eq!(kinds(text), None, "{text}");
        }
        // Both readings agree.
        assert!(kinds("'a\\\\b'").is_some());
    }
}
