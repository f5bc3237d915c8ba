//! The tokens of PostgreSQL's SQL, as its manual describes them (chapter "Lexical Structure").

/// The server refuses longer operators.
const MAX_OPERATOR_BYTES: usize = 63;

/// A token, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    /// A keyword, or a name without quotes.
    Word(&'t str),
    /// A name in quotes.
    Quoted(&'t str),
    /// A number or a string, with its quotes.
    Literal,
    /// `$1`
    Parameter,
    /// An operator, or a punctuation mark.
    Symbol(&'t str),
}

/// Reads tokens. A literal or comment without an end reaches to the end of the text.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// Whether `\` escapes in strings without a prefix: `standard_conforming_strings` is off.
    has_escapes: bool,
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str, has_escapes: bool) -> Self {
        Self {
            text,
            at: 0,
            has_escapes,
        }
    }

    /// Where the next token is searched.
    pub fn position(&self) -> usize {
        self.at
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Moves behind the bytes that `is_part` accepts.
    fn skip(&mut self, is_part: impl Fn(u8) -> bool) {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|&byte| !is_part(byte));
        self.at += end.unwrap_or(rest.len());
    }

    /// Moves behind white space and comments.
    fn skip_space(&mut self) {
        loop {
            self.skip(is_space);
            match (self.peek(0), self.peek(1)) {
                (b'-', b'-') => self.skip(|byte| !matches!(byte, b'\n' | b'\r')),
                (b'/', b'*') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// Comments nest.
    fn skip_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    /// Moves behind a quoted text, whose first quote is next.
    fn skip_quoted(&mut self, quote: u8, has_escapes: bool) {
        self.at += 1;
        while self.at < self.text.len() {
            match self.peek(0) {
                b'\\' if has_escapes => self.at += 2,
                byte if byte == quote && self.peek(1) == quote => self.at += 2,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
        self.at = self.text.len();
    }

    /// A string, whose quote is next. It goes on in another string after white space with a line end.
    fn string(&mut self, has_escapes: bool) -> Token<'t> {
        loop {
            self.skip_quoted(b'\'', has_escapes);
            let end = self.at;
            self.skip(is_space);
            let space = &self.bytes()[end..self.at];
            if self.peek(0) != b'\'' || !space.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                self.at = end;
                return Token::Literal;
            }
        }
    }

    /// A string in dollars, whose first dollar is next. `None`: it is none.
    fn dollar_string(&mut self) -> Option<Token<'t>> {
        let rest = &self.text[self.at + 1..];
        let tag = &rest[..rest.find('$')?];
        let is_tag = !tag.starts_with(|char: char| char.is_ascii_digit())
            && tag.bytes().all(|byte| is_word(byte) && byte != b'$');
        if !is_tag {
            return None;
        }
        let start = self.at + tag.len() + 2;
        let mark = &self.text[self.at..start];
        let end = self.text[start..].find(mark);
        self.at = end.map_or(self.text.len(), |end| start + end + mark.len());
        Some(Token::Literal)
    }

    fn number(&mut self) -> Token<'t> {
        let start = self.at;
        loop {
            self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_hex = matches!(&self.bytes()[start..self.at], [b'0', b'x' | b'X', ..]);
            let last = self.bytes()[start..self.at].last().copied();
            match (self.peek(0), self.peek(1)) {
                // `1..10` is a range.
                (b'.', b'.') => return Token::Literal,
                (b'.', _) => self.at += 1,
                (b'+' | b'-', b'0'..=b'9') if !is_hex && matches!(last, Some(b'e' | b'E')) => {
                    self.at += 1;
                }
                _ => return Token::Literal,
            }
        }
    }

    fn operator(&mut self) -> Token<'t> {
        let start = self.at;
        while self.at < start + MAX_OPERATOR_BYTES && is_operator(self.peek(0)) {
            if matches!((self.peek(0), self.peek(1)), (b'-', b'-') | (b'/', b'*')) {
                break;
            }
            self.at += 1;
        }
        // `a=-1` are two operators, `a@-1` is one.
        let operator = &self.text[start..self.at];
        if !operator.bytes().any(|byte| b"~!@#%^&|`?".contains(&byte)) {
            let end = operator.trim_end_matches(['+', '-']).len();
            self.at = start + end.max(1);
        }
        Token::Symbol(&self.text[start..self.at])
    }

    fn symbol(&mut self, length: usize) -> Token<'t> {
        let start = self.at;
        self.at += length;
        Token::Symbol(&self.text[start..self.at])
    }

    fn quoted(&mut self, start: usize) -> Token<'t> {
        self.skip_quoted(b'"', false);
        Token::Quoted(&self.text[start..self.at])
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip_space();
        let start = self.at;
        let first = *self.bytes().get(start)?;
        let token = match (first, self.peek(1), self.peek(2)) {
            (b'\'', _, _) => self.string(self.has_escapes),
            (b'"', _, _) => self.quoted(start),
            (b'e' | b'E', b'\'', _) => {
                self.at += 1;
                self.string(true)
            }
            (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', b'\'', _) => {
                self.at += 1;
                self.string(self.has_escapes)
            }
            (b'u' | b'U', b'&', b'\'') => {
                self.at += 2;
                self.string(false)
            }
            (b'u' | b'U', b'&', b'"') => {
                self.at += 2;
                self.quoted(start)
            }
            (b'0'..=b'9', _, _) | (b'.', b'0'..=b'9', _) => self.number(),
            (b'$', b'0'..=b'9', _) => {
                self.at += 1;
                self.skip(|byte| byte.is_ascii_digit());
                Token::Parameter
            }
            (b'$', _, _) => match self.dollar_string() {
                Some(string) => string,
                None => self.symbol(1),
            },
            (b':', b':' | b'=', _) | (b'.', b'.', _) => self.symbol(2),
            (byte, _, _) if is_operator(byte) => self.operator(),
            (byte, _, _) if is_word(byte) => {
                self.skip(is_word);
                Token::Word(&self.text[start..self.at])
            }
            _ => self.symbol(1),
        };
        Some(token)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Whether it may be within a word. Words consist of whole characters, because all bytes of the others do.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

