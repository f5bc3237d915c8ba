//! Passwords in statements.

use std::borrow::Cow;

use super::tokens::{Token, Tokens, is_one_of};

/// Replaces a text that may be a password.
const HIDDEN: &str = "'<secret>'";

/// The parts of words behind which passwords are.
const SIGNS: [&str; 2] = ["identified", "passw"];

/// Whether a statement may contain a password.
pub fn has_secret(text: &str) -> bool {
    SIGNS.iter().any(|sign| {
        let mut windows = text.as_bytes().windows(sign.len());
        windows.any(|part| part.eq_ignore_ascii_case(sign.as_bytes()))
    })
}

/// A statement with a password, without its texts but names of accounts.
pub fn hide<'t>(text: &'t str, has_escapes: bool) -> Cow<'t, str> {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut previous) = (0, None);
    let mut tokens = Tokens::new(text, has_escapes);
    while let Some(token) = tokens.next() {
        let start = tokens.start();
        let is_next = |sign| tokens.clone().next() == Some(Token::Symbol(sign));
        let is_behind =
            |words: &[&str]| matches!(previous, Some(Token::Word(word)) if is_one_of(word, words));
        let is_secret = match token {
            Token::Literal => previous != Some(Token::Symbol(b'@')) && !is_next(b'@'),
            // An unquoted word is no valid password, but the user may have meant it as one.
            Token::Word(word) if is_behind(&["BY", "AS"]) => {
                !is_one_of(word, &["PASSWORD", "RANDOM"])
            }
            Token::Quoted(_) => is_behind(&["BY", "AS", "PASSWORD"]),
            _ => false,
        };
        if is_secret {
            out.push_str(&text[copied..start]);
            out.push_str(HIDDEN);
            copied = tokens.end();
            // Where such a text ends depends on sql_mode, which the client may just have changed.
            if text[start..].contains('\\') {
                copied = text.len();
                break;
            }
        }
        previous = Some(token);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden() {
        for (text, expected) in [
            (
                "CREATE USER 'a'@'%' IDENTIFIED BY 'x''y', b IDENTIFIED WITH 'p' BY \"z\" REQUIRE SSL",
                "CREATE USER 'a'@'%' IDENTIFIED BY '<secret>', b IDENTIFIED WITH '<secret>' BY '<secret>' REQUIRE SSL",
            ),
            ("set password='x", "set password='<secret>'"),
            (
                "PREPARE s FROM 'CREATE USER u IDENTIFIED BY ''x'''",
                "PREPARE s FROM '<secret>'",
            ),
            (
                "CREATE USER u IDENTIFIED BY wordless, v IDENTIFIED BY `x`",
                "CREATE USER u IDENTIFIED BY '<secret>', v IDENTIFIED BY '<secret>'",
            ),
            (
                "CREATE USER a IDENTIFIED BY 'x\\', b IDENTIFIED BY 'y'",
                "CREATE USER a IDENTIFIED BY '<secret>'",
            ),
            (
                "ALTER USER u IDENTIFIED BY PASSWORD '*81F5' PASSWORD EXPIRE",
                "ALTER USER u IDENTIFIED BY PASSWORD '<secret>' PASSWORD EXPIRE",
            ),
        ] {
            assert!(has_secret(text), "{text}");
            assert_eq!(hide(text, true), expected);
        }
        assert!(!has_secret("SET NAMES 'utf8mb4'"));
        let text = "ALTER USER u PASSWORD EXPIRE";
        assert_eq!(hide(text, true), text);
    }
}
