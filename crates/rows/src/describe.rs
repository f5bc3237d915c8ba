//! What a table is: its columns, keys and documentation, described once.
//!
//! Everything that prints a table (the virtual table's schema, SHOW CREATE TABLE,
//! information_schema, docs/tables.md) reads these descriptions and nothing else.

use std::sync::OnceLock;

use tare_mysql::error::SqlError;
use tare_mysql::series::Series;

use crate::cell::Cell;
pub use crate::column::{BINARY, Column, Meta, SeriesSet, col, null};
use crate::filter::Filter;
pub use crate::record::Rows;
use crate::view::View;

/// MySQL's type of an event's counters, times and identifiers.
pub const U64: &str = "bigint(20) unsigned";
/// A signed 64-bit column.
pub const I64: &str = "bigint(20)";
/// MySQL's `enum('YES','NO')`.
pub const YES_NO: &str = "enum('YES','NO')";

/// A key, as in SHOW CREATE TABLE and information_schema.statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// PRIMARY KEY.
    Primary(&'static [&'static str]),
    /// UNIQUE KEY with its name.
    Unique(&'static str, &'static [&'static str]),
    /// KEY with its name.
    Plain(&'static str, &'static [&'static str]),
}

impl Key {
    /// The key of a summary by thread or of all threads. Summaries of errors have no primary key,
    /// because an error's number may be NULL.
    pub const fn of_summary(columns: &'static [&'static str]) -> Self {
        match columns[columns.len() - 1].as_bytes() {
            b"ERROR_NUMBER" => Self::Unique(columns[0], columns),
            _ => Self::Primary(columns),
        }
    }

    /// `PRIMARY` or the key's own name.
    pub fn name(&self) -> &'static str {
        match self {
            Key::Primary(_) => "PRIMARY",
            Key::Unique(name, _) | Key::Plain(name, _) => name,
        }
    }

    /// Its columns, in order.
    pub fn columns(&self) -> &'static [&'static str] {
        match self {
            Key::Primary(c) | Key::Unique(_, c) | Key::Plain(_, c) => c,
        }
    }

    /// Whether no two rows have the same value.
    pub fn unique(&self) -> bool {
        !matches!(self, Key::Plain(..))
    }
}

/// Empties a table.
pub type Truncate = fn(&View) -> Result<(), SqlError>;

/// What an UPDATE assigns: column name and new value.
pub struct Change {
    /// The column's name as described.
    pub column: &'static str,
    /// The new value; NULL is `None`.
    pub value: Option<String>,
}

impl Change {
    /// YES or NO, or the number that an enum gives them: 1048 or 1265.
    pub fn yes_no(&self) -> Result<bool, SqlError> {
        match self.value.as_deref().map(str::trim) {
            None => Err(SqlError::cannot_be_null(self.column)),
            Some(text) if text.eq_ignore_ascii_case("YES") || text == "1" => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("NO") || text == "2" => Ok(false),
            Some(_) => Err(SqlError::data_truncated(self.column)),
        }
    }
}

/// The way an UPDATE reaches a row's origin.
pub struct Update {
    /// The columns that may be assigned.
    pub columns: &'static [&'static str],
    /// Applies the changes to the row with this rowid, at once.
    pub apply: fn(&View, rowid: i64, &[Change]) -> Result<(), SqlError>,
}

/// Adds a row, given its columns in order; a value of `None` is one that the INSERT did not give.
pub type Insert = fn(&View, &[Change]) -> Result<(), SqlError>;

/// Removes the row with this rowid.
pub type Delete = fn(&View, rowid: i64) -> Result<(), SqlError>;

/// A table and the function for its rows.
pub struct Spec<R: 'static> {
    /// `performance_schema`, `information_schema`, `mysql` or `tare`.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Its columns, in groups that tables of one family share.
    pub columns: &'static [&'static [Column<R>]],
    /// Its keys.
    pub keys: &'static [Key],
    /// Its keys in MySQL 9.7, where those are others.
    pub keys_9_7: Option<&'static [Key]>,
    /// The columns that `rows` can filter by equality.
    pub filters: &'static [&'static str],
    /// How many rows to expect, for SQLite's planner.
    pub expect: u32,
    /// Returns the rows. With a filter it may return more rows than match, never fewer.
    pub rows: fn(&View, &Filter) -> Result<Rows<R>, SqlError>,
    /// A row's identity, for UPDATE.
    pub rowid: Option<fn(&R) -> i64>,
    /// UPDATE, if allowed.
    pub update: Option<Update>,
    /// INSERT, if allowed.
    pub insert: Option<Insert>,
    /// DELETE, if allowed.
    pub delete: Option<Delete>,
    /// TRUNCATE, if allowed.
    pub truncate: Option<Truncate>,
    /// The default collation that MySQL declares for it; `None` for its database's.
    pub collation: Option<&'static str>,
    /// The series that have it.
    pub series: SeriesSet,
    /// The columns without their groups.
    pub flat: OnceLock<Box<[&'static Column<R>]>>,
}

