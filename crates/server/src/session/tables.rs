//! The open tables of a session, and what its statements do to them, for performance_schema.

use std::collections::HashMap;

use tare::digest::Digest;
use tare::table::{Classes, Handle, Table};
use tare::wait::Wait;
use tare::{LockDuration, LockType, Namespace, Operation, TableLock, metadata};

use crate::points::{MDL, TABLE_IO, TABLE_LOCK};
use tare_dialect::plan::{Change, Sql};
use tare_mysql::error::Result;
use tare_mysql::table::TableDef;
use tare_store::Connection;
use tare_store::access::{self, Loop, Reads};
use tare_store::shape::{self, Shape};

/// The most statements whose use of tables a session caches. They are cached by digest, so that a text
/// with other values is not analysed again.
const MAX_CACHED_USES: usize = 256;

/// A table that the session has open.
#[derive(Debug)]
struct OpenTable {
    database: String,
    table: String,
    /// The indexes, in the order of the instrument.
    indexes: Vec<String>,
    handle: Handle,
    metadata: metadata::MetadataLock,
    /// Whether the metadata lock is held.
    held: bool,
}

/// What a statement does to one table.
#[derive(Debug, Clone, Copy)]
struct TableUse {
    table: usize,
    index: Option<usize>,
    writes: bool,
    reads: Reads,
    backward: bool,
}

/// What a statement does to tables; they are indexes into one session's open tables.
#[derive(Debug, Clone)]
pub struct Uses {
    /// The generation of the schemas that it was determined for.
    generation: u64,
    all: Vec<TableUse>,
    steps: Option<Loop>,
    change: Option<Change>,
    shape: Shape,
    /// Whether it only looks up rows of one table.
    is_lookup: bool,
}

/// The tables that a session has open.
#[derive(Debug, Default)]
pub struct Tables {
    generation: u64,
    open: Vec<OpenTable>,
    /// Whether performance_schema counts what the current statement does to them.
    observed: bool,
    /// Tables opened since the session began.
    opened: u64,
    /// By digest, whether LIKE is bounded, and the databases of the names in the text.
    cache: HashMap<(Digest, bool, Vec<String>), Uses>,
}

/// Rows that a statement has read or changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rows {
    /// Rows sent to the client.
    pub sent: u64,
    /// Steps from row to row in scans.
    pub scanned: u64,
    /// Rows changed.
    pub affected: u64,
    /// Steps of SQLite's virtual machine.
    pub steps: u64,
}

/// What an execution of a statement did to tables, as MySQL counts it.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "they are MySQL's names, except the first two")]
pub struct Work {
    /// Tables locked, and unlocked again.
    pub external_locks: u64,
    /// Temporary tables.
    pub temporaries: u64,
    /// Sorts, and sorted rows.
    pub sorts: u64,
    pub sorted: u64,
    /// Rows examined.
    pub examined: u64,
    pub read_first: u64,
    pub read_key: u64,
    pub read_last: u64,
    pub read_next: u64,
    pub read_prev: u64,
    pub read_rnd_next: u64,
    pub select_scan: bool,
    pub select_range: bool,
    pub select_full_join: bool,
    pub select_full_range_join: bool,
    pub no_index: bool,
}

impl Work {
    fn select(&mut self, reads: Reads, is_first: bool) {
        match (reads, is_first) {
            (Reads::Scan, true) => self.select_scan = true,
            (Reads::Scan, false) => self.select_full_join = true,
            (Reads::Range, true) => self.select_range = true,
            (Reads::Range, false) => self.select_full_range_join = true,
            (Reads::Lookup | Reads::None, _) => {}
        }
    }
}

