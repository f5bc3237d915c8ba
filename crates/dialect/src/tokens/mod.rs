//! Replaces syntax of MySQL that sqlparser does not support, token by token, before it parses: `CURRENT_USER`, `INTERVAL '1:30' MINUTE_SECOND`, `LOCK IN SHARE MODE` and the like.

mod place;

use std::mem;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

pub use self::place::COMPOSITE_UNITS;
use self::place::{
    TokenContext, after_table, closing, in_cast, is, is_after_text_type, is_call, is_name,
    unit_follows, upper,
};
use crate::error::{Error, Result, near};
use crate::grammar::{DIV, SOUNDS_LIKE};
use crate::mode::Mode;
use tare_mysql::error::SqlError;

/// What happens to a row of CREATE TABLE ... SELECT whose unique key exists already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DuplicateRows {
    /// Error 1062.
    #[default]
    Refused,
    /// IGNORE: the first one stays.
    Ignored,
    /// REPLACE: the last one stays.
    Replaced,
}

/// Variables of SELECT ... INTO.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Into {
    /// Their names, in lower case, without `@`.
    pub variables: Vec<String>,
    /// INTO OUTFILE or DUMPFILE.
    pub file: bool,
    /// DO: nothing is returned.
    pub nowhere: bool,
    /// IGNORE or REPLACE in front of a CREATE TABLE's SELECT.
    pub doubles: DuplicateRows,
}

/// Functions whose calls sqlparser takes for something else.
const CALLED_KEYWORDS: [&str; 4] = ["INSERT", "TIMESTAMP", "TIME", "DATE"];

/// Functions of MySQL that need no parentheses.
const FUNCTIONS_WITHOUT_PARENTHESES: [&str; 5] = [
    "CURRENT_USER",
    "CURRENT_ROLE",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
];

fn plain(value: impl std::convert::Into<String>) -> Token {
    Token::Word(Word {
        value: value.into(),
        quote_style: None,
        keyword: Keyword::NoKeyword,
    })
}

/// A quoted name of a function, which would be a type or a clause without quotes.
fn quoted(name: &str) -> Token {
    Token::Word(Word {
        value: name.into(),
        quote_style: Some('`'),
        keyword: Keyword::NoKeyword,
    })
}

/// Rewrites the tokens, and removes space and comments. Returns them, the number of parameters, and the
/// variables of INTO.
pub fn prepare(
    tokens: Vec<TokenWithSpan>,
    mode: Mode,
) -> Result<(Vec<TokenWithSpan>, usize, Into)> {
    let mut tokens: Vec<TokenWithSpan> = tokens
        .into_iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .collect();
    let params = parameters(&mut tokens, mode)?;
    let mut into = into(&mut tokens);
    first_words(&mut tokens);
    if let Some(first) = tokens.first_mut().filter(|t| is(&t.token, "DO")) {
        first.token = Token::make_keyword("SELECT");
        into.nowhere = true;
    }
    explain_format(&mut tokens)?;
    modifiers(&mut tokens)?;
    let mut tokens = several_tables(tokens);
    create_database(&mut tokens)?;
    into.doubles = doubles(&mut tokens);
    let mut pass = Pass {
        out: Vec::with_capacity(tokens.len() + 8),
        context: TokenContext::new(&tokens),
        tokens,
        at: 0,
        converted: Vec::new(),
    };
    while pass.at < pass.tokens.len() {
        pass.step();
    }
    Ok((pass.out, params, into))
}

/// One pass over the tokens, from left to right.
struct Pass {
    tokens: Vec<TokenWithSpan>,
    /// The next token.
    at: usize,
    out: Vec<TokenWithSpan>,
    context: TokenContext,
    /// The positions of USING in CHAR(... USING ...).
    converted: Vec<usize>,
}

impl Pass {
    fn ahead(&self, n: usize) -> &Token {
        self.tokens
            .get(self.at + n)
            .map_or(&Token::EOF, |t| &t.token)
    }

    fn put(&mut self, token: Token) {
        let span = self.tokens[self.at].span;
        self.out.push(TokenWithSpan { token, span });
    }

