//! Statements of tasks: their guards may live across `.await`, and end in any order, on any thread.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

use tare_layout::Kind;
use tare_layout::activity;
use tare_layout::class::{Counter, EventType};
use tare_layout::control::effective;
use tare_layout::event::{Packed, Statement as Record, statement as at, word};
use tare_layout::shared::Lost;

use crate::class::Class;
use crate::digest::Digest;
use crate::engine::clock;
use crate::engine::counted::{SharedCounters, StatementCounters};
use crate::engine::digest_table::DigestRef;
use crate::engine::fine::Place;
use crate::engine::hot::{self, local_of_statements};
use crate::engine::local::{Local, is_event, words};
use crate::engine::settings;
use crate::engine::task::{Home, TaskParent};
use crate::lock::PlainMutex;
use crate::payload::Payload;
use crate::point::statement::{active, counter_setters};
use crate::point::{error, statement_event, text};
use crate::source::Source;

/// A running statement of a task. When it is dropped, it ends.
#[must_use = "the statement ends when this is dropped"]
pub struct Statement(Payload<Option<Running>>);

struct Running {
    home: Home,
    /// When it began, 0 = not timed.
    start: u64,
    event: Option<Event>,
    /// It began at the level `active`; true: its session's line has it.
    active: Option<bool>,
    class: AtomicU16,
    bits: AtomicU8,
    has_failed: AtomicU8,
    schema: AtomicU32,
    digest: PlainMutex<Option<DigestRef>>,
    counters: SharedCounters,
}

/// The event of a statement, in a record of its session's slot.
#[derive(Clone, Copy)]
struct Event {
    id: u64,
    record: usize,
    parent: TaskParent,
}

/// Begins a statement, of an abstract class until its kind is known.
#[inline]
#[track_caller]
pub fn start(class: &Class) -> Statement {
    let source = Source::here();
    match local_of_statements() {
        Some(local) => begin(local, class, source),
        None => Statement::of_none(),
    }
}

