//! The first statement of a text that may have several: some servers pass the rest of a packet with each.

use super::tokens::{Scanner, Token};

/// Words that begin a statement of several statements, outside of stored programs too.
const COMPOUND: [&str; 7] = ["CASE", "DECLARE", "FOR", "IF", "LOOP", "REPEAT", "WHILE"];
/// Stored programs, whose bodies have statements.
const PROGRAMS: [&str; 5] = ["EVENT", "FUNCTION", "PACKAGE", "PROCEDURE", "TRIGGER"];
/// Words that may come before the kind of a program.
const BEFORE_PROGRAMS: [&str; 5] = ["AGGREGATE", "CURRENT_ROLE", "CURRENT_USER", "DEFINER", "OR"];

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|listed| listed.as_bytes().eq_ignore_ascii_case(word))
}

/// The text up to the first semicolon that ends a statement.
pub(crate) fn first_statement(text: &str) -> &str {
    if !text.as_bytes().contains(&b';') || contains_statements(text) {
        return text;
    }
    let mut scanner = Scanner::new(text.as_bytes());
    while let Some(token) = scanner.next() {
        if token == Token::Byte(b';') {
            return &text[..scanner.start()];
        }
    }
    text
}

/// Whether the first statement contains others.
fn contains_statements(text: &str) -> bool {
    let mut tokens = Scanner::new(text.as_bytes());
    let Some(Token::Word(first)) = tokens.next() else {
        return false;
    };
    if is_one_of(first, &["BEGIN"]) {
        // Otherwise it begins a transaction.
        return match tokens.next() {
            Some(Token::Word(word)) => !is_one_of(word, &["WORK"]),
            _ => false,
        };
    }
    if !is_one_of(first, &["CREATE", "ALTER"]) {
        return is_one_of(first, &COMPOUND) || tokens.next() == Some(Token::Byte(b':'));
    }
    let mut is_account = false;
    for token in tokens {
        match token {
            Token::Word(word) if is_one_of(word, &PROGRAMS) => return true,
            Token::Word(word) if is_account || is_one_of(word, &BEFORE_PROGRAMS) => {}
            // OR REPLACE.
            Token::Word(word) if is_one_of(word, &["REPLACE"]) => {}
            Token::Word(_) | Token::Byte(b'(' | b';') => return false,
            _ => {}
        }
        is_account = matches!(token, Token::Byte(b'=' | b'@'));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_its_first_statement_ends() {
        for (text, first) in [
            ("SELECT 1", "SELECT 1"),
            ("select 1; select 2", "select 1"),
            ("select ';'; select 2", "select ';'"),
            ("select `a;b` -- c;\n; x", "select `a;b` -- c;\n"),
            ("select 1 /* ; */;", "select 1 /* ; */"),
            ("begin; select 1; commit", "begin"),
            ("BEGIN WORK; SELECT 1", "BEGIN WORK"),
            (
                "create table event (a int); select 1",
                "create table event (a int)",
            ),
            (
                "create or replace view v as select 1; x",
                "create or replace view v as select 1",
            ),
            (";", ""),
        ] {
            assert_eq!(first_statement(text), first);
        }
    }

    #[test]
    fn a_statement_of_statements_is_not_cut() {
        for text in [
            "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
            "create definer = root@localhost trigger t before insert on t for each row begin set @a = 1; end",
            "CREATE DEFINER=`a`@`%` PROCEDURE p() BEGIN SELECT 1; END",
            "create or replace function f() returns int begin return 1; end",
            "ALTER EVENT e DO BEGIN SELECT 1; END",
            "BEGIN NOT ATOMIC SELECT 1; SELECT 2; END",
            "IF 1 THEN SELECT 1; END IF",
            "again: LOOP LEAVE again; END LOOP",
        ] {
            assert_eq!(first_statement(text), text);
        }
    }
}
