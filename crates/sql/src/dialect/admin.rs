//! Statements that SQLite has no like of: SHOW, SET, USE, KILL and their kin.

use sqlparser::ast::{Expr, Ident, ObjectName, Value};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::plan::Action;
use super::{end, near};
use crate::server::error::{Result, SqlError};
use crate::storage::tables::last_name;

/// Which value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The session's.
    Session,
    /// The server's.
    Global,
}

/// One assignment of SET.
#[derive(Debug, Clone)]
pub enum SetItem {
    /// A system variable. `None` is DEFAULT.
    System(Scope, String, Option<Expr>),
    /// `@x`.
    User(String, Expr),
    /// SET NAMES.
    Names(String),
    /// SET TRANSACTION: read only or not, when it is said.
    Transaction(Option<bool>),
}

/// The rows of a SHOW that are kept.
#[derive(Debug, Clone)]
pub enum Filter {
    /// All.
    None,
    /// LIKE on the first column.
    Like(String),
    /// WHERE.
    Where(Box<Expr>),
}

/// What to show.
#[derive(Debug, Clone)]
pub struct Show {
    /// Of what.
    pub what: What,
    /// Which rows.
    pub filter: Filter,
    /// SHOW FULL.
    pub full: bool,
}

/// The kinds of SHOW.
#[derive(Debug, Clone)]
pub enum What {
    /// DATABASES.
    Databases,
    /// TABLES, of a database other than the session's.
    Tables(Option<String>),
    /// TABLE STATUS.
    TableStatus(Option<String>),
    /// COLUMNS, DESCRIBE: database and table.
    Columns(Option<String>, String),
    /// INDEX: database and table.
    Index(Option<String>, String),
    /// CREATE TABLE, CREATE VIEW.
    CreateTable(Option<String>, String),
    /// CREATE DATABASE.
    CreateDatabase(String),
    /// VARIABLES.
    Variables(Scope),
    /// STATUS.
    Status(Scope),
    /// PROCESSLIST.
    ProcessList,
    /// WARNINGS and ERRORS.
    Warnings,
    /// COUNT(*) WARNINGS.
    WarningCount,
    /// ENGINES.
    Engines,
    /// COLLATION.
    Collation,
    /// CHARACTER SET.
    Charset,
    /// GRANTS.
    Grants,
    /// PRIVILEGES.
    Privileges,
    /// PLUGINS.
    Plugins,
    /// TRIGGERS, EVENTS, PROCEDURE STATUS, FUNCTION STATUS, OPEN TABLES, MASTER STATUS ...: what
    /// this server never has any of.
    Nothing(&'static [&'static str]),
    /// EXPLAIN of SQLite's text for a statement.
    Explain(super::plan::Sql),
}

fn word(parser: &Parser<'_>) -> String {
    match &parser.peek_token().token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
        _ => String::new(),
    }
}

fn take(parser: &mut Parser<'_>, expected: &str) -> bool {
    let found = word(parser) == expected;
    if found {
        parser.next_token();
    }
    found
}

fn need(parser: &mut Parser<'_>, expected: &str) -> Result<()> {
    if take(parser, expected) {
        Ok(())
    } else {
        Err(near(parser.peek_token().token))
    }
}

