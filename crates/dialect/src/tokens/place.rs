//! Where a token stands, and what it is there: a name, a call, a type, a unit.

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
const SIMPLE: [&str; 9] = [
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
    upper(token).filter(|w| SIMPLE.contains(&w.as_str()) || COMPOSITE_UNITS.contains(&w.as_str()))
}

pub(super) fn unit_follows(tokens: &[TokenWithSpan], close: usize) -> bool {
    // The value may go on behind its first parentheses: INTERVAL (a) + 1 DAY.
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

/// Whether a name is meant: of a column behind a dot, or an alias behind AS.
pub(super) fn is_name(tokens: &[TokenWithSpan], i: usize) -> bool {
    i > 0 && (tokens[i - 1].token == Token::Period || is(&tokens[i - 1].token, "AS"))
}

/// Whether a function's name is called here, and no type, table or clause is meant.
pub(super) fn is_call(tokens: &[TokenWithSpan], i: usize) -> bool {
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
        Token::Eq if is(&tokens[i].token, "DEFAULT") => !in_definition(tokens, i),
        // `VALUES (1), ROW(2)` and `f(a, CHAR(1))`
        Token::Comma => !in_definition(tokens, i) && !is(caller(tokens, i), "CONVERT"),
        Token::LParen => !in_definition(tokens, i),
        Token::RParen | Token::Period => false,
        _ => true,
    }
}

/// What stands before the parenthesis that is open at `i`.
pub(super) fn caller(tokens: &[TokenWithSpan], i: usize) -> &Token {
    let mut depth = 0;
    for at in (0..i).rev() {
        match tokens[at].token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => {
                return at.checked_sub(1).map_or(&Token::EOF, |b| &tokens[b].token);
            }
            Token::LParen => depth -= 1,
            _ => {}
        }
    }
    &Token::EOF
}

/// Whether the statement defines columns: there `CHAR(10)` is a type.
pub(super) fn in_definition(tokens: &[TokenWithSpan], i: usize) -> bool {
    let first = tokens.first().map(|t| &t.token);
    first.is_some_and(|t| is(t, "CREATE") || is(t, "ALTER"))
        && !tokens[..i].iter().any(|t| is(&t.token, "SELECT"))
}

/// Whether a token stands in the parentheses of a CREATE TABLE or ALTER TABLE: a column is defined.
pub(super) fn in_columns(tokens: &[TokenWithSpan], i: usize) -> bool {
    let depth = tokens[..i].iter().fold(0i64, |depth, t| match t.token {
        Token::LParen => depth + 1,
        Token::RParen => depth - 1,
        _ => depth,
    });
    let alters = tokens.first().is_some_and(|t| is(&t.token, "ALTER"));
    in_definition(tokens, i) && (depth > 0 || alters)
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