/// The clock when an event of a task begins, 0 = it is not timed, and its flags then. The CPU time of a
/// thread says nothing about a task.
#[inline(always)]
pub(super) fn clock_at_begin(local: &Local, bits: u8, event_type: EventType) -> (u64, u8) {
    if bits & effective::TIME == 0 {
        return (0, bits);
    }
    let now = local.clock(bits, event_type);
    match bits & effective::OTHER_CLOCK != 0 && clock::is_thread_cpu(now) {
        true => (0, bits & !effective::TIME),
        false => (now, bits),
    }
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn begin(local: &Local, class: &Class, source: Source) -> Statement {
    if class.kind() != Kind::Statement {
        return Statement::of_none();
    }
    let number = local.number(class);
    let (mut bits, mut is_active) = (local.bits(number), false);
    if bits & effective::COUNT == 0 {
        is_active = true;
        bits = local.bits(local.number(&crate::engine::active::STATEMENT));
        if bits & effective::COUNT == 0 {
            return Statement::of_none();
        }
    }
    if bits & effective::SAMPLED != 0 {
        settings::watch_for_windows(&local.engine);
    }
    if is_active {
        bits &= active::BITS;
    }
    let is_in_session = hot::is_in_session();
    if is_in_session {
        // No other event begins where an earlier one ended.
        local.edge.set(0);
    }
    let (start, bits) = clock_at_begin(local, bits, EventType::Statement);
    let event = match is_in_session && !is_active && is_event(bits) {
        true => begin_event(local, start, number, source),
        false => None,
    };
    let active = is_active.then(|| is_in_session && begin_line(local, number, start));
    Statement(Payload::of(Some(Running {
        home: Home::of(local),
        start,
        event,
        active,
        class: AtomicU16::new(number),
        bits: AtomicU8::new(bits),
        has_failed: AtomicU8::new(0),
        schema: AtomicU32::new(local.schema.get()),
        digest: PlainMutex::new(None),
        counters: SharedCounters::default(),
    })))
}

/// Begins the event, if a record is free.
fn begin_event(local: &Local, start: u64, class: u16, source: Source) -> Option<Event> {
    let parent = local.current_task();
    let Some(record) = local.take_statement_record() else {
        local.engine.lose(Lost::NestedStatements, 1);
        return None;
    };
    let id = local.next_event_id();
    local.task.set(parent);
    let (nesting, source) = (local.nesting_of_stage(), local.source(source));
    let mut words: [u64; at::COUNTERS] = words(local, id, start, class, 0, nesting, source);
    words[word::PACKED] |= u64::from(parent.level()) << 32;
    words[at::ERROR] = u64::from(local.schema.get()) << 32;
    local.rings.open_statements[record].publish_first(&words);
    local.task.set(TaskParent::new(id, parent.level(), record));
    Some(Event { id, record, parent })
}

/// Stores a statement that begins at the level `active` in its session's line, if that has none.
fn begin_line(local: &Local, class: u16, start: u64) -> bool {
    let line = &local.slot.activity;
    let is_free = line.statement.load(Ordering::Relaxed) == 0;
    if is_free {
        let new = activity::Statement {
            class: class.into(),
            began: start,
            depth: 1,
            ..activity::Statement::default()
        };
        line.change(|line| line.set(new));
    }
    is_free
}

impl Running {
    /// Its record, if it is an event and the calling thread, whose local this is, has entered its session.
    #[inline(always)]
    fn record<'a>(&self, local: &'a Local) -> Option<&'a Record> {
        let event = self.event.filter(|_| self.home.is(local))?;
        event.record_in(local)
    }

    /// Whether its session's line has it, and the calling thread has entered the session.
    fn is_in_own_line(&self, local: &Local) -> bool {
        self.active == Some(true)
            && self.home.is(local)
            && self.is_in_line(local, local.slot_number())
    }

    /// Whether the line of the slot, which is its session's, still has it.
    fn is_in_line(&self, local: &Local, slot: usize) -> bool {
        let line = &local.engine.view.slot(slot).activity;
        line.statement.load(Ordering::Relaxed) != 0
            && line.began.load(Ordering::Relaxed) == self.start
    }

    fn refine(&self, local: &Local, class: &Class) {
        let number = local.number(class);
        self.class.store(number, Ordering::Relaxed);
        if self.active.is_some() {
            if self.is_in_own_line(local) {
                let class = &local.slot.activity.statement;
                class.store(number.into(), Ordering::Relaxed);
            }
            return;
        }
        let began = self.bits.load(Ordering::Relaxed);
        let bits = match local.bits(number) {
            // Off as all classes are at the level `active`.
            0 if active::is_level(local) => began,
            bits => refined(began, bits),
        };
        self.bits.store(bits, Ordering::Relaxed);
        if let Some(record) = self.record(local) {
            let packed = Packed {
                class: number,
                ..Packed::unpack(record.word(word::PACKED))
            };
            record.set(word::PACKED, packed.pack());
        }
    }

    #[inline(always)]
    fn text(&self, local: &Local, text: &str) {
        if let Some(record) = self.record(local) {
            text::store(local, record, text, 0);
        } else if self.is_in_own_line(local) {
            active::set_text(local, local.rings.active_text, text.as_bytes());
        }
    }

    /// Sets its digest, if it gets one, to the one that `find` finds for its schema.
    #[inline(always)]
    fn digest(&self, local: &Local, find: impl FnOnce(u32) -> DigestRef) {
        if self.bits.load(Ordering::Relaxed) & effective::DIGEST == 0 {
            return;
        }
        let digest = find(self.schema.load(Ordering::Relaxed));
        *self.digest.lock() = Some(digest);
        if let Some(record) = self.record(local) {
            record.set(at::DIGEST, digest.pack());
        }
    }

    fn schema(&self, local: &Local, name: &str) {
        let number = local.engine.schema_number(name);
        self.schema.store(number, Ordering::Relaxed);
        if let Some(record) = self.record(local) {
            let errno = record.word(at::ERROR) & 0xffff_ffff;
            record.set(at::ERROR, errno | u64::from(number) << 32);
        }
    }

    fn failed(&self, errno: u32, sqlstate: &str, message: &str) {
        self.has_failed.store(1, Ordering::Relaxed);
        self.counters
            .touch(Counter::Errors as usize)
            .store(1, Ordering::Relaxed);
        if let Some(local) = self.home.local()
            && let Some(record) = self.record(local)
        {
            text::store_error(local, record, errno, sqlstate, message);
        }
    }

    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end(&mut self) {
        let Some(local) = self.home.local() else {
            return;
        };
        let is_home = self.home.is(local);
        let bits = *self.bits.get_mut();
        let now = match bits & effective::TIME {
            0 => 0,
            _ => local.clock(bits, EventType::Statement),
        };
        if let Some(has_line) = self.active {
            return self.end_active(local, bits, now, has_line);
        }
        let timed = local.is_timed(bits, self.start, now);
        let (now, ticks) = match timed {
            true => (now, local.elapsed(self.start, now)),
            false => (0, 0),
        };
        let counted = self.counters.exclusive();
        let class = *self.class.get_mut();
        if bits & effective::COUNT != 0
            && let Some(row) = local.complete_row(class)
        {
            match timed {
                true => local.time(class, &row[0], ticks),
                false => row[0].count(),
            }
            counted.each(|line, cell, n| row[line].add(cell, n));
        }
        let time = timed.then(|| (ticks, Place::of(local.engine.buckets.of(ticks))));
        if let Some((_, bucket)) = time
            && let Some(bank) = local.own_bank()
        {
            let spill = || local.engine.view.fine_spill();
            local.count_fine(&bank.statements, None, bucket, spill);
        }
        let event = self.event;
        let record = event
            .filter(|_| is_home)
            .and_then(|event| event.record_in(local));
        if let Some(digest) = *self.digest.get_mut() {
            let ended_at = match now != 0 && bits & effective::OTHER_CLOCK == 0 {
                true => now,
                false => clock::now(),
            };
            local.count_digest(digest, time, ended_at, counted);
            let stored_text = || text::stored(local, record);
            local
                .engine
                .offer_sample(digest, ended_at, ticks, stored_text);
        }
        if let Some(event) = event {
            match is_home {
                true => event.end(local, record, counted, now, bits),
                false => event.remove(local, self.home),
            }
        }
        if is_home && hot::is_in_session() {
            local.edge.set(0);
        }
    }

    /// Ends a statement that began at the level `active`, whatever the level is now.
    fn end_active(&self, local: &Local, bits: u8, now: u64, has_line: bool) {
        let has_failed = self.has_failed.load(Ordering::Relaxed) != 0;
        active::count(local, bits, self.start, now, has_failed);
        let Some(slot) = self.home.slot_elsewhere(local).filter(|_| has_line) else {
            return;
        };
        if self.is_in_line(local, slot) {
            let line = &local.engine.view.slot(slot).activity;
            match self.home.is(local) {
                true => line.end(now),
                // The line's writer is another thread; a reader takes a class of 0 for the end.
                false => line.statement.store(0, Ordering::Relaxed),
            }
        }
    }
}

