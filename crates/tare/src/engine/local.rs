//! A thread's side of the engine: how a point finds its slot and bank, and how threads come and go.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use tare_layout::bank::{Bank, INSTANCE_ENTRIES};
use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{self, Nesting, Packed, word};
use tare_layout::histogram::{BLOCK_BUCKETS, BLOCK_LINES, BUCKETS, LIMIT, bucket_low};
use tare_layout::line::{EXTRA, HISTOGRAM, Item, Line, MIN, NO_MIN};
use tare_layout::primitive::{bump, increment};
use tare_layout::shared::Lost;
use tare_layout::slot::{FREE, LIVE, STATEMENT_DEPTH, Slot, ring};

use super::account::Account;
use super::digests::DigestCache;
use super::history::Cursor;
use super::{Engine, GENERATION, bank, clock, engine};
use crate::class::Class;

/// What a thread keeps about its slot. Reached through [`HOT`], or owned by a session.
#[repr(align(64))]
pub(crate) struct Local {
    /// Generation (bits 32-63) and slot (bits 0-31): what a guard remembers it belongs to.
    pub key: u64,
    /// Effective bytes by class.
    effective: *const AtomicU8,
    /// This thread's mask for them.
    mask: *const AtomicU8,
    /// The bank's class index.
    index: Cell<*const AtomicU16>,
    /// The bank's arena.
    arena: Cell<*const Line>,
    /// The bank's fixed part.
    bank: Cell<&'static Bank>,
    /// The slot.
    pub slot: &'static Slot,
    /// Its history rings and text ring.
    pub rings: Rings,
    /// Number of the bank.
    pub bank_number: Cell<usize>,
    /// Keeps the segment mapped; everything above points into it.
    pub engine: Arc<Engine>,

    /// Waits open.
    pub waits: Cell<usize>,
    /// The stage running: class, start, and what to do with it.
    pub stage: OpenStage,
    /// Statements open, and the event id of each.
    pub statements: Cell<usize>,
    /// Event ids of the open statements.
    pub statement_ids: [Cell<u64>; STATEMENT_DEPTH],
    /// Event id of the open transaction, 0 = none.
    pub transaction_id: Cell<u64>,
    /// Where the next event goes in each ring.
    pub cursors: [Cursor; ring::RINGS],
    /// The account.
    pub account: Cell<Account>,
    /// Number of the default schema.
    pub schema: Cell<u32>,
    /// Digests of the texts seen last.
    pub digests: UnsafeCell<DigestCache>,
}

/// The rings of a slot, and history_long: looked up once, when the thread attaches.
pub(crate) struct Rings {
    pub waits: &'static [event::Wait],
    pub stages: &'static [event::Stage],
    pub statements: &'static [event::Statement],
    pub transactions: &'static [event::Transaction],
    pub text: &'static [AtomicU64],
    pub long_waits: &'static [event::Wait],
    pub long_stages: &'static [event::Stage],
}

/// The stage that runs. Fields apart, each read as it was written: a copy of the whole would be
/// loaded in other pieces than it was stored in, which waits for the stores.
#[derive(Default)]
pub(crate) struct OpenStage {
    /// Bits 0-7 flags (0 = no stage runs), bits 8-23 class.
    head: Cell<u32>,
    /// Ticks at its start.
    pub start: Cell<u64>,
    /// Event id, 0 = none.
    pub id: Cell<u64>,
}

impl OpenStage {
    /// Class and flags.
    #[inline(always)]
    pub fn head(&self) -> (u16, u8) {
        let head = self.head.get();
        ((head >> 8) as u16, head as u8)
    }

    /// Makes another stage the one that runs; flags 0 = none.
    #[inline(always)]
    pub fn set(&self, class: u16, bits: u8, start: u64, id: u64) {
        self.head.set(u32::from(class) << 8 | u32::from(bits));
        self.start.set(start);
        self.id.set(id);
    }
}

/// The state of a thread towards Tare.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It has had no event yet.
    New,
    /// It has a slot.
    Attached,
    /// It is getting one: events now come from a signal handler.
    Busy,
    /// It found no slot left.
    Lost,
    /// It is ending: its slot has been given back.
    Gone,
}

/// What a point reads first. Without a destructor, so that it can be read at any time in a
/// thread's life, signal handlers and other destructors included.
struct Hot {
    generation: Cell<u32>,
    local: Cell<*const Local>,
    mode: Cell<Mode>,
    /// The class to use when the thread attaches.
    class: Cell<Option<&'static Class>>,
    /// The thread that made this one.
    parent: Cell<u64>,
    /// Sessions entered, one inside the other.
    sessions: Cell<u32>,
    /// This thread's own local while a session is entered.
    own: Cell<*const Local>,
    /// Events lost since the last try to attach.
    lost: Cell<u32>,
}

