//! Splits a text into tokens.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use sqlparser::dialect::Dialect;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, TokenizerError};
use tare_mysql::interrupt;

use crate::error::Error;
use crate::names::Lines;

/// Why a text has no tokens.
#[derive(Debug)]
pub enum TokenizeError {
    /// The text is not SQL.
    Text(TokenizerError),
    /// The statement must end.
    Ended(Error),
}

/// The tokens of a text. `check` is called with each token that sqlparser has, and its first error ends the reading.
pub fn tokenize(
    dialect: &dyn Dialect,
    sql: &str,
    check: &mut dyn FnMut(&Token) -> Result<(), Error>,
) -> Result<Vec<TokenWithSpan>, TokenizeError> {
    let mut tokens = read(dialect, sql, check)?;
    if sql.contains('\\') {
        correct_escapes(sql, &mut tokens);
    }
    Ok(match tokens.iter().any(|t| may_differ(&t.token)) {
        true => mysql_tokens(tokens),
        false => tokens,
    })
}

/// The tokens that sqlparser has.
fn read(
    dialect: &dyn Dialect,
    sql: &str,
    check: &mut dyn FnMut(&Token) -> Result<(), Error>,
) -> Result<Vec<TokenWithSpan>, TokenizeError> {
    /// Leaves the tokenizer by a panic: it has no other early exit.
    struct StatementEnd(Error);
    let mut tokens = Vec::new();
    let all = catch_unwind(AssertUnwindSafe(|| {
        Tokenizer::new(dialect, sql).tokenize_with_location_into_buf_with_mapper(
            &mut tokens,
            |token| match interrupt::check_step()
                .map_err(Error::from)
                .and_then(|()| check(&token.token))
            {
                Ok(()) => token,
                Err(error) => resume_unwind(Box::new(StatementEnd(error))),
            },
        )
    }));
    match all {
        Ok(read) => read.map_err(TokenizeError::Text)?,
        Err(panic) => match panic.downcast::<StatementEnd>() {
            Ok(ended) => return Err(TokenizeError::Ended(ended.0)),
            Err(other) => resume_unwind(other),
        },
    }
    Ok(tokens)
}

/// Corrects texts with `\a` and `\f`, which are the letters in MySQL and control characters in sqlparser.
#[cold]
fn correct_escapes(sql: &str, tokens: &mut [TokenWithSpan]) {
    let lines = Lines::new(sql);
    for token in tokens {
        if let Token::SingleQuotedString(text)
        | Token::DoubleQuotedString(text)
        | Token::NationalStringLiteral(text) = &mut token.token
            && text.contains(['\u{7}', '\u{c}'])
        {
            *text = unescaped(&sql[lines.offset(token.span.start)..]);
        }
    }
}

/// The text that begins with a quoted literal. As in MySQL, `\%` and `\_` stay, for LIKE.
fn unescaped(sql: &str) -> String {
    let mut rest = sql.chars().skip_while(|c| !matches!(c, '\'' | '"'));
    let quote = rest.next();
    let mut text = String::new();
    while let Some(c) = rest.next() {
        if Some(c) == quote {
            if rest.next() != quote {
                break;
            }
            text.push(c);
        } else if c == '\\' {
            let escaped = rest.next();
            if matches!(escaped, Some('%' | '_')) {
                text.push(c);
            }
            text.push(match escaped {
                Some('0') => '\0',
                Some('b') => '\u{8}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('Z') => '\u{1a}',
                Some(other) => other,
                None => break,
            });
        } else {
            text.push(c);
        }
    }
    text
}

/// Whether MySQL may have other tokens here.
fn may_differ(token: &Token) -> bool {
    *token == Token::AtSign || operator_parts(token).is_some()
}

/// The tokens of MySQL's that sqlparser reads as one operator of another SQL: `1<@a` is `1 < @a`. True if a
/// variable follows.
pub fn operator_parts(token: &Token) -> Option<(&'static [Token], bool)> {
    Some(match token {
        Token::ArrowAt => (&[Token::Lt], true),
        Token::CaretAt => (&[Token::Caret], true),
        Token::ExclamationMarkTilde => (&[Token::ExclamationMark, Token::Tilde], false),
        Token::DoubleTilde => (&[Token::Tilde, Token::Tilde], false),
        Token::ExclamationMarkDoubleTilde => {
            (&[Token::ExclamationMark, Token::Tilde, Token::Tilde], false)
        }
        _ => return None,
    })
}

/// The tokens that MySQL has: its operators, and a variable's name with its `@`, which may be quoted.
#[cold]
fn mysql_tokens(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut all: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 8);
    // After the `@` of a variable.
    let mut is_variable = false;
    // The last token but spaces is a text or a quoted name: an account's user, before `@` and the host.
    let mut is_user = false;
    for mut token in tokens {
        let span = token.span;
        if mem::take(&mut is_variable) {
            match variable(&token.token) {
                Some(name) => token.token = Token::make_word(&format!("@{name}"), None),
                None => all.push(TokenWithSpan::new(Token::AtSign, span)),
            }
        }
        match operator_parts(&token.token) {
            Some((parts, begins)) => {
                let part = |part: &Token| TokenWithSpan::new(part.clone(), span);
                all.extend(parts.iter().map(part));
                is_variable = begins;
            }
            None if token.token == Token::AtSign && !is_user => is_variable = true,
            None => {
                if !matches!(token.token, Token::Whitespace(_)) {
                    is_user = is_quoted(&token.token);
                }
                all.push(token);
            }
        }
    }
    if is_variable && let Some(last) = all.last() {
        all.push(TokenWithSpan::new(Token::AtSign, last.span));
    }
    all
}

/// A variable's name after `@`.
fn variable(token: &Token) -> Option<&str> {
    match token {
        Token::Word(w) => Some(&w.value),
        Token::SingleQuotedString(name) | Token::DoubleQuotedString(name) => Some(name),
        _ => None,
    }
}

fn is_quoted(token: &Token) -> bool {
    match token {
        Token::Word(w) => w.quote_style.is_some(),
        other => variable(other).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Grammar;

    /// The escapes of MySQL's manual; any other character stands for itself.
    #[test]
    fn a_text_has_mysqls_escapes() {
        for (sql, expected) in [
            (r"'\a\f'", "af"),
            (
                r#"'\a\0\b\n\r\t\Z\\\'\"''\%\_\v'"#,
                "a\0\u{8}\n\r\t\u{1a}\\'\"'\\%\\_v",
            ),
            (r#""\f""'""#, "f\"'"),
            (r"N'\a'", "a"),
            ("'\u{7}\u{c}'", "\u{7}\u{c}"),
            ("'\u{7}\\a'", "\u{7}a"),
            ("'\\\\a'", "\\a"),
        ] {
            let sql = format!("SELECT 'é',\n {sql}, '\\b'");
            let tokens = tokenize(&Grammar, &sql, &mut |_| Ok(())).expect("tokens");
            let texts = tokens.iter().filter_map(|token| match &token.token {
                Token::SingleQuotedString(text)
                | Token::DoubleQuotedString(text)
                | Token::NationalStringLiteral(text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(texts.collect::<Vec<_>>(), ["é", expected, "\u{8}"], "{sql}");
        }
    }
}
