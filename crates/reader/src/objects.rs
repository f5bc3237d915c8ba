//! Tables, programs, and objects of sessions: open tables, metadata locks, prepared statements.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use tare_layout::bank::baseline;
use tare_layout::line::{COUNT, Item, Line};
use tare_layout::name::load_bytes;
use tare_layout::object::{
    INDEX_BITS, IO_LINES, Index, LockDuration, LockStatus, LockType, MetadataLock, Namespace,
    ObjectType, PREPARED_LINES, PROGRAM_LINES, TABLE_LOCKS, TableLock, index_of, part,
};
use tare_layout::{Kind, View};

use crate::classes::text;
use crate::instances::{Object, since_truncation};
use crate::line::{Cells, EMPTY_TIME_LINE, add, cells, shared_cells};
use crate::totals::Banks;

/// A table with its counts.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its id in events.
    pub id: u32,
    /// TABLE or TEMPORARY TABLE.
    pub kind: ObjectType,
    /// Its schema.
    pub schema: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Whether setup_objects enables it.
    pub is_counted: bool,
    /// Its I/O by index, last that without an index: fetches, inserts, updates, deletes.
    pub io: Vec<(Option<Arc<str>>, [Cells; IO_LINES])>,
    /// Its I/O through indexes beyond the limit.
    pub unnamed: [Cells; IO_LINES],
    /// Its locks, by [`TableLock`].
    pub locks: [Cells; TABLE_LOCKS],
}

/// A stored program with its counts.
#[derive(Clone, Debug)]
pub struct Program {
    /// EVENT, FUNCTION, PROCEDURE or TRIGGER.
    pub kind: ObjectType,
    /// Its schema.
    pub schema: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its calls, the statements in them, and three lines of those statements' counters.
    pub row: [Cells; PROGRAM_LINES],
}

/// A table that a session has open.
#[derive(Clone, Debug)]
pub struct Handle {
    /// The table's type, schema and name.
    pub table: (ObjectType, Arc<str>, Arc<str>),
    /// Its address in the host.
    pub address: u64,
    /// Thread id of its owner.
    pub owner: Option<u64>,
    /// The event in which it was opened.
    pub event: u64,
    /// The server's lock on it.
    pub internal: Option<TableLock>,
    /// Its storage engine's lock on it.
    pub external: Option<TableLock>,
}

/// A metadata lock that is held or waited for.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The type of the locked object.
    pub on: Namespace,
    /// The schema.
    pub schema: Option<Arc<str>>,
    /// The object.
    pub name: Option<Arc<str>>,
    /// The column.
    pub column: Option<Arc<str>>,
    /// Its address in the host.
    pub address: u64,
    /// Its kind.
    pub kind: LockType,
    /// How long it is held.
    pub duration: LockDuration,
    /// Whether it is held.
    pub status: LockStatus,
    /// Thread id of its owner.
    pub owner: u64,
    /// The event in which it was requested.
    pub event: u64,
    /// The line of the host's source, 0 = unknown; see [`crate::Sources`].
    pub source: usize,
}

/// A prepared statement.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its address in the host.
    pub address: u64,
    /// Its number in the client's protocol.
    pub statement_id: u64,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// Its text.
    pub text: Arc<str>,
    /// Thread id of its session.
    pub owner: u64,
    /// The event in which it was prepared.
    pub event: u64,
    /// The program that prepared it.
    pub program: Option<(ObjectType, Arc<str>, Arc<str>)>,
    /// Its executions (a statement's row), and how it was prepared.
    pub rows: [Cells; PREPARED_LINES],
}

/// Type, schema and name of an existing object.
fn identity(view: View<'_>, id: u32) -> Option<(ObjectType, Arc<str>, Arc<str>)> {
    identity_while(view, id, |object| object.id.load(Ordering::Acquire) == id)
}

/// Type, schema and name of an object that may have ended, until another one has its entry.
fn identity_even_if_ended(view: View<'_>, id: u32) -> Option<(ObjectType, Arc<str>, Arc<str>)> {
    identity_while(view, id, |object| {
        object.generation.load(Ordering::Acquire) == id >> INDEX_BITS
    })
}

fn identity_while(
    view: View<'_>,
    id: u32,
    is_it: impl Fn(&tare_layout::object::Object) -> bool,
) -> Option<(ObjectType, Arc<str>, Arc<str>)> {
    let i = index_of(id);
    if id == 0 || i >= view.geometry().limits.objects {
        return None;
    }
    let object = view.object(i);
    let is_it = || is_it(object);
    if !is_it() {
        return None;
    }
    let kind = ObjectType::from_u8(object.kind.load(Ordering::Relaxed) as u8)?;
    let named = (kind, text(&object.schema).into(), text(&object.name).into());
    fence(Ordering::Acquire);
    is_it().then_some(named)
}