thread_local! {
    static HOT: Hot = const {
        Hot {
            generation: Cell::new(0),
            local: Cell::new(ptr::null()),
            mode: Cell::new(Mode::New),
            class: Cell::new(None),
            parent: Cell::new(0),
            sessions: Cell::new(0),
            own: Cell::new(ptr::null()),
            lost: Cell::new(0),
        }
    };
    /// Its destructor ends the thread's slot.
    static LEAVING: Leaving = const { Leaving };
}

struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        HOT.with(|hot| {
            let own = if hot.sessions.get() > 0 {
                hot.own.get()
            } else {
                hot.local.get()
            };
            hot.generation.set(0);
            hot.local.set(ptr::null());
            hot.mode.set(Mode::Gone);
            if !own.is_null() {
                // SAFETY: made by `attach` of this thread, and no longer reachable through HOT.
                unsafe { Local::leave(own.cast_mut()) };
            }
        });
    }
}

crate::classes! {
    /// A thread of the host that gave no class of its own.
    pub(crate) static THREAD_UNKNOWN: Thread = "thread/tare/unknown";
}

/// The calling thread's local, if Tare records.
///
/// The reference is good until the thread has its next event (which may attach it anew): points
/// use it and let go before they return to the host.
#[inline(always)]
pub(crate) fn local<'a>() -> Option<&'a Local> {
    let generation = GENERATION.load(Ordering::Relaxed);
    if generation == 0 {
        return None;
    }
    HOT.with(|hot| {
        if hot.generation.get() == generation {
            // SAFETY: generation equal to the running one means `local` was set with it and
            // points to a Local of this thread, or of a session that this thread has entered.
            Some(unsafe { &*hot.local.get() })
        } else {
            local_slow(generation)
        }
    })
}

/// The local if the thread is attached already: for what ends something that began before.
#[inline(always)]
pub(crate) fn attached<'a>() -> Option<&'a Local> {
    let generation = GENERATION.load(Ordering::Relaxed);
    HOT.with(|hot| {
        // SAFETY: as in `local`.
        (generation != 0 && hot.generation.get() == generation)
            .then(|| unsafe { &*hot.local.get() })
    })
}

#[cold]
#[inline(never)]
fn local_slow<'a>(generation: u32) -> Option<&'a Local> {
    HOT.with(|hot| {
        let lost = match hot.mode.get() {
            // A thread that found no slot tries again now and then.
            Mode::Lost if hot.lost.get() % 256 != 255 => Lost::ThreadEvents,
            Mode::Gone => Lost::ThreadEvents,
            Mode::Busy => Lost::SignalEvents,
            Mode::New | Mode::Attached | Mode::Lost => return attach(hot, generation),
        };
        hot.lost.set(hot.lost.get().wrapping_add(1));
        if let Some(engine) = engine(generation) {
            engine.lose(lost, 1);
        }
        None
    })
}

/// Gives the thread a slot and a bank in the segment that records now.
fn attach<'a>(hot: &Hot, generation: u32) -> Option<&'a Local> {
    let engine = engine(generation)?;
    if hot.sessions.get() > 0 {
        // In a session of an earlier generation: its events are not this thread's.
        engine.lose(Lost::ThreadEvents, 1);
        return None;
    }
    hot.mode.set(Mode::Busy);
    let previous = hot.local.replace(ptr::null());
    hot.generation.set(0);
    if !previous.is_null() {
        // SAFETY: a Local of an earlier generation, made by this function for this thread.
        unsafe { Local::leave(previous.cast_mut()) };
    }
    let class = hot.class.get().unwrap_or(&THREAD_UNKNOWN);
    let Some(local) = Local::make(&engine, class, hot.parent.get(), os_thread_id()) else {
        hot.mode.set(Mode::Lost);
        hot.lost.set(0);
        engine.lose(Lost::ThreadEvents, 1);
        return None;
    };
    // A thread whose destructors have run already cannot be told when it ends.
    if LEAVING.try_with(|_| {}).is_err() {
        // SAFETY: just made, known to nobody.
        unsafe { Local::leave(local) };
        hot.mode.set(Mode::Gone);
        return None;
    }
    hot.local.set(local);
    hot.mode.set(Mode::Attached);
    hot.generation.set(generation);
    // SAFETY: just made; freed by `leave` only, after it has been taken out of HOT.
    Some(unsafe { &*local })
}

