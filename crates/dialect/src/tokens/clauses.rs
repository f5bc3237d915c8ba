//! Clauses of a statement that sqlparser does not read, or reads only in other words.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use tare_mysql::error::SqlError;

use super::place::is;
use crate::error::{Error, Result, near};

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

/// Takes INTO @a, @b out of a SELECT.
pub fn into(tokens: &mut Vec<TokenWithSpan>) -> Into {
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
pub fn explain_format(tokens: &mut [TokenWithSpan]) -> Result<()> {
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
pub fn create_database(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
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
pub fn doubles(tokens: &mut Vec<TokenWithSpan>) -> DuplicateRows {
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
pub fn first_words(tokens: &mut Vec<TokenWithSpan>) {
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
pub fn modifiers(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
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
pub fn several_tables(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
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
