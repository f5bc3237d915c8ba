//! Metadata locks, which protect the definitions of tables and other objects.

use std::sync::atomic::{Ordering, fence};

use tare_layout::control::effective;
use tare_layout::object::{self, target};
use tare_layout::source;

use super::wait::{self, Wait};
use crate::class::Class;
use crate::engine::hot::{self, attached, local_of_objects};
use crate::engine::local::Local;
use crate::payload::Payload;
use crate::source::Source;
use tare_layout::event::Operation;
use tare_layout::object::{LockDuration, LockStatus, LockType, Namespace};

/// A session's metadata lock: a row of metadata_locks while it is held or waited for.
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
pub struct MetadataLock(Payload<Lock>);

#[derive(Debug)]
struct Lock {
    class: &'static Class,
    on: Namespace,
    schema: Box<str>,
    name: Box<str>,
    column: Box<str>,
    /// The place in the host's source that requests it.
    source: Source,
    /// The generation of Tare that has its entry, 0 = none.
    generation: u32,
    /// The entry's number.
    index: u32,
    /// The entry.
    entry: *const object::MetadataLock,
}

// SAFETY: the pointer is to atomics in a segment, and is only used through a local that keeps that
// segment mapped.
unsafe impl Send for Lock {}
// SAFETY: as above.
unsafe impl Sync for Lock {}

/// Whether locks of this class are recorded now: for hosts that prepare data only for Tare.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn are_recorded(class: &Class) -> bool {
    local_of_objects().is_some_and(|local| is_recorded_in(local, class))
}

#[inline(always)]
fn is_recorded_in(local: &Local, class: &Class) -> bool {
    local.bits(local.number(class)) & effective::COUNT != 0
}

impl MetadataLock {
    /// A lock on an object, not held. Empty texts are NULL in the table. SOURCE is the caller's place,
    /// unless [`MetadataLock::source`] sets another.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[track_caller]
    pub fn new(class: &'static Class, on: Namespace, schema: &str, name: &str) -> Self {
        Self::of_column(class, on, schema, name, "")
    }

    /// The same for a column.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[track_caller]
    pub fn of_column(
        class: &'static Class,
        on: Namespace,
        schema: &str,
        name: &str,
        column: &str,
    ) -> Self {
        let source = Source::here();
        Self(Payload::new(|| Lock {
            class,
            on,
            schema: schema.into(),
            name: name.into(),
            column: column.into(),
            source,
            generation: 0,
            index: 0,
            entry: std::ptr::null(),
        }))
    }

    /// The calling thread holds it now.
    #[inline]
    pub fn granted(&mut self, kind: LockType, duration: LockDuration) {
        self.publish(kind, duration, LockStatus::Granted);
    }

