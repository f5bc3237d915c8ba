//! Tables: their rows, their locks, and who has them open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::control::effective;
use tare_layout::object::{self, part, target};
use tare_layout::sampling::WAIT;

use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::hot::{self, attached, local};
use crate::engine::local::Local;
use crate::engine::running;
use crate::source::Source;
use tare_layout::Kind;
use tare_layout::event::Operation;
use tare_layout::object::{ObjectType, TableLock};

/// Begins a wait for a table that is not told apart from others: `Fetch`, `Insert`, `Update`,
/// `DeleteRow` of a class of kind TableIo, a [`TableLock`]'s operation of one of kind TableLock.
#[inline]
#[track_caller]
pub fn wait(class: &Class, operation: Operation) -> Wait {
    wait::start(class, operation)
}

/// What a table's events are of.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    /// Of its rows: a class of kind TableIo, `wait/io/table/sql/handler`.
    pub io: &'static Class,
    /// Of its locks: a class of kind TableLock, `wait/lock/table/sql/handler`.
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
pub struct Table(Arc<Named>);

#[derive(Debug)]
struct Named {
    classes: Classes,
    kind: ObjectType,
    schema: Box<str>,
    name: Box<str>,
    indexes: Box<[Box<str>]>,
    /// Generation (bits 32-63) and id (bits 0-31).
    id: AtomicU64,
}

/// Says that a table was dropped: its figures go with it.
pub fn dropped(schema: &str, name: &str) {
    forget(ObjectType::Table, schema, name);
}

pub(super) fn forget(kind: ObjectType, schema: &str, name: &str) {
    if let Some(local) = local()
        && let Some(_making) = local.making()
    {
        local.engine.forget_object(kind, schema, name);
    }
}

impl Table {
    /// A table with its indexes, which events name by their place in the list.
    pub fn new(classes: Classes, schema: &str, name: &str, indexes: &[&str]) -> Self {
        Self::of(ObjectType::Table, classes, schema, name, indexes)
    }

    /// The same of a temporary table.
    pub fn temporary(classes: Classes, schema: &str, name: &str, indexes: &[&str]) -> Self {
        Self::of(ObjectType::TemporaryTable, classes, schema, name, indexes)
    }

    fn of(kind: ObjectType, classes: Classes, schema: &str, name: &str, indexes: &[&str]) -> Self {
        let table = Self(Arc::new(Named {
            classes,
            kind,
            schema: schema.into(),
            name: name.into(),
            indexes: indexes.iter().map(|&name| name.into()).collect(),
            id: AtomicU64::new(0),
        }));
        if let Some(local) = local() {
            table.0.id(local);
        }
        table
    }

    /// Begins to fetch, insert, update or delete rows ([`Wait::rows`] says how many), through the
    /// index with this number.
    #[inline]
    #[track_caller]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn io(&self, operation: Operation, index: Option<usize>) -> Wait {
        let (class, part) = (self.0.classes.io, io_part(index));
        let source = Source::here();
        self.0
            .wait::<false>(class, operation, Start::Now, part, source)
    }

    /// The same, of a host that says where in its source that is.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn io_at(&self, operation: Operation, index: Option<usize>, source: Source) -> Wait {
        let (class, part) = (self.0.classes.io, io_part(index));
        self.0
            .wait::<true>(class, operation, Start::Now, part, source)
    }

    /// The same, begun where the stage began that the thread is in: nothing else was done in it, and
    /// no clock is read to learn it. Without a timed stage this is [`Table::io`].
    #[inline]
    #[track_caller]
    pub fn io_in_stage(&self, operation: Operation, index: Option<usize>) -> Wait {
        let (class, part) = (self.0.classes.io, io_part(index));
        let source = Source::here();
        self.0
            .wait::<false>(class, operation, Start::Stage, part, source)
    }

    /// Begins to wait for a lock.
    #[inline]
    #[track_caller]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock(&self, lock: TableLock) -> Wait {
        let (class, part) = (self.0.classes.lock, part::lock(lock));
        let source = Source::here();
        self.0
            .wait::<false>(class, lock.operation(), Start::Now, part, source)
    }

    /// The same, of a host that says where in its source that is.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock_at(&self, lock: TableLock, source: Source) -> Wait {
        let (class, part) = (self.0.classes.lock, part::lock(lock));
        self.0
            .wait::<true>(class, lock.operation(), Start::Now, part, source)
    }

    /// Counts a lock that was had at the first try: a wait of zero, no clock, and no event, unless
    /// `lock_timing` is `every`.
    #[track_caller]
    pub fn locked(&self, lock: TableLock) {
        let source = Source::here();
        if let Some(local) = local() {
            let _ = self.0.locked(local, lock, source);
        }
    }

    /// A handle of the table, for a session that opens it. Closed when it is dropped.
    pub fn open(&self) -> Handle {
        let handle = Handle {
            table: self.clone(),
            generation: 0,
            index: 0,
            entry: std::ptr::null(),
        };
        handle.bound()
    }
}

#[inline(always)]
fn io_part(index: Option<usize>) -> u8 {
    match index {
        Some(number) if number < part::MAX_INDEXES => part::index(number),
        _ => part::WHOLE,
    }
}

