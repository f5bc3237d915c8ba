//! SHOW: what it asks for.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::words::{any, expr, identifier, name, need, take, text, word};
use super::{Filter, Scope, Show, What, split};
use crate::dialect::near;
use crate::dialect::plan::Action;
use crate::server::error::Result;

pub(super) fn show(parser: &mut Parser<'_>) -> Result<Action> {
    let mut full = false;
    let mut scope = Scope::Session;
    loop {
        match any(parser, &["FULL", "EXTENDED", "GLOBAL", "SESSION", "LOCAL"]) {
            Some("FULL") => full = true,
            Some("GLOBAL") => scope = Scope::Global,
            Some(_) => {}
            None => break,
        }
    }
    let first = word(parser);
    parser.next_token();
    let what = match first.as_str() {
        "DATABASES" | "SCHEMAS" => What::Databases,
        "TABLES" => What::Tables(from(parser)?),
        "TABLE" => {
            need(parser, "STATUS")?;
            What::TableStatus(from(parser)?)
        }
        "COLUMNS" | "FIELDS" => {
            let (database, table) = from_table(parser)?;
            What::Columns(database, table)
        }
        "INDEX" | "INDEXES" | "KEYS" => {
            let (database, table) = from_table(parser)?;
            What::Index(database, table)
        }
        "CREATE" => match any(parser, &["TABLE", "VIEW", "DATABASE", "SCHEMA"]) {
            Some("TABLE" | "VIEW") => {
                let (database, table) = split(&name(parser)?)?;
                What::CreateTable(database, table)
            }
            Some(_) => {
                if take(parser, "IF") {
                    need(parser, "NOT")?;
                    need(parser, "EXISTS")?;
                }
                What::CreateDatabase(identifier(parser)?.value)
            }
            None => return Err(near(parser.peek_token().token)),
        },
        "VARIABLES" => What::Variables(scope),
        "STATUS" => What::Status(scope),
        "PROCESSLIST" => What::ProcessList,
        "WARNINGS" | "ERRORS" => {
            if take(parser, "LIMIT") {
                expr(parser)?;
            }
            What::Warnings
        }
        "COUNT" => {
            parser.next_token();
            parser.next_token();
            parser.next_token();
            any(parser, &["WARNINGS", "ERRORS"]).ok_or_else(|| near(parser.peek_token().token))?;
            What::WarningCount
        }
        "ENGINES" => What::Engines,
        "STORAGE" => {
            need(parser, "ENGINES")?;
            What::Engines
        }
        "COLLATION" => What::Collation,
        "CHARSET" => What::Charset,
        "CHARACTER" => {
            need(parser, "SET")?;
            What::Charset
        }
        "GRANTS" => {
            if take(parser, "FOR") {
                while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                    parser.next_token();
                }
            }
            What::Grants
        }
        "PRIVILEGES" => What::Privileges,
        "PLUGINS" => What::Plugins,
        "TRIGGERS" => {
            from(parser)?;
            What::Nothing(&[
                "Trigger",
                "Event",
                "Table",
                "Statement",
                "Timing",
                "Created",
                "sql_mode",
                "Definer",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ])
        }
        "EVENTS" => {
            from(parser)?;
            What::Nothing(&[
                "Db",
                "Name",
                "Definer",
                "Time zone",
                "Type",
                "Execute at",
                "Interval value",
                "Interval field",
                "Starts",
                "Ends",
                "Status",
                "Originator",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ])
        }
        "PROCEDURE" | "FUNCTION" => {
            need(parser, "STATUS")?;
            What::Nothing(&[
                "Db",
                "Name",
                "Type",
                "Definer",
                "Modified",
                "Created",
                "Security_type",
                "Comment",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ])
        }
        "OPEN" => {
            need(parser, "TABLES")?;
            from(parser)?;
            What::Nothing(&["Database", "Table", "In_use", "Name_locked"])
        }
        "MASTER" | "BINARY" => {
            any(parser, &["STATUS", "LOGS"]).ok_or_else(|| near(parser.peek_token().token))?;
            What::Nothing(&[
                "File",
                "Position",
                "Binlog_Do_DB",
                "Binlog_Ignore_DB",
                "Executed_Gtid_Set",
            ])
        }
        "SLAVE" | "REPLICA" => {
            any(parser, &["STATUS", "HOSTS"]).ok_or_else(|| near(parser.peek_token().token))?;
            What::Nothing(&["Slave_IO_State", "Master_Host"])
        }
        other => return Err(near(other)),
    };
    let filter = if take(parser, "LIKE") {
        Filter::Like(text(parser)?)
    } else if take(parser, "WHERE") {
        Filter::Where(Box::new(expr(parser)?))
    } else {
        Filter::None
    };
    Ok(Action::Show(Box::new(Show { what, filter, full })))
}

fn from(parser: &mut Parser<'_>) -> Result<Option<String>> {
    match any(parser, &["FROM", "IN"]) {
        Some(_) => Ok(Some(identifier(parser)?.value)),
        None => Ok(None),
    }
}

fn from_table(parser: &mut Parser<'_>) -> Result<(Option<String>, String)> {
    any(parser, &["FROM", "IN"]).ok_or_else(|| near(parser.peek_token().token))?;
    let (mut database, table) = split(&name(parser)?)?;
    if let Some(other) = from(parser)? {
        database = Some(other);
    }
    Ok((database, table))
}
