//! The one virtual table module behind every table: SQLite's callbacks to `Table`'s.
//!
//! A panic must not unwind into SQLite, so every callback catches the panics of a table's code and returns
//! them as an error of the statement.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rusqlite::types::{Null, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Inserts, UpdateVTab, Updates, VTab,
    VTabConnection, VTabCursor, VTabKind, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Error, Result};
use tare_mysql::date::Zone;
use tare_mysql::error::SqlError;
use tare_rows::cell::Cell;
use tare_rows::describe::{Change, Meta, Scan, Table};
use tare_rows::filter::{Bound, Filter, Operand};

use super::state::State;
use super::types;
use tare_functions::call::raise;

/// One of a connection's tables.
#[repr(C)]
pub(super) struct CatalogTable {
    base: sqlite3_vtab,
    table: &'static dyn Table,
    columns: Vec<Meta>,
    /// Which columns are TIMESTAMPs; `None` if no column is.
    timestamps: Option<Arc<[bool]>>,
    state: Arc<State>,
}

/// A scan of a catalog table.
#[repr(C)]
pub(super) struct CatalogCursor {
    base: sqlite3_vtab_cursor,
    table: &'static dyn Table,
    state: Arc<State>,
    timestamps: Option<Arc<[bool]>>,
    /// The session's time zone while the scan runs, if it converts a TIMESTAMP.
    zone: Option<Zone>,
    scan: Option<Box<dyn Scan>>,
    eof: bool,
}

/// The last letter of a plan that MySQL answers by a key.
const LOOKUP: char = 'L';

thread_local! {
    /// Scans of this thread that MySQL answers by a key, since they were last taken.
    static LOOKUPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The scans of system tables that a key answers and that this thread has begun since the last call:
/// Handler_read_key counts them.
pub fn take_lookups() -> u64 {
    LOOKUPS.take()
}

/// A term of a WHERE that a scan gets, by the index of its column in the table's `filters` or `ranges`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term {
    Equal(usize),
    Bound(usize, Bound),
}

impl Term {
    fn of(table: &dyn Table, column: &str, does: IndexConstraintOp) -> Option<Self> {
        use IndexConstraintOp::{
            SQLITE_INDEX_CONSTRAINT_EQ, SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT,
            SQLITE_INDEX_CONSTRAINT_LE, SQLITE_INDEX_CONSTRAINT_LT,
        };
        let index = |of: &[&str]| of.iter().position(|name| *name == column);
        let bound = |bound| Some(Self::Bound(index(table.ranges())?, bound));
        match does {
            SQLITE_INDEX_CONSTRAINT_EQ => index(table.filters()).map(Self::Equal),
            SQLITE_INDEX_CONSTRAINT_GE | SQLITE_INDEX_CONSTRAINT_GT => bound(Bound::From),
            SQLITE_INDEX_CONSTRAINT_LE | SQLITE_INDEX_CONSTRAINT_LT => bound(Bound::To),
            _ => None,
        }
    }

    /// The term's letter in the string that SQLite passes from the plan to the scan.
    fn letter(self) -> char {
        char::from(match self {
            Self::Equal(n) => b'a' + n as u8,
            Self::Bound(n, Bound::From) => b'A' + n as u8,
            Self::Bound(n, Bound::To) => b'0' + n as u8,
        })
    }

    fn read(letter: u8) -> Self {
        match letter {
            b'a'.. => Self::Equal(usize::from(letter - b'a')),
            b'A'..b'a' => Self::Bound(usize::from(letter - b'A'), Bound::From),
            _ => Self::Bound(usize::from(letter.saturating_sub(b'0')), Bound::To),
        }
    }
}

fn catch_panic<T>(table: &dyn Table, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let text = format!(
            "{}.{} failed inside; please report it",
            table.schema(),
            table.name()
        );
        Err(raise(SqlError::internal(text)))
    })
}

// SAFETY: `CatalogTable` is repr(C) and its first field is the sqlite3_vtab that SQLite fills.
unsafe impl<'vtab> VTab<'vtab> for CatalogTable {
    type Aux = Arc<State>;
    type Cursor = CatalogCursor;