    /// Copies the current token, and skips so many that follow.
    fn copy_token(&mut self, left_out: usize) {
        let TokenWithSpan { token, span } = &mut self.tokens[self.at];
        let token = match token {
            // The text may be long, and an earlier token's text is not needed.
            Token::SingleQuotedString(text) => Token::SingleQuotedString(mem::take(text)),
            other => other.clone(),
        };
        self.out.push(TokenWithSpan { token, span: *span });
        self.at += 1 + left_out;
    }

    fn step(&mut self) {
        self.context.go_to(&self.tokens, self.at);
        let after_dot = self.at > 0 && self.tokens[self.at - 1].token == Token::Period;
        let Some(word) = upper(self.ahead(0)).filter(|_| !after_dot) else {
            return match self.ahead(0) {
                // After a dot every word is a name: `t.key`, `t.order`.
                Token::Word(w)
                    if after_dot
                        && w.quote_style.is_none()
                        && w.keyword != Keyword::NoKeyword
                        && *self.ahead(1) != Token::LParen =>
                {
                    let name = w.value.clone();
                    self.function(&name);
                }
                // A name in such quotes has them replaced already.
                Token::DoubleQuotedString(text) if self.context.in_definition() => {
                    let text = text.clone();
                    self.put(Token::SingleQuotedString(text));
                    self.at += 1;
                }
                _ => self.copy_token(0),
            };
        };
        if *self.ahead(1) == Token::LParen {
            self.call(&word);
        } else {
            self.word(&word);
        }
    }

    /// A word that parentheses follow.
    fn call(&mut self, word: &str) {
        let (tokens, i) = (&self.tokens, self.at);
        match word {
            "PARTITION"
                if i > 0
                    && matches!(tokens[i - 1].token, Token::Word(_))
                    && !is(self.ahead(2), "BY")
                    && after_table(tokens, i) =>
            {
                self.at = closing(tokens, i + 1) + 1;
            }
            "TIMESTAMPADD" | "TIMESTAMPDIFF" | "GET_FORMAT" if *self.ahead(3) == Token::Comma => {
                let unit = self.ahead(2).to_string().to_uppercase();
                self.put(plain(word));
                self.put(Token::LParen);
                self.put(Token::SingleQuotedString(unit.replace("SQL_TSI_", "")));
                self.at += 3;
            }
            "INTERVAL" if !unit_follows(tokens, closing(tokens, i + 1)) => self.function(word),
            "CHAR" if is_call(tokens, i, &self.context) => {
                let end = closing(tokens, i + 1);
                let using = (i + 2..end).find(|&j| is(&tokens[j].token, "USING"));
                if let Some(using) = using {
                    // CHAR(65 USING utf8mb4) is CONVERT(CHAR(65) USING utf8mb4).
                    self.converted.push(using);
                    self.put(Token::make_keyword("CONVERT"));
                    self.put(Token::LParen);
                }
                self.function(word);
            }
            "TRIM"
                if ["LEADING", "TRAILING", "BOTH"]
                    .iter()
                    .any(|w| is(self.ahead(2), w))
                    && is(self.ahead(3), "FROM") =>
            {
                let side = self.ahead(2).clone();
                self.put(plain(word));
                self.put(Token::LParen);
                self.put(side);
                self.put(Token::SingleQuotedString(" ".into()));
                self.at += 3;
            }
            "ROW" if is_call(tokens, i, &self.context) => self.at += 1,
            name if CALLED_KEYWORDS.contains(&name) && is_call(tokens, i, &self.context) => {
                self.function(name);
            }
            _ => self.word(word),
        }
    }

    fn function(&mut self, name: &str) {
        self.put(quoted(name));
        self.at += 1;
    }

    /// Whether a word is a keyword of SQLite or sqlparser, but a name in MySQL.
    fn is_name_here(&self, word: &str) -> bool {
        match word {
            "AUTOINCREMENT" | "DEFERRABLE" | "ISNULL" | "NOTHING" | "NOTNULL" | "RETURNING" => true,
            "COMMIT" | "TRANSACTION" => {
                let first = self.tokens.first().map(|t| &t.token);
                let changes = ["DELETE", "INSERT", "REPLACE", "SELECT", "UPDATE", "WITH"];
                first.is_some_and(|t| changes.iter().any(|w| is(t, w)))
            }
            "ESCAPE" => {
                matches!(self.ahead(1), Token::Comma | Token::RParen | Token::EOF)
                    || is(self.ahead(1), "FROM")
            }
            _ => false,
        }
    }