fn any<'w>(parser: &mut Parser<'_>, words: &[&'w str]) -> Option<&'w str> {
    let found = word(parser);
    let hit = words.iter().find(|w| **w == found).copied();
    if hit.is_some() {
        parser.next_token();
    }
    hit
}

fn name(parser: &mut Parser<'_>) -> Result<ObjectName> {
    parser.parse_object_name(false).map_err(SqlError::syntax)
}

fn identifier(parser: &mut Parser<'_>) -> Result<Ident> {
    parser.parse_identifier().map_err(SqlError::syntax)
}

fn expr(parser: &mut Parser<'_>) -> Result<Expr> {
    parser.parse_expr().map_err(SqlError::syntax)
}

fn text(parser: &mut Parser<'_>) -> Result<String> {
    match parser.next_token().token {
        Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => Ok(s),
        Token::Word(w) => Ok(w.value),
        other => Err(near(other)),
    }
}

/// Reads the statement if it is one of these.
pub fn parse(parser: &mut Parser<'_>) -> Result<Option<Action>> {
    let first = word(parser);
    let action = match first.as_str() {
        "SHOW" => {
            parser.next_token();
            show(parser)?
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
            Action::Show(Box::new(Show {
                what: What::Columns(database, table),
                filter,
                full: false,
            }))
        }
        "KILL" => {
            parser.next_token();
            let query_only = any(parser, &["QUERY", "CONNECTION"]) == Some("QUERY");
            Action::Kill {
                id: expr(parser)?,
                query_only,
            }
        }
        "BEGIN" => {
            parser.next_token();
            take(parser, "WORK");
            Action::Begin { read_only: false }
        }
        "START" => {
            parser.next_token();
            need(parser, "TRANSACTION")?;
            let mut read_only = false;
            while parser.peek_token().token != Token::EOF
                && parser.peek_token().token != Token::SemiColon
            {
                if take(parser, "READ") {
                    read_only = any(parser, &["ONLY", "WRITE"])
                        .ok_or_else(|| near(parser.peek_token().token))?
                        == "ONLY";
                } else {
                    need(parser, "WITH")?;
                    need(parser, "CONSISTENT")?;
                    need(parser, "SNAPSHOT")?;
                }
                let _ = parser.consume_token(&Token::Comma);
            }
            Action::Begin { read_only }
        }
        "COMMIT" | "ROLLBACK" => {
            parser.next_token();
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
        "SAVEPOINT" => {
            parser.next_token();
            Action::Savepoint(identifier(parser)?.value)
        }
        "RELEASE" => {
            parser.next_token();
            need(parser, "SAVEPOINT")?;
            Action::Release(identifier(parser)?.value)
        }
        "LOCK" | "UNLOCK" => {
            parser.next_token();
            any(parser, &["TABLES", "TABLE"]).ok_or_else(|| near(parser.peek_token().token))?;
            if first == "UNLOCK" {
                Action::UnlockTables
            } else {
                lock_tables(parser)?
            }
        }
        "FLUSH" => {
            parser.next_token();
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            Action::Nothing
        }
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
        "DEALLOCATE" => {
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
    end(parser)?;
    Ok(Some(action))
}

fn lock_tables(parser: &mut Parser<'_>) -> Result<Action> {
    let mut tables = Vec::new();
    loop {
        let (database, _) = split(&name(parser)?)?;
        if !matches!(word(parser).as_str(), "READ" | "WRITE" | "LOW_PRIORITY") {
            take(parser, "AS");
            identifier(parser)?;
        }
        take(parser, "LOW_PRIORITY");
        let write = any(parser, &["READ", "WRITE"])
            .ok_or_else(|| near(parser.peek_token().token))?
            == "WRITE";
        take(parser, "LOCAL");
        tables.push((database.unwrap_or_default(), write));
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

fn set(parser: &mut Parser<'_>) -> Result<Vec<SetItem>> {
    let mut items = Vec::new();
    if take(parser, "NAMES") {
        let charset = text(parser)?;
        if take(parser, "COLLATE") {
            text(parser)?;
        }
        return Ok(vec![SetItem::Names(charset)]);
    }
    if take(parser, "CHARSET")
        || (word(parser) == "CHARACTER" && {
            parser.next_token();
            need(parser, "SET")?;
            true
        })
    {
        return Ok(vec![SetItem::Names(text(parser)?)]);
    }
    loop {
        let mut scope = Scope::Session;
        match word(parser).as_str() {
            "GLOBAL" => {
                parser.next_token();
                scope = Scope::Global;
            }
            "SESSION" | "LOCAL" => {
                parser.next_token();
            }
            _ => {}
        }
        if take(parser, "TRANSACTION") {
            let mut read_only = None;
            loop {
                if take(parser, "READ") {
                    read_only = Some(
                        any(parser, &["ONLY", "WRITE"])
                            .ok_or_else(|| near(parser.peek_token().token))?
                            == "ONLY",
                    );
                } else {
                    need(parser, "ISOLATION")?;
                    need(parser, "LEVEL")?;
                    match any(parser, &["READ", "REPEATABLE", "SERIALIZABLE"]) {
                        Some("READ") => any(parser, &["COMMITTED", "UNCOMMITTED"]).map(|_| ()),
                        Some("REPEATABLE") => take(parser, "READ").then_some(()),
                        other => other.map(|_| ()),
                    }
                    .ok_or_else(|| near(parser.peek_token().token))?;
                }
                if !parser.consume_token(&Token::Comma) {
                    items.push(SetItem::Transaction(read_only));
                    return Ok(items);
                }
            }
        }
        let first = identifier(parser)?;
        let mut variable = first.value;
        if variable.starts_with("@@") {
            variable = variable.trim_start_matches('@').to_owned();
            if parser.consume_token(&Token::Period) {
                scope = match variable.to_ascii_lowercase().as_str() {
                    "global" | "persist" => Scope::Global,
                    "session" | "local" => Scope::Session,
                    _ => return Err(near(variable)),
                };
                variable = identifier(parser)?.value;
            }
        }
        if !parser.consume_token(&Token::Eq) && !parser.consume_token(&Token::Assignment) {
            return Err(near(parser.peek_token().token));
        }
        if let Some(user) = variable.strip_prefix('@') {
            items.push(SetItem::User(user.to_lowercase(), expr(parser)?));
        } else {
            let value = match word(parser).as_str() {
                "DEFAULT" => {
                    parser.next_token();
                    None
                }
                // ON is no expression, and a name is a text: SET sql_mode = ANSI.
                w if !w.is_empty()
                    && !w.starts_with('@')
                    && !matches!(parser.peek_nth_token(1).token, Token::LParen)
                    && !matches!(
                        w,
                        "NULL" | "TRUE" | "FALSE" | "NOT" | "CASE" | "BINARY" | "CAST"
                    ) =>
                {
                    Some(Expr::value(Value::SingleQuotedString(text(parser)?)))
                }
                _ => Some(expr(parser)?),
            };
            items.push(SetItem::System(scope, variable.to_ascii_lowercase(), value));
        }
        if !parser.consume_token(&Token::Comma) {
            return Ok(items);
        }
    }
}

fn show(parser: &mut Parser<'_>) -> Result<Action> {
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
