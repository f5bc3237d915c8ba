//! MySQL's summaries, summed from growth in a range of time.
//!
//! Each row is for one host and one server, in two columns after MySQL's. Columns that growth lacks
//! (minimum, maximum, quantiles) are NULL.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::vec::IntoIter;

use tare_history::{Past, TABLES, Value};
use tare_mysql::SqlError;
use tare_mysql::series::Series;
use tare_rows::cell::Cell;
use tare_rows::describe::{Key, Meta, Scan, Table};
use tare_rows::filter::Filter;
use tare_rows::registry;
use tare_rows::time::timestamp;
use tare_rows::view::View;

use super::tables::meta;
use super::{History, sql_error};

/// Tables and the kind of growth that each is summed from.
const KINDS: [(&str, &str); 10] = [
    ("events_errors_summary_global_by_error", "error"),
    ("events_stages_summary_global_by_event_name", "stage"),
    ("events_statements_summary_by_digest", "digest"),
    (
        "events_statements_summary_global_by_event_name",
        "statement",
    ),
    ("events_waits_summary_global_by_event_name", "wait"),
    ("file_summary_by_instance", "file"),
    ("global_status", "metric"),
    ("memory_summary_global_by_event_name", "memory"),
    ("table_io_waits_summary_by_index_usage", "index"),
    ("table_io_waits_summary_by_table", "table"),
];

/// Columns of growth that are summed, in the order of [`Total::sums`].
const SUMS: [&str; 10] = [
    "count",
    "time_ns",
    "lock_ns",
    "errors",
    "warnings",
    "rows_affected",
    "rows_sent",
    "rows_examined",
    "bytes_read",
    "bytes_written",
];

/// The growth of a row.
#[derive(Default)]
struct Total {
    host: String,
    server: String,
    schema: Option<String>,
    name: String,
    text: Option<String>,
    sums: [Option<i64>; SUMS.len()],
    value: Option<i64>,
    /// Microseconds since 1970.
    first: i64,
    last: i64,
}

type Getter = fn(&Total) -> Cell<'_>;

/// Nanoseconds as MySQL's picoseconds.
fn time(total: &Total, sum: usize) -> Cell<'_> {
    Cell::opt(total.sums[sum].map(|ns| Cell::Unsigned((ns.max(0) as u64).saturating_mul(1000))))
}

fn count(total: &Total, sum: usize) -> Cell<'_> {
    Cell::opt(total.sums[sum].map(|n| Cell::Unsigned(n.max(0) as u64)))
}

fn average(total: &Total) -> Cell<'_> {
    match (total.sums[0], total.sums[1]) {
        (Some(count), Some(ns)) if count > 0 => {
            Cell::Unsigned((i128::from(ns) * 1000 / i128::from(count)).max(0) as u64)
        }
        _ => Cell::Null,
    }
}

/// Splits the name `table.index`.
fn split_index(total: &Total) -> (&str, Option<&str>) {
    match total.name.rsplit_once('.') {
        Some((table, index)) => (table, Some(index)),
        None => (&total.name, None),
    }
}

