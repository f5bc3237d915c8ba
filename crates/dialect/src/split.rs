//! Several statements in one text.

use std::borrow::Cow;

use tare_mysql::series::Series;

/// Where the first statement of a text ends, and where the next begins. A `;` within quotes or comments is
/// skipped.
pub fn first(sql: &str) -> (usize, usize) {
    let bytes = sql.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            quote @ (b'\'' | b'"' | b'`') => i = skip_quoted(bytes, i, quote),
            b'#' => i = skip_line(bytes, i),
            b'-' if bytes[i..].starts_with(b"--")
                && bytes.get(i + 2).is_none_or(u8::is_ascii_whitespace) =>
            {
                i = skip_line(bytes, i);
            }
            b'/' if bytes[i..].starts_with(b"/*") => {
                let end = bytes[i + 2..].windows(2).position(|w| w == b"*/");
                i = end.map_or(bytes.len(), |n| i + 2 + n + 2);
            }
            b';' => return (i, i + 1),
            _ => i += 1,
        }
    }
    (bytes.len(), bytes.len())
}

fn skip_quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' if quote != b'`' => i += 2,
            b if b == quote => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn skip_line(bytes: &[u8], start: usize) -> usize {
    bytes[start..]
        .iter()
        .position(|&b| b == b'\n')
        .map_or(bytes.len(), |n| start + n)
}

/// Whether there is nothing but space and comments.
pub fn is_blank(sql: &str) -> bool {
    let mut rest = sql.trim_start();
    loop {
        if rest.is_empty() {
            return true;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            // `/*!` is no comment.
            if comment.starts_with('!') || comment.starts_with("M!") {
                return false;
            }
            match comment.find("*/") {
                Some(end) => rest = comment[end + 2..].trim_start(),
                None => return true,
            }
        } else if rest.starts_with('#')
            || rest.starts_with("-- ")
            || rest == "--"
            || rest.starts_with("--\n")
        {
            match rest.find('\n') {
                Some(end) => rest = rest[end..].trim_start(),
                None => return true,
            }
        } else {
            return false;
        }
    }
}

/// Makes MariaDB's `/*M! ... */` and the optional version of `/*!40101 ... */` plain text.
/// `None` when there is none.
pub fn open_comments(sql: &str, series: Series) -> Option<String> {
    if !sql.contains("/*!") && !sql.contains("/*M!") {
        return None;
    }
    let bytes = sql.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    let mut open = false;
    while i < bytes.len() {
        match bytes[i] {
            quote @ (b'\'' | b'"' | b'`') => {
                let end = skip_quoted(bytes, i, quote).min(bytes.len());
                out.extend_from_slice(&bytes[i..end]);
                i = end;
            }
            b'/' if bytes[i..].starts_with(b"/*!") || bytes[i..].starts_with(b"/*M!") => {
                i += if bytes[i + 2] == b'M' { 4 } else { 3 };
                let digits = bytes[i..]
                    .iter()
                    .take(6)
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let version: u32 = sql[i..i + digits].parse().unwrap_or(0);
                i += digits;
                // Text for newer servers stays a comment.
                if digits >= 5 && !series.reads(version) {
                    let end = bytes[i..].windows(2).position(|w| w == b"*/");
                    i = end.map_or(bytes.len(), |n| i + n + 2);
                } else {
                    open = true;
                }
                out.push(b' ');
            }
            b'*' if open && bytes[i..].starts_with(b"*/") => {
                open = false;
                out.push(b' ');
                i += 2;
            }
            b => {
                out.push(b);
                i += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// A statement's text. A literal may have bytes that are no UTF-8, as clients send BLOBs: it becomes a
/// hexadecimal literal. `None` if such bytes are elsewhere.
pub fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(bytes.len() * 2);
    let mut i = 0;
    while i < bytes.len() {
        let quote = bytes[i];
        if !matches!(quote, b'\'' | b'"' | b'`') {
            out.push(quote);
            i += 1;
            continue;
        }
        let mut end = skip_quoted(bytes, i, quote).min(bytes.len());
        while bytes.get(end) == Some(&quote) {
            // A doubled quote is one inside.
            end = skip_quoted(bytes, end, quote).min(bytes.len());
        }
        let literal = &bytes[i..end];
        if std::str::from_utf8(literal).is_ok() || quote == b'`' {
            out.extend_from_slice(literal);
        } else {
            if literal.len() < 2 || literal[literal.len() - 1] != quote {
                return None;
            }
            out.extend_from_slice(b" X'");
            let mut inside = literal[1..literal.len() - 1].iter().copied();
            while let Some(byte) = inside.next() {
                let byte = match byte {
                    b'\\' => match inside.next()? {
                        b'0' => 0,
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'b' => 8,
                        b'Z' => 0x1a,
                        other => other,
                    },
                    b if b == quote => inside.next()?,
                    other => other,
                };
                out.extend_from_slice(format!("{byte:02x}").as_bytes());
            }
            out.push(b'\'');
        }
        i = end;
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_semicolons_outside_quotes() {
        for (sql, end) in [
            ("SELECT 1; SELECT 2", 8),
            ("SELECT ';'; x", 10),
            (r"SELECT '\';'; x", 12),
            ("SELECT `;`; x", 10),
            ("/* ; */ SELECT 1; x", 16),
            ("-- ;\nSELECT 1; x", 13),
            ("SELECT 1--;", 10),
            ("SELECT 'open;", 13),
        ] {
            assert_eq!(first(sql).0, end, "{sql}");
        }
    }

    #[test]
    fn version_comments_open_up_to_8_0() {
        let open = |s| open_comments(s, Series::V8_0).expect("has one");
        assert_eq!(
            open("CREATE /*!50100 x */ y")
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["CREATE", "x", "y"]
        );
        assert_eq!(
            open("a /*!80016 x */ y")
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["a", "y"]
        );
        assert_eq!(
            open("a /*M!100100 x */ y")
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["a", "y"]
        );
        assert_eq!(
            open("'/*! x */' /*! y */")
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["'/*!", "x", "*/'", "y"]
        );
    }

    #[test]
    fn bytes_in_quotes_become_hexadecimal() {
        assert_eq!(text(b"SELECT 'a'"), Some(Cow::Borrowed("SELECT 'a'")));
        let sql = text(b"SELECT 'ok', _binary'\xff\\'\\0''x', `n`").expect("text");
        assert_eq!(sql, "SELECT 'ok', _binary X'ff27002778', `n`");
        assert_eq!(text(b"SELECT \xff"), None);
        assert_eq!(text(b"SELECT '\xff"), None);
    }

    #[test]
    fn blank_is_space_and_comments() {
        assert!(is_blank(" /* x */ -- y\n# z"));
        assert!(!is_blank("/*! x */") && !is_blank("-1"));
    }
}
