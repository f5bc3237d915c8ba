//! Reads a history back, for tools that do not use SQL.

mod rows;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::file::reader::{FileReader, SerializedFileReader};
use rustix::fs::{Mode, OFlags};
use tare_mysql::traceparent::TraceContext;
use tare_reader::scheduler::State;

use crate::batch::Value;
use crate::blocks::{Block, Deadlock};
use crate::error::Error;
use crate::hour::Hour;
use crate::plan::Plan;
use crate::run::OPEN;
use crate::sample::Sample;
use crate::scan::Scan;
use crate::schema::{SAMPLED_AT, SAMPLED_AT_OF_VERSION_1, TABLES};
use rows::NamedRow;

/// The most attempts to read while files are moved.
const MAX_TRIES: usize = 5;

/// Growth that belongs to an hour may be queried this many milliseconds after its end.
const MAX_GROWTH_DELAY_MS: i64 = 60_000;

/// A selection of a history.
#[derive(Clone, Debug)]
pub struct Past {
    /// The directory of the history.
    pub directory: PathBuf,
    /// The start, in milliseconds since 1970.
    pub from: i64,
    /// The end, which is excluded.
    pub to: i64,
    /// Only this host.
    pub host: Option<String>,
    /// Only this server.
    pub server: Option<String>,
}

/// Where records come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The host of the recorder.
    pub host: String,
    /// The server: the name given to tare record, or its program.
    pub server: String,
}

/// Pieces, by the last two parts of the path of the file that they will become.
pub(crate) type Pieces = Vec<(String, Vec<PathBuf>)>;

/// Records with their origins.
type Records = Vec<(Arc<Origin>, Record)>;

/// A record of a history. Moments and samples of an hour are in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A sampling instant, and the seconds that it represents.
    Moment {
        /// In milliseconds since 1970.
        at: i64,
        /// Seconds.
        seconds: f64,
    },
    /// An active thread.
    Sample {
        /// In milliseconds since 1970.
        at: i64,
        /// Seconds.
        seconds: f64,
        /// The sample.
        sample: Box<Sample>,
    },
    /// A session that waited for another. Those of a reading have its time, and follow each other.
    Block {
        /// In milliseconds since 1970.
        at: i64,
        /// The session, and a holder of the lock.
        block: Box<Block>,
    },
    /// Deadlocks.
    Deadlock {
        /// In milliseconds since 1970.
        at: i64,
        /// How many, and one transaction of the latest, if there are any.
        deadlock: Box<Deadlock>,
    },
    /// A plan. All plans of the history are read, of any time: a recorder reads a plan once, and again after a change.
    Plan(Box<Plan>),
    /// The text of a digest.
    Text {
        /// The digest.
        digest: String,
        /// Its text.
        text: String,
    },
}

impl Past {
    /// Reads the records with their origins, including those in pieces that a recorder has not joined yet. At any time
    /// it holds the moments and samples of one hour of one host.
    ///
    /// # Errors
    /// [`Error`]: a file cannot be read.
    pub fn read(&self, take: &mut dyn FnMut(&Origin, Record)) -> Result<(), Error> {
        let mut take_all = |records: Records| {
            for (origin, record) in records {
                take(&origin, record);
            }
        };
        take_all(self.retry(Self::try_read_texts)?);
        self.read_by_hour("moments", &mut take_all, |_, at, seconds| Record::Moment {
            at,
            seconds,
        })?;
        self.read_by_hour("samples", &mut take_all, |row, at, seconds| {
            Record::Sample {
                at,
                seconds,
                sample: Box::new(row.sample()),
            }
        })?;
        take_all(self.retry(Self::try_read_blocks)?);
        Ok(())
    }

    /// Reads again while files are moved: a recorder joins its pieces quickly and seldom.
    fn retry(
        &self,
        read: impl Fn(&Self) -> Result<Option<Records>, Error>,
    ) -> Result<Records, Error> {
        for _ in 0..MAX_TRIES {
            if let Some(records) = read(self)? {
                return Ok(records);
            }
        }
        let moved = std::io::Error::other("its files are moved while they are read; try again");
        Err(Error::at(&self.directory)(moved))
    }