/// The indexes of a table.
fn indexes(view: View<'_>, id: u32) -> impl Iterator<Item = (usize, &Index)> {
    let limit = view.geometry().limits.indexes;
    let object = view.object(index_of(id));
    let mut next = object.first_index.load(Ordering::Acquire) as usize;
    std::iter::from_fn(move || {
        let index = view.table_index(next.checked_sub(1).filter(|at| *at < limit)?);
        next = index.next.load(Ordering::Acquire) as usize;
        let is_its = index.object.load(Ordering::Acquire) == id;
        is_its.then(|| (index.number.load(Ordering::Relaxed) as usize, index))
    })
    .take(part::MAX_INDEXES)
}

/// The object of a wait for a table.
pub(crate) fn table_object(view: View<'_>, id: u32, part: u8) -> Object {
    let Some((kind, schema, name)) = identity_even_if_ended(view, id) else {
        return Object::default();
    };
    let number = part::index_of(part);
    let index = number.and_then(|number| indexes(view, id).find(|(n, _)| *n == number));
    Object {
        name: Some(name),
        schema: Some(schema),
        index: index.map(|(_, index)| text(&index.name).into()),
        kind: Some(kind.text()),
        begin: u64::from(id),
    }
}

/// The object of a wait for a metadata lock.
pub(crate) fn metadata_lock_object(view: View<'_>, index: u32) -> Object {
    let index = (index as usize).checked_sub(1);
    let index = index.filter(|i| *i < view.geometry().limits.metadata_locks);
    let Some(lock) = index.and_then(|i| metadata(view, i)) else {
        return Object::default();
    };
    Object {
        name: lock.name,
        schema: lock.schema,
        index: None,
        kind: Some(lock.on.text()),
        begin: lock.address,
    }
}

fn metadata(view: View<'_>, i: usize) -> Option<Metadata> {
    let entry = view.metadata_lock(i);
    for _ in 0..MAX_READS {
        let sequence = entry.sequence.load(Ordering::Acquire);
        let state = entry.state.load(Ordering::Acquire);
        let (on, kind, duration, status) = MetadataLock::unpack(state)?;
        let some = |text: String| (!text.is_empty()).then(|| text.into());
        let lock = Metadata {
            on,
            schema: some(text(&entry.schema)),
            name: some(text(&entry.name)),
            column: some(text(&entry.column)),
            address: entry.address.load(Ordering::Relaxed),
            kind,
            duration,
            status,
            owner: entry.owner_thread.load(Ordering::Relaxed),
            event: entry.owner_event.load(Ordering::Relaxed),
            source: entry.source.load(Ordering::Relaxed) as usize,
        };
        fence(Ordering::Acquire);
        let same = entry.sequence.load(Ordering::Relaxed) == sequence
            && entry.state.load(Ordering::Relaxed) == state;
        if sequence.is_multiple_of(2) && same {
            return Some(lock);
        }
    }
    None
}

/// How often an entry that changes is read again.
const MAX_READS: usize = 16;

/// The banks' counts of objects, by id and part.
#[derive(Clone, Debug, Default)]
pub struct ObjectRows {
    counts: HashMap<(u32, u8), [Cells; PROGRAM_LINES]>,
    truncated: bool,
}

/// Whether line `i` of a part's row counts times.
fn is_time_line(is_program: bool, i: usize) -> bool {
    !is_program || i < 2
}

fn counters_since_truncation(now: Cells, then: Option<Cells>) -> Cells {
    let Some(then) = then else { return now };
    std::array::from_fn(|i| now[i].saturating_sub(then[i]))
}

fn add_line(is_program: bool, i: usize, sum: &mut Cells, now: Cells, then: Option<Cells>) {
    if is_time_line(is_program, i) {
        add(Kind::TableIo, 0, sum, &since_truncation(now, then));
    } else {
        let now = counters_since_truncation(now, then);
        for (sum, cell) in sum.iter_mut().zip(now).skip(1) {
            *sum = sum.wrapping_add(cell);
        }
    }
}

