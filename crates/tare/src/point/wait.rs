//! Waits: anything that a thread stops for.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{Nesting, wait as at, word};
use tare_layout::line::{COUNT, EXTRA};
use tare_layout::object::{IO_LINES, part, target};
use tare_layout::sampling::WAIT;
use tare_layout::shared::Lost;
use tare_layout::slot::{WAIT_DEPTH, ring};

use crate::class::Class;
use crate::engine::active::{self, local_of_moments};
use crate::engine::clock;
use crate::engine::hot::{attached, local_in};
use crate::engine::local::{Local, is_event, words};
use crate::engine::running::{self, NOW};
use crate::payload::{IS_COMPILED_IN, Payload};
use crate::source::Source;
use tare_layout::Kind;
use tare_layout::event::Operation;

/// A running wait. It ends when it is dropped, on the thread that began it.
#[must_use = "the wait ends when this is dropped"]
#[derive(Debug)]
pub struct Wait {
    /// `None`: not recorded, or counted already.
    running: Payload<Option<Running>>,
    /// The wait must end on its own thread.
    thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Running {
    /// The thread that it belongs to: see [`Local::key`]. [`active::KEY`]: it began at the level `active`;
    /// then `start` is that key, and `object` the word of the outer wait.
    key: u64,
    start: u64,
    /// Event id, 0 = it is not stored as an event.
    id: u64,
    bytes: u64,
    /// See [`target`].
    object: u64,
    class: u16,
    /// The number of waits that it counts as.
    weight: u16,
    operation: Operation,
    /// The line of a row that counts the operation.
    line: u8,
    event_type: EventType,
    bits: u8,
}

/// Begins a wait of a class of any wait kind.
///
/// ```
/// tare::classes! { static FSYNC: File = "wait/io/file/app/journal"; }
/// {
///     let _wait = tare::wait::start(&FSYNC, tare::Operation::Sync);
///     // file.sync_all()
/// }
/// ```
#[inline(always)]
#[track_caller]
pub fn start(class: &Class, operation: Operation) -> Wait {
    start_at(class, operation, Source::here())
}

/// As [`start`], for a host that passes the place in its source.
#[inline(always)]
pub fn start_at(class: &Class, operation: Operation, source: Source) -> Wait {
    start_on::<false>(class, operation, Start::Now, source, |_| (0, 0xff))
}

/// Whether any wait may be counted: for hosts that prepare data for waits. False while all are off, if
/// settings are [watched](crate::watch_settings). Windows of sampling make no difference.
#[inline(always)]
pub fn are_counted() -> bool {
    IS_COMPILED_IN && NOW.objects.load(Ordering::Relaxed) != 0
}

/// When a wait begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Now: a clock is read.
    Now,
    /// At the thread's present edge: see [`Local::edge`].
    Edge,
    /// At the start of the thread's present stage.
    Stage,
}

/// Begins a wait for the object that `object` returns ([`target`], 0 = none), with the flags that the
/// object's own mask leaves of its class's flags.
///
/// `HOST_CALLS`: it is the last action of a call from the host, and everything is inlined. Elsewhere it
/// is done in a separate function, so that code around a wait that is not counted stays small.
#[inline(always)]
pub(crate) fn start_on<const HOST_CALLS: bool>(
    class: &Class,
    operation: Operation,
    start: Start,
    source: Source,
    object: impl FnOnce(&Local) -> (u64, u8),
) -> Wait {
    if !IS_COMPILED_IN {
        return Wait::NONE;
    }
    let generation = NOW.waits.load(Ordering::Relaxed);
    if generation == 0 {
        return Wait::NONE;
    }
    let Some(local) = local_in(generation) else {
        return begin_moment(class, operation, object);
    };
    let (object, mask) = object(local);
    let number = local.number(class);
    let bits = local.bits(number) & mask;
    let (kind, line) = (class.kind(), operation.line());
    if bits & effective::COUNT == 0 || !fits(kind, line) {
        return Wait::NONE;
    }
    let weight = running::weight(bits, WAIT);
    if weight == 0 {
        return Wait::NONE;
    }
    let is_plain = bits & effective::TIME == 0 && !is_event(bits);
    if is_plain && object == 0 && !matches!(kind, Kind::File | Kind::Socket) {
        // At its end nothing more will be known than now.
        if let Some(row) = local.row(number, line) {
            row.count_weighed(u32::from(weight));
        }
        return Wait::NONE;
    }
    match HOST_CALLS {
        true => begin(
            local, weight, kind, number, bits, operation, start, object, source,
        ),
        false => begin_outlined(
            local, weight, kind, number, bits, operation, start, object, source,
        ),
    }
}

