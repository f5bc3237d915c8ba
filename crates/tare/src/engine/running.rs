//! The engine that records now, if one does. Each engine of a process has a number, its generation.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use tare_layout::control::effective;
use tare_layout::sampling::GROUPS;
use tare_layout::shared::Lost;

use super::state::Engine;
use crate::lock::PlainMutex;
use crate::lock::mutex::RawMutex;
use crate::lock::point::Absent;
use crate::payload::IS_COMPILED_IN;

/// The generation that records now, for all points and for each kind of point. The words share a cache
/// line, and a disabled point reads only one of them.
pub(crate) static NOW: Now = Now {
    generation: AtomicU32::new(0),
    waits: AtomicU32::new(0),
    objects: AtomicU32::new(0),
    statements: AtomicU32::new(0),
    transactions: AtomicU32::new(0),
    memory: AtomicU32::new(0),
    weights: [const { AtomicU32::new(1) }; GROUPS],
};

/// See [`NOW`].
#[repr(align(64))]
pub(crate) struct Now {
    /// The generation that records now; 0 = none.
    pub generation: AtomicU32,
    /// The same for points that begin waits. Also 0 outside of [windows](super::windows) and, if settings
    /// are [watched](super::settings), while no wait is counted.
    pub waits: AtomicU32,
    /// The same for points of the objects of waits, such as files; windows make no difference.
    pub objects: AtomicU32,
    /// The same for points of statements, stages and the state of threads; windows make no difference.
    pub statements: AtomicU32,
    /// The same for points that begin transactions.
    pub transactions: AtomicU32,
    /// The same for memory.
    pub memory: AtomicU32,
    /// By group: the weight of an event that begins now; 0 = it is not observed. Read if an event's flags
    /// have [`effective::WEIGHED`].
    pub weights: [AtomicU32; GROUPS],
}

/// How many events an event stands for that begins now with these flags; 0 = it is not observed.
#[inline(always)]
pub(crate) fn weight(bits: u8, group: usize) -> u16 {
    match bits & effective::WEIGHED {
        0 => 1,
        // The weight is the N of sampling 1/N, which has 16 bits.
        _ => NOW.weights[group].load(Ordering::Relaxed) as u16,
    }
}

/// Makes this the generation that records; 0 = none does.
pub(super) fn record(generation: u32) {
    for weight in &NOW.weights {
        weight.store(1, Ordering::Relaxed);
    }
    let words = [
        &NOW.waits,
        &NOW.objects,
        &NOW.statements,
        &NOW.transactions,
        &NOW.memory,
    ];
    for word in words {
        word.store(generation, Ordering::Relaxed);
    }
    // This Release pairs with nothing: a point that sees the generation takes the engine's lock.
    NOW.generation.store(generation, Ordering::Release);
}

/// The engine that records now. It is locked across a fork, so that the child finds it unlocked; so
/// it is a lock that can be released explicitly. A thread that takes it is busy (see
/// [`busy`](super::hot::busy)), so that a signal handler on the same thread does not wait for it.
pub(super) static ENGINE: PlainMutex<Option<Arc<Engine>>> =
    PlainMutex::from_raw(<RawMutex<Absent> as lock_api::RawMutex>::INIT, None);

/// The engine that [`pin`] retained last; null = none.
static PINNED: AtomicPtr<Arc<Engine>> = AtomicPtr::new(std::ptr::null_mut());

/// Events that were lost because their signal handler interrupted a busy thread. Counted in the segment as
/// soon as there is one.
static PENDING_LOST: AtomicU64 = AtomicU64::new(0);

/// A reference to an engine: to one that is [`pin`]ned, or a counted one.
pub(crate) enum EngineRef {
    Pinned(&'static Arc<Engine>),
    Counted(Arc<Engine>),
}

impl std::ops::Deref for EngineRef {
    type Target = Arc<Engine>;

    fn deref(&self) -> &Arc<Engine> {
        match self {
            Self::Pinned(engine) => engine,
            Self::Counted(engine) => engine,
        }
    }
}

/// Retains the engine that records now for as long as the process lives, so that threads that begin and end
/// find it without a lock and without a reference count. The caller is busy.
pub(crate) fn pin() {
    if let Some(engine) = ENGINE.lock().as_ref() {
        let leaked = Box::leak(Box::new(Arc::clone(engine)));
        PINNED.store(leaked, Ordering::Release);
    }
}

/// The engine that is [`pin`]ned, if it records now.
#[inline]
pub(crate) fn pinned() -> Option<&'static Engine> {
    if !IS_COMPILED_IN {
        return None;
    }
    // SAFETY: null, or leaked by `pin`.
    let engine: &Engine = unsafe { PINNED.load(Ordering::Acquire).as_ref() }?;
    (engine.generation() == NOW.generation.load(Ordering::Relaxed)).then_some(engine)
}

/// Whether this engine is pinned and records now. False in a child of fork; makes no system call.
pub(super) fn is_running(engine: &Engine) -> bool {
    pinned().is_some_and(|pinned| std::ptr::eq(pinned, engine))
}

/// The engine of this generation, unless it has been stopped. The caller is busy.
pub(crate) fn engine(generation: u32) -> Option<EngineRef> {
    // SAFETY: null, or leaked by `pin`.
    let pinned = unsafe { PINNED.load(Ordering::Acquire).as_ref() };
    let engine = match pinned.filter(|engine| engine.generation() == generation) {
        Some(engine) => EngineRef::Pinned(engine),
        None => EngineRef::Counted(
            ENGINE
                .lock()
                .as_ref()
                .filter(|e| e.generation() == generation)
                .cloned()?,
        ),
    };
    count_pending(&engine);
    Some(engine)
}

/// Counts an event as lost, because its signal handler interrupted a busy thread.
#[cold]
pub(crate) fn lose_in_signal() {
    PENDING_LOST.fetch_add(1, Ordering::Relaxed);
}

/// In a child of fork: its parent counts them.
pub(super) fn forget_pending() {
    PENDING_LOST.store(0, Ordering::Relaxed);
}

/// Counts in the segment the events that were lost in signal handlers.
#[inline]
pub(super) fn count_pending(engine: &Engine) {
    // Read first, because a swap takes the cache line from other threads that begin and end.
    if PENDING_LOST.load(Ordering::Relaxed) != 0 {
        engine.lose(Lost::SignalEvents, PENDING_LOST.swap(0, Ordering::Relaxed));
    }
}
