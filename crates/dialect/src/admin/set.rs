//! SET: its assignments.

use crate::error::{Result, at, near};
use sqlparser::ast::{Expr, Value};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::words::{any, expr, identifier, need, take, text, word};
use super::{Characteristics, SetItem};
use tare_mysql::variable::Scope;

/// NAMES and CHARACTER SET, which may stand among the assignments.
fn names(parser: &mut Parser<'_>) -> Result<Option<SetItem>> {
    if take(parser, "NAMES") {
        let charset = text(parser)?;
        let collation = match take(parser, "COLLATE") {
            true => Some(text(parser)?),
            false => None,
        };
        return Ok(Some(SetItem::Names(charset, collation)));
    }
    if take(parser, "CHARSET")
        || (word(parser) == "CHARACTER" && {
            parser.next_token();
            need(parser, "SET")?;
            true
        })
    {
        return Ok(Some(SetItem::Names(text(parser)?, None)));
    }
    Ok(None)
}

pub(super) fn set(parser: &mut Parser<'_>) -> Result<Vec<SetItem>> {
    let mut items = Vec::new();
    loop {
        if let Some(item) = names(parser)? {
            items.push(item);
            if !parser.consume_token(&Token::Comma) {
                return Ok(items);
            }
            continue;
        }
        let mut scope = Scope::Session;
        let mut named = None;
        match word(parser).as_str() {
            "GLOBAL" | "PERSIST" | "PERSIST_ONLY" => {
                parser.next_token();
                scope = Scope::Global;
                named = Some(scope);
            }
            "SESSION" | "LOCAL" => {
                parser.next_token();
                named = Some(scope);
            }
            _ => {}
        }
        if take(parser, "TRANSACTION") {
            items.push(SetItem::Transaction(characteristics(parser, named)?));
            return Ok(items);
        }
        let first = identifier(parser)?;
        let mut variable = first.value;
        if variable.starts_with("@@") {
            variable = variable.trim_start_matches('@').to_owned();
            if parser.consume_token(&Token::Period) {
                scope = match variable.to_ascii_lowercase().as_str() {
                    "global" | "persist" | "persist_only" => Scope::Global,
                    "session" | "local" => Scope::Session,
                    _ => return Err(near(variable)),
                };
                variable = identifier(parser)?.value;
            }
        }
        while variable.starts_with('@') && parser.consume_token(&Token::Period) {
            // A user variable's name may have points: @sys.statement_truncate_len.
            variable = format!("{variable}.{}", identifier(parser)?.value);
        }
        if !parser.consume_token(&Token::Eq) && !parser.consume_token(&Token::Assignment) {
            return Err(at(&parser.peek_token()));
        }
        if let Some(user) = variable.strip_prefix('@') {
            items.push(SetItem::User(user.to_lowercase(), expr(parser)?));
        } else {
            let value = value(parser)?;
            items.push(SetItem::System(scope, variable.to_ascii_lowercase(), value));
        }
        if !parser.consume_token(&Token::Comma) {
            return Ok(items);
        }
    }
}

/// Access mode and isolation level of SET TRANSACTION.
fn characteristics(parser: &mut Parser<'_>, scope: Option<Scope>) -> Result<Characteristics> {
    let mut characteristics = Characteristics {
        scope,
        ..Characteristics::default()
    };
    loop {
        if take(parser, "READ") {
            characteristics.read_only = Some(
                any(parser, &["ONLY", "WRITE"]).ok_or_else(|| at(&parser.peek_token()))? == "ONLY",
            );
        } else {
            need(parser, "ISOLATION")?;
            need(parser, "LEVEL")?;
            let level = match any(parser, &["READ", "REPEATABLE", "SERIALIZABLE"]) {
                Some("READ") => match any(parser, &["COMMITTED", "UNCOMMITTED"]) {
                    Some("COMMITTED") => Some("READ-COMMITTED"),
                    other => other.map(|_| "READ-UNCOMMITTED"),
                },
                Some("REPEATABLE") => take(parser, "READ").then_some("REPEATABLE-READ"),
                other => other,
            };
            characteristics.isolation = Some(level.ok_or_else(|| at(&parser.peek_token()))?);
        }
        if !parser.consume_token(&Token::Comma) {
            return Ok(characteristics);
        }
    }
}

/// The value that a system variable is given; `None` is DEFAULT.
fn value(parser: &mut Parser<'_>) -> Result<Option<Expr>> {
    Ok(match word(parser).as_str() {
        "DEFAULT" => {
            parser.next_token();
            None
        }
        // ON is no expression, and a name is a text: SET sql_mode = ANSI.
        w if !w.is_empty()
            && !w.starts_with('@')
            && !matches!(parser.peek_nth_token(1).token, Token::LParen)
            && !matches!(
                (
                    parser.peek_nth_token(1).token,
                    parser.peek_nth_token(3).token
                ),
                (Token::Period, Token::LParen)
            )
            && !matches!(
                w,
                "NULL" | "TRUE" | "FALSE" | "NOT" | "CASE" | "BINARY" | "CAST"
            ) =>
        {
            Some(Expr::value(Value::SingleQuotedString(text(parser)?)))
        }
        _ => Some(expr(parser)?),
    })
}
