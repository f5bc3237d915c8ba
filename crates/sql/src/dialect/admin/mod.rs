//! Statements that SQLite has no like of: SHOW, SET, USE, KILL and their kin.

mod set;
mod show;
mod words;

use sqlparser::ast::{Expr, ObjectName};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use self::set::set;
use self::show::show;
use self::words::{any, expr, identifier, name, need, take, word};
use crate::dialect::plan::Action;
use crate::dialect::{end, near};
use crate::server::error::Result;
use crate::storage::tables::last_name;

/// Which value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The session's.
    Session,
    /// The server's.
    Global,
}

/// What SET TRANSACTION says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Characteristics {
    /// Of whose transactions; `None` is the next one alone.
    pub scope: Option<Scope>,
    /// READ ONLY or READ WRITE.
    pub read_only: Option<bool>,
    /// ISOLATION LEVEL, as @@transaction_isolation has it.
    pub isolation: Option<&'static str>,
}

/// One assignment of SET.
#[derive(Debug, Clone)]
pub enum SetItem {
    /// A system variable. `None` is DEFAULT.
    System(Scope, String, Option<Expr>),
    /// `@x`.
    User(String, Expr),
    /// SET NAMES: character set and collation.
    Names(String, Option<String>),
    /// SET TRANSACTION: read only or not, when it is said.
    Transaction(Characteristics),
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

/// How EXPLAIN answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Rows.
    Traditional,
    /// FORMAT=JSON.
    Json,
    /// FORMAT=TREE, and ANALYZE.
    Tree,
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
    /// CREATE TABLE.
    CreateTable(Option<String>, String),
    /// CREATE VIEW.
    CreateView(Option<String>, String),
    /// CREATE USER; of the session's own account, or of user and host.
    CreateUser(Option<(String, String)>),
    /// CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT: kind, database, name.
    CreateProgram(String, Option<String>, String),
    /// ENGINE x STATUS, MUTEX, LOGS: engine and what of it.
    Engine(String, String),
    /// OPEN TABLES.
    OpenTables(Option<String>),
    /// The rows of a SELECT; LIKE is for that column.
    Made {
        /// In MySQL's dialect.
        query: String,
        /// The column.
        like: &'static str,
    },
    /// What MySQL answers with this error where it is configured as this server is.
    Refused(u16, String),
    /// CREATE DATABASE.
    CreateDatabase(String),
    /// VARIABLES.
    Variables(Scope),
    /// STATUS.
    Status(Scope),
    /// PROCESSLIST.
    ProcessList,
    /// WARNINGS, ERRORS.
    Warnings {
        /// Errors alone.
        errors: bool,
        /// How many to leave out, and how many to show then.
        limit: (usize, usize),
    },
    /// COUNT(*) WARNINGS, COUNT(*) ERRORS.
    WarningCount {
        /// Errors alone.
        errors: bool,
    },
    /// ENGINES.
    Engines,
    /// COLLATION.
    Collation,
    /// CHARACTER SET.
    Charset,
    /// GRANTS, of the session's own account, or of user and host.
    Grants(Option<(String, String)>),
    /// PRIVILEGES.
    Privileges,
    /// PLUGINS.
    Plugins,
    /// TRIGGERS, EVENTS, PROCEDURE STATUS, FUNCTION STATUS, OPEN TABLES, MASTER STATUS ...: what
    /// this server never has any of.
    Nothing(&'static [&'static str]),
    /// EXPLAIN of SQLite's text for a statement.
    Explain(super::plan::Sql, Format),
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
            let mut what = Vec::new();
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                what.push(parser.next_token().token.to_string().to_ascii_uppercase());
            }
            Action::Flush(what)
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
    end(parser)?;
    Ok(Some(action))
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
        let write = any(parser, &["READ", "WRITE"])
            .ok_or_else(|| near(parser.peek_token().token))?
            == "WRITE";
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
