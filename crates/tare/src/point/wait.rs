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
use crate::engine::hot::{attached, local_of_waits};
use crate::engine::local::{Local, is_event, words};
use crate::engine::running::{self, NOW};
use crate::source::Source;
use tare_layout::Kind;
use tare_layout::event::Operation;

/// A wait that runs; it ends when it is dropped, on the thread that began it.
#[must_use = "the wait ends when this is dropped"]
#[derive(Debug)]
pub struct Wait {
    /// `None`: not recorded, or counted already.
    running: Option<Running>,
    /// It must end on its own thread.
    thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Running {
    /// The thread that it belongs to, see [`Local::key`]; and what it stands for, see [`Local::weighed_key`].
    key: u64,
    start: u64,
    /// Event id, 0 = no single event is shown or kept.
    id: u64,
    bytes: u64,
    /// See [`target`].
    object: u64,
    class: u16,
    operation: Operation,
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

/// The same, of a host that says where in its source that is.
#[inline(always)]
pub fn start_at(class: &Class, operation: Operation, source: Source) -> Wait {
    start_on(class, operation, Start::Now, source, |_| (0, 0xff))
}

/// Whether any wait may be counted: for hosts that would prepare something for them. False while all are off, where
/// settings are [watched](crate::watch_settings). The windows of sampling make no difference.
#[inline(always)]
pub fn are_counted() -> bool {
    NOW.objects.load(Ordering::Relaxed) != 0
}

/// When a wait begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Now: a clock is read.
    Now,
    /// At the edge where the thread is, see [`Local::edge`].
    Edge,
    /// Where the stage began that the thread is in.
    Stage,
}

/// Begins a wait for what `object` names ([`target`], 0 = nothing) when it is asked, with what its
/// own settings leave of its class's flags.
#[inline(always)]
pub(crate) fn start_on(
    class: &Class,
    operation: Operation,
    start: Start,
    source: Source,
    object: impl FnOnce(&Local) -> (u64, u8),
) -> Wait {
    let running = local_of_waits().and_then(|local| {
        let (object, mask) = object(local);
        begin(local, class, operation, start, source, object, mask)
    });
    Wait {
        running,
        thread: PhantomData,
    }
}

/// Whether the kind's rows have a time line for the operation. A class used for what it is not would
/// count into its neighbour's row.
#[inline(always)]
fn fits(kind: Kind, operation: Operation) -> bool {
    kind as u8 <= Kind::Idle as u8 && operation.line() < kind.row_lines()
}

#[inline(always)]
fn begin(
    local: &Local,
    class: &Class,
    operation: Operation,
    start: Start,
    source: Source,
    object: u64,
    mask: u8,
) -> Option<Running> {
    let number = local.number(class);
    let bits = local.bits(number) & mask;
    if bits & effective::COUNT == 0 || !fits(class.kind(), operation) {
        return None;
    }
    let (mut key, mut weight) = (local.key, 1);
    if bits & effective::WEIGHED != 0 {
        weight = running::weight(bits, WAIT);
        if weight == 0 {
            return None;
        }
        key = local.weighed_key(weight);
    }
    let is_plain = bits & effective::TIME == 0 && !is_event(bits);
    if is_plain && object == 0 && !matches!(class.kind(), Kind::File | Kind::Socket) {
        // Nothing is known at its end that is not known now.
        if let Some(row) = local.row(number, operation.line()) {
            row.count_weighed(u32::from(weight));
        }
        return None;
    }
    match start {
        Start::Now => local.edge.set(0),
        Start::Edge => {}
        Start::Stage => local.edge.set(local.stage_began()),
    }
    Some(match is_event(bits) {
        true => begin_kept(local, key, class, number, bits, operation, object, source),
        false => begin_slow(local, key, class, number, bits, operation, object),
    })
}

/// Begins a wait that no table shows.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn begin_slow(
    local: &Local,
    key: u64,
    class: &Class,
    number: u16,
    bits: u8,
    operation: Operation,
    object: u64,
) -> Running {
    begin_as(local, key, class, number, bits, operation, object, None)
}

/// Begins one that some do.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
#[allow(clippy::too_many_arguments)]
fn begin_kept(
    local: &Local,
    key: u64,
    class: &Class,
    number: u16,
    bits: u8,
    operation: Operation,
    object: u64,
    source: Source,
) -> Running {
    let kept = Some(source);
    begin_as(local, key, class, number, bits, operation, object, kept)
}

/// `kept`: where it begins, of one that a table shows.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn begin_as(
    local: &Local,
    key: u64,
    class: &Class,
    number: u16,
    bits: u8,
    operation: Operation,
    object: u64,
    kept: Option<Source>,
) -> Running {
    let event_type = class.kind().event_type().unwrap_or(EventType::Wait);
    if event_type == EventType::Idle {
        local.settle();
    }
    let start = if bits & effective::TIME != 0 {
        local.clock_at_edge(bits, event_type)
    } else {
        0
    };
    let id = match kept {
        Some(source) => begin_event(local, start, number, operation, object, bits, source),
        None => 0,
    };
    Running {
        key,
        start,
        id,
        bytes: at::NO_BYTES,
        object,
        class: number,
        operation,
        event_type,
        bits,
    }
}

