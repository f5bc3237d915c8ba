//! A thread's data about its slot and bank, and how a point counts into them.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use tare_layout::activity;
use tare_layout::bank::{Bank, awake_line_of};
use tare_layout::class::{EventType, Kind};
use tare_layout::control::{effective, is_cpu_timed};
use tare_layout::event::{self, Nesting, Packed, word};
use tare_layout::histogram::LIMIT;
use tare_layout::instance::Socket;
use tare_layout::line::Line;
use tare_layout::primitive::bump;
use tare_layout::seqlock::Record;
use tare_layout::shared::Lost;
use tare_layout::slot::{STATEMENT_DEPTH, Slot, ring};

use super::account::Account;
use super::clock;
use super::counted::StatementCounters;
use super::digest_cache::DigestCache;
use super::history::Cursor;
use super::open_stage::OpenStage;
use super::pending::Pending;
use super::source_index::Entry;
use super::state::Engine;
use super::task::TaskParent;
use crate::class::Class;
use crate::number::NO_NUMBER;

/// A thread's data about its slot. Reached through `hot`, or owned by a session. The fields that every
/// event reads come first, in two cache lines.
#[repr(C, align(64))]
pub(crate) struct Local {
    /// Generation (bits 32-63) and slot (bits 0-31): by it a guard recognises the local that it belongs
    /// to.
    pub key: u64,
    /// Effective bytes by class.
    pub(super) effective: *const AtomicU8,
    /// This thread's mask for them.
    pub(super) mask: *const AtomicU8,
    /// The bank's class index.
    pub(super) index: Cell<*const AtomicU16>,
    /// The bank's arena; null as long as there is no bank.
    pub(super) arena: Cell<*const Line>,
    /// The slot.
    pub slot: &'static Slot,
    /// The clock at the end of an idle time, a statement or a send, or at the start of a statement,
    /// until the thread has another event; 0 = unknown. A statement begins at the end of the idle time
    /// before it, its first stage at its start, the send of its result at its end (if the host says
    /// so), and an idle time at the end of either: one clock read for each pair.
    pub edge: Cell<u64>,
    /// The weight of the running stage, if its flags have [`effective::WEIGHED`].
    pub stage_weight: Cell<u16>,
    /// Times wait for their histograms, see [`super::pending`].
    pub defers_times: Cell<bool>,

    /// The running stage.
    pub stage: OpenStage,
    /// Number of open statements.
    pub statements: Cell<usize>,
    /// The edge that an idle time left: a statement begins when its request arrived. The time before is
    /// the client's, if idle times are not recorded.
    pub idle_end: Cell<u64>,
    /// Event id of the open transaction, 0 = none.
    pub transaction_id: Cell<u64>,
    /// Number of the default schema.
    pub schema: Cell<u32>,
    /// Id of the running program, 0 = none.
    pub program: Cell<u32>,
    /// This thread's cache of free metadata locks: the first + 1.
    pub metadata_locks: Cell<u32>,
    /// Number of locks in the cache.
    pub metadata_locks_cached: Cell<u16>,
    /// Number of locks that it has marked as held. If it is 0, releasing a lock looks up no row.
    pub marked_locks: Cell<u16>,

