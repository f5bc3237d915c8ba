//! What is recorded of a running statement, and its end.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::Ordering;

use tare_layout::class::{Counter, EventType};
use tare_layout::control::effective;
use tare_layout::event::{Packed, Statement as Record, statement as at, word};

use super::active;
use crate::engine::clock;
use crate::engine::counted::StatementCounters;
use crate::engine::digest_table::DigestRef;
use crate::engine::fine::Place;
use crate::engine::hot::attached;
use crate::engine::local::Local;
use crate::point::prepared::{self, Use};
use crate::point::{program, stage, statement_event, text, transaction};

/// What is recorded of a running statement.
pub(super) struct Running {
    /// See [`Local::key`]; 0 = nothing is recorded.
    pub key: u64,
    pub id: u64,
    /// The thread's local when it began. If the statement is not recorded, it points to no local.
    pub local: *const Local,
    /// Its counters, in that local.
    pub counted: *const StatementCounters,
    /// Its record in events_statements_current, which that local points to; null = it is no event.
    pub record: *const Record,
    pub class: Cell<u16>,
    pub level: u8,
    pub bits: Cell<u8>,
    pub digest: Cell<Option<DigestRef>>,
    pub schema: Cell<u32>,
    /// The prepared statement that it prepares or executes.
    pub prepared: Cell<Use>,
    /// Id of the program that it runs in, 0 = none.
    pub program: u32,
}

impl Running {
    /// One that is not recorded.
    #[inline(always)]
    pub(super) fn of_none() -> Self {
        Self {
            key: 0,
            id: 0,
            local: ptr::dangling(),
            counted: ptr::dangling(),
            record: ptr::null(),
            class: Cell::new(0),
            level: 0,
            bits: Cell::new(0),
            digest: Cell::new(None),
            schema: Cell::new(0),
            prepared: Cell::new(Use::NONE),
            program: 0,
        }
    }

    /// One that begins at the level `active`.
    #[inline(always)]
    pub(super) fn of_active(local: &Local, number: u16, bits: u8, level: usize) -> Self {
        let mut running = Self::of_none();
        running.key = crate::engine::active::KEY;
        running.local = local;
        running.class.set(number);
        running.level = level as u8;
        running.bits.set(bits);
        running
    }

    /// The calling thread's local, if it is the one in which the statement began.
    #[inline(always)]
    pub(super) fn local(&self) -> Option<&Local> {
        if self.key == 0 {
            return None;
        }
        attached().filter(|local| local.key == self.key)
    }

    /// Its record. `local` has its key.
    #[inline(always)]
    pub(super) fn record<'a>(&self, _local: &'a Local) -> Option<&'a Record> {
        // SAFETY: null, or in the segment that the local keeps mapped.
        unsafe { self.record.as_ref() }
    }

    #[inline(always)]
    pub(super) fn refine_in(&self, local: &Local, number: u16) {
        let bits = match local.bits(number) {
            // Off as all classes are at the level `active`.
            0 if active::is_level(local) => self.bits.get(),
            0 => local.bits(number),
            bits => bits,
        };
        self.class.set(number);
        // A statement that began without a clock is not timed, one that began by one clock ends by it,
        // and one that began as no event is none.
        let began = self.bits.get();
        let clock = effective::OTHER_CLOCK;
        let new_bits = match began & effective::TIME {
            0 => bits & !effective::TIME,
            _ => bits & !clock | began & clock,
        };
        self.bits.set(new_bits);
        if let Some(record) = self.record(local) {
            let packed = Packed {
                class: number,
                ..Packed::unpack(record.word(word::PACKED))
            };
            record.set(word::PACKED, packed.pack());
        }
    }

    /// Stores its text if it began at the level `active`.
    #[cold]
    pub(super) fn text_other(&self, text: &str) {
        if self.is_active() {
            self.text_active(text.as_bytes());
        }
    }

    /// Its thread goes on without it.
    pub(super) fn leave(&self, local: &Local) {
        if self.level == 0 {
            stage::end_of(local, 0);
        }
        local.statements.set(usize::from(self.level));
        let depth = &local.slot.statement_depth;
        depth.store(u32::from(self.level), Ordering::Relaxed);
    }

    pub(super) fn set_digest(&self, local: &Local, digest: DigestRef) {
        self.digest.set(Some(digest));
        if let Some(record) = self.record(local) {
            record.set(at::DIGEST, digest.pack());
        }
    }

    #[inline(always)]
    pub(super) fn store_text(&self, local: &Local, text: &str) {
        let Some(record) = self.record(local) else {
            return;
        };
        text::store(local, record, text, self.program);
    }

    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub(super) fn end(&self, local: &Local) {
        let bits = self.bits.get();
        let timed = bits & effective::TIME != 0;
        let now = if timed {
            local.clock(bits, EventType::Statement)
        } else {
            0
        };
        // The time by the counter, for events that end with the statement.
        let counter_now = if bits & effective::OTHER_CLOCK == 0 {
            now
        } else {
            0
        };
        if self.level == 0 {
            stage::end_of(local, counter_now);
        }
        let level = usize::from(self.level);
        if local.autocommit.depth.get() == level + 1 {
            let failed = local.counted[level].touched(Counter::Errors as usize);
            transaction::end_of_statement(local, counter_now, failed);
        }
        if bits & effective::OTHER_CLOCK != 0 {
            statement_event::count_cpu(local, level, self.id);
        }
        let start = local.statement_starts[level].get();
        let timed = local.is_timed(bits, start, now);
        let (now, ticks) = match timed {
            true => (now, local.elapsed(start, now)),
            false => (0, 0),
        };
        let counted = &local.counted[level];
        if bits & effective::COUNT != 0 {
            self.count(local, timed, ticks, counted);
        }
        if self.prepared.get().is_some() {
            prepared::count(local, self.prepared.get(), timed.then_some(ticks), counted);
        }
        if self.program != 0 {
            program::count(local, self.program, timed.then_some(ticks), counted);
        }
        let time = timed.then(|| (ticks, Place::of(local.engine.buckets.of(ticks))));
        if let Some((_, bucket)) = time
            && let Some(bank) = local.own_bank()
        {
            let spill = || local.engine.view.fine_spill();
            local.count_fine(&bank.statements, None, bucket, spill);
        }
        if let Some(digest) = self.digest.get() {
            let ended_at = if counter_now != 0 {
                counter_now
            } else {
                clock::now()
            };
            local.count_digest(digest, time, ended_at, counted);
            let stored_text = || text::stored(local, self.record(local));
            local
                .engine
                .offer_sample(digest, ended_at, ticks, stored_text);
        }
        if let Some(record) = self.record(local) {
            statement_event::end(local, record, self.id, now, bits);
        }
        if self.level == 0 {
            local.set_edge(bits, now);
        }
        local.statements.set(usize::from(self.level));
        local
            .slot
            .statement_depth
            .store(u32::from(self.level), Ordering::Relaxed);
    }

    #[inline]
    fn count(&self, local: &Local, timed: bool, ticks: u64, counted: &StatementCounters) {
        let class = self.class.get();
        let Some(row) = local.complete_row(class) else {
            return;
        };
        if timed {
            local.time(class, &row[0], ticks);
        } else {
            row[0].count();
        }
        counted.each(|line, cell, n| row[line].add(cell, n));
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        match self.local() {
            Some(local) => self.end(local),
            None if self.is_active() => self.end_active(),
            None => {}
        }
    }
}
