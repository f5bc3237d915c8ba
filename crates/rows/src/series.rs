//! A table as one series has it: without the columns of others, with the types of its own.

use tare_mysql::error::SqlError;
use tare_mysql::series::Series;

use crate::cell::Cell;
use crate::describe::{Delete, Insert, Key, Meta, Scan, Table, Update};
use crate::filter::Filter;
use crate::view::View;

/// A column as a series has it; `None` if it does not.
pub fn column(meta: &Meta, series: Series) -> Option<Meta> {
    if !meta.series.contains(series) {
        return None;
    }
    let own_type = match series {
        Series::V8_0 => None,
        Series::V9_7 => meta.type_9_7,
        Series::Mariadb => meta.type_mariadb,
    };
    let column_type = match own_type {
        Some(own_type) => own_type,
        // Descriptions live as long as the program, and so do the few types that are derived.
        None => match series.display_type(meta.column_type) {
            std::borrow::Cow::Borrowed(same) => same,
            std::borrow::Cow::Owned(own) => own.leak(),
        },
    };
    Some(Meta {
        column_type,
        is_ascii: series.has_ascii_hosts() && meta.name.ends_with("HOST"),
        ..*meta
    })
}

/// A table as a series has it.
pub struct SeriesTable {
    table: &'static dyn Table,
    columns: Vec<Meta>,
    keys: &'static [Key],
    /// The columns' positions in the description; `None` if it has no others.
    positions: Option<Vec<usize>>,
}

impl SeriesTable {
    /// `None` for a table that the series does not have.
    pub fn new(table: &'static dyn Table, series: Series) -> Option<Self> {
        if !table.series().contains(series) {
            return None;
        }
        let all = table.columns();
        let all_columns = all.iter().enumerate();
        let (positions, columns): (Vec<usize>, Vec<Meta>) = all_columns
            .filter_map(|(i, meta)| Some((i, column(meta, series)?)))
            .unzip();
        Some(Self {
            table,
            keys: match table.keys_in_9_7() {
                Some(keys) if series == Series::V9_7 => keys,
                // MariaDB has no keys on these tables.
                _ if series.is_mariadb() && table.schema() == "performance_schema" => &[],
                _ => table.keys(),
            },
            positions: (columns.len() < all.len()).then_some(positions),
            columns,
        })
    }
}

/// A scan of the description that returns this series' columns.
struct Projection {
    scan: Box<dyn Scan>,
    positions: &'static [usize],
}

impl Scan for Projection {
    fn advance(&mut self) -> Result<bool, SqlError> {
        self.scan.advance()
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        let position = self.positions.get(column);
        position.map_or(Cell::Null, |position| self.scan.cell(*position))
    }
    fn rowid(&self) -> i64 {
        self.scan.rowid()
    }
}

impl Table for SeriesTable {
    fn schema(&self) -> &'static str {
        self.table.schema()
    }
    fn name(&self) -> &'static str {
        self.table.name()
    }
    fn doc(&self) -> &'static str {
        self.table.doc()
    }
    fn collation(&self) -> Option<&'static str> {
        self.table.collation()
    }
    fn columns(&self) -> Vec<Meta> {
        self.columns.clone()
    }
    fn keys(&self) -> &'static [Key] {
        self.keys
    }
    fn filters(&self) -> &'static [&'static str] {
        self.table.filters()
    }
    fn expect(&self) -> u32 {
        self.table.expect()
    }
    fn update(&self) -> Option<&Update> {
        self.table.update()
    }
    fn insert(&self) -> Option<Insert> {
        self.table.insert()
    }
    fn delete(&self) -> Option<Delete> {
        self.table.delete()
    }
    fn can_truncate(&self) -> bool {
        self.table.can_truncate()
    }
    fn truncate(&self, view: &View) -> Result<(), SqlError> {
        self.table.truncate(view)
    }
    fn is_always_empty(&self) -> bool {
        self.table.is_always_empty()
    }
    fn view_definition(&self) -> Option<&str> {
        self.table.view_definition()
    }
    fn scan(&'static self, view: &View, filter: &Filter) -> Result<Box<dyn Scan>, SqlError> {
        let scan = self.table.scan(view, filter)?;
        Ok(match &self.positions {
            Some(positions) => Box::new(Projection { scan, positions }),
            None => scan,
        })
    }
}
