//! Tables: their rows, locks and open handles.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::activity::Waiting;
use tare_layout::control::effective;
use tare_layout::object::{self, part, target};
use tare_layout::sampling::WAIT;

use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::hot::{self, attached, local};
use crate::engine::local::Local;
use crate::engine::running;
use crate::payload::Payload;
use crate::source::Source;
use tare_layout::Kind;
use tare_layout::event::Operation;
use tare_layout::object::{ObjectType, TableLock};

/// Begins a wait for any table: `Fetch`, `Insert`, `Update` or `DeleteRow` of a class of kind TableIo,
/// or the operation of a [`TableLock`] of a class of kind TableLock.
#[inline]
#[track_caller]
pub fn wait(class: &Class, operation: Operation) -> Wait {
    wait::start(class, operation)
}

/// The classes of a table's events.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    /// The class for its rows, of kind TableIo: `wait/io/table/sql/handler`.
    pub io: &'static Class,
    /// The class for its locks, of kind TableLock: `wait/lock/table/sql/handler`.
    pub lock: &'static Class,
}

/// A table by its name, however many sessions have it open.
///
/// ```
/// use tare::{Operation, TableLock};
/// tare::classes! {
///     static IO: TableIo = "wait/io/table/app/handler";
///     static LOCK: TableLock = "wait/lock/table/app/handler";
/// }
/// let classes = tare::table::Classes { io: &IO, lock: &LOCK };
/// let table = tare::table::Table::new(classes, "shop", "orders", &["PRIMARY", "by_date"]);
/// let mut handle = table.open();
/// handle.locked(TableLock::ReadExternal);
/// {
///     let mut wait = handle.io(Operation::Fetch, Some(0));
///     // 12 rows are read through the primary key
///     wait.rows(12);
/// }
/// handle.unlocked();
/// ```
#[derive(Clone, Debug)]
pub struct Table(Payload<Arc<NamedTable>>);

#[derive(Debug)]
struct NamedTable {
    classes: Classes,
    kind: ObjectType,
    schema: Box<str>,
    name: Box<str>,
    indexes: Box<[Box<str>]>,
    /// Generation (bits 32-63) and id (bits 0-31).
    id: AtomicU64,
}

/// A table was dropped: its figures are removed.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn dropped(schema: &str, name: &str) {
    forget(ObjectType::Table, schema, name);
}

pub(super) fn forget(kind: ObjectType, schema: &str, name: &str) {
    if let Some(local) = local()
        && let Some(_creation) = local.begin_creation()
    {
        local.engine.forget_object(kind, schema, name);
    }
}

