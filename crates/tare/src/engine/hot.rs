//! How a thread finds its slot, and how it gets one.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tare_layout::activity::Activity;
use tare_layout::shared::Lost;

use super::draws::Draws;
use super::local::Local;
use super::running::{self, NOW, count_pending, engine};
use super::state::Engine;
use super::system;
use crate::class::Class;
use crate::payload::IS_COMPILED_IN;

/// The state of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The thread has had no event yet.
    New = 0,
    /// The thread has a slot.
    Attached,
    /// The thread is getting a slot: events now come from a signal handler.
    Busy,
    /// No slot was left for it.
    Lost,
    /// The thread is ending: its slot has been returned.
    Gone,
    /// The thread is one of Tare's own.
    Own,
}

/// The data that a point reads first. Without a destructor it can be read at any time in a thread's
/// life. What most points read is in its first cache line.
#[repr(C, align(64))]
struct Hot {
    generation: Cell<u32>,
    mode: Cell<Mode>,
    local: Cell<*const Local>,
    /// The line of the local's slot, for points that write nothing else; null = there is no local.
    activity: Cell<*const Activity>,
    /// The thread's class when it attaches.
    class: Cell<Option<&'static Class>>,
    /// The thread that created this one.
    parent: Cell<u64>,
    /// Number of sessions entered, one inside the other.
    sessions: Cell<u32>,
    /// This thread's own local while a session is entered.
    own: Cell<*const Local>,
    /// Events lost since the last try to attach.
    lost: Cell<u32>,
    /// The generation in which no slot was left for it.
    lost_under: Cell<u32>,
    /// The account that the thread had when it left.
    account: Cell<u32>,
    /// The thread's number in the operating system, 0 = not read yet.
    os_id: Cell<u32>,
    /// The host's own pointer.
    of_host: Cell<*mut ()>,
    /// Which allocations are drawn.
    draws: Draws,
}

impl Hot {
    #[cfg_attr(own_tls, expect(dead_code, reason = "its place is all zeroes"))]
    const fn new() -> Self {
        Self {
            generation: Cell::new(0),
            mode: Cell::new(Mode::New),
            local: Cell::new(ptr::null()),
            activity: Cell::new(ptr::null()),
            class: Cell::new(None),
            parent: Cell::new(0),
            sessions: Cell::new(0),
            own: Cell::new(ptr::null()),
            lost: Cell::new(0),
            lost_under: Cell::new(0),
            account: Cell::new(0),
            os_id: Cell::new(0),
            of_host: Cell::new(ptr::null_mut()),
            draws: Draws::new(),
        }
    }

    /// Makes a local the thread's; null = it has none.
    #[inline]
    fn set_local(&self, local: *const Local) {
        self.local.set(local);
        // SAFETY: null, or a local that the thread or its session owns.
        let slot = unsafe { local.as_ref() }.map(|local| local.slot);
        let line = slot.map_or(ptr::null(), |slot| ptr::from_ref(&slot.activity));
        self.activity.set(line);
    }
}

#[cfg(own_tls)]
mod own;
mod session;
#[cfg(own_tls)]
use own::HOT;
#[cfg(feature = "door")]
pub(crate) use session::own_local;
pub(crate) use session::{
    Before, enter_session, is_in_session, is_local, leave_outer_session, leave_session, no_session,
    session_depth, stay_in_session,
};

thread_local! {
    #[cfg(not(own_tls))]
    static HOT: Hot = const { Hot::new() };
    /// Its destructor ends the thread's slot.
    static LEAVING: LeaveOnDrop = const { LeaveOnDrop };
}

/// Whether threads record only in sessions: for a host that reports which thread serves which session.
static SESSIONS_ONLY: AtomicBool = AtomicBool::new(false);

/// From here on threads have no slots of their own. Events outside of sessions are lost, and counted as
/// lost now and then; memory is counted.
pub(crate) fn record_sessions_only() {
    SESSIONS_ONLY.store(true, Ordering::Relaxed);
    let _busy = busy();
    running::pin();
}

