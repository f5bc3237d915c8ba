//! Which engine records now, if one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use tare_layout::control::effective;
use tare_layout::sampling::GROUPS;
use tare_layout::shared::Lost;

use super::state::Engine;
use crate::lock::PlainMutex;
use crate::lock::mutex::RawMutex;
use crate::lock::point::Absent;

/// The generation that records now. A disabled point reads only one of the words, which share a cache
/// line.
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
    /// 0 = none.
    pub generation: AtomicU32,
    /// The same for points that begin waits: also 0 while no wait is counted, if settings are
    /// [watched](super::settings), and outside of [windows](super::windows).
    pub waits: AtomicU32,
    /// The same for objects that waits are for; windows make no difference.
    pub objects: AtomicU32,
    /// The same for points of statements, stages and the state of threads; windows make no difference.
    pub statements: AtomicU32,
    /// The same for points that begin transactions.
    pub transactions: AtomicU32,
    /// The same for memory.
    pub memory: AtomicU32,
    /// The weight of an event of each group that begins now, 0 = none is observed. Read if an event's
    /// flags have [`effective::WEIGHED`].
    pub weights: [AtomicU32; GROUPS],
}

/// The weight of an event of a group that begins now with these flags; 0 = it is not observed.
#[inline(always)]
pub(crate) fn weight(bits: u8, group: usize) -> u16 {
    match bits & effective::WEIGHED {
        0 => 1,
        // N has 16 bits.
        _ => NOW.weights[group].load(Ordering::Relaxed) as u16,
    }
}

/// From here on events are recorded under this generation; 0 = none are.
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
    // Pairs with nothing: a point that sees the generation takes the engine's lock.
    NOW.generation.store(generation, Ordering::Release);
}

/// The engine that records now. It is locked across a fork, so that the child finds it unlocked; hence
/// a lock that can be released explicitly. A thread that takes it is busy (see
/// [`busy`](super::hot::busy)), so that a signal handler on the same thread does not wait for it.
pub(super) static ENGINE: PlainMutex<Option<Arc<Engine>>> =
    PlainMutex::from_raw(<RawMutex<Absent> as lock_api::RawMutex>::INIT, None);

/// See [`pin`].
static PINNED: AtomicPtr<Arc<Engine>> = AtomicPtr::new(std::ptr::null_mut());

/// Events of signal handlers that interrupted a busy thread, to be counted when there is a segment.
static PENDING_LOST: AtomicU64 = AtomicU64::new(0);

/// An engine: [`pin`]ned, or with a reference count.
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

/// Retains the engine that records now for as long as the process lives, so that threads that come and
/// go find it without a lock and without a reference count. The caller is busy.
pub(crate) fn pin() {
    if let Some(engine) = ENGINE.lock().as_ref() {
        let leaked = Box::leak(Box::new(Arc::clone(engine)));
        PINNED.store(leaked, Ordering::Release);
    }
}

/// The engine that is [`pin`]ned, if it records now.
#[inline]
pub(crate) fn pinned() -> Option<&'static Engine> {
    // SAFETY: null, or leaked by `pin`.
    let engine: &Engine = unsafe { PINNED.load(Ordering::Acquire).as_ref() }?;
    (engine.generation == NOW.generation.load(Ordering::Relaxed)).then_some(engine)
}

/// Whether this engine is pinned and records now. False in a child of fork; makes no system call.
pub(super) fn is_running(engine: &Engine) -> bool {
    pinned().is_some_and(|pinned| std::ptr::eq(pinned, engine))
}

/// The engine of this generation, unless that has been stopped. The caller is busy.
pub(crate) fn engine(generation: u32) -> Option<EngineRef> {
    // SAFETY: null, or leaked by `pin`.
    let pinned = unsafe { PINNED.load(Ordering::Acquire).as_ref() };
    let engine = match pinned.filter(|engine| engine.generation == generation) {
        Some(engine) => EngineRef::Pinned(engine),
        None => EngineRef::Counted(
            ENGINE
                .lock()
                .as_ref()
                .filter(|e| e.generation == generation)
                .cloned()?,
        ),
    };
    count_pending(&engine);
    Some(engine)
}

/// Counts an event of a signal handler that interrupted a busy thread.
#[cold]
pub(crate) fn lose_in_signal() {
    PENDING_LOST.fetch_add(1, Ordering::Relaxed);
}

/// Counts the events that signal handlers lost while there was no segment.
#[inline]
pub(super) fn count_pending(engine: &Engine) {
    // Read first: a swap takes the line from other threads that come and go.
    if PENDING_LOST.load(Ordering::Relaxed) != 0 {
        engine.lose(Lost::SignalEvents, PENDING_LOST.swap(0, Ordering::Relaxed));
    }
}
