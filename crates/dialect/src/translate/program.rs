//! DROP of stored programs, of which this server has only those of schema sys.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::admin::words::{any, name, need, word};
use crate::admin::{Program, Routine, split};
use crate::ddl::Ddl;
use crate::error::Result;
use crate::read::expect_end;

/// Reads DROP PROCEDURE and its kin. `None`: it is another statement.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Option<Ddl>> {
    const WORDS: [&str; 4] = ["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"];
    let is_program = matches!(&parser.peek_nth_token(1).token, Token::Word(w)
        if w.quote_style.is_none() && WORDS.iter().any(|word| w.value.eq_ignore_ascii_case(word)));
    if word(parser) != "DROP" || !is_program {
        return Ok(None);
    }
    parser.next_token();
    let program = match any(parser, &WORDS) {
        Some("PROCEDURE") => Program::Routine(Routine::Procedure),
        Some("FUNCTION") => Program::Routine(Routine::Function),
        Some("TRIGGER") => Program::Trigger,
        _ => Program::Event,
    };
    let if_exists = any(parser, &["IF"]).is_some();
    if if_exists {
        need(parser, "EXISTS")?;
    }
    let (database, name) = split(&name(parser)?)?;
    expect_end(parser)?;
    Ok(Some(Ddl::DropProgram {
        program,
        database,
        name,
        if_exists,
    }))
}