    fn word(&mut self, word: &str) {
        let called = *self.ahead(1) == Token::LParen;
        match word {
            "LOCK"
                if is(self.ahead(1), "IN")
                    && is(self.ahead(2), "SHARE")
                    && is(self.ahead(3), "MODE")
                    && !["NOWAIT", "OF", "SKIP"]
                        .iter()
                        .any(|w| is(self.ahead(4), w)) =>
            {
                self.at += 4;
            }
            "ASC" if !called => self.at += 1,
            bare if !called
                && FUNCTIONS_WITHOUT_PARENTHESES.contains(&bare)
                && !is_name(&self.tokens, self.at) =>
            {
                self.put(plain(word.to_lowercase()));
                self.put(Token::LParen);
                self.put(Token::RParen);
                self.at += 1;
            }
            "CHAR"
                if is(self.ahead(1), "CHARACTER")
                    && is(self.ahead(2), "SET")
                    && in_cast(&self.tokens, self.at) =>
            {
                self.copy_token(3);
            }
            "CHAR" if is(self.ahead(1), "CHARSET") && in_cast(&self.tokens, self.at) => {
                self.copy_token(2);
            }
            "UNSIGNED" | "SIGNED"
                if (is(self.ahead(1), "INTEGER") || is(self.ahead(1), "INT"))
                    && *self.ahead(2) == Token::RParen =>
            {
                self.copy_token(1);
            }
            // A column's `CHARSET ascii` is its CHARACTER SET.
            "CHARSET"
                if !called
                    && matches!(self.ahead(1), Token::Word(_))
                    && self.context.in_columns() =>
            {
                self.put(Token::make_keyword("CHARACTER"));
                self.put(Token::make_keyword("SET"));
                self.at += 1;
            }
            // `CHAR(36) BINARY` is of the character set's binary collation.
            "BINARY" if self.context.in_columns() && is_after_text_type(&self.tokens, self.at) => {
                self.put(Token::make_keyword("COLLATE"));
                self.put(plain("utf8mb4_bin"));
                self.at += 1;
            }
            "ENGINE" if self.context.in_definition() => {
                let has_equals = usize::from(*self.ahead(1) == Token::Eq);
                let name = match self.ahead(1 + has_equals) {
                    Token::SingleQuotedString(name) | Token::DoubleQuotedString(name) => {
                        Some(name.clone())
                    }
                    _ => None,
                };
                self.copy_token(0);
                if let Some(name) = name {
                    self.at += has_equals;
                    self.function(&name);
                }
            }
            "DIV" => {
                self.put(Token::CustomBinaryOperator(DIV.into()));
                self.at += 1;
            }
            "SOUNDS" if is(self.ahead(1), "LIKE") => {
                self.put(Token::CustomBinaryOperator(SOUNDS_LIKE.into()));
                self.at += 2;
            }
            word if !called && self.is_name_here(word) => {
                if let Token::Word(w) = self.ahead(0) {
                    let name = w.value.clone();
                    self.function(&name);
                }
            }
            "USING" if self.converted.last() == Some(&self.at) => {
                self.converted.pop();
                self.put(Token::RParen);
                self.copy_token(0);
            }
            _ => self.copy_token(0),
        }
    }
}

/// Numbers the `?`, makes MOD an operator after an operand, and applies ANSI_QUOTES.
fn parameters(tokens: &mut [TokenWithSpan], mode: Mode) -> Result<usize> {
    let mut params = 0;
    let mut after_operand = false;
    for token in tokens.iter_mut() {
        if mode.ansi_quotes
            && let Token::DoubleQuotedString(name) = &token.token
        {
            token.token = Token::Word(Word {
                value: name.clone(),
                quote_style: Some('`'),
                keyword: Keyword::NoKeyword,
            });
        }
        if let Token::Word(w) = &token.token
            && w.quote_style.is_none()
            && let Some(bits) = w.value.strip_prefix("0b")
            && !bits.is_empty()
            && bits.bytes().all(|b| matches!(b, b'0' | b'1'))
        {
            token.token = Token::HexStringLiteral(hex_digits(bits));
        }
        if let Token::SingleQuotedByteStringLiteral(bits) = &token.token {
            if !bits.bytes().all(|b| matches!(b, b'0' | b'1')) {
                return Err(near(&token.token));
            }
            token.token = Token::HexStringLiteral(hex_digits(bits));
        }
        // sqlparser parses MOD only as a function; after an operand it is an operator.
        if after_operand && is(&token.token, "MOD") {
            token.token = Token::Mod;
        }
        match &token.token {
            Token::Number(..)
            | Token::RParen
            | Token::Placeholder(_)
            | Token::SingleQuotedString(_) => after_operand = true,
            Token::Word(w) => after_operand = w.keyword == Keyword::NoKeyword,
            _ => after_operand = false,
        }
        // Without quotes, SQLite would take the name for a parameter.
        if let Token::Word(word) = &mut token.token
            && word.quote_style.is_none()
            && word.value.starts_with('$')
        {
            word.quote_style = Some('`');
        }
        if let Token::Placeholder(name) = &mut token.token {
            if name != "?" {
                return Err(near(&token.token));
            }
            params += 1;
            *name = format!("?{params}");
        }
    }
    Ok(params)
}

