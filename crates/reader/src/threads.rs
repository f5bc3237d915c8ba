//! The live threads, and what each does.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::control::{effective, host, is_instrumented};
use tare_layout::event::{Packed, statement as at, word};
use tare_layout::slot::ring::RINGS;
use tare_layout::slot::{Command, LIVE};
use tare_layout::{View, process};

use crate::active::active_statement;
use crate::classes::text;

/// A live slot at one moment. Numbers refer to [`crate::Names`] and [`crate::Classes`].
#[derive(Clone, Debug)]
pub struct Thread {
    /// Number of its slot.
    pub slot: usize,
    /// Its id, unique in the segment.
    pub id: u64,
    /// Its class.
    pub class: usize,
    /// Its bank.
    pub bank: usize,
    /// Its account, 0 = none.
    pub account: u32,
    /// Its connection, 0 = a background thread.
    pub processlist_id: u64,
    /// The thread that created it, 0 = none.
    pub parent_id: u64,
    /// Its id in the operating system, 0 = unknown.
    pub os_id: u64,
    /// Its process, 0 = that of the segment's header.
    pub process_id: u32,
    /// Number in [`tare_layout::slot::COMMANDS`]; out of its range while the host does not report what
    /// threads do ([`host::THREADS_UNKNOWN`]). Then stage, state and text are unknown, too.
    pub command: usize,
    /// Ticks when that command began.
    pub command_since: u64,
    /// Number in [`tare_layout::slot::CONNECTION_TYPES`].
    pub connection_type: usize,
    /// Its default schema, 0 = none.
    pub schema: u32,
    /// The class of the stage it is in, 0 = none.
    pub stage: usize,
    /// Its state as the host reports it.
    pub state: Option<Arc<str>>,
    /// The text that the host reports; else that of the outermost statement that runs.
    pub info: Option<Arc<str>>,
    /// Its client's attributes: [`pairs`](tare_layout::attributes::pairs).
    pub attributes: Arc<[u8]>,
    /// Whether its events are recorded.
    pub instrumented: bool,
    /// Whether they are stored in histories.
    pub history: bool,
    /// Events ever pushed into each of its rings.
    pub pushed: [u64; RINGS],
    /// Waits open.
    pub wait_depth: usize,
    /// Statements open.
    pub statement_depth: usize,
    /// Which records events of tasks use: see [`Slot::task_records`](tare_layout::slot::Slot::task_records).
    pub task_records: u32,
}

/// How often a slot that changes its thread is read before it is skipped.
const MAX_READS: usize = 16;

/// The live threads, by id.
pub fn threads(view: View<'_>) -> Vec<Thread> {
    let limit = view.geometry().limits.threads;
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let mut threads: Vec<Thread> = (0..used.min(limit))
        .filter_map(|slot| thread(view, slot))
        .collect();
    threads.sort_by_key(|thread| thread.id);
    threads
}

/// The thread in a slot; `None` if there is none, or threads begin and end too fast.
fn thread(view: View<'_>, number: usize) -> Option<Thread> {
    let slot = view.slot(number);
    for _ in 0..MAX_READS {
        if slot.state.load(Ordering::Acquire) != LIVE {
            return None;
        }
        let sequence = slot.sequence.load(Ordering::Acquire);
        let reading = sequence.is_multiple_of(2).then(|| read(view, number));
        fence(Ordering::Acquire);
        let same = slot.sequence.load(Ordering::Relaxed) == sequence;
        if same && slot.state.load(Ordering::Relaxed) == LIVE && reading.is_some() {
            return reading;
        }
        std::hint::spin_loop();
    }
    None
}

