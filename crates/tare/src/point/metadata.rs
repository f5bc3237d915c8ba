//! Metadata locks: who may look at a table's definition, and who may change it.

use std::sync::atomic::{Ordering, fence};

use tare_layout::control::effective;
use tare_layout::object::{self, target};
use tare_layout::source;

use super::wait::{self, Wait};
use crate::class::Class;
use crate::engine::hot::{self, attached, local_of_objects};
use crate::engine::local::Local;
use crate::source::Source;
use tare_layout::event::Operation;
use tare_layout::object::{LockDuration, LockStatus, LockType, Namespace};

/// What a session locks, as Tare knows it: a row of metadata_locks while it is held or waited for.
///
/// ```
/// use tare::{LockDuration, LockType, Namespace};
/// tare::classes! { static MDL: MetadataLock = "wait/lock/metadata/app/mdl"; }
/// let mut lock = tare::metadata::MetadataLock::new(&MDL, Namespace::Table, "shop", "orders");
/// lock.granted(LockType::SharedRead, LockDuration::Transaction);
/// lock.released();
/// {
///     let _wait = lock.wait(LockType::Exclusive, LockDuration::Statement);
///     // others release theirs
/// }
/// lock.granted(LockType::Exclusive, LockDuration::Statement);
/// ```
#[derive(Debug)]
pub struct MetadataLock {
    class: &'static Class,
    on: Namespace,
    schema: Box<str>,
    name: Box<str>,
    column: Box<str>,
    /// Where in the host's source it is asked for.
    source: Source,
    /// The generation of Tare that has its entry, 0 = none.
    generation: u32,
    /// The entry's number.
    index: u32,
    /// The entry.
    entry: *const object::MetadataLock,
}

// SAFETY: the pointer is to atomics in a segment, and only looked at through a local that keeps that
// segment mapped.
unsafe impl Send for MetadataLock {}
// SAFETY: as above.
unsafe impl Sync for MetadataLock {}

/// Whether locks of this class are shown now: for hosts that spare themselves what only Tare asks for.
#[inline(always)]
pub fn are_shown(class: &Class) -> bool {
    local_of_objects().is_some_and(|local| is_shown_in(local, class))
}

#[inline(always)]
fn is_shown_in(local: &Local, class: &Class) -> bool {
    local.bits(local.number(class)) & effective::COUNT != 0
}

impl MetadataLock {
    /// A lock on an object, not held. Empty texts are NULL in the table. SOURCE is where this is called, unless
    /// [`MetadataLock::source`] says otherwise.
    #[track_caller]
    pub fn new(class: &'static Class, on: Namespace, schema: &str, name: &str) -> Self {
        Self {
            class,
            on,
            schema: schema.into(),
            name: name.into(),
            column: Box::default(),
            source: Source::here(),
            generation: 0,
            index: 0,
            entry: std::ptr::null(),
        }
    }

    /// The same of a column.
    #[track_caller]
    pub fn of_column(
        class: &'static Class,
        on: Namespace,
        schema: &str,
        name: &str,
        column: &str,
    ) -> Self {
        let mut lock = Self::new(class, on, schema, name);
        lock.column = column.into();
        lock
    }

    /// It is held now, by the calling thread.
    #[inline]
    pub fn granted(&mut self, kind: LockType, duration: LockDuration) {
        self.show(kind, duration, LockStatus::Granted);
    }

