//! Words that sqlparser reads in another way than MySQL: functions, types, operators and names.

use std::mem;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::place::{
    TokenContext, after_table, closing, in_cast, is, is_after_text_type, is_call, is_name,
    unit_follows, upper,
};
use crate::grammar::{DIV, SOUNDS_LIKE};

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

/// One pass over the tokens, from left to right.
pub struct Pass {
    tokens: Vec<TokenWithSpan>,
    /// The next token.
    at: usize,
    out: Vec<TokenWithSpan>,
    context: TokenContext,
    /// The positions of USING in CHAR(... USING ...).
    converted: Vec<usize>,
}

impl Pass {
    /// Before the first token.
    pub fn new(tokens: Vec<TokenWithSpan>) -> Self {
        Self {
            out: Vec::with_capacity(tokens.len() + 8),
            context: TokenContext::new(&tokens),
            tokens,
            at: 0,
            converted: Vec::new(),
        }
    }

    /// Rewrites all tokens.
    pub fn run(mut self) -> Vec<TokenWithSpan> {
        while self.at < self.tokens.len() {
            self.step();
        }
        self.out
    }

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
                self.put(Token::make_keyword("TRIM"));
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

    /// Whether these words follow.
    fn precedes(&self, words: &[&str]) -> bool {
        words
            .iter()
            .enumerate()
            .all(|(i, word)| is(self.ahead(i + 1), word))
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
            // An attribute: `BIGINT UNSIGNED SERIAL DEFAULT VALUE`.
            "SERIAL" if self.context.in_columns() && self.precedes(&["DEFAULT", "VALUE"]) => {
                let attributes = ["NOT", "NULL", "AUTO_INCREMENT", "UNIQUE"];
                attributes
                    .iter()
                    .for_each(|word| self.put(Token::make_keyword(word)));
                self.at += 3;
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
