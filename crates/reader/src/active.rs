//! Threads that run a statement or wait. They are read often, so of an idle thread only two cache lines are read.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::activity::{self, Waiting};
use tare_layout::event::{self, Operation, statement as at, word};
use tare_layout::name::load_bytes;
use tare_layout::object::target;
use tare_layout::primitive::AtomicU64;
use tare_layout::slot::{LIVE, STATEMENT_DEPTH, Slot, TASK_WAIT_BIT, WAIT_DEPTH};
use tare_layout::source::split;
use tare_layout::traceparent::{MAX_BYTES, Traceparent};
use tare_layout::{View, process};

use crate::events::{Head, Wait};
use crate::threads::{ring_text, task_statements};

/// A thread that runs a statement or waits. Numbers refer to [`crate::Names`] and [`crate::Classes`].
#[derive(Clone, Debug)]
pub struct ActiveThread {
    /// Number of its slot.
    pub slot: usize,
    /// Its id.
    pub id: u64,
    /// Its class.
    pub class: usize,
    /// Its account, 0 = none.
    pub account: u32,
    /// Its connection, 0 = a background thread.
    pub processlist_id: u64,
    /// Its id in the operating system, 0 = unknown. Of a session that an event loop serves: that of the loop.
    pub os_id: u64,
    /// Its process, 0 = that of the segment's header.
    pub process_id: u32,
    /// Number in [`tare_layout::slot::COMMANDS`].
    pub command: usize,
    /// Its default schema, 0 = none.
    pub schema: u32,
    /// The innermost statement that runs.
    pub statement: Option<RunningStatement>,
    /// The class of its stage, 0 = none.
    pub stage: usize,
    /// Its wait: that for a metadata lock if there is one, else the innermost open wait. (A thread that waits
    /// for a lock sleeps on a condition inside that wait; the lock is more informative.)
    pub wait: Option<Wait>,
    /// The address in the host of the lock that it waits for, 0 = unknown; at the level `active`.
    pub lock_address: u64,
    /// The file that its wait is for, where the segment has no more than its descriptor: set by
    /// [`Scheduler::observe`](crate::scheduler::Scheduler::observe).
    pub file: Option<Arc<str>>,
    /// The `traceparent` of its client's request.
    pub traceparent: Option<Arc<str>>,
    /// If it is a session that an event loop serves: the slot of the loop's thread.
    pub loop_slot: Option<usize>,
}

/// A statement that runs.
#[derive(Clone, Debug)]
pub struct RunningStatement {
    /// What all events have.
    pub head: Head,
    /// Its digest, and the generation of the digest table that has the digest; 0 = none yet.
    pub digest: (u32, u32),
    /// Its text.
    pub text: Option<Arc<str>>,
    /// The text of the client's statement, if this one is nested in it. At the level `active` it is not recorded.
    pub outer_text: Option<Arc<str>>,
    /// Whether its text was longer.
    pub is_cut: bool,
}

/// An event loop, and the session that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The session's id.
    pub session: u64,
    /// Ticks when the loop's poll returned, 0 = unknown.
    pub since: u64,
    /// The slot of the loop's thread.
    pub slot: usize,
}

/// All threads at one moment.
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// The number of live threads.
    pub threads: usize,
    /// Those that run a statement or wait.
    pub active: Vec<ActiveThread>,
    /// The sessions that event loops serve.
    pub served: Vec<Served>,
}

/// How often a slot that changes its thread is read before it is skipped.
const MAX_READS: usize = 4;

/// The number of live threads, and the active ones.
pub fn active_threads(view: View<'_>) -> Population {
    let limit = view.geometry().limits.threads;
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let mut population = Population::default();
    for number in 0..used.min(limit) {
        let slot = view.slot(number);
        if slot.state.load(Ordering::Acquire) != LIVE {
            continue;
        }
        population.threads += 1;
        // Pairs with the store after that of the time.
        let served = slot.activity.served.load(Ordering::Acquire);
        if served != 0 {
            population.served.push(Served {
                session: served,
                since: slot.activity.served_since.load(Ordering::Relaxed),
                slot: number,
            });
        }
        let open = |depth: &tare_layout::primitive::AtomicU32| depth.load(Ordering::Relaxed) != 0;
        let runs = open(&slot.activity.statement);
        let is_nested = open(&slot.statement_depth) || open(&slot.wait_depth);
        if runs || is_nested || open(&slot.task_records) {
            population.active.extend(read_stable(view, number, slot));
        }
    }
    population.assign_loops(view);
    population
}

impl Population {
    /// What the thread of an event loop does, the session does that it serves.
    fn assign_loops(&mut self, view: View<'_>) {
        for served in &self.served {
            let mut active = self.active.iter_mut();
            let session = active.find(|thread| thread.id == served.session);
            if session.is_some_and(|session| session.assign_loop(view, served.slot)) {
                // Its wait is the session's.
                let is_loop = |thread: &ActiveThread| thread.slot == served.slot;
                self.active
                    .retain(|thread| !is_loop(thread) || thread.statement.is_some());
            }
        }
    }
}