/// In a child of fork: the segment is the parent's, and so are its slots.
pub(crate) fn forget_in_child() {
    HOT.with(|hot| {
        hot.generation.set(0);
        hot.local.set(ptr::null());
        hot.sessions.set(0);
        hot.mode.set(Mode::New);
    });
}

/// Sets what the thread will be called when it attaches.
pub(crate) fn prepare(class: &'static Class, parent: u64) {
    HOT.with(|hot| {
        hot.class.set(Some(class));
        hot.parent.set(parent);
    });
    if let Some(local) = local() {
        local
            .slot
            .class
            .store(u32::from(local.number(class)), Ordering::Relaxed);
    }
}

/// What was a thread's local before it entered a session, and its generation.
pub(crate) type Before = (*const Local, u32);

/// Makes a session's local the thread's; gives back what was there, for [`leave_session`].
pub(crate) fn enter_session(session: *const Local, key: u64) -> Before {
    HOT.with(|hot| {
        let before = (hot.local.get(), hot.generation.get());
        if hot.sessions.get() == 0 {
            hot.own.set(before.0);
        }
        hot.sessions.set(hot.sessions.get() + 1);
        hot.local.set(session);
        hot.generation.set((key >> 32) as u32);
        before
    })
}

/// Undoes [`enter_session`].
pub(crate) fn leave_session((local, generation): Before) {
    HOT.with(|hot| {
        hot.local.set(local);
        hot.generation.set(generation);
        hot.sessions.set(hot.sessions.get().saturating_sub(1));
    });
}

fn os_thread_id() -> u64 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() as u64 }
}

impl Local {
    /// A slot with a bank; `None` (and counted) when there is none left.
    pub fn make(
        engine: &Arc<Engine>,
        class: &'static Class,
        parent: u64,
        os_id: u64,
    ) -> Option<*mut Local> {
        let view = engine.view;
        let shared = view.shared();
        let threads = view.geometry().limits.threads;
        let link = |i: usize| (i < threads).then(|| &view.slot(i).next_free);
        let number = super::freelist::pop(&shared.free_slots.0, link)
            .or_else(|| super::freelist::take_new(&shared.slots_used.0, threads));
        let Some(number) = number else {
            engine.lose(Lost::Threads, 1);
            return None;
        };
        let slot = view.slot(number);
        let Some(bank_number) = engine.take_bank(0, number) else {
            super::freelist::push(&shared.free_slots.0, number, &slot.next_free);
            engine.lose(Lost::Threads, 1);
            return None;
        };
        let class_number = class
            .number(engine.generation)
            .unwrap_or_else(|| engine.register(class));
        begin_slot(slot, |slot| {
            let id = shared.next_thread_id.0.fetch_add(1, Ordering::Relaxed);
            slot.thread_id.store(id, Ordering::Relaxed);
            slot.class.store(u32::from(class_number), Ordering::Relaxed);
            slot.parent_id.store(parent, Ordering::Relaxed);
            slot.os_id.store(os_id, Ordering::Relaxed);
            slot.bank.store(bank_number as u32, Ordering::Relaxed);
            slot.command_since.store(clock::now(), Ordering::Relaxed);
        });
        view.thread_masks()[number].store(0xff, Ordering::Relaxed);
        let value = Local {
            key: u64::from(engine.generation) << 32 | number as u64,
            effective: view.controls().effective.as_ptr(),
            mask: &view.thread_masks()[number],
            index: Cell::new(view.class_index(bank_number).as_ptr()),
            arena: Cell::new(view.arena(bank_number).as_ptr()),
            bank: Cell::new(view.bank(bank_number)),
            slot,
            rings: Rings {
                waits: view.ring_waits(number),
                stages: view.ring_stages(number),
                statements: view.ring_statements(number),
                transactions: view.ring_transactions(number),
                text: view.text_ring(number),
                long_waits: view.long_waits(),
                long_stages: view.long_stages(),
            },
            bank_number: Cell::new(bank_number),
            engine: Arc::clone(engine),
            waits: Cell::new(0),
            stage: OpenStage::default(),
            statements: Cell::new(0),
            statement_ids: Default::default(),
            transaction_id: Cell::new(0),
            cursors: Default::default(),
            account: Cell::default(),
            schema: Cell::new(0),
            digests: UnsafeCell::default(),
        };
        // The system's allocator directly: the host's may be one that counts through Tare.
        // SAFETY: the layout is not of size zero; the pointer is checked.
        let place = unsafe { System.alloc(Layout::new::<Local>()) }.cast::<Local>();
        if place.is_null() {
            end_slot(engine, number);
            engine.give_bank(bank_number);
            engine.lose(Lost::Threads, 1);
            return None;
        }
        // SAFETY: allocated for a Local, not yet initialised.
        unsafe { place.write(value) };
        Some(place)
    }

