//! Transactions.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{MAX_SPAN, Nesting, transaction as at, word};
use tare_layout::sampling::TRANSACTION;
use tare_layout::slot::ring;

use crate::class::Class;
use crate::engine::hot::{attached, local_of_transactions};
use crate::engine::local::{Local, Open, is_event, words};
use crate::engine::running;
pub use crate::modes::{Isolation, Mode};
use crate::payload::Payload;
use crate::source::Source;
use tare_layout::Kind;

/// A running transaction. Dropped without [`Transaction::commit`], it is rolled back.
///
/// It may outlive many statements of its session, but belongs to the thread (or session) that
/// began it: ended elsewhere, it is not counted.
#[must_use = "the transaction is rolled back when this is dropped"]
#[derive(Debug)]
pub struct Transaction {
    recorded: Payload<Recorded>,
    thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Recorded {
    /// See [`Local::key`]; 0 = nothing is recorded.
    key: u64,
    open: Open,
    state: Cell<u64>,
}

// SAFETY: the guard holds only numbers. The thread that ends it looks up what they refer to, and does
// nothing if it is not the thread or session that began it.
unsafe impl Send for Transaction {}

/// Begins a transaction.
#[inline]
#[track_caller]
pub fn start(class: &Class, mode: Mode) -> Transaction {
    start_at(class, mode, Source::here())
}

/// As [`start`], for a host that passes the place in its source, now or [later](Transaction::source).
#[inline]
pub fn start_at(class: &Class, mode: Mode, source: Source) -> Transaction {
    let local = local_of_transactions();
    guard(local.and_then(|local| Some((local.key, begin(local, class, mode, 0, source)?))))
}

/// Begins a transaction that is a single statement, as under autocommit. It lasts from the start to the
/// end of the thread's innermost statement, shares its clock reads, and is committed unless the
/// statement [fails](crate::statement::Statement::error): the guard then does nothing. If no statement
/// is recorded, the guard is that of an ordinary transaction.
#[inline]
#[track_caller]
pub fn of_statement(class: &Class, mode: Mode) -> Transaction {
    let source = Source::here();
    let Some(local) = local_of_transactions() else {
        return guard(None);
    };
    let mode = Mode {
        autocommit: true,
        ..mode
    };
    let depth = local.statements.get();
    if depth == 0 || local.autocommit.depth.get() != 0 {
        return guard(begin(local, class, mode, 0, source).map(|open| (local.key, open)));
    }
    if let Some(open) = begin(local, class, mode, local.statement_began(), source) {
        local.autocommit.open.set(open);
        local.autocommit.depth.set(depth);
    }
    guard(None)
}

#[inline]
fn guard(begun: Option<(u64, Open)>) -> Transaction {
    let (key, open) = begun.unwrap_or_default();
    Transaction {
        recorded: Payload::of(Recorded {
            key,
            open,
            state: Cell::new(at::ROLLED_BACK),
        }),
        thread: PhantomData,
    }
}

/// Ends the transaction of the statement that ends at `now` (0 = unknown).
#[inline]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(crate) fn end_of_statement(local: &Local, now: u64, failed: bool) {
    local.autocommit.depth.set(0);
    let state = if failed {
        at::ROLLED_BACK
    } else {
        at::COMMITTED
    };
    end(local, &local.autocommit.open.get(), now, state);
}

/// `start`: when it began by the counter, 0 = now.
#[inline]
fn begin(local: &Local, class: &Class, mode: Mode, start: u64, source: Source) -> Option<Open> {
    if class.kind() != Kind::Transaction {
        return None;
    }
    let class = local.number(class);
    let bits = local.bits(class);
    if bits & effective::COUNT == 0 {
        return None;
    }
    let weight = running::weight(bits, TRANSACTION);
    if weight == 0 {
        return None;
    }
    let start = match bits & (effective::TIME | effective::OTHER_CLOCK) {
        effective::TIME if start != 0 => start,
        timed if timed & effective::TIME != 0 => local.clock(bits, EventType::Transaction),
        _ => 0,
    };
    let mut id = 0;
    if is_event(bits) {
        id = local.next_event_id();
        // Another open transaction does not enclose this one.
        let nesting = match local.statements.get() {
            0 => (0, Nesting::None),
            _ => local.nesting_of_stage(),
        };
        let source = local.source(source);
        let mut words = words(local, id, start, class, 0, nesting, source);
        words[at::STATE] = at::ACTIVE
            | (mode.isolation as u64) << 8
            | if mode.read_only { at::READ_ONLY } else { 0 }
            | if mode.autocommit { at::AUTOCOMMIT } else { 0 };
        local.slot.transaction.publish(&words);
        local.transaction_id.set(id);
    }
    Some(Open {
        start,
        id,
        class,
        bits,
        read_only: mode.read_only,
        weight,
    })
}

