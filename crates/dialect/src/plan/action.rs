//! What a statement does.

use sqlparser::ast::Expr;

use super::sql::Sql;
use crate::admin::{AccountChange, Filter, SetItem, Show};
use crate::ddl::Ddl;
use crate::schema::Procedure;

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
    /// Return rows that this server builds, without SQLite.
    Show(Box<Show>),
    /// Change rows.
    Write(Sql, Change),
    /// Change the schema.
    Ddl(Box<Ddl>),
    /// Change the accounts.
    Account(Box<AccountChange>),
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
    /// A comment by itself.
    Empty,
    /// FLUSH: what.
    Flush(Vec<String>),
    /// SHUTDOWN.
    Shutdown,
}

impl Action {
    /// Whether it holds expressions as trees, not as text.
    pub fn retains_tree(&self) -> bool {
        match self {
            Self::Show(show) => matches!(show.filter, Filter::Where(_)),
            Self::Set(_) | Self::Kill { .. } | Self::Prepare(..) | Self::Execute(..) => true,
            Self::Ddl(ddl) => matches!(**ddl, Ddl::Alter { .. } | Ddl::CreateIndex { .. }),
            _ => false,
        }
    }

    /// Whether SQLite stores its text.
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Ddl(ddl) if matches!(**ddl, Ddl::CreateView { .. } | Ddl::CreateTable { .. }))
    }
}
