//! Removes passwords from statements that others may read.

use std::borrow::Cow;

use crate::error::SYNTAX;
use crate::tokens::{Token, TokenKind, Tokens};

/// Replaces a password.
const HIDDEN: &str = "'<secret>'";

/// A quoted text after one of these, or next to an `@`, is the name of an account or a plugin.
const BEFORE_NAMES: [&str; 9] = [
    "USER", "EXISTS", "FOR", "TO", "FROM", "WITH", "CREATE", "GRANT", ",",
];

/// Which texts of a statement are hidden.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Redaction {
    /// All texts except names: the statement is about accounts.
    AccountTexts,
    /// All texts: one of them may hold another statement, or a password among other settings.
    AllTexts,
}

/// The text of a statement for process lists, events and logs: without passwords.
pub fn redact(text: &str) -> Cow<'_, str> {
    match redaction(text) {
        Some(redaction) => hide(text, redaction),
        None => Cow::Borrowed(text),
    }
}

/// The same for a text in which words precede the statement, such as a session's state.
pub fn redact_after_words(text: &str) -> Cow<'_, str> {
    if !has_word(text, "identified") && !has_word(text, "password") {
        return Cow::Borrowed(text);
    }
    let blanks = text.match_indices(char::is_whitespace);
    let starts = blanks.map(|(at, blank)| at + blank.len());
    for start in [0].into_iter().chain(starts) {
        if let Cow::Owned(redacted) = redact(&text[start..]) {
            return Cow::Owned(format!("{}{redacted}", &text[..start]));
        }
    }
    Cow::Borrowed(text)
}

/// Whether a text contains a word, in any case.
fn has_word(text: &str, word: &str) -> bool {
    let mut windows = text.as_bytes().windows(word.len());
    windows.any(|place| place.eq_ignore_ascii_case(word.as_bytes()))
}

/// The message of an error for events, which others may read: a syntax error quotes the statement, or
/// the text of a variable that is prepared.
pub fn redact_message<'m>(code: u16, message: &'m str, redacted: &str) -> Cow<'m, str> {
    let hidden = redacted.contains(HIDDEN) || head(redacted) == *b"pre";
    match message.split_once('\'') {
        Some((prefix, _)) if hidden && code == SYNTAX => Cow::Owned(format!("{prefix}{HIDDEN}")),
        _ => Cow::Borrowed(message),
    }
}

/// The first three bytes of a statement, letters in lower case.
fn head(text: &str) -> [u8; 3] {
    let start = match text.as_bytes() {
        [first, ..] if first.is_ascii_alphabetic() => text,
        _ => text.trim_start_matches(|c: char| c.is_whitespace() || c == '('),
    };
    let mut bytes = start.bytes().map(|byte| byte.to_ascii_lowercase());
    [0; 3].map(|none| bytes.next().unwrap_or(none))
}

fn redaction(text: &str) -> Option<Redaction> {
    // This runs for every statement: the first letters decide most cases.
    match &head(text) {
        b"cre" | b"alt" | b"set" | b"gra" | b"pre" | b"cal" | b"cha" | b"sta" | b"clo" | b"exe" => {
        }
        [b'/', b'*', _] | [b'-', b'-', _] | [b'#', ..] => {}
        _ => return None,
    }
    if !has_word(text, "identified") && !has_word(text, "password") {
        return None;
    }
    let words = Tokens::of(text).filter(|token| token.kind == TokenKind::Word);
    let mut words = words.map(|token| text[token.start..token.end].to_ascii_uppercase());
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    match (first.as_str(), second.as_str()) {
        ("CREATE" | "ALTER", "USER" | "OR") | ("SET", "PASSWORD") | ("GRANT" | "CLONE", _) => {
            Some(Redaction::AccountTexts)
        }
        ("SET" | "PREPARE" | "CALL" | "CHANGE" | "START" | "EXECUTE", _) | (_, "SERVER") => {
            Some(Redaction::AllTexts)
        }
        _ => None,
    }
}

