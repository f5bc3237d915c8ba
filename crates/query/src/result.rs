//! Results that are built in memory: names, rows, types.

use rusqlite::types::Value;

use tare_mysql::wire::column::{Definition, WireType};
use tare_mysql::wire::types::wire_type;
use tare_mysql::wire::value;

/// A result that is built in memory.
#[derive(Debug, Clone)]
pub struct Rows {
    /// What the columns are called.
    pub names: Vec<String>,
    /// A value for each column.
    pub rows: Vec<Vec<Value>>,
    /// The column that LIKE compares.
    pub like: usize,
    /// The columns' types, where they do not depend on a value.
    pub wire: Vec<Option<WireType>>,
    /// The columns' definitions, if they are not just the types.
    pub definitions: &'static [Definition],
}

impl Rows {
    /// No rows yet.
    pub fn new(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            rows: Vec::new(),
            like: 0,
            wire: Vec::new(),
            definitions: &[],
        }
    }

    /// One row of one column.
    pub fn single(name: &str, value: impl Into<RowValue>) -> Self {
        let mut rows = Self::new(&[name]);
        rows.push([value.into()]);
        rows
    }

    /// Sets the types of the columns, which a result without rows has, too.
    #[must_use]
    pub fn typed(mut self, types: &[&str]) -> Self {
        self.wire = types.iter().map(|t| Some(wire_type(t, true))).collect();
        self
    }

    /// Adds the type of one more column.
    #[must_use]
    pub fn with_type(mut self, column_type: &str) -> Self {
        self.wire.push(Some(wire_type(column_type, true)));
        self
    }

    /// A column's type: the one that was set, or that of its first value.
    pub fn type_of(&self, column: usize) -> WireType {
        if let Some(definition) = self.definitions.get(column) {
            return definition.wire;
        }
        if let Some(Some(wire)) = self.wire.get(column) {
            return *wire;
        }
        let mut values = self.rows.iter().filter_map(|row| row.get(column));
        match values.find(|v| !matches!(v, Value::Null)) {
            Some(Value::Integer(_)) => WireType::bigint(),
            Some(Value::Real(_)) => WireType::double(),
            _ => WireType::text(255),
        }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [RowValue; N]) {
        self.rows.push(row.into_iter().map(|t| t.0).collect());
    }
}

/// A value of a row that is built in memory: from texts, numbers and options of them.
#[derive(Debug, Clone)]
pub struct RowValue(pub Value);

impl From<&str> for RowValue {
    fn from(text: &str) -> Self {
        Self(Value::Text(text.to_owned()))
    }
}

impl From<String> for RowValue {
    fn from(text: String) -> Self {
        Self(Value::Text(text))
    }
}

impl From<i64> for RowValue {
    fn from(n: i64) -> Self {
        Self(Value::Integer(n))
    }
}

impl<T: Into<RowValue>> From<Option<T>> for RowValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(Value::Null), Into::into)
    }
}

/// A value that borrows from rusqlite's.
pub fn borrowed(value: &Value) -> value::Value<'_> {
    match value {
        Value::Null => value::Value::Null,
        Value::Integer(n) => value::Value::Int(*n),
        Value::Real(x) => value::Value::Real(*x),
        Value::Text(t) => value::Value::Text(t.as_bytes()),
        Value::Blob(b) => value::Value::Blob(b),
    }
}

/// A value of rusqlite's that owns its text.
pub fn owned(value: value::Value<'_>) -> Value {
    match value {
        value::Value::Null => Value::Null,
        value::Value::Int(n) => Value::Integer(n),
        value::Value::Real(x) => Value::Real(x),
        value::Value::Text(t) => Value::Text(String::from_utf8_lossy(t).into_owned()),
        value::Value::Blob(b) => Value::Blob(b.to_vec()),
    }
}