struct LeaveOnDrop;

impl Drop for LeaveOnDrop {
    fn drop(&mut self) {
        HOT.with(|hot| {
            let own = if hot.sessions.get() > 0 {
                hot.own.get()
            } else {
                hot.local.get()
            };
            hot.generation.set(0);
            hot.set_local(ptr::null());
            hot.mode.set(Mode::Gone);
            if !own.is_null() {
                // SAFETY: created by `attach` on this thread; it has not left yet.
                hot.account.set(unsafe { &*own }.account.get().counted);
                // SAFETY: created by `attach` on this thread, and no longer reachable through HOT.
                unsafe { Local::leave(own.cast_mut()) };
            }
        });
    }
}

classes! {
    /// The class of a host's thread that has no class of its own.
    pub(crate) static THREAD_UNKNOWN: Thread = "thread/tare/unknown";
}

/// The calling thread's local, if Tare records.
///
/// The reference is valid until the thread's next event, which may attach it again. Points drop it
/// before they return to the host.
#[inline(always)]
pub(crate) fn local<'a>() -> Option<&'a Local> {
    local_under(&NOW.generation)
}

/// The same for waits that begin: `None` while no wait is counted, and outside of windows.
#[inline(always)]
pub(crate) fn local_of_waits<'a>() -> Option<&'a Local> {
    local_under(&NOW.waits)
}

/// The same for objects that waits are for: `None` while no wait is counted.
#[inline(always)]
pub(crate) fn local_of_objects<'a>() -> Option<&'a Local> {
    local_under(&NOW.objects)
}

/// The same for transactions that begin: `None` while none is counted, and outside of windows.
#[inline(always)]
pub(crate) fn local_of_transactions<'a>() -> Option<&'a Local> {
    local_under(&NOW.transactions)
}

/// The same for statements, stages and the state of threads: `None` while none of these is recorded.
#[inline(always)]
pub(crate) fn local_of_statements<'a>() -> Option<&'a Local> {
    local_under(&NOW.statements)
}

/// In the word of waits, in place of the generation: no wait is counted, and threads keep what they do now.
/// It has more bits than any generation, so that no thread's is equal.
pub(crate) const ACTIVE: u32 = u32::MAX - 1;

/// The line of what the calling thread does now, if the thread has a slot: for hosts that call only at the
/// level `active`.
#[inline(always)]
pub(crate) fn activity<'a>() -> Option<&'a Activity> {
    if !IS_COMPILED_IN {
        return None;
    }
    // SAFETY: null, or in the slot of the thread's local, whose segment the local keeps mapped.
    HOT.with(|hot| unsafe { hot.activity.get().as_ref() })
}

#[inline(always)]
fn local_under<'a>(word: &AtomicU32) -> Option<&'a Local> {
    if !IS_COMPILED_IN {
        return None;
    }
    match word.load(Ordering::Relaxed) {
        0 => None,
        generation => local_in(generation),
    }
}

