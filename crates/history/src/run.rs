//! The files of one recorder. A table's directory has only complete files:
//!
//! ```text
//! DIR/.open/HOST+RUN/lock                      held by the recorder while it lives
//! DIR/.open/HOST+RUN/samples@2026-11-22T14@00000017.parquet      a piece: the last ten seconds
//! DIR/samples/date=2026-11-22/hour=14/host=HOST/RUN-00000012.parquet
//! DIR/digests/host=HOST/RUN-00000000.parquet
//! ```
//!
//! A piece is written aside, synced and renamed, so that a killed recorder loses what it had in
//! memory and nothing else. Pieces of an hour become one file, which is written, synced and renamed
//! likewise; then they are removed, the first one last. A file is named after its first piece: where
//! the next recorder finds that piece and that file, the recorder before it was killed in between.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use rustix::fs::{FlockOperation, flock};

use crate::batch::{Batch, VERSION_KEY, properties};
use crate::error::Error;
use crate::hour::Hour;
use crate::scan::metadata_value;
use crate::schema::{TABLES, Table, VERSION};

/// The directory of pieces, below that of the history.
pub const OPEN: &str = ".open";

/// The separator of host and run in a name; host names do not contain it.
const BETWEEN: char = '+';

/// The files of one recorder, from its start to its end.
pub struct Run {
    root: PathBuf,
    host: String,
    /// The start time and the process id.
    name: String,
    /// The directory of the pieces.
    pieces: PathBuf,
    /// The lock, which the kernel releases however the process ends.
    _lock: File,
    next: u64,
}

/// A piece on disk.
struct Piece {
    hour: Hour,
    number: u64,
    path: PathBuf,
}

impl Run {
    /// Starts writing to `root`, after joining the pieces of killed recorders of this host.
    ///
    /// # Errors
    /// [`Error`].
    pub fn start(root: &Path, host: &str, now: SystemTime) -> Result<Self, Error> {
        let is_name = !host.is_empty() && !host.starts_with('.');
        if !is_name || host.contains(['/', '\0', '=', BETWEEN]) {
            return Err(Error::Host(host.to_owned()));
        }
        let open = root.join(OPEN);
        create_directory(&open).map_err(Error::at(&open))?;
        recover(root, host)?;
        let start = Timestamp::try_from(now).unwrap_or_default();
        let name = format!(
            "{}-{}",
            start.strftime("%Y%m%dT%H%M%S%6fZ"),
            std::process::id()
        );
        let pieces = open.join(format!("{host}{BETWEEN}{name}"));
        create_directory(&pieces).map_err(Error::at(&pieces))?;
        let lock = lock(&pieces)?;
        let Some(lock) = lock else {
            let source = io::Error::other("another process has just taken it");
            return Err(Error::at(&pieces)(source));
        };
        Ok(Self {
            root: root.to_owned(),
            host: host.to_owned(),
            name,
            pieces,
            _lock: lock,
            next: 0,
        })
    }

    /// Writes rows of an hour as a piece, which survives a kill.
    ///
    /// # Errors
    /// [`Error`]: nothing remains of the piece.
    pub fn put(&mut self, batch: &Batch, hour: Hour) -> Result<(), Error> {
        let name = format!("{}@{hour}@{:08}.parquet", batch.table.name, self.next);
        self.next += 1;
        let path = self.pieces.join(name);
        let aside = path.with_extension("part");
        let written = (batch.write(&aside, &self.host, VERSION))
            .and_then(|()| fs::rename(&aside, &path).map_err(Error::at(&path)))
            .and_then(|()| sync_directory(&self.pieces));
        if written.is_err() {
            // A partial file would take space on a full disk.
            let _ = fs::remove_file(&aside);
        }
        written
    }

    /// Joins the pieces into files.
    ///
    /// # Errors
    /// [`Error`]: the pieces stay, for the next recorder.
    pub fn settle(&self) -> Result<(), Error> {
        settle(&self.root, &self.host, &self.name, &self.pieces)
    }

    /// Joins the pieces, and ends the run.
    ///
    /// # Errors
    /// [`Error`]: the pieces stay, for the next recorder.
    pub fn end(self) -> Result<(), Error> {
        self.settle()?;
        fs::remove_dir_all(&self.pieces).map_err(Error::at(&self.pieces))
    }
}

/// The modes of what a recorder creates: a history has texts of statements, and names of users and clients.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Creates a directory and its missing parents, for their owner alone. One that exists keeps its mode.
fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)
}