/// How a column of a summary is computed from a total of this kind.
fn getter(kind: &str, column: &str) -> Getter {
    match (kind, column) {
        (_, "HOST") => |t| Cell::text(&t.host),
        (_, "SERVER") => |t| Cell::text(&t.server),
        (_, "FIRST_SEEN") => |t| Cell::owned(timestamp(t.first.max(0) as u64)),
        (_, "LAST_SEEN") => |t| Cell::owned(timestamp(t.last.max(0) as u64)),
        ("digest", "SCHEMA_NAME") | ("table" | "index", "OBJECT_SCHEMA") => {
            |t| Cell::opt(t.schema.as_deref().map(Cell::text))
        }
        ("digest", "DIGEST_TEXT") => |t| Cell::opt(t.text.as_deref().map(Cell::text)),
        ("table" | "index", "OBJECT_TYPE") => |_| Cell::text("TABLE"),
        ("index", "OBJECT_NAME") => |t| Cell::text(split_index(t).0),
        ("index", "INDEX_NAME") => |t| Cell::opt(split_index(t).1.map(Cell::text)),
        ("metric", "VARIABLE_VALUE") => |t| Cell::opt(t.value.map(|v| Cell::owned(v.to_string()))),
        ("memory", "CURRENT_NUMBER_OF_BYTES_USED") => |t| Cell::opt(t.value.map(Cell::Signed)),
        ("memory", "SUM_NUMBER_OF_BYTES_ALLOC") | ("file", "SUM_NUMBER_OF_BYTES_READ") => {
            |t| count(t, 8)
        }
        ("memory", "SUM_NUMBER_OF_BYTES_FREE") | ("file", "SUM_NUMBER_OF_BYTES_WRITE") => {
            |t| count(t, 9)
        }
        ("memory", "COUNT_ALLOC") | ("error", "SUM_ERROR_RAISED") => |t| count(t, 0),
        ("digest" | "statement" | "wait" | "stage" | "file" | "table" | "index", "COUNT_STAR") => {
            |t| count(t, 0)
        }
        ("error" | "metric" | "memory", "SUM_TIMER_WAIT" | "AVG_TIMER_WAIT") => |_| Cell::Null,
        (_, "SUM_TIMER_WAIT") => |t| time(t, 1),
        (_, "AVG_TIMER_WAIT") => average,
        ("digest" | "statement", "SUM_LOCK_TIME") => |t| time(t, 2),
        ("digest" | "statement", "SUM_ERRORS") => |t| count(t, 3),
        ("digest" | "statement", "SUM_WARNINGS") => |t| count(t, 4),
        ("digest" | "statement", "SUM_ROWS_AFFECTED") => |t| count(t, 5),
        ("digest" | "statement", "SUM_ROWS_SENT") => |t| count(t, 6),
        ("digest" | "statement", "SUM_ROWS_EXAMINED") => |t| count(t, 7),
        (_, name) if name == name_column(kind) => |t| Cell::text(&t.name),
        _ => |_| Cell::Null,
    }
}

/// The column for the name of the row.
fn name_column(kind: &str) -> &'static str {
    match kind {
        "digest" => "DIGEST",
        "file" => "FILE_NAME",
        "table" => "OBJECT_NAME",
        "error" => "ERROR_NAME",
        "metric" => "VARIABLE_NAME",
        _ => "EVENT_NAME",
    }
}

/// A summary.
struct Summary {
    described: &'static dyn Table,
    kind: &'static str,
    columns: Vec<Meta>,
    getters: Vec<Getter>,
}

/// All summaries, sorted.
pub fn all() -> Vec<&'static dyn Table> {
    static ALL: LazyLock<Vec<Summary>> = LazyLock::new(|| describe(Series::default()));
    ALL.iter().map(|table| table as &dyn Table).collect()
}

fn describe(series: Series) -> Vec<Summary> {
    let tables = KINDS.iter().filter_map(|(name, kind)| {
        let described = registry::find(series, "performance_schema", name)?;
        let mut columns = described.columns();
        for column in &mut columns {
            column.nullable = true;
        }
        columns.push(meta("HOST", "varchar(255)", "The host of the history."));
        columns.push(meta("SERVER", "varchar(255)", "Its server."));
        let getters = columns.iter().map(|column| getter(kind, column.name));
        Some(Summary {
            described,
            kind,
            getters: getters.collect(),
            columns,
        })
    });
    tables.collect()
}

/// Host, server, schema and name.
type RowKey = (String, String, Option<String>, String);

fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => text.map(str::to_owned),
        _ => None,
    }
}

fn long(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Long(n) => n,
        _ => None,
    }
}