    /// Gives slot and bank back and frees the local.
    ///
    /// # Safety
    /// `local` came from [`Local::make`], and nobody uses it any more.
    pub unsafe fn leave(local: *mut Local) {
        {
            // SAFETY: the caller's promise.
            let local = unsafe { &*local };
            let engine = &local.engine;
            for number in 0..ring::RINGS {
                engine.give_chunk(local.slot_number(), number);
            }
            engine.disconnected(local.account.get());
            end_slot(engine, local.slot_number());
            engine.give_bank(local.bank_number.get());
        }
        // SAFETY: initialised by `make`, allocated by it with the same layout.
        unsafe {
            ptr::drop_in_place(local);
            System.dealloc(local.cast(), Layout::new::<Local>());
        }
    }

    /// Moves the thread to a bank of another account.
    pub fn change_account(&self, account: Account) {
        let before = self.account.get();
        if before.number != account.number
            && let Some(number) = self.engine.take_bank(account.number, self.slot_number())
        {
            let view = self.engine.view;
            let old = self.bank_number.replace(number);
            self.index.set(view.class_index(number).as_ptr());
            self.arena.set(view.arena(number).as_ptr());
            self.bank.set(view.bank(number));
            begin_turn(self.slot, |slot| {
                slot.bank.store(number as u32, Ordering::Relaxed)
            });
            self.engine.give_bank(old);
        }
        self.engine.connected(account);
        self.engine.disconnected(before);
        self.slot.account.store(account.number, Ordering::Relaxed);
        self.account.set(account);
    }

    /// The slot's number.
    #[inline(always)]
    pub fn slot_number(&self) -> usize {
        self.key as u32 as usize
    }

    /// The class's number, registering it if need be.
    #[inline(always)]
    pub fn number(&self, class: &Class) -> u16 {
        match class.number((self.key >> 32) as u32) {
            Some(number) => number,
            None => self.engine.register(class),
        }
    }

    /// What to do with events of this class, by number.
    #[inline(always)]
    pub fn bits(&self, class: u16) -> u8 {
        // SAFETY: class numbers are below the limit of classes, which is the array's length; the
        // mask is this slot's. Both lie in the segment that `engine` keeps mapped.
        unsafe {
            (*self.effective.add(usize::from(class))).load(Ordering::Relaxed)
                & (*self.mask).load(Ordering::Relaxed)
        }
    }

    /// Line `i` of the class's row; `i` is below its kind's number of lines.
    #[inline(always)]
    pub fn row(&self, class: u16, i: usize) -> Option<&Line> {
        // SAFETY: as in `bits`, for the bank's class index.
        let at = unsafe { (*self.index.get().add(usize::from(class))).load(Ordering::Relaxed) };
        if at == 0 {
            return self.row_slow(class, i);
        }
        Some(self.line(usize::from(at) + i))
    }

    #[cold]
    #[inline(never)]
    fn row_slow(&self, class: u16, i: usize) -> Option<&Line> {
        self.engine
            .row_of(self.bank_number.get(), class)
            .map(|lines| &lines[i])
    }

    /// Line `i` of the bank's arena.
    #[inline(always)]
    fn line(&self, i: usize) -> &Line {
        // SAFETY: `i` comes from an index of the bank, whose entries `new_item` made within the
        // arena, or is a line of the same item behind it.
        unsafe { &*self.arena.get().add(i) }
    }

    /// Counts a time into a line and its histogram.
    #[inline(always)]
    pub fn time(&self, class: u16, line: &Line, ticks: u64) {
        line.time(ticks);
        self.histogram(class, line, ticks);
    }

    #[inline(always)]
    fn histogram(&self, class: u16, line: &Line, ticks: u64) {
        // The first block holds what is shorter than some 100 µs: with a branch, and not a shift, to
        // find it, its address is known before the time is. The reading of a clock waits until
        // what came before is done (on Zen 4), so that this chain's length is what a time costs.
        let first = line.get(HISTOGRAM) as u16;
        if ticks < FIRST_BLOCK && first != 0 {
            self.into_bucket(class, usize::from(first), clock::bucket_of(ticks), 0);
        } else {
            self.histogram_slow(class, line, clock::bucket_of(ticks));
        }
    }