impl Table {
    /// A table with its indexes. Events name an index by its position in the list.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn new(classes: Classes, schema: &str, name: &str, indexes: &[&str]) -> Self {
        Self::of(ObjectType::Table, classes, schema, name, indexes)
    }

    /// The same of a temporary table.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn temporary(classes: Classes, schema: &str, name: &str, indexes: &[&str]) -> Self {
        Self::of(ObjectType::TemporaryTable, classes, schema, name, indexes)
    }

    fn of(kind: ObjectType, classes: Classes, schema: &str, name: &str, indexes: &[&str]) -> Self {
        Self(Payload::new(|| {
            let table = Arc::new(NamedTable {
                classes,
                kind,
                schema: schema.into(),
                name: name.into(),
                indexes: indexes.iter().map(|&name| name.into()).collect(),
                id: AtomicU64::new(0),
            });
            if let Some(local) = local() {
                table.id(local);
            }
            table
        }))
    }

    /// Begins to fetch, insert, update or delete rows ([`Wait::rows`] sets how many), through the index
    /// with this number.
    #[inline]
    #[track_caller]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn io(&self, operation: Operation, index: Option<usize>) -> Wait {
        self.begin_io::<false>(operation, index, Start::Now, Source::here())
    }

    /// As [`io`](Self::io) or [`lock`](Self::lock), for a host that passes the place in its source.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn io_at(&self, operation: Operation, index: Option<usize>, source: Source) -> Wait {
        self.begin_io::<true>(operation, index, Start::Now, source)
    }

    /// The same, begun at the start of the thread's stage, without a clock read: nothing else was done
    /// in the stage. Without a timed stage this is [`Table::io`].
    #[inline]
    #[track_caller]
    pub fn io_in_stage(&self, operation: Operation, index: Option<usize>) -> Wait {
        self.begin_io::<false>(operation, index, Start::Stage, Source::here())
    }

    /// Begins to wait for a lock.
    #[inline]
    #[track_caller]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock(&self, lock: TableLock) -> Wait {
        self.begin_lock::<false>(lock, Source::here())
    }

    /// As [`io`](Self::io) or [`lock`](Self::lock), for a host that passes the place in its source.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock_at(&self, lock: TableLock, source: Source) -> Wait {
        self.begin_lock::<true>(lock, source)
    }

    /// Counts a lock that was granted at the first try: a wait of zero, without a clock read or an
    /// event, unless `lock_timing` is `every`.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[track_caller]
    pub fn locked(&self, lock: TableLock) {
        let source = Source::here();
        if let (Some(table), Some(local)) = (self.0.get(), local()) {
            let _ = table.locked(local, lock, source);
        }
    }

    /// A handle of the table, for a session that opens it. Closed when it is dropped.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn open(&self) -> Handle {
        let mut handle = Handle {
            table: self.clone(),
            entry: Payload::of(Entry {
                generation: 0,
                index: 0,
                entry: std::ptr::null(),
            }),
            words: Payload::new(|| {
                let (table, local) = (self.0.get(), local());
                table
                    .zip(local)
                    .map_or([0; 2], |(table, local)| table.words(local))
            }),
        };
        handle.bind();
        handle
    }

    #[inline(always)]
    fn begin_io<const HOST_CALLS: bool>(
        &self,
        operation: Operation,
        index: Option<usize>,
        start: Start,
        source: Source,
    ) -> Wait {
        let Some(table) = self.0.get() else {
            return Wait::NONE;
        };
        let (class, part) = (table.classes.io, io_part(index));
        table.wait::<HOST_CALLS>(class, operation, start, part, source)
    }

    #[inline(always)]
    fn begin_lock<const HOST_CALLS: bool>(&self, lock: TableLock, source: Source) -> Wait {
        let Some(table) = self.0.get() else {
            return Wait::NONE;
        };
        let (class, part) = (table.classes.lock, part::lock(lock));
        table.wait::<HOST_CALLS>(class, lock.operation(), Start::Now, part, source)
    }
}

#[inline(always)]
fn io_part(index: Option<usize>) -> u8 {
    match index {
        Some(number) if number < part::MAX_INDEXES => part::index(number),
        _ => part::MAIN,
    }
}

impl NamedTable {
    #[inline]
    fn id(&self, local: &Local) -> u32 {
        let id = self.id.load(Ordering::Relaxed);
        if id >> 32 == local.key >> 32 {
            return id as u32;
        }
        self.id_slow(local)
    }

    #[cold]
    #[inline(never)]
    fn id_slow(&self, local: &Local) -> u32 {
        let Some(_creation) = local.begin_creation() else {
            return 0;
        };
        let (kind, schema, name) = (self.kind, &self.schema, &self.name);
        let id = (local.engine).open_object(kind, schema, name, &self.indexes);
        let tagged = local.key >> 32 << 32 | u64::from(id);
        self.id.store(tagged, Ordering::Relaxed);
        id
    }

    /// The words of its waits at the level `active`: for its rows, and for a lock.
    fn words(&self, local: &Local) -> [u64; 2] {
        let object = target::object(self.id(local), 0);
        [self.classes.io, self.classes.lock]
            .map(|class| Waiting::numbered(local.number(class), 0, object))
    }

    #[inline(always)]
    fn wait<const HOST_CALLS: bool>(
        &self,
        class: &'static Class,
        operation: Operation,
        start: Start,
        part: u8,
        source: Source,
    ) -> Wait {
        wait::start_on::<HOST_CALLS>(class, operation, start, source, |local| {
            let id = self.id(local);
            // If the table of objects is full, only the class is counted.
            if id == 0 {
                return (0, 0xff);
            }
            (target::object(id, part), local.object_mask(id))
        })
    }