impl ObjectRows {
    /// The threads' counts of a table's indexes from this number on.
    fn unnamed(&self, id: u32, index_count: usize) -> [Cells; IO_LINES] {
        let mut sums = [EMPTY_TIME_LINE; IO_LINES];
        for number in index_count..part::MAX_INDEXES {
            let own = self.counts.get(&(id, part::index(number)));
            for (sum, line) in sums.iter_mut().zip(own.into_iter().flatten()) {
                add(Kind::TableIo, 0, sum, line);
            }
        }
        sums
    }

    /// The counts of all threads: their own rows, and the shared one.
    fn sum<const N: usize>(
        &self,
        (id, part): (u32, u8),
        is_program: bool,
        shared: &[Line],
        truncated: &[Line],
    ) -> [Cells; N] {
        let own = self.counts.get(&(id, part));
        std::array::from_fn(|i| {
            let is_time = is_time_line(is_program, i);
            let mut sum = match own {
                Some(lines) => lines[i],
                None if is_time => EMPTY_TIME_LINE,
                None => [0; 8],
            };
            let read = |line: &Line| match is_time {
                true => shared_cells(line),
                false => cells(line),
            };
            let then = self.truncated.then(|| read(&truncated[i]));
            add_line(is_program, i, &mut sum, read(&shared[i]), then);
            sum
        })
    }
}

impl Banks<'_> {
    /// The banks' counts of tables and programs.
    pub fn object_rows(&self) -> ObjectRows {
        let view = self.view();
        self.unmerged(|| {
            let control = view.control();
            let baselines = control.baselines_used.load(Ordering::Acquire);
            let truncated = baselines & 1 << baseline::TRUNCATED_GLOBAL != 0;
            let mut rows = ObjectRows {
                truncated: control.objects_truncated.load(Ordering::Acquire) != 0,
                ..ObjectRows::default()
            };
            for bank in 0..self.count() {
                let (arena, base_lines) = (
                    view.arena(bank),
                    view.baseline(baseline::TRUNCATED_GLOBAL, bank),
                );
                for (at, tag) in self.items(bank).filter(|(_, tag)| tag.item == Item::Object) {
                    let is_program = tag.lines == PROGRAM_LINES;
                    let sums = rows.counts.entry((tag.id, tag.part)).or_insert_with(|| {
                        std::array::from_fn(|i| match is_time_line(is_program, i) {
                            true => EMPTY_TIME_LINE,
                            false => [0; 8],
                        })
                    });
                    for (i, sum) in sums.iter_mut().enumerate().take(tag.lines) {
                        let then = truncated.then(|| cells(&base_lines[at + i]));
                        add_line(is_program, i, sum, cells(&arena[at + i]), then);
                    }
                }
            }
            rows
        })
    }

    fn objects(&self) -> impl Iterator<Item = (u32, ObjectType, Arc<str>, Arc<str>)> {
        let view = self.view();
        let used = view.shared().objects_used.0.load(Ordering::Acquire) as usize;
        (0..used.min(view.geometry().limits.objects)).filter_map(move |i| {
            let id = view.object(i).id.load(Ordering::Acquire);
            let (kind, schema, name) = identity(view, id).filter(|_| index_of(id) == i)?;
            Some((id, kind, schema, name))
        })
    }

    /// The tables, whether setup_objects counts them or not, as in MySQL 9.7.
    pub fn tables(&self, rows: &ObjectRows) -> Vec<Table> {
        let view = self.view();
        let table = |(id, kind, schema, name): (u32, ObjectType, _, _)| {
            if !kind.is_table() {
                return None;
            }
            let object = view.object(index_of(id));
            let mask = view.object_masks()[index_of(id)].load(Ordering::Relaxed);
            let mut io: Vec<(Option<Arc<str>>, [Cells; IO_LINES])> = indexes(view, id)
                .filter(|(number, _)| *number < part::MAX_INDEXES)
                .map(|(number, index)| {
                    let place = (id, part::index(number));
                    let sum = rows.sum(place, false, &index.shared, &index.truncated);
                    (Some(text(&index.name).into()), sum)
                })
                .collect();
            let (shared, truncated) = (&object.shared, &object.truncated);
            let index_count = io.len();
            // I/O without an index is listed once there was some, and stays listed after a truncation.
            let main = (id, part::MAIN);
            let counted = |line: &Line| line.cells[COUNT].load(Ordering::Relaxed) != 0;
            if rows.counts.contains_key(&main) || shared[..IO_LINES].iter().any(counted) {
                io.push((None, rows.sum(main, false, shared, truncated)));
            }
            let lock = |i: usize| {
                let lock = TableLock::ALL[i];
                let at = IO_LINES + i;
                let place = (id, part::lock(lock));
                rows.sum::<1>(place, false, &shared[at..], &truncated[at..])[0]
            };
            Some(Table {
                id,
                kind,
                schema,
                name,
                is_counted: mask != 0,
                io,
                unnamed: rows.unnamed(id, index_count),
                locks: std::array::from_fn(lock),
            })
        };
        self.objects().filter_map(table).collect()
    }

    /// The programs that setup_objects enables.
    pub fn programs(&self, rows: &ObjectRows) -> Vec<Program> {
        let view = self.view();
        let program = |(id, kind, schema, name): (u32, ObjectType, _, _)| {
            let masked = view.object_masks()[index_of(id)].load(Ordering::Relaxed) == 0;
            if kind.is_table() || masked {
                return None;
            }
            let object = view.object(index_of(id));
            let place = (id, part::MAIN);
            Some(Program {
                kind,
                schema,
                name,
                row: rows.sum(place, true, &object.shared, &object.truncated),
            })
        };
        self.objects().filter_map(program).collect()
    }

    /// The tables that sessions have open.
    pub fn table_handles(&self) -> Vec<Handle> {
        let view = self.view();
        let used = view.shared().handles_used.0.load(Ordering::Acquire) as usize;
        let handle = |i: usize| {
            let handle = view.table_handle(i);
            let table = identity(view, handle.object.load(Ordering::Acquire))?;
            let lock = |cell: &tare_layout::primitive::AtomicU32| {
                let lock = cell.load(Ordering::Relaxed).checked_sub(1)?;
                TableLock::from_u8(u8::try_from(lock).ok()?)
            };
            let owner = handle.owner_thread.load(Ordering::Relaxed);
            Some(Handle {
                table,
                address: handle.address.load(Ordering::Relaxed),
                owner: (owner != 0).then_some(owner),
                event: handle.owner_event.load(Ordering::Relaxed),
                internal: lock(&handle.internal_lock),
                external: lock(&handle.external_lock),
            })
        };
        let limit = view.geometry().limits.table_handles;
        (0..used.min(limit)).filter_map(handle).collect()
    }

    /// The metadata locks that are held or waited for.
    pub fn metadata_locks(&self) -> Vec<Metadata> {
        let view = self.view();
        let used = view.shared().metadata_locks_used.0.load(Ordering::Acquire) as usize;
        let limit = view.geometry().limits.metadata_locks;
        (0..used.min(limit))
            .filter_map(|i| metadata(view, i))
            .collect()
    }

    /// The prepared statements.
    pub fn prepared_statements(&self) -> Vec<Prepared> {
        let view = self.view();
        let used = view.shared().prepared_used.0.load(Ordering::Acquire) as usize;
        let limit = view.geometry().limits.prepared_statements;
        (0..used.min(limit))
            .filter_map(|i| prepared(view, i))
            .collect()
    }
}

