//! Statements: a client's requests, from the first byte to the last.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::Ordering;

use tare_layout::class::{Counter, EventType};
use tare_layout::control::effective;
use tare_layout::event::{Packed, Statement as Record, statement as at, word};
use tare_layout::shared::Lost;
use tare_layout::slot::STATEMENT_DEPTH;

use super::prepared::{self, Prepared, Use};
use super::{program, stage, statement_event, text, transaction};
use crate::class::Class;
use crate::digest::Digest;
use crate::engine::clock;
use crate::engine::counted::StatementCounters;
use crate::engine::digest_table::DigestRef;
use crate::engine::fine::Place;
use crate::engine::hot::{attached, local, local_of_statements};
use crate::engine::local::{Local, is_event};
use crate::engine::settings;
use crate::source::Source;
use tare_layout::Kind;

pub(super) mod active;
mod counters;
mod shape;

pub(super) use counters::counter_setters;

pub use active::{Outermost, start_since};

/// A running statement. When it is dropped, it ends, and with it the thread's stage.
#[must_use = "the statement ends when this is dropped"]
pub struct Statement {
    key: u64,
    id: u64,
    /// The thread's local when it began. If the statement is not recorded, it points to no local.
    local: *const Local,
    /// Its counters, in that local.
    counted: *const StatementCounters,
    /// Its record in events_statements_current, which that local points to; null = it is no event.
    record: *const Record,
    class: Cell<u16>,
    level: u8,
    bits: Cell<u8>,
    digest: Cell<Option<DigestRef>>,
    schema: Cell<u32>,
    /// The prepared statement that it prepares or executes.
    prepared: Cell<Use>,
    /// Id of the program that it runs in, 0 = none.
    program: u32,
    thread: PhantomData<*const ()>,
}

/// Begins a statement, of an abstract class (`statement/abstract/Query`) until its kind is known.
///
/// ```
/// tare::classes! {
///     static QUERY: Statement = "statement/abstract/Query", mutable;
///     static SELECT: Statement = "statement/sql/select";
/// }
/// let statement = tare::statement::start(&QUERY);
/// statement.text("SELECT c FROM t WHERE id = 42");
/// statement.refine(&SELECT);
/// statement.rows_sent(1);
/// ```
#[inline(always)]
#[track_caller]
pub fn start(class: &Class) -> Statement {
    start_at(class, Source::here())
}

