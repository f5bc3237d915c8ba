//! The place of a syntax error.

use std::fmt::{self, Display};

use sqlparser::parser::ParserError;
use sqlparser::tokenizer::Location;

use crate::names;

/// The place of a syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The place of the first wrong token.
    At(Location),
    /// The last occurrence of a word.
    Near(String),
    /// No place: the text ends too early, or the parser gives up.
    End(String),
    /// The text from the place on, and its line, from 1.
    Quoted {
        /// The text, at most [`MAX_QUOTED_CHARS`] characters.
        text: String,
        /// The line.
        line: usize,
    },
}

/// Characters of the text that MySQL prints.
pub const MAX_QUOTED_CHARS: usize = 80;

impl Place {
    /// The place of sqlparser's error. Its errors are texts, and one that has a place ends
    /// with ` at Line: 1, Column: 8`.
    pub(super) fn of_parser(error: &ParserError) -> Self {
        let place = |text: &str| {
            let (_, place) = text.rsplit_once(" at Line: ")?;
            let (line, column) = place.split_once(", Column: ")?;
            Some(Location::new(
                line.trim().parse().ok()?,
                column.trim().parse().ok()?,
            ))
        };
        let text = error.to_string();
        match place(&text) {
            Some(place) => Self::At(place),
            None => Self::End(text),
        }
    }

    /// The same, with the text from the place on.
    pub(super) fn located_in(self, sql: &str) -> Self {
        let offset = match &self {
            Self::At(at) => names::offset(sql, *at),
            Self::Near(word) if !word.is_empty() => sql
                .to_lowercase()
                .rfind(&word.to_lowercase())
                .filter(|&at| sql.is_char_boundary(at))
                .unwrap_or(sql.len()),
            Self::Near(_) | Self::End(_) => sql.len(),
            Self::Quoted { .. } => return self,
        };
        Self::from_offset(sql, offset)
    }

    /// Whether a located place is the first word of a statement.
    pub(crate) fn is_beginning_of(&self, sql: &str) -> bool {
        match self {
            Self::Quoted { text, .. } => !text.is_empty() && sql.trim_start().starts_with(text),
            _ => false,
        }
    }

    /// The text from an offset on.
    pub(crate) fn from_offset(sql: &str, offset: usize) -> Self {
        Self::Quoted {
            text: sql[offset..]
                .trim_start()
                .chars()
                .take(MAX_QUOTED_CHARS)
                .collect(),
            line: sql[..offset].matches('\n').count() + 1,
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let manual = "check the manual that corresponds to your MySQL server version for the right syntax to use";
        match self {
            Self::At(at) => write!(f, "{manual} at line {}, column {}", at.line, at.column),
            Self::Near(word) => write!(f, "{manual} near '{word}'"),
            Self::End(text) => f.write_str(text),
            Self::Quoted { text, line } => write!(f, "{manual} near '{text}' at line {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_quotes_the_text_from_there_on() {
        let sql = "SELECT 1\nFORM t";
        for (place, text, line) in [
            (Place::At(Location::new(2, 1)), "FORM t", 2),
            (Place::At(Location::new(1, 8)), "1\nFORM t", 1),
            // No token: the end.
            (Place::At(Location::new(0, 0)), "", 2),
            (Place::Near("form".into()), "FORM t", 2),
            (Place::Near("nowhere".into()), "", 2),
            (Place::End("too deep".into()), "", 2),
        ] {
            let quoted = Place::Quoted {
                text: text.into(),
                line,
            };
            assert_eq!(place.located_in(sql), quoted, "{text}");
        }
    }

    #[test]
    fn the_parsers_place_is_taken_from_its_error() {
        let error = ParserError::ParserError("Expected: x, found: y at Line: 3, Column: 14".into());
        assert_eq!(Place::of_parser(&error), Place::At(Location::new(3, 14)));
        let error = ParserError::RecursionLimitExceeded;
        assert!(matches!(Place::of_parser(&error), Place::End(_)));
    }
}
