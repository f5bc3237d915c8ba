//! ANALYZE, OPTIMIZE, CHECK and CHECKSUM TABLE.

use crate::error::{Result, at};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::ddl::{Ddl, Maintenance, TableName};
use crate::plan::Action;
use crate::read::end;

/// ANALYZE, OPTIMIZE, CHECK and REPAIR TABLE, with a list of tables.
pub(super) fn maintenance(
    parser: &mut Parser<'_>,
    database: Option<&str>,
) -> Result<Option<Action>> {
    let Token::Word(first) = parser.peek_token().token else {
        return Ok(None);
    };
    let mut operation = match first.value.to_ascii_uppercase().as_str() {
        "ANALYZE" => Maintenance::Analyze,
        "OPTIMIZE" => Maintenance::Optimize,
        "CHECK" => Maintenance::Check,
        "CHECKSUM" => Maintenance::Checksum { quick: false },
        _ => return Ok(None),
    };
    parser.next_token();
    let is = |p: &Parser<'_>, what: &str| matches!(p.peek_token().token, Token::Word(w) if w.value.eq_ignore_ascii_case(what));
    let sums = matches!(operation, Maintenance::Checksum { .. });
    while !sums && (is(parser, "local") || is(parser, "no_write_to_binlog")) {
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
    if sums && (is(parser, "quick") || is(parser, "extended")) {
        let quick = is(parser, "quick");
        operation = Maintenance::Checksum { quick };
        parser.next_token();
    }
    while !sums
        && ["quick", "fast", "medium", "extended", "changed"]
            .iter()
            .any(|w| is(parser, w))
    {
        parser.next_token();
    }
    end(parser)?;
    Ok(Some(Action::Ddl(Box::new(Ddl::Maintain(
        tables, operation,
    )))))
}