/// The flags of a statement that becomes one of another class. One that began without a clock is not timed,
/// one that began by one clock ends by it.
const fn refined(began: u8, bits: u8) -> u8 {
    match began & effective::TIME {
        0 => bits & !effective::TIME,
        _ => bits & !effective::OTHER_CLOCK | began & effective::OTHER_CLOCK,
    }
}

impl Event {
    /// Its record, if that was not taken by synchronous statements that are nested deep.
    #[inline(always)]
    fn record_in(self, local: &Local) -> Option<&Record> {
        let record = &local.rings.open_statements[self.record];
        (record.word(word::ID) == self.id).then_some(record)
    }

    /// Ends it in its session.
    fn end(
        self,
        local: &Local,
        record: Option<&Record>,
        counted: &StatementCounters,
        now: u64,
        bits: u8,
    ) {
        if let Some(record) = record {
            counted.each_number(|i, n| record.set(at::COUNTERS + i, n));
            statement_event::end(local, record, self.id, now, bits);
            record.clear();
            // Otherwise another statement may have it.
            local.give_statement_record(self.record);
        }
        local.leave_task_statement(self.id, self.parent);
    }

    /// Ends it outside of its session.
    #[cold]
    fn remove(self, local: &Local, home: Home) {
        if let Some(slot) = home.slot_elsewhere(local) {
            local.engine.view.statements(slot)[self.record].remove(self.id);
        }
    }
}

