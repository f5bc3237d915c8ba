//! The tokens of a statement, as far as its secrets and comments need them.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Quoted,
    Sign,
}

/// A token of a statement: a range of its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The tokens of a statement, without blanks and comments.
pub(crate) struct Tokens<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    /// The position after the first `end` from `start` on, or the end of the text.
    fn end_after(&self, start: usize, end: &[u8]) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let position = rest.windows(end.len()).position(|place| place == end);
        position.map_or(self.bytes.len(), |position| start + position + end.len())
    }

    /// The end of a blank or comment that begins here. The contents of `/*! */` are part of the statement.
    fn skip_end(&self) -> Option<usize> {
        let (at, rest) = (self.at, &self.bytes[self.at..]);
        match rest {
            [b'/', b'*', b'!', digits @ ..] => {
                Some(at + 3 + digits.iter().take_while(|c| c.is_ascii_digit()).count())
            }
            [b'/', b'*', ..] => Some(self.end_after(at + 2, b"*/")),
            [b'*', b'/', ..] => Some(at + 2),
            [b'-', b'-', next, ..] if !next.is_ascii_graphic() => Some(self.end_after(at, b"\n")),
            [b'#', ..] => Some(self.end_after(at, b"\n")),
            [c, ..] if c.is_ascii_whitespace() => Some(at + 1),
            _ => None,
        }
    }

    /// The position after a quoted text's closing quote, or the end of the text.
    fn quote_end(&self, quote: u8) -> usize {
        let mut at = self.at + 1;
        while let Some(c) = self.bytes.get(at) {
            match c {
                b'\\' if quote != b'`' => at += 2,
                c if *c == quote && self.bytes.get(at + 1) == Some(&quote) => at += 2,
                c if *c == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        while self.at < self.bytes.len() {
            match self.skip_end() {
                Some(end) => self.at = end,
                None => break,
            }
        }
        let start = self.at;
        // Letters outside ASCII are part of a word, so that a token ends at a character's boundary.
        let is_word = |c: &u8| c.is_ascii_alphanumeric() || b"_$".contains(c) || !c.is_ascii();
        let (kind, end) = match *self.bytes.get(start)? {
            quote @ (b'\'' | b'"') => (TokenKind::Quoted, self.quote_end(quote)),
            // A quoted name is no password.
            b'`' => (TokenKind::Word, self.quote_end(b'`')),
            c if is_word(&c) => {
                let word = self.bytes[start..].iter().take_while(|c| is_word(c));
                (TokenKind::Word, start + word.count())
            }
            _ => (TokenKind::Sign, start + 1),
        };
        self.at = end;
        Some(Token { kind, start, end })
    }
}

/// The contents of a statement's comments between `/*` and `*/`. The last one may lack its end. A comment that the
/// server executes (`/*! */`) is a part of the statement.
pub(crate) fn comments(text: &str) -> impl Iterator<Item = &str> {
    let mut tokens = Tokens::of(text);
    std::iter::from_fn(move || {
        while tokens.at < text.len() {
            let (start, end) = (tokens.at, tokens.skip_end());
            let Some(end) = end else {
                tokens.next()?;
                continue;
            };
            tokens.at = end;
            let comment = (text[start..].strip_prefix("/*")).filter(|rest| !rest.starts_with('!'));
            if comment.is_some() {
                let content = &text[start + 2..end.max(start + 2)];
                return Some(content.strip_suffix("*/").unwrap_or(content));
            }
        }
        None
    })
}