/// The thread in a slot, active or not.
pub(crate) fn thread_at(view: View<'_>, number: usize) -> Option<ActiveThread> {
    let slot = view.slot(number);
    let sequence = slot.sequence.load(Ordering::Acquire);
    let thread = sequence.is_multiple_of(2).then(|| read(view, number, slot));
    fence(Ordering::Acquire);
    thread.filter(|_| slot.sequence.load(Ordering::Relaxed) == sequence)
}

/// The thread in a slot, if it is active.
pub fn active_thread(view: View<'_>, number: usize) -> Option<ActiveThread> {
    let slot = view.slot(number);
    let is_live = slot.state.load(Ordering::Acquire) == LIVE;
    is_live.then(|| read_stable(view, number, slot)).flatten()
}

impl ActiveThread {
    /// If the event loop whose thread is in this slot serves this session, and no other thread works for it, the session
    /// does what that thread does. False: nothing was changed.
    fn assign_loop(&mut self, view: View<'_>, number: usize) -> bool {
        let slot = view.slot(number);
        let served = || slot.activity.served.load(Ordering::Relaxed);
        if self.os_id != 0 || served() != self.id {
            return false;
        }
        let id = slot.thread_id.load(Ordering::Relaxed);
        let (active, address) = active_wait(slot, id).unzip();
        let wait = active.or_else(|| wait(slot, id));
        fence(Ordering::Acquire);
        if served() != self.id {
            return false;
        }
        self.os_id = slot.os_id.load(Ordering::Relaxed);
        self.process_id = process::id(slot.process.load(Ordering::Relaxed));
        if self.wait.is_none() {
            (self.wait, self.lock_address) = (wait, address.unwrap_or(0));
        }
        self.loop_slot = Some(number);
        true
    }

    /// The same thread, read again, if it is still active.
    pub(crate) fn read_again(&self, view: View<'_>) -> Option<Self> {
        let mut now = active_thread(view, self.slot).filter(|now| now.id == self.id)?;
        if let Some(number) = self.loop_slot {
            now.assign_loop(view, number);
        }
        Some(now)
    }

    /// Whether the thread did something else when `before` was read.
    pub fn is_further_than(&self, before: &Self) -> bool {
        let statement = |thread: &Self| {
            let running = thread.statement.as_ref();
            running.map(|running| (running.head.class, running.head.id, running.head.start))
        };
        let wait =
            |thread: &Self| (thread.wait).map(|wait| (wait.head.class, wait.head.id, wait.object));
        (statement(self), wait(self), self.stage, self.lock_address)
            != (
                statement(before),
                wait(before),
                before.stage,
                before.lock_address,
            )
    }
}

/// Reads the thread in a slot; `None` if it is no longer active.
fn read_stable(view: View<'_>, number: usize, slot: &Slot) -> Option<ActiveThread> {
    for _ in 0..MAX_READS {
        let sequence = slot.sequence.load(Ordering::Acquire);
        let reading = sequence.is_multiple_of(2).then(|| read(view, number, slot));
        fence(Ordering::Acquire);
        if slot.sequence.load(Ordering::Relaxed) == sequence
            && let Some(active) = reading
        {
            let is_active = active.statement.is_some() || active.wait.is_some();
            return is_active.then_some(active);
        }
        std::hint::spin_loop();
    }
    None
}

fn read(view: View<'_>, number: usize, slot: &Slot) -> ActiveThread {
    let id = slot.thread_id.load(Ordering::Relaxed);
    let traceparent = view.traceparent(number);
    let sequence = traceparent.sequence();
    let active = active_statement(view, number, slot, id);
    let (active_wait, lock_address) = match active {
        Some(_) => active_wait(slot, id).unzip(),
        None => (None, None),
    };
    ActiveThread {
        slot: number,
        id,
        class: slot.class.load(Ordering::Relaxed) as usize,
        account: slot.account.load(Ordering::Relaxed),
        processlist_id: slot.processlist_id.load(Ordering::Relaxed),
        os_id: slot.os_id.load(Ordering::Relaxed),
        process_id: process::id(slot.process.load(Ordering::Relaxed)),
        command: slot.command.load(Ordering::Relaxed) as usize,
        schema: slot.schema.load(Ordering::Relaxed),
        statement: active.or_else(|| statement(view, number, slot, id)),
        stage: slot.activity.stage.load(Ordering::Relaxed) as usize,
        wait: active_wait.or_else(|| wait(slot, id)),
        lock_address: lock_address.unwrap_or(0),
        file: None,
        loop_slot: None,
        // Last: it is that of the statement if it has not changed since.
        traceparent: read_traceparent(traceparent, sequence),
    }
}

/// The text of this number; `None`: there is none, or it has changed.
fn read_traceparent(place: Traceparent<'_>, sequence: u32) -> Option<Arc<str>> {
    let mut bytes = [0; MAX_BYTES];
    let text = place.get(sequence, &mut bytes)?;
    let text = std::str::from_utf8(text).ok();
    text.filter(|text| !text.is_empty()).map(Into::into)
}