/// Begins a wait at the level `active`.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn begin_moment(
    class: &Class,
    operation: Operation,
    object: impl FnOnce(&Local) -> (u64, u8),
) -> Wait {
    let Some(local) = local_of_moments() else {
        return Wait::NONE;
    };
    let (number, object) = (local.number(class), object(local).0);
    let Some(outer) = local.begin_wait(number, class.kind(), operation, object) else {
        return Wait::NONE;
    };
    let running = Running {
        key: active::KEY,
        start: local.key,
        id: 0,
        bytes: at::NO_BYTES,
        object: outer,
        class: number,
        weight: 0,
        operation,
        line: 0,
        event_type: EventType::Wait,
        bits: 0,
    };
    Wait {
        running: Payload::of(Some(running)),
        thread: PhantomData,
    }
}

/// Whether rows of the kind have this time line. Otherwise the event would be counted into the next
/// row.
#[inline(always)]
pub(crate) fn fits(kind: Kind, line: usize) -> bool {
    kind as u8 <= Kind::Idle as u8 && line < kind.row_lines()
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
#[allow(clippy::too_many_arguments)]
fn begin_outlined(
    local: &Local,
    weight: u16,
    kind: Kind,
    number: u16,
    bits: u8,
    operation: Operation,
    start: Start,
    object: u64,
    source: Source,
) -> Wait {
    begin(
        local, weight, kind, number, bits, operation, start, object, source,
    )
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn begin(
    local: &Local,
    weight: u16,
    kind: Kind,
    number: u16,
    bits: u8,
    operation: Operation,
    start: Start,
    object: u64,
    source: Source,
) -> Wait {
    let event_type = match kind {
        Kind::Idle => EventType::Idle,
        _ => EventType::Wait,
    };
    let began = match start == Start::Now && is_by_counter(bits) {
        true => {
            local.edge.set(0);
            clock::cycles()
        }
        false => clock_of(local, bits, event_type, start),
    };
    let id = match is_event(bits) {
        true => begin_event(local, began, number, operation, object, bits, source),
        false => 0,
    };
    // Built here, from values in registers: a value returned by a function would be written and read in
    // pieces of different sizes, and the reads would wait for the stores.
    let running = Running {
        key: local.key,
        start: began,
        id,
        bytes: at::NO_BYTES,
        object,
        class: number,
        weight,
        operation,
        line: operation.line() as u8,
        event_type,
        bits,
    };
    Wait {
        running: Payload::of(Some(running)),
        thread: PhantomData,
    }
}

/// Whether a wait is timed, and by the counter.
#[inline(always)]
const fn is_by_counter(bits: u8) -> bool {
    bits & (effective::TIME | effective::OTHER_CLOCK) == effective::TIME
}

/// The clock when a wait began, 0 = it is not timed.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn clock_of(local: &Local, bits: u8, event_type: EventType, start: Start) -> u64 {
    match start {
        Start::Now => local.edge.set(0),
        // It follows neither an idle time nor the start of a statement.
        Start::Edge if local.statements.get() != 0 || local.edge.get() == local.idle_end.get() => {
            local.edge.set(0);
        }
        Start::Edge => {}
        Start::Stage => local.edge.set(local.stage_began()),
    }
    match bits & effective::TIME {
        0 => 0,
        _ => local.clock_at_edge(bits, event_type),
    }
}

impl Wait {
    /// One that is not recorded.
    pub(crate) const NONE: Self = Self {
        running: Payload::of(None),
        thread: PhantomData,
    };

    /// Sets the number of bytes moved, or the size that a file was given: the event shows the latter, sums do
    /// not include it.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: u64) {
        if let Some(running) = self.running.as_option_mut() {
            running.bytes = bytes;
        }
    }

    /// Sets the file of a wait that began before the file was known.
    pub fn about_file(&mut self, file: &super::file::Instance) {
        if let Some(running) = self.running.as_option_mut()
            && let Some(local) = attached().filter(|local| local.key == running.key)
        {
            running.object = u64::from(file.id(local));
            let record = (local.stage.waits.get().checked_sub(1))
                .and_then(|depth| local.slot.waits.get(depth as usize))
                .filter(|record| running.id != 0 && record.word(word::ID) == running.id);
            if let Some(record) = record {
                record.set(at::OBJECT, running.object);
            }
        }
    }

    /// Whether it is still running: a wait that was counted at once, or is not recorded, is not.
    #[inline(always)]
    pub fn is_running(&self) -> bool {
        self.running.as_option().is_some()
    }

    /// Sets the number of a table's rows; the default is one.
    #[inline(always)]
    pub fn rows(&mut self, rows: u64) {
        self.bytes(rows);
    }
}

