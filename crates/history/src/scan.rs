//! Scans a table of a history file by file and row group by row group, reading only the wanted columns.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use crate::batch::{VERSION_KEY, Value};
use crate::error::Error;
use crate::hour::Hour;
use crate::past::{Past, open_file};
use crate::run::OPEN;
use crate::schema::{SAMPLED_AT, SAMPLED_AT_OF_VERSION_1, TABLES, Table, Type, VERSION};

/// The most attempts to list files while they are moved.
const MAX_TRIES: usize = 5;

/// A file that will be read. A piece, which may be moved, is opened at once.
struct DataFile {
    path: PathBuf,
    file: Option<File>,
}

/// The values of a column in a row group.
enum Values {
    Long(Vec<Option<i64>>),
    Double(Vec<Option<f64>>),
    Text(Vec<Option<ByteArray>>),
    /// The column is not wanted, or the file does not have it.
    None,
}

/// The open file.
struct OpenFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    host: String,
    hour: Option<(String, i64)>,
    next_group: usize,
}

/// Rows of a table of a history.
pub struct Scan {
    table: &'static Table,
    past: Past,
    wanted: Vec<bool>,
    files: IntoIter<DataFile>,
    opened: Option<OpenFile>,
    columns: Vec<Values>,
    rows: usize,
    row: usize,
    damaged: Vec<Error>,
}

impl Past {
    /// Checks that there is a history.
    ///
    /// # Errors
    /// [`Error::None`], or that the directory cannot be read.
    pub fn check(&self) -> Result<(), Error> {
        let of_history = |name: &str| self.directory.join(name).is_dir();
        if !of_history(OPEN) && !TABLES.iter().any(|table| of_history(table.name)) {
            return Err(Error::None(self.directory.clone()));
        }
        Ok(())
    }

    /// The rows of a table with the wanted columns, including those in pieces; each row once.
    ///
    /// # Errors
    /// [`Error`]: a directory cannot be read.
    pub fn scan(
        &self,
        table: &'static Table,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Scan, Error> {
        self.scan_hour(table, None, wanted)
    }

    /// The same of one hour of each day, 0 to 23.
    ///
    /// # Errors
    /// [`Error`]: a directory cannot be read.
    pub fn scan_hour(
        &self,
        table: &'static Table,
        of_hour: Option<i64>,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Scan, Error> {
        let mut files = None;
        for _ in 0..MAX_TRIES {
            files = self.open_pieces(table)?;
            if files.is_some() {
                break;
            }
        }
        let Some(files) = files else {
            let moved = io::Error::other("its files are moved while they are read; try again");
            return Err(Error::at(&self.directory)(moved));
        };
        let mut files = files;
        if let Some(of_hour) = of_hour {
            files.retain(|file| hour(&file.path).is_none_or(|(_, hour)| hour == of_hour));
        }
        let is_wanted = |name: &str| matches!(name, SAMPLED_AT | "server") || wanted(name);
        Ok(Scan {
            table,
            past: self.clone(),
            wanted: table.columns.iter().map(|c| is_wanted(c.name)).collect(),
            files: files.into_iter(),
            opened: None,
            columns: Vec::new(),
            rows: 0,
            row: 0,
            damaged: Vec::new(),
        })
    }

    /// Lists the files of a table and opens its pieces, which stay readable after they are removed.
    /// `None` if a piece was removed before it was opened.
    fn open_pieces(&self, table: &'static Table) -> Result<Option<Vec<DataFile>>, Error> {
        let pieces = self.pieces(table.name)?;
        let mut open = Vec::new();
        for path in pieces.iter().flat_map(|(_, paths)| paths) {
            match open_file(path) {
                Ok(file) => open.push((path.clone(), file)),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(Error::at(path)(error)),
            }
        }
        let files = self.files_with(table.name, pieces)?;
        let files = files.into_iter().map(|path| {
            let at = open.iter().position(|(other, _)| *other == path);
            let file = at.map(|at| open.swap_remove(at).1);
            DataFile { path, file }
        });
        Ok(Some(files.collect()))
    }
}

impl Scan {
    /// Reads the files by hour and host: pieces of the newest hours are listed first.
    pub(crate) fn sort_by_hour(&mut self) {
        let mut files: Vec<DataFile> = std::mem::take(&mut self.files).collect();
        files.sort_by_cached_key(|file| (hour(&file.path), host(&file.path)));
        self.files = files.into_iter();
    }

