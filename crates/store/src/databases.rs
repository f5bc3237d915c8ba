//! The data directory: its databases, their definitions and write locks.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::tables::{DEFINITIONS_TABLE, ReadDefinition, load};
use tare_mysql::error::SqlError;
use tare_mysql::interrupt;
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::TableDef;

use super::authorizer::as_server;
use super::error::{Error, Result};
use super::figures::CachedFigures;
use super::next_ids::NextIds;
use super::points::{LOCK_DEFINITIONS, LOCK_GATES};
use super::reserve::Reserve;
use super::stack;
use super::write_lock::WriteLock;
use tare::sync::{Mutex, RwLock};

/// The format of a database's file, in its user_version: from 1 on, texts without case are in
/// the order of `tare_mysql::collation`; from 2 on, TIMESTAMPs are UTC.
pub(crate) const FORMAT: i64 = 2;
/// The format from which on texts are sorted so.
pub(crate) const SORTED_FORMAT: i64 = 1;

/// How long to wait for another process that has locked the file.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The mode of a database's files.
const FILE_MODE: u32 = 0o640;

/// All databases of a data directory.
#[derive(Debug)]
pub struct Databases {
    /// `None`: there are none.
    directory: Option<PathBuf>,
    /// `None`: there is no directory.
    reserve: Option<Reserve>,
    /// Parses the text of a table's definition.
    pub(super) read: ReadDefinition,
    write_locks: RwLock<HashMap<String, Arc<WriteLock>>>,
    /// Raised by each change of a schema: plans of an earlier generation may be wrong.
    generation: AtomicU64,
    definitions: Mutex<HashMap<String, Arc<Definitions>>>,
    /// Cached figures of large databases.
    pub(super) counted: Mutex<HashMap<String, CachedFigures>>,
    /// What AUTO_INCREMENT gives next.
    pub next_ids: NextIds,
    /// Commits wait for the disk.
    durable: AtomicBool,
}

/// The tables of one database as they were at a generation.
#[derive(Debug, Default)]
pub struct Definitions {
    /// The generation.
    pub generation: u64,
    /// By name.
    pub tables: HashMap<String, Arc<TableDef>>,
    /// Whether some are views, which may nest deeply even where a statement's own text does not.
    pub views: bool,
}

/// Creates the empty file of a database, which only its owner and group can open; MySQL's files have the
/// same mode. SQLite gives its log and index the same mode.
fn create_file(path: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(FILE_MODE);
    options.open(path).map(drop)
}

/// Removes permissions for everybody, which earlier versions gave the files of databases.
fn close_to_others(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = [".db", ".db-wal", ".db-shm"]
            .iter()
            .any(|e| name.ends_with(e));
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let mode = metadata.permissions().mode() & 0o777;
        if ours && metadata.is_file() && mode & !FILE_MODE != 0 {
            // A process that is not their owner cannot change them: they stay as they are.
            let _ = std::fs::set_permissions(
                entry.path(),
                std::fs::Permissions::from_mode(mode & FILE_MODE),
            );
        }
    }
}

impl Databases {
    /// The databases of a directory.
    pub fn new(directory: PathBuf, read: ReadDefinition) -> Self {
        close_to_others(&directory);
        Self::of(Some(directory), read)
    }

    /// No databases: any name is unknown.
    pub fn none() -> Self {
        let read = ReadDefinition {
            table: |_| Err(SqlError::internal("a definition without a database")),
            view: |_, _, _| None,
        };
        Self::of(None, read)
    }

    fn of(directory: Option<PathBuf>, read: ReadDefinition) -> Self {
        let reserve = directory.as_deref().map(Reserve::of);
        if let Some(reserve) = &reserve {
            reserve.fill();
        }
        Self {
            directory,
            reserve,
            read,
            write_locks: RwLock::new(&LOCK_GATES, HashMap::new()),
            generation: AtomicU64::new(1),
            definitions: Mutex::new(&LOCK_DEFINITIONS, HashMap::new()),
            counted: Mutex::new(&LOCK_DEFINITIONS, HashMap::new()),
            next_ids: NextIds::default(),
            durable: AtomicBool::new(false),
        }
    }

    /// Sets whether commits wait for the disk: innodb_flush_log_at_trx_commit = 1.
    pub fn set_durable(&self, durable: bool) {
        self.durable.store(durable, Ordering::Relaxed);
    }

    /// The space for statements that free space.
    pub fn reserve(&self) -> Option<&Reserve> {
        self.reserve.as_ref()
    }

    /// Whether commits wait for the disk.
    #[inline]
    pub fn is_durable(&self) -> bool {
        self.durable.load(Ordering::Relaxed)
    }