impl Drop for Running {
    #[inline(always)]
    fn drop(&mut self) {
        self.end();
    }
}

impl Running {
    /// The usual path has few instructions and no calls: the wait is timed by the counter, and its rows
    /// exist.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end(&self) {
        // Unless Tare was stopped, or the thread's session changed, during the wait.
        let Some(local) = attached().filter(|local| local.key == self.key) else {
            return self.end_moment();
        };
        if !is_by_counter(self.bits) || self.id != 0 {
            return self.end_unusual(local);
        }
        let now = clock::cycles();
        let is_of_instance = target::of(self.object) == target::INSTANCE;
        if !is_of_instance && self.count() != 1 {
            return self.end_at(local, now);
        }
        let (line, weight) = (usize::from(self.line), self.weight);
        let ticks = now.wrapping_sub(self.start);
        let Some(row) = local.try_time_fast(self.class, line, ticks, weight) else {
            return self.end_at(local, now);
        };
        let extra = if is_of_instance { self.extra() } else { 0 };
        row.add(EXTRA, extra);
        self.leave_edge(local, now);
        let its_own = match target::of(self.object) {
            target::INSTANCE if self.object == 0 => return,
            target::INSTANCE => local.instance_line_fast(self.object as u32, line),
            target::OBJECT => {
                let (id, part, _, line) = self.object_line();
                let row = local.object_fast(id, part);
                row.map(|row| local.object_line(row + line))
            }
            _ => return,
        };
        match its_own {
            Some(line) => {
                line.time_weighed(ticks, u32::from(weight));
                line.add(EXTRA, extra);
            }
            None => self.count_its_own(local, ticks),
        }
    }

    /// Ends a wait that began at the level `active`.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end_moment(&self) {
        if self.key == active::KEY
            && let Some(local) = attached().filter(|local| local.key == self.start)
        {
            local.set_wait(self.object);
        }
    }

    /// Counts it for its object, whose row does not exist yet or is not at the first index entry.
    #[cold]
    #[inline(never)]
    fn count_its_own(&self, local: &Local, ticks: u64) {
        match target::of(self.object) {
            target::INSTANCE => {
                let (id, line) = (self.object as u32, usize::from(self.line));
                let bytes = self.bytes();
                local.time_instance(id, line, ticks, bytes, self.weight);
            }
            _ => {
                let (id, part, lines, line) = self.object_line();
                local.time_object((id, part, lines), line, 1, Some(ticks), self.weight);
            }
        }
    }

    /// Ends a wait that is not timed, is timed by another clock, or is an event.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end_unusual(&self, local: &Local) {
        let now = match self.bits & effective::TIME {
            0 => 0,
            _ => local.clock(self.bits, self.event_type),
        };
        self.end_at(local, now);
    }

    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end_at(&self, local: &Local, now: u64) {
        let (now, ticks) = match local.is_timed(self.bits, self.start, now) {
            true => (now, Some(local.elapsed(self.start, now))),
            false => (0, None),
        };
        match target::of(self.object) {
            target::INSTANCE => self.count_on_instance(local, ticks),
            _ => self.count_on_object(local, ticks),
        }
        if self.id != 0 {
            end_event(local, self.id, now, self.bytes, self.bits);
        }
        self.leave_edge(local, now);
    }

    #[inline(always)]
    fn count_on_instance(&self, local: &Local, ticks: Option<u64>) {
        let (line, weight) = (usize::from(self.line), self.weight);
        if let Some(row) = local.row(self.class, line) {
            match ticks {
                Some(ticks) => local.time_weighed(self.class, row, ticks, weight),
                None => row.count_weighed(u32::from(weight)),
            }
            row.add(EXTRA, self.extra());
        }
        if self.object != 0 {
            let (id, ticks) = (self.object as u32, ticks.unwrap_or(0));
            local.time_instance(id, line, ticks, self.bytes(), weight);
        }
    }

    /// Counts a wait for a table (for many rows, or for one lock) or for a metadata lock.
    #[inline(always)]
    fn count_on_object(&self, local: &Local, ticks: Option<u64>) {
        let (line, n, weight) = (usize::from(self.line), self.count(), self.weight);
        if let Some(row) = local.row(self.class, line) {
            match ticks {
                Some(ticks) => local.time_many(self.class, row, n, ticks, weight),
                None => row.add(COUNT, n.wrapping_mul(u64::from(weight))),
            }
        }
        if target::of(self.object) == target::OBJECT {
            let (id, part, lines, line) = self.object_line();
            local.time_object((id, part, lines), line, n, ticks, weight);
        }
    }

    /// Bytes that were moved.
    #[inline(always)]
    fn bytes(&self) -> u64 {
        match self.bytes {
            at::NO_BYTES => 0,
            bytes => bytes,
        }
    }

    /// Bytes times weight.
    #[inline(always)]
    fn extra(&self) -> u64 {
        self.bytes().wrapping_mul(u64::from(self.weight))
    }

    /// Rows of a table, at least one.
    #[inline(always)]
    fn count(&self) -> u64 {
        match self.bytes {
            at::NO_BYTES => 1,
            rows => rows,
        }
    }

    /// The object's id and part, the number of lines of the part's row, and the line to count in.
    #[inline(always)]
    fn object_line(&self) -> (u32, u8, usize, usize) {
        let part = target::part(self.object);
        let (lines, line) = match part::lock_of(part) {
            Some(_) => (1, 0),
            None => (IO_LINES, usize::from(self.line)),
        };
        (self.object as u32, part, lines, line)
    }

    /// Idle time follows the last send, and a statement follows the idle time.
    #[inline(always)]
    fn leave_edge(&self, local: &Local, now: u64) {
        let is_idle = self.event_type == EventType::Idle;
        if is_idle || self.operation == Operation::Send {
            local.set_edge(self.bits, now);
        }
        if is_idle {
            local.idle_end.set(local.edge.get());
        }
    }
}