    fn connect(
        _db: &mut VTabConnection,
        aux: Option<&Arc<State>>,
        _module: &[u8],
        database: &[u8],
        name: &[u8],
        _args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let lossy = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let state = aux
            .ok_or_else(|| Error::ModuleError("no source".into()))?
            .clone();
        let table = state
            .find(&lossy(database), &lossy(name))
            .ok_or_else(|| Error::ModuleError(format!("no table {}", lossy(name))))?;
        let columns = table.columns();
        let is_timestamp = |meta: &Meta| meta.column_type.starts_with("timestamp");
        let timestamps = columns.iter().any(is_timestamp);
        let timestamps = timestamps.then(|| columns.iter().map(is_timestamp).collect());
        let schema = CString::new(types::sqlite_schema(table))?;
        let base = sqlite3_vtab::default();
        Ok((
            Cow::Owned(schema),
            CatalogTable {
                base,
                table,
                columns,
                timestamps,
                state,
            },
        ))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut chosen: Vec<(usize, Term)> = Vec::new();
        let mut unusable = false;
        for (i, constraint) in info.constraints().enumerate() {
            let column = usize::try_from(constraint.column()).ok();
            let Some(term) = column
                .and_then(|c| self.columns.get(c))
                .and_then(|meta| Term::of(self.table, meta.name, constraint.operator()))
            else {
                continue;
            };
            let is_new = || chosen.iter().all(|(_, other)| *other != term);
            if !constraint.is_usable() {
                unusable = true;
            } else if matches!(term, Term::Bound(..)) || is_new() {
                chosen.push((i, term));
            }
        }
        let mut rows = f64::from(self.table.expect());
        let mut plan = String::new();
        for (argument, (constraint, term)) in chosen.iter().enumerate() {
            // SQLite tests the row again: a filter compares without case, the column may not.
            info.constraint_usage(*constraint)
                .set_argv_index(argument as c_int + 1);
            plan.push(term.letter());
            rows /= match term {
                Term::Equal(_) => 30.0,
                Term::Bound(..) => 3.0,
            };
        }
        // Behind the terms are the columns that are read, and whether MySQL answers by a key.
        plan.push_str(&format!("/{:x}", info.col_used()));
        if self.is_lookup(info) {
            plan.push(LOOKUP);
        }
        // A plan that had to leave out a filter is more expensive.
        let cost = if unusable && chosen.is_empty() {
            rows * 10.0
        } else {
            rows
        };
        info.set_estimated_cost(cost.max(1.0) + 10.0);
        info.set_estimated_rows(rows.max(1.0) as i64);
        info.set_idx_str(&plan);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<CatalogCursor> {
        self.state.open_cursor();
        Ok(CatalogCursor {
            base: sqlite3_vtab_cursor::default(),
            table: self.table,
            state: self.state.clone(),
            timestamps: self.timestamps.clone(),
            zone: None,
            scan: None,
            eof: true,
        })
    }
}

impl CreateVTab<'_> for CatalogTable {
    const KIND: VTabKind = VTabKind::Default;
}

impl CatalogTable {
    /// Whether the first column of one of the table's keys is compared for equality.
    fn is_lookup(&self, info: &IndexInfo) -> bool {
        info.constraints().any(|constraint| {
            let column = usize::try_from(constraint.column()).ok();
            let name = column.and_then(|c| self.columns.get(c)).map(|m| m.name);
            let mut keys = self.table.keys().iter();
            constraint.is_usable()
                && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                && keys.any(|key| key.columns().first().copied() == name)
        })
    }

    fn command_denied(&self, command: &str) -> Error {
        let (user, host) = self.state.source().account();
        let table = self.table.name();
        raise(SqlError::command_denied(
            self.state.source().series(),
            command,
            (&user, &host),
            (self.table.schema(), table),
        ))
    }

    fn changes(&self, args: &Updates<'_>, allowed: &[&str]) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        // Two rowids precede the columns.
        for (i, column) in self.columns.iter().enumerate() {
            if args.no_change(i + 2) {
                continue;
            }
            if !allowed.contains(&column.name) {
                return Err(raise(SqlError::invalid_usage()));
            }
            changes.push(Change {
                column: column.name,
                value: text(args.get::<Value>(i + 2)?),
            });
        }
        Ok(changes)
    }
}

/// A cell as SQLite gets it. An integer beyond `i64` goes as text: see docs/types.md.
struct SqliteCell<'a>(Cell<'a>);

impl ToSql for SqliteCell<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match &self.0 {
            Cell::Null => ValueRef::Null,
            Cell::Unsigned(v) => match i64::try_from(*v) {
                Ok(v) => ValueRef::Integer(v),
                Err(_) => return Ok(ToSqlOutput::Owned(Value::Text(v.to_string()))),
            },
            Cell::Signed(v) => ValueRef::Integer(*v),
            Cell::Real(v) => ValueRef::Real(*v),
            Cell::Text(s) => ValueRef::Text(s.as_bytes()),
            // SQLite compares a text with a text only.
            Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(_) => ValueRef::Text(bytes),
                Err(_) => ValueRef::Blob(bytes),
            },
        }))
    }
}

/// The value that a column is compared with.
fn operand(value: Value) -> Operand {
    match value {
        Value::Null => Operand::Null,
        Value::Integer(v) => Operand::Integer(v),
        Value::Text(s) => Operand::Text(s),
        Value::Real(_) | Value::Blob(_) => Operand::Other,
    }
}

/// The text of an assigned value.
fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Integer(v) => Some(v.to_string()),
        Value::Real(v) => Some(v.to_string()),
        Value::Text(s) => Some(s),
        Value::Blob(b) => Some(String::from_utf8_lossy(&b).into_owned()),
    }
}

