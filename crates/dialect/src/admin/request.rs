//! The requests of SHOW and SET.

use sqlparser::ast::Expr;

use crate::lookup::Lookup;
use crate::plan::sql::Sql;
use tare_mysql::variable::Scope;

/// The characteristics of SET TRANSACTION.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Characteristics {
    /// The scope whose transactions get them; `None`: only the next transaction.
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
    /// SET TRANSACTION.
    Transaction(Characteristics),
}

/// Which rows of a SHOW are returned.
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

/// A stored program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// PROCEDURE or FUNCTION.
    Routine(Routine),
    /// TRIGGER.
    Trigger,
    /// EVENT.
    Event,
}

/// A stored program that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routine {
    /// PROCEDURE.
    Procedure,
    /// FUNCTION.
    Function,
}

impl Routine {
    /// The word that a statement has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Procedure => "PROCEDURE",
            Self::Function => "FUNCTION",
        }
    }
}

/// The report that SHOW ENGINE requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineReport {
    /// STATUS.
    Status,
    /// MUTEX.
    Mutex,
    /// LOGS.
    Logs,
}

/// What this server never has: SHOW returns no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// MASTER STATUS, BINARY LOG STATUS.
    BinaryLogStatus,
    /// BINLOG EVENTS, RELAYLOG EVENTS.
    BinaryLogEvents,
    /// REPLICA STATUS.
    ReplicaStatus,
    /// REPLICAS.
    Replicas,
    /// PROFILES.
    Profiles,
    /// PROFILE.
    Profile,
    /// HELP: no texts are loaded.
    Help,
}

/// What to show.
#[derive(Debug, Clone)]
pub struct Show {
    /// The kind of SHOW.
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
    CreateProgram(Program, Option<String>, String),
    /// ENGINE x STATUS, MUTEX, LOGS: the engine and the report.
    Engine(String, EngineReport),
    /// OPEN TABLES.
    OpenTables(Option<String>),
    /// TRIGGERS, of a database other than the session's.
    Triggers(Option<String>),
    /// EVENTS, of a database other than the session's.
    Events(Option<String>),
    /// PROCEDURE STATUS, FUNCTION STATUS.
    Routines(Routine),
    /// PROCEDURE CODE, FUNCTION CODE.
    RoutineCode(Routine),
    /// BINARY LOGS.
    BinaryLogs,
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
        /// How many rows to skip, and how many to return then.
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
    /// What this server never has.
    Absent(Absent),
    /// EXPLAIN: SQLite's text for the statement, the format, by default the session's, and the statement's lookup if it
    /// reads a single table of performance_schema.
    Explain(Box<Sql>, Option<Format>, Option<Box<Lookup>>),
}
