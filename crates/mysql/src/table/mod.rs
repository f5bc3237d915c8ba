//! The definition of a table: its columns, indexes and foreign keys, and its MySQL text.

mod column;
mod text;

pub use self::column::ColumnDef;
pub use self::text::{IMPLIED, identifier, literal};

use crate::error::{Result, SqlError};

/// An index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexDef {
    /// Its name; PRIMARY for the primary key.
    pub name: String,
    /// Whether it is unique.
    pub unique: bool,
    /// Its columns.
    pub columns: Vec<String>,
    /// Whether a foreign key got it for itself. Another index that begins with its columns replaces it.
    pub implied: bool,
}

impl IndexDef {
    /// Whether its first columns are these.
    pub fn begins_with(&self, columns: &[String]) -> bool {
        let mut pairs = columns.iter().zip(&self.columns);
        self.columns.len() >= columns.len() && pairs.all(|(a, b)| a.eq_ignore_ascii_case(b))
    }
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

/// A CHECK constraint.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckDef {
    /// Its name; empty until [`TableDef::settle`] gives it one.
    pub name: String,
    /// Its condition, as SQL.
    pub condition: String,
    /// NOT ENFORCED: rows may violate it.
    pub is_ignored: bool,
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
    /// Its CHECK constraints.
    pub checks: Vec<CheckDef>,
    /// Its comment.
    pub comment: String,
    /// Whether texts of columns that name no collation compare byte by byte.
    pub binary: bool,
    /// The storage engine that a statement names.
    pub engine: Option<String>,
    /// The number that a statement sets for AUTO_INCREMENT to give next.
    pub next_id: Option<u64>,
}

/// How large a table is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Its rows.
    pub rows: u64,
    /// Bytes of the pages that have the rows.
    pub data_bytes: u64,
    /// Bytes of the pages of its indexes.
    pub index_bytes: u64,
}

/// Data about a table that its definition does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// How large it is.
    pub size: Option<Size>,
    /// The number that AUTO_INCREMENT gives next, where it has given one.
    pub next_id: Option<u64>,
    /// When it was created, in seconds since 1970.
    pub created: Option<i64>,
}

impl TableDef {
    /// Completes the definition: columns of a primary key become NOT NULL, each foreign key gets an index that
    /// begins with its columns, if no other index does, and indexes name the columns in the table's case. CHECK
    /// constraints get names, by which they are sorted.
    pub fn settle(&mut self) {
        self.name_checks();
        let others: Vec<IndexDef> = self
            .indexes
            .iter()
            .filter(|i| !i.implied)
            .cloned()
            .collect();
        self.indexes
            .retain(|i| !i.implied || !others.iter().any(|other| other.begins_with(&i.columns)));
        for key in self.foreign_keys.clone() {
            if self.indexes.iter().any(|i| i.begins_with(&key.columns)) {
                continue;
            }
            // A key that was given no name has its table's.
            let given = !key.name.starts_with(&format!("{}_ibfk_", self.name));
            let free = !self.indexes.iter().any(|i| i.name == key.name);
            let name = (given && free).then(|| key.name.clone());
            self.add_index(name, false, key.columns);
            if let Some(index) = self.indexes.last_mut() {
                index.implied = true;
            }
        }
        for name in self.indexes.iter_mut().flat_map(|i| &mut i.columns) {
            let mut columns = self.columns.iter();
            if let Some(column) = columns.find(|c| c.name.eq_ignore_ascii_case(name)) {
                name.clone_from(&column.name);
            }
        }
        if let Some(primary) = self.primary().map(|p| p.columns.clone()) {
            for column in &mut self.columns {
                if primary.iter().any(|p| p.eq_ignore_ascii_case(&column.name)) {
                    column.nullable = false;
                }
            }
        }
    }

    /// Fails unless every index has columns that exist, and a unique name, and AUTO_INCREMENT is one indexed column's.
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
        let mut counted = self.columns.iter().filter(|c| c.auto_increment);
        let is_first = |name: &String| {
            let mut indexes = self.indexes.iter();
            indexes.any(|index| index.begins_with(std::slice::from_ref(name)))
        };
        let has_key = counted.next().is_none_or(|c| is_first(&c.name));
        if !has_key || counted.next().is_some() {
            return Err(SqlError::new(
                1075,
                "Incorrect table definition; there can be only one auto column and it must be defined as a key",
            ));
        }
        Ok(())
    }

    /// The indexes with the same columns as one before them that `old` does not have.
    pub fn new_duplicate_indexes(&self, old: &Self) -> Vec<&str> {
        let is_same = |a: &IndexDef, b: &IndexDef| a.unique == b.unique && a.columns == b.columns;
        let is_old = |index: &IndexDef| old.indexes.iter().any(|i| i.name == index.name);
        let all = self.indexes.iter().enumerate();
        let new = all.filter(|(at, index)| {
            !is_old(index) && self.indexes[..*at].iter().any(|i| is_same(i, index))
        });
        new.map(|(_, index)| index.name.as_str()).collect()
    }

    /// Gives CHECK constraints without a name `t_chk_1` and so on.
    fn name_checks(&mut self) {
        let prefix = format!("{}_chk_", self.name);
        let number = |check: &CheckDef| check.name.strip_prefix(&prefix)?.parse::<u32>().ok();
        let mut last = self.checks.iter().filter_map(number).max().unwrap_or(0);
        for check in self.checks.iter_mut().filter(|check| check.name.is_empty()) {
            last += 1;
            check.name = format!("{prefix}{last}");
        }
        self.checks.sort_by_key(|check| check.name.to_lowercase());
    }

    /// The primary key.
    pub fn primary(&self) -> Option<&IndexDef> {
        self.indexes.iter().find(|i| i.name == "PRIMARY")
    }

    /// The key that clients see as primary: where there is none, the first unique one of NOT NULL columns.
    pub fn visible_primary(&self) -> Option<&IndexDef> {
        let has_value = |name: &String| self.column(name).is_some_and(|c| !c.nullable);
        let is_key = |index: &&IndexDef| index.unique && index.columns.iter().all(has_value);
        let first = || self.indexes.iter().find(is_key);
        self.primary().or_else(first)
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

    /// Adds an index; without a name it gets its first column's, numbered when that is taken.
    pub fn add_index(&mut self, name: Option<String>, unique: bool, columns: Vec<String>) {
        let name = name.unwrap_or_else(|| {
            let first = columns.first().map(String::as_str).unwrap_or_default();
            let base = self.column(first).map_or(first, |c| &c.name).to_owned();
            let taken = |n: &str| self.indexes.iter().any(|i| i.name.eq_ignore_ascii_case(n));
            (1..)
                .map(|n| {
                    if n == 1 {
                        base.clone()
                    } else {
                        format!("{base}_{n}")
                    }
                })
                .find(|n| !taken(n))
                .unwrap_or(base.clone())
        });
        self.indexes.push(IndexDef {
            name,
            unique,
            columns,
            implied: false,
        });
    }
}
