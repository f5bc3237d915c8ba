//! Tables of MySQL's that have no rows here: clients that query them find MySQL's columns and keys.
//!
//! empty.tsv describes them; its head explains the format.

use std::str::FromStr;
use std::sync::OnceLock;

use tare_mysql::error::SqlError;
use tare_mysql::series::Series;

use crate::cell::Cell;
use crate::describe::{Key, Meta, Scan, SeriesSet, Table};
use crate::filter::Filter;
use crate::view::View;

const DESCRIPTIONS: &str = include_str!("empty.tsv");

/// A table that is always empty.
struct Empty {
    schema: &'static str,
    name: &'static str,
    doc: &'static str,
    columns: Vec<Meta>,
    keys: &'static [Key],
    series: SeriesSet,
    can_truncate: bool,
    collation: Option<&'static str>,
}

/// All such tables.
pub fn tables() -> impl Iterator<Item = &'static dyn Table> {
    static ALL: OnceLock<Vec<Empty>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut all: Vec<Empty> = Vec::new();
        for line in DESCRIPTIONS.lines().filter(|line| !line.starts_with('#')) {
            match (line.strip_prefix('\t'), all.last_mut()) {
                (Some(column), Some(table)) => table.columns.push(parse_column(column)),
                _ => all.push(parse_table(line)),
            }
        }
        all
    });
    all.iter().map(|table| table as &dyn Table)
}

fn parse_table(line: &'static str) -> Empty {
    let mut fields = line.split('\t');
    let name = fields.next().unwrap_or_default();
    let (schema, name) = name.split_once('.').unwrap_or_default();
    let mut keys = Vec::new();
    let mut table = Empty {
        schema,
        name,
        doc: fields.next().unwrap_or_default(),
        columns: Vec::new(),
        keys: &[],
        series: SeriesSet::ALL,
        can_truncate: false,
        collation: None,
    };
    for field in fields {
        let (attribute, value) = field.split_once('=').unwrap_or((field, ""));
        let (name, columns) = value.split_once(':').unwrap_or(("", value));
        let columns = || columns.split(',').collect::<Vec<_>>().leak();
        match attribute {
            "series" => table.series = parse_series(value),
            "collate" => table.collation = Some(value),
            "primary" => keys.push(Key::Primary(columns())),
            "unique" => keys.push(Key::Unique(name, columns())),
            "key" => keys.push(Key::Plain(name, columns())),
            "truncate" => table.can_truncate = true,
            _ => unreachable!("{line}"),
        }
    }
    table.keys = keys.leak();
    table
}

fn parse_column(line: &'static str) -> Meta {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    let mut meta = Meta::new(next(), next(), "Not visible: the table has no rows.");
    meta.nullable = next() == "YES";
    for field in fields {
        match field.split_once('=').unwrap_or_default() {
            ("series", value) => meta.series = parse_series(value),
            ("9.7", value) => meta.type_9_7 = Some(value),
            ("mariadb", value) => meta.type_mariadb = Some(value),
            ("collate", value) => meta.collation = Some(value),
            ("default", value) => meta.default = Some(value),
            _ => unreachable!("{line}"),
        }
    }
    meta
}

fn parse_series(names: &str) -> SeriesSet {
    let series = names.split(',').map(Series::from_str);
    SeriesSet::of(&series.filter_map(Result::ok).collect::<Vec<_>>())
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
    fn series(&self) -> SeriesSet {
        self.series
    }
    fn collation(&self) -> Option<&'static str> {
        self.collation
    }
    fn columns(&self) -> Vec<Meta> {
        self.columns.clone()
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