/// The line of how a statement was prepared.
const PREPARING: usize = PREPARED_LINES - 1;

fn prepared(view: View<'_>, i: usize) -> Option<Prepared> {
    let entry = view.prepared(i);
    let id = entry.id.load(Ordering::Acquire);
    if id == 0 {
        return None;
    }
    let bytes = entry.text_length.load(Ordering::Relaxed) as usize;
    let words: &[AtomicU64] = view.prepared_text(i);
    let mut sql = vec![0; bytes.min(words.len() * 8)];
    load_bytes(words, &mut sql);
    let name = text(&entry.name);
    let rows = std::array::from_fn(|line| {
        let (now, then) = (cells(&entry.rows[line]), cells(&entry.truncated[line]));
        // A line of zeros is one that was never copied.
        let then = then.iter().any(|cell| *cell != 0).then_some(then);
        match line {
            0 | PREPARING => since_truncation(now, then),
            _ => counters_since_truncation(now, then),
        }
    });
    let statement = Prepared {
        address: entry.address.load(Ordering::Relaxed),
        statement_id: entry.statement_id.load(Ordering::Relaxed),
        name: (!name.is_empty()).then(|| name.into()),
        text: String::from_utf8_lossy(&sql).into(),
        owner: entry.owner_thread.load(Ordering::Relaxed),
        event: entry.owner_event.load(Ordering::Relaxed),
        program: identity(view, entry.program.load(Ordering::Relaxed)),
        rows,
    };
    fence(Ordering::Acquire);
    (entry.id.load(Ordering::Relaxed) == id).then_some(statement)
}