impl Wait {
    /// Says how many bytes were moved, or which size a file was given: the event shows it, no sum does.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: u64) {
        if let Some(running) = &mut self.running {
            running.bytes = bytes;
        }
    }

    /// Says which file it was about, of a wait that began before there was one.
    pub fn about_file(&mut self, file: &super::file::Instance) {
        if let Some(running) = &mut self.running
            && let Some(local) = attached().filter(|local| local.weight_of(running.key).is_some())
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

    /// Whether it runs: what was counted at once, or is not recorded, does not.
    #[inline(always)]
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Says how many rows of a table it was about; one, where nothing is said.
    #[inline(always)]
    pub fn rows(&mut self, rows: u64) {
        self.bytes(rows);
    }
}

impl Drop for Wait {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.end();
        }
    }
}

impl Running {
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end(&self) {
        let Some(local) = attached() else { return };
        if local.key != self.key {
            return self.end_weighed(local);
        }
        match target::of(self.object) {
            target::INSTANCE => self.end_as(local, 1),
            _ => self.end_on_object(local),
        }
    }

    /// It stands for several. Or Tare has been stopped, or the thread's session changed, while it waited.
    #[inline(never)]
    fn end_weighed(&self, local: &Local) {
        let Some(weight) = local.weight_of(self.key) else {
            return;
        };
        match target::of(self.object) {
            target::INSTANCE => self.end_as(local, weight),
            _ => self.end_on_object_as(local, weight),
        }
    }

    #[inline(always)]
    fn end_as(&self, local: &Local, weight: u16) {
        let line = self.operation.line();
        let extra = if self.bytes == at::NO_BYTES {
            0
        } else {
            self.bytes
        };
        let timed = self.bits & effective::TIME != 0;
        let end = if timed {
            local.clock(self.bits, self.event_type)
        } else {
            0
        };
        let timed = local.is_timed(self.bits, self.start, end);
        let (end, ticks) = match timed {
            true => (end, local.elapsed(self.start, end)),
            false => (0, 0),
        };
        if let Some(row) = local.row(self.class, line) {
            if timed {
                local.time_weighed(self.class, row, ticks, weight);
            } else {
                row.count_weighed(u32::from(weight));
            }
            if extra != 0 {
                row.add(EXTRA, extra.wrapping_mul(u64::from(weight)));
            }
        }
        if self.object != 0 {
            local.time_instance(self.object as u32, line, ticks, extra, weight);
        }
        if self.id != 0 {
            end_event(local, self.id, end, self.bytes, self.bits);
        }
        // What is sent last is followed by an idle time, and that by a statement.
        if self.event_type == EventType::Idle || self.operation == Operation::Send {
            local.set_edge(self.bits, end);
            if self.event_type == EventType::Idle {
                local.idle_end.set(local.edge.get());
            }
        }
    }
}

impl Running {
    /// A wait for a table (so many rows at once, or one lock), or for a metadata lock.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    fn end_on_object(&self, local: &Local) {
        self.end_on_object_as(local, 1);
    }

    #[inline(always)]
    fn end_on_object_as(&self, local: &Local, weight: u16) {
        let timed = self.bits & effective::TIME != 0;
        let end = if timed {
            local.clock(self.bits, self.event_type)
        } else {
            0
        };
        let timed = local.is_timed(self.bits, self.start, end);
        let (end, ticks) = match timed {
            true => (end, local.elapsed(self.start, end)),
            false => (0, 0),
        };
        let line = self.operation.line();
        let n = if self.bytes == at::NO_BYTES {
            1
        } else {
            self.bytes
        };
        if let Some(row) = local.row(self.class, line) {
            if timed {
                local.time_many(self.class, row, n, ticks, weight);
            } else {
                row.add(COUNT, n.wrapping_mul(u64::from(weight)));
            }
        }
        if target::of(self.object) == target::OBJECT {
            let part = target::part(self.object);
            let (lines, line) = match part::lock_of(part) {
                Some(_) => (1, 0),
                None => (IO_LINES, line),
            };
            let row = (self.object as u32, part, lines);
            local.time_object(row, line, n, timed.then_some(ticks), weight);
        }
        if self.id != 0 {
            end_event(local, self.id, end, self.bytes, self.bits);
        }
    }
}

/// Shows a wait as current; its event id.
#[inline]
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

/// Ends a wait's event, and keeps it where the flags say.
#[inline]
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
    if bits & (effective::HISTORY | effective::LONG) != 0 {
        let cursor = &local.cursors[ring::WAITS];
        if bits & effective::HISTORY != 0 {
            let events = local.rings.waits;
            events[cursor.next_place(local.slot, ring::WAITS, events.len())].publish_copy(record);
        }
        if bits & effective::LONG != 0 {
            let place = cursor.next_long(&local.engine, local.slot_number(), ring::WAITS);
            local.rings.long_waits[place].publish_copy(record);
        }
    }
}