/// The hexadecimal digits of the bytes that a bit literal has.
fn hex_digits(bits: &str) -> String {
    let missing = bits.len().next_multiple_of(8) - bits.len();
    let all: Vec<u8> = std::iter::repeat_n(b'0', missing)
        .chain(bits.bytes())
        .collect();
    all.chunks(4)
        .map(|four| four.iter().fold(0, |n, bit| n << 1 | u32::from(bit - b'0')))
        .filter_map(|n| char::from_digit(n, 16))
        .collect()
}

/// Takes INTO @a, @b out of a SELECT.
fn into(tokens: &mut Vec<TokenWithSpan>) -> Into {
    let mut into = Into::default();
    let selects = tokens
        .iter()
        .find(|t| t.token != Token::LParen)
        .is_some_and(|t| is(&t.token, "SELECT") || is(&t.token, "WITH") || is(&t.token, "TABLE"));
    if !selects {
        return into;
    }
    let Some(at) = tokens.iter().position(|t| is(&t.token, "INTO")) else {
        return into;
    };
    let next = |n: usize| tokens.get(at + n).map(|t| &t.token);
    if next(1).is_some_and(|t| is(t, "OUTFILE") || is(t, "DUMPFILE")) {
        into.file = true;
        return into;
    }
    let mut end = at + 1;
    while let Some(Token::Word(w)) = tokens.get(end).map(|t| &t.token)
        && let Some(name) = w.value.strip_prefix('@')
        && !name.starts_with('@')
    {
        into.variables.push(name.to_lowercase());
        end += 1;
        if tokens.get(end).map(|t| &t.token) != Some(&Token::Comma) {
            break;
        }
        end += 1;
    }
    if !into.variables.is_empty() {
        tokens.drain(at..end);
    }
    into
}

/// Writes the format of EXPLAIN as sqlparser reads it. 1791: MySQL has no such format.
fn explain_format(tokens: &mut [TokenWithSpan]) -> Result<()> {
    let is_word = |at: usize, word: &str| tokens.get(at).is_some_and(|t| is(&t.token, word));
    if !["EXPLAIN", "DESCRIBE", "DESC"]
        .iter()
        .any(|word| is_word(0, word))
    {
        return Ok(());
    }
    let at = 1 + usize::from(is_word(1, "ANALYZE"));
    let has_equals = tokens.get(at + 1).is_some_and(|t| t.token == Token::Eq);
    if !is_word(at, "FORMAT") || !has_equals {
        return Ok(());
    }
    if is_word(at + 2, "TRADITIONAL") {
        tokens[at + 2].token = Token::make_keyword("TEXT");
        return Ok(());
    }
    match tokens.get(at + 2).map(|t| &t.token) {
        Some(Token::Word(w))
            if !["JSON", "TREE"]
                .iter()
                .any(|f| w.value.eq_ignore_ascii_case(f)) =>
        {
            let message = format!("Unknown EXPLAIN format name: '{}'", w.value);
            Err(SqlError::new(1791, message).into())
        }
        _ => Ok(()),
    }
}

