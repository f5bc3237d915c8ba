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

/// The generation that records now. One of the words is all that a disabled point reads; they lie in one line.
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
    /// The same for points that begin waits: 0, too, while no wait is counted, where settings are
    /// [watched](super::settings), and outside of [windows](super::windows).
    pub waits: AtomicU32,
    /// The same for what waits are about; windows aside.
    pub objects: AtomicU32,
    /// The same for points of statements and stages, and for what threads do; windows aside.
    pub statements: AtomicU32,
    /// The same for points that begin transactions.
    pub transactions: AtomicU32,
    /// The same for memory.
    pub memory: AtomicU32,
    /// What an event of each group stands for that begins now, 0 = none is observed. Looked at where an event's flags
    /// say [`effective::WEIGHED`].
    pub weights: [AtomicU32; GROUPS],
}

/// What an event of a group stands for that begins now and has these flags; 0: it is left out.
#[inline(always)]
pub(crate) fn weight(bits: u8, group: usize) -> u16 {
    match bits & effective::WEIGHED {
        0 => 1,
        // N has 16 bits.
        _ => NOW.weights[group].load(Ordering::Relaxed) as u16,
    }
}

/// From here on events are recorded under this generation; 0: none are.
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
    // Pairs with nothing: a point that sees the generation takes the lock of the engine.
    NOW.generation.store(generation, Ordering::Release);
}

/// The engine that records now. Held across a fork, so that the child finds it unlocked; hence a
/// lock that can be let go by hand. Whoever takes it is busy (see [`busy`](super::hot::busy)), so that a
/// signal handler on the same thread does not wait for it.
pub(super) static ENGINE: PlainMutex<Option<Arc<Engine>>> =
    PlainMutex::from_raw(<RawMutex<Absent> as lock_api::RawMutex>::INIT, None);

/// See [`pin`].
static PINNED: AtomicPtr<Arc<Engine>> = AtomicPtr::new(std::ptr::null_mut());

/// Events of signal handlers that interrupted a busy thread, to be counted when a segment is at hand.
static PENDING_LOST: AtomicU64 = AtomicU64::new(0);

/// An engine at hand: [`pin`]ned, or kept by a count of its own.
pub(crate) enum AtHand {
    Pinned(&'static Arc<Engine>),
    Counted(Arc<Engine>),
}

impl std::ops::Deref for AtHand {
    type Target = Arc<Engine>;

    fn deref(&self) -> &Arc<Engine> {
        match self {
            Self::Pinned(engine) => engine,
            Self::Counted(engine) => engine,
        }
    }
}

/// Keeps the engine that records now for as long as the process lives, so that threads that come and go
/// find it without a lock and without counting that they hold it. The caller is busy.
pub(crate) fn pin() {
    if let Some(engine) = ENGINE.lock().as_ref() {
        let kept = Box::leak(Box::new(Arc::clone(engine)));
        PINNED.store(kept, Ordering::Release);
    }
}

/// The engine that is [`pin`]ned, if it records now.
#[inline]
pub(crate) fn pinned() -> Option<&'static Engine> {
    // SAFETY: null, or leaked by `pin`.
    let engine: &Engine = unsafe { PINNED.load(Ordering::Acquire).as_ref() }?;
    (engine.generation == NOW.generation.load(Ordering::Relaxed)).then_some(engine)
}

/// Whether it is this engine that is pinned and records now. It does not in a child of fork: the system is not asked.
pub(super) fn is_running(engine: &Engine) -> bool {
    pinned().is_some_and(|pinned| std::ptr::eq(pinned, engine))
}

/// The engine of this generation, unless it has been stopped meanwhile. The caller is busy.
pub(crate) fn engine(generation: u32) -> Option<AtHand> {
    // SAFETY: null, or leaked by `pin`.
    let pinned = unsafe { PINNED.load(Ordering::Acquire).as_ref() };
    let engine = match pinned.filter(|engine| engine.generation == generation) {
        Some(engine) => AtHand::Pinned(engine),
        None => AtHand::Counted(
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

/// Counts what signal handlers lost while there was no segment at hand.
#[inline]
pub(super) fn count_pending(engine: &Engine) {
    // Looked at first: a swap takes the line from the other threads that come and go.
    if PENDING_LOST.load(Ordering::Relaxed) != 0 {
        engine.lose(Lost::SignalEvents, PENDING_LOST.swap(0, Ordering::Relaxed));
    }
}
