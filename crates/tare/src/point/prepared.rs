//! Prepared statements: what sessions keep prepared, and what its executions cost.

use std::sync::atomic::Ordering;

use tare_layout::line::EXTRA;
use tare_layout::name::{floor_boundary, store_bytes};
use tare_layout::object::{self, PREPARED_LINES, index_of};

use crate::engine::counted::Counted;
use crate::engine::hot::{self, local};
use crate::engine::local::Local;

/// A prepared statement of a session's: a row of prepared_statements_instances until it is dropped.
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
pub struct Prepared {
    /// Generation (bits 32-63) and id (bits 0-31); 0 = not recorded.
    id: u64,
}

/// The lines of executions, and that of the preparing, in [`object::Prepared::rows`].
const PREPARING: usize = PREPARED_LINES - 1;

impl Prepared {
    /// A statement that the calling thread's session has prepared, by the number that its client
    /// knows it by and, in SQL, its name.
    pub fn new(statement_id: u64, name: Option<&str>, text: &str) -> Self {
        let Some(local) = local() else {
            return Self { id: 0 };
        };
        let view = &local.engine.view;
        let made = local.engine.new_prepared(|entry, index| {
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
        let id = made.map_or(0, |(id, _)| local.key >> 32 << 32 | u64::from(id));
        Self { id }
    }

    /// Says what its text is, where that was not known at first.
    pub fn set_text(&self, text: &str) {
        let Some(local) = local() else { return };
        let id = self.id(local);
        if let Some(entry) = live(local, id) {
            let view = &local.engine.view;
            let cut = floor_boundary(text, view.geometry().limits.sql_text_bytes);
            entry.text_length.store(0, Ordering::Relaxed);
            store_bytes(view.prepared_text(index_of(id)), &text.as_bytes()[..cut]);
            entry.text_length.store(cut as u32, Ordering::Release);
        }
    }

    /// Its id in the segment that records now, 0 = it is not there.
    #[inline]
    pub(crate) fn id(&self, local: &Local) -> u32 {
        match self.id >> 32 == local.key >> 32 {
            true => self.id as u32,
            false => 0,
        }
    }

    /// It was prepared anew, because a table has changed.
    pub fn reprepared(&self) {
        if let Some(local) = local()
            && let Some(entry) = live(local, self.id(local))
        {
            entry.rows[PREPARING].add(EXTRA, 1);
        }
    }
}

fn live(local: &Local, id: u32) -> Option<&'static object::Prepared> {
    if id == 0 {
        return None;
    }
    let entry = local.engine.view.prepared(index_of(id));
    (entry.id.load(Ordering::Relaxed) == id).then_some(entry)
}

/// What a statement does with a prepared one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Its id, 0 = there is none.
    pub id: u32,
    /// It prepares it.
    pub prepares: bool,
}

/// Counts a statement that ended for the prepared one that it was about. Its session is its only
/// writer.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(crate) fn count(local: &Local, of: Use, ticks: Option<u64>, counted: &Counted) {
    let Some(entry) = live(local, of.id) else {
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

impl Drop for Prepared {
    fn drop(&mut self) {
        let id = self.id as u32;
        if id != 0 {
            hot::with_engine((self.id >> 32) as u32, |engine| engine.end_prepared(id));
        }
    }
}
