//! Waits: anything that a thread stops for.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{Nesting, wait as at, word};
use tare_layout::line::EXTRA;
use tare_layout::shared::Lost;
use tare_layout::slot::{WAIT_DEPTH, ring};

use crate::Operation;
use crate::class::Class;
use crate::engine::local::{Local, attached, is_event, local, words};

/// A wait that runs; it ends when it is dropped, on the thread that began it.
#[must_use = "the wait ends when this is dropped"]
#[derive(Debug)]
pub struct Wait {
    /// The thread it belongs to, see [`Local::key`]; 0 = not recorded.
    key: u64,
    start: u64,
    /// Event id, 0 = no single event is shown or kept.
    id: u64,
    bytes: u64,
    object: u32,
    class: u16,
    operation: Operation,
    event_type: EventType,
    bits: u8,
    /// It must end on its own thread.
    thread: PhantomData<*const ()>,
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
#[inline]
pub fn start(class: &Class, operation: Operation) -> Wait {
    start_on(class, operation, 0)
}

/// Begins a wait for an instance, by its id (0 = none).
#[inline]
pub(crate) fn start_on(class: &Class, operation: Operation, object: u32) -> Wait {
    let off = Wait {
        key: 0,
        start: 0,
        id: 0,
        bytes: at::NO_BYTES,
        object: 0,
        class: 0,
        operation,
        event_type: event_type(class),
        bits: 0,
        thread: PhantomData,
    };
    let Some(local) = local() else { return off };
    let number = local.number(class);
    let bits = local.bits(number);
    if bits & effective::COUNT == 0 {
        return off;
    }
    let start = if bits & effective::TIME != 0 {
        local.clock(bits, off.event_type)
    } else {
        0
    };
    let id = if is_event(bits) {
        begin_event(local, start, number, operation, object, bits)
    } else {
        0
    };
    Wait {
        key: local.key,
        start,
        id,
        object,
        class: number,
        bits,
        ..off
    }
}

impl Wait {
    /// Says how many bytes were moved.
    #[inline]
    pub fn bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
    }
}

impl Drop for Wait {
    #[inline]
    fn drop(&mut self) {
        if self.key == 0 {
            return;
        }
        // Tare may have been stopped, or the thread's session changed, while it waited.
        let Some(local) = attached().filter(|local| local.key == self.key) else {
            return;
        };
        let line = self.operation.line();
        let extra = if self.bytes == at::NO_BYTES {
            0
        } else {
            self.bytes
        };
        let mut end = 0;
        let mut ticks = 0;
        if self.bits & effective::TIME != 0 {
            end = local.clock(self.bits, self.event_type);
            ticks = local.elapsed(self.start, end);
        }
        if let Some(row) = local.row(self.class, line) {
            if self.bits & effective::TIME != 0 {
                local.time(self.class, row, ticks);
            } else {
                row.add(tare_layout::line::COUNT, 1);
            }
            if extra != 0 {
                row.add(EXTRA, extra);
            }
        }
        if self.object != 0 {
            local.time_instance(self.object, line, ticks, extra);
        }
        if self.id != 0 {
            end_event(local, self.id, end, self.bytes, self.bits);
        }
    }
}

fn event_type(class: &Class) -> EventType {
    class.kind().event_type().unwrap_or(EventType::Wait)
}

/// Shows a wait as current; its event id.
#[inline]
pub(crate) fn begin_event(
    local: &Local,
    start: u64,
    class: u16,
    operation: Operation,
    object: u32,
    bits: u8,
) -> u64 {
    let id = local.next_event_id();
    let depth = local.waits.get();
    local.waits.set(depth + 1);
    if depth >= WAIT_DEPTH {
        local.engine.lose(Lost::NestedWaits, 1);
        return id;
    }
    let nesting = match depth {
        0 => local.nesting(),
        _ => (local.slot.waits[depth - 1].word(word::ID), Nesting::Wait),
    };
    let mut words = words(local, id, start, class, operation as u8, nesting);
    words[at::OBJECT] = u64::from(object);
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
    let depth = local.waits.get().saturating_sub(1);
    local.waits.set(depth);
    if depth >= WAIT_DEPTH {
        return;
    }
    let record = &local.slot.waits[depth];
    let packed = local.ended(record.word(word::PACKED), id);
    record.set(at::BYTES, bytes);
    record.set(word::PACKED, packed);
    record.set(word::END, end);
    local.slot.wait_depth.store(depth as u32, Ordering::Relaxed);
    if bits & (effective::HISTORY | effective::LONG) != 0 {
        let words = record.words();
        let (view, slot) = (&local.engine.view, local.slot_number());
        let cursor = &local.cursors[ring::WAITS];
        if bits & effective::HISTORY != 0 {
            let events = view.ring_waits(slot);
            events[cursor.next_place(local.slot, ring::WAITS, events.len())].publish(&words);
        }
        if bits & effective::LONG != 0 {
            let place = cursor.next_long(&local.engine, slot, ring::WAITS);
            view.long_wait(place).publish(&words);
        }
    }
}
