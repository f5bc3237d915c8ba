//! KEYWORDS: the words of MySQL 8.0's grammar.

use tare_mysql::keyword::{OTHERS, RESERVED};

use crate::describe::{Spec, Table, null};

struct Keyword {
    word: &'static str,
    reserved: bool,
}

#[rustfmt::skip] // One column, one line.
static KEYWORDS: Spec<Keyword> = Spec::new(
    "information_schema",
    "KEYWORDS",
    "The keywords of MySQL 8.0.",
    &[&[
        null("WORD", "varchar(29)", "The keyword.", |r: &Keyword| r.word.into()),
        null("RESERVED", "int(11)", "1 if the word must be quoted as an identifier, else 0.", |r| i64::from(r.reserved).into()),
    ]],
    |_, _| {
        let words = |list: &'static str, reserved| {
            let words = list.split_whitespace();
            words.map(move |word| Keyword { word, reserved })
        };
        let mut all: Vec<Keyword> = words(RESERVED, true).chain(words(OTHERS, false)).collect();
        all.sort_by_key(|k| k.word);
        Ok(Box::new(all.into_iter()))
    },
)
.expect(700);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&KEYWORDS];
