//! The tables of a history's files: those of `tare_history::TABLES`.

use std::sync::{Arc, LazyLock};

use tare_history::{Past, Scan as Rows, TABLES, Table as Described, Type, Value, parse_time};
use tare_mysql::SqlError;
use tare_rows::cell::Cell;
use tare_rows::describe::{Key, Meta, Scan, Table};
use tare_rows::filter::{Admit, Bound, Filter, Operand};
use tare_rows::time::timestamp;
use tare_rows::view::View;

use super::{History, sql_error};

/// Columns from a file's path, after the file's own.
const PATH_COLUMNS: [(&str, &str, &str); 3] = [
    ("host", "varchar(255)", "The host, as tare record calls it."),
    ("date", "date", "The day of its file, in UTC."),
    ("hour", "bigint(20)", "The hour of its file, in UTC."),
];

/// A table of a history's files.
struct FileTable {
    described: &'static Described,
    columns: Vec<Meta>,
}

/// All tables, sorted.
pub fn all() -> Vec<&'static dyn Table> {
    static ALL: LazyLock<Vec<FileTable>> = LazyLock::new(describe);
    ALL.iter().map(|table| table as &dyn Table).collect()
}

fn describe() -> Vec<FileTable> {
    let mut all = Vec::new();
    for described in TABLES {
        let file_columns = described.columns.iter().map(|column| {
            let kind = match column.kind {
                Type::Time => "datetime(6)",
                Type::Long => "bigint(20)",
                Type::Double => "double",
                Type::Text => "longtext",
            };
            (column.name, kind, column.doc)
        });
        let path_columns = PATH_COLUMNS
            .into_iter()
            .take(if described.by_hour { 3 } else { 1 });
        let columns = file_columns
            .chain(path_columns)
            .map(|(name, kind, doc)| meta(name, kind, doc));
        all.push(FileTable {
            described,
            columns: columns.collect(),
        });
    }
    all.sort_by_key(|table| table.described.name);
    all
}

/// A column that may be NULL.
pub fn meta(name: &'static str, column_type: &'static str, doc: &'static str) -> Meta {
    Meta {
        nullable: name != "sampled_at",
        ..Meta::new(name, column_type, doc)
    }
}

/// Parses a text that is compared with a time; milliseconds since 1970.
fn millis(value: &Operand) -> Option<i64> {
    match value {
        // SQL compares texts, so that only a complete time can narrow the scan.
        Operand::Text(text) if text.len() >= 10 && text.as_bytes()[4] == b'-' => {
            parse_time(text, std::time::UNIX_EPOCH).ok()
        }
        _ => None,
    }
}

const SECOND_MS: i64 = 1000;
const HOUR_MS: i64 = 3600 * SECOND_MS;

/// Narrows the range of time by bounds on `at` and by dates; false if it is empty.
fn narrow(past: &mut Past, filter: &Filter) -> bool {
    // The time that the file of a day may cover: it may contain growth of the first minute of the next day.
    const FILE_SPAN_MS: i64 = 24 * HOUR_MS + 60 * SECOND_MS;
    let mut ranges = Vec::new();
    for (bound, value) in filter.bounds("sampled_at") {
        match (bound, millis(value)) {
            (Bound::From, Some(at)) => ranges.push((at, i64::MAX)),
            (Bound::To, Some(at)) => ranges.push((i64::MIN, at.saturating_add(SECOND_MS))),
            (_, None) => {}
        }
    }
    for (bound, value) in filter.bounds("date") {
        match (bound, millis(value)) {
            (Bound::From, Some(at)) => ranges.push((at, i64::MAX)),
            (Bound::To, Some(at)) => ranges.push((i64::MIN, at.saturating_add(FILE_SPAN_MS))),
            (_, None) => {}
        }
    }
    match filter.text("date") {
        Admit::None => return false,
        Admit::One(date) => {
            let start = millis(&Operand::Text(date.to_owned()));
            ranges.extend(start.map(|at| (at, at.saturating_add(FILE_SPAN_MS))));
        }
        Admit::All => {}
    }
    for (from, to) in ranges {
        past.from = past.from.max(from);
        past.to = past.to.min(to);
    }
    true
}

impl Table for FileTable {
    fn schema(&self) -> &'static str {
        "tare"
    }

    fn name(&self) -> &'static str {
        self.described.name
    }

    fn doc(&self) -> &'static str {
        self.described.doc
    }

    fn columns(&self) -> Vec<Meta> {
        self.columns.clone()
    }

    fn keys(&self) -> &'static [Key] {
        &[]
    }

    fn filters(&self) -> &'static [&'static str] {
        match self.described.by_hour {
            true => &["host", "date", "hour"],
            false => &["host"],
        }
    }

    fn ranges(&self) -> &'static [&'static str] {
        match self.described.by_hour {
            true => &["sampled_at", "date"],
            false => &[],
        }
    }

    fn expect(&self) -> u32 {
        1_000_000
    }

    fn truncate(&self, _: &View) -> Result<(), SqlError> {
        Ok(())
    }

    fn scan(&'static self, view: &View, filter: &Filter) -> Result<Box<dyn Scan>, SqlError> {
        let history = History::of(view)?;
        let past = history.of_host(filter, "host");
        let past = past.and_then(|mut past| narrow(&mut past, filter).then_some(past));
        let hour = match filter.number("hour") {
            Admit::None => return Ok(Box::new(FileScan::empty(self, history))),
            Admit::One(hour) => i64::try_from(hour).ok(),
            Admit::All => None,
        };
        let Some(past) = past else {
            return Ok(Box::new(FileScan::empty(self, history)));
        };
        let uses = |name: &str| {
            let position = self.columns.iter().position(|column| column.name == name);
            position.is_some_and(|position| filter.uses(position))
        };
        let rows = past
            .scan_hour(self.described, hour, uses)
            .map_err(sql_error)?;
        Ok(Box::new(FileScan {
            table: self,
            history,
            rows: Some(rows),
            row_number: 0,
        }))
    }
}

/// A scan with its current row.
struct FileScan {
    table: &'static FileTable,
    history: Arc<History>,
    rows: Option<Rows>,
    row_number: i64,
}

impl FileScan {
    fn empty(table: &'static FileTable, history: Arc<History>) -> Self {
        Self {
            table,
            history,
            rows: None,
            row_number: 0,
        }
    }
}

impl Scan for FileScan {
    fn advance(&mut self) -> Result<bool, SqlError> {
        let Some(rows) = &mut self.rows else {
            return Ok(false);
        };
        self.row_number += 1;
        let is_row = rows.advance();
        self.history.warn(rows.damaged());
        is_row.map_err(sql_error)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let (Some(rows), Some(meta)) = (&self.rows, self.table.columns.get(column)) else {
            return Cell::Null;
        };
        let Some(described) = self.table.described.columns.get(column) else {
            return match meta.name {
                "host" => Cell::text(rows.host()),
                "date" => Cell::opt(rows.hour().map(|(date, _)| Cell::text(date))),
                _ => Cell::opt(rows.hour().map(|(_, hour)| Cell::Signed(hour))),
            };
        };
        match rows.value(column) {
            Value::Long(Some(us)) if described.kind == Type::Time => {
                Cell::owned(timestamp(us.max(0) as u64))
            }
            Value::Long(Some(n)) => Cell::Signed(n),
            Value::Double(Some(x)) => Cell::Real(x),
            Value::Text(Some(text)) => Cell::text(text),
            Value::Long(None) | Value::Double(None) | Value::Text(None) => Cell::Null,
        }
    }

    fn rowid(&self) -> i64 {
        self.row_number
    }
}
