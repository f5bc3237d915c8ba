//! KEYWORDS: the words of MySQL's grammar.

use tare_mysql::keyword;

use crate::describe::{Spec, Table, null};

struct Keyword {
    word: &'static str,
    reserved: bool,
}

#[rustfmt::skip] // One column, one line.
static KEYWORDS: Spec<Keyword> = Spec::new(
    "information_schema",
    "KEYWORDS",
    "The keywords of MySQL's grammar.",
    &[&[
        null("WORD", "varchar(29)", "The keyword.", |r: &Keyword| r.word.into()),
        null("RESERVED", "int(11)", "1 if the word must be quoted as an identifier, else 0.", |r| i64::from(r.reserved).into()),
    ]],
    |view, _| {
        let words = keyword::words(view.source.series()).into_iter();
        let row = |(word, reserved)| Keyword { word, reserved };
        Ok(Box::new(words.map(row)))
    },
)
.expect(700);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&KEYWORDS];
