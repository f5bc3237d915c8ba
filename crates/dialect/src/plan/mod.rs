//! What a statement is, once it has been read.

mod command;

pub use self::command::Command;

use sqlparser::ast::Expr;
use tare_mysql::wire::column::WireType;

use super::admin::{SetItem, Show};
use super::ddl::Ddl;
use super::schema::{Procedure, SystemColumn};

/// A column of a view of schema sys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewColumn {
    /// What the statement calls the view.
    pub table: String,
    /// The view.
    pub view: &'static str,
    /// The column.
    pub column: SystemColumn,
}

/// SQLite's text for a statement.
#[derive(Debug, Clone, Default)]
pub struct Sql {
    /// The text.
    pub text: String,
    /// Databases it names, to be attached before it is prepared.
    pub databases: Vec<String>,
    /// Tables of system schemas it names: schema, table.
    pub catalog: Vec<(String, String)>,
    /// Types of the result's columns where the expression tells: from the first column on up to
    /// the first `*`, and from the last one back.
    pub hints: (Vec<Option<WireType>>, Vec<Option<WireType>>),
    /// Columns of the result that are a view's of schema sys, counted like `hints`.
    pub views: (Vec<Option<ViewColumn>>, Vec<Option<ViewColumn>>),
    /// An INSERT into a table with AUTO_INCREMENT.
    pub makes_ids: bool,
    /// The database that is written to, or locked by FOR UPDATE.
    pub writes: Option<String>,
    /// ON DUPLICATE KEY UPDATE: a row that is updated counts twice.
    pub counts_updates: bool,
    /// SQL_CALC_FOUND_ROWS: counts the rows that there would be without LIMIT.
    pub found_rows: Option<String>,
}

impl Sql {
    /// Whether it names system schemas, and no database's tables.
    pub fn is_system(&self) -> bool {
        !self.catalog.is_empty() && self.databases.is_empty()
    }
}

/// A kind of change to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// INSERT.
    Insert,
    /// REPLACE.
    Replace,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

/// CALL of a procedure of schema sys.
#[derive(Debug, Clone)]
pub struct Call {
    /// The procedure.
    pub procedure: &'static Procedure,
    /// A SELECT of the arguments' values.
    pub values: Sql,
    /// The arguments that are user variables, by name: an OUT parameter goes there.
    pub variables: Vec<Option<String>>,
}

/// What to do.
#[derive(Debug, Clone)]
pub enum Action {
    /// Call a procedure.
    Call(Box<Call>),
    /// Return rows.
    Rows(Sql),
    /// Give a row to user variables.
    Into(Sql, Vec<String>),
    /// DO: evaluate and forget.
    Do(Sql),
    /// Return rows that are made here.
    Show(Box<Show>),
    /// Change rows.
    Write(Sql, Change),
    /// Change the schema.
    Ddl(Box<Ddl>),
    /// BEGIN, START TRANSACTION.
    Begin {
        /// READ ONLY.
        read_only: bool,
    },
    /// COMMIT.
    Commit {
        /// AND CHAIN.
        chain: bool,
    },
    /// ROLLBACK.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint(String),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(String),
    /// RELEASE SAVEPOINT.
    Release(String),
    /// SET.
    Set(Vec<SetItem>),
    /// USE.
    Use(String),
    /// KILL.
    Kill {
        /// The connection.
        id: Expr,
        /// KILL QUERY.
        query_only: bool,
    },
    /// LOCK TABLES: databases, tables, and whether each is locked for writing.
    LockTables(Vec<(String, String, bool)>),
    /// UNLOCK TABLES.
    UnlockTables,
    /// PREPARE name FROM text.
    Prepare(String, Expr),
    /// EXECUTE name USING variables.
    Execute(String, Vec<Expr>),
    /// DEALLOCATE PREPARE name.
    Deallocate(String),
    /// FLUSH STATUS and others that have no meaning here and do no harm.
    NoOp,
    /// FLUSH: what.
    Flush(Vec<String>),
    /// SHUTDOWN.
    Shutdown,
}

/// A statement, ready to be run by any session in the same database and schema generation.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What to do.
    pub action: Action,
    /// Number of `?`.
    pub params: usize,
    /// What it is counted as.
    pub command: Command,
    /// The schemas' generation it was made for.
    pub generation: u64,
}