    /// Texts of digests, plans and deadlocks; `None` if a file was moved during the call.
    fn try_read_texts(&self) -> Result<Option<Records>, Error> {
        let mut all = Vec::new();
        let are_there = self.read_table("digests", &mut |origin, row| {
            if let (Some(digest), Some(text)) = (row.text("digest"), row.text("text")) {
                let (digest, text) = (digest.to_string(), text.to_string());
                all.push((Arc::clone(origin), Record::Text { digest, text }));
            }
        })?;
        let always = Self {
            from: 0,
            to: i64::MAX,
            ..self.clone()
        };
        let are_there = are_there
            && always.read_sorted("plans", &mut all, |row, _| {
                row.plan(SAMPLED_AT)
                    .map(|plan| Record::Plan(Box::new(plan)))
            })?
            && self.read_sorted("deadlocks", &mut all, |row, at| {
                let deadlock = Box::new(row.deadlock());
                Some(Record::Deadlock { at, deadlock })
            })?;
        Ok(are_there.then_some(all))
    }

    /// Sessions that waited for others; `None` if a file was moved during the call.
    fn try_read_blocks(&self) -> Result<Option<Records>, Error> {
        let mut all = Vec::new();
        let are_there = self.read_sorted("blocks", &mut all, |row, at| {
            let block = Box::new(row.block()?);
            Some(Record::Block { at, block })
        })?;
        Ok(are_there.then_some(all))
    }