    /// Moves to the next row; false after the last.
    ///
    /// # Errors
    /// [`Error::Version`]. A damaged file is skipped, see [`Scan::damaged`].
    pub fn advance(&mut self) -> Result<bool, Error> {
        loop {
            self.row += 1;
            while self.row >= self.rows {
                if !self.next_group()? {
                    return Ok(false);
                }
                self.row = 0;
            }
            if self.is_selected() {
                return Ok(true);
            }
        }
    }

    /// A value of the row.
    pub fn value(&self, column: usize) -> Value<'_> {
        match self.columns.get(column) {
            Some(Values::Long(values)) => Value::Long(values.get(self.row).copied().flatten()),
            Some(Values::Double(values)) => Value::Double(values.get(self.row).copied().flatten()),
            Some(Values::Text(values)) => {
                let bytes = values.get(self.row).and_then(Option::as_ref);
                Value::Text(bytes.and_then(|bytes| bytes.as_utf8().ok()))
            }
            Some(Values::None) | None => Value::Long(None),
        }
    }

    /// The row's host.
    pub fn host(&self) -> &str {
        self.opened.as_ref().map_or("", |opened| &opened.host)
    }

    /// The date and hour of the row's file; `None` if the table is not divided by hour.
    pub fn hour(&self) -> Option<(&str, i64)> {
        let (date, hour) = self.opened.as_ref()?.hour.as_ref()?;
        Some((date, *hour))
    }

    /// Files that were skipped, completely or partly, because they are damaged. Each is returned once.
    pub fn damaged(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.damaged)
    }

    fn is_selected(&self) -> bool {
        let at = match self.value(0) {
            Value::Long(Some(at)) => at.div_euclid(1000),
            _ => return false,
        };
        let is_in_time = !self.table.by_hour || (self.past.from..self.past.to).contains(&at);
        let server = match self.value(1) {
            Value::Text(server) => server,
            _ => None,
        };
        is_in_time && self.past.server.iter().all(|s| server == Some(s.as_str()))
    }

    /// Reads the next row group; false after the last.
    fn next_group(&mut self) -> Result<bool, Error> {
        loop {
            if let Some(opened) = &mut self.opened
                && opened.next_group < opened.reader.num_row_groups()
            {
                let group = opened.next_group;
                opened.next_group += 1;
                if self.table.by_hour && !may_match(opened, group, &self.past) {
                    continue;
                }
                match read_group(opened, group, self.table, &self.wanted) {
                    Ok((columns, rows)) => {
                        (self.columns, self.rows) = (columns, rows);
                        return Ok(true);
                    }
                    Err(error) => {
                        self.damaged.push(Error::parquet(&opened.path)(error));
                        self.opened = None;
                    }
                }
                continue;
            }
            self.opened = None;
            let Some(file) = self.files.next() else {
                return Ok(false);
            };
            match open(file, self.table) {
                Err(error @ Error::Version { .. }) => return Err(error),
                Err(error) => self.damaged.push(error),
                Ok(opened) => self.opened = opened,
            }
        }
    }
}

/// Opens a file; `None` if retention has removed it.
fn open(file: DataFile, table: &Table) -> Result<Option<OpenFile>, Error> {
    let DataFile { path, file } = file;
    let file = match file.map_or_else(|| open_file(&path), Ok) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::at(&path))?,
    };
    let reader = SerializedFileReader::new(file).map_err(Error::parquet(&path))?;
    let version = metadata_value(reader.metadata(), VERSION_KEY).unwrap_or_default();
    if version
        .parse::<u32>()
        .is_ok_and(|version| version > VERSION)
    {
        return Err(Error::Version { path, version });
    }
    Ok(Some(OpenFile {
        host: host(&path)
            .or_else(|| metadata_value(reader.metadata(), "tare.host"))
            .unwrap_or_default(),
        hour: table.by_hour.then(|| hour(&path)).flatten(),
        reader,
        path,
        next_group: 0,
    }))
}