    /// Says where in the host's source it is asked for.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn source(&mut self, source: Source) {
        // A lock that is kept for the next statement is often asked for in the same place, which its entry has.
        if self.source == source {
            return;
        }
        self.source = source;
        if let Some(local) = attached()
            && let Some(entry) = self.known(local)
        {
            set_source(local, entry, source);
        }
    }

    /// Begins to wait for it: shown as PENDING, until [`Lock::granted`] or [`Lock::failed`].
    #[track_caller]
    pub fn wait(&mut self, kind: LockType, duration: LockDuration) -> Wait {
        self.wait_at(kind, duration, Source::here())
    }

    /// The same, of a host that says where in its source that is.
    pub fn wait_at(&mut self, kind: LockType, duration: LockDuration, source: Source) -> Wait {
        self.show(kind, duration, LockStatus::Pending);
        let known = local_of_objects().filter(|local| self.known(local).is_some());
        let index = known.map(|_| self.index as usize);
        wait::start_on::<true>(
            self.class,
            Operation::MetadataLock,
            wait::Start::Now,
            source,
            |_| (index.map_or(0, target::metadata_lock), 0xff),
        )
    }

    /// Shows it with a status: the server tells others, or its wait has failed.
    pub fn failed(&mut self, status: LockStatus) {
        if let Some(entry) = self.shown()
            && let Some((on, kind, duration, _)) =
                object::MetadataLock::unpack(entry.state.load(Ordering::Relaxed))
        {
            let state = object::MetadataLock::pack(on, kind, duration, status);
            entry.state.store(state, Ordering::Release);
        }
    }

    /// It is held no longer.
    #[inline]
    pub fn released(&mut self) {
        if let Some(entry) = self.shown() {
            entry.state.store(0, Ordering::Release);
        }
    }

    /// Shows who holds it, or waits for it, and how.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn show(&mut self, kind: LockType, duration: LockDuration, status: LockStatus) {
        let Some(local) = local_of_objects() else {
            return;
        };
        if !is_shown_in(local, self.class) {
            return;
        }
        let entry = match self.known(local) {
            Some(entry) => entry,
            None => match self.make(local) {
                Some(entry) => entry,
                None => return,
            },
        };
        let thread = local.slot.thread_id.load(Ordering::Relaxed);
        let event = local.slot.event_id.load(Ordering::Relaxed);
        entry.owner_thread.store(thread, Ordering::Relaxed);
        entry.owner_event.store(event, Ordering::Relaxed);
        let state = object::MetadataLock::pack(self.on, kind, duration, status);
        entry.state.store(state, Ordering::Release);
    }

    /// The same of one that may be shown already: whose it is stays as it is.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn show_again(&mut self, kind: LockType, duration: LockDuration, status: LockStatus) {
        match self.shown() {
            Some(entry) => {
                let state = object::MetadataLock::pack(self.on, kind, duration, status);
                entry.state.store(state, Ordering::Release);
            }
            None => self.show(kind, duration, status),
        }
    }

    #[inline]
    fn known(&self, local: &Local) -> Option<&'static object::MetadataLock> {
        if self.generation != (local.key >> 32) as u32 {
            return None;
        }
        // SAFETY: set with the generation, to an entry of its segment, which `local` keeps mapped; it is
        // given back when this lock is dropped.
        unsafe { self.entry.as_ref() }
    }

    #[inline]
    fn shown(&self) -> Option<&'static object::MetadataLock> {
        self.known(attached()?)
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, local: &Local) -> Option<&'static object::MetadataLock> {
        let found = local
            .own_metadata_lock()
            .or_else(|| local.engine.new_metadata_lock());
        let index = found?;
        let entry = local.engine.view.metadata_lock(index);
        // Odd: what a reader finds of the lock before is no longer all there.
        let sequence = entry.sequence.load(Ordering::Relaxed);
        entry
            .sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        set_source(local, entry, self.source);
        let address = local.engine.metadata_lock_address(index);
        entry.address.store(address, Ordering::Relaxed);
        for (cell, text) in [
            (&entry.schema, &self.schema),
            (&entry.name, &self.name),
            (&entry.column, &self.column),
        ] {
            cell.set(text);
        }
        entry
            .sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
        self.generation = (local.key >> 32) as u32;
        self.index = index as u32;
        self.entry = entry;
        Some(entry)
    }
}

fn set_source(local: &Local, entry: &object::MetadataLock, source: Source) {
    let (_, number) = source::split(local.source(source));
    entry.source.store(number as u32, Ordering::Relaxed);
}

impl Drop for MetadataLock {
    fn drop(&mut self) {
        if self.entry.is_null() {
            return;
        }
        let index = self.index as usize;
        match attached() {
            Some(local) if self.known(local).is_some() => local.keep_metadata_lock(index),
            _ => hot::with_engine(self.generation, |engine| engine.end_metadata_lock(index)),
        }
    }
}

/// Free locks that a thread keeps for itself: a server makes and drops a few in every statement.
const KEPT: u16 = 16;

impl Local {
    /// A free metadata lock of this thread's own.
    pub(crate) fn own_metadata_lock(&self) -> Option<usize> {
        let index = self.metadata_locks.get().checked_sub(1)? as usize;
        let entry = self.engine.view.metadata_lock(index);
        let next = entry.next_free.load(Ordering::Relaxed);
        self.metadata_locks.set(next);
        let kept = &self.metadata_locks_kept;
        kept.set(kept.get() - 1);
        Some(index)
    }

    fn keep_metadata_lock(&self, index: usize) {
        let kept = &self.metadata_locks_kept;
        if kept.get() >= KEPT {
            return self.engine.end_metadata_lock(index);
        }
        let entry: &object::MetadataLock = self.engine.view.metadata_lock(index);
        entry.state.store(0, Ordering::Release);
        let first = self.metadata_locks.replace(index as u32 + 1);
        entry.next_free.store(first, Ordering::Relaxed);
        kept.set(kept.get() + 1);
    }
}
