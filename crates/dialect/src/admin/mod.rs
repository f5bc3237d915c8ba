//! Statements without a counterpart in SQLite: SHOW, SET, USE, KILL and others.

mod account;
mod request;
mod set;
mod show;
pub(crate) mod words;

use crate::error::{Result, at, near};
use sqlparser::ast::ObjectName;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

pub use self::account::{
    AccountChange, Grant, Name as AccountName, Options as UserOptions, Secret as NewSecret,
    User as NewUser,
};
pub use self::request::{
    Absent, Characteristics, EngineReport, Filter, Format, Program, Routine, SetItem, Show, What,
};
use self::set::set;
use self::show::show;
use self::words::{any, expr, identifier, name, need, take, text, word};
use crate::name::last_name;
use crate::plan::Action;
use crate::read::expect_end;
use tare_mysql::series::Series;

/// Reads the statement if it is one of these.
pub fn parse(parser: &mut Parser<'_>, series: Series) -> Result<Option<Action>> {
    let first = word(parser);
    if let Some(change) = account::parse(parser)? {
        return Ok(Some(Action::Account(Box::new(change))));
    }
    let action = match first.as_str() {
        "SHOW" => {
            parser.next_token();
            show(parser, series)?
        }
        "SET" => {
            parser.next_token();
            Action::Set(set(parser)?)
        }
        "USE" => {
            parser.next_token();
            Action::Use(identifier(parser)?.value)
        }
        "DESCRIBE" | "DESC" | "EXPLAIN" => {
            let Some(action) = describe(parser)? else {
                return Ok(None);
            };
            action
        }
        "KILL" => {
            parser.next_token();
            let query_only = any(parser, &["QUERY", "CONNECTION"]) == Some("QUERY");
            Action::Kill {
                id: expr(parser)?,
                query_only,
            }
        }
        "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" => {
            parser.next_token();
            transaction(parser, &first)?
        }
        "LOCK" | "UNLOCK" => {
            parser.next_token();
            any(parser, &["TABLES", "TABLE"]).ok_or_else(|| at(&parser.peek_token()))?;
            if first == "UNLOCK" {
                Action::UnlockTables
            } else {
                lock_tables(parser)?
            }
        }
        "FLUSH" => {
            parser.next_token();
            let mut what = Vec::new();
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                what.push(parser.next_token().token.to_string().to_ascii_uppercase());
            }
            Action::Flush(what)
        }
        "HELP" => help(parser)?,
        // sqlparser reads another RESET.
        "RESET" => return Err(at(&parser.peek_token())),
        "SHUTDOWN" => {
            parser.next_token();
            Action::Shutdown
        }
        "PREPARE" => {
            parser.next_token();
            let name = identifier(parser)?.value;
            need(parser, "FROM")?;
            Action::Prepare(name, expr(parser)?)
        }
        "EXECUTE" => {
            parser.next_token();
            let name = identifier(parser)?.value;
            let mut using = Vec::new();
            if take(parser, "USING") {
                loop {
                    using.push(expr(parser)?);
                    if !parser.consume_token(&Token::Comma) {
                        break;
                    }
                }
            }
            Action::Execute(name, using)
        }
        "DEALLOCATE" | "DROP"
            if first == "DEALLOCATE"
                || matches!(&parser.peek_nth_token(1).token, Token::Word(w) if w.value.eq_ignore_ascii_case("prepare")) =>
        {
            parser.next_token();
            need(parser, "PREPARE")?;
            Action::Deallocate(identifier(parser)?.value)
        }
        "ANALYZE" | "OPTIMIZE" | "CHECK" | "REPAIR"
            if {
                matches!(&parser.peek_nth_token(1).token, Token::Word(w) if w.value.eq_ignore_ascii_case("table") || w.value.eq_ignore_ascii_case("local"))
            } =>
        {
            return Ok(None);
        }
        _ => return Ok(None),
    };
    expect_end(parser)?;
    Ok(Some(action))
}

/// HELP 'text': there are no texts.
fn help(parser: &mut Parser<'_>) -> Result<Action> {
    parser.next_token();
    text(parser)?;
    Ok(Action::Show(Box::new(Show {
        what: What::Absent(Absent::Help),
        filter: Filter::None,
        full: false,
    })))
}