/// Reads CREATE SCHEMA as CREATE DATABASE, and without the [DEFAULT] ENCRYPTION = 'N' that dumps have.
fn create_database(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let starts = |i: usize, word: &str| tokens.get(i).is_some_and(|t| is(&t.token, word));
    if !starts(0, "CREATE") || !(starts(1, "DATABASE") || starts(1, "SCHEMA")) {
        return Ok(());
    }
    tokens[1].token = Token::make_keyword("DATABASE");
    let at = tokens.iter().position(|t| is(&t.token, "ENCRYPTION"));
    let Some(at) = at else { return Ok(()) };
    let token = |i: usize| tokens.get(i).map(|t| &t.token);
    let value = at + 1 + usize::from(token(at + 1) == Some(&Token::Eq));
    match token(value) {
        Some(Token::SingleQuotedString(text)) if text.eq_ignore_ascii_case("n") => {
            let start = at - usize::from(is(&tokens[at - 1].token, "DEFAULT"));
            tokens.drain(start..=value);
            Ok(())
        }
        Some(Token::SingleQuotedString(_)) => Err(Error::unsupported("ENCRYPTION of a database")),
        other => Err(near(other.unwrap_or(&Token::EOF))),
    }
}

/// Takes IGNORE or REPLACE out of CREATE TABLE ... [AS] SELECT: sqlparser does not read them.
fn doubles(tokens: &mut Vec<TokenWithSpan>) -> DuplicateRows {
    let starts = |i: usize, word: &str| tokens.get(i).is_some_and(|t| is(&t.token, word));
    if !starts(0, "CREATE") || !starts(1, "TABLE") {
        return DuplicateRows::Refused;
    }
    let mut depth = 0;
    for at in 2..tokens.len() {
        match tokens[at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if depth > 0 => {}
            _ if starts(at, "SELECT") || starts(at, "WITH") => break,
            _ => {
                let next = if starts(at + 1, "AS") { at + 2 } else { at + 1 };
                let query = ["SELECT", "WITH", "TABLE", "VALUES"];
                let follows = query.iter().any(|word| starts(next, word))
                    || tokens.get(next).is_some_and(|t| t.token == Token::LParen);
                let doubles = match (starts(at, "IGNORE"), starts(at, "REPLACE")) {
                    (true, _) => DuplicateRows::Ignored,
                    (_, true) => DuplicateRows::Replaced,
                    _ => continue,
                };
                if follows {
                    tokens.remove(at);
                    return doubles;
                }
            }
        }
    }
    DuplicateRows::Refused
}

/// TABLE t is SELECT * FROM t.
fn first_words(tokens: &mut Vec<TokenWithSpan>) {
    let Some(first) = tokens.iter().position(|t| t.token != Token::LParen) else {
        return;
    };
    if !is(&tokens[first].token, "TABLE") {
        return;
    }
    let span = tokens[first].span;
    let new = [
        Token::make_keyword("SELECT"),
        Token::Mul,
        Token::make_keyword("FROM"),
    ];
    tokens.splice(
        first..=first,
        new.map(|token| TokenWithSpan { token, span }),
    );
}

/// UPDATE and DELETE without LOW_PRIORITY, and 1235 with IGNORE: sqlparser takes both for names of tables.
fn modifiers(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let starts = |i: usize, word: &str| tokens.get(i).is_some_and(|t| is(&t.token, word));
    let (is_update, is_delete) = (starts(0, "UPDATE"), starts(0, "DELETE"));
    if !is_update && !is_delete {
        return Ok(());
    }
    let is_late = starts(1, "LOW_PRIORITY");
    if starts(1 + usize::from(is_late), "IGNORE") {
        return Err(Error::unsupported(match is_update {
            true => "UPDATE IGNORE",
            false => "DELETE IGNORE",
        }));
    }
    if is_late {
        tokens.remove(1);
    }
    Ok(())
}

/// `UPDATE a, b SET`: the comma is a join.
fn several_tables(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.first().is_some_and(|t| is(&t.token, "UPDATE")) {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + 8);
    let (mut depth, mut in_tables) = (0, true);
    for token in tokens {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Word(_) if depth == 0 && is(&token.token, "SET") => in_tables = false,
            Token::Comma if depth == 0 && in_tables => {
                let span = token.span;
                out.extend(["CROSS", "JOIN"].map(|w| TokenWithSpan {
                    token: Token::make_keyword(w),
                    span,
                }));
                continue;
            }
            _ => {}
        }
        out.push(token);
    }
    out
}