impl<R: 'static> Spec<R> {
    /// A read-only table without keys; fill in the rest with struct update.
    pub const fn new(
        schema: &'static str,
        name: &'static str,
        doc: &'static str,
        columns: &'static [&'static [Column<R>]],
        rows: fn(&View, &Filter) -> Result<Rows<R>, SqlError>,
    ) -> Self {
        Spec {
            schema,
            name,
            doc,
            columns,
            keys: &[],
            keys_9_7: None,
            filters: &[],
            expect: 1000,
            rows,
            rowid: None,
            update: None,
            insert: None,
            delete: None,
            truncate: None,
            collation: None,
            series: SeriesSet::ALL,
            flat: OnceLock::new(),
        }
    }

    /// The same table with these keys.
    pub const fn keys(mut self, keys: &'static [Key]) -> Self {
        self.keys = keys;
        self
    }

    /// The same table, which has other keys in MySQL 9.7.
    pub const fn keys_in_9_7(mut self, keys: &'static [Key]) -> Self {
        self.keys_9_7 = Some(keys);
        self
    }

    /// The same table, which can be filtered by equality on these columns.
    pub const fn filters(mut self, columns: &'static [&'static str]) -> Self {
        self.filters = columns;
        self
    }

    /// The same table with an expected number of rows.
    pub const fn expect(mut self, rows: u32) -> Self {
        self.expect = rows;
        self
    }

    /// The same table, updatable.
    pub const fn update(mut self, rowid: fn(&R) -> i64, update: Update) -> Self {
        self.rowid = Some(rowid);
        self.update = Some(update);
        self
    }

    /// The same table, to which rows can be added and from which they can be taken. Such a table is
    /// updatable, too: `update` has its `rowid`.
    pub const fn change(mut self, insert: Insert, delete: Delete) -> Self {
        self.insert = Some(insert);
        self.delete = Some(delete);
        self
    }

    /// The same table with a default collation of its own.
    pub const fn collate(mut self, collation: &'static str) -> Self {
        self.collation = Some(collation);
        self
    }

    /// The same table, which only MySQL has.
    pub const fn mysql_only(mut self) -> Self {
        self.series = SeriesSet::MYSQL;
        self
    }

    /// The same table, which only MariaDB has.
    pub const fn mariadb_only(mut self) -> Self {
        self.series = SeriesSet::MARIADB;
        self
    }

    /// The same table, which a series of MySQL was the first to have.
    pub const fn since(mut self, series: Series) -> Self {
        self.series = SeriesSet::since(series);
        self
    }

    /// The same table; TRUNCATE does this.
    pub const fn truncate(mut self, truncate: Truncate) -> Self {
        self.truncate = Some(truncate);
        self
    }

    fn flat(&self) -> &[&'static Column<R>] {
        self.flat
            .get_or_init(|| self.columns.iter().flat_map(|group| group.iter()).collect())
    }
}