    /// Adds the records of a table in the order of time; false if a file was moved during the call.
    fn read_sorted(
        &self,
        table: &str,
        all: &mut Records,
        convert: impl Fn(&NamedRow<'_>, i64) -> Option<Record>,
    ) -> Result<bool, Error> {
        let mut records = Vec::new();
        let are_there = self.read_table(table, &mut |origin, row| {
            if let Some(at) = self.selected_time(&row)
                && let Some(record) = convert(&row, at)
            {
                records.push((at, (Arc::clone(origin), record)));
            }
        })?;
        records.sort_by_key(|(at, _)| *at);
        all.extend(records.into_iter().map(|(_, record)| record));
        Ok(are_there)
    }

    /// Passes on the records of a table: of each hour those of one host after those of another, in the order of time.
    fn read_by_hour(
        &self,
        name: &str,
        take: &mut dyn FnMut(Records),
        convert: impl Fn(&mut ScannedRow<'_>, i64, f64) -> Record,
    ) -> Result<(), Error> {
        let Some(table) = TABLES.into_iter().find(|table| table.name == name) else {
            return Ok(());
        };
        let position = |name: &str| table.columns.iter().position(|column| column.name == name);
        let (server, seconds) = (position("server"), position("seconds"));
        let columns = table.columns.iter().enumerate();
        let columns: HashMap<&str, usize> = columns.map(|(at, one)| (one.name, at)).collect();
        let mut scan = self.scan(table, |_| true)?;
        scan.sort_by_hour();
        let mut texts = HashSet::new();
        let mut place = (String::new(), -1, String::new());
        let mut origin = Arc::new(Origin::default());
        let mut records: Vec<(i64, (Arc<Origin>, Record))> = Vec::new();
        let mut end_hour = |records: &mut Vec<(i64, (Arc<Origin>, Record))>| {
            records.sort_by_key(|(at, _)| *at);
            take(records.drain(..).map(|(_, record)| record).collect());
        };
        while scan.advance()? {
            let (date, hour) = scan.hour().unwrap_or_default();
            if (date, hour, scan.host()) != (&place.0, place.1, &place.2) {
                place = (date.to_owned(), hour, scan.host().to_owned());
                end_hour(&mut records);
                texts.clear();
            }
            let text = |at: Option<usize>| match at.map(|at| scan.value(at)) {
                Some(Value::Text(text)) => text.unwrap_or_default(),
                _ => "",
            };
            if (scan.host(), text(server)) != (&origin.host, &origin.server) {
                origin = Arc::new(Origin {
                    host: scan.host().to_owned(),
                    server: text(server).to_owned(),
                });
            }
            let (Value::Long(Some(at)), Some(Value::Double(seconds))) =
                (scan.value(0), seconds.map(|at| scan.value(at)))
            else {
                continue;
            };
            let at = at.div_euclid(1000);
            let mut row = ScannedRow {
                scan: &scan,
                columns: &columns,
                texts: &mut texts,
            };
            let record = convert(&mut row, at, seconds.unwrap_or(0.0));
            records.push((at, (Arc::clone(&origin), record)));
        }
        end_hour(&mut records);
        match scan.damaged().into_iter().next() {
            Some(damaged) => Err(damaged),
            None => Ok(()),
        }
    }

    /// The time of a row that is selected.
    fn selected_time(&self, row: &NamedRow<'_>) -> Option<i64> {
        let is_server = |name: &String| row.text("server").as_deref() == Some(name);
        let at = row
            .long(SAMPLED_AT)
            .or_else(|| row.long(SAMPLED_AT_OF_VERSION_1))?
            / 1000;
        let is_selected = (self.from..self.to).contains(&at) && self.server.iter().all(is_server);
        is_selected.then_some(at)
    }

    /// Reads the rows of a table; false if a file was moved during the call.
    fn read_table(
        &self,
        table: &str,
        take: &mut dyn FnMut(&Arc<Origin>, NamedRow<'_>),
    ) -> Result<bool, Error> {
        for path in self.files(table)? {
            let file = match open_file(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
                file => file.map_err(Error::at(&path))?,
            };
            let parquet = Error::parquet;
            let reader = SerializedFileReader::new(file).map_err(parquet(&path))?;
            let mut origin = Arc::new(Origin {
                host: host_of(&path).unwrap_or_default(),
                server: String::new(),
            });
            for row in reader.get_row_iter(None).map_err(parquet(&path))? {
                let row = row.map_err(parquet(&path))?;
                let row = NamedRow(&row);
                let server = row.text("server").unwrap_or_default();
                if *server != origin.server {
                    origin = Arc::new(Origin {
                        host: origin.host.clone(),
                        server: server.to_string(),
                    });
                }
                take(&origin, row);
            }
        }
        Ok(true)
    }

    /// The files of a table that may have selected rows: pieces first, then joined files.
    fn files(&self, table: &str) -> Result<Vec<PathBuf>, Error> {
        // In this order, a file that is moved now is found twice rather than never.
        let pieces = self.pieces(table)?;
        self.files_with(table, pieces)
    }

    /// The same with the pieces that were listed already.
    pub(crate) fn files_with(&self, table: &str, pieces: Pieces) -> Result<Vec<PathBuf>, Error> {
        let mut placed = Vec::new();
        let by_hour = self.directory.join(table);
        for (date, path) in entries_with_prefix(&by_hour, "date=")? {
            for (hour, path) in entries_with_prefix(&path, "hour=")? {
                if Hour::parse(&date, &hour).is_some_and(|hour| self.has_hour(hour)) {
                    self.add_host_files(&path, &mut placed)?;
                }
            }
        }
        self.add_host_files(&by_hour, &mut placed)?;
        let is_placed = |file: &str| placed.iter().any(|path| path.ends_with(file));
        let open = pieces.into_iter().filter(|(file, _)| !is_placed(file));
        let open: Vec<PathBuf> = open.flat_map(|(_, pieces)| pieces).collect();
        Ok(open.into_iter().chain(placed).collect())
    }

    fn has_hour(&self, hour: Hour) -> bool {
        hour.touches(self.from.saturating_sub(MAX_GROWTH_DELAY_MS), self.to)
    }

    /// Pieces by hour and run, with the last two parts of the path of the file that they will become:
    /// it is named after the first piece, which is removed last.
    pub(crate) fn pieces(&self, table: &str) -> Result<Pieces, Error> {
        let by_hour = TABLES.iter().any(|one| one.name == table && one.by_hour);
        let mut files = Vec::new();
        for (name, directory) in entries_with_prefix(&self.directory.join(OPEN), "")? {
            let Some((host, run)) = name.split_once('+') else {
                continue;
            };
            if self.host.as_ref().is_some_and(|wanted| wanted != host) {
                continue;
            }
            let mut pieces = entries_with_prefix(&directory, &format!("{table}@"))?;
            pieces.sort();
            let hour_of = |piece: &(String, PathBuf)| {
                let hour = piece.0.split('@').next().unwrap_or_default();
                hour.to_owned()
            };
            for of_hour in pieces.chunk_by(|a, b| hour_of(a) == hour_of(b)) {
                let complete = of_hour
                    .iter()
                    .filter(|(name, _)| name.ends_with(".parquet"));
                let paths: Vec<PathBuf> = complete.map(|(_, path)| path.clone()).collect();
                let hour = hour_of(&of_hour[0]);
                let hour = hour
                    .split_once('T')
                    .and_then(|(date, hour)| Hour::parse(date, hour));
                let first = paths.first().and_then(|path| path.file_name());
                let number = first.and_then(|name| name.to_str()?.rsplit_once('@'));
                if let (Some((_, number)), true) = (
                    number,
                    hour.is_some_and(|hour| !by_hour || self.has_hour(hour)),
                ) {
                    files.push((format!("host={host}/{run}-{number}"), paths));
                }
            }
        }
        Ok(files)
    }

    fn add_host_files(&self, directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
        for (host, path) in entries_with_prefix(directory, "host=")? {
            if self.host.as_ref().is_none_or(|wanted| *wanted == host) {
                let entries = entries_with_prefix(&path, "")?.into_iter();
                let parquet = entries.filter(|(name, _)| name.ends_with(".parquet"));
                files.extend(parquet.map(|(_, path)| path));
            }
        }
        Ok(())
    }
}

/// The host of a file: a joined one is in `host=NAME`, a piece in `NAME+RUN`.
fn host_of(path: &Path) -> Option<String> {
    let directory = path.parent()?.file_name()?.to_str()?;
    let host = match directory.strip_prefix("host=") {
        Some(host) => host,
        None => directory.split_once('+')?.0,
    };
    Some(host.to_owned())
}

/// Opens a file. What else has such a name is an error: to open a FIFO would wait for its writer.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("this is not a regular file")),
    }
}

/// The entries of a directory whose names have a prefix, with the rest of the name. Empty if there is
/// no directory.
pub fn entries_with_prefix(directory: &Path, key: &str) -> Result<Vec<(String, PathBuf)>, Error> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::at(directory))?,
    };
    let mut matches = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::at(directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(value) = name.strip_prefix(key) {
            matches.push((value.to_owned(), path.clone()));
        }
    }
    Ok(matches)
}

