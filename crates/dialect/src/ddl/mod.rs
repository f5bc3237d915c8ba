//! Changes of the schema.

mod define;
mod options;
mod print;
mod types;

pub use self::define::{FromSql, default_text, definition, view_columns};
pub use self::options::collation;

use crate::admin::Program;
use crate::error::Result;
use sqlparser::ast::{AlterTableOperation, ColumnDef, ObjectName, SqlOption, TableConstraint};
use tare_mysql::table::TableDef;

use crate::name::resolve;
use crate::plan::sql::Sql;

/// A table by database and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
}

impl TableName {
    /// Resolves a name in a session with this default database, if it has one.
    pub fn of(name: &ObjectName, database: Option<&str>) -> Result<Self> {
        let (database, table) = resolve(name, database)?;
        Ok(Self { database, table })
    }
}

/// What is done to tables whose definitions stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    /// ANALYZE.
    Analyze,
    /// OPTIMIZE.
    Optimize,
    /// CHECK.
    Check,
}

impl Maintenance {
    /// The value of the result's column Op.
    pub fn name(self) -> &'static str {
        match self {
            Self::Analyze => "analyze",
            Self::Optimize => "optimize",
            Self::Check => "check",
        }
    }
}

/// An operation of ALTER TABLE.
#[derive(Debug, Clone)]
pub enum AlterOperation {
    /// One that sqlparser reads.
    Parsed(Box<AlterTableOperation>),
    /// COMMENT, ENGINE and other options of the table.
    Options(Vec<SqlOption>),
    /// CONVERT TO CHARACTER SET: the character set and the collation.
    Convert(Vec<SqlOption>),
    /// RENAME INDEX.
    RenameIndex {
        /// Its name.
        from: String,
        /// Its new name.
        to: String,
    },
    /// DROP CHECK.
    DropCheck(String),
    /// DROP CONSTRAINT.
    DropConstraint(String),
    /// ALTER CHECK ... ENFORCED.
    EnforceCheck {
        /// The constraint.
        name: String,
        /// Whether rows are checked.
        is_enforced: bool,
    },
    /// ENABLE KEYS and DISABLE KEYS.
    SwitchKeys,
    /// FORCE and others that change nothing here.
    Nothing,
}

impl From<AlterTableOperation> for AlterOperation {
    fn from(operation: AlterTableOperation) -> Self {
        Self::Parsed(Box::new(operation))
    }
}

/// A change.
#[derive(Debug, Clone)]
pub enum Ddl {
    /// CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE TABLE.
    CreateTable {
        /// Where.
        name: TableName,
        /// What.
        def: TableDef,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// CREATE TABLE ... LIKE.
    CreateLike {
        /// The new table.
        name: TableName,
        /// The old one.
        like: TableName,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// CREATE TABLE ... AS SELECT.
    CreateAs {
        /// The new table.
        name: TableName,
        /// What it is.
        def: TableDef,
        /// The INSERT of its rows.
        rows: Sql,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// CREATE VIEW.
    CreateView {
        /// Where.
        name: TableName,
        /// SQLite's SELECT.
        query: Sql,
        /// MySQL's text.
        text: String,
        /// OR REPLACE.
        or_replace: bool,
    },
    /// DROP TABLE, DROP VIEW.
    Drop {
        /// Which.
        names: Vec<TableName>,
        /// IF EXISTS.
        if_exists: bool,
        /// Views, not tables.
        view: bool,
    },
    /// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT.
    DropProgram {
        /// What it is.
        program: Program,
        /// Its database; `None` is the session's.
        database: Option<String>,
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER TABLE.
    Alter {
        /// Which.
        name: TableName,
        /// How.
        operations: Vec<AlterOperation>,
    },
    /// CREATE INDEX.
    CreateIndex {
        /// On which table.
        name: TableName,
        /// What.
        constraint: Box<TableConstraint>,
    },
    /// DROP INDEX.
    DropIndex {
        /// On which table.
        name: TableName,
        /// Which.
        index: String,
    },
    /// RENAME TABLE.
    Rename(Vec<(TableName, TableName)>),
    /// TRUNCATE.
    Truncate(TableName),
    /// ANALYZE, OPTIMIZE or CHECK TABLE.
    Maintain(Vec<TableName>, Maintenance),
}

impl Ddl {
    /// The tables that it changes.
    pub fn tables(&self) -> Vec<&TableName> {
        match self {
            Self::CreateTable { name, .. }
            | Self::CreateLike { name, .. }
            | Self::CreateAs { name, .. }
            | Self::CreateView { name, .. }
            | Self::Alter { name, .. }
            | Self::CreateIndex { name, .. }
            | Self::DropIndex { name, .. }
            | Self::Truncate(name) => vec![name],
            Self::Rename(pairs) => pairs.iter().flat_map(|(from, to)| [from, to]).collect(),
            Self::Drop { names, .. } => names.iter().collect(),
            Self::CreateDatabase { .. }
            | Self::DropDatabase { .. }
            | Self::DropProgram { .. }
            | Self::Maintain(..) => Vec::new(),
        }
    }
}

/// Keeps the import list of column definitions in one place for `server::ddl`.
pub type NewColumn = ColumnDef;