/// The statement in the thread's line: the innermost one that began at the level `active`.
pub(crate) fn active_statement(
    view: View<'_>,
    number: usize,
    slot: &Slot,
    thread: u64,
) -> Option<RunningStatement> {
    if slot.activity.statement.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let area = view.active_text(number);
    // Without text and time, if the line is being changed, or was when its writer died: they may be of two
    // statements.
    let (statement, text) = match slot.activity.read(|statement| area_text(area, statement)) {
        Some((statement, text)) => (statement, text),
        None => {
            let torn = slot.activity.statement();
            (activity::Statement { began: 0, ..torn }, None)
        }
    };
    (statement.class != 0).then(|| RunningStatement {
        head: Head {
            start: (statement.began != 0).then_some(statement.began),
            level: statement
                .depth
                .saturating_sub(1)
                .min(STATEMENT_DEPTH as u32) as u8,
            ..Head::of_running(thread, statement.class as usize)
        },
        digest: (0, 0),
        text: text.filter(|text| !text.is_empty()).map(Into::into),
        outer_text: None,
        is_cut: statement.text_bytes & activity::TRUNCATED != 0,
    })
}

/// A text in the area of the slot; `None` if it is not within.
fn area_text(area: &[AtomicU64], statement: &activity::Statement) -> Option<String> {
    let (first, length) = (statement.text_at as usize / 8, statement.text_bytes());
    let words = area.get(first..)?.get(..length.div_ceil(8))?;
    let mut bytes = vec![0; length];
    load_bytes(words, &mut bytes);
    // The host stores the bytes as they came, cut anywhere.
    let complete = match std::str::from_utf8(&bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => length,
    };
    Some(String::from_utf8_lossy(&bytes[..complete]).into_owned())
}

/// The wait in the thread's line, and the address of its lock.
fn active_wait(slot: &Slot, thread: u64) -> Option<(Wait, u64)> {
    let waiting = Waiting::unpack(slot.activity.wait.load(Ordering::Relaxed))?;
    let wait = Wait {
        head: Head::of_running(thread, usize::from(waiting.class)),
        operation: Operation::from_u8(waiting.operation),
        object: waiting.object,
        bytes: None,
    };
    Some((wait, waiting.address))
}

/// The thread's innermost statement that has not ended.
fn statement(view: View<'_>, number: usize, slot: &Slot, id: u64) -> Option<RunningStatement> {
    let depth = slot.statement_depth.load(Ordering::Relaxed) as usize;
    let words = match depth.min(STATEMENT_DEPTH).checked_sub(1) {
        Some(innermost) => at::read(&view.statements(number)[innermost])?,
        None => {
            let task_records = slot.task_records.load(Ordering::Relaxed);
            task_statements(view, number, task_records).max_by_key(|words| words[word::ID])?
        }
    };
    let head = Head::of(&words);
    if head.end_id.is_some() || split(words[word::THREAD]).0 != id {
        return None;
    }
    let digest = (words[at::DIGEST] as u32, (words[at::DIGEST] >> 32) as u32);
    let text_of = |words: &[u64]| {
        let length = at::text_bytes(words[at::TEXT_AND_PROGRAM]);
        ring_text(view, number, words[at::TEXT_AT], length)
    };
    let outermost = || at::read(&view.statements(number)[0]);
    let outer = (depth > 1).then(outermost).flatten();
    let outer = outer.filter(|words| split(words[word::THREAD]).0 == id);
    Some(RunningStatement {
        head,
        digest,
        text: text_of(&words),
        outer_text: outer.and_then(|words| text_of(&words)),
        is_cut: words[at::TEXT_AND_PROGRAM] & at::TRUNCATED != 0,
    })
}

fn wait(slot: &Slot, id: u64) -> Option<Wait> {
    let depth = (slot.wait_depth.load(Ordering::Relaxed) as usize).min(WAIT_DEPTH);
    let is_lock = |wait: &Wait| target::of(wait.object) == target::METADATA_LOCK;
    let of_tasks = slot.task_records.load(Ordering::Relaxed) >> TASK_WAIT_BIT;
    let used = of_tasks | ((1 << depth) - 1);
    let records = slot.waits.iter().enumerate();
    let used = records.filter(|(i, _)| used & 1 << i != 0);
    let open = used.filter_map(|(_, record)| {
        let words = record.read()?;
        let head = Head::of(&words);
        let bytes = words[event::wait::BYTES];
        let is_open = head.end_id.is_none() && split(words[word::THREAD]).0 == id;
        is_open.then(|| Wait {
            operation: Operation::from_u8(head.operation),
            object: words[event::wait::OBJECT],
            bytes: (bytes != event::wait::NO_BYTES).then_some(bytes),
            head,
        })
    });
    open.reduce(|outer, inner| if is_lock(&outer) { outer } else { inner })
}