/// Replaces each text that may be a password by [`HIDDEN`].
fn hide(text: &str, redaction: Redaction) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    // Whether a backslash escapes depends on sql_mode, so that the end of the text is not known here.
    let has_backslash = text.contains('\\');
    let mut before: Option<Token> = None;
    let mut tokens = Tokens::of(text).peekable();
    while let Some(token) = tokens.next() {
        let previous = before.map_or("", |before| &text[before.start..before.end]);
        let is_behind =
            |words: &[&str]| words.iter().any(|word| previous.eq_ignore_ascii_case(word));
        let is_secret = match token.kind {
            TokenKind::Quoted => {
                let at = tokens
                    .peek()
                    .is_some_and(|next| &text[next.start..next.end] == "@");
                let named = at || previous.ends_with('@') || is_behind(&BEFORE_NAMES);
                redaction == Redaction::AllTexts || has_backslash || !named
            }
            // An unquoted word is no valid password, but the user may have meant it as one.
            TokenKind::Word if redaction == Redaction::AccountTexts && is_behind(&["BY", "AS"]) => {
                let word = &text[token.start..token.end];
                !["PASSWORD", "RANDOM"]
                    .into_iter()
                    .any(|keyword| word.eq_ignore_ascii_case(keyword))
            }
            _ => false,
        };
        if is_secret {
            out.push_str(&text[copied..token.start]);
            out.push_str(HIDDEN);
            copied = if has_backslash { text.len() } else { token.end };
            if has_backslash {
                break;
            }
        }
        before = Some(token);
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{redact, redact_after_words, redact_message};

    #[test]
    fn a_statement_after_a_state_has_no_password() {
        for (text, expected) in [
            (
                "creating table CREATE USER u IDENTIFIED BY 'x' REQUIRE SSL",
                "creating table CREATE USER u IDENTIFIED BY '<secret>' REQUIRE SSL",
            ),
            (" SET PASSWORD = 'ö", " SET PASSWORD = '<secret>'"),
            (
                "waiting: wait/lock/metadata ALTER USER u IDENTIFIED BY \"x\"",
                "waiting: wait/lock/metadata ALTER USER u IDENTIFIED BY '<secret>'",
            ),
            (
                "Sending data SELECT 'x' AS password",
                "Sending data SELECT 'x' AS password",
            ),
            ("executing SELECT 'x'", "executing SELECT 'x'"),
        ] {
            assert_eq!(redact_after_words(text), expected);
        }
    }

    #[test]
    fn passwords_are_redacted() {
        for (text, expected) in [
            (
                "CREATE USER 'a'@'%' IDENTIFIED BY 'x''y', b IDENTIFIED WITH 'p' BY \"z\"\"\" REQUIRE SSL",
                "CREATE USER 'a'@'%' IDENTIFIED BY '<secret>', b IDENTIFIED WITH 'p' BY '<secret>' REQUIRE SSL",
            ),
            (
                "alter user u identified with 'p' as 'ö*12'",
                "alter user u identified with 'p' as '<secret>'",
            ),
            (
                "SET PASSWORD FOR 'u'@'h' = 'x'",
                "SET PASSWORD FOR 'u'@'h' = '<secret>'",
            ),
            ("set password='x", "set password='<secret>'"),
            (
                "/* c */ SET PASSWORD = PASSWORD('x')",
                "/* c */ SET PASSWORD = PASSWORD('<secret>')",
            ),
            (
                "SET @a = 'x', PASSWORD = 'y'",
                "SET @a = '<secret>', PASSWORD = '<secret>'",
            ),
            (
                "PREPARE s FROM 'CREATE USER u IDENTIFIED BY ''x'''",
                "PREPARE s FROM '<secret>'",
            ),
            (
                "CALL sys.execute_prepared_stmt(\"ALTER USER u IDENTIFIED BY 'x'\")",
                "CALL sys.execute_prepared_stmt('<secret>')",
            ),
            (
                "CREATE USER 'u' IDENTIFIED BY /* 'c' */ 'x' 'y'",
                "CREATE USER 'u' IDENTIFIED BY /* 'c' */ '<secret>' '<secret>'",
            ),
            (
                "/*!50700 ALTER USER*/ u IDENTIFIED /*! BY 'x'*/ # 'c'\n, v IDENTIFIED BY'y'",
                "/*!50700 ALTER USER*/ u IDENTIFIED /*! BY '<secret>'*/ # 'c'\n, v IDENTIFIED BY'<secret>'",
            ),
            (
                "CREATE USER u IDENTIFIED BY x'6162', v IDENTIFIED BY wordless",
                "CREATE USER u IDENTIFIED BY '<secret>''<secret>', v IDENTIFIED BY '<secret>'",
            ),
            (
                "GRANT ALL ON *.* TO 'u'@'%' IDENTIFIED BY 'x'",
                "GRANT ALL ON *.* TO 'u'@'%' IDENTIFIED BY '<secret>'",
            ),
            (
                "ALTER USER `u` IDENTIFIED BY PASSWORD '*81F5'",
                "ALTER USER `u` IDENTIFIED BY PASSWORD '<secret>'",
            ),
            // With NO_BACKSLASH_ESCAPES the first text ends at the second quote.
            (
                "CREATE USER 'a\\' IDENTIFIED BY 'x'",
                "CREATE USER '<secret>'",
            ),
            (
                "CREATE USER a IDENTIFIED BY 'x\\', b IDENTIFIED BY 'y'",
                "CREATE USER a IDENTIFIED BY '<secret>'",
            ),
            (
                "CHANGE MASTER TO MASTER_PASSWORD='x'",
                "CHANGE MASTER TO MASTER_PASSWORD='<secret>'",
            ),
            (
                "change replication source to source_user='r', source_password=\"x\"",
                "change replication source to source_user='<secret>', source_password='<secret>'",
            ),
            (
                "START REPLICA USER='r' PASSWORD='x'",
                "START REPLICA USER='<secret>' PASSWORD='<secret>'",
            ),
            (
                "CLONE INSTANCE FROM 'u'@'h':3306 IDENTIFIED BY 'x'",
                "CLONE INSTANCE FROM 'u'@'h':3306 IDENTIFIED BY '<secret>'",
            ),
            (
                "EXECUTE IMMEDIATE 'SET PASSWORD = \"x\"'",
                "EXECUTE IMMEDIATE '<secret>'",
            ),
            (
                "SET PASSWORD FOR u@h = PASSWORD('x')",
                "SET PASSWORD FOR u@h = PASSWORD('<secret>')",
            ),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "SELECT 'x' AS password",
            "CREATE TABLE t (password TEXT DEFAULT 'x')",
            "CREATE TABLE user (password TEXT DEFAULT 'x')",
            "INSERT INTO t VALUES ('password')",
            "/* password */ UPDATE t SET a = 'x'",
            "SET NAMES 'utf8mb4'",
            "CREATE USER 'u'@'localhost', v@'%' PASSWORD EXPIRE DEFAULT",
            "ALTER USER USER() ACCOUNT LOCK",
            "",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn a_syntax_error_does_not_quote_them() {
        let error = "You have an error in your SQL syntax near 'BYE 'x''";
        let hidden = redact("CREATE USER u IDENTIFIED BYE 'x'");
        assert_eq!(
            redact_message(1064, error, &hidden),
            "You have an error in your SQL syntax near '<secret>'"
        );
        assert_eq!(redact_message(1396, error, &hidden), error);
        assert_eq!(redact_message(1064, error, &redact("SELECT 1 1")), error);
    }
}
