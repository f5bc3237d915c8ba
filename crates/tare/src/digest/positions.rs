//! Numbers of columns in GROUP BY and ORDER BY, which MySQL retains from 9.7 on: a statement with
//! another sort column is another statement.

use super::tokens::{Scanner, Token};

/// Words after which a list has ended.
const AFTER_A_LIST: [&[u8]; 13] = [
    b"LIMIT",
    b"HAVING",
    b"WINDOW",
    b"FOR",
    b"INTO",
    b"UNION",
    b"EXCEPT",
    b"INTERSECT",
    b"ROWS",
    b"RANGE",
    b"GROUPS",
    b"LOCK",
    b"PROCEDURE",
];
/// More words that may follow an item of a list.
const AFTER_AN_ITEM: [&[u8]; 5] = [b"ASC", b"DESC", b"WITH", b"ORDER", b"ON"];

fn is_one_of(word: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|listed| listed.eq_ignore_ascii_case(word))
}

/// The last word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Other,
    /// GROUP or ORDER.
    Sorts,
    /// CUBE or ROLLUP.
    Cube,
}

/// The position of the next token in a statement's lists.
pub(super) struct Positions {
    in_list: bool,
    /// Open parentheses since the list began.
    depth: u32,
    /// The same around the list's items.
    items_at: u32,
    at_item: bool,
    last: Last,
}

impl Positions {
    pub(super) const fn new() -> Self {
        Self {
            in_list: false,
            depth: 0,
            items_at: 0,
            at_item: false,
            last: Last::Other,
        }
    }

    /// The number, if the last token is that of a column.
    pub(super) fn column<'s>(&self, token: Token<'_>, tokens: &Scanner<'s>) -> Option<&'s str> {
        if token != Token::Literal || !self.at_item {
            return None;
        }
        let text = std::str::from_utf8(tokens.last_text()).ok()?;
        let is_number =
            text.starts_with(|c: char| ('1'..='9').contains(&c)) && text.parse::<u32>().is_ok();
        let is_all = match tokens.follower() {
            None | Some(b"," | b")" | b";") => true,
            Some(word) => is_one_of(word, &AFTER_A_LIST) || is_one_of(word, &AFTER_AN_ITEM),
        };
        (is_number && is_all).then_some(text)
    }

    /// Continues after a token.
    pub(super) fn pass(&mut self, token: Token<'_>) {
        let last = std::mem::replace(&mut self.last, Last::Other);
        self.at_item = false;
        match token {
            Token::Word(word) if last == Last::Sorts && word.eq_ignore_ascii_case(b"BY") => {
                *self = Self {
                    in_list: true,
                    at_item: true,
                    ..Self::new()
                };
            }
            Token::Word(word) if is_one_of(word, &[b"ORDER", b"GROUP"]) => self.last = Last::Sorts,
            Token::Word(word) if is_one_of(word, &[b"CUBE", b"ROLLUP"]) => self.last = Last::Cube,
            Token::Word(word) if is_one_of(word, &AFTER_A_LIST) => self.in_list = false,
            Token::Byte(b'(') => {
                self.depth += 1;
                if self.in_list && last == Last::Cube {
                    self.items_at = self.depth;
                    self.at_item = true;
                }
            }
            Token::Byte(b')') if self.depth == 0 => self.in_list = false,
            Token::Byte(b')') => {
                self.depth -= 1;
                self.items_at = self.items_at.min(self.depth);
            }
            Token::Byte(b',') => self.at_item = self.in_list && self.depth == self.items_at,
            Token::Byte(b';') => self.in_list = false,
            _ => {}
        }
    }
}