/// Creates or empties a file that its owner alone may read.
pub fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let file = options.mode(FILE_MODE).open(path)?;
    // One that an earlier version left has another mode.
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Locks a run's directory; `None` if another process holds the lock.
fn lock(pieces: &Path) -> Result<Option<File>, Error> {
    let path = pieces.join("lock");
    let file = create_file(&path).map_err(Error::at(&path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Ok(None),
        Err(error) => Err(Error::at(&path)(error.into())),
    }
}

/// Joins the pieces that killed recorders of this host have left.
fn recover(root: &Path, host: &str) -> Result<(), Error> {
    let open = root.join(OPEN);
    for entry in fs::read_dir(&open).map_err(Error::at(&open))? {
        let pieces = entry.map_err(Error::at(&open))?.path();
        let name = pieces.file_name().unwrap_or_default().to_string_lossy();
        let Some((of, run)) = name.split_once(BETWEEN) else {
            continue;
        };
        if of != host {
            continue;
        }
        if let Some(_lock) = lock(&pieces)? {
            settle(root, host, run, &pieces)?;
            fs::remove_dir_all(&pieces).map_err(Error::at(&pieces))?;
        }
    }
    Ok(())
}

fn settle(root: &Path, host: &str, run: &str, pieces: &Path) -> Result<(), Error> {
    for table in TABLES {
        let mut all = pieces_of(pieces, table)?;
        all.sort_by_key(|piece| piece.number);
        for of_hour in all.chunk_by(|a, b| a.hour == b.hour) {
            let first = &of_hour[0];
            let place = place(root, table, first.hour, host);
            create_directory(&place).map_err(Error::at(&place))?;
            let path = place.join(format!("{run}-{:08}.parquet", first.number));
            if !path.exists() {
                let aside = pieces.join("settled.part");
                join(host, of_hour, &aside)?;
                fs::rename(&aside, &path).map_err(Error::at(&path))?;
                sync_directory(&place)?;
            }
            for piece in of_hour.iter().rev() {
                fs::remove_file(&piece.path).map_err(Error::at(&piece.path))?;
            }
        }
    }
    Ok(())
}

/// The directory of a table's files of an hour.
fn place(root: &Path, table: &Table, hour: Hour, host: &str) -> PathBuf {
    let mut place = root.join(table.name);
    if table.by_hour {
        place.push(format!("date={}", hour.date()));
        place.push(format!("hour={}", hour.number()));
    }
    place.join(format!("host={host}"))
}

fn pieces_of(pieces: &Path, table: &Table) -> Result<Vec<Piece>, Error> {
    let mut all = Vec::new();
    for entry in fs::read_dir(pieces).map_err(Error::at(pieces))? {
        let path = entry.map_err(Error::at(pieces))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let parts = name.strip_suffix(".parquet").map(|stem| stem.split('@'));
        let Some([of, hour, number]) = parts.and_then(|mut parts| {
            let three = [parts.next()?, parts.next()?, parts.next()?];
            parts.next().is_none().then_some(three)
        }) else {
            continue;
        };
        let hour = hour.split_once('T').and_then(|(d, h)| Hour::parse(d, h));
        if let (true, Some(hour), Ok(number)) = (of == table.name, hour, number.parse()) {
            all.push(Piece {
                hour,
                number,
                path: path.clone(),
            });
        }
    }
    Ok(all)
}

/// Joins several files by copying their row groups. The pieces of a run have the version of its recorder, which may
/// be older than this one.
fn join(host: &str, pieces: &[Piece], aside: &Path) -> Result<(), Error> {
    let file = create_file(aside).map_err(Error::at(aside))?;
    let parquet = Error::parquet;
    let (_, first) = open(&pieces[0].path)?;
    let version = metadata_value(first.metadata(), VERSION_KEY);
    let version = version
        .and_then(|version| version.parse().ok())
        .unwrap_or(VERSION);
    let schema = first
        .metadata()
        .file_metadata()
        .schema_descr()
        .root_schema_ptr();
    let mut writer = SerializedFileWriter::new(&file, schema, properties(host, version))
        .map_err(parquet(aside))?;
    for piece in pieces {
        let (from, reader) = open(&piece.path)?;
        for group in reader.metadata().row_groups() {
            copy(group, &from, &mut writer).map_err(parquet(aside))?;
        }
    }
    writer.close().map_err(parquet(aside))?;
    file.sync_all().map_err(Error::at(aside))
}

fn open(path: &Path) -> Result<(File, SerializedFileReader<File>), Error> {
    let file = File::open(path).map_err(Error::at(path))?;
    let copy = file.try_clone().map_err(Error::at(path))?;
    let reader = SerializedFileReader::new(copy).map_err(Error::parquet(path))?;
    Ok((file, reader))
}

fn copy(
    group: &RowGroupMetaData,
    from: &File,
    to: &mut SerializedFileWriter<&File>,
) -> parquet::errors::Result<()> {
    let mut copied = to.next_row_group()?;
    for column in group.columns() {
        let close = ColumnCloseResult {
            bytes_written: column.compressed_size() as u64,
            rows_written: group.num_rows() as u64,
            metadata: column.clone(),
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        copied.append_column(from, close)?;
    }
    copied.close().map(|_: Arc<RowGroupMetaData>| ())
}

/// Makes a rename durable.
fn sync_directory(path: &Path) -> Result<(), Error> {
    let directory = File::open(path).map_err(Error::at(path))?;
    directory.sync_all().map_err(Error::at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Value;
    use crate::hour::micros;
    use crate::past::Past;
    use crate::schema::{Column, DIGESTS, SAMPLED_AT_OF_VERSION_1, SAMPLES, Type};

    /// The modes of what is below a directory: those of directories and those of files.
    fn modes(path: &Path) -> (Vec<u32>, Vec<u32>) {
        let (mut directories, mut files) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(path).expect("a directory") {
            let path = entry.expect("an entry").path();
            let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
            if path.is_dir() {
                directories.push(mode);
                let below = modes(&path);
                directories.extend(below.0);
                files.extend(below.1);
            } else {
                files.push(mode);
            }
        }
        (directories, files)
    }

    /// The digests of version 1.
    static OF_VERSION_1: Table = Table {
        columns: &[
            Column {
                name: SAMPLED_AT_OF_VERSION_1,
                kind: Type::Time,
                doc: "",
            },
            Column {
                name: "server",
                kind: Type::Text,
                doc: "",
            },
            Column {
                name: "digest",
                kind: Type::Text,
                doc: "",
            },
        ],
        name: "digests",
        doc: "",
        by_hour: false,
    };

    /// A recorder of version 1 was killed: its pieces are joined by this one, and its files are read.
    #[test]
    fn files_of_version_1_are_joined_and_read() {
        let root = std::env::temp_dir().join(format!("tare-version-1-{}", std::process::id()));
        let now = SystemTime::now();
        let first = Run::start(&root, "db1", now).expect("starts");
        let mut batch = Batch::new(&OF_VERSION_1);
        let text = |text| Value::Text(Some(text));
        let at = micros(now);
        batch.push([Value::Long(Some(at)), text("s"), text("d1")]);
        let hour = Hour::of(now);
        let piece = first
            .pieces
            .join(format!("digests@{hour}@00000000.parquet"));
        batch.write(&piece, "db1", 1).expect("written");
        drop(first);
        Run::start(&root, "db1", now)
            .expect("starts")
            .end()
            .expect("ends");
        let past = Past {
            directory: root.clone(),
            from: 0,
            to: i64::MAX,
            host: None,
            server: None,
        };
        let mut scan = past.scan(&DIGESTS, |_| true).expect("scans");
        assert!(scan.advance().expect("a row"));
        assert!(matches!(scan.value(0), Value::Long(Some(n)) if n == at));
        assert!(matches!(scan.value(3), Value::Text(Some("d1"))));
        assert!(scan.damaged().is_empty() && !scan.advance().expect("one row"));
        let place = place(&root, &DIGESTS, Hour::of(now), "db1");
        let file = fs::read_dir(place)
            .expect("listed")
            .next()
            .expect("a file")
            .expect("readable");
        let (_, reader) = open(&file.path()).expect("complete");
        assert_eq!(
            metadata_value(reader.metadata(), VERSION_KEY).as_deref(),
            Some("1")
        );
        fs::remove_dir_all(&root).expect("removed");
    }

    #[test]
    fn only_its_owner_may_read_a_history() {
        let parent = std::env::temp_dir().join(format!("tare-modes-{}", std::process::id()));
        let root = parent.join("history");
        let now = SystemTime::now();
        let check = |files: usize| {
            let (directory_modes, file_modes) = modes(&parent);
            assert!(
                directory_modes.iter().all(|mode| *mode == 0o700),
                "{directory_modes:?}"
            );
            assert_eq!(file_modes, vec![0o600; files]);
        };
        let mut first = Run::start(&root, "db1", now).expect("starts");
        first
            .put(&Batch::new(&SAMPLES), Hour::of(now))
            .expect("written");
        check(2);
        // What an earlier version left of a killed recorder was open to all.
        let lock = first.pieces.join("lock");
        let aside = first.pieces.join("settled.part");
        fs::write(&aside, "").expect("written");
        for path in [&lock, &aside] {
            fs::set_permissions(path, Permissions::from_mode(0o644)).expect("set");
        }
        drop(first);
        // The next recorder publishes the piece.
        let second = Run::start(&root, "db1", now).expect("starts");
        check(2);
        second.end().expect("ends");
        check(1);
        fs::remove_dir_all(&parent).expect("removed");
    }
}