impl Summary {
    fn totals(&self, history: &History, past: &Past) -> Result<Vec<Total>, SqlError> {
        let table = TABLES
            .into_iter()
            .find(|table| table.name == "growth")
            .ok_or_else(|| SqlError::internal("a history has no growth".to_owned()))?;
        let position = |name: &str| table.columns.iter().position(|column| column.name == name);
        let names = ["sampled_at", "server", "kind", "schema", "name", "value"];
        let [at, server, kind, schema, name, value] =
            names.map(|n| position(n).unwrap_or(usize::MAX));
        let sums = SUMS.map(|name| position(name).unwrap_or(usize::MAX));
        let mut totals: BTreeMap<RowKey, Total> = BTreeMap::new();
        let mut rows = past.scan(table, |_| true).map_err(sql_error)?;
        while rows.advance().map_err(sql_error)? {
            if !matches!(rows.value(kind), Value::Text(Some(kind)) if kind == self.kind) {
                continue;
            }
            let row_key = (
                rows.host().to_owned(),
                text(rows.value(server)).unwrap_or_default(),
                text(rows.value(schema)),
                text(rows.value(name)).unwrap_or_default(),
            );
            let when = long(rows.value(at)).unwrap_or(0);
            let total = totals.entry(row_key).or_insert_with(|| Total {
                first: when,
                last: i64::MIN,
                ..Total::default()
            });
            for (sum, column) in total.sums.iter_mut().zip(sums) {
                if let Some(n) = long(rows.value(column)) {
                    *sum = Some(sum.unwrap_or(0).saturating_add(n));
                }
            }
            total.first = total.first.min(when);
            if when >= total.last {
                total.last = when;
                total.value = long(rows.value(value));
            }
        }
        history.warn(rows.damaged());
        let texts = match self.kind {
            "digest" => Self::texts(history, past)?,
            _ => BTreeMap::new(),
        };
        let named = totals
            .into_iter()
            .map(|((host, server, schema, name), total)| Total {
                text: texts.get(&name).cloned(),
                host,
                server,
                schema,
                name,
                ..total
            });
        Ok(named.collect())
    }

    /// The texts of digests.
    fn texts(history: &History, past: &Past) -> Result<BTreeMap<String, String>, SqlError> {
        let mut texts = BTreeMap::new();
        let Some(table) = TABLES.into_iter().find(|table| table.name == "digests") else {
            return Ok(texts);
        };
        let position = |name: &str| table.columns.iter().position(|column| column.name == name);
        let (digest, of) = (position("digest"), position("text"));
        let mut rows = past.scan(table, |_| true).map_err(sql_error)?;
        while rows.advance().map_err(sql_error)? {
            let value = |column: Option<usize>| text(rows.value(column.unwrap_or(usize::MAX)));
            if let (Some(digest), Some(of)) = (value(digest), value(of)) {
                texts.insert(digest, of);
            }
        }
        history.warn(rows.damaged());
        Ok(texts)
    }
}

impl Table for Summary {
    fn schema(&self) -> &'static str {
        "performance_schema"
    }

    fn name(&self) -> &'static str {
        self.described.name()
    }

    fn doc(&self) -> &'static str {
        self.described.doc()
    }

    fn columns(&self) -> Vec<Meta> {
        self.columns.clone()
    }

    fn keys(&self) -> &'static [Key] {
        &[]
    }

    fn filters(&self) -> &'static [&'static str] {
        &["HOST"]
    }

    fn expect(&self) -> u32 {
        self.described.expect()
    }

    fn truncate(&self, _: &View) -> Result<(), SqlError> {
        Ok(())
    }

    fn scan(&'static self, view: &View, filter: &Filter) -> Result<Box<dyn Scan>, SqlError> {
        let history = History::of(view)?;
        let totals = match history.of_host(filter, "HOST") {
            Some(past) => self.totals(&history, &past)?,
            None => Vec::new(),
        };
        Ok(Box::new(SummaryScan {
            table: self,
            totals: totals.into_iter(),
            total: None,
            row_number: 0,
        }))
    }
}

/// A scan with its current row.
struct SummaryScan {
    table: &'static Summary,
    totals: IntoIter<Total>,
    total: Option<Total>,
    row_number: i64,
}

impl Scan for SummaryScan {
    fn advance(&mut self) -> Result<bool, SqlError> {
        self.total = self.totals.next();
        self.row_number += 1;
        Ok(self.total.is_some())
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match (&self.total, self.table.getters.get(column)) {
            (Some(total), Some(get)) => get(total),
            _ => Cell::Null,
        }
    }

    fn rowid(&self) -> i64 {
        self.row_number
    }
}