/// The local under the value of such a word, which is not 0.
#[inline(always)]
pub(crate) fn local_in<'a>(generation: u32) -> Option<&'a Local> {
    if !IS_COMPILED_IN {
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

/// Why a thread has no local.
pub(crate) enum NoLocal {
    /// The thread has released its slot; this was its account.
    Gone(u32),
    /// It is in no session, and threads record only in sessions.
    Outside,
}

/// The generation for memory, 0 = none is counted; and the calling thread's local, if it is attached.
/// If it is not, call [`local_of_memory`].
#[inline(always)]
pub(crate) fn memory_fast<'a>() -> (u32, Option<&'a Local>) {
    if !IS_COMPILED_IN {
        return (0, None);
    }
    let generation = NOW.memory.load(Ordering::Relaxed);
    let local = HOT.with(|hot| {
        let is_attached = generation != 0 && hot.generation.get() == generation;
        // SAFETY: as in `local`.
        is_attached.then(|| unsafe { &*hot.local.get() })
    });
    (generation, local)
}

/// Whether the calling thread is in no session, where threads record in sessions only.
#[inline(always)]
pub(crate) fn is_outside() -> bool {
    let is_new = HOT.with(|hot| hot.generation.get() == 0 && hot.mode.get() == Mode::New);
    is_new && SESSIONS_ONLY.load(Ordering::Relaxed)
}

/// Decides whether the calling thread's present allocation is drawn: one in `n` is.
#[inline(always)]
pub(crate) fn draw_next(n: u32) -> bool {
    HOT.with(|hot| hot.draws.draw_next(n))
}

/// Skips the allocation, if the last draw decided so. False: nothing was done; call [`draw_next`].
#[inline(always)]
pub(crate) fn try_skip(n: u32) -> bool {
    HOT.with(|hot| hot.draws.try_skip(n))
}

/// The local for memory, under the generation from [`memory_fast`]. If the thread has no local, memory
/// must still be counted: `away` is called with the engine.
#[cold]
#[inline(never)]
pub(crate) fn local_of_memory<'a>(
    generation: u32,
    away: impl FnOnce(&Engine, NoLocal),
) -> Option<&'a Local> {
    let place = HOT.with(|hot| match hot.mode.get() {
        Mode::Gone | Mode::Own => Some(NoLocal::Gone(hot.account.get())),
        Mode::New if SESSIONS_ONLY.load(Ordering::Relaxed) => Some(NoLocal::Outside),
        _ => None,
    });
    let Some(place) = place else {
        return local_slow(generation);
    };
    let _busy = busy();
    if let Some(engine) = running::pinned() {
        away(engine, place);
    } else if let Some(engine) = engine(generation) {
        away(&engine, place);
    }
    None
}

/// The local, if the thread is attached already: for the end of events.
#[inline(always)]
pub(crate) fn attached<'a>() -> Option<&'a Local> {
    if !IS_COMPILED_IN {
        return None;
    }
    let generation = NOW.generation.load(Ordering::Relaxed);
    HOT.with(|hot| match hot.generation.get() == generation {
        // SAFETY: as in `local`. While no engine runs, NOW's generation is 0; if the thread's is 0,
        // too, its local is null.
        true => unsafe { hot.local.get().as_ref() },
        false => None,
    })
}

/// `local`, if it is still the thread's and has this key. Then it exists, and so does its segment. Tare
/// may have been stopped since; then no reader reads what is written there.
#[inline(always)]
pub(crate) fn still<'a>(local: *const Local, key: u64) -> Option<&'a Local> {
    if !IS_COMPILED_IN {
        return None;
    }
    let same = HOT.with(|hot| hot.local.get() == local);
    // SAFETY: it is the thread's, which retains it until it gets another one or leaves.
    same.then(|| unsafe { &*local })
        .filter(|local| local.key == key)
}

/// Calls `end` with the engine of this generation, if it still runs: for the end of an object, which is
/// no event, and may happen on a thread without a slot.
pub(crate) fn with_engine(generation: u32, end: impl FnOnce(&Engine)) {
    if !IS_COMPILED_IN {
        return;
    }
    if generation == 0 || NOW.generation.load(Ordering::Relaxed) != generation {
        return;
    }
    if let Some(local) = attached().filter(|local| local.key >> 32 == u64::from(generation)) {
        return end(&local.engine);
    }
    match begin_creation() {
        Some(_busy) => {
            if let Some(engine) = engine(generation) {
                end(&engine);
            }
        }
        None => running::lose_in_signal(),
    }
}

/// Calls `work` with the engine that records now, if one does. Returns its result.
pub(crate) fn with_running<T>(work: impl FnOnce(&Engine) -> T) -> Option<T> {
    let mut done = None;
    with(|engine| done = Some(work(engine)));
    done
}