impl Named {
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
        let Some(_making) = local.making() else {
            return 0;
        };
        let (kind, schema, name) = (self.kind, &self.schema, &self.name);
        let id = (local.engine).open_object(kind, schema, name, &self.indexes);
        let known = local.key >> 32 << 32 | u64::from(id);
        self.id.store(known, Ordering::Relaxed);
        id
    }

    #[inline]
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
            // What found no room is counted for its class alone.
            if id == 0 {
                return (0, 0xff);
            }
            (target::object(id, part), local.object_mask(id))
        })
    }

    /// Counts a lock that was had at once; whether it is counted at all.
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
            // As all locks are: an event, and two clocks.
            let (class, operation) = (self.classes.lock, lock.operation());
            let part = part::lock(lock);
            drop(self.wait::<false>(class, operation, Start::Now, part, source));
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

/// A table that a session has open: a row of table_handles.
#[derive(Debug)]
pub struct Handle {
    table: Table,
    /// The generation of Tare that has its entry, 0 = none.
    generation: u32,
    /// The entry's number.
    index: u32,
    /// The entry, null = there was no room for one.
    entry: *const object::TableHandle,
}

// SAFETY: the pointer is to atomics in a segment, and only looked at through a local that keeps that
// segment mapped.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// Its table.
    pub fn table(&self) -> &Table {
        &self.table
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

    /// The lock was had at the first try: counts it, and shows it.
    #[inline]
    #[track_caller]
    pub fn locked(&mut self, lock: TableLock) {
        let source = Source::here();
        if let Some(local) = local()
            && self.table.0.locked(local, lock, source)
        {
            self.show(local, Some(lock), lock.is_external());
        }
    }

    /// The lock was had after a wait, which has been counted: shows it.
    #[inline]
    pub fn holds(&mut self, lock: TableLock) {
        if let Some(local) = local() {
            self.show(local, Some(lock), lock.is_external());
        }
    }

    /// The storage engine's lock has been let go.
    #[inline]
    pub fn unlocked(&mut self) {
        if let Some(local) = attached() {
            self.hide(local, true);
        }
    }

    /// The server's own lock has been let go.
    pub fn unlocked_internally(&mut self) {
        if let Some(local) = attached() {
            self.hide(local, false);
        }
    }

    /// The calling thread is its owner from here on: hosts keep handles for whoever comes.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn bind(&mut self) {
        if let Some(local) = local()
            && let Some(entry) = self.entry(local)
        {
            own(local, entry);
        }
    }

    /// Nobody is its owner.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn unbind(&mut self) {
        if let Some(local) = attached()
            && let Some(entry) = self.known(local)
        {
            // Outside of the windows of sampling nobody says that it is not locked.
            entry.disown();
        }
    }

    fn bound(mut self) -> Self {
        self.bind();
        self
    }

    #[inline]
    fn show(&mut self, local: &Local, lock: Option<TableLock>, external: bool) {
        if let Some(entry) = self.entry(local) {
            mark(entry, lock, external);
        }
    }

    #[inline]
    fn hide(&mut self, local: &Local, external: bool) {
        if let Some(entry) = self.known(local) {
            mark(entry, None, external);
        }
    }

    #[inline]
    fn known(&self, local: &Local) -> Option<&'static object::TableHandle> {
        if self.generation != (local.key >> 32) as u32 {
            return None;
        }
        // SAFETY: null, or an entry of the segment of this generation, which `local` keeps mapped; it
        // is given back when this handle is dropped.
        unsafe { self.entry.as_ref() }
    }

    /// Its entry, made when there is none and the table is instrumented.
    #[inline]
    fn entry(&mut self, local: &Local) -> Option<&'static object::TableHandle> {
        match self.known(local) {
            Some(entry) => Some(entry),
            None => self.make(local),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, local: &Local) -> Option<&'static object::TableHandle> {
        let named = &self.table.0;
        let id = named.id(local);
        let classes = [named.classes.io, named.classes.lock];
        let bits = classes.map(|class| local.bits(local.number(class)));
        let lost = self.generation == (local.key >> 32) as u32;
        if (bits[0] | bits[1]) & local.object_mask(id) & effective::COUNT == 0 || lost {
            return None;
        }
        let index = local.engine.new_handle(id);
        // Without a place now there is none later: it is counted as lost once.
        self.generation = (local.key >> 32) as u32;
        self.entry = std::ptr::null();
        let index = index?;
        let entry = local.engine.view.table_handle(index);
        self.index = index as u32;
        self.entry = entry;
        own(local, entry);
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

fn own(local: &Local, entry: &object::TableHandle) {
    let thread = local.slot.thread_id.load(Ordering::Relaxed);
    let event = local.slot.event_id.load(Ordering::Relaxed);
    entry.owner_thread.store(thread, Ordering::Relaxed);
    entry.owner_event.store(event, Ordering::Relaxed);
}

/// Nobody is the owner of any handle from here on, nor has a lock, until it is said: for a host of
/// [sessions](crate::thread::sessions_only) that does not say so while tables are off. It takes no lock, so that a
/// [follower](crate::settings::follow) may call it.
pub fn disown_all() {
    if let Some(engine) = running::pinned() {
        engine.disown_handles();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.entry.is_null() {
            let index = self.index as usize;
            hot::with_engine(self.generation, |engine| engine.end_handle(index));
        }
    }
}