impl Tables {
    /// What a statement does to tables, determined from its program the first time.
    pub fn uses(
        &mut self,
        connection: &mut Connection,
        sql: &Sql,
        change: Option<Change>,
        digest: Option<&Digest>,
        generation: u64,
    ) -> Result<Uses> {
        if self.generation != generation {
            // The names may refer to other tables now.
            *self = Self {
                generation,
                opened: self.opened,
                ..Self::default()
            };
        }
        // The first letters of a pattern decide whether LIKE uses an index.
        let bounded = sql.text.contains("tare_like_from(");
        let key = digest.map(|digest| (*digest, bounded, sql.databases.clone()));
        if let Some(cached) = key.as_ref().and_then(|key| self.cache.get(key)) {
            return Ok(cached.clone());
        }
        let inserts = matches!(change, Some(Change::Insert | Change::Replace));
        let program = access::analyze(connection.db(), &sql.text, inserts)?;
        let mut all = Vec::new();
        for access in program.accesses {
            let Some(def) = connection.table(&access.database, &access.table)? else {
                continue;
            };
            let table = self.open(&access.database, &def);
            let indexes = &self.open[table].indexes;
            let index = access.index.as_ref();
            let index = index.and_then(|name| indexes.iter().position(|own| own == name));
            all.push(TableUse {
                table,
                index,
                writes: access.writes,
                reads: access.reads,
                backward: access.backward,
            });
        }
        let shape = shape::analyze(connection.db(), &sql.text)?;
        let is_lookup = change.is_none()
            && (shape.sorts, shape.temporaries, shape.full_join) == (0, 0, false)
            && matches!(&all[..], [one] if one.reads == Reads::Lookup && !one.backward);
        let uses = Uses {
            generation,
            all,
            steps: program.single_loop,
            change,
            shape,
            is_lookup,
        };
        if let Some(key) = key {
            if self.cache.len() >= MAX_CACHED_USES {
                self.cache.clear();
            }
            self.cache.insert(key, uses.clone());
        }
        Ok(uses)
    }

    fn open(&mut self, database: &str, def: &TableDef) -> usize {
        let same = |open: &OpenTable| open.database == database && open.table == def.name;
        if let Some(position) = self.open.iter().position(same) {
            return position;
        }
        let indexes: Vec<String> = def.indexes.iter().map(|index| index.name.clone()).collect();
        let names: Vec<&str> = indexes.iter().map(String::as_str).collect();
        let classes = Classes {
            io: &TABLE_IO,
            lock: &TABLE_LOCK,
        };
        self.open.push(OpenTable {
            handle: Table::new(classes, database, &def.name, &names).open(),
            metadata: metadata::MetadataLock::new(&MDL, Namespace::Table, database, &def.name),
            database: database.to_owned(),
            table: def.name.clone(),
            indexes,
            held: false,
        });
        self.opened += 1;
        self.open.len() - 1
    }

    /// Tables opened since the session began.
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// Records that a statement begins: it locks its tables. Returns the wait of the first table, which is
    /// timed from the stage's beginning on.
    pub fn begin(&mut self, uses: &Uses) -> Option<Wait> {
        self.observed = tare::wait::are_counted()
            && [&TABLE_IO, &TABLE_LOCK, &MDL]
                .into_iter()
                .any(tare::Class::is_counted);
        if !self.observed {
            return None;
        }
        for one in &uses.all {
            let open = &mut self.open[one.table];
            let (lock, kind) = match one.writes {
                true => (TableLock::WriteExternal, LockType::SharedWrite),
                false => (TableLock::ReadExternal, LockType::SharedRead),
            };
            open.metadata.granted(kind, LockDuration::Transaction);
            open.held = true;
            open.handle.locked(lock);
        }
        let first = uses.all.first()?;
        let handle = &self.open[first.table].handle;
        Some(handle.io_in_stage(operation(uses, first), first.index))
    }

    /// Records that the statement has ended, and its rows.
    pub fn end(&mut self, uses: &Uses, wait: Option<Wait>, rows: Rows) {
        if !self.observed {
            return;
        }
        let visited = visited_rows(uses, rows);
        if let Some(mut wait) = wait {
            wait.rows(match uses.all.first().is_some_and(|one| one.writes) {
                true => rows.affected,
                false => visited,
            });
        }
        for (i, one) in uses.all.iter().enumerate() {
            let open = &mut self.open[one.table];
            if i > 0 {
                // The time of the other tables is part of the first one's.
                let mut wait = open.handle.io(operation(uses, one), one.index);
                wait.rows(match one.writes {
                    true => rows.affected,
                    false => rows.sent.max(1),
                });
            } else if one.writes && uses.change.is_some_and(fetches_first) {
                // The rows were fetched before the change.
                let mut wait = open.handle.io(Operation::Fetch, one.index);
                wait.rows(visited.max(rows.affected));
            }
            open.handle.unlocked();
        }
    }

    /// Releases the metadata locks, as at the end of a transaction.
    pub fn release(&mut self) {
        for open in self.open.iter_mut().filter(|open| open.held) {
            open.metadata.released();
            open.held = false;
        }
    }
}