/// Calls `work` with the engine that records now, if one does.
pub(crate) fn with(work: impl FnOnce(&Engine)) {
    if !IS_COMPILED_IN {
        return;
    }
    let _busy = busy();
    if let Some(local) = attached() {
        count_pending(&local.engine);
        work(&local.engine);
    } else if let Some(engine) = engine(NOW.generation.load(Ordering::Relaxed)) {
        work(&engine);
    }
}

/// At the level `active` each wait calls it. So it has no frame, and calls another function in all other
/// cases.
#[cold]
#[inline(never)]
fn local_slow<'a>(generation: u32) -> Option<&'a Local> {
    match generation {
        ACTIVE => None,
        _ => find_local(generation),
    }
}

#[cold]
#[inline(never)]
fn find_local<'a>(generation: u32) -> Option<&'a Local> {
    HOT.with(|hot| {
        match hot.mode.get() {
            // A signal handler: the code that it interrupted may hold the lock of the engine.
            Mode::Busy => {
                running::lose_in_signal();
                return None;
            }
            Mode::New if SESSIONS_ONLY.load(Ordering::Relaxed) => {
                hot.lost.set(hot.lost.get().wrapping_add(1));
                if hot.lost.get() % EVENTS_PER_TRY == 0 {
                    let _busy = busy();
                    if let Some(engine) = engine(generation) {
                        engine.lose(Lost::ThreadEvents, u64::from(EVENTS_PER_TRY));
                    }
                }
                return None;
            }
            Mode::New | Mode::Attached => return attach(hot, generation),
            // A thread without a slot tries again now and then, and when Tare starts again.
            Mode::Lost
                if hot.lost_under.get() != generation
                    || hot.lost.get() % EVENTS_PER_TRY == EVENTS_PER_TRY - 1 =>
            {
                return attach(hot, generation);
            }
            // The host's work on this thread is done for Tare.
            Mode::Own => return None,
            Mode::Lost | Mode::Gone => {}
        }
        hot.lost.set(hot.lost.get().wrapping_add(1));
        let _busy = busy();
        if let Some(engine) = engine(generation) {
            engine.lose(Lost::ThreadEvents, 1);
        }
        None
    })
}

/// A thread without a slot tries to get one each time after this number of events.
const EVENTS_PER_TRY: u32 = 256;

/// Marks the calling thread as Tare's own: it gets no slot, and its memory counts for the process.
pub(super) fn exclude_thread() {
    HOT.with(|hot| hot.mode.set(Mode::Own));
}

/// Marks the thread as busy with Tare's own locks, until the result is dropped.
pub(crate) fn busy() -> Busy {
    Busy {
        before: HOT.with(|hot| hot.mode.replace(Mode::Busy)),
    }
}

/// The same, unless the thread is busy already: then this is a signal handler, which must neither wait
/// for what its thread holds nor create a row while its thread creates one.
pub(crate) fn begin_creation() -> Option<Busy> {
    HOT.with(|hot| hot.mode.get() != Mode::Busy).then(busy)
}

impl Local {
    /// Permission to create a row or another object, of which one is created at a time. In a signal
    /// handler that interrupted a creation there is no permission, which is counted.
    pub fn begin_creation(&self) -> Option<Busy> {
        let leave = begin_creation();
        if leave.is_none() {
            self.engine.lose(Lost::SignalEvents, 1);
        }
        leave
    }
}

/// A generation that never exists: it has more bits than any.
const NO_GENERATION: u32 = u32::MAX;

/// Removes the thread's slot until the result is dropped, while its bank is exchanged: events of a
/// signal handler meanwhile are counted as lost.
pub(crate) fn unbanked() -> impl Drop {
    struct Unbanked {
        generation: u32,
        _busy: Busy,
    }
    impl Drop for Unbanked {
        fn drop(&mut self) {
            HOT.with(|hot| hot.generation.set(self.generation));
        }
    }
    let _busy = busy();
    let generation = HOT.with(|hot| hot.generation.replace(NO_GENERATION));
    Unbanked { generation, _busy }
}

