//! ANALYZE, OPTIMIZE and CHECK TABLE.

use crate::error::{Error, Result, at};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::ddl::{Ddl, Maintenance, TableName};
use crate::plan::Action;
use crate::read::expect_end;

/// Reads ANALYZE, OPTIMIZE or CHECK TABLE with its list of tables.
pub(super) fn maintenance(
    parser: &mut Parser<'_>,
    database: Option<&str>,
) -> Result<Option<Action>> {
    let Token::Word(first) = parser.peek_token().token else {
        return Ok(None);
    };
    let operation = match first.value.to_ascii_uppercase().as_str() {
        "ANALYZE" => Maintenance::Analyze,
        "OPTIMIZE" => Maintenance::Optimize,
        "CHECK" => Maintenance::Check,
        "CHECKSUM" => return Err(Error::unsupported("CHECKSUM TABLE")),
        _ => return Ok(None),
    };
    parser.next_token();
    let is = |p: &Parser<'_>, what: &str| matches!(p.peek_token().token, Token::Word(w) if w.value.eq_ignore_ascii_case(what));
    while is(parser, "local") || is(parser, "no_write_to_binlog") {
        parser.next_token();
    }
    if !is(parser, "table") && !is(parser, "tables") {
        return Err(at(&parser.peek_token()));
    }
    parser.next_token();
    let mut tables = Vec::new();
    loop {
        let name = parser.parse_object_name(false)?;
        tables.push(TableName::of(&name, database)?);
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    while ["quick", "fast", "medium", "extended", "changed"]
        .iter()
        .any(|w| is(parser, w))
    {
        parser.next_token();
    }
    expect_end(parser)?;
    Ok(Some(Action::Ddl(Box::new(Ddl::Maintain(
        tables, operation,
    )))))
}