/// DESCRIBE of a table. EXPLAIN of a statement is none of these.
fn describe(parser: &mut Parser<'_>) -> Result<Option<Action>> {
    let Token::Word(second) = parser.peek_nth_token(1).token else {
        return Ok(None);
    };
    let statement = matches!(
        second.keyword,
        Keyword::SELECT
            | Keyword::UPDATE
            | Keyword::DELETE
            | Keyword::INSERT
            | Keyword::REPLACE
            | Keyword::WITH
            | Keyword::FORMAT
            | Keyword::EXTENDED
            | Keyword::ANALYZE
            | Keyword::PARTITIONS
    );
    if statement && second.quote_style.is_none() {
        return Ok(None);
    }
    parser.next_token();
    let table = name(parser)?;
    let filter = match &parser.peek_token().token {
        Token::Word(w) => Filter::Like(w.value.clone()),
        Token::SingleQuotedString(s) => Filter::Like(s.clone()),
        _ => Filter::None,
    };
    if !matches!(filter, Filter::None) {
        parser.next_token();
    }
    let (database, table) = split(&table)?;
    Ok(Some(Action::Show(Box::new(Show {
        what: What::Columns(database, table),
        filter,
        full: false,
    }))))
}

/// The statements that begin and end transactions and savepoints, after their first word.
fn transaction(parser: &mut Parser<'_>, first: &str) -> Result<Action> {
    Ok(match first {
        "BEGIN" => {
            take(parser, "WORK");
            Action::Begin { read_only: false }
        }
        "START" => {
            need(parser, "TRANSACTION")?;
            let read_only = characteristics(parser)?;
            Action::Begin { read_only }
        }
        "COMMIT" | "ROLLBACK" => {
            take(parser, "WORK");
            if first == "ROLLBACK" && take(parser, "TO") {
                take(parser, "SAVEPOINT");
                Action::RollbackTo(identifier(parser)?.value)
            } else {
                let mut chain = false;
                if take(parser, "AND") {
                    chain = !take(parser, "NO");
                    need(parser, "CHAIN")?;
                }
                if take(parser, "NO") || word(parser) == "RELEASE" {
                    need(parser, "RELEASE")?;
                }
                if first == "COMMIT" {
                    Action::Commit { chain }
                } else {
                    Action::Rollback { chain }
                }
            }
        }
        "SAVEPOINT" => Action::Savepoint(identifier(parser)?.value),
        _ => {
            need(parser, "SAVEPOINT")?;
            Action::Release(identifier(parser)?.value)
        }
    })
}

/// The characteristics of START TRANSACTION, which commas separate. Returns whether it is READ ONLY.
fn characteristics(parser: &mut Parser<'_>) -> Result<bool> {
    if matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
        return Ok(false);
    }
    let (mut reads, mut writes) = (false, false);
    loop {
        if take(parser, "READ") {
            match any(parser, &["ONLY", "WRITE"]).ok_or_else(|| at(&parser.peek_token()))? {
                "ONLY" => reads = true,
                _ => writes = true,
            }
        } else {
            need(parser, "WITH")?;
            need(parser, "CONSISTENT")?;
            need(parser, "SNAPSHOT")?;
        }
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    // It cannot be both.
    match reads && writes {
        true => Err(at(&parser.peek_token())),
        false => Ok(reads),
    }
}

fn lock_tables(parser: &mut Parser<'_>) -> Result<Action> {
    let mut tables = Vec::new();
    loop {
        let (database, table) = split(&name(parser)?)?;
        if !matches!(word(parser).as_str(), "READ" | "WRITE" | "LOW_PRIORITY") {
            take(parser, "AS");
            identifier(parser)?;
        }
        take(parser, "LOW_PRIORITY");
        let write =
            any(parser, &["READ", "WRITE"]).ok_or_else(|| at(&parser.peek_token()))? == "WRITE";
        take(parser, "LOCAL");
        tables.push((database.unwrap_or_default(), table, write));
        if !parser.consume_token(&Token::Comma) {
            return Ok(Action::LockTables(tables));
        }
    }
}

/// Database and table of a name that may be qualified.
pub fn split(name: &ObjectName) -> Result<(Option<String>, String)> {
    match name.0.as_slice() {
        [_] => Ok((None, last_name(name))),
        [database, _] => Ok((
            database.as_ident().map(|i| i.value.clone()),
            last_name(name),
        )),
        _ => Err(near(name)),
    }
}
