//! The names of a result's columns in MySQL: the text of the expression, as written.

use std::cell::Cell;

use sqlparser::dialect::MySqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token};

use crate::tokenize::tokenize;

/// The texts of the select list's items of a statement's first SELECT; empty if they cannot be
/// determined.
pub fn projection(sql: &str) -> Vec<String> {
    let Ok(tokens) = tokenize(&MySqlDialect {}, sql, &mut |_| Ok(())) else {
        return Vec::new();
    };
    let lines = Lines::new(sql);
    let mut items = Vec::new();
    let mut start = None;
    // Parentheses around the whole query do not hide its list.
    let base = tokens
        .iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .take_while(|t| t.token == Token::LParen)
        .count() as i32;
    let mut depth = 0i32;
    let mut end = 0;
    let mut in_list = false;
    for token in &tokens {
        let keyword = match &token.token {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        };
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        let at = lines.offset(token.span.start);
        if !in_list {
            // `WITH x AS (SELECT ...) SELECT`: the one outside of the parentheses.
            in_list = depth == base && keyword == Keyword::SELECT;
            continue;
        }
        if start.is_none() && is_modifier(&token.token, keyword) {
            continue;
        }
        if depth < base
            || (depth == base
                && (ends_list(keyword)
                    || token.token == Token::SemiColon
                    || token.token == Token::EOF))
        {
            break;
        }
        if depth == base && token.token == Token::Comma {
            items.push(text(sql, start.take(), end));
            continue;
        }
        start.get_or_insert(at);
        end = lines.offset(token.span.end);
    }
    if start.is_some() {
        items.push(text(sql, start, end));
    }
    items
}

/// The query of CREATE ... AS query, as it was written.
pub fn after_as(sql: &str) -> Option<&str> {
    let tokens = tokenize(&MySqlDialect {}, sql, &mut |_| Ok(())).ok()?;
    let lines = Lines::new(sql);
    let mut depth = 0;
    let mut last = None;
    for token in &tokens {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Word(w) if depth == 0 && w.keyword == Keyword::AS => {
                return sql.get(lines.offset(token.span.end)..).map(trimmed);
            }
            Token::Word(w)
                if depth == 0 && matches!(w.keyword, Keyword::SELECT | Keyword::WITH) =>
            {
                last = Some(lines.offset(token.span.start));
                break;
            }
            _ => {}
        }
    }
    last.and_then(|at| sql.get(at..)).map(trimmed)
}

fn trimmed(text: &str) -> &str {
    text.trim().trim_end_matches(';')
}

/// The offset of a line and column, which count from 1. A place that the text does not have is its end.
pub fn offset(sql: &str, at: Location) -> usize {
    Lines::new(sql).offset(at)
}

fn text(sql: &str, start: Option<usize>, end: usize) -> String {
    start
        .and_then(|s| sql.get(s..end))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn is_modifier(token: &Token, keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::DISTINCT | Keyword::ALL | Keyword::STRAIGHT_JOIN
    ) || matches!(token, Token::Word(w) if w.quote_style.is_none()
            && ["DISTINCTROW", "HIGH_PRIORITY", "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT",
                "SQL_NO_CACHE", "SQL_CACHE", "SQL_CALC_FOUND_ROWS"].iter().any(|m| w.value.eq_ignore_ascii_case(m)))
}

fn ends_list(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::FROM
            | Keyword::WHERE
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::ORDER
            | Keyword::LIMIT
            | Keyword::UNION
            | Keyword::EXCEPT
            | Keyword::INTERSECT
            | Keyword::INTO
            | Keyword::FOR
            | Keyword::WINDOW
    )
}

/// Where the lines of a text begin, to convert sqlparser's line and column to an offset.
pub struct Lines<'a> {
    sql: &'a str,
    starts: Vec<usize>,
    /// All characters are bytes: nothing has to be counted.
    ascii: bool,
    /// The last place that was converted, and its offset: the next one is mostly after it.
    last: Cell<(Location, usize)>,
}

impl<'a> Lines<'a> {
    /// The lines of a text.
    pub fn new(sql: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(sql.match_indices('\n').map(|(i, _)| i + 1))
            .collect();
        let ascii = sql.is_ascii();
        Self {
            sql,
            starts,
            ascii,
            last: Cell::new((Location::new(1, 1), 0)),
        }
    }

    /// As [`offset`], for many places in their order.
    pub fn offset(&self, at: Location) -> usize {
        let Some(&start) = self.starts.get((at.line as usize).wrapping_sub(1)) else {
            return self.sql.len();
        };
        let column = (at.column as usize).saturating_sub(1);
        if self.ascii {
            return (start + column).min(self.sql.len());
        }
        let (last, offset) = self.last.get();
        let (from, characters) = match last.line == at.line && last.column <= at.column {
            true => (offset, (at.column - last.column) as usize),
            false => (start, column),
        };
        let mut rest = self.sql[from..].char_indices();
        let Some((i, _)) = rest.nth(characters) else {
            return self.sql.len();
        };
        self.last.set((at, from + i));
        from + i
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_expressions_text() {
        for (sql, names) in [
            ("SELECT COUNT(*), a+ 1 FROM t", vec!["COUNT(*)", "a+ 1"]),
            (
                "SELECT DISTINCT SQL_NO_CACHE 'é', if(a, b, c)\n , x",
                vec!["'é'", "if(a, b, c)", "x"],
            ),
            (
                "WITH q AS (SELECT 1) SELECT (SELECT 2 FROM y) FROM q",
                vec!["(SELECT 2 FROM y)"],
            ),
            ("(SELECT 1, 2)", vec!["1", "2"]),
            ("(SELECT a+1 FROM t) UNION SELECT 2", vec!["a+1"]),
            (
                "SELECT 'é', 'ü' + 1,\n 'ß', a, 'é'",
                vec!["'é'", "'ü' + 1", "'ß'", "a", "'é'"],
            ),
        ] {
            assert_eq!(projection(sql), names, "{sql}");
        }
    }
}
