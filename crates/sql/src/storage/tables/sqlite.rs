//! The SQLite statements that make a table and its indexes.

use std::fmt::Write as _;

use super::types::{is_text, sqlite_type};
use super::{IndexDef, TableDef};
use crate::storage::connection::quote;

impl TableDef {
    /// The SQLite statements that make the table in a database, under a name.
    pub fn to_sqlite(&self, database: &str, name: &str) -> Vec<String> {
        let rowid = self.rowid().map(|c| c.name.clone());
        let mut sql = format!("CREATE TABLE {}.{} (", quote(database), quote(name));
        for (i, column) in self.columns.iter().enumerate() {
            let is_rowid = rowid.as_deref() == Some(&column.name);
            let _ = write!(
                sql,
                "{}{} ",
                if i == 0 { "" } else { ", " },
                quote(&column.name)
            );
            if is_rowid {
                sql.push_str("INTEGER PRIMARY KEY");
                if column.auto_increment {
                    sql.push_str(" AUTOINCREMENT");
                }
            } else {
                sql.push_str(&sqlite_type(&column.column_type));
            }
            if !column.nullable {
                sql.push_str(" NOT NULL");
            }
            if let Some(default) = &column.default {
                let _ = write!(sql, " DEFAULT ({})", sqlite_default(default));
            }
            if is_text(&column.column_type) && !column.binary {
                sql.push_str(" COLLATE NOCASE");
            }
            if column.column_type.starts_with("enum(") {
                let members = &column.column_type["enum".len()..];
                let _ = write!(sql, " CHECK ({} IN {members})", quote(&column.name));
            }
        }
        let list = |columns: &[String]| {
            columns
                .iter()
                .map(|c| quote(c))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if let Some(primary) = self.primary() {
            let is_rowid = matches!((primary.columns.as_slice(), &rowid), ([one], Some(r)) if one.eq_ignore_ascii_case(r));
            if !is_rowid {
                let word = if rowid.is_some() {
                    "UNIQUE"
                } else {
                    "PRIMARY KEY"
                };
                let _ = write!(sql, ", {word} ({})", list(&primary.columns));
            }
        }
        for check in &self.checks {
            let _ = write!(sql, ", CHECK ({check})");
        }
        for key in &self.foreign_keys {
            let _ = write!(
                sql,
                ", FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}",
                list(&key.columns),
                quote(&key.table),
                list(&key.referred),
                key.on_delete,
                key.on_update
            );
        }
        sql.push(')');
        let mut all = vec![sql];
        for index in self.indexes.iter().filter(|i| i.name != "PRIMARY") {
            all.push(index.to_sqlite(database, &self.name, name));
        }
        all
    }
}

impl IndexDef {
    /// CREATE INDEX. SQLite's index names are per database, MySQL's per table: the table's name
    /// goes in front.
    pub fn to_sqlite(&self, database: &str, owner: &str, table: &str) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| quote(c)).collect();
        format!(
            "CREATE {}INDEX {}.{} ON {} ({})",
            if self.unique { "UNIQUE " } else { "" },
            quote(database),
            quote(&format!("{owner}.{}", self.name)),
            quote(table),
            columns.join(", ")
        )
    }
}

/// A default as SQLite computes it: its own CURRENT_TIMESTAMP is UTC, MySQL's is local time.
fn sqlite_default(default: &str) -> String {
    if default == "CURRENT_TIMESTAMP" {
        "datetime('now', 'localtime')".into()
    } else {
        default.replace("\\\\", "\\")
    }
}