/// See [`busy`].
pub(crate) struct Busy {
    before: Mode,
}

impl Drop for Busy {
    fn drop(&mut self) {
        HOT.with(|hot| hot.mode.set(self.before));
    }
}

/// Gives the thread a slot and a bank in the segment that records now.
fn attach<'a>(hot: &Hot, generation: u32) -> Option<&'a Local> {
    // SAFETY: null, or a Local of an earlier generation, created by this function for this thread.
    if let Some(previous) = unsafe { hot.local.get().as_ref() } {
        previous.settle();
    }
    let before = hot.mode.replace(Mode::Busy);
    let Some(engine) = engine(generation) else {
        hot.mode.set(before);
        return None;
    };
    if hot.sessions.get() > 0 {
        // In a session of an earlier generation: its events are not this thread's.
        hot.mode.set(before);
        engine.lose(Lost::ThreadEvents, 1);
        return None;
    }
    let previous = hot.local.get();
    hot.set_local(ptr::null());
    hot.generation.set(0);
    if !previous.is_null() {
        // SAFETY: a Local of an earlier generation, created by this function for this thread.
        unsafe { Local::leave(previous.cast_mut()) };
    }
    let class = hot.class.get().unwrap_or(&THREAD_UNKNOWN);
    let Some(local) = Local::take_slot(&engine, class, hot.parent.get(), os_thread_id()) else {
        hot.mode.set(Mode::Lost);
        hot.lost.set(hot.lost.get().wrapping_add(1));
        engine.lose(Lost::ThreadEvents, 1);
        // A thread counts as lost once, however often it tries.
        if hot.lost_under.replace(generation) != generation {
            engine.lose_thread();
        }
        return None;
    };
    // If a thread's destructors have run already, its end is not reported.
    if LEAVING.try_with(|_| {}).is_err() {
        // SAFETY: just created, and not shared.
        unsafe { Local::leave(local) };
        hot.mode.set(Mode::Gone);
        engine.lose(Lost::ThreadEvents, 1);
        return None;
    }
    hot.set_local(local);
    hot.mode.set(Mode::Attached);
    hot.generation.set(generation);
    // SAFETY: just created; only `leave` frees it, after it has been removed from HOT.
    Some(unsafe { &*local })
}

/// In a child of fork: the slot is the parent's.
pub(crate) fn forget_in_child() {
    let parent = attached().map_or(0, |local| local.slot.thread_id.load(Ordering::Relaxed));
    HOT.with(|hot| {
        hot.parent.set(parent);
        hot.generation.set(0);
        hot.set_local(ptr::null());
        hot.sessions.set(0);
        hot.mode.set(Mode::New);
        hot.os_id.set(0);
    });
}

/// In a child of fork in which Tare continues: the thread has another number.
pub(crate) fn renumber_in_child(os_id: u64) {
    HOT.with(|hot| hot.os_id.set(os_id as u32));
    if let Some(local) = attached() {
        local.slot.os_id.store(os_id, Ordering::Relaxed);
    }
}

/// Sets the thread's class and parent, for when it attaches.
pub(crate) fn prepare(class: &'static Class, parent: u64) {
    if !IS_COMPILED_IN {
        return;
    }
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

/// The host's pointer for the calling thread.
#[inline(always)]
pub(crate) fn of_host() -> *mut () {
    HOT.with(|hot| hot.of_host.get())
}

/// See [`of_host`].
#[inline(always)]
pub(crate) fn set_of_host(place: *mut ()) {
    HOT.with(|hot| hot.of_host.set(place));
}

/// The thread's number in the operating system, which is read once.
pub(crate) fn os_thread_id() -> u64 {
    HOT.with(|hot| {
        if hot.os_id.get() == 0 {
            hot.os_id.set(system::thread_id());
        }
        u64::from(hot.os_id.get())
    })
}