/// A row of a scan whose values are accessed by name. Equal texts of an hour are one.
struct ScannedRow<'a> {
    scan: &'a Scan,
    columns: &'a HashMap<&'static str, usize>,
    texts: &'a mut HashSet<Arc<str>>,
}

impl ScannedRow<'_> {
    fn value(&self, name: &str) -> Value<'_> {
        (self.columns.get(name)).map_or(Value::Long(None), |at| self.scan.value(*at))
    }

    fn text(&mut self, name: &str) -> Option<Arc<str>> {
        let at = *self.columns.get(name)?;
        let Value::Text(Some(text)) = self.scan.value(at) else {
            return None;
        };
        if let Some(text) = self.texts.get(text) {
            return Some(Arc::clone(text));
        }
        let text: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&text));
        Some(text)
    }

    fn long(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Value::Long(n) => n,
            _ => None,
        }
    }

    fn unsigned(&self, name: &str) -> Option<u64> {
        self.long(name)?.try_into().ok()
    }

    fn trace(&mut self) -> Option<TraceContext> {
        let (trace, span) = (self.text("trace_id")?, self.text("span_id")?);
        TraceContext::from_ids(&trace, &span)
    }

    fn sample(&mut self) -> Sample {
        Sample {
            thread_id: self.unsigned("thread_id").unwrap_or(0),
            thread: self.text("thread"),
            connection_id: self.unsigned("connection_id"),
            user: self.text("user"),
            client: self.text("client"),
            schema: self.text("schema"),
            command: self.text("command"),
            statement: self.text("statement"),
            statement_id: self.unsigned("statement_id"),
            statement_ns: self.unsigned("statement_ns"),
            digest: self.text("digest"),
            text: self.text("text"),
            stage: self.text("stage"),
            wait: self.text("wait"),
            operation: self.text("operation"),
            object_schema: self.text("object_schema"),
            object: self.text("object"),
            wait_ns: self.unsigned("wait_ns"),
            blocker: self.unsigned("blocker"),
            state: self.text("state").and_then(|name| State::from_name(&name)),
            system_call: self.text("system_call"),
            is_exact: self.long("is_exact").map(|is| is != 0),
            process_id: self.unsigned("process_id"),
            trace: self.trace(),
        }
    }
}
