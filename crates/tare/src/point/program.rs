//! Stored programs: procedures, functions, triggers, events.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::class::EventType;
use tare_layout::control::{GLOBAL, THREAD, Timer, effective};
use tare_layout::object::{PROGRAM_LINES, part};

use super::table;
use crate::engine::counted::StatementCounters;
use crate::engine::hot::{attached, local};
use crate::engine::local::Local;
use crate::payload::Payload;
use tare_layout::object::ObjectType;

/// A stored program by its name: a row of events_statements_summary_by_program.
///
/// ```
/// use tare::ObjectType;
/// static CLEAN_UP: tare::program::Program =
///     tare::program::Program::new(ObjectType::Procedure, "shop", "clean_up");
/// {
///     let _call = CLEAN_UP.start();
///     // each statement that begins and ends here counts for it, too
/// }
/// ```
#[derive(Debug)]
pub struct Program<T = &'static str> {
    kind: ObjectType,
    schema: T,
    name: T,
    /// Generation (bits 32-63) and id (bits 0-31).
    id: Payload<AtomicU64>,
}

impl<T> Program<T> {
    /// A program. A host that has the names at compile time can store it in a static; otherwise it uses
    /// `Program<Box<str>>`.
    pub const fn new(kind: ObjectType, schema: T, name: T) -> Self {
        Self {
            kind,
            schema,
            name,
            id: Payload::of(AtomicU64::new(0)),
        }
    }
}

impl<T: AsRef<str>> Program<T> {
    /// Begins a call, which ends when the guard is dropped.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn start(&self) -> Call {
        let call = local().and_then(|local| self.begin(local));
        Call {
            _running: Payload::of(call),
            thread: PhantomData,
        }
    }

    /// Lists it before its first call, when the host has loaded it.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn list(&self) {
        if let Some(local) = local() {
            self.id(local);
        }
    }

    /// The program was dropped: its figures are removed.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn dropped(self) {
        table::forget(self.kind, self.schema.as_ref(), self.name.as_ref());
    }

    fn begin(&self, local: &Local) -> Option<Running> {
        let id = self.id(local);
        let before = local.program.replace(id);
        let mut bits = local.object_mask(id) & local.thread_mask();
        let control = local.engine.view.control();
        let consumers = control.consumers.load(Ordering::Relaxed);
        if consumers & (GLOBAL | THREAD) != GLOBAL | THREAD || bits & effective::COUNT == 0 {
            bits = 0;
            // Statements that it runs are not counted for it.
            local.program.set(0);
        }
        let timer = control.timers[EventType::Statement as usize].load(Ordering::Relaxed);
        if timer == Timer::Cycle as u8 && control.no_cycles.load(Ordering::Relaxed) == 0 {
            bits &= !effective::OTHER_CLOCK;
        }
        let timed = bits & effective::TIME != 0;
        Some(Running {
            key: local.key,
            id,
            before,
            bits,
            start: match timed {
                true => local.clock(bits, EventType::Statement),
                false => 0,
            },
        })
    }

    fn id(&self, local: &Local) -> u32 {
        let Some(tagged_id) = self.id.get() else {
            return 0;
        };
        let id = tagged_id.load(Ordering::Relaxed);
        if id >> 32 == local.key >> 32 {
            return id as u32;
        }
        let Some(_creation) = local.begin_creation() else {
            return 0;
        };
        let (schema, name) = (self.schema.as_ref(), self.name.as_ref());
        let id = local.engine.open_object(self.kind, schema, name, &[]);
        let tagged = local.key >> 32 << 32 | u64::from(id);
        tagged_id.store(tagged, Ordering::Relaxed);
        id
    }
}

/// A running program.
#[must_use = "the call ends when this is dropped"]
#[derive(Debug)]
pub struct Call {
    /// Ends when it is dropped.
    _running: Payload<Option<Running>>,
    thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Running {
    key: u64,
    id: u32,
    /// The program that called this one.
    before: u32,
    bits: u8,
    start: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(local) = attached().filter(|local| local.key == self.key) else {
            return;
        };
        local.program.set(self.before);
        if self.bits & effective::COUNT == 0 {
            return;
        }
        let now = match self.bits & effective::TIME != 0 {
            true => local.clock(self.bits, EventType::Statement),
            false => 0,
        };
        let timed = local.is_timed(self.bits, self.start, now);
        let ticks = timed.then(|| local.elapsed(self.start, now));
        local.time_object((self.id, part::MAIN, PROGRAM_LINES), 0, 1, ticks, 1);
    }
}

/// Counts a statement that ended inside a program.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(crate) fn count(local: &Local, id: u32, ticks: Option<u64>, counted: &StatementCounters) {
    let row = (id, part::MAIN, PROGRAM_LINES);
    local.time_object(row, 1, 1, ticks, 1);
    match local.object_row(id, part::MAIN, PROGRAM_LINES) {
        Some(at) => counted.each(|i, cell, n| local.object_line(at + i + 1).add(cell, n)),
        None => counted.each(|i, cell, n| {
            if let Some((line, _)) = local.engine.object_lines(id, part::MAIN, i + 1) {
                line.cells[cell].fetch_add(n, Ordering::Relaxed);
            }
        }),
    }
}
