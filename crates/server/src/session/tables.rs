//! The tables that a session has open: who reads and writes which, told to performance_schema.

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

/// Statements whose use of tables a session remembers by their digest, so that a text with other
/// values in it is not looked at again.
const MAX_CACHED_USES: usize = 256;

/// A table that the session has open.
#[derive(Debug)]
struct OpenTable {
    database: String,
    table: String,
    /// MySQL's names, as the instrument knows them.
    indexes: Vec<String>,
    handle: Handle,
    metadata: metadata::MetadataLock,
    /// The metadata lock is held.
    held: bool,
}

/// What a statement does to one of them.
#[derive(Debug, Clone, Copy)]
struct TableUse {
    table: usize,
    index: Option<usize>,
    writes: bool,
    reads: Reads,
    backward: bool,
}

/// What a statement does to tables, in the places of one session.
#[derive(Debug, Clone)]
pub struct Uses {
    /// The generation of the schemas that it was learned from.
    generation: u64,
    all: Vec<TableUse>,
    steps: Option<Loop>,
    change: Option<Change>,
    shape: Shape,
    /// All that it does is to look up rows of one table.
    is_lookup: bool,
}

/// The tables that a session has open.
#[derive(Debug, Default)]
pub struct Tables {
    generation: u64,
    open: Vec<OpenTable>,
    /// Somebody counts what the statement does to them.
    observed: bool,
    /// Tables opened since the session began.
    opened: u64,
    /// By digest, and the databases that the text's names are of.
    cache: HashMap<(Digest, bool, Vec<String>), Uses>,
}

/// Rows that a statement has read or changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rows {
    /// Rows given to the client.
    pub sent: u64,
    /// Rows stepped over in scans.
    pub scanned: u64,
    /// Rows changed.
    pub affected: u64,
    /// Steps of SQLite's machine.
    pub steps: u64,
}