/// Publishes a wait as current. Returns its event id.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(crate) fn begin_event(
    local: &Local,
    start: u64,
    class: u16,
    operation: Operation,
    object: u64,
    bits: u8,
    source: Source,
) -> u64 {
    let id = local.next_event_id();
    let depth = local.stage.waits.get() as usize;
    local.stage.waits.set(depth as u32 + 1);
    if depth >= WAIT_DEPTH {
        local.engine.lose(Lost::NestedWaits, 1);
        return id;
    }
    let nesting = match depth {
        0 => local.nesting(),
        _ => (local.slot.waits[depth - 1].word(word::ID), Nesting::Wait),
    };
    let source = local.source(source);
    let mut words = words(local, id, start, class, operation as u8, nesting, source);
    words[at::OBJECT] = object;
    words[at::BYTES] = at::NO_BYTES;
    local.slot.waits[depth].publish(&words);
    if bits & effective::CURRENT != 0 {
        local
            .slot
            .wait_depth
            .store(depth as u32 + 1, Ordering::Relaxed);
    }
    id
}

/// Ends a wait's event, and copies it to the histories that the flags name.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(crate) fn end_event(local: &Local, id: u64, end: u64, bytes: u64, bits: u8) {
    let depth = local.stage.waits.get().saturating_sub(1);
    local.stage.waits.set(depth);
    let depth = depth as usize;
    if depth >= WAIT_DEPTH {
        return;
    }
    let record = &local.slot.waits[depth];
    let packed = local.ended(record.word(word::PACKED), id);
    record.set(at::BYTES, bytes);
    record.set(word::PACKED, packed);
    record.set(word::END, local.end_word(record, end));
    local.slot.wait_depth.store(depth as u32, Ordering::Relaxed);
    let rings = &local.rings;
    local.store_event(ring::WAITS, record, bits, rings.waits, |i| {
        &rings.long_waits[i]
    });
}