    /// The file of a database, whether or not it exists. Error 1102 for what cannot be a name.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let bad = name.is_empty()
            || name.len() > 64
            || name.starts_with('.')
            || name.eq_ignore_ascii_case("main")
            || name.eq_ignore_ascii_case("temp")
            || name
                .chars()
                .any(|c| c == '/' || c == '\\' || c.is_control());
        if bad {
            return Err(Error::BadName(name.to_owned()));
        }
        match &self.directory {
            Some(directory) => Ok(directory.join(format!("{name}.db"))),
            None => Err(Error::UnknownDatabase(name.to_owned())),
        }
    }

    /// Whether there is such a database or system schema.
    pub fn exists(&self, name: &str) -> bool {
        is_system_schema(name) || self.path(name).is_ok_and(|p| p.exists())
    }

    /// Bytes of a database's write-ahead log.
    pub fn log_bytes(&self, name: &str) -> u64 {
        let Ok(path) = self.path(name) else { return 0 };
        let mut path = path.into_os_string();
        path.push("-wal");
        std::fs::metadata(path).map_or(0, |file| file.len())
    }

    /// The names of the user's databases, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = self.directory.as_ref().map(std::fs::read_dir);
        let Some(Ok(entries)) = entries else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|e| {
                e.file_name()
                    .into_string()
                    .ok()?
                    .strip_suffix(".db")
                    .map(String::from)
            })
            .collect();
        names.sort();
        names
    }

    /// The write lock of a database.
    pub fn write_lock(&self, name: &str) -> Arc<WriteLock> {
        if let Some(lock) = self.write_locks.read().get(name) {
            return lock.clone();
        }
        self.write_locks
            .write()
            .entry(name.to_owned())
            .or_default()
            .clone()
    }

    /// The number of the schemas' present state.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Raises the generation: a schema has changed.
    pub fn raise_generation(&self) {
        // Pairs with the Acquire load in `generation`: who sees the number sees the new schema.
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The tables of a database; `load` reads them when the cached ones are out of date.
    pub fn definitions(
        &self,
        name: &str,
        load: impl FnOnce() -> Result<HashMap<String, Arc<TableDef>>>,
    ) -> Result<Arc<Definitions>> {
        let generation = self.generation();
        if let Some(cached) = self.definitions.lock().get(name)
            && cached.generation == generation
        {
            return Ok(cached.clone());
        }
        let tables = as_server(|| interrupt::ignore_during(load))?;
        let fresh = Arc::new(Definitions {
            generation,
            views: tables.values().any(|def| def.view.is_some()),
            tables,
        });
        self.definitions
            .lock()
            .insert(name.to_owned(), fresh.clone());
        Ok(fresh)
    }

    /// The tables of a database, read through a connection of its own when the cached ones are out of date:
    /// for callers inside a statement that the session's connection runs. `prepare` gives it the functions
    /// that views call.
    ///
    /// # Errors
    /// [`Error::BadName`], or SQLite's.
    pub fn read(
        &self,
        name: &str,
        prepare: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<()>,
    ) -> Result<Arc<Definitions>> {
        self.definitions(name, || {
            let db = rusqlite::Connection::open(self.path(name)?)?;
            db.busy_timeout(BUSY_TIMEOUT)?;
            prepare(&db)?;
            // Views may nest deeply even where the statement's own text does not.
            stack::with_stack(true, || load(&db, "main", name, self.read))
        })
    }

    /// Creates the file of a new database.
    ///
    /// # Errors
    /// [`Error::BadName`], or SQLite's.
    pub fn create(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        create_file(&path).map_err(Error::Create)?;
        let initialized = rusqlite::Connection::open(path).and_then(|db| {
            db.execute_batch(&format!(
                "PRAGMA journal_mode=WAL; PRAGMA user_version={FORMAT}; \
                 CREATE TABLE {DEFINITIONS_TABLE} (name TEXT PRIMARY KEY, definition TEXT NOT NULL, created INTEGER)"
            ))
        });
        if let Err(error) = initialized {
            // A file without tables would be a database.
            self.remove(name)?;
            return Err(error.into());
        }
        self.raise_generation();
        Ok(())
    }

    /// The tables of a database as they were last read.
    pub fn cached_definitions(&self, name: &str) -> Option<Arc<Definitions>> {
        self.definitions.lock().get(name).cloned()
    }

    /// The number of tables whose definitions are cached.
    pub fn cached_table_count(&self) -> usize {
        self.definitions
            .lock()
            .values()
            .map(|d| d.tables.len())
            .sum()
    }

    /// Removes the files of a database.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        for suffix in ["-wal", "-shm", "-journal", ""] {
            let mut file = path.clone().into_os_string();
            file.push(suffix);
            match std::fs::remove_file(&file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Remove(e));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