    /// The mask of effective flags for each object.
    pub(super) object_masks: &'static [AtomicU8],
    /// All sockets.
    pub(super) sockets: &'static [Socket],
    /// The bank's fixed part.
    pub bank: Cell<&'static Bank>,
    /// Number of the bank. [`Local::has_bank`] reads it.
    pub bank_number: Cell<usize>,
    /// The version of the settings, see [`Control::version`](tare_layout::control::Control::version).
    pub(super) settings: *const AtomicU64,
    /// The number of changes of settings.
    pub(super) changes: *const AtomicU32,
    /// The version when an edge was last read. It has changed: points between may have been off, so that
    /// the thread's edge is not where its next event begins.
    pub(super) edge_version: Cell<u64>,
    /// Keeps the segment mapped; everything above points into it. Dropped explicitly, because the local
    /// outlives the thread.
    pub engine: ManuallyDrop<Arc<Engine>>,
    /// Its history rings and text ring.
    pub rings: Rings,
    /// The next position in each ring.
    pub cursors: [Cursor; ring::RINGS],
    /// The single-statement transaction.
    pub autocommit: AutocommitTransaction,
    /// The clock when the thread first noticed the present settings: other events do not share the start of
    /// a statement or stage that began before.
    pub(super) settings_from: Cell<u64>,
    /// See [`stage::forget_missed`](crate::stage::forget_missed).
    pub resumes: Cell<u32>,
    /// The index of the places in the host's source.
    pub(super) sources: *const Entry,
    /// Which metrics are gathered.
    pub(super) metric_flags: *const AtomicU8,
    /// The slot's row of metrics.
    pub(super) metric_row: *const AtomicU64,
    /// `state_text`, `info`, `attributes` or `traceparent` of the slot were written.
    pub has_texts: Cell<bool>,
    /// The account.
    pub account: Cell<Account>,
    /// The session has no account yet: earlier counts are for the account that it will get.
    pub awaits_account: Cell<bool>,
    /// Times that are not in histograms yet.
    pub(super) pending: Pending,
    /// The innermost statement of the task that is polled.
    pub task: Cell<TaskParent>,
    /// Event ids of the open statements.
    pub statement_ids: [Cell<u64>; STATEMENT_DEPTH],
    /// When each of them began, 0 = not timed.
    pub statement_starts: [Cell<u64>; STATEMENT_DEPTH],
    /// Counters of the open statements. Here and not in the guard, which is moved.
    pub counted: [StatementCounters; STATEMENT_DEPTH],
    /// The thread's CPU time when each began, in nanoseconds, for those that have OTHER_CLOCK; 0 = not
    /// measured.
    pub statement_cpu: [Cell<u64>; STATEMENT_DEPTH],
    /// At the level `active`: the statement around each of them, if it began at that level.
    pub outer_statements: [Cell<activity::Statement>; STATEMENT_DEPTH],
    /// Digests of the last texts.
    pub digests: UnsafeCell<DigestCache>,
}

const _: () = assert!(std::mem::offset_of!(Local, object_masks) == 2 * 64);

/// The rings of a slot, and history_long, in one place since the thread attached.
pub(crate) struct Rings {
    pub waits: &'static [event::Wait],
    pub stages: &'static [event::Stage],
    pub statements: &'static [event::Statement],
    pub open_statements: &'static [event::Statement],
    pub transactions: &'static [event::Transaction],
    pub text: &'static [AtomicU64],
    pub active_text: &'static [AtomicU64],
    /// Bytes of a text that are stored there.
    pub active_text_bytes: usize,
    pub long_waits: &'static [event::Wait],
    pub long_stages: &'static [event::Stage],
}

/// A transaction that is a single statement, and ends with it.
#[derive(Default)]
pub(crate) struct AutocommitTransaction {
    /// Number of open statements while its own runs, 0 = there is no such transaction.
    pub depth: Cell<usize>,
    /// The transaction.
    pub open: Cell<Open>,
}

/// The state of an open transaction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Open {
    pub start: u64,
    /// Event id, 0 = none.
    pub id: u64,
    pub class: u16,
    pub bits: u8,
    pub read_only: bool,
    /// Its weight.
    pub weight: u16,
}

impl Local {
    /// The slot's number.
    #[inline(always)]
    pub fn slot_number(&self) -> usize {
        self.key as u32 as usize
    }

    /// `threads.INSTRUMENTED` and `HISTORY`.
    pub fn instrument(&self, instrumented: bool, history: bool) {
        self.engine
            .set_mask(self.slot_number(), instrumented, history);
        self.forget_edges(self.edge_version.get());
    }

