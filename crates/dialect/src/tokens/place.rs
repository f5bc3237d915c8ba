//! The meaning of a token by its context: a name, a call, a type, a unit.

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Units of INTERVAL and EXTRACT that sqlparser does not know.
pub const COMPOSITE_UNITS: [&str; 11] = [
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];
const SIMPLE_UNITS: [&str; 9] = [
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
];

pub(super) fn upper(token: &Token) -> Option<String> {
    match token {
        Token::Word(w) if w.quote_style.is_none() => Some(w.value.to_ascii_uppercase()),
        _ => None,
    }
}

pub(super) fn is(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

/// Where the parenthesis at `open` is closed.
pub(super) fn closing(tokens: &[TokenWithSpan], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth -= 1;
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

pub(super) fn unit(token: &Token) -> Option<String> {
    upper(token)
        .filter(|w| SIMPLE_UNITS.contains(&w.as_str()) || COMPOSITE_UNITS.contains(&w.as_str()))
}

pub(super) fn unit_follows(tokens: &[TokenWithSpan], close: usize) -> bool {
    // The value may continue after its first parentheses: INTERVAL (a) + 1 DAY.
    match tokens.get(close + 1).map(|t| &t.token) {
        Some(t) if unit(t).is_some() => true,
        Some(Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod) => {
            let mut depth = 0;
            for token in &tokens[close + 1..] {
                match &token.token {
                    Token::LParen => depth += 1,
                    Token::RParen if depth == 0 => return false,
                    Token::RParen => depth -= 1,
                    Token::Comma if depth == 0 => return false,
                    t if depth == 0 && unit(t).is_some() => return true,
                    _ => {}
                }
            }
            false
        }
        _ => false,
    }
}

/// Whether a token is a name: a column after a dot, or an alias after AS.
pub(super) fn is_name(tokens: &[TokenWithSpan], i: usize) -> bool {
    i > 0 && (tokens[i - 1].token == Token::Period || is(&tokens[i - 1].token, "AS"))
}

/// Whether a token is a call of a function, and not a type, table or clause.
pub(super) fn is_call(tokens: &[TokenWithSpan], i: usize, context: &TokenContext) -> bool {
    let Some(before) = i.checked_sub(1).map(|b| &tokens[b].token) else {
        return false;
    };
    match before {
        Token::Word(w) if w.quote_style.is_some() => false,
        Token::Word(w) => {
            let word = w.value.to_ascii_uppercase();
            matches!(
                word.as_str(),
                "SELECT"
                    | "WHERE"
                    | "AND"
                    | "OR"
                    | "NOT"
                    | "ON"
                    | "BY"
                    | "HAVING"
                    | "WHEN"
                    | "THEN"
                    | "ELSE"
                    | "CASE"
                    | "IN"
                    | "LIKE"
                    | "BETWEEN"
                    | "DISTINCT"
                    | "SET"
                    | "DIV"
                    | "MOD"
                    | "XOR"
                    | "RETURN"
                    | "LIMIT"
                    | "IS"
                    | "REGEXP"
                    | "RLIKE"
                    | "DO"
                    | "BINARY"
                    | "INTERVAL"
                    | "DEFAULT"
            )
        }
        Token::Eq if is(&tokens[i].token, "DEFAULT") => !context.in_definition(),
        // `VALUES (1), ROW(2)` and `f(a, CHAR(1))`
        Token::Comma => !context.in_definition() && !is(context.caller(tokens), "CONVERT"),
        Token::LParen => !context.in_definition(),
        Token::RParen | Token::Period => false,
        _ => true,
    }
}

/// The context of a token. It is updated from token to token: a search backwards would take quadratic time.
#[derive(Debug)]
pub(super) struct TokenContext {
    /// The token that the context is for.
    at: usize,
    /// The positions of the open parentheses.
    open: Vec<usize>,
    /// The statement is CREATE or ALTER, and had no SELECT so far.
    defines: bool,
    alters: bool,
}

impl TokenContext {
    /// The context of the first token.
    pub(super) fn new(tokens: &[TokenWithSpan]) -> Self {
        let first = |word| tokens.first().is_some_and(|t| is(&t.token, word));
        Self {
            at: 0,
            open: Vec::new(),
            defines: first("CREATE") || first("ALTER"),
            alters: first("ALTER"),
        }
    }

    /// Moves on to the token at `i`.
    pub(super) fn go_to(&mut self, tokens: &[TokenWithSpan], i: usize) {
        for (at, token) in tokens.iter().enumerate().take(i).skip(self.at) {
            match &token.token {
                Token::LParen => self.open.push(at),
                Token::RParen => _ = self.open.pop(),
                other => self.defines &= !is(other, "SELECT"),
            }
        }
        self.at = self.at.max(i);
    }

    /// The token before the innermost open parenthesis.
    fn caller<'t>(&self, tokens: &'t [TokenWithSpan]) -> &'t Token {
        let before = self.open.last().and_then(|at| at.checked_sub(1));
        before.map_or(&Token::EOF, |at| &tokens[at].token)
    }

    /// Whether the statement defines columns: there `CHAR(10)` is a type.
    pub(super) fn in_definition(&self) -> bool {
        self.defines
    }

    /// Whether the token is in the column list of CREATE TABLE or ALTER TABLE.
    pub(super) fn in_columns(&self) -> bool {
        self.defines && (!self.open.is_empty() || self.alters)
    }
}