    /// Times a lock that was granted at once.
    #[cold]
    #[inline(never)]
    fn time_lock(&self, lock: TableLock, source: Source) {
        let (class, operation) = (self.classes.lock, lock.operation());
        let part = part::lock(lock);
        drop(self.wait::<false>(class, operation, Start::Now, part, source));
    }

    /// Counts a lock that was granted at once. Returns whether it is counted at all.
    #[inline]
    fn locked(&self, local: &Local, lock: TableLock, source: Source) -> bool {
        let class = local.number(self.classes.lock);
        let bits = local.bits(class);
        if bits & effective::COUNT == 0 || self.classes.lock.kind() != Kind::TableLock {
            return false;
        }
        let id = self.id(local);
        let bits = bits & if id == 0 { 0xff } else { local.object_mask(id) };
        if bits & effective::COUNT == 0 {
            return false;
        }
        let weight = running::weight(bits, WAIT);
        if weight == 0 {
            return false;
        }
        if bits & effective::EVERY != 0 {
            // With `every` it is an event with two clock reads, as for all locks.
            self.time_lock(lock, source);
            return true;
        }
        let timed = bits & effective::TIME != 0;
        if let Some(line) = local.row(class, lock.operation().line()) {
            line.at_once(timed, u32::from(weight));
        }
        if id != 0 {
            local.count_object(id, part::lock(lock), timed, weight);
        }
        true
    }
}

/// A session's open table: a row of table_handles.
#[derive(Debug)]
pub struct Handle {
    table: Table,
    entry: Payload<Entry>,
    /// See [`NamedTable::words`]; 0 = unknown.
    words: Payload<[u64; 2]>,
}

/// A handle's entry in the segment.
#[derive(Debug)]
struct Entry {
    /// The generation of Tare that has its entry, 0 = none.
    generation: u32,
    /// The entry's number.
    index: u32,
    /// The entry, null = the table was full.
    entry: *const object::TableHandle,
}

