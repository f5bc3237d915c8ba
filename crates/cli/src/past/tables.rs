//! The tables of the files: moments, samples, growth, digests.

use std::sync::Arc;

use tare_history::{Past, Scan as Rows, TABLES, Table as Described, Type, Value, moment};
use tare_mysql::SqlError;
use tare_rows::cell::Cell;
use tare_rows::describe::{Key, Meta, Scan, Table};
use tare_rows::filter::{Admit, Bound, Filter, Operand};
use tare_rows::time::timestamp;
use tare_rows::view::View;

use super::{History, told};

/// What a file's path says, after its columns.
const OF_PATH: [(&str, &str, &str); 3] = [
    ("host", "varchar(255)", "The host, as tare record calls it."),
    ("date", "date", "The day of its file, in UTC."),
    ("hour", "bigint(20)", "The hour of its file, in UTC."),
];

/// A table of the files.
struct OfFiles {
    history: Arc<History>,
    described: &'static Described,
    columns: Vec<Meta>,
}

/// All of them, sorted.
pub fn all(history: &Arc<History>) -> Vec<&'static dyn Table> {
    let mut all: Vec<&'static dyn Table> = Vec::new();
    for described in TABLES {
        let of_rows = described.columns.iter().map(|column| {
            let kind = match column.kind {
                Type::Time => "datetime(6)",
                Type::Long => "bigint(20)",
                Type::Double => "double",
                Type::Text => "longtext",
            };
            (column.name, kind, column.doc)
        });
        let of_path = OF_PATH
            .into_iter()
            .take(if described.by_hour { 3 } else { 1 });
        let columns = of_rows
            .chain(of_path)
            .map(|(name, kind, doc)| meta(name, kind, doc));
        all.push(Box::leak(Box::new(OfFiles {
            history: Arc::clone(history),
            described,
            columns: columns.collect(),
        })));
    }
    all.sort_by_key(|table| table.name());
    all
}

/// A column that may be NULL.
pub fn meta(name: &'static str, column_type: &'static str, doc: &'static str) -> Meta {
    Meta {
        nullable: name != "at",
        ..Meta::new(name, column_type, doc)
    }
}

/// The milliseconds that a text which is compared with a time may stand for.
fn millis(value: &Operand) -> Option<i64> {
    match value {
        // Texts compare as texts: what is no time in full is not relied on.
        Operand::Text(text) if text.len() >= 10 && text.as_bytes()[4] == b'-' => {
            moment(text, std::time::UNIX_EPOCH).ok()
        }
        _ => None,
    }
}

const SECOND: i64 = 1000;
const HOUR: i64 = 3600 * SECOND;

/// Narrows the range of time by bounds on `at` and by dates; false where nothing can be meant.
fn narrow(past: &mut Past, filter: &Filter) -> bool {
    // A file of a day has growth of the first moments of the next one.
    const DAY: i64 = 24 * HOUR + 60 * SECOND;
    let mut ranges = Vec::new();
    for (bound, value) in filter.bounds("at") {
        match (bound, millis(value)) {
            (Bound::From, Some(at)) => ranges.push((at, i64::MAX)),
            (Bound::To, Some(at)) => ranges.push((i64::MIN, at.saturating_add(SECOND))),
            (_, None) => {}
        }
    }
    for (bound, value) in filter.bounds("date") {
        match (bound, millis(value)) {
            (Bound::From, Some(at)) => ranges.push((at, i64::MAX)),
            (Bound::To, Some(at)) => ranges.push((i64::MIN, at.saturating_add(DAY))),
            (_, None) => {}
        }
    }
    match filter.text("date") {
        Admit::None => return false,
        Admit::One(date) => {
            let start = millis(&Operand::Text(date.to_owned()));
            ranges.extend(start.map(|at| (at, at.saturating_add(DAY))));
        }
        Admit::All => {}
    }
    for (from, to) in ranges {
        past.from = past.from.max(from);
        past.to = past.to.min(to);
    }
    true
}

impl Table for OfFiles {
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
            true => &["at", "date"],
            false => &[],
        }
    }

    fn expect(&self) -> u32 {
        1_000_000
    }

    fn truncate(&self, _: &View) -> Result<(), SqlError> {
        Ok(())
    }

    fn scan(&'static self, _: &View, filter: &Filter) -> Result<Box<dyn Scan>, SqlError> {
        let past = self.history.of_host(filter, "host");
        let past = past.and_then(|mut past| narrow(&mut past, filter).then_some(past));
        let hour = match filter.number("hour") {
            Admit::None => return Ok(Box::new(Walk::nothing(self))),
            Admit::One(hour) => i64::try_from(hour).ok(),
            Admit::All => None,
        };
        let Some(past) = past else {
            return Ok(Box::new(Walk::nothing(self)));
        };
        let uses = |name: &str| {
            let place = self.columns.iter().position(|column| column.name == name);
            place.is_some_and(|place| filter.uses(place))
        };
        let rows = past.scan_hour(self.described, hour, uses).map_err(told)?;
        Ok(Box::new(Walk {
            table: self,
            rows: Some(rows),
            seen: 0,
        }))
    }
}

/// A scan that stands on a row.
struct Walk {
    table: &'static OfFiles,
    rows: Option<Rows>,
    seen: i64,
}

impl Walk {
    fn nothing(table: &'static OfFiles) -> Self {
        Self {
            table,
            rows: None,
            seen: 0,
        }
    }
}

impl Scan for Walk {
    fn advance(&mut self) -> Result<bool, SqlError> {
        let Some(rows) = &mut self.rows else {
            return Ok(false);
        };
        self.seen += 1;
        let is_row = rows.advance();
        self.table.history.warn(rows.damaged());
        is_row.map_err(told)
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
            Value::Double(x) => Cell::Real(x),
            Value::Text(Some(text)) => Cell::text(text),
            Value::Long(None) | Value::Text(None) => Cell::Null,
        }
    }

    fn rowid(&self) -> i64 {
        self.seen
    }
}
