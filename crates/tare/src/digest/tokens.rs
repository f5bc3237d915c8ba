//! Cuts a statement into tokens: one pass, no allocation, any bytes.
//!
//! The text may be cut off, contain NUL bytes or be no SQL at all; every byte is accepted, and the
//! scanner always advances. It follows MySQL's lexer where a digest shows the difference.

use super::keywords;

/// One token, borrowing from the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An unquoted word that may be a keyword.
    Word(&'a [u8]),
    /// A word that cannot be a keyword here: it belongs to a dotted name.
    Name(&'a [u8]),
    /// The text between backticks, with doubled ones still doubled.
    Quoted(&'a [u8]),
    /// A number, string, user variable's name or parameter marker.
    Literal,
    /// `...`, as digests write it.
    Ellipsis,
    /// A character set introducer.
    Introducer,
    /// `/* , ... */`, as digests write it after a row.
    More,
    /// `/*+`.
    HintOpen,
    /// `*/` of a hint.
    HintClose,
    /// An operator of several bytes, as the digest spells it.
    Operator(&'static str),
    /// Any other byte.
    Byte(u8),
}

/// The effect of earlier tokens on the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    /// After `.`: a name.
    Member,
    /// After one `@`: a user variable or a host.
    User,
    /// After `@@`: a system variable, or the scope before it.
    System,
}

#[derive(Clone)]
pub(super) struct Scanner<'a> {
    sql: &'a [u8],
    at: usize,
    /// Offset of the last token.
    from: usize,
    mode: Mode,
    /// Offset of the end of the last word or quoted name.
    name_end: usize,
    /// Inside `/*! */`, whose content MySQL executes.
    in_version_comment: bool,
    in_hint: bool,
    hint_may_follow: bool,
}

/// MySQL 8.0's last release executes the content of `/*!80099 */`; a newer number is a comment.
const NEWEST_VERSION: u32 = 80_099;
const MORE: &[u8] = b"/* , ... */";
const INTRODUCER: &[u8] = b"(_charset)";

impl<'a> Scanner<'a> {
    pub(super) fn new(sql: &'a [u8]) -> Self {
        Self {
            sql,
            at: 0,
            from: 0,
            mode: Mode::Plain,
            name_end: usize::MAX,
            in_version_comment: false,
            in_hint: false,
            hint_may_follow: false,
        }
    }

    /// An optimizer hint may follow directly after the last word.
    pub(super) fn allow_hint(&mut self) {
        self.hint_may_follow = true;
    }

    pub(super) fn in_hint(&self) -> bool {
        self.in_hint
    }

    /// Whether the last token begins where a name has just ended.
    pub(super) fn follows_name_by(&self, bytes: usize) -> bool {
        self.name_end.checked_add(bytes) == Some(self.at)
    }

    /// Whether the next token is `(`: it distinguishes a function's name from a column's.
    pub(super) fn parenthesis_follows(&self) -> bool {
        if self.peek(0) == Some(b'(') {
            return true;
        }
        let mut ahead = self.clone();
        ahead.hint_may_follow = false;
        ahead.skip_blanks().is_none() && ahead.peek(0) == Some(b'(')
    }

    /// The offset of the last token.
    pub(super) fn start(&self) -> usize {
        self.from
    }

    /// The text of the last token.
    pub(super) fn last_text(&self) -> &'a [u8] {
        &self.sql[self.from..self.at]
    }

    /// The next word or byte.
    pub(super) fn follower(&self) -> Option<&'a [u8]> {
        let mut ahead = self.clone();
        ahead.next()?;
        Some(ahead.last_text())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.sql.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.sql[self.at..]
    }

    fn skip_to(&mut self, at: usize) {
        self.at = at.min(self.sql.len());
    }

    /// Skips blanks and comments; some comments are tokens.
    fn skip_blanks(&mut self) -> Option<Token<'a>> {
        loop {
            match self.peek(0)? {
                byte if is_blank(byte) => self.at += 1,
                b'#' => self.skip_line(),
                b'-' if self.peek(1) == Some(b'-') && self.peek(2).is_none_or(is_blank) => {
                    self.skip_line();
                }
                b'/' if self.peek(1) == Some(b'*') => {
                    if let Some(token) = self.comment() {
                        return Some(token);
                    }
                }
                b'*' if self.peek(1) == Some(b'/') && (self.in_hint || self.in_version_comment) => {
                    self.at += 2;
                    if self.in_hint {
                        self.in_hint = false;
                        return Some(Token::HintClose);
                    }
                    self.in_version_comment = false;
                }
                _ => return None,
            }
        }
    }

    fn skip_line(&mut self) {
        let end = self.rest().iter().position(|&byte| byte == b'\n');
        self.skip_to(end.map_or(self.sql.len(), |end| self.at + end + 1));
    }

    /// At `/*`.
    fn comment(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        if rest.starts_with(MORE) {
            self.at += MORE.len();
            return Some(Token::More);
        }
        if self.peek(2) == Some(b'+') && self.hint_may_follow && !self.in_hint {
            self.at += 3;
            self.in_hint = true;
            return Some(Token::HintOpen);
        }
        if self.peek(2) == Some(b'!') && !self.in_version_comment {
            let digits = rest[3..]
                .iter()
                .take(6)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            // Five digits are a version, six too (8.4 on); fewer are part of the statement.
            let digits = if digits >= 5 { digits } else { 0 };
            let version = rest[3..3 + digits]
                .iter()
                .fold(0, |version, digit| version * 10 + u32::from(digit - b'0'));
            if version <= NEWEST_VERSION {
                self.at += 3 + digits;
                self.in_version_comment = true;
                return None;
            }
        }
        let end = rest[2..].windows(2).position(|pair| pair == b"*/");
        self.skip_to(end.map_or(self.sql.len(), |end| self.at + 2 + end + 2));
        None
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        let length = self
            .rest()
            .iter()
            .take_while(|&&byte| is_word(byte))
            .count();
        self.at += length;
        let word = &self.sql[start..self.at];
        self.name_end = self.at;
        match self.mode {
            Mode::Member => return Token::Name(word),
            Mode::System => return Token::Word(word),
            Mode::Plain | Mode::User => {}
        }
        match (word, self.peek(0)) {
            ([b'n' | b'N' | b'x' | b'X' | b'b' | b'B'], Some(b'\'')) => {
                self.string(b'\'');
                Token::Literal
            }
            (_, Some(b'.')) if self.peek(1).is_some_and(is_word) => Token::Name(word),
            _ if word[0] == b'_' && keywords::is_introducer(word) => Token::Introducer,
            _ => Token::Word(word),
        }
    }

    /// At a digit, or at a point before a digit.
    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        if self.in_prefixed_number() {
            return Token::Literal;
        }
        self.skip_digits();
        let mut exact = false;
        if self.peek(0) == Some(b'.') {
            self.at += 1;
            exact = true;
            self.skip_digits();
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self
                .peek(1 + sign)
                .is_some_and(|byte| byte.is_ascii_digit())
            {
                self.at += 1 + sign;
                self.skip_digits();
                return Token::Literal;
            }
        }
        if exact || !self.peek(0).is_some_and(is_word) {
            return Token::Literal;
        }
        // `16M`, as SET_VAR takes it.
        if self.in_hint
            && matches!(self.peek(0), Some(b'k' | b'K' | b'm' | b'M' | b'g' | b'G'))
            && !self.peek(1).is_some_and(is_word)
        {
            self.at += 1;
            return Token::Literal;
        }
        self.at = start;
        self.word()
    }

    /// `0x4f`, `0b01`.
    fn in_prefixed_number(&mut self) -> bool {
        let is_digit: fn(&u8) -> bool = match (self.peek(0), self.peek(1)) {
            (Some(b'0'), Some(b'x')) => u8::is_ascii_hexdigit,
            (Some(b'0'), Some(b'b')) => |byte| matches!(byte, b'0' | b'1'),
            _ => return false,
        };
        let digits = self.rest()[2..]
            .iter()
            .take_while(|&byte| is_digit(byte))
            .count();
        if digits == 0 || self.peek(2 + digits).is_some_and(is_word) {
            return false;
        }
        self.at += 2 + digits;
        true
    }

    fn skip_digits(&mut self) {
        self.at += self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
    }

    /// At the opening quote. Without a closing one the string is the rest of the text.
    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            if byte == b'\\' {
                self.skip_to(self.at + 2);
                continue;
            }
            self.at += 1;
            if byte == quote {
                if self.peek(0) != Some(quote) {
                    return;
                }
                self.at += 1;
            }
        }
    }

    /// At the opening backtick.
    fn quoted(&mut self) -> Token<'a> {
        let start = self.at + 1;
        self.at = start;
        while let Some(byte) = self.peek(0) {
            if byte == b'`' {
                if self.peek(1) != Some(b'`') {
                    let name = &self.sql[start..self.at];
                    self.at += 1;
                    self.name_end = self.at;
                    return Token::Quoted(name);
                }
                self.at += 1;
            }
            self.at += 1;
        }
        Token::Quoted(&self.sql[start..])
    }

    fn operator(&mut self, byte: u8) -> Token<'a> {
        const OPERATORS: [(&[u8], &str); 12] = [
            (b"<=>", "<=>"),
            (b"->>", "->>"),
            (b"<=", "<="),
            (b"<>", "!="),
            (b"<<", "<<"),
            (b">=", ">="),
            (b">>", ">>"),
            (b"!=", "!="),
            (b"||", "||"),
            (b"&&", "&&"),
            (b":=", ":="),
            (b"->", "->"),
        ];
        if matches!(byte, b'<' | b'-' | b'>' | b'!' | b'|' | b'&' | b':') {
            for (spelled, canonical) in OPERATORS {
                if self.rest().starts_with(spelled) {
                    self.at += spelled.len();
                    return Token::Operator(canonical);
                }
            }
        }
        self.at += 1;
        Token::Byte(byte)
    }

    fn scan(&mut self, byte: u8) -> Token<'a> {
        match byte {
            b'\'' | b'"' => {
                self.string(byte);
                Token::Literal
            }
            b'`' => self.quoted(),
            _ if self.mode == Mode::User && !self.in_hint && is_user(byte) => {
                self.at += self
                    .rest()
                    .iter()
                    .take_while(|&&byte| is_user(byte))
                    .count();
                Token::Literal
            }
            b'0'..=b'9' if self.mode == Mode::Member => self.word(),
            b'0'..=b'9' => self.number(),
            _ if is_word(byte) => self.word(),
            b'?' => {
                self.at += 1;
                Token::Literal
            }
            b'.' if self.rest().starts_with(b"...") => {
                self.at += 3;
                Token::Ellipsis
            }
            b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit())
                && self.name_end != self.at =>
            {
                self.number()
            }
            b'(' if self.rest().starts_with(INTRODUCER) => {
                self.at += INTRODUCER.len();
                Token::Introducer
            }
            // `\N` is NULL.
            b'\\' if self.peek(1) == Some(b'N') => {
                self.at += 2;
                Token::Literal
            }
            _ => self.operator(byte),
        }
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        let comment = self.skip_blanks();
        self.hint_may_follow = false;
        if comment.is_some() {
            return comment;
        }
        let byte = self.peek(0)?;
        self.from = self.at;
        let token = self.scan(byte);
        self.mode = match (token, self.mode) {
            (Token::Byte(b'.'), _) => Mode::Member,
            (Token::Byte(b'@'), Mode::User) => Mode::System,
            (Token::Byte(b'@'), _) => Mode::User,
            _ => Mode::Plain,
        };
        Some(token)
    }
}

/// Blanks, and control bytes, which no statement needs.
fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

/// A byte of an unquoted name; as in MySQL, all bytes above ASCII are.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// A byte of a user variable's or host's name.
fn is_user(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}
