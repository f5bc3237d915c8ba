//! What a table is: its MySQL definition, the SQLite statements that make it, and back.
//!
//! The definition is kept as MySQL's CREATE TABLE text in the table `__tare_tables` of each
//! database; SQLite's own schema has no room for display widths, comments and the like.

mod create;
mod load;
mod mysql;
mod sqlite;
mod types;

pub use load::load;
pub use mysql::string;
pub use types::{base_type, type_text};

use self::types::is_integer;
use tare_mysql::error::{Result, SqlError};

/// Where definitions are kept.
pub const META: &str = "__tare_tables";

/// A column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnDef {
    /// Its name.
    pub name: String,
    /// Its type as MySQL 8.0 writes it: `int unsigned`, `varchar(20)`.
    pub column_type: String,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Its default as an SQL expression.
    pub default: Option<String>,
    /// Whether it is AUTO_INCREMENT.
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// Its comment.
    pub comment: String,
    /// Whether its text compares byte by byte.
    pub binary: bool,
}

/// An index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexDef {
    /// Its name; PRIMARY for the primary key.
    pub name: String,
    /// Whether it is unique.
    pub unique: bool,
    /// Its columns.
    pub columns: Vec<String>,
}

/// A foreign key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignKeyDef {
    /// The constraint's name.
    pub name: String,
    /// The columns here.
    pub columns: Vec<String>,
    /// The table they refer to.
    pub table: String,
    /// The columns they refer to.
    pub referred: Vec<String>,
    /// ON DELETE, as written.
    pub on_delete: String,
    /// ON UPDATE, as written.
    pub on_update: String,
}

/// A table or view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableDef {
    /// Its name.
    pub name: String,
    /// A view's SELECT.
    pub view: Option<String>,
    /// Its columns.
    pub columns: Vec<ColumnDef>,
    /// Its indexes, the primary key first.
    pub indexes: Vec<IndexDef>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// CHECK constraints, as SQL.
    pub checks: Vec<String>,
    /// Its comment.
    pub comment: String,
}

impl TableDef {
    /// What follows from the rest: a primary key's columns are NOT NULL.
    pub fn settle(&mut self) {
        if let Some(primary) = self.primary().map(|p| p.columns.clone()) {
            for column in &mut self.columns {
                if primary.iter().any(|p| p.eq_ignore_ascii_case(&column.name)) {
                    column.nullable = false;
                }
            }
        }
    }

    /// Every index has columns that exist, and a name of its own.
    pub fn check_indexes(&self) -> Result<()> {
        for (i, index) in self.indexes.iter().enumerate() {
            if self.indexes[..i]
                .iter()
                .any(|o| o.name.eq_ignore_ascii_case(&index.name))
            {
                return Err(SqlError::new(
                    1061,
                    format!("Duplicate key name '{}'", index.name),
                ));
            }
            for column in &index.columns {
                if self.column(column).is_none() {
                    let text = format!("Key column '{column}' doesn't exist in table");
                    return Err(SqlError::new(1072, text));
                }
            }
        }
        Ok(())
    }

    /// The primary key.
    pub fn primary(&self) -> Option<&IndexDef> {
        self.indexes.iter().find(|i| i.name == "PRIMARY")
    }

    /// A column by its name; case does not count.
    pub fn column(&self, name: &str) -> Option<&ColumnDef> {
        self.columns
            .iter()
            .find(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// The AUTO_INCREMENT column.
    pub fn auto_increment(&self) -> Option<&ColumnDef> {
        self.columns.iter().find(|c| c.auto_increment)
    }

    /// The integer column that is SQLite's rowid: a primary key of its own, or AUTO_INCREMENT.
    pub fn rowid(&self) -> Option<&ColumnDef> {
        if let Some(column) = self.auto_increment() {
            return Some(column);
        }
        match self.primary()?.columns.as_slice() {
            [one] => self
                .column(one)
                .filter(|c| is_integer(&c.column_type) && !c.column_type.starts_with("bit")),
            _ => None,
        }
    }
}