fn is_operator(byte: u8) -> bool {
    b"+-*/<>=~!@#%^&|`?".contains(&byte)
}

/// A text without semicolons and white space at its end.
pub fn trim(text: &str) -> &str {
    text.trim_end_matches(|char: char| char == ';' || char.is_ascii_whitespace())
}

/// Splits a text, which is trimmed, behind its first statement. Returns the statement, without the semicolon,
/// and the rest.
pub fn split(text: &str, has_escapes: bool) -> (&str, &str) {
    if !text.contains(';') {
        return (text, "");
    }
    let mut tokens = Tokens::new(text, has_escapes);
    let (mut parentheses, mut blocks, mut words) = (0u32, 0u32, 0);
    // The body of a function may be statements: CREATE FUNCTION f() BEGIN ATOMIC ...; END
    let (mut is_create, mut is_routine) = (false, false);
    while let Some(token) = tokens.next() {
        match token {
            Token::Symbol("(") => parentheses += 1,
            Token::Symbol(")") => parentheses = parentheses.saturating_sub(1),
            Token::Symbol(";") if parentheses == 0 && blocks == 0 => {
                let end = tokens.position();
                return (&text[..end - 1], &text[end..]);
            }
            Token::Word(word) => {
                let is = |name: &str| word.eq_ignore_ascii_case(name);
                words += 1;
                is_create |= words == 1 && is("create");
                is_routine |=
                    is_create && (words == 2 || words == 4) && (is("function") || is("procedure"));
                if is_routine && parentheses == 0 {
                    match () {
                        () if is("begin") => blocks += 1,
                        () if is("case") && blocks != 0 => blocks += 1,
                        () if is("end") => blocks = blocks.saturating_sub(1),
                        () => {}
                    }
                }
            }
            _ => {}
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Token<'_>> {
        Tokens::new(text, false).collect()
    }

    #[test]
    fn literals_end_where_postgresql_ends_them() {
        use Token::{Literal, Parameter, Quoted, Symbol, Word};
        for literal in [
            "'a''b'",
            "'it\\'",
            "E'it\\'s'",
            "e'\\\\'",
            "B'01'",
            "x'ff'",
            "N'n'",
            "U&'\\0061'",
            "$$it's$$",
            "$tag$ $$ $other$ $tag$",
            "'a'\n 'b'",
            "42",
            "4_2.5e-10",
            ".5",
            "1.",
            "0xFF",
            "1e5",
            "'no end",
            "$x$ no end $x",
            "E'\\",
            "E'é\\é'",
        ] {
            assert_eq!(read(literal), [Literal], "{literal}");
            assert_eq!(Tokens::new(literal, false).last(), Some(Literal));
        }
        assert_eq!(read("'a' 'b'"), [Literal, Literal]);
        assert_eq!(read("$12"), [Parameter]);
        assert_eq!(read("é$1a$"), [Word("é$1a$")]);
        assert_eq!(
            read("\"a\"\"b\" U&\"c\""),
            [Quoted("\"a\"\"b\""), Quoted("U&\"c\"")]
        );
        assert_eq!(
            read("a /* b /* c */ d */ e -- f\n g"),
            [Word("a"), Word("e"), Word("g")]
        );
        assert_eq!(read("a=-1"), [Word("a"), Symbol("="), Symbol("-"), Literal]);
        assert_eq!(read("a@-1--x"), [Word("a"), Symbol("@-"), Literal]);
        assert_eq!(read("1..2"), [Literal, Symbol(".."), Literal]);
        assert_eq!(read("x::int"), [Word("x"), Symbol("::"), Word("int")]);
        assert_eq!(
            read("1+-+2"),
            [Literal, Symbol("+"), Symbol("-"), Symbol("+"), Literal]
        );
        assert_eq!(
            read("a<=-2"),
            [Word("a"), Symbol("<="), Symbol("-"), Literal]
        );
        let old = Tokens::new("'it\\'s' x", true);
        assert_eq!(old.collect::<Vec<_>>(), [Literal, Word("x")]);
        assert_eq!(read("$ $1$"), [Symbol("$"), Parameter, Symbol("$")]);
    }

    #[test]
    fn a_hostile_text_is_read_in_linear_time() {
        // Before, each sign read all that follow it, and the test did not end.
        const SIGNS: usize = 1 << 16;
        for (sign, tokens) in [("+", SIGNS), ("@", SIGNS.div_ceil(MAX_OPERATOR_BYTES))] {
            let text = sign.repeat(SIGNS);
            assert_eq!(Tokens::new(&text, false).count(), tokens);
        }
    }

    #[test]
    fn queries_are_split_into_their_statements() {
        let all = |text: &'static str| {
            let mut text = trim(text);
            let mut parts = Vec::new();
            while !text.is_empty() {
                let (part, rest) = split(text, false);
                parts.push(part.trim());
                text = rest;
            }
            parts
        };
        assert_eq!(all("SELECT 1"), ["SELECT 1"]);
        assert_eq!(all("SELECT 1 ;\n "), ["SELECT 1"]);
        assert_eq!(
            all("SELECT ';'; SELECT $$;$$ /*;*/;"),
            ["SELECT ';'", "SELECT $$;$$ /*;*/"]
        );
        let rule = "CREATE RULE r AS ON INSERT TO t DO (DELETE FROM a; DELETE FROM b)";
        assert_eq!(all(format!("{rule}; SELECT 1").leak()), [rule, "SELECT 1"]);
        let function = "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC \
                        SELECT CASE WHEN true THEN 1 END; SELECT 2; END";
        assert_eq!(
            all(format!("{function}; SELECT 1").leak()),
            [function, "SELECT 1"]
        );
        assert_eq!(all("BEGIN; COMMIT; END"), ["BEGIN", "COMMIT", "END"]);
        assert_eq!(all("SELECT (1; SELECT 2"), ["SELECT (1; SELECT 2"]);
    }
}