// SAFETY: the pointer is to atomics in a segment, and is only used through a local that keeps that
// segment mapped.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Handle {
    /// Its table.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The [word](crate::active::Waiting) of a wait for its rows, without operation; 0 = unknown. Valid until
    /// Tare is stopped.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline(always)]
    pub fn word_of_io(&self) -> u64 {
        self.words.get().map_or(0, |words| words[0])
    }

    /// The same of a wait for one of its locks.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline(always)]
    pub fn word_of_lock(&self) -> u64 {
        self.words.get().map_or(0, |words| words[1])
    }

    /// As [`Table::io`].
    #[inline]
    #[track_caller]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn io(&self, operation: Operation, index: Option<usize>) -> Wait {
        self.table.io(operation, index)
    }

    /// As [`Table::io_at`].
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn io_at(&self, operation: Operation, index: Option<usize>, source: Source) -> Wait {
        self.table.io_at(operation, index, source)
    }

    /// As [`Table::io_in_stage`].
    #[inline]
    #[track_caller]
    pub fn io_in_stage(&self, operation: Operation, index: Option<usize>) -> Wait {
        self.table.io_in_stage(operation, index)
    }

    /// Begins to wait for a lock; [`Handle::holds`] or nothing follows.
    #[inline]
    #[track_caller]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock(&self, lock: TableLock) -> Wait {
        self.table.lock(lock)
    }

    /// As [`Table::lock_at`].
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock_at(&self, lock: TableLock, source: Source) -> Wait {
        self.table.lock_at(lock, source)
    }

    /// Counts a lock that was granted at the first try, and publishes it.
    #[inline]
    #[track_caller]
    pub fn locked(&mut self, lock: TableLock) {
        let source = Source::here();
        if let (Some(table), Some(local)) = (self.table.0.get(), local())
            && table.locked(local, lock, source)
        {
            self.publish(local, Some(lock), lock.is_external());
        }
    }

    /// Publishes a lock that was granted after a wait, which has been counted.
    #[inline]
    pub fn holds(&mut self, lock: TableLock) {
        if let Some(local) = local() {
            self.publish(local, Some(lock), lock.is_external());
        }
    }

    /// The storage engine's lock was released.
    #[inline]
    pub fn unlocked(&mut self) {
        if let Some(local) = attached() {
            self.hide(local, true);
        }
    }

    /// The server's own lock was released.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn unlocked_internally(&mut self) {
        if let Some(local) = attached() {
            self.hide(local, false);
        }
    }

    /// The calling thread owns it from here on: hosts reuse handles for other sessions.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn bind(&mut self) {
        if let Some(local) = local()
            && let Some(entry) = self.entry(local)
        {
            set_owner(local, entry);
        }
    }

    /// No thread owns it.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn unbind(&mut self) {
        if let Some(local) = attached()
            && let Some(entry) = self.current_entry(local)
        {
            // Outside of the windows of sampling the host does not report that it is unlocked.
            entry.disown();
        }
    }

    #[inline]
    fn publish(&mut self, local: &Local, lock: Option<TableLock>, external: bool) {
        if let Some(entry) = self.entry(local) {
            mark(entry, lock, external);
        }
    }

    #[inline]
    fn hide(&mut self, local: &Local, external: bool) {
        if let Some(entry) = self.current_entry(local) {
            mark(entry, None, external);
        }
    }

    #[inline]
    fn current_entry(&self, local: &Local) -> Option<&'static object::TableHandle> {
        let entry = self.entry.get()?;
        if entry.generation != (local.key >> 32) as u32 {
            return None;
        }
        // SAFETY: null, or an entry of the segment of this generation, which `local` keeps mapped. The
        // entry is freed when this handle is dropped.
        unsafe { entry.entry.as_ref() }
    }

    /// Its entry. Creates it, if there is none and the table is instrumented.
    #[inline]
    fn entry(&mut self, local: &Local) -> Option<&'static object::TableHandle> {
        match self.current_entry(local) {
            Some(entry) => Some(entry),
            None => self.create_entry(local),
        }
    }

    #[cold]
    #[inline(never)]
    fn create_entry(&mut self, local: &Local) -> Option<&'static object::TableHandle> {
        let (named, own) = (self.table.0.get()?, self.entry.get_mut()?);
        let id = named.id(local);
        let classes = [named.classes.io, named.classes.lock];
        let bits = classes.map(|class| local.bits(local.number(class)));
        let lost = own.generation == (local.key >> 32) as u32;
        if (bits[0] | bits[1]) & local.object_mask(id) & effective::COUNT == 0 || lost {
            return None;
        }
        let index = local.engine.new_handle(id);
        // If the table is full now, no entry is created later: the handle is counted as lost once.
        own.generation = (local.key >> 32) as u32;
        own.entry = std::ptr::null();
        let index = index?;
        let entry = local.engine.view.table_handle(index);
        own.index = index as u32;
        own.entry = entry;
        set_owner(local, entry);
        Some(entry)
    }
}

#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn mark(entry: &object::TableHandle, lock: Option<TableLock>, external: bool) {
    let cell = match external {
        true => &entry.external_lock,
        false => &entry.internal_lock,
    };
    let lock = lock.map_or(0, |lock| lock as u32 + 1);
    cell.store(lock, Ordering::Relaxed);
}

fn set_owner(local: &Local, entry: &object::TableHandle) {
    let thread = local.slot.thread_id.load(Ordering::Relaxed);
    let event = local.upcoming_event_id();
    entry.owner_thread.store(thread, Ordering::Relaxed);
    entry.owner_event.store(event, Ordering::Relaxed);
}

/// From here on no handle has an owner or a lock, until one is set: for a host of
/// [sessions](crate::thread::record_sessions_only) that reports neither while tables are off. It takes no
/// lock, so that a [follower](crate::settings::follow) may call it.
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn disown_all() {
    if let Some(engine) = running::pinned() {
        engine.disown_handles();
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.entry.is_null() {
            let index = self.index as usize;
            hot::with_engine(self.generation, |engine| engine.end_handle(index));
        }
    }
}