/// The same, for a host that passes the place in its source, now or [later](Statement::source).
#[inline(always)]
pub fn start_at(class: &Class, source: Source) -> Statement {
    match local_of_statements() {
        Some(local) => begin(local, class, source),
        None => Statement::of_none(),
    }
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn begin(local: &Local, class: &Class, source: Source) -> Statement {
    // Rows of other kinds have no counters: the next row would be counted into.
    let is_one = class.kind() == Kind::Statement;
    let statement = is_one.then(|| begin_number(local, local.number(class), source));
    statement.flatten().unwrap_or_else(Statement::of_none)
}

/// The same by the number ([`class_number`](crate::host_lock::class_number)) of a class of statements,
/// which is valid until Tare is stopped. Writes the statement to `place`; false: it is not recorded,
/// and nothing is written.
///
/// # Safety
/// `place` is writable.
#[inline(always)]
pub unsafe fn start_number_at(place: *mut Statement, number: u16, source: Source) -> bool {
    let statement = local_of_statements().and_then(|local| begin_number(local, number, source));
    match statement {
        Some(statement) => {
            // SAFETY: the caller promises that `place` is writable.
            unsafe { place.write(statement) };
            true
        }
        None => false,
    }
}

#[inline(always)]
fn begin_number(local: &Local, number: u16, source: Source) -> Option<Statement> {
    let mut bits = local.bits(number);
    if bits & effective::COUNT == 0 {
        if active::is_level(local)
            && let Some((bits, level)) = active::begin(local, number)
        {
            return Some(Statement::of_active(local, number, bits, level));
        }
        // The level may have ended in between.
        bits = local.bits(number);
        if bits & effective::COUNT == 0 {
            // No other event begins where an earlier one ended.
            local.edge.set(0);
            return None;
        }
    }
    let level = local.statements.get();
    if level >= local.engine.statement_depth.min(STATEMENT_DEPTH) {
        local.engine.lose(Lost::NestedStatements, 1);
        return None;
    }
    if bits & effective::SAMPLED != 0 && level == 0 {
        settings::watch_for_windows();
    }
    let start = if bits & effective::TIME != 0 {
        let start = local.clock_after_idle(bits, EventType::Statement);
        local.set_edge(bits, start);
        start
    } else {
        0
    };
    let id = if is_event(bits) {
        statement_event::begin(local, start, number, level, source)
    } else {
        0
    };
    local.statement_ids[level].set(id);
    local.statement_starts[level].set(start);
    if bits & effective::OTHER_CLOCK != 0 {
        local.statement_cpu[level].set(local.cpu_of_statement());
    }
    let counted = &local.counted[level];
    counted.clear();
    local.statements.set(level + 1);
    local
        .slot
        .statement_depth
        .store(level as u32 + 1, Ordering::Relaxed);
    Some(Statement {
        key: local.key,
        id,
        local,
        counted,
        record: match id {
            0 => ptr::null(),
            _ => &local.rings.open_statements[level],
        },
        class: Cell::new(number),
        level: level as u8,
        bits: Cell::new(bits),
        digest: Cell::new(None),
        schema: Cell::new(local.schema.get()),
        prepared: Cell::new(Use::NONE),
        program: local.program.get(),
        thread: PhantomData,
    })
}

/// Whether the thread has an open statement that is recorded.
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub fn is_open() -> bool {
    local().is_some_and(|local| local.statements.get() != 0)
}

impl Statement {
    /// One that is not recorded.
    #[inline(always)]
    fn of_none() -> Self {
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
            thread: PhantomData,
        }
    }

    /// One that begins at the level `active`.
    #[inline(always)]
    fn of_active(local: &Local, number: u16, bits: u8, level: usize) -> Self {
        let mut statement = Self::of_none();
        statement.key = crate::engine::active::KEY;
        statement.local = local;
        statement.class.set(number);
        statement.level = level as u8;
        statement.bits.set(bits);
        statement
    }

    /// Whether anything is recorded: hosts can skip work that is only for Tare.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.key != 0
    }

    #[inline(always)]
    fn local(&self) -> Option<&Local> {
        if self.key == 0 {
            return None;
        }
        attached().filter(|local| local.key == self.key)
    }

    /// Its record. `local` has its key.
    #[inline(always)]
    fn record<'a>(&self, _local: &'a Local) -> Option<&'a Record> {
        // SAFETY: null, or in the segment that the local keeps mapped.
        unsafe { self.record.as_ref() }
    }

    /// Sets the place in the host's source where it began.
    #[inline]
    pub fn source(&self, source: Source) {
        if self.id != 0
            && let Some(local) = self.local()
            && let Some(record) = self.record(local)
        {
            local.set_source(record, source);
        }
    }

    /// Changes its class, when its kind becomes known.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn refine(&self, class: &Class) {
        if class.kind() != Kind::Statement {
            return;
        }
        match self.local() {
            Some(local) => self.refine_in(local, local.number(class)),
            None => self.refine_active_as(class),
        }
    }

    /// The same by the number of a class of statements, as in [`start_number_at`].
    #[inline(always)]
    pub fn refine_number(&self, number: u16) {
        match self.local() {
            Some(local) => self.refine_in(local, number),
            None => self.refine_active(number),
        }
    }

    #[inline(always)]
    fn refine_in(&self, local: &Local, number: u16) {
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

    /// Sets its text, of which the first 1,024 bytes are stored, and computes its digest from it.
    pub fn text(&self, text: &str) {
        let Some(local) = self.local() else {
            return self.text_other(text);
        };
        self.store_text(local, text);
        if self.bits.get() & effective::DIGEST != 0 {
            let schema = self.schema.get();
            self.set_digest(local, local.digest_of_text(text, schema));
        }
    }

    /// Sets its text only; its digest is set later, or it has none.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn text_only(&self, text: &str) {
        let Some(local) = self.local() else {
            return self.text_other(text);
        };
        self.store_text(local, text);
    }

    /// Stores its text if it began at the level `active`.
    #[cold]
    fn text_other(&self, text: &str) {
        if self.is_active() {
            self.text_active(text.as_bytes());
        }
    }

    /// Whether it is counted, by its present class.
    #[inline]
    pub fn is_counted(&self) -> bool {
        self.bits.get() & effective::COUNT != 0
    }

    /// Whether it gets a digest.
    #[inline]
    pub fn wants_digest(&self) -> bool {
        self.bits.get() & effective::DIGEST != 0
    }

    /// Whether the table of digests was truncated since its digest was set. MySQL looks up a digest
    /// when the statement ends; a host that sets the text again then is counted in the same table.
    #[inline]
    pub fn has_lost_digest(&self) -> bool {
        let (Some(local), Some(digest)) = (self.local(), self.digest.get()) else {
            return false;
        };
        digest.generation != local.engine.digest_generation()
    }

    /// Sets its digest by the tokens of the host's own parser, which distinguish statements just as
    /// well as the text: the text is read only for the first of several with equal tokens. Without
    /// tokens the text is read.
    ///
    /// `verb`: the verb with which the digest begins for a prepared statement, such as `EXECUTE`.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn digest_by_tokens(&self, tokens: &[u8], verb: &str, text: &str) {
        let Some(local) = self.local() else { return };
        if self.bits.get() & effective::DIGEST != 0 {
            let schema = self.schema.get();
            let digest = local.digest_of_tokens(tokens, verb, text, schema);
            self.set_digest(local, digest);
        }
    }

    /// Ends it without counting it.
    pub fn discard(mut self) {
        match self.local() {
            Some(local) => {
                self.leave(local);
                self.key = 0;
            }
            None => self.bits.set(0),
        }
    }

    /// Its thread goes on without it.
    fn leave(&self, local: &Local) {
        if self.level == 0 {
            stage::end_of(local, 0);
        }
        local.statements.set(usize::from(self.level));
        let depth = &local.slot.statement_depth;
        depth.store(u32::from(self.level), Ordering::Relaxed);
    }

    /// Sets how long it waited for table locks.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock_time_us(&self, us: u64) {
        if us != 0 {
            let per_second = clock::calibrate().ticks_per_second;
            let ticks = match us.checked_mul(per_second) {
                Some(product) => product / 1_000_000,
                None => (u128::from(us) * u128::from(per_second) / 1_000_000) as u64,
            };
            self.set(Counter::LockTime, ticks);
        }
    }

    /// Sets its text and the digest that the host computed when it was prepared.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn prepared(&self, text: &str, digest: &Digest) {
        self.prepared_with_verb("", text, digest);
    }

    /// The same, for a digest of [`Digest::with_verb`].
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn prepared_with_verb(&self, verb: &str, text: &str, digest: &Digest) {
        let Some(local) = self.local() else {
            return self.text_other(text);
        };
        self.store_text(local, text);
        if self.bits.get() & effective::DIGEST != 0 {
            let schema = self.schema.get();
            let digest = local.digest_of_prepared(digest, verb, text, schema);
            self.set_digest(local, digest);
        }
    }

    /// Removes its digest: its text is not to be read.
    pub fn remove_digest(&self) {
        let Some(local) = self.local() else { return };
        self.digest.set(None);
        if let Some(record) = self.record(local) {
            record.set(at::DIGEST, 0);
        }
    }

    /// The number of its class in the segment.
    pub fn class_number(&self) -> u16 {
        self.class.get()
    }

    fn set_digest(&self, local: &Local, digest: DigestRef) {
        self.digest.set(Some(digest));
        if let Some(record) = self.record(local) {
            record.set(at::DIGEST, digest.pack());
        }
    }

    #[inline(always)]
    fn store_text(&self, local: &Local, text: &str) {
        let Some(record) = self.record(local) else {
            return;
        };
        text::store(local, record, text, self.program);
    }

    /// Sets its default schema, if that is not the thread's.
    pub fn schema(&self, name: &str) {
        let Some(local) = self.local() else { return };
        let number = local.engine.schema_number(name);
        self.schema.set(number);
        if let Some(record) = self.record(local) {
            let errno = record.word(at::ERROR) & 0xffff_ffff;
            record.set(at::ERROR, errno | u64::from(number) << 32);
        }
    }

    /// Records that the statement executes a prepared statement, for which it counts as well.
    #[inline]
    pub fn executes(&self, prepared: &Prepared) {
        self.uses(prepared, false);
    }

    /// Records that the statement prepares another one.
    pub fn prepares(&self, prepared: &Prepared) {
        self.uses(prepared, true);
    }

    #[inline]
    fn uses(&self, prepared: &Prepared, prepares: bool) {
        if let Some(local) = self.local() {
            self.prepared.set(prepared.used(local, prepares));
        }
    }

    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end(&self, local: &Local) {
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

impl Drop for Statement {
    #[inline]
    fn drop(&mut self) {
        match self.local() {
            Some(local) => self.end(local),
            None if self.is_active() => self.end_active(),
            None => {}
        }
    }
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statement")
            .field("event_id", &self.id)
            .field("level", &self.level)
            .finish()
    }
}
