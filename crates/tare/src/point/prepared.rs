//! Prepared statements of sessions, and the cost of their executions.

use std::ptr;
use std::sync::atomic::Ordering;

use tare_layout::line::EXTRA;
use tare_layout::name::{floor_boundary, store_bytes};
use tare_layout::object::{self, PREPARED_LINES, index_of};

use crate::engine::counted::StatementCounters;
use crate::engine::hot::{self, local};
use crate::engine::local::Local;
use crate::payload::Payload;

/// A session's prepared statement: a row of prepared_statements_instances until it is dropped.
///
/// ```
/// tare::classes! {
///     static PREPARE: Statement = "statement/com/Prepare";
///     static EXECUTE: Statement = "statement/com/Execute";
/// }
/// let text = "SELECT c FROM t WHERE id = ?";
/// let statement = tare::statement::start(&PREPARE);
/// let prepared = tare::prepared::Prepared::new(1, None, text);
/// statement.prepares(&prepared);
/// drop(statement);
///
/// let statement = tare::statement::start(&EXECUTE);
/// statement.executes(&prepared);
/// ```
#[derive(Debug)]
pub struct Prepared(Payload<Entry>);

#[derive(Debug)]
struct Entry {
    /// Generation (bits 32-63) and id (bits 0-31); 0 = not recorded.
    id: u64,
    /// Its entry in the segment of that generation.
    entry: *const object::Prepared,
}

// SAFETY: the pointer is to atomics in a segment, and is only used through a local that keeps that
// segment mapped.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

/// The line in [`object::Prepared::rows`] that counts how it was prepared; the others count executions.
const PREPARING: usize = PREPARED_LINES - 1;

impl Prepared {
    /// A statement that the calling thread's session has prepared. `statement_id` is its number in the
    /// client's protocol, `name` its name in SQL.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn new(statement_id: u64, name: Option<&str>, text: &str) -> Self {
        let Some(local) = local() else {
            return Self::none();
        };
        let view = &local.engine.view;
        let created = local.engine.new_prepared(|entry, index| {
            let cut = floor_boundary(text, view.geometry().limits.sql_text_bytes);
            store_bytes(view.prepared_text(index), &text.as_bytes()[..cut]);
            entry.text_length.store(cut as u32, Ordering::Relaxed);
            entry.name.set(name.unwrap_or_default());
            for (cell, value) in [
                (&entry.statement_id, statement_id),
                (
                    &entry.owner_thread,
                    local.slot.thread_id.load(Ordering::Relaxed),
                ),
                (
                    &entry.owner_event,
                    local.slot.event_id.load(Ordering::Relaxed),
                ),
            ] {
                cell.store(value, Ordering::Relaxed);
            }
            entry.program.store(local.program.get(), Ordering::Relaxed);
        });
        created.map_or_else(Self::none, |(id, entry)| {
            let id = local.key >> 32 << 32 | u64::from(id);
            Self(Payload::of(Entry { id, entry }))
        })
    }

    /// One that is not recorded.
    const fn none() -> Self {
        Self(Payload::of(Entry {
            id: 0,
            entry: ptr::null(),
        }))
    }

    /// Sets its text, if that was unknown at first.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn set_text(&self, text: &str) {
        if let Some(local) = local()
            && let Some(entry) = self.used(local, false).live(local)
        {
            let view = &local.engine.view;
            let cut = floor_boundary(text, view.geometry().limits.sql_text_bytes);
            let index = index_of(entry.id.load(Ordering::Relaxed));
            entry.text_length.store(0, Ordering::Relaxed);
            store_bytes(view.prepared_text(index), &text.as_bytes()[..cut]);
            entry.text_length.store(cut as u32, Ordering::Release);
        }
    }

    /// How a statement of this thread uses it: [`Use::NONE`], if the segment that records now does not
    /// have it.
    #[inline]
    pub(crate) fn used(&self, local: &Local, prepares: bool) -> Use {
        match self.0.get() {
            Some(of) if of.id >> 32 == local.key >> 32 => Use {
                entry: of.entry,
                id: of.id as u32,
                prepares,
            },
            _ => Use::NONE,
        }
    }

    /// The statement was prepared again, because a table has changed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn reprepared(&self) {
        if let Some(local) = local()
            && let Some(entry) = self.used(local, false).live(local)
        {
            entry.rows[PREPARING].add(EXTRA, 1);
        }
    }
}

/// The use of a prepared statement by a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// Its entry in the segment that records the statement; null = none.
    entry: *const object::Prepared,
    /// Its id.
    id: u32,
    /// Whether the statement prepares it, rather than executes it.
    prepares: bool,
}

impl Use {
    /// No use.
    pub const NONE: Self = Self {
        entry: ptr::null(),
        id: 0,
        prepares: false,
    };

    /// Whether there is one.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.id != 0
    }

    /// The entry, unless it has been reused. `local`: of a thread that records into that segment.
    #[inline(always)]
    fn live(self, _local: &Local) -> Option<&object::Prepared> {
        // SAFETY: null, or in the segment that the local keeps.
        let entry = unsafe { self.entry.as_ref() };
        entry.filter(|entry| entry.id.load(Ordering::Relaxed) == self.id)
    }
}

/// Counts a finished statement for the prepared statement that it used. Only the thread of its session
/// writes there.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(crate) fn count(local: &Local, of: Use, ticks: Option<u64>, counted: &StatementCounters) {
    let Some(entry) = of.live(local) else {
        return;
    };
    let line = match of.prepares {
        true => &entry.rows[PREPARING],
        false => &entry.rows[0],
    };
    match ticks {
        Some(ticks) => line.time(ticks),
        None => line.count(),
    }
    if !of.prepares {
        counted.each(|i, cell, n| entry.rows[i].add(cell, n));
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let id = self.id as u32;
        if id != 0 {
            hot::with_engine((self.id >> 32) as u32, |engine| engine.end_prepared(id));
        }
    }
}