impl Uses {
    /// Whether the statement uses no table of a database.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether it was determined for this generation of the schemas.
    pub fn is_of(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// The rows that an execution looked up, if it did nothing else: apart from these and the table's lock,
    /// [`Self::work`] is zero.
    #[inline]
    pub fn looked_up(&self, rows: Rows) -> Option<u64> {
        self.is_lookup.then(|| visited_rows(self, rows))
    }

    /// What an execution did to tables, for SHOW STATUS and the statement's event.
    pub fn work(&self, rows: Rows) -> Work {
        let mut work = Work {
            external_locks: 2 * self.all.len() as u64,
            temporaries: self.shape.temporaries,
            sorts: self.shape.sorts,
            sorted: if self.shape.sorts > 0 { rows.sent } else { 0 },
            examined: self.examined(rows),
            ..Work::default()
        };
        let is_select = self.change.is_none();
        work.select_full_join = is_select && self.shape.full_join;
        for (i, one) in self.all.iter().enumerate() {
            let is_first = i == 0;
            // A joined table is looked up at least once for each row.
            let times = if is_first { 1 } else { rows.sent.max(1) };
            let visited = if is_first {
                visited_rows(self, rows)
            } else {
                times
            };
            let following = match one.backward {
                true => &mut work.read_prev,
                false => &mut work.read_next,
            };
            match one.reads {
                Reads::None => continue,
                Reads::Lookup | Reads::Range => {
                    *following += visited.saturating_sub(times);
                    work.read_key += times;
                }
                Reads::Scan if one.index.is_some() => {
                    *following += rows.scanned;
                    match one.backward {
                        true => work.read_last += 1,
                        false => work.read_first += 1,
                    }
                }
                // MySQL counts the read that finds the end of the table.
                Reads::Scan => work.read_rnd_next += rows.scanned + 1,
            }
            if is_select {
                work.select(one.reads, is_first);
                // A scan of a complete index uses that index.
                let by_key = one.index.is_some() || is_first && self.shape.ordered_by_key;
                work.no_index |= one.reads == Reads::Scan && !by_key;
            }
        }
        work
    }

    /// Rows examined, as MySQL counts them: in each table, and once more if they are sorted.
    fn examined(&self, rows: Rows) -> u64 {
        let Some(first) = self.all.first() else {
            return 0;
        };
        let joined = |one: &&TableUse| matches!(one.reads, Reads::Lookup | Reads::Range);
        let others = self.all[1..].iter().filter(joined).count() as u64 * rows.sent;
        let first_rows = match first.reads {
            Reads::None => rows.affected.min(others),
            // One row by its key is a constant for the join, and not counted.
            Reads::Lookup if others > 0 && rows.sent <= 1 => 0,
            Reads::Scan if rows.scanned > 0 && others > 0 => rows.scanned + 1,
            Reads::Scan if rows.scanned > 0 => rows.sent.max(rows.scanned + 1),
            Reads::Lookup | Reads::Range if self.change == Some(Change::Insert) => rows.affected,
            _ => visited_rows(self, rows),
        };
        let sorted = if self.shape.sorts > 0 { rows.sent } else { 0 };
        first_rows + others + sorted
    }

    /// Whether the steps of SQLite's virtual machine determine the visited rows.
    pub fn counts_steps(&self) -> bool {
        self.steps.is_some()
    }
}

/// Whether a change fetches its rows first.
fn fetches_first(change: Change) -> bool {
    matches!(change, Change::Update | Change::Delete)
}

fn operation(uses: &Uses, one: &TableUse) -> Operation {
    match uses.change.filter(|_| one.writes) {
        Some(Change::Insert | Change::Replace) => Operation::Insert,
        Some(Change::Update) => Operation::Update,
        Some(Change::Delete) => Operation::DeleteRow,
        None => Operation::Fetch,
    }
}

fn visited_rows(uses: &Uses, rows: Rows) -> u64 {
    // A scan counts its steps from row to row.
    let scanned = if rows.scanned > 0 {
        rows.scanned + 1
    } else {
        0
    };
    let stepped = uses.steps.map_or(0, |l| l.visited(rows.steps, rows.sent));
    // A lookup that matches no row is a fetch, too.
    rows.sent.max(scanned).max(stepped).max(1)
}