impl UpdateVTab<'_> for CatalogTable {
    fn delete(&mut self, rowid: ValueRef<'_>) -> Result<()> {
        let Some(delete) = self.table.delete() else {
            return Err(self.command_denied("DELETE"));
        };
        let rowid = rowid.as_i64()?;
        let view = self.state.view();
        catch_panic(self.table, || delete(&view, rowid).map_err(raise))
    }

    fn insert(&mut self, args: &Inserts<'_>) -> Result<i64> {
        let Some(insert) = self.table.insert() else {
            return Err(self.command_denied("INSERT"));
        };
        let mut row = Vec::with_capacity(self.columns.len());
        // Two rowids precede the columns. A column that the INSERT does not name is NULL.
        for (i, column) in self.columns.iter().enumerate() {
            row.push(Change {
                column: column.name,
                value: text(args.get::<Value>(i + 2)?),
            });
        }
        let view = self.state.view();
        catch_panic(self.table, || insert(&view, &row).map_err(raise))?;
        // Nobody reads the rowid of an inserted row.
        Ok(0)
    }

    fn update(&mut self, args: &Updates<'_>) -> Result<()> {
        let Some(update) = self.table.update() else {
            return Err(self.command_denied("UPDATE"));
        };
        let rowid: i64 = args.get(0)?;
        if args.get::<i64>(1)? != rowid {
            return Err(raise(SqlError::invalid_usage()));
        }
        let changes = self.changes(args, update.columns)?;
        let view = self.state.view();
        catch_panic(self.table, || {
            (update.apply)(&view, rowid, &changes).map_err(raise)
        })
    }
}

// SAFETY: `CatalogCursor` is repr(C) and its first field is the sqlite3_vtab_cursor.
unsafe impl VTabCursor for CatalogCursor {
    fn filter(&mut self, _num: c_int, plan: Option<&str>, args: &Filters<'_>) -> Result<()> {
        let mut filter = Filter::all();
        let plan = plan.unwrap_or_default();
        let lookup = plan.strip_suffix(LOOKUP);
        let (terms, used) = lookup.unwrap_or(plan).split_once('/').unwrap_or_default();
        if lookup.is_some() {
            LOOKUPS.set(LOOKUPS.get() + 1);
        }
        for (i, letter) in terms.bytes().enumerate() {
            let value = || Ok::<_, Error>(operand(args.get::<Value>(i)?));
            match Term::read(letter) {
                Term::Equal(n) => {
                    if let Some(column) = self.table.filters().get(n) {
                        filter.push(column, value()?);
                    }
                }
                Term::Bound(n, bound) => {
                    if let Some(column) = self.table.ranges().get(n) {
                        filter.bound(column, bound, value()?);
                    }
                }
            }
        }
        if let Ok(bits) = u64::from_str_radix(used, 16) {
            filter.use_columns(bits);
        }
        let (table, state) = (self.table, &self.state);
        let zone = self.timestamps.as_ref().map(|_| state.source().zone());
        self.zone = zone.filter(|zone| !zone.is_utc());
        let (scan, eof) = catch_panic(table, || {
            let mut scan = table.scan(&state.view(), &filter).map_err(raise)?;
            let eof = !scan.advance().map_err(raise)?;
            Ok((scan, eof))
        })?;
        self.scan = Some(scan);
        self.eof = eof;
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        let Some(scan) = &mut self.scan else {
            return Ok(());
        };
        self.eof = !catch_panic(self.table, || scan.advance().map_err(raise))?;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.eof
    }

    fn column(&self, ctx: &mut Context, i: c_int) -> Result<()> {
        if ctx.no_change() {
            return Ok(());
        }
        let Some(scan) = &self.scan else {
            return ctx.set_result(Null);
        };
        let column = usize::try_from(i).unwrap_or(usize::MAX);
        catch_panic(self.table, || {
            let cell = scan.cell(column);
            match self.local_text(column, &cell) {
                Some(text) => ctx.set_result(text),
                None => ctx.set_result(SqliteCell(cell)),
            }
        })
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.scan.as_ref().map_or(0, |scan| scan.rowid()))
    }
}

impl CatalogCursor {
    /// A TIMESTAMP in the session's time zone; `None` if the cell is as the session reads it.
    fn local_text(&self, column: usize, cell: &Cell<'_>) -> Option<String> {
        let zone = self.zone.as_ref()?;
        let is_timestamp = self.timestamps.as_ref()?.get(column)?;
        match cell {
            Cell::Text(utc) if *is_timestamp => zone.local_text(utc),
            _ => None,
        }
    }
}

impl Drop for CatalogCursor {
    fn drop(&mut self) {
        // The scan borrows from the snapshot, and is dropped first.
        self.scan = None;
        self.state.close_cursor();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_beyond_i64_is_sent_as_text() {
        let sent = SqliteCell(Cell::from(u64::MAX));
        assert_eq!(
            sent.to_sql().unwrap(),
            ToSqlOutput::Owned(Value::Text("18446744073709551615".into()))
        );
    }
}
