//! SQLite's text for a statement, and facts about it.

use std::sync::Arc;

use tare_mysql::wire::column::WireType;

use crate::clauses::Names;
use crate::scope::Origin;

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its type; `None` if the first row's value determines it.
    pub wire: Option<WireType>,
    /// The table that it is from.
    pub origin: Option<Arc<Origin>>,
    /// Whether each DECIMAL has its own digits behind the point.
    pub own_scale: bool,
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
    /// The result's columns; none if they cannot be determined.
    pub columns: Vec<ResultColumn>,
    /// The same where the statement is prepared, if that differs: it is not known yet that its rows are stored in a
    /// temporary table.
    pub prepared_columns: Vec<ResultColumn>,
    /// An INSERT into a table with AUTO_INCREMENT.
    pub creates_ids: bool,
    /// The column without a default that an INSERT leaves out although strict mode requires it.
    pub missing_default: Option<MissingDefault>,
    /// A column that cannot be NULL, for which a row of an INSERT lists NULL: the statement fails when it runs.
    pub null_column: Option<String>,
    /// The database that is written to.
    pub writes: Option<String>,
    /// Whether warnings of wrong values are errors, because strict mode has them for changes.
    pub refuses_warnings: bool,
    /// The locks that FOR UPDATE and FOR SHARE request.
    pub row_locks: RowLocks,
    /// ON DUPLICATE KEY UPDATE.
    pub updates_duplicates: bool,
    /// The rows that VALUES of an INSERT or REPLACE lists; 0 if it inserts a SELECT's.
    pub listed_rows: usize,
    /// The table that is written to.
    pub target: Option<String>,
    /// INSERT IGNORE: rows that violate a key are left out.
    pub ignores: bool,
    /// INSERT or REPLACE of a SELECT's rows, UPDATE or DELETE with several tables: commands of their own in
    /// MySQL.
    pub joined: bool,
    /// The columns that the statement names, and where.
    pub names: Names,
    /// SQL_CALC_FOUND_ROWS: a query that counts the rows without LIMIT.
    pub found_rows: Option<String>,
}

/// A column without a default to which an INSERT gives no value.
#[derive(Debug, Clone)]
pub struct MissingDefault {
    /// Its name.
    pub column: String,
    /// Whether SQLite would give it a number: it is a primary key of its own.
    pub is_numbered: bool,
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