impl Statement {
    /// One that is not recorded.
    #[inline(always)]
    const fn of_none() -> Self {
        Self(Payload::of(None))
    }

    /// Whether anything is recorded: hosts can skip work that is only for Tare.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.0.as_option().is_some()
    }

    /// Changes its class, when its kind becomes known.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn refine(&self, class: &Class) {
        if class.kind() == Kind::Statement
            && let Some((running, local)) = self.running()
        {
            running.refine(local, class);
        }
    }

    /// Nests what begins next in its session in this statement, until another one begins, is resumed or is
    /// suspended: for hosts that report which of several statements continues.
    #[inline]
    pub fn resume(&self) {
        if let Some((running, local)) = self.running()
            && running.record(local).is_some()
            && let Some(event) = running.event
        {
            let level = event.parent.level();
            local
                .task
                .set(TaskParent::new(event.id, level, event.record));
        }
    }

    /// Nests what begins next in its session in the statement around this one, if this one was begun or
    /// resumed last.
    #[inline]
    pub fn suspend(&self) {
        if let Some((running, local)) = self.running()
            && let Some(event) = running.event.filter(|_| running.home.is(local))
            && local.task.get().id() == event.id
        {
            local.task.set(event.parent);
        }
    }

    /// What is recorded, and the calling thread's local.
    #[inline(always)]
    fn running<'a>(&self) -> Option<(&Running, &'a Local)> {
        let running = self.0.as_option()?;
        Some((running, running.home.local()?))
    }

    /// Sets its text, and computes its digest from it. Outside of its session, only the digest is set.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn text(&self, text: &str) {
        if let Some((running, local)) = self.running() {
            running.text(local, text);
            running.digest(local, |schema| local.digest_of_text(text, schema));
        }
    }

    /// Sets its text only; its digest is set later, or it has none.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn text_only(&self, text: &str) {
        if let Some((running, local)) = self.running() {
            running.text(local, text);
        }
    }

    /// Sets its text, and a digest that was computed before.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn prepared(&self, text: &str, digest: &Digest) {
        if let Some((running, local)) = self.running() {
            running.text(local, text);
            running.digest(local, |schema| {
                local.digest_of_prepared(digest, "", text, schema)
            });
        }
    }

    /// Sets its digest by its normalised text, such as `get ?`, as the column DIGEST_TEXT shows it: for
    /// statements of another language than SQL. Its text is set by [`text_only`](Self::text_only).
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn shape(&self, shape: &str) {
        self.digest_by_shape(shape, shape);
    }

    /// Sets its digest as [`shape`](Self::shape) does. `text`: the statement, stored as the digest's first
    /// sample.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn digest_by_shape(&self, shape: &str, text: &str) {
        if let Some((running, local)) = self.running() {
            running.digest(local, |schema| local.digest_of_shape(shape, text, schema));
        }
    }

    /// Sets its default schema, if that is not the session's.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn schema(&self, name: &str) {
        if let Some((running, local)) = self.running() {
            running.schema(local, name);
        }
    }

    /// Sets a counter.
    #[inline]
    pub fn set(&self, counter: Counter, value: u64) {
        if let Some(running) = self.0.as_option() {
            running
                .counters
                .touch(counter as usize)
                .store(value, Ordering::Relaxed);
        }
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&self, counter: Counter, n: u64) {
        if let Some(running) = self.0.as_option() {
            running
                .counters
                .touch(counter as usize)
                .fetch_add(n, Ordering::Relaxed);
        }
    }

    counter_setters!();

    /// Records that it failed, with MySQL's error number, SQLSTATE (five characters) and the message.
    #[cold]
    pub fn error(&self, errno: u32, sqlstate: &str, message: &str) {
        error::raised(errno);
        if let Some(running) = self.0.as_option() {
            running.failed(errno, sqlstate, message);
        }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0.as_option().and_then(|running| running.event);
        f.debug_struct("Statement")
            .field("event_id", &id.map_or(0, |event| event.id))
            .finish()
    }
}
