//! SHOW.

use crate::error::{Result, at, near};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::words::{any, expr, identifier, name, need, take, text, word};
use super::{Absent, EngineReport, Filter, Program, Routine, Show, What, split};
use crate::plan::Action;
use tare_mysql::series::Series;
use tare_mysql::variable::Scope;

pub(super) fn show(parser: &mut Parser<'_>, series: Series) -> Result<Action> {
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
    let last = parser.next_token().token;
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
        "CREATE" => created(parser)?,
        "VARIABLES" => What::Variables(scope),
        "STATUS" => What::Status(scope),
        "PROCESSLIST" => What::ProcessList,
        "WARNINGS" | "ERRORS" => {
            let limit = limit(parser)?;
            What::Warnings {
                errors: first == "ERRORS",
                limit,
            }
        }
        "COUNT" => {
            parser.next_token();
            parser.next_token();
            parser.next_token();
            let what =
                any(parser, &["WARNINGS", "ERRORS"]).ok_or_else(|| at(&parser.peek_token()))?;
            What::WarningCount {
                errors: what == "ERRORS",
            }
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
            let of = if take(parser, "FOR") {
                super::account::name(parser)?
            } else {
                None
            };
            if take(parser, "USING") {
                while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                    parser.next_token();
                }
            }
            What::Grants(of)
        }
        "PRIVILEGES" => What::Privileges,
        "PLUGINS" => What::Plugins,
        "TRIGGERS" => What::Triggers(from(parser)?),
        "EVENTS" => What::Events(from(parser)?),
        "PROCEDURE" | "FUNCTION" => {
            if take(parser, "CODE") {
                name(parser)?;
                What::RoutineCode(routine_of(&first))
            } else {
                need(parser, "STATUS")?;
                What::Routines(routine_of(&first))
            }
        }
        "OPEN" => {
            need(parser, "TABLES")?;
            What::OpenTables(from(parser)?)
        }
        "ENGINE" => engine(parser)?,
        // MySQL has no such statements since 8.4.
        "MASTER" | "SLAVE" if series == Series::V9_7 => return Err(near(last)),
        _ => replication(parser, &first, last)?,
    };
    let filter = filter(parser, &what)?;
    Ok(Action::Show(Box::new(Show { what, filter, full })))
}

/// The object of SHOW CREATE.
fn created(parser: &mut Parser<'_>) -> Result<What> {
    Ok(
        match any(
            parser,
            &[
                "TABLE",
                "VIEW",
                "DATABASE",
                "SCHEMA",
                "PROCEDURE",
                "FUNCTION",
                "TRIGGER",
                "EVENT",
                "USER",
            ],
        ) {
            Some("TABLE") => {
                let (database, table) = split(&name(parser)?)?;
                What::CreateTable(database, table)
            }
            Some("VIEW") => {
                let (database, table) = split(&name(parser)?)?;
                What::CreateView(database, table)
            }
            Some("USER") => What::CreateUser(super::account::name(parser)?),
            Some(kind @ ("PROCEDURE" | "FUNCTION" | "TRIGGER" | "EVENT")) => {
                let (database, program) = split(&name(parser)?)?;
                let kind = match kind {
                    "TRIGGER" => Program::Trigger,
                    "EVENT" => Program::Event,
                    routine => Program::Routine(routine_of(routine)),
                };
                What::CreateProgram(kind, database, program)
            }
            Some(_) => {
                if take(parser, "IF") {
                    need(parser, "NOT")?;
                    need(parser, "EXISTS")?;
                }
                What::CreateDatabase(identifier(parser)?.value)
            }
            None => return Err(at(&parser.peek_token())),
        },
    )
}

