//! How large the tables of a database are.
//!
//! Counting reads every page of the database, for a second at most. A result that took long is cached, so
//! that clients that list tables repeatedly do not count repeatedly.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_mysql::table::Figures;

use crate::databases::{BUSY_TIMEOUT, Databases};
use crate::error::Result;
use crate::tables::DEFINITIONS_TABLE;

/// How long counting may take. A database of some gigabytes takes longer, and has no figures then.
const COUNT_TIMEOUT: Duration = Duration::from_secs(1);
/// A database of at most so many pages (8 MiB) is counted at each call: some milliseconds.
const MAX_UNCACHED_PAGES: u32 = 2048;
/// The figures of a larger one are cached for this many times the duration of the count.
const CACHE_FACTOR: u32 = 20;
/// Pages between two reads of the clock.
const PAGES_BETWEEN_CLOCK_READS: u32 = 256;

/// The figures of a database's tables, by name.
pub type Tables = HashMap<String, Figures>;

/// Cached figures, and when they expire.
#[derive(Debug)]
pub(crate) struct CachedFigures {
    tables: Arc<Tables>,
    until: Instant,
}

impl Databases {
    /// The figures of a database's tables. There are no sizes if the database is so large that counting would
    /// take too long.
    pub fn figures(&self, name: &str) -> Arc<Tables> {
        let mut tables = self.cached_figures(name);
        for (table, next) in self.next_ids.of(name) {
            if tables.get(&table).is_some_and(|t| t.next_id < Some(next))
                && let Some(figures) = Arc::make_mut(&mut tables).get_mut(&table)
            {
                figures.next_id = Some(next);
            }
        }
        tables
    }

    /// The number that AUTO_INCREMENT of a table gives next.
    ///
    /// # Errors
    /// [`crate::Error::BadName`], or SQLite's.
    pub fn next_id(&self, database: &str, table: &str) -> Result<u64> {
        if let Some(next) = self.next_ids.get(database, table) {
            return Ok(next);
        }
        let db = rusqlite::Connection::open(self.path(database)?)?;
        db.busy_timeout(BUSY_TIMEOUT)?;
        let mut all = next_numbers(&db)?.into_iter();
        Ok(all
            .find(|(name, _)| name == table)
            .map_or(1, |(_, next)| next))
    }

    fn cached_figures(&self, name: &str) -> Arc<Tables> {
        let begun = Instant::now();
        if let Some(cached) = self.counted.lock().get(name)
            && begun < cached.until
        {
            return cached.tables.clone();
        }
        let mut pages = 0;
        let counted = self.count(name, begun, &mut pages);
        let tables = Arc::new(counted.unwrap_or_default());
        if pages > MAX_UNCACHED_PAGES {
            let counted = CachedFigures {
                tables: tables.clone(),
                until: begun + begun.elapsed() * (CACHE_FACTOR + 1),
            };
            self.counted.lock().insert(name.to_owned(), counted);
        }
        tables
    }

    /// Committed pages that are only in write-ahead logs: a checkpoint has to write them.
    ///
    /// The index of a log, a file of its own, has the number of frames and how many of them are copied
    /// (SQLite's walformat.html).
    pub fn unwritten_pages(&self) -> u64 {
        let of = |name: &String| {
            let mut path = self.path(name).ok()?.into_os_string();
            path.push("-shm");
            let mut index = [0; 100];
            std::fs::File::open(path)
                .ok()?
                .read_exact(&mut index)
                .ok()?;
            let number = |at: usize| {
                let bytes = index.get(at..at + 4)?.try_into().ok()?;
                Some(u32::from_ne_bytes(bytes))
            };
            Some(u64::from(number(16)?.saturating_sub(number(96)?)))
        };
        self.names().iter().filter_map(of).sum()
    }

    /// Counts on a connection of its own: the session's is running the calling statement.
    fn count(&self, name: &str, begun: Instant, visited_pages: &mut u32) -> Result<Tables> {
        let db = rusqlite::Connection::open(self.path(name)?)?;
        db.busy_timeout(BUSY_TIMEOUT)?;
        let mut tables = Tables::new();
        // Tables, and the indexes whose pages are theirs.
        let mut owners: HashMap<String, (String, bool)> = HashMap::new();
        let mut all = db.prepare(
            "SELECT name, tbl_name, type = 'table' FROM sqlite_schema WHERE type IN ('table', 'index') \
             AND tbl_name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND tbl_name <> ?1",
        )?;
        let mut rows = all.query([DEFINITIONS_TABLE])?;
        while let Some(row) = rows.next()? {
            let table: String = row.get(1)?;
            tables.entry(table.clone()).or_default();
            owners.insert(row.get(0)?, (table, row.get(2)?));
        }
        for (table, next) in next_numbers(&db)? {
            if let Some(figures) = tables.get_mut(&table) {
                figures.next_id = Some(next);
            }
        }
        for (table, created) in creation_times(&db) {
            if let Some(figures) = tables.get_mut(&table) {
                figures.created = Some(created);
            }
        }
        let mut pages = db.prepare("SELECT name, pagetype = 'leaf', ncell, pgsize FROM dbstat")?;
        let mut rows = pages.query([])?;
        while let Some(row) = rows.next()? {
            *visited_pages += 1;
            if visited_pages.is_multiple_of(PAGES_BETWEEN_CLOCK_READS)
                && begun.elapsed() > COUNT_TIMEOUT
            {
                for figures in tables.values_mut() {
                    figures.size = None;
                }
                return Ok(tables);
            }
            let Ok(name) = row.get_ref(0)?.as_str() else {
                continue;
            };
            let Some((table, is_table)) = owners.get(name) else {
                continue;
            };
            let is_leaf: bool = row.get(1)?;
            let (cells, bytes) = (row.get::<_, i64>(2)? as u64, row.get::<_, i64>(3)? as u64);
            let figures = tables.entry(table.clone()).or_default();
            let size = figures.size.get_or_insert_default();
            match is_table {
                true => {
                    size.data_bytes += bytes;
                    size.rows += if is_leaf { cells } else { 0 };
                }
                false => size.index_bytes += bytes,
            }
        }
        Ok(tables)
    }
}

/// The next number of each table whose AUTO_INCREMENT was used.
fn next_numbers(db: &rusqlite::Connection) -> Result<Vec<(String, u64)>> {
    let there = db.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'",
        [],
        |row| row.get::<_, i64>(0),
    )?;
    if there == 0 {
        return Ok(Vec::new());
    }
    let mut all = db.prepare("SELECT name, seq FROM sqlite_sequence")?;
    let next = |row: &rusqlite::Row<'_>| {
        let last: i64 = row.get(1)?;
        Ok((row.get(0)?, last.max(0) as u64 + 1))
    };
    Ok(all.query_map([], next)?.collect::<rusqlite::Result<_>>()?)
}

/// When each table was created, in seconds since 1970. Databases of earlier versions do not store it.
fn creation_times(db: &rusqlite::Connection) -> Vec<(String, i64)> {
    let read = || -> rusqlite::Result<Vec<(String, i64)>> {
        let sql =
            format!("SELECT name, created FROM {DEFINITIONS_TABLE} WHERE created IS NOT NULL");
        let mut all = db.prepare(&sql)?;
        all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    };
    read().unwrap_or_default()
}