/// What an execution of a statement did to tables.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "they are MySQL's names, but for the first two")]
pub struct Work {
    /// Tables locked, and unlocked again.
    pub external_locks: u64,
    /// Temporary tables.
    pub temporaries: u64,
    /// Sorts, and the rows that were sorted.
    pub sorts: u64,
    pub sorted: u64,
    /// Rows looked at.
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
    /// What a statement does to tables; looked up in its program the first time.
    pub fn uses(
        &mut self,
        connection: &mut Connection,
        sql: &Sql,
        change: Option<Change>,
        digest: Option<&Digest>,
        generation: u64,
    ) -> Result<Uses> {
        if self.generation != generation {
            // A table may be another one now.
            *self = Self {
                generation,
                opened: self.opened,
                ..Self::default()
            };
        }
        // A pattern decides by its own first letters whether an index serves.
        let bounded = sql.text.contains("tare_like_from(");
        let key = digest.map(|digest| (*digest, bounded, sql.databases.clone()));
        if let Some(cached) = key.as_ref().and_then(|key| self.cache.get(key)) {
            return Ok(cached.clone());
        }
        let inserts = matches!(change, Some(Change::Insert | Change::Replace));
        let program = access::of(connection.db(), &sql.text, inserts)?;
        let mut all = Vec::new();
        for access in program.accesses {
            let Some(def) = connection.table(&access.database, &access.table)? else {
                continue;
            };
            let table = self.open(&access.database, &def);
            let indexes = &self.open[table].indexes;
            let index = access.index.as_ref();
            let index = index.and_then(|name| indexes.iter().position(|index| index == name));
            all.push(TableUse {
                table,
                index,
                writes: access.writes,
                reads: access.reads,
                backward: access.backward,
            });
        }
        let shape = shape::of(connection.db(), &sql.text)?;
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

    /// The statement begins: its tables are locked, and what is done to the first of them is timed
    /// from the stage's beginning on.
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

    /// It has ended: says of how many rows.
    pub fn end(&mut self, uses: &Uses, wait: Option<Wait>, rows: Rows) {
        if !self.observed {
            return;
        }
        let visited = visited(uses, rows);
        if let Some(mut wait) = wait {
            wait.rows(match uses.all.first().is_some_and(|one| one.writes) {
                true => rows.affected,
                false => visited,
            });
        }
        for (i, one) in uses.all.iter().enumerate() {
            let open = &mut self.open[one.table];
            if i > 0 {
                // What the first did is timed; the others' part in that is not known.
                let mut wait = open.handle.io(operation(uses, one), one.index);
                wait.rows(match one.writes {
                    true => rows.affected,
                    false => rows.sent.max(1),
                });
            } else if one.writes && uses.change.is_some_and(finds_first) {
                // The rows were fetched before they were changed.
                let mut wait = open.handle.io(Operation::Fetch, one.index);
                wait.rows(visited.max(rows.affected));
            }
            open.handle.unlocked();
        }
    }

    /// The transaction has ended: nobody is kept from changing a definition any more.
    pub fn release(&mut self) {
        for open in self.open.iter_mut().filter(|open| open.held) {
            open.metadata.released();
            open.held = false;
        }
    }
}

impl Uses {
    /// Whether no table of a user's database takes part.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether it was learned from the schemas as they are.
    pub fn is_of(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// The rows that an execution looked up, if that is all that it did: but for these and the table's lock, nothing
    /// of [`Self::work`] is more than 0.
    #[inline]
    pub fn looked_up(&self, rows: Rows) -> Option<u64> {
        self.is_lookup.then(|| visited(self, rows))
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
            // A joined table is looked up for each row at least.
            let times = if is_first { 1 } else { rows.sent.max(1) };
            let visited = if is_first { visited(self, rows) } else { times };
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
                // The end of the table is a row that was asked for.
                Reads::Scan => work.read_rnd_next += rows.scanned + 1,
            }
            if is_select {
                work.select(one.reads, is_first);
                // What follows an index from end to end uses it.
                let by_key = one.index.is_some() || is_first && self.shape.ordered_by_key;
                work.no_index |= one.reads == Reads::Scan && !by_key;
            }
        }
        work
    }

    /// Rows looked at, as MySQL counts them: in each table, and once more where they are sorted.
    fn examined(&self, rows: Rows) -> u64 {
        let Some(first) = self.all.first() else {
            return 0;
        };
        let joined = |one: &&TableUse| matches!(one.reads, Reads::Lookup | Reads::Range);
        let others = self.all[1..].iter().filter(joined).count() as u64 * rows.sent;
        let first_rows = match first.reads {
            Reads::None => rows.affected.min(others),
            // One row by its key is a constant to what is joined to it.
            Reads::Lookup if others > 0 && rows.sent <= 1 => 0,
            Reads::Scan if rows.scanned > 0 && others > 0 => rows.scanned + 1,
            Reads::Scan if rows.scanned > 0 => rows.sent.max(rows.scanned + 1),
            Reads::Lookup | Reads::Range if self.change == Some(Change::Insert) => rows.affected,
            _ => visited(self, rows),
        };
        let sorted = if self.shape.sorts > 0 { rows.sent } else { 0 };
        first_rows + others + sorted
    }

    /// Whether steps of SQLite's machine say more than the rows do.
    pub fn counts_steps(&self) -> bool {
        self.steps.is_some()
    }
}

/// Whether a change looks for its rows.
fn finds_first(change: Change) -> bool {
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

fn visited(uses: &Uses, rows: Rows) -> u64 {
    // A scan counts its steps from row to row.
    let scanned = if rows.scanned > 0 {
        rows.scanned + 1
    } else {
        0
    };
    let stepped = uses.steps.map_or(0, |l| l.visited(rows.steps, rows.sent));
    // A row that was looked for and not found was a fetch, too.
    rows.sent.max(scanned).max(stepped).max(1)
}