/// Whether the word after `i` is an attribute of a text's type: `CHAR(36) BINARY`, `TEXT CHARACTER SET utf8mb4 BINARY`.
pub(super) fn is_after_text_type(tokens: &[TokenWithSpan], i: usize) -> bool {
    const TYPES: [&str; 13] = [
        "CHAR",
        "CHARACTER",
        "VARCHAR",
        "VARYING",
        "VARCHARACTER",
        "NCHAR",
        "NVARCHAR",
        "TINYTEXT",
        "TEXT",
        "MEDIUMTEXT",
        "LONGTEXT",
        "ENUM",
        "SET",
    ];
    let is_type = |token: &Token| TYPES.iter().any(|word| is(token, word));
    let Some(last) = i.checked_sub(1) else {
        return false;
    };
    match &tokens[last].token {
        Token::RParen => {
            let open = opening(tokens, last);
            open.checked_sub(1)
                .is_some_and(|before| is_type(&tokens[before].token))
        }
        // The name of a character set.
        Token::Word(_) if last > 1 && is_charset(tokens, last - 1) => true,
        token => {
            is_type(token)
                && !(last > 0 && is(token, "SET") && is(&tokens[last - 1].token, "CHARACTER"))
        }
    }
}

/// Whether CHARACTER SET or CHARSET ends at `i`.
fn is_charset(tokens: &[TokenWithSpan], i: usize) -> bool {
    is(&tokens[i].token, "CHARSET")
        || is(&tokens[i].token, "SET") && i > 0 && is(&tokens[i - 1].token, "CHARACTER")
}

/// Where the parenthesis that is closed at `close` is open.
fn opening(tokens: &[TokenWithSpan], close: usize) -> usize {
    let mut depth = 0;
    for i in (0..=close).rev() {
        match tokens[i].token {
            Token::RParen => depth += 1,
            Token::LParen => {
                depth -= 1;
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
    }
    0
}

/// `CAST(x AS CHAR ...`, `CONVERT(x, CHAR ...`
pub(super) fn in_cast(tokens: &[TokenWithSpan], i: usize) -> bool {
    i > 0 && (is(&tokens[i - 1].token, "AS") || tokens[i - 1].token == Token::Comma)
}

/// `FROM t PARTITION (p)`: not the PARTITION of OVER.
pub(super) fn after_table(tokens: &[TokenWithSpan], i: usize) -> bool {
    tokens[..i].iter().rev().take(6).any(|t| {
        ["FROM", "JOIN", "INTO", "UPDATE"]
            .iter()
            .any(|w| is(&t.token, w))
    })
}