/// A value of a file's metadata.
pub fn metadata_value(metadata: &ParquetMetaData, key: &str) -> Option<String> {
    let all = metadata.file_metadata().key_value_metadata()?;
    all.iter().find(|one| one.key == key)?.value.clone()
}

fn components(path: &Path) -> impl Iterator<Item = &str> {
    path.iter().rev().filter_map(|part| part.to_str())
}

/// The host of a file, from its directory.
fn host(path: &Path) -> Option<String> {
    let directory = components(path).nth(1)?;
    let placed = directory.strip_prefix("host=");
    let open = || directory.split_once('+').map(|(host, _)| host);
    placed.or_else(open).map(str::to_owned)
}

/// Date and hour, from a file's directories or a piece's name.
fn hour(path: &Path) -> Option<(String, i64)> {
    let part = |key: &str| components(path).find_map(|part| part.strip_prefix(key));
    let of_piece = || components(path).next()?.split('@').nth(1)?.split_once('T');
    let placed = part("date=").zip(part("hour="));
    let (date, hour) = placed.or_else(of_piece)?;
    Hour::parse(date, hour)?;
    Some((date.to_owned(), hour.parse().ok()?))
}

/// The position of a column in a file.
fn column_position(opened: &OpenFile, name: &str) -> Option<usize> {
    let schema = opened.reader.metadata().file_metadata().schema_descr();
    let position = |name| {
        schema
            .columns()
            .iter()
            .position(|column| column.name() == name)
    };
    position(name).or_else(|| match name {
        SAMPLED_AT => position(SAMPLED_AT_OF_VERSION_1),
        _ => None,
    })
}

/// Whether a row group may have selected times, by its statistics.
fn may_match(opened: &OpenFile, group: usize, past: &Past) -> bool {
    let bounds = column_position(opened, SAMPLED_AT).and_then(|at| {
        let column = opened.reader.metadata().row_group(group).column(at);
        match column.statistics()? {
            Statistics::Int64(range) => Some((*range.min_opt()?, *range.max_opt()?)),
            _ => None,
        }
    });
    bounds.is_none_or(|(first, last)| {
        first.div_euclid(1000) < past.to && last.div_euclid(1000) >= past.from
    })
}

fn read_group(
    opened: &OpenFile,
    group: usize,
    table: &Table,
    wanted: &[bool],
) -> Result<(Vec<Values>, usize), ParquetError> {
    let reader = opened.reader.get_row_group(group)?;
    let rows = usize::try_from(reader.metadata().num_rows()).unwrap_or(0);
    let mut columns = Vec::with_capacity(table.columns.len());
    for (column, is_wanted) in table.columns.iter().zip(wanted) {
        let position = is_wanted
            .then(|| column_position(opened, column.name))
            .flatten();
        columns.push(match position {
            None => Values::None,
            Some(position) => match (column.kind, reader.get_column_reader(position)?) {
                (Type::Time | Type::Long, ColumnReader::Int64ColumnReader(from)) => {
                    Values::Long(values(from, rows)?)
                }
                (Type::Double, ColumnReader::DoubleColumnReader(from)) => {
                    Values::Double(values(from, rows)?)
                }
                (Type::Text, ColumnReader::ByteArrayColumnReader(from)) => {
                    Values::Text(values(from, rows)?)
                }
                _ => {
                    let name = column.name;
                    return Err(ParquetError::General(format!(
                        "column {name} has another type"
                    )));
                }
            },
        });
    }
    Ok((columns, rows))
}

/// The values of a column by row.
fn values<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, ..) = from.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(
                "a column ends before its rows do".to_owned(),
            ));
        }
        read += records;
    }
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels
        .iter()
        .map(|level| (*level > 0).then(|| values.next()).flatten())
        .collect())
}
