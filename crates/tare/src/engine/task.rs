//! What a session has for the events of tasks (docs/async.md): which statement they are nested in, and the
//! records in which readers see them while they run.

use std::sync::atomic::Ordering;

use tare_layout::event::{Packed, word};
use tare_layout::seqlock::Record;
use tare_layout::slot::{STATEMENT_DEPTH, TASK_STATEMENTS, TASK_WAIT_BIT, TASK_WAITS, WAIT_DEPTH};

use super::hot::local_in;
use super::local::Local;
use super::running::NOW;
use crate::payload::IS_COMPILED_IN;

/// A statement of a task in which others are nested, in one word: bits 16-63 its event id (0 = none), bits
/// 8-15 the depth of a statement that is nested in it, bits 0-7 its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskParent(u64);

impl TaskParent {
    /// The statement with this id, in this record, at this depth.
    #[inline(always)]
    pub fn new(id: u64, level: u8, record: usize) -> Self {
        Self(id << 16 | u64::from(level.saturating_add(1)) << 8 | record as u64)
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Its event id, 0 = none.
    #[inline(always)]
    pub fn id(self) -> u64 {
        self.0 >> 16
    }

    /// The depth of a statement that is nested in it.
    #[inline(always)]
    pub fn level(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Its record.
    #[inline(always)]
    fn record(self) -> usize {
        self.0 as u8 as usize
    }
}

/// The session, or the thread, in which an event of a task began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    /// Generation and slot: see [`Local::key`].
    key: u64,
    /// The thread's id, which no other thread of the segment ever has.
    thread: u64,
}

impl Home {
    /// That of the calling thread.
    #[inline(always)]
    pub fn of(local: &Local) -> Self {
        Self {
            key: local.key,
            thread: local.slot.thread_id.load(Ordering::Relaxed),
        }
    }

    /// The calling thread's local, if Tare still records into the same segment. It may be another one than
    /// that in which the event began.
    #[inline(always)]
    pub fn local<'a>(self) -> Option<&'a Local> {
        if !IS_COMPILED_IN {
            return None;
        }
        let generation = (self.key >> 32) as u32;
        match NOW.generation.load(Ordering::Relaxed) == generation {
            true => local_in(generation),
            false => None,
        }
    }

    /// Whether the local, which is the calling thread's, is the one in which the event began. Then the
    /// calling thread is the only writer of its slot.
    #[inline(always)]
    pub fn is(self, local: &Local) -> bool {
        local.key == self.key && local.slot.thread_id.load(Ordering::Relaxed) == self.thread
    }

    /// Its slot, if it still has one: for what a thread changes there that is not its writer.
    ///
    /// The home may end after this check, and a new thread may take its slot. A change then meets that
    /// thread's record, if this has the same event id (or wait, or time) by chance: event ids begin at 1 in
    /// each thread. Readers do not see the event while it runs then, and the histories lack it. This is
    /// accepted: the home ends, another thread begins and reaches the same number within some nanoseconds,
    /// nothing is counted in records, and a check without this race would cost each event of each task a
    /// lock with the slot's writer.
    pub fn slot_elsewhere(self, local: &Local) -> Option<usize> {
        let number = self.key as u32 as usize;
        let slot = local.engine.view.slot(number);
        (slot.thread_id.load(Ordering::Relaxed) == self.thread).then_some(number)
    }
}

impl Local {
    /// Takes a record for a statement of a task; `None` if all are in use.
    #[inline(always)]
    pub fn take_statement_record(&self) -> Option<usize> {
        let first = (STATEMENT_DEPTH - TASK_STATEMENTS).max(self.statements.get());
        self.take_record(self.rings.open_statements, first, 0)
    }

    /// The same for a wait.
    pub fn take_wait_record(&self) -> Option<usize> {
        let first = (WAIT_DEPTH - TASK_WAITS).max(self.stage.waits.get() as usize);
        self.take_record(&self.slot.waits, first, TASK_WAIT_BIT)
    }

    #[inline(always)]
    fn take_record<const N: usize>(
        &self,
        records: &[Record<N>],
        first: usize,
        bit: u32,
    ) -> Option<usize> {
        let used = self.slot.task_records.load(Ordering::Relaxed);
        let all = (1_u32 << records.len()) - (1_u32 << first.min(records.len()));
        let free = match all & !(used >> bit) {
            0 => removed(records) & all,
            free => free,
        };
        let index = free.checked_ilog2()?;
        let used = used | 1 << (bit + index);
        self.slot.task_records.store(used, Ordering::Relaxed);
        Some(index as usize)
    }

    /// Gives back a record of a statement.
    pub fn give_statement_record(&self, index: usize) {
        self.give_record(index as u32);
    }

    /// The same for a wait.
    pub fn give_wait_record(&self, index: usize) {
        self.give_record(TASK_WAIT_BIT + index as u32);
    }

    fn give_record(&self, bit: u32) {
        let used = self.slot.task_records.load(Ordering::Relaxed) & !(1 << bit);
        self.slot.task_records.store(used, Ordering::Relaxed);
    }

    /// The innermost statement of the task that is polled.
    #[inline(always)]
    pub fn current_task(&self) -> TaskParent {
        let task = self.task.get();
        self.open_task(task, task.id())
    }

    /// A statement of a task has ended, and its record is given back: the statement around it is the
    /// innermost one again.
    #[inline(always)]
    pub fn leave_task_statement(&self, id: u64, parent: TaskParent) {
        if self.task.get().id() == id {
            self.task.set(self.open_task(parent, id));
        }
    }

    /// This statement, if it runs; else the newest one that began before the event `id` and runs.
    #[inline(always)]
    fn open_task(&self, task: TaskParent, id: u64) -> TaskParent {
        match task.is_none() || self.is_open(task) {
            true => task,
            false => self.newest_task(id),
        }
    }

    fn is_open(&self, task: TaskParent) -> bool {
        let record = self.rings.open_statements.get(task.record());
        record.is_some_and(|record| record.word(word::ID) == task.id())
    }

    #[cold]
    fn newest_task(&self, before: u64) -> TaskParent {
        let used = self.slot.task_records.load(Ordering::Relaxed);
        let records = self.rings.open_statements.iter().enumerate();
        records
            .filter(|(i, _)| used & 1 << i != 0)
            .map(|(i, record)| (record.word(word::ID), record.word(word::PACKED), i))
            .filter(|(id, ..)| (1..before).contains(id))
            .map(|(id, packed, i)| TaskParent::new(id, Packed::unpack(packed).level, i))
            .max()
            .unwrap_or_default()
    }
}

/// The bits of records that are 0: what ended outside of its session has only removed its record.
#[cold]
fn removed<const N: usize>(records: &[Record<N>]) -> u32 {
    let ids = records.iter().map(|record| record.word(word::ID));
    let removed = ids.enumerate().filter(|(_, id)| *id == 0);
    removed.fold(0, |bits, (i, _)| bits | 1 << i)
}
