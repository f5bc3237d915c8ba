//! Tables and programs by name, and what sessions have of them: handles, metadata locks, prepared
//! statements.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use tare_layout::line::{Line, Tag};
use tare_layout::object::{self, INDEX_BITS, ObjectType, index_of, part};
use tare_layout::object_mask;
use tare_layout::primitive::AtomicU32 as Cell32;
use tare_layout::shared::Lost;
use tare_layout::sizes;

use super::freelist;
use super::instances::{add_sums, address_of, clear, next_generation, raise_extremes};
use super::state::{Engine, lock};

/// Objects by type, schema and name.
pub type Objects = HashMap<(ObjectType, Box<str>, Box<str>), u32>;

/// Ended objects whose names stored events still use, oldest first.
pub type EndedObjects = VecDeque<u32>;

/// How many ended objects are remembered: more than a script drops before its events are read.
const MAX_ENDED: usize = 256;

impl Engine {
    /// Allocates an entry of a region with a free list; counts a loss if the region is full.
    fn entry<'a>(
        &self,
        free: &AtomicU64,
        used: &AtomicU32,
        limit: usize,
        lost: Lost,
        link: impl Fn(usize) -> &'a Cell32,
    ) -> Option<usize> {
        let entry = freelist::pop(free, |i| (i < limit).then(|| link(i)))
            .or_else(|| freelist::take_new(used, limit));
        if entry.is_none() {
            self.lose(lost, 1);
        }
        entry
    }

    /// The same; if the region is full, the oldest ended object is freed. The caller holds the objects'
    /// lock.
    fn entry_or_ended<'a>(
        &self,
        free: &AtomicU64,
        used: &AtomicU32,
        limit: usize,
        lost: Lost,
        link: impl Fn(usize) -> &'a Cell32,
    ) -> Option<usize> {
        loop {
            let entry = freelist::pop(free, |i| (i < limit).then(|| link(i)))
                .or_else(|| freelist::take_new(used, limit));
            if entry.is_some() {
                return entry;
            }
            let Some(oldest) = lock(&self.ended).pop_front() else {
                self.lose(lost, 1);
                return None;
            };
            self.free_object(oldest);
        }
    }

    /// The id of a table or program; 0 = the region is full. If the indexes differ, it is another
    /// table.
    pub fn open_object(
        &self,
        kind: ObjectType,
        schema: &str,
        name: &str,
        indexes: &[Box<str>],
    ) -> u32 {
        if self.is_child() {
            self.lose(
                if kind.is_table() {
                    Lost::Tables
                } else {
                    Lost::Programs
                },
                1,
            );
            return 0;
        }
        let mut objects = lock(&self.objects);
        let key = (kind, schema.into(), name.into());
        if let Some(&id) = objects.get(&key) {
            if self.has_indexes(id, indexes) {
                return id;
            }
            objects.remove(&key);
            self.end_object(id);
        }
        let id = self.new_object(kind, schema, name, indexes);
        if id != 0 {
            objects.insert(key, id);
        }
        id
    }

    /// Ends a table or program that was dropped.
    pub fn forget_object(&self, kind: ObjectType, schema: &str, name: &str) {
        if self.is_child() {
            return;
        }
        let mut objects = lock(&self.objects);
        if let Some(id) = objects.remove(&(kind, schema.into(), name.into())) {
            self.end_object(id);
        }
    }

    fn new_object(&self, kind: ObjectType, schema: &str, name: &str, indexes: &[Box<str>]) -> u32 {
        let (view, shared) = (self.view, self.view.shared());
        let (size, lost) = match kind.is_table() {
            true => (sizes::TABLES, Lost::Tables),
            false => (sizes::PROGRAMS, Lost::Programs),
        };
        let index = self.entry_or_ended(
            &shared.free_objects.0,
            &shared.objects_used.0,
            self.limit_for(size, view.geometry().limits.objects),
            lost,
            |i| &view.object(i).next_free,
        );
        let Some(index) = index else { return 0 };
        let object = view.object(index);
        let generation = next_generation(&object.generation);
        // A reader that sees a new name also sees that the old object has ended.
        fence(Ordering::Release);
        let id = generation << INDEX_BITS | index as u32;
        object.kind.store(kind as u32, Ordering::Relaxed);
        object.schema.set(schema);
        object.name.set(name);
        for line in object.shared.iter().chain(&object.truncated) {
            clear(line);
        }
        view.object_masks()[index].store(0, Ordering::Relaxed);
        self.create_indexes(object, id, indexes);
        object.id.store(id, Ordering::Release);
        object_mask::compute_mask(&view, index);
        id
    }

    fn create_indexes(&self, object: &object::Object, id: u32, names: &[Box<str>]) {
        let (view, shared) = (self.view, self.view.shared());
        let limit = self.limit_for(sizes::INDEXES, view.geometry().limits.indexes);
        let mut last = &object.first_index;
        last.store(0, Ordering::Relaxed);
        for (number, name) in names.iter().enumerate().take(part::MAX_INDEXES) {
            let used = &shared.indexes_used.0;
            let free = &shared.free_indexes.0;
            let at = self.entry_or_ended(free, used, limit, Lost::Indexes, |i| {
                &view.table_index(i).next
            });
            let Some(at) = at else { return };
            let index = view.table_index(at);
            index.number.store(number as u32, Ordering::Relaxed);
            index.name.set(name);
            index.next.store(0, Ordering::Relaxed);
            for line in index.shared.iter().chain(&index.truncated) {
                clear(line);
            }
            index.object.store(id, Ordering::Release);
            last.store(at as u32 + 1, Ordering::Release);
            last = &index.next;
        }
    }

    /// The indexes of a table, which must exist.
    fn indexes(&self, id: u32) -> impl Iterator<Item = (usize, &'static object::Index)> {
        let view = &self.view;
        let limit = view.geometry().limits.indexes;
        let mut next = view
            .object(index_of(id))
            .first_index
            .load(Ordering::Acquire) as usize;
        std::iter::from_fn(move || {
            let at = next.checked_sub(1).filter(|at| *at < limit)?;
            let index = view.table_index(at);
            next = index.next.load(Ordering::Acquire) as usize;
            Some((at, index))
        })
        .take(part::MAX_INDEXES)
    }

    fn has_indexes(&self, id: u32, names: &[Box<str>]) -> bool {
        let names = &names[..names.len().min(part::MAX_INDEXES)];
        let indexes = self.indexes(id).collect::<Vec<_>>();
        // Indexes that were lost are missing at the end.
        indexes.len() <= names.len()
            && indexes
                .iter()
                .zip(names)
                .all(|((_, index), name)| index.name.is(name))
            && (indexes.len() == names.len() || self.lost(Lost::Indexes) != 0)
    }

    fn lost(&self, what: Lost) -> u64 {
        self.view.shared().lost[what as usize].load(Ordering::Relaxed)
    }

    /// Ends an object that the caller has removed from the map. Stored events still use its names,
    /// which remain until some other objects have ended.
    fn end_object(&self, id: u32) {
        self.view
            .object(index_of(id))
            .id
            .store(0, Ordering::Release);
        let mut ended = lock(&self.ended);
        ended.push_back(id);
        if ended.len() > MAX_ENDED
            && let Some(oldest) = ended.pop_front()
        {
            self.free_object(oldest);
        }
    }

    /// Frees the entry of an ended object.
    fn free_object(&self, id: u32) {
        let (view, shared) = (self.view, self.view.shared());
        let object = view.object(index_of(id));
        let indexes: Vec<_> = self.indexes(id).collect();
        for (at, index) in indexes {
            index.object.store(0, Ordering::Release);
            freelist::push(&shared.free_indexes.0, at, &index.next);
        }
        freelist::push(&shared.free_objects.0, index_of(id), &object.next_free);
    }

    pub(super) fn live_object(&self, id: u32) -> Option<&'static object::Object> {
        let index = index_of(id);
        (index < self.view.geometry().limits.objects)
            .then(|| self.view.object(index))
            .filter(|object| object.id.load(Ordering::Acquire) == id)
    }

    /// Whether an object with this id exists.
    pub fn is_live_object(&self, id: u32) -> bool {
        self.live_object(id).is_some()
    }

    /// Lines `i` of an object's part that threads share: their counts, and the counts when its table
    /// was truncated.
    pub fn object_lines(
        &self,
        id: u32,
        part: u8,
        i: usize,
    ) -> Option<(&'static Line, &'static Line)> {
        let object = self.live_object(id)?;
        if let Some(number) = part::index_of(part) {
            let mut indexes = self.indexes(id);
            let (_, index) =
                indexes.find(|(_, x)| x.number.load(Ordering::Relaxed) as usize == number)?;
            return Some((index.shared.get(i)?, index.truncated.get(i)?));
        }
        let i = match part::lock_of(part) {
            Some(lock) => object::IO_LINES + lock as usize,
            None => i,
        };
        Some((object.shared.get(i)?, object.truncated.get(i)?))
    }

    /// Adds a thread's row to the shared lines of the object, when its bank is merged.
    pub fn add_object_shared(&self, tag: Tag, lines: &[Line], before: Option<&[Line]>) {
        let kind = self.live_object(tag.id);
        let kind = kind.and_then(|o| ObjectType::from_u8(o.kind.load(Ordering::Relaxed) as u8));
        let is_program = kind.is_some_and(|kind| !kind.is_table());
        for (i, line) in lines.iter().enumerate() {
            let Some((shared, truncated)) = self.object_lines(tag.id, tag.part, i) else {
                continue;
            };
            let add = |to: &Line, from: &Line| {
                if is_program && i > 1 {
                    add_counters(to, from);
                } else {
                    add_sums(to, from);
                    raise_extremes(to, from);
                }
            };
            add(shared, line);
            if let Some(before) = before {
                add(truncated, &before[i]);
            }
        }
    }

    /// A table handle without owner.
    pub fn new_handle(&self, object: u32) -> Option<usize> {
        let (view, shared) = (self.view, self.view.shared());
        let index = self.entry(
            &shared.free_handles.0,
            &shared.handles_used.0,
            self.limit_for(sizes::TABLE_HANDLES, view.geometry().limits.table_handles),
            Lost::TableHandles,
            |i| &view.table_handle(i).next_free,
        )?;
        let handle = view.table_handle(index);
        handle.address.store(address_of(handle), Ordering::Relaxed);
        handle.disown();
        handle.object.store(object, Ordering::Release);
        Some(index)
    }

    /// Removes the owners and locks of all handles.
    pub fn disown_handles(&self) {
        let used = self.view.shared().handles_used.0.load(Ordering::Acquire) as usize;
        let limit = self.view.geometry().limits.table_handles;
        for handle in (0..used.min(limit)).map(|i| self.view.table_handle(i)) {
            handle.disown();
        }
    }

    /// Frees a table handle.
    pub fn end_handle(&self, index: usize) {
        let handle = self.view.table_handle(index);
        handle.object.store(0, Ordering::Release);
        freelist::push(&self.view.shared().free_handles.0, index, &handle.next_free);
    }

    /// Allocates a metadata lock from the list that all threads share.
    pub fn new_metadata_lock(&self) -> Option<usize> {
        let (view, shared) = (self.view, self.view.shared());
        self.entry(
            &shared.free_metadata_locks.0,
            &shared.metadata_locks_used.0,
            self.limit_for(sizes::METADATA_LOCKS, view.geometry().limits.metadata_locks),
            Lost::MetadataLocks,
            |i| &view.metadata_lock(i).next_free,
        )
    }

    /// A number in place of its address.
    pub fn metadata_lock_address(&self, index: usize) -> u64 {
        address_of(self.view.metadata_lock(index))
    }

    /// Returns a metadata lock to the shared list.
    pub fn end_metadata_lock(&self, index: usize) {
        let entry = self.view.metadata_lock(index);
        entry.state.store(0, Ordering::Release);
        let head = &self.view.shared().free_metadata_locks.0;
        freelist::push(head, index, &entry.next_free);
    }

    /// Publishes a prepared statement. Returns its id and its entry.
    pub fn new_prepared(
        &self,
        fill: impl FnOnce(&object::Prepared, usize),
    ) -> Option<(u32, &'static object::Prepared)> {
        let (view, shared) = (self.view, self.view.shared());
        let index = self.entry(
            &shared.free_prepared.0,
            &shared.prepared_used.0,
            self.limit_for(sizes::PREPARED, view.geometry().limits.prepared_statements),
            Lost::PreparedStatements,
            |i| &view.prepared(i).next_free,
        )?;
        let entry = view.prepared(index);
        entry.address.store(address_of(entry), Ordering::Relaxed);
        let generation = next_generation(&entry.generation);
        for line in entry.rows.iter().chain(&entry.truncated) {
            clear(line);
        }
        entry.rows[0].reset();
        entry.rows[object::PREPARED_LINES - 1].reset();
        fill(entry, index);
        let id = generation << INDEX_BITS | index as u32;
        entry.id.store(id, Ordering::Release);
        Some((id, entry))
    }

    /// Frees a prepared statement: DEALLOCATE.
    pub fn end_prepared(&self, id: u32) {
        let index = index_of(id);
        if index >= self.view.geometry().limits.prepared_statements {
            return;
        }
        let entry = self.view.prepared(index);
        let order = Ordering::Relaxed;
        if (entry.id)
            .compare_exchange(id, 0, Ordering::AcqRel, order)
            .is_ok()
        {
            let head = &self.view.shared().free_prepared.0;
            freelist::push(head, index, &entry.next_free);
        }
    }
}

fn add_counters(to: &Line, from: &Line) {
    for (to, from) in to.cells.iter().zip(&from.cells).skip(1) {
        to.fetch_add(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
