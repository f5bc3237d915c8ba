//! What a session has for the events of tasks (docs/async.md): which statement they are nested in, and the
//! records in which readers see them while they run.

use std::sync::atomic::Ordering;

use tare_layout::event::{Packed, word};
use tare_layout::seqlock::Record;
use tare_layout::slot::{STATEMENT_DEPTH, TASK_STATEMENTS, TASK_WAIT_BIT, TASK_WAITS, WAIT_DEPTH};

use super::hot::local_in;
use super::local::Local;
use super::running::NOW;

/// A statement of a task in which others are nested.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TaskParent {
    /// Its event id, 0 = none.
    pub id: u64,
    /// The depth of a statement that is nested in it.
    pub level: u8,
    /// Its record.
    pub record: u8,
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
    pub fn slot_elsewhere(self, local: &Local) -> Option<usize> {
        let number = self.key as u32 as usize;
        let slot = local.engine.view.slot(number);
        (slot.thread_id.load(Ordering::Relaxed) == self.thread).then_some(number)
    }
}

impl Local {
    /// Takes a record for a statement of a task; `None` if all are in use.
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
            // What ended outside of its session has only removed its record.
            0 => (first..records.len())
                .filter(|i| records[*i].word(word::ID) == 0)
                .fold(0, |free, i| free | 1 << i),
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
    pub fn current_task(&self) -> TaskParent {
        let task = self.task.get();
        self.open_task(task, task.id)
    }

    /// A statement of a task has ended, and its record is given back: the statement around it is the
    /// innermost one again.
    pub fn leave_task_statement(&self, id: u64, parent: TaskParent) {
        if self.task.get().id == id {
            self.task.set(self.open_task(parent, id));
        }
    }

    /// This statement, if it runs; else the newest one that began before the event `id` and runs.
    fn open_task(&self, task: TaskParent, id: u64) -> TaskParent {
        let records = self.rings.open_statements;
        match task.id {
            0 => task,
            open if records[usize::from(task.record)].word(word::ID) == open => task,
            _ => self.newest_task(id),
        }
    }

    #[cold]
    fn newest_task(&self, before: u64) -> TaskParent {
        let used = self.slot.task_records.load(Ordering::Relaxed);
        let records = self.rings.open_statements.iter().enumerate();
        records
            .filter(|(i, _)| used & 1 << i != 0)
            .map(|(i, record)| TaskParent {
                id: record.word(word::ID),
                level: Packed::unpack(record.word(word::PACKED))
                    .level
                    .saturating_add(1),
                record: i as u8,
            })
            .filter(|open| open.id < before)
            .max_by_key(|open| open.id)
            .unwrap_or_default()
    }
}