    /// The key of an event of this weight: [`Self::key`] with the weight in bits 16-31, which slot
    /// numbers do not use. An event of weight 1 has the plain key.
    pub fn weighed_key(&self, weight: u16) -> u64 {
        self.key | u64::from(weight) << 16
    }

    /// The weight in a key; `None` if it is not of this thread and engine.
    pub fn weight_of(&self, key: u64) -> Option<u16> {
        (key & !0xffff_0000 == self.key).then_some((key >> 16) as u16)
    }

    /// The number of changes of settings.
    #[inline(always)]
    pub fn changes(&self) -> u32 {
        // SAFETY: in the segment that `engine` keeps mapped.
        unsafe { (*self.changes).load(Ordering::Relaxed) }
    }

    /// The class's number; registers it if necessary.
    #[inline(always)]
    pub fn number(&self, class: &Class) -> u16 {
        match class.number.get((self.key >> 32) as u32) {
            Some(number) => number,
            None => self.register(class),
        }
    }

    #[cold]
    #[inline(never)]
    fn register(&self, class: &Class) -> u16 {
        self.begin_creation()
            .map_or(NO_NUMBER, |_creation| self.engine.register(class))
    }

    /// The effective flags of a class, by number.
    #[inline(always)]
    pub fn bits(&self, class: u16) -> u8 {
        // SAFETY: class numbers are below the limit of classes, which is the array's length; the
        // mask is this slot's. Both lie in the segment that `engine` keeps mapped.
        unsafe {
            (*self.effective.add(usize::from(class))).load(Ordering::Relaxed)
                & (*self.mask).load(Ordering::Relaxed)
        }
    }

    /// The thread's mask of effective flags.
    pub fn thread_mask(&self) -> u8 {
        // SAFETY: as in `bits`.
        unsafe { (*self.mask).load(Ordering::Relaxed) }
    }

    /// Line `i` of the class's row; `i` is below its kind's number of lines.
    #[inline(always)]
    pub fn row(&self, class: u16, i: usize) -> Option<&Line> {
        // SAFETY: as in `bits`, for the bank's class index.
        let entry = unsafe { (*self.index.get().add(usize::from(class))).load(Ordering::Relaxed) };
        match awake_line_of(entry) {
            0 => self.row_slow(class, i),
            at => Some(self.line(at + i)),
        }
    }

    /// The first line of the class's row, if this thread has counted there before.
    #[inline(always)]
    pub fn existing_row(&self, class: u16) -> Option<&Line> {
        self.existing_line(class, 0)
    }

    /// The same of line `i`, which is below its kind's number of lines.
    #[inline(always)]
    pub fn existing_line(&self, class: u16, i: usize) -> Option<&Line> {
        // SAFETY: as in `row`.
        let entry = unsafe { (*self.index.get().add(usize::from(class))).load(Ordering::Relaxed) };
        let at = awake_line_of(entry);
        (at != 0).then(|| self.line(at + i))
    }

    /// The four lines of a statement class's row.
    #[inline(always)]
    pub fn complete_row(&self, class: u16) -> Option<&[Line; 4]> {
        const { assert!(Kind::Statement.row_lines() == 4) };
        let first = self.row(class, 0)?;
        // SAFETY: a statement's row has four consecutive lines in the arena. The class was checked to
        // be a statement's when the statement began and when it was refined.
        Some(unsafe { &*std::ptr::from_ref(first).cast() })
    }

    #[cold]
    #[inline(never)]
    fn row_slow(&self, class: u16, i: usize) -> Option<&Line> {
        if class == NO_NUMBER {
            self.engine.lose(Lost::ClassEvents, 1);
            return None;
        }
        let _creation = self.begin_creation()?;
        self.ensure_bank()?;
        let at = self.engine.awaken(self.bank_number.get(), class)?;
        Some(self.line(at + i))
    }

