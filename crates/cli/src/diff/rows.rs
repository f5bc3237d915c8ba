//! The rows of a table of a history.

use tare_history::{Past, Scan, TABLES, Table, Value};

use crate::exit::{FAILED, Failure};

/// Rows of a table with some columns.
pub struct Rows {
    scan: Scan,
    table: &'static Table,
    columns: Vec<usize>,
}

impl Rows {
    /// All rows of a table. Other methods name these columns by their position here.
    pub fn scan(past: &Past, table: &str, columns: &[&str]) -> Result<Self, Failure> {
        let described = TABLES.into_iter().find(|one| one.name == table);
        let table = described.ok_or_else(|| Failure::new(FAILED, "a history has no such table"))?;
        let scan = past.scan(table, |column| columns.contains(&column));
        Ok(Self {
            scan: scan.map_err(|error| Failure::new(FAILED, error))?,
            columns: columns.iter().map(|name| position(table, name)).collect(),
            table,
        })
    }

    /// Goes to the next row; false if there is none.
    pub fn advance(&mut self) -> Result<bool, Failure> {
        let next = self.scan.advance();
        next.map_err(|error| Failure::new(FAILED, error))
    }

    /// The time of the row, in milliseconds since 1970.
    pub fn at(&self) -> i64 {
        match self.scan.value(0) {
            Value::Long(Some(us)) => us.div_euclid(1000),
            _ => 0,
        }
    }

    /// The host of the row's file.
    pub fn host(&self) -> String {
        self.scan.host().to_owned()
    }

    /// The server.
    pub fn server(&self) -> String {
        match self.scan.value(position(self.table, "server")) {
            Value::Text(Some(server)) => server.to_owned(),
            _ => String::new(),
        }
    }

    /// Whether a column is not NULL.
    pub fn has(&self, column: usize) -> bool {
        !matches!(
            self.scan.value(self.columns[column]),
            Value::Long(None) | Value::Text(None)
        )
    }

    /// A number; 0 if it is NULL.
    pub fn number(&self, column: usize) -> f64 {
        match self.scan.value(self.columns[column]) {
            Value::Long(Some(n)) => n as f64,
            Value::Double(Some(x)) => x,
            _ => 0.0,
        }
    }

    /// A text.
    pub fn text(&self, column: usize) -> Option<&str> {
        match self.scan.value(self.columns[column]) {
            Value::Text(text) => text,
            _ => None,
        }
    }

    /// Why files were skipped.
    pub fn damaged(&mut self) -> Vec<String> {
        let damaged = self.scan.damaged().into_iter();
        damaged.map(|error| error.to_string()).collect()
    }
}

/// The position of a column.
fn position(table: &Table, name: &str) -> usize {
    let mut columns = table.columns.iter();
    columns
        .position(|column| column.name == name)
        .unwrap_or(usize::MAX)
}