/// A table of any row type.
pub trait Table: Sync {
    /// The schema it lives in.
    fn schema(&self) -> &'static str;
    /// Its name.
    fn name(&self) -> &'static str;
    /// One sentence about it.
    fn doc(&self) -> &'static str;
    /// The series that have it.
    fn series(&self) -> SeriesSet {
        SeriesSet::ALL
    }
    /// The default collation that MySQL declares for it; `None` for its database's.
    fn collation(&self) -> Option<&'static str> {
        None
    }
    /// Its columns in order.
    fn columns(&self) -> Vec<Meta>;
    /// Its keys.
    fn keys(&self) -> &'static [Key];
    /// Its keys in MySQL 9.7, where those are others.
    fn keys_in_9_7(&self) -> Option<&'static [Key]> {
        None
    }
    /// The columns that a scan can filter by equality.
    fn filters(&self) -> &'static [&'static str] {
        &[]
    }
    /// The columns that a scan can filter by bounds (`<`, `>=`, BETWEEN).
    fn ranges(&self) -> &'static [&'static str] {
        &[]
    }
    /// How many rows to expect.
    fn expect(&self) -> u32;
    /// UPDATE, if allowed.
    fn update(&self) -> Option<&Update> {
        None
    }
    /// INSERT, if allowed.
    fn insert(&self) -> Option<Insert> {
        None
    }
    /// DELETE, if allowed.
    fn delete(&self) -> Option<Delete> {
        None
    }
    /// Whether TRUNCATE is allowed.
    fn can_truncate(&self) -> bool {
        false
    }
    /// Empties it. Only where `can_truncate`.
    fn truncate(&self, view: &View) -> Result<(), SqlError>;
    /// Whether it never has rows; then its sentence has the reason.
    fn is_always_empty(&self) -> bool {
        false
    }
    /// A view's SELECT; a table has none.
    fn view_definition(&self) -> Option<&str> {
        None
    }
    /// Starts a scan.
    fn scan(&'static self, view: &View, filter: &Filter) -> Result<Box<dyn Scan>, SqlError>;
}

/// A scan, which is at a row or past the last.
pub trait Scan {
    /// Steps to the next row; false when there is none.
    ///
    /// # Errors
    /// The reason that it cannot continue.
    fn advance(&mut self) -> Result<bool, SqlError>;
    /// A value of the current row. NULL past the last row.
    fn cell(&self, column: usize) -> Cell<'_>;
    /// The row's identity.
    fn rowid(&self) -> i64;
}

struct SpecScan<R: 'static> {
    spec: &'static Spec<R>,
    rows: Rows<R>,
    row: Option<R>,
    number: i64,
}

impl<R: 'static> Scan for SpecScan<R> {
    fn advance(&mut self) -> Result<bool, SqlError> {
        self.row = self.rows.next();
        self.number += 1;
        Ok(self.row.is_some())
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match (&self.row, self.spec.flat().get(column)) {
            (Some(row), Some(column)) => (column.get)(row),
            _ => Cell::Null,
        }
    }

    fn rowid(&self) -> i64 {
        match (self.spec.rowid, &self.row) {
            (Some(rowid), Some(row)) => rowid(row),
            _ => self.number,
        }
    }
}

impl<R: 'static> Table for Spec<R> {
    fn schema(&self) -> &'static str {
        self.schema
    }
    fn name(&self) -> &'static str {
        self.name
    }
    fn doc(&self) -> &'static str {
        self.doc
    }
    fn series(&self) -> SeriesSet {
        self.series
    }
    fn collation(&self) -> Option<&'static str> {
        self.collation
    }
    fn columns(&self) -> Vec<Meta> {
        self.flat().iter().map(|c| c.meta).collect()
    }
    fn keys(&self) -> &'static [Key] {
        self.keys
    }
    fn keys_in_9_7(&self) -> Option<&'static [Key]> {
        self.keys_9_7
    }
    fn filters(&self) -> &'static [&'static str] {
        self.filters
    }
    fn expect(&self) -> u32 {
        self.expect
    }
    fn update(&self) -> Option<&Update> {
        self.update.as_ref()
    }
    fn insert(&self) -> Option<Insert> {
        self.insert
    }
    fn delete(&self) -> Option<Delete> {
        self.delete
    }
    fn can_truncate(&self) -> bool {
        self.truncate.is_some()
    }
    fn truncate(&self, view: &View) -> Result<(), SqlError> {
        self.truncate.map_or(Ok(()), |truncate| truncate(view))
    }
    fn scan(&'static self, view: &View, filter: &Filter) -> Result<Box<dyn Scan>, SqlError> {
        let rows = (self.rows)(view, filter)?;
        Ok(Box::new(SpecScan {
            spec: self,
            rows,
            row: None,
            number: 0,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_no_takes_the_enums_names_and_numbers() {
        let of = |value: Option<&str>| {
            Change {
                column: "ENABLED",
                value: value.map(Into::into),
            }
            .yes_no()
        };
        assert_eq!(of(Some("yes")), Ok(true));
        assert_eq!(of(Some("NO")), Ok(false));
        assert_eq!(of(Some("2")), Ok(false));
        assert_eq!(of(Some("MAYBE")).unwrap_err().code, 1265);
        assert_eq!(of(None).unwrap_err().code, 1048);
    }
}
