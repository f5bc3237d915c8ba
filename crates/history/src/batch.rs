//! Rows of a table that will be written to a file.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;

use crate::error::Error;
use crate::run::create_file;
use crate::schema::{Table, Type};

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Types Long and Time; `None` is NULL.
    Long(Option<i64>),
    /// Type Double; `None` is NULL.
    Double(Option<f64>),
    /// Type Text; `None` is NULL.
    Text(Option<&'a str>),
}

/// A column so far: for each row whether it has a value (1) or not (0), and the values.
struct Column {
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Long(Vec<i64>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// Rows of one table.
pub struct Batch {
    /// The table.
    pub table: &'static Table,
    rows: usize,
    columns: Vec<Column>,
    /// The distinct texts, because most rows share a few.
    texts: HashMap<Box<str>, ByteArray>,
}

impl Batch {
    /// An empty batch.
    pub fn new(table: &'static Table) -> Self {
        let columns = table.columns.iter().map(|column| Column {
            levels: Vec::new(),
            values: match column.kind {
                Type::Long | Type::Time => Values::Long(Vec::new()),
                Type::Double => Values::Double(Vec::new()),
                Type::Text => Values::Text(Vec::new()),
            },
        });
        Self {
            table,
            rows: 0,
            columns: columns.collect(),
            texts: HashMap::new(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row: its values in the order of the columns.
    pub fn push<'v>(&mut self, row: impl IntoIterator<Item = Value<'v>>) {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            let value = row.next().expect("a value for each column");
            let is_there = match (&mut column.values, value) {
                (Values::Long(values), Value::Long(n)) => {
                    values.extend(n);
                    n.is_some()
                }
                (Values::Double(values), Value::Double(n)) => {
                    values.extend(n);
                    n.is_some()
                }
                (Values::Text(values), Value::Text(text)) => {
                    values.extend(text.map(|text| shared(&mut self.texts, text)));
                    text.is_some()
                }
                _ => panic!("a value of {} has another type", self.table.name),
            };
            column.levels.push(is_there.into());
        }
        assert!(row.next().is_none(), "{}: too many values", self.table.name);
        self.rows += 1;
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        *self = Self::new(self.table);
    }

    /// Writes the rows as one file, which the caller renames when it is complete.
    ///
    /// # Errors
    /// [`Error`]: for instance, the disk is full. A part of the file may remain.
    pub fn write(&self, path: &Path, host: &str, version: u32) -> Result<(), Error> {
        let file = create_file(path).map_err(Error::at(path))?;
        let parquet = Error::parquet;
        let mut writer =
            SerializedFileWriter::new(&file, message(self.table), properties(host, version))
                .map_err(parquet(path))?;
        let mut group = writer.next_row_group().map_err(parquet(path))?;
        for (described, column) in self.table.columns.iter().zip(&self.columns) {
            let is_required = described.kind == Type::Time;
            let levels = (!is_required).then_some(&column.levels[..]);
            column.write(&mut group, levels).map_err(parquet(path))?;
        }
        group.close().map_err(parquet(path))?;
        writer.close().map_err(parquet(path))?;
        file.sync_all().map_err(Error::at(path))
    }
}

fn shared(texts: &mut HashMap<Box<str>, ByteArray>, text: &str) -> ByteArray {
    if let Some(shared) = texts.get(text) {
        return shared.clone();
    }
    let bytes = ByteArray::from(text.as_bytes().to_vec());
    texts.insert(text.into(), bytes.clone());
    bytes
}

impl Column {
    fn write(
        &self,
        group: &mut SerializedRowGroupWriter<'_, &File>,
        levels: Option<&[i16]>,
    ) -> parquet::errors::Result<()> {
        let Some(mut column) = group.next_column()? else {
            return Ok(());
        };
        match &self.values {
            Values::Long(values) => {
                (column.typed::<Int64Type>()).write_batch(values, levels, None)?
            }
            Values::Double(values) => {
                (column.typed::<DoubleType>()).write_batch(values, levels, None)?
            }
            Values::Text(values) => {
                (column.typed::<ByteArrayType>()).write_batch(values, levels, None)?
            }
        };
        column.close()
    }
}

/// The table's Parquet schema.
pub fn message(table: &Table) -> TypePtr {
    let columns = table.columns.iter().map(|column| {
        let name = column.name;
        match column.kind {
            Type::Time => format!("required int64 {name} (TIMESTAMP(MICROS,true));"),
            Type::Long => format!("optional int64 {name};"),
            Type::Double => format!("optional double {name};"),
            Type::Text => format!("optional binary {name} (STRING);"),
        }
    });
    let text = format!(
        "message {} {{ {} }}",
        table.name,
        columns.collect::<String>()
    );
    Arc::new(parse_message_type(&text).expect("the tables are described right"))
}

/// The key of the version in a file's metadata.
pub const VERSION_KEY: &str = "tare.version";

/// The properties and the metadata of files.
pub fn properties(host: &str, version: u32) -> Arc<WriterProperties> {
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let properties = WriterProperties::builder()
        // Pieces are joined by copying row groups, which cannot copy per-page indexes.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("tare {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![
            pair(VERSION_KEY, version.to_string()),
            pair("tare.host", host.to_owned()),
        ]));
    Arc::new(properties.build())
}