    #[inline(always)]
    fn into_bucket(&self, class: u16, at: usize, number: usize, block: usize) {
        // SAFETY: block numbers in a line were put there by `block_of`, within the arena.
        let lines = unsafe { std::slice::from_raw_parts(self.arena.get().add(at), BLOCK_LINES) };
        if increment(bank::bucket(lines, number - block * BLOCK_BUCKETS)) {
            self.engine.spill(class, number);
        }
    }

    #[inline(never)]
    fn histogram_slow(&self, class: u16, line: &Line, number: usize) {
        let number = number.min(BUCKETS - 1);
        let block = number / BLOCK_BUCKETS;
        let mut at = usize::from((line.get(HISTOGRAM) >> (16 * block)) as u16);
        if at == 0 {
            if self
                .engine
                .block_of(self.bank_number.get(), line, block)
                .is_none()
            {
                return;
            }
            at = usize::from((line.get(HISTOGRAM) >> (16 * block)) as u16);
        }
        self.into_bucket(class, at, number, block);
    }

    /// The next event id.
    #[inline(always)]
    pub fn next_event_id(&self) -> u64 {
        let id = self.slot.event_id.load(Ordering::Relaxed) + 1;
        bump(&self.slot.event_id, 1);
        id
    }

    /// Marks an event as ended in its packed word: the newest id minus its own, plus one.
    #[inline(always)]
    pub fn ended(&self, packed: u64, id: u64) -> u64 {
        let span = self.slot.event_id.load(Ordering::Relaxed) - id + 1;
        packed | span.min(u64::from(tare_layout::event::MAX_SPAN)) << 40
    }

    /// What an event that begins now is nested in, waits aside.
    #[inline(always)]
    pub fn nesting(&self) -> (u64, Nesting) {
        match self.stage.id.get() {
            0 => self.nesting_of_stage(),
            id => (id, Nesting::Stage),
        }
    }

    /// What a stage that begins now is nested in.
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

    /// What the outermost statement is nested in.
    #[inline(always)]
    pub fn nesting_of_statement(&self) -> (u64, Nesting) {
        match self.transaction_id.get() {
            0 => (0, Nesting::None),
            id => (id, Nesting::Transaction),
        }
    }

    /// Line `i` of an instance's row in this thread's bank; `None` when the places it could have
    /// are taken.
    #[inline(always)]
    pub fn instance_line(&self, id: u32, i: usize) -> Option<&Line> {
        let bank = self.bank.get();
        let entry = bank.instances[id as usize % INSTANCE_ENTRIES].load(Ordering::Relaxed);
        let at = if (entry >> 32) as u32 == id {
            entry as u32 as usize
        } else {
            self.instance_slow(id)?
        };
        Some(self.line(at + i))
    }

    /// Counts a time into the row of an instance.
    #[inline(always)]
    pub fn time_instance(&self, id: u32, i: usize, ticks: u64, extra: u64) {
        match self.instance_line(id, i) {
            Some(line) => {
                line.time(ticks);
                line.add(EXTRA, extra);
            }
            None => self.time_instance_shared(id, i, ticks, extra),
        }
    }