    /// Line `i` of the bank's arena.
    #[inline(always)]
    pub(super) fn line(&self, i: usize) -> &Line {
        // SAFETY: `i` comes from an index of the bank, whose entries `new_item` created within the
        // arena, or is a line of the same item behind it.
        unsafe { &*self.arena.get().add(i) }
    }

    /// The next event id.
    #[inline(always)]
    pub fn next_event_id(&self) -> u64 {
        let id = self.slot.event_id.load(Ordering::Relaxed) + 1;
        bump(&self.slot.event_id, 1);
        id
    }

    /// The id that the next event will have: by it MySQL says when a thread requested a lock.
    #[inline(always)]
    pub fn upcoming_event_id(&self) -> u64 {
        self.slot.event_id.load(Ordering::Relaxed) + 1
    }

    /// Adds the end to an event's packed word: the newest id minus its own, plus one.
    #[inline(always)]
    pub fn ended(&self, packed: u64, id: u64) -> u64 {
        let span = self.slot.event_id.load(Ordering::Relaxed) - id + 1;
        packed | span.min(u64::from(tare_layout::event::MAX_SPAN)) << 40
    }

    /// The event in which an event that begins now is nested, other than a wait.
    #[inline(always)]
    pub fn nesting(&self) -> (u64, Nesting) {
        match self.stage.id.get() {
            0 => self.nesting_of_stage(),
            id => (id, Nesting::Stage),
        }
    }

    /// The event in which a stage that begins now is nested.
    #[inline(always)]
    pub fn nesting_of_stage(&self) -> (u64, Nesting) {
        match self.statements.get() {
            0 => self.nesting_of_statement(),
            n => (
                self.statement_ids[n.min(STATEMENT_DEPTH) - 1].get(),
                Nesting::Statement,
            ),
        }
    }

    /// The event in which the outermost statement is nested.
    #[inline(always)]
    pub fn nesting_of_statement(&self) -> (u64, Nesting) {
        match self.transaction_id.get() {
            _ if !self.task.get().is_none() => self.nesting_in_task(),
            0 => (0, Nesting::None),
            id => (id, Nesting::Transaction),
        }
    }

    /// The same in a task's statement: of that and a transaction, the one that began later is the inner one.
    #[cold]
    #[inline(never)]
    fn nesting_in_task(&self) -> (u64, Nesting) {
        match (self.transaction_id.get(), self.task.get().id()) {
            (transaction, task) if transaction > task => (transaction, Nesting::Transaction),
            (_, task) => (task, Nesting::Statement),
        }
    }

    /// Now, by the clock of this class's event type.
    #[inline(always)]
    pub fn clock(&self, bits: u8, event_type: EventType) -> u64 {
        if bits & effective::OTHER_CLOCK == 0 {
            return clock::cycles();
        }
        self.other_clock(event_type)
    }

    /// The thread's CPU time in nanoseconds, if statements record it; else 0.
    #[cold]
    #[inline(never)]
    pub fn cpu_of_statement(&self) -> u64 {
        let consumers = self.engine.view.control().consumers.load(Ordering::Relaxed);
        match is_cpu_timed(consumers) {
            true => clock::thread_cpu_ns(),
            false => 0,
        }
    }

    #[cold]
    #[inline(never)]
    fn other_clock(&self, event_type: EventType) -> u64 {
        let timers = &self.engine.view.control().timers;
        clock::read_other(timers[event_type as usize].load(Ordering::Relaxed))
    }

    /// The word that an event stores as its end. `now` = 0: it is not timed, and the word is the number
    /// of truncations so far, by which TRUNCATE distinguishes it from later events.
    #[inline(always)]
    pub fn end_word<const N: usize>(&self, record: &Record<N>, now: u64) -> u64 {
        match now {
            0 => self.end_untimed(record.word(word::START)),
            now => now,
        }
    }