/// `now`: the counter, 0 = to be read.
#[inline]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn end(local: &Local, open: &Open, now: u64, state: u64) {
    let bits = open.bits;
    let timed = bits & effective::TIME != 0;
    let now = if !timed {
        0
    } else if now != 0 && bits & effective::OTHER_CLOCK == 0 {
        now
    } else {
        local.clock(bits, EventType::Transaction)
    };
    let timed = local.is_timed(bits, open.start, now);
    let now = if timed { now } else { 0 };
    if let Some(line) = local.row(open.class, usize::from(open.read_only)) {
        if timed {
            let ticks = local.elapsed(open.start, now);
            local.time_weighed(open.class, line, ticks, open.weight);
        } else {
            line.count_weighed(u32::from(open.weight));
        }
    }
    if open.id == 0 {
        return;
    }
    local.transaction_id.set(0);
    let record = &local.slot.transaction;
    record.set(at::STATE, record.word(at::STATE) & !0xff | state);
    record.set(
        word::PACKED,
        local.ended(record.word(word::PACKED), open.id),
    );
    record.set(word::END, local.end_word(record, now));
    let view = &local.engine.view;
    local.store_event(
        ring::TRANSACTIONS,
        record,
        bits,
        local.rings.transactions,
        |i| view.long_transaction(i),
    );
}

impl Transaction {
    /// Whether anything is recorded.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.recorded.get().is_some_and(|this| this.key != 0)
    }

    /// Ends it as committed.
    #[inline]
    pub fn commit(self) {
        if let Some(this) = self.recorded.get() {
            this.state.set(at::COMMITTED);
        }
        self.finish();
    }

    /// Ends it as rolled back, as dropping does.
    #[inline]
    pub fn rollback(self) {
        self.finish();
    }

    #[inline(always)]
    fn finish(self) {
        let Some(this) = self.recorded.into_inner() else {
            return;
        };
        let unended = ManuallyDrop::new(this);
        if unended.key != 0 {
            unended.end_recorded();
        }
    }

    /// Sets the engine's number of the transaction.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn trx_id(&self, id: u64) {
        self.with_record(|record| record.set(at::TRX_ID, id));
    }

    /// Sets the place in the host's source where it began.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn source(&self, source: Source) {
        if let Some(local) = self.local_of_event() {
            local.set_source(&local.slot.transaction, source);
        }
    }

    /// Counts a savepoint set.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn savepoint(&self) {
        self.count(at::SAVEPOINTS);
    }

    /// Counts a rollback to a savepoint.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn rollback_to_savepoint(&self) {
        self.count(at::ROLLBACKS);
    }

    /// Counts a savepoint released.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn release_savepoint(&self) {
        self.count(at::RELEASES);
    }

    fn count(&self, word: usize) {
        self.with_record(|record| record.set(word, record.word(word) + 1));
    }

    fn with_record(&self, change: impl FnOnce(&tare_layout::event::Transaction)) {
        if let Some(local) = self.local_of_event() {
            change(&local.slot.transaction);
        }
    }

    /// The calling thread's local, if it is an event of that thread.
    #[inline(always)]
    fn local_of_event(&self) -> Option<&Local> {
        let this = self.recorded.get().filter(|this| this.open.id != 0)?;
        attached().filter(|local| local.key == this.key)
    }
}

impl Recorded {
    /// The work of dropping, in the hot section of a statement's code.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    #[inline(never)]
    fn end_recorded(&self) {
        self.end();
    }

    #[inline(always)]
    fn end(&self) {
        if self.key != 0
            && let Some(local) = attached().filter(|local| local.key == self.key)
        {
            // MariaDB ends a transaction twice where another began while it was open: the second end counts.
            let record = &local.slot.transaction;
            let packed = record.word(word::PACKED);
            record.set(word::PACKED, packed & !(u64::from(MAX_SPAN) << 40));
            end(local, &self.open, 0, self.state.get());
        }
    }
}

impl Drop for Recorded {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}