    #[cold]
    fn time_instance_shared(&self, id: u32, i: usize, ticks: u64, extra: u64) {
        match self.engine.shared_line(id, i) {
            Some(line) => line.time_shared(ticks, extra),
            None => self.engine.lose(Lost::InstanceEvents, 1),
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

    #[cold]
    #[inline(never)]
    fn other_clock(&self, event_type: EventType) -> u64 {
        let timers = &self.engine.view.control().timers;
        clock::read_other(timers[event_type as usize].load(Ordering::Relaxed))
    }

    /// The ticks from `start` to `end`; a clock that ran backwards (or decades forwards) gives 0 and
    /// is counted.
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

    /// The same, only if it is there: for what ends.
    #[inline(always)]
    pub fn known_instance_line(&self, id: u32) -> Option<&Line> {
        let bank = self.bank.get();
        for probe in 0..INSTANCE_PROBES {
            let entry = bank.instances[probe_place(id, probe)].load(Ordering::Relaxed);
            if (entry >> 32) as u32 == id {
                return Some(self.line(entry as u32 as usize));
            }
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn instance_slow(&self, id: u32) -> Option<usize> {
        let bank = self.bank.get();
        let lines = Engine::instance_lines(id);
        let mut free = None;
        for probe in 0..INSTANCE_PROBES {
            let cell = &bank.instances[probe_place(id, probe)];
            let entry = cell.load(Ordering::Relaxed);
            let owner = (entry >> 32) as u32;
            if owner == id {
                return Some(entry as u32 as usize);
            }
            // The row of an instance that has ended goes to whoever comes next, if it is as long.
            let reusable = entry == 0
                || (!self.engine.is_live(owner) && Engine::instance_lines(owner) == lines);
            if reusable && free.is_none() {
                free = Some((cell, entry as u32 as usize));
            }
        }
        let (cell, at) = free?;
        self.claim_instance(cell, at, id, lines)
    }

    fn claim_instance(&self, cell: &AtomicU64, at: usize, id: u32, lines: usize) -> Option<usize> {
        let bank = self.bank_number.get();
        let at = match at {
            0 => self.engine.new_item(bank, Item::Instance, id, lines)?,
            at => {
                cell.store(0, Ordering::Relaxed);
                self.engine.reuse_item(bank, at, Item::Instance, id, lines);
                at
            }
        };
        for i in 0..lines {
            self.line(at + i).set(MIN, NO_MIN);
        }
        cell.store(u64::from(id) << 32 | at as u64, Ordering::Release);
        Some(at)
    }
}

/// What falls into a histogram's first block.
const FIRST_BLOCK: u64 = bucket_low(BLOCK_BUCKETS);

/// Places of the instance index that an id may stand at.
const INSTANCE_PROBES: usize = 4;

#[inline(always)]
fn probe_place(id: u32, probe: usize) -> usize {
    (id as usize + probe * 17) % INSTANCE_ENTRIES
}

/// Words that all events share.
#[inline(always)]
pub(crate) fn words<const N: usize>(
    local: &Local,
    id: u64,
    start: u64,
    class: u16,
    operation: u8,
    (nesting_id, nesting): (u64, Nesting),
) -> [u64; N] {
    let mut words = [0; N];
    words[word::ID] = id;
    words[word::THREAD] = local.slot.thread_id.load(Ordering::Relaxed);
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

/// Whether any table shows or keeps single events.
#[inline(always)]
pub(crate) const fn is_event(bits: u8) -> bool {
    bits & (effective::CURRENT | effective::HISTORY | effective::LONG) != 0
}

fn begin_turn(slot: &Slot, change: impl FnOnce(&Slot)) {
    let turn = slot.turn.load(Ordering::Relaxed);
    slot.turn.store(turn.wrapping_add(1), Ordering::Relaxed);
    std::sync::atomic::fence(Ordering::Release);
    change(slot);
    // Pairs with the reader's first load of `turn`.
    slot.turn.store(turn.wrapping_add(2), Ordering::Release);
}

/// Makes a slot a new thread's: nothing of the thread before stays.
fn begin_slot(slot: &Slot, identity: impl FnOnce(&Slot)) {
    begin_turn(slot, |slot| {
        let zero32 =
            |cells: &[&AtomicU32]| cells.iter().for_each(|c| c.store(0, Ordering::Relaxed));
        let zero64 =
            |cells: &[&AtomicU64]| cells.iter().for_each(|c| c.store(0, Ordering::Relaxed));
        zero32(&[
            &slot.statement_depth,
            &slot.wait_depth,
            &slot.account,
            &slot.command,
        ]);
        zero32(&[&slot.connection_type, &slot.schema, &slot.stage]);
        zero64(&[&slot.event_id, &slot.text_at, &slot.processlist_id]);
        slot.pushed
            .iter()
            .for_each(|p| p.store(0, Ordering::Relaxed));
        slot.chunk
            .iter()
            .for_each(|c| c.store(0, Ordering::Relaxed));
        slot.command
            .store(tare_layout::slot::Command::Daemon as u32, Ordering::Relaxed);
        slot.state_text.set("");
        slot.info.set("");
        slot.attributes.set("");
        slot.waits.iter().for_each(|w| w.clear());
        slot.current_stage.clear();
        slot.transaction.clear();
        slot.statements.iter().for_each(|s| s.clear());
        identity(slot);
    });
    slot.state.store(LIVE, Ordering::Release);
}

fn end_slot(engine: &Engine, number: usize) {
    let slot = engine.view.slot(number);
    slot.state.store(FREE, Ordering::Release);
    super::freelist::push(&engine.view.shared().free_slots.0, number, &slot.next_free);
}
