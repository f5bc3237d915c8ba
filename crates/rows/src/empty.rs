//! Tables of MySQL's that have no rows here: there for who asks, with MySQL's columns and keys.

use tare_mysql::error::SqlError;
use tare_mysql::series::Series;

use crate::cell::Cell;
use crate::describe::{Key, Life, Meta, Scan, Table};
use crate::filter::Filter;
use crate::view::View;

/// A table that is always empty.
pub struct Empty {
    schema: &'static str,
    name: &'static str,
    doc: &'static str,
    columns: &'static [&'static [Meta]],
    keys: &'static [Key],
    life: Life,
    can_truncate: bool,
    collation: Option<&'static str>,
}

/// A column that would never be NULL.
pub const fn always(name: &'static str, column_type: &'static str, doc: &'static str) -> Meta {
    Meta {
        name,
        column_type,
        nullable: false,
        collation: None,
        doc,
        life: Life::ALWAYS,
        later: None,
        mariadbs: None,
        is_ascii: false,
        default: None,
    }
}

/// A column that could be NULL.
pub const fn maybe(name: &'static str, column_type: &'static str, doc: &'static str) -> Meta {
    Meta {
        nullable: true,
        ..always(name, column_type, doc)
    }
}

impl Empty {
    /// A table without keys. Its columns come in groups that tables of one family share.
    pub const fn new(
        schema: &'static str,
        name: &'static str,
        doc: &'static str,
        columns: &'static [&'static [Meta]],
    ) -> Self {
        Self {
            schema,
            name,
            doc,
            columns,
            keys: &[],
            life: Life::ALWAYS,
            can_truncate: false,
            collation: None,
        }
    }

    /// The same table, which only these series have.
    pub const fn lives(mut self, life: Life) -> Self {
        self.life = life;
        self
    }

    /// The same table, which a series of MySQL was the first to have.
    pub const fn since(self, series: Series) -> Self {
        self.lives(Life::since(series))
    }

    /// The same table with a default collation of its own.
    pub const fn collate(mut self, collation: &'static str) -> Self {
        self.collation = Some(collation);
        self
    }

    /// The same table, which TRUNCATE leaves as empty as it is: MySQL's statement is no error.
    pub const fn truncate(mut self) -> Self {
        self.can_truncate = true;
        self
    }

    /// The same table with these keys.
    pub const fn keys(mut self, keys: &'static [Key]) -> Self {
        self.keys = keys;
        self
    }
}

struct NoRows;

impl Scan for NoRows {
    fn advance(&mut self) -> Result<bool, SqlError> {
        Ok(false)
    }

    fn cell(&self, _: usize) -> Cell<'_> {
        Cell::Null
    }

    fn rowid(&self) -> i64 {
        0
    }
}

impl Table for Empty {
    fn schema(&self) -> &'static str {
        self.schema
    }
    fn name(&self) -> &'static str {
        self.name
    }
    fn doc(&self) -> &'static str {
        self.doc
    }
    fn life(&self) -> Life {
        self.life
    }
    fn collation(&self) -> Option<&'static str> {
        self.collation
    }
    fn columns(&self) -> Vec<Meta> {
        self.columns.concat()
    }
    fn keys(&self) -> &'static [Key] {
        self.keys
    }
    fn expect(&self) -> u32 {
        1
    }
    fn is_always_empty(&self) -> bool {
        true
    }
    fn can_truncate(&self) -> bool {
        self.can_truncate
    }
    fn truncate(&self, _: &View) -> Result<(), SqlError> {
        Ok(())
    }
    fn scan(&'static self, _: &View, _: &Filter) -> Result<Box<dyn Scan>, SqlError> {
        Ok(Box::new(NoRows))
    }
}