/// Logs, replicas and profiles, most of which this server never has.
fn replication(parser: &mut Parser<'_>, first: &str, last: Token) -> Result<What> {
    Ok(match first {
        "MASTER" | "BINARY" => {
            if take(parser, "LOG") {
                need(parser, "STATUS")?;
                What::Absent(Absent::BinaryLogStatus)
            } else {
                match any(parser, &["STATUS", "LOGS"]) {
                    Some("STATUS") => What::Absent(Absent::BinaryLogStatus),
                    Some(_) => What::BinaryLogs,
                    None => return Err(at(&parser.peek_token())),
                }
            }
        }
        "BINLOG" | "RELAYLOG" => {
            need(parser, "EVENTS")?;
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            What::Absent(Absent::BinaryLogEvents)
        }
        "SLAVE" | "REPLICA" => match any(parser, &["STATUS", "HOSTS"]) {
            Some("STATUS") => {
                if take(parser, "FOR") {
                    need(parser, "CHANNEL")?;
                    text(parser)?;
                }
                What::Absent(Absent::ReplicaStatus)
            }
            Some(_) => What::Absent(Absent::Replicas),
            None => return Err(at(&parser.peek_token())),
        },
        "REPLICAS" => What::Absent(Absent::Replicas),
        "PROFILES" => What::Absent(Absent::Profiles),
        "PROFILE" => {
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            What::Absent(Absent::Profile)
        }
        _ => return Err(near(last)),
    })
}

/// LIKE or WHERE, where the request takes one.
fn filter(parser: &mut Parser<'_>, what: &What) -> Result<Filter> {
    let can_filter = !matches!(
        what,
        What::CreateTable(..)
            | What::CreateView(..)
            | What::CreateDatabase(_)
            | What::CreateUser(_)
            | What::CreateProgram(..)
            | What::Warnings { .. }
            | What::WarningCount { .. }
            | What::Grants(_)
            | What::Engine(..)
            | What::ProcessList
    );
    Ok(if !can_filter {
        Filter::None
    } else if take(parser, "LIKE") {
        Filter::Like(text(parser)?)
    } else if take(parser, "WHERE") {
        Filter::Where(Box::new(expr(parser)?))
    } else {
        Filter::None
    })
}

/// The engine and the report of SHOW ENGINE.
fn engine(parser: &mut Parser<'_>) -> Result<What> {
    let engine = text(parser)?;
    let report = match any(parser, &["STATUS", "MUTEX", "LOGS"]) {
        Some("STATUS") => EngineReport::Status,
        Some("MUTEX") => EngineReport::Mutex,
        Some(_) => EngineReport::Logs,
        None => return Err(at(&parser.peek_token())),
    };
    Ok(What::Engine(engine, report))
}

fn routine_of(word: &str) -> Routine {
    if word == "FUNCTION" {
        Routine::Function
    } else {
        Routine::Procedure
    }
}

fn from(parser: &mut Parser<'_>) -> Result<Option<String>> {
    match any(parser, &["FROM", "IN"]) {
        Some(_) => Ok(Some(identifier(parser)?.value)),
        None => Ok(None),
    }
}

fn from_table(parser: &mut Parser<'_>) -> Result<(Option<String>, String)> {
    any(parser, &["FROM", "IN"]).ok_or_else(|| at(&parser.peek_token()))?;
    let (mut database, table) = split(&name(parser)?)?;
    if let Some(other) = from(parser)? {
        database = Some(other);
    }
    Ok((database, table))
}

/// `LIMIT n`, `LIMIT offset, n`: how many rows to skip and to return.
fn limit(parser: &mut Parser<'_>) -> Result<(usize, usize)> {
    if !take(parser, "LIMIT") {
        return Ok((0, usize::MAX));
    }
    let number = |parser: &mut Parser<'_>| match parser.next_token().token {
        Token::Number(n, _) => n.parse::<usize>().map_err(|_| near(n)),
        other => Err(near(other)),
    };
    let first = number(parser)?;
    if parser.consume_token(&Token::Comma) {
        return Ok((first, number(parser)?));
    }
    if take(parser, "OFFSET") {
        return Ok((number(parser)?, first));
    }
    Ok((0, first))
}