    /// Sets the place in the host's source that requests it.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn source(&mut self, source: Source) {
        // A lock that is reused for the next statement is often requested in the same place.
        let Some(lock) = self.0.get_mut().filter(|lock| lock.source != source) else {
            return;
        };
        lock.source = source;
        if let Some(local) = attached()
            && let Some(entry) = lock.entry(local)
        {
            set_source(local, entry, source);
        }
    }

    /// Begins to wait for it. Its status is PENDING, until [`MetadataLock::granted`] or
    /// [`MetadataLock::failed`].
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[track_caller]
    pub fn wait(&mut self, kind: LockType, duration: LockDuration) -> Wait {
        self.wait_at(kind, duration, Source::here())
    }

    /// The same, for a host that passes the place in its source.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn wait_at(&mut self, kind: LockType, duration: LockDuration, source: Source) -> Wait {
        self.publish(kind, duration, LockStatus::Pending);
        let Some(lock) = self.0.get() else {
            return Wait::NONE;
        };
        let local = local_of_objects().filter(|local| lock.entry(local).is_some());
        let index = local.map(|_| lock.index as usize);
        wait::start_on::<true>(
            lock.class,
            Operation::MetadataLock,
            wait::Start::Now,
            source,
            |_| (index.map_or(0, target::metadata_lock), 0xff),
        )
    }

    /// Sets its status: the server notifies others, or its wait has failed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn failed(&mut self, status: LockStatus) {
        if let Some(entry) = self.0.get().and_then(Lock::current_entry)
            && let Some((on, kind, duration, _)) =
                object::MetadataLock::unpack(entry.state.load(Ordering::Relaxed))
        {
            let state = object::MetadataLock::pack(on, kind, duration, status);
            entry.state.store(state, Ordering::Release);
        }
    }

    /// The lock is no longer held.
    #[inline]
    pub fn released(&mut self) {
        if let Some(entry) = self.0.get().and_then(Lock::current_entry) {
            entry.state.store(0, Ordering::Release);
        }
    }

    /// Publishes its owner, status and type.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn publish(&mut self, kind: LockType, duration: LockDuration, status: LockStatus) {
        let (Some(lock), Some(local)) = (self.0.get_mut(), local_of_objects()) else {
            return;
        };
        if !is_recorded_in(local, lock.class) {
            return;
        }
        let entry = match lock.entry(local) {
            Some(entry) => entry,
            None => match lock.create_entry(local) {
                Some(entry) => entry,
                None => return,
            },
        };
        let thread = local.slot.thread_id.load(Ordering::Relaxed);
        let event = local.upcoming_event_id();
        entry.owner_thread.store(thread, Ordering::Relaxed);
        entry.owner_event.store(event, Ordering::Relaxed);
        let state = object::MetadataLock::pack(lock.on, kind, duration, status);
        entry.state.store(state, Ordering::Release);
    }

    /// The same for a lock that may be published already: its owner does not change.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn republish(&mut self, kind: LockType, duration: LockDuration, status: LockStatus) {
        let Some(lock) = self.0.get() else {
            return;
        };
        match lock.current_entry() {
            Some(entry) => {
                let state = object::MetadataLock::pack(lock.on, kind, duration, status);
                entry.state.store(state, Ordering::Release);
            }
            None => self.publish(kind, duration, status),
        }
    }
}

impl Lock {
    #[inline]
    fn entry(&self, local: &Local) -> Option<&'static object::MetadataLock> {
        if self.generation != (local.key >> 32) as u32 {
            return None;
        }
        // SAFETY: set with the generation, to an entry of its segment, which `local` keeps mapped. The
        // entry is freed when this lock is dropped.
        unsafe { self.entry.as_ref() }
    }

    #[inline]
    fn current_entry(&self) -> Option<&'static object::MetadataLock> {
        self.entry(attached()?)
    }

    #[cold]
    #[inline(never)]
    fn create_entry(&mut self, local: &Local) -> Option<&'static object::MetadataLock> {
        let index = local
            .own_metadata_lock()
            .or_else(|| local.engine.new_metadata_lock());
        let index = index?;
        let entry = local.engine.view.metadata_lock(index);
        // Odd: from here on the previous lock's data is incomplete.
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

impl Drop for Lock {
    fn drop(&mut self) {
        if self.entry.is_null() {
            return;
        }
        let index = self.index as usize;
        match attached() {
            Some(local) if self.entry(local).is_some() => local.cache_metadata_lock(index),
            _ => hot::with_engine(self.generation, |engine| engine.end_metadata_lock(index)),
        }
    }
}

/// Free entries that a thread caches: a server creates and drops a few in every statement.
const MAX_CACHED_LOCKS: u16 = 16;

impl Local {
    /// Takes a free entry from this thread's cache.
    pub(crate) fn own_metadata_lock(&self) -> Option<usize> {
        let index = self.metadata_locks.get().checked_sub(1)? as usize;
        let entry = self.engine.view.metadata_lock(index);
        let next = entry.next_free.load(Ordering::Relaxed);
        self.metadata_locks.set(next);
        let cached = &self.metadata_locks_cached;
        cached.set(cached.get() - 1);
        Some(index)
    }

    fn cache_metadata_lock(&self, index: usize) {
        let cached = &self.metadata_locks_cached;
        if cached.get() >= MAX_CACHED_LOCKS {
            return self.engine.end_metadata_lock(index);
        }
        let entry: &object::MetadataLock = self.engine.view.metadata_lock(index);
        entry.state.store(0, Ordering::Release);
        let first = self.metadata_locks.replace(index as u32 + 1);
        entry.next_free.store(first, Ordering::Relaxed);
        cached.set(cached.get() + 1);
    }
}
