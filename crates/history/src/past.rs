//! Reads a history back, for tools that do not use SQL.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use rustix::fs::{Mode, OFlags};
use tare_mysql::traceparent::TraceContext;
use tare_reader::scheduler::State;

use crate::blocks::{Block, Deadlock, DeadlockTransaction, Holder, HolderState, LockKind, Party};
use crate::error::Error;
use crate::hour::Hour;
use crate::plan::{Plan, PlanReason};
use crate::run::OPEN;
use crate::sample::Sample;
use crate::schema::{SAMPLED_AT, SAMPLED_AT_OF_VERSION_1, TABLES};

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
    /// Reads the records with their origins, including those in pieces that a recorder has not joined yet.
    ///
    /// # Errors
    /// [`Error`]: a file cannot be read.
    pub fn read(&self, take: &mut dyn FnMut(&Origin, Record)) -> Result<(), Error> {
        // A recorder joins its pieces quickly and seldom.
        for _ in 0..MAX_TRIES {
            if let Some(all) = self.try_read()? {
                for (origin, record) in all {
                    take(&origin, record);
                }
                return Ok(());
            }
        }
        let moved = std::io::Error::other("its files are moved while they are read; try again");
        Err(Error::at(&self.directory)(moved))
    }

    /// The same; `None` if a file was moved during the call.
    fn try_read(&self) -> Result<Option<Records>, Error> {
        let always = Self {
            from: 0,
            to: i64::MAX,
            ..self.clone()
        };
        let mut all = Vec::new();
        let are_there = self.read_table("digests", &mut |origin, row| {
            if let (Some(digest), Some(text)) = (row.text("digest"), row.text("text")) {
                let (digest, text) = (digest.to_string(), text.to_string());
                all.push((Arc::clone(origin), Record::Text { digest, text }));
            }
        })?;
        // The tables in the order of their records.
        type Convert = fn(&NamedRow<'_>, i64, f64) -> Option<Record>;
        let tables: [(&str, &Self, Convert); 5] = [
            ("plans", &always, |row, _, _| {
                row.plan().map(|plan| Record::Plan(Box::new(plan)))
            }),
            ("deadlocks", self, |row, at, _| {
                let deadlock = Box::new(row.deadlock());
                Some(Record::Deadlock { at, deadlock })
            }),
            ("moments", self, |_, at, seconds| {
                Some(Record::Moment { at, seconds })
            }),
            ("samples", self, |row, at, seconds| {
                Some(Record::Sample {
                    at,
                    seconds,
                    sample: Box::new(row.sample()),
                })
            }),
            ("blocks", self, |row, at, _| {
                let block = Box::new(row.block()?);
                Some(Record::Block { at, block })
            }),
        ];
        let mut are_there = are_there;
        for (table, past, convert) in tables {
            let mut records = Vec::new();
            are_there = are_there
                && past.read_table(table, &mut |origin, row| {
                    if let Some((at, seconds)) = past.selected_time(&row)
                        && let Some(record) = convert(&row, at, seconds)
                    {
                        records.push((at, (Arc::clone(origin), record)));
                    }
                })?;
            records.sort_by_key(|(at, _)| *at);
            all.extend(records.into_iter().map(|(_, record)| record));
        }
        Ok(are_there.then_some(all))
    }

    /// The time and the represented seconds of a row that is selected.
    fn selected_time(&self, row: &NamedRow<'_>) -> Option<(i64, f64)> {
        let is_server = |name: &String| row.text("server").as_deref() == Some(name);
        let at = row
            .long(SAMPLED_AT)
            .or_else(|| row.long(SAMPLED_AT_OF_VERSION_1))?
            / 1000;
        let is_selected = (self.from..self.to).contains(&at) && self.server.iter().all(is_server);
        is_selected.then(|| (at, row.double("seconds").unwrap_or(0.0)))
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

/// A row whose values are accessed by name, because a file of another version may lack some.
struct NamedRow<'a>(&'a Row);

impl NamedRow<'_> {
    fn field(&self, name: &str) -> Option<&Field> {
        let mut columns = self.0.get_column_iter();
        columns.find_map(|(of, field)| (of == name).then_some(field))
    }

    fn text(&self, name: &str) -> Option<Arc<str>> {
        match self.field(name)? {
            Field::Str(text) => Some(text.as_str().into()),
            _ => None,
        }
    }

    fn long(&self, name: &str) -> Option<i64> {
        match self.field(name)? {
            Field::Long(n) | Field::TimestampMicros(n) => Some(*n),
            _ => None,
        }
    }

    fn double(&self, name: &str) -> Option<f64> {
        match self.field(name)? {
            Field::Double(x) => Some(*x),
            _ => None,
        }
    }

    fn unsigned(&self, name: &str) -> Option<u64> {
        self.long(name)?.try_into().ok()
    }

    fn trace(&self, prefix: &str) -> Option<TraceContext> {
        let id = |name: &str| self.text(&format!("{prefix}{name}"));
        TraceContext::from_ids(&id("trace_id")?, &id("span_id")?)
    }

    fn block(&self) -> Option<Block> {
        let kind = self.text("kind")?;
        let party = |prefix: &str, thread_id: u64| {
            let name = |name: &str| format!("{prefix}{name}");
            Party {
                thread_id,
                connection_id: self.unsigned(&name("connection_id")),
                user: self.text(&name("user")),
                client: self.text(&name("client")),
                digest: self.text(&name("digest")),
                text: self.text(&name("text")),
                trace: self.trace(prefix),
            }
        };
        let state = self.text("blocker_state");
        Some(Block {
            kind: LockKind::from_name(&kind)?,
            object_schema: self.text("object_schema"),
            object: self.text("object"),
            index_name: self.text("index_name"),
            lock_mode: self.text("lock_mode"),
            wait_ns: self.unsigned("wait_ns"),
            waiter: party("", self.unsigned("thread_id")?),
            holder: self.unsigned("blocker").map(|blocker| Holder {
                party: party("blocker_", blocker),
                lock_mode: self.text("blocker_mode"),
                state: state.and_then(|state| HolderState::from_name(&state)),
                state_ns: self.unsigned("blocker_state_ns"),
                transaction_ns: self.unsigned("blocker_transaction_ns"),
            }),
        })
    }

    fn deadlock(&self) -> Deadlock {
        let transaction = self.long("transaction").map(|_| DeadlockTransaction {
            is_victim: self.long("is_victim") == Some(1),
            transaction_id: self.unsigned("transaction_id"),
            transaction_ns: self.unsigned("transaction_ns"),
            connection_id: self.unsigned("connection_id"),
            user: self.text("user"),
            client: self.text("client"),
            digest: self.text("digest"),
            text: self.text("text"),
            object_schema: self.text("object_schema"),
            object: self.text("object"),
            index_name: self.text("index_name"),
            lock_mode: self.text("lock_mode"),
        });
        Deadlock {
            count: self.unsigned("count").unwrap_or(0),
            name: self.text("deadlock"),
            transactions: transaction.into_iter().collect(),
        }
    }

    fn plan(&self) -> Option<Plan> {
        let text = |name: &str| self.text(name).map(|text| text.to_string());
        let at = self.unsigned(SAMPLED_AT)?;
        let reason = PlanReason::from_name(&text("reason")?)?;
        let names = |name: &str| {
            let names = text(name).unwrap_or_default();
            let names = names.split(", ").filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        Some(Plan {
            at: SystemTime::UNIX_EPOCH + Duration::from_micros(at),
            schema: text("schema"),
            digest: text("digest")?,
            reason,
            example: text("example"),
            problem: text("problem"),
            plan: text("plan"),
            shape: text("shape"),
            full_scans: names("full_scans"),
            indexes: names("indexes"),
        })
    }

    fn sample(&self) -> Sample {
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
            trace: self.trace(""),
        }
    }
}