    /// Copies an ended event to the histories that its flags name. `long` returns a record of history_long.
    #[inline(always)]
    pub fn store_event<'a, const N: usize>(
        &self,
        ring: usize,
        record: &Record<N>,
        bits: u8,
        history: &[Record<N>],
        long: impl FnOnce(usize) -> &'a Record<N>,
    ) {
        if bits & (effective::HISTORY | effective::LONG) == 0 {
            return;
        }
        let cursor = &self.cursors[ring];
        if bits & effective::HISTORY != 0 {
            let place = cursor.next_place(self.slot, ring, history.len());
            history[place].publish_copy(record);
        }
        if bits & effective::LONG != 0 {
            let place = cursor.next_long(&self.engine, self.slot_number(), ring);
            long(place).publish_copy(record);
        }
    }

    #[inline(never)]
    fn end_untimed(&self, start: u64) -> u64 {
        match start {
            0 => {
                let control = self.engine.view.control();
                u64::from(control.truncations.load(Ordering::Relaxed))
            }
            // The event was timed when it began.
            _ => 0,
        }
    }

    /// Whether an event with this start and end is timed: not if `setup_timers` was changed meanwhile
    /// to or from THREAD_CPU, which has another zero.
    #[inline(always)]
    pub fn is_timed(&self, bits: u8, start: u64, end: u64) -> bool {
        if bits & effective::OTHER_CLOCK == 0 {
            return bits & effective::TIME != 0;
        }
        bits & effective::TIME != 0 && self.is_same_timer(start, end)
    }

    /// The flags of an event by another clock, without TIME if [`Local::is_timed`] is false.
    #[cold]
    #[inline(never)]
    pub fn bits_at_end(&self, bits: u8, start: u64, end: u64) -> u8 {
        match self.is_timed(bits, start, end) {
            true => bits,
            false => bits & !effective::TIME,
        }
    }

    #[cold]
    #[inline(never)]
    fn is_same_timer(&self, start: u64, end: u64) -> bool {
        let same = clock::is_thread_cpu(start) == clock::is_thread_cpu(end);
        if !same {
            self.engine.lose(Lost::TimerChanges, 1);
        }
        same
    }

    /// The ticks from `start` to `end`. A clock that ran backwards (or decades forwards) gives 0 and is
    /// counted.
    #[inline(always)]
    pub fn elapsed(&self, start: u64, end: u64) -> u64 {
        let ticks = end.wrapping_sub(start);
        if ticks < LIMIT {
            ticks
        } else {
            self.broken_clock()
        }
    }

    #[cold]
    #[inline(never)]
    fn broken_clock(&self) -> u64 {
        self.engine.lose(Lost::ClockBackwards, 1);
        0
    }
}

/// The words that all events have. `source`: a result of [`Local::source`].
#[inline(always)]
pub(crate) fn words<const N: usize>(
    local: &Local,
    id: u64,
    start: u64,
    class: u16,
    operation: u8,
    (nesting_id, nesting): (u64, Nesting),
    source: u64,
) -> [u64; N] {
    let mut words = [0; N];
    words[word::ID] = id;
    words[word::THREAD] = local.slot.thread_id.load(Ordering::Relaxed) | source;
    words[word::NESTING_ID] = nesting_id;
    words[word::START] = start;
    words[word::PACKED] = Packed {
        class,
        operation,
        nesting: nesting as u8,
        level: 0,
        span: 0,
    }
    .pack();
    words
}

/// Whether events are timed by the counter, have the weight 1, and are not stored as single events.
#[inline(always)]
pub(crate) const fn is_plainly_timed(bits: u8) -> bool {
    use effective::{COUNT, CURRENT, HISTORY, LONG, OTHER_CLOCK, TIME, WEIGHED};
    bits & (COUNT | TIME | CURRENT | HISTORY | LONG | OTHER_CLOCK | WEIGHED) == COUNT | TIME
}

/// Whether any table stores single events.
#[inline(always)]
pub(crate) const fn is_event(bits: u8) -> bool {
    bits & (effective::CURRENT | effective::HISTORY | effective::LONG) != 0
}