fn read(view: View<'_>, number: usize) -> Thread {
    let slot = view.slot(number);
    let mask = view.thread_masks()[number].load(Ordering::Relaxed);
    let control = view.control();
    let is_reported = control.host.load(Ordering::Relaxed) & host::THREADS_UNKNOWN == 0;
    let is_active = control.is_active();
    let reported = |text: String| (is_reported && !text.is_empty()).then(|| text.into());
    let statement_depth = slot.statement_depth.load(Ordering::Relaxed) as usize;
    let task_records = slot.task_records.load(Ordering::Relaxed);
    let id = slot.thread_id.load(Ordering::Relaxed);
    let processlist_id = slot.processlist_id.load(Ordering::Relaxed);
    let running = active_statement(view, number, slot, id);
    // At the level `active` the host reports neither commands nor when they begin.
    let command = match (&running, is_active && processlist_id != 0) {
        (Some(_), _) => Command::Query as usize,
        (None, true) => Command::Sleep as usize,
        (None, false) if is_reported || is_active => slot.command.load(Ordering::Relaxed) as usize,
        (None, false) => usize::MAX,
    };
    let since = match (is_active, slot.activity.began.load(Ordering::Relaxed)) {
        (true, began) if began != 0 => began,
        _ => slot.command_since.load(Ordering::Relaxed),
    };
    Thread {
        slot: number,
        id,
        class: slot.class.load(Ordering::Relaxed) as usize,
        bank: slot.bank.load(Ordering::Relaxed) as usize,
        account: slot.account.load(Ordering::Relaxed),
        processlist_id,
        parent_id: slot.parent_id.load(Ordering::Relaxed),
        os_id: slot.os_id.load(Ordering::Relaxed),
        process_id: process::id(slot.process.load(Ordering::Relaxed)),
        command,
        command_since: since,
        connection_type: slot.connection_type.load(Ordering::Relaxed) as usize,
        schema: slot.schema.load(Ordering::Relaxed),
        stage: match is_reported || is_active {
            true => slot.activity.stage.load(Ordering::Relaxed) as usize,
            false => 0,
        },
        state: reported(text(&slot.state_text)),
        info: reported(text(&slot.info))
            .or_else(|| running.and_then(|one| one.text))
            .or_else(|| running_text(view, number, statement_depth, task_records)),
        attributes: attributes(view, number),
        instrumented: is_instrumented(mask),
        history: mask & effective::HISTORY != 0,
        pushed: std::array::from_fn(|ring| slot.pushed[ring].load(Ordering::Relaxed)),
        wait_depth: slot.wait_depth.load(Ordering::Relaxed) as usize,
        statement_depth,
        task_records,
    }
}

/// The attributes of the slot's client.
fn attributes(view: View<'_>, number: usize) -> Arc<[u8]> {
    let stored = view.attributes(number);
    let mut pairs = vec![0; stored.len()];
    stored.get(&mut pairs).into()
}

/// The text of the outermost statement, while it runs.
fn running_text(view: View<'_>, slot: usize, depth: usize, task_records: u32) -> Option<Arc<str>> {
    let running = match depth {
        0 => task_statements(view, slot, task_records).min_by_key(|words| words[word::ID])?,
        _ => at::read(&view.statements(slot)[0])?,
    };
    if Packed::unpack(running[word::PACKED]).span != 0 {
        return None;
    }
    let length = at::text_bytes(running[at::TEXT_AND_PROGRAM]);
    ring_text(view, slot, running[at::TEXT_AT], length)
}

/// The records of the statements that tasks run in a slot.
pub(crate) fn task_statements(
    view: View<'_>,
    slot: usize,
    task_records: u32,
) -> impl Iterator<Item = [u64; 32]> {
    let records = view.statements(slot).iter().enumerate();
    let used = records.filter(move |(i, _)| task_records & 1 << i != 0);
    used.filter_map(|(_, record)| at::read(record))
}

/// A text of a slot's ring; `None` if newer texts have overwritten it.
pub(crate) fn ring_text(
    view: View<'_>,
    slot: usize,
    position: u64,
    length: usize,
) -> Option<Arc<str>> {
    let ring = view.text_ring(slot);
    let capacity = ring.len() as u64 * 8;
    // The whole text was written, and no newer text has overwritten it.
    let is_there = || {
        let at = view.slot(slot).text_at.load(Ordering::Acquire);
        let end = position.checked_add(length as u64);
        end.is_some_and(|end| end <= at) && at - position <= capacity
    };
    if length == 0 || !is_there() {
        return None;
    }
    let first = (position / 8) as usize;
    let mut bytes = Vec::with_capacity(length + 8);
    for i in 0..length.div_ceil(8) {
        let word = ring[first.wrapping_add(i) % ring.len()].load(Ordering::Relaxed);
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.truncate(length);
    // Pairs with the writer's fence between moving the position on and writing.
    fence(Ordering::Acquire);
    is_there().then(|| String::from_utf8_lossy(&bytes).into())
}
