//! Where one SQL statement ends and the next begins, in what a person types or pipes.

/// Takes the first whole statement off the front of `text`: what is before its `;`, without
/// it. `None` when no `;` ends a statement yet. Semicolons in strings, quoted names and comments
/// end nothing.
pub fn take_statement(text: &mut String) -> Option<String> {
    let end = end_of_statement(text)?;
    let rest = text.split_off(end + 1);
    let mut statement = std::mem::replace(text, rest);
    statement.pop();
    Some(statement)
}

/// Whether there is anything to run: not blanks and comments alone.
pub fn is_blank(statement: &str) -> bool {
    let mut parts = Parts {
        text: statement,
        position: 0,
    };
    parts.all(|part| match part {
        Part::Other(text) => text.trim().is_empty(),
        // A comment that starts with /*! is code to MySQL.
        Part::Comment(text) => !text.starts_with("/*!"),
        Part::Quoted => false,
        Part::Semicolon(_) => true,
    })
}

fn end_of_statement(text: &str) -> Option<usize> {
    Parts { text, position: 0 }.find_map(|part| match part {
        Part::Semicolon(position) => Some(position),
        _ => None,
    })
}

/// A stretch of SQL text.
enum Part<'a> {
    /// A string or quoted name, open-ended ones included.
    Quoted,
    Comment(&'a str),
    /// The position of a `;`.
    Semicolon(usize),
    Other(&'a str),
}

struct Parts<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let start = self.position;
        let rest = &self.text[start..];
        let first = *rest.as_bytes().first()?;
        let (length, kind): (usize, fn(&'a str, usize) -> Part<'a>) = match first {
            b'\'' | b'"' | b'`' => (quoted(rest.as_bytes()), |_, _| Part::Quoted),
            b';' => (1, |_, start| Part::Semicolon(start)),
            _ => match comment(rest) {
                Some(length) => (length, |text, _| Part::Comment(text)),
                // One character is enough: what follows is looked at by itself.
                None => (rest.chars().next()?.len_utf8(), |text, _| Part::Other(text)),
            },
        };
        self.position = start + length;
        Some(kind(&rest[..length], start))
    }
}

/// The length of a quoted stretch with its quotes; all that is left when it is not closed.
/// Doubled quotes need no care: they read as two stretches side by side.
fn quoted(bytes: &[u8]) -> usize {
    let quote = bytes[0];
    let mut position = 1;
    while position < bytes.len() {
        match bytes[position] {
            // In `names` a backslash is a character like any other.
            b'\\' if quote != b'`' => position += 2,
            byte if byte == quote => return position + 1,
            _ => position += 1,
        }
    }
    bytes.len()
}

/// The length of a comment at the start of `text`, its newline left outside.
fn comment(text: &str) -> Option<usize> {
    let to_line_end = || text.find('\n').unwrap_or(text.len());
    if let Some(inside) = text.strip_prefix("/*") {
        return Some(inside.find("*/").map_or(text.len(), |end| end + 4));
    }
    // MySQL wants a blank after the dashes, so that 1--1 is arithmetic.
    let dashes = text
        .strip_prefix("--")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    (dashes || text.starts_with('#')).then(to_line_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (Vec<String>, String) {
        let mut rest = text.to_owned();
        let mut statements = Vec::new();
        while let Some(statement) = take_statement(&mut rest) {
            statements.push(statement);
        }
        (statements, rest)
    }

    #[test]
    fn semicolons_end_statements_and_only_outside_of_quotes_and_comments() {
        let cases: [(&str, &[&str], &str); 9] = [
            ("SELECT 1; SELECT 2;", &["SELECT 1", " SELECT 2"], ""),
            ("SELECT 1", &[], "SELECT 1"),
            ("SELECT ';', \";\", `;`;", &["SELECT ';', \";\", `;`"], ""),
            ("SELECT 'it''s; \\'; ';x", &["SELECT 'it''s; \\'; '"], "x"),
            ("SELECT 1 -- a; b\n;c", &["SELECT 1 -- a; b\n"], "c"),
            ("SELECT 1 # a; b\n;", &["SELECT 1 # a; b\n"], ""),
            ("SELECT /* ; */ 1;", &["SELECT /* ; */ 1"], ""),
            ("SELECT 1--1;", &["SELECT 1--1"], ""),
            ("SELECT 'open; ", &[], "SELECT 'open; "),
        ];
        for (text, statements, rest) in cases {
            let (got, left) = split(text);
            assert_eq!(
                (
                    got.iter().map(String::as_str).collect::<Vec<_>>(),
                    left.as_str()
                ),
                (statements.to_vec(), rest),
                "{text}"
            );
        }
    }

    #[test]
    fn comments_and_blanks_are_nothing_to_run() {
        for blank in ["", " \n\t", "-- x", "# x\n", "/* x */ ", ";"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for code in ["SELECT 1", "'x'", "/*!40101 SET NAMES utf8 */", "é", "--x"] {
            assert!(!is_blank(code), "{code:?}");
        }
    }

    #[test]
    fn a_trailing_backslash_or_a_wide_character_does_not_break_it() {
        assert_eq!(split("SELECT 'a\\"), (vec![], "SELECT 'a\\".to_owned()));
        assert_eq!(
            split("SELECT 'é;€';ü"),
            (vec!["SELECT 'é;€'".to_owned()], "ü".to_owned())
        );
    }
}
