//! Transactions.

use std::cell::Cell;
use std::marker::PhantomData;

use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{transaction as at, word};
use tare_layout::line::COUNT;
use tare_layout::slot::ring;

use crate::Kind;
use crate::class::Class;
use crate::engine::hot::{attached, local};
use crate::engine::local::{Local, is_event, words};
pub use crate::modes::{Isolation, Mode};

/// A transaction that runs. Dropped without [`Transaction::commit`], it is rolled back.
///
/// It may outlive many statements of its session, but belongs to the thread (or session) that
/// began it: ended elsewhere, it is not counted.
#[must_use = "the transaction is rolled back when this is dropped"]
#[derive(Debug)]
pub struct Transaction {
    key: u64,
    start: u64,
    id: u64,
    class: u16,
    bits: u8,
    read_only: bool,
    state: Cell<u64>,
    thread: PhantomData<*const ()>,
}

// SAFETY: the guard holds numbers only; what it refers to is looked up on the thread that ends it,
// and nothing is done when that is not the thread or session that began it.
unsafe impl Send for Transaction {}

/// Begins a transaction.
#[inline]
pub fn start(class: &Class, mode: Mode) -> Transaction {
    let mut transaction = Transaction {
        key: 0,
        start: 0,
        id: 0,
        class: 0,
        bits: 0,
        read_only: mode.read_only,
        state: Cell::new(at::ROLLED_BACK),
        thread: PhantomData,
    };
    let Some(local) = local() else {
        return transaction;
    };
    if class.kind() != Kind::Transaction {
        return transaction;
    }
    let class = local.number(class);
    let bits = local.bits(class);
    if bits & effective::COUNT == 0 {
        return transaction;
    }
    let start = if bits & effective::TIME != 0 {
        local.clock(bits, EventType::Transaction)
    } else {
        0
    };
    let mut id = 0;
    if is_event(bits) {
        id = local.next_event_id();
        // A transaction nests in no statement: the statement that begins it lies within.
        let nesting = (0, tare_layout::event::Nesting::None);
        let mut words = words(local, id, start, class, 0, nesting);
        words[at::STATE] = at::ACTIVE
            | (mode.isolation as u64) << 8
            | if mode.read_only { at::READ_ONLY } else { 0 }
            | if mode.autocommit { at::AUTOCOMMIT } else { 0 };
        local.slot.transaction.publish(&words);
        local.transaction_id.set(id);
    }
    transaction.key = local.key;
    transaction.start = start;
    transaction.id = id;
    transaction.class = class;
    transaction.bits = bits;
    transaction
}

impl Transaction {
    /// Ends it as committed.
    #[inline]
    pub fn commit(self) {
        self.state.set(at::COMMITTED);
    }

    /// Ends it as rolled back, as dropping does.
    #[inline]
    pub fn rollback(self) {}

    /// Says which number the engine knows it by.
    pub fn trx_id(&self, id: u64) {
        self.with_record(|record| record.set(at::TRX_ID, id));
    }

    /// Counts a savepoint set.
    pub fn savepoint(&self) {
        self.count(at::SAVEPOINTS);
    }

    /// Counts a rollback to a savepoint.
    pub fn rollback_to_savepoint(&self) {
        self.count(at::ROLLBACKS);
    }

    /// Counts a savepoint released.
    pub fn release_savepoint(&self) {
        self.count(at::RELEASES);
    }

    fn count(&self, word: usize) {
        self.with_record(|record| record.set(word, record.word(word) + 1));
    }

    fn with_record(&self, change: impl FnOnce(&tare_layout::event::Transaction)) {
        if self.id != 0
            && let Some(local) = attached().filter(|local| local.key == self.key)
        {
            change(&local.slot.transaction);
        }
    }

    fn end(&self, local: &Local) {
        let timed = self.bits & effective::TIME != 0;
        let now = if timed {
            local.clock(self.bits, EventType::Transaction)
        } else {
            0
        };
        if let Some(line) = local.row(self.class, usize::from(self.read_only)) {
            if timed {
                local.time(self.class, line, local.elapsed(self.start, now));
            } else {
                line.add(COUNT, 1);
            }
        }
        if self.id == 0 {
            return;
        }
        local.transaction_id.set(0);
        let record = &local.slot.transaction;
        record.set(at::STATE, record.word(at::STATE) & !0xff | self.state.get());
        record.set(
            word::PACKED,
            local.ended(record.word(word::PACKED), self.id),
        );
        record.set(word::END, now);
        let words = record.words();
        let (view, slot) = (&local.engine.view, local.slot_number());
        let cursor = &local.cursors[ring::TRANSACTIONS];
        if self.bits & effective::HISTORY != 0 {
            let events = local.rings.transactions;
            events[cursor.next_place(local.slot, ring::TRANSACTIONS, events.len())].publish(&words);
        }
        if self.bits & effective::LONG != 0 {
            let place = cursor.next_long(&local.engine, slot, ring::TRANSACTIONS);
            view.long_transaction(place).publish(&words);
        }
    }
}

impl Drop for Transaction {
    #[inline]
    fn drop(&mut self) {
        if self.key != 0
            && let Some(local) = attached().filter(|local| local.key == self.key)
        {
            self.end(local);
        }
    }
}
