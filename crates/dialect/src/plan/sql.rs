//! SQLite's text for a statement, and facts about it.

use tare_mysql::wire::column::WireType;

use crate::clauses::Names;
use crate::schema::SystemColumn;

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
    /// Functions of schema sys that it calls and that have the name of a native one of MySQL's.
    pub namesakes: Vec<&'static str>,
    /// Types of the result's columns as far as the expressions determine them: from the first column up to
    /// the first `*`, and from the last column back.
    pub hints: (Vec<Option<WireType>>, Vec<Option<WireType>>),
    /// Columns of the result that are a view's of schema sys, counted like `hints`.
    pub views: (Vec<Option<ViewColumn>>, Vec<Option<ViewColumn>>),
    /// An INSERT into a table with AUTO_INCREMENT.
    pub creates_ids: bool,
    /// The database that is written to.
    pub writes: Option<String>,
    /// The locks that FOR UPDATE and FOR SHARE request.
    pub row_locks: RowLocks,
    /// ON DUPLICATE KEY UPDATE: a row that is updated counts twice.
    pub counts_updates: bool,
    /// The rows that VALUES of an INSERT or REPLACE lists; 0 if it inserts a SELECT's.
    pub listed_rows: usize,
    /// The table whose rows are replaced: REPLACE.
    pub replaces: Option<String>,
    /// INSERT or REPLACE of a SELECT's rows, UPDATE or DELETE with several tables: commands of their own in
    /// MySQL.
    pub joined: bool,
    /// The columns that the statement names, and where.
    pub names: Names,
    /// SQL_CALC_FOUND_ROWS: a query that counts the rows without LIMIT.
    pub found_rows: Option<String>,
}

/// The locks that a statement's locking clauses request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowLocks {
    /// FOR UPDATE.
    pub for_update: bool,
    /// NOWAIT or SKIP LOCKED: it does not wait for another session's lock.
    pub no_wait: bool,
}

impl Sql {
    /// Whether it names system schemas, and no database's tables.
    pub fn is_system(&self) -> bool {
        !self.catalog.is_empty() && self.databases.is_empty()
    }
}
