//! The kinds of instruments that are on. Points of other kinds stop at one word, and a host need not
//! call for them.
//!
//! A host that patches its instrument points (the MySQL door) passes a function to [`follow`]. It is
//! called with the [`Active`] kinds at once, when a class is registered that makes more active, and,
//! once [`watch`] has been called, after each change by a reader, and when a window of sampling opens
//! or closes. A change counts as followed when that function has returned, so that a reader can wait
//! for it.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tare_layout::Kind;
use tare_layout::control::{GLOBAL, MAX_EXACT_WINDOW_NS, THREAD, host};
use tare_layout::sampling::{GROUPS, STAGE, TRANSACTION, WAIT};

use super::running::{self, NOW, engine};
use super::state::{Engine, lock};
use super::system::{self, sleep, wake};
use super::windows::{Rates, Windows};
use super::{clock, hot, own_thread, periods};
use crate::payload::IS_COMPILED_IN;

/// Kinds of which at least one instrument is counted, and whether the state of threads is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active(u32);

impl Active {
    /// The state of threads: the columns `PROCESSLIST_...` of `threads`, recorded while
    /// `global_instrumentation` and `thread_instrumentation` are on.
    pub const THREADS: Self = Self(1);
    /// What threads do now: the level `active`, at which nothing else is active.
    pub const MOMENTS: Self = Self(1 << 31);
    /// Everything.
    pub const ALL: Self = Self(u32::MAX);
    /// Statements, from the first byte to the last, and the state of threads.
    const STATEMENTS: Self = (Self::THREADS)
        .or(Self::MOMENTS)
        .or(Self::of(Kind::Statement))
        .or(Self::of(Kind::Stage))
        .or(Self::of(Kind::Transaction));
    /// All waits, idle times included.
    const WAITS: Self = Self(
        !(Self::STATEMENTS.0
            | Self::of(Kind::Memory).0
            | Self::MOMENTS.0
            | Self::of(Kind::Error).0
            | Self::of(Kind::Thread).0),
    );

    /// As bits.
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    /// Of bits.
    pub(super) const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether nothing is active.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// A kind.
    pub const fn of(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    /// Both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are not in the other.
    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Those that are observed at these weights: outside of windows no wait, stage or transaction is.
    fn weighing(self, weights: &Rates) -> Self {
        let rests = |of: Self, group: usize| match weights[group] {
            0 => of,
            _ => Self::default(),
        };
        self.without(rests(Self::WAITS, WAIT))
            .without(rests(Self::of(Kind::Stage), STAGE))
            .without(rests(Self::of(Kind::Transaction), TRANSACTION))
    }

    /// Whether they have anything in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Called with the active kinds, and with those observed now, which windows of sampling limit.
pub type Follower = fn(active: Active, observed: Active);

static FOLLOWER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// One call of the follower at a time, each with the present state.
static FOLLOWING: Mutex<()> = Mutex::new(());
/// The kinds last reported to the follower.
static REPORTED: AtomicU32 = AtomicU32::new(0);
static WATCHES: AtomicBool = AtomicBool::new(false);

/// Calls `follower` with the active kinds: now and whenever they change. Changes by readers arrive once
/// [`watch`] has been called.
pub fn follow(follower: Follower) {
    if !IS_COMPILED_IN {
        return;
    }
    FOLLOWER.store(follower as *mut (), Ordering::Release);
    hot::with(report_active);
}

/// Starts the thread that waits for readers' changes, once. It takes no signals and sleeps in a futex;
/// a child of fork does not have it.
pub fn watch() {
    if !IS_COMPILED_IN {
        return;
    }
    // Read first: each of a host's threads may call this.
    if FOLLOWER.load(Ordering::Acquire).is_null()
        || WATCHES.load(Ordering::Relaxed)
        || WATCHES.swap(true, Ordering::Relaxed)
    {
        return;
    }
    let running = {
        let _busy = hot::busy();
        engine(NOW.generation.load(Ordering::Relaxed)).map(|engine| Arc::clone(&engine))
    };
    // A child's windows would be counted with its parent's.
    let Some(engine) = running.filter(|engine| !engine.is_child()) else {
        return WATCHES.store(false, Ordering::Relaxed);
    };
    let flags = &engine.view.control().host;
    flags.fetch_or(host::FOLLOWS, Ordering::SeqCst);
    let followed = Arc::clone(&engine);
    match own_thread::start(c"tare-settings", move || wait_for_changes(&followed)) {
        // From here on, and not only when the thread has got a processor.
        true => report_active(&engine),
        false => _ = flags.fetch_and(!host::FOLLOWS, Ordering::SeqCst),
    }
}

/// Starts a thread that follows changed settings, once, if Tare runs. Without it each point of an
/// instrument that is off reads its own flags. With it such points read one word, as if Tare had not
/// been started: those of waits while no wait is counted, those of statements, stages and transactions
/// while none of these is recorded, and those of memory likewise. For a process that declares its
/// classes ([`classes!`](crate::classes)): the first event of any other class registers it, and is not
/// recorded while its entire kind is off.
#[cold]
pub fn watch_settings() {
    if !IS_COMPILED_IN {
        return;
    }
    let nothing_more: Follower = |_, _| {};
    let (none, relaxed) = (std::ptr::null_mut(), Ordering::Relaxed);
    let follower = nothing_more as *mut ();
    // The host may follow by itself.
    let _ = FOLLOWER.compare_exchange(none, follower, Ordering::Release, relaxed);
    watch();
}

/// A statement begins, and something is to be sampled: starts the thread that opens windows, if
/// possible.
#[inline]
pub(crate) fn watch_for_windows(engine: &Engine) {
    // A child has no such thread: see `watch`.
    if !engine.is_child() {
        watch_settings();
    }
}

/// Until the result is dropped, no other thread follows a change.
pub(super) fn lock_following() -> MutexGuard<'static, ()> {
    lock(&FOLLOWING)
}

/// Disables the points of kinds that are not active, unless this process has a thread for that. Returns the
/// active kinds. The caller has [`lock_following`].
pub(super) fn apply_without_thread(engine: &Engine) -> Active {
    let active = active(engine);
    let has_thread = !engine.is_child() && is_watched(engine);
    if !has_thread && NOW.generation.load(Ordering::Relaxed) == engine.generation() {
        store_generations(engine, active, active);
    }
    active
}

/// The engine has stopped: wakes those who wait for its changes.
pub(super) fn stopped(engine: &Engine) {
    {
        // A thread that was enabling points has finished.
        let _one_at_a_time = lock(&FOLLOWING);
        running::record(0);
    }
    let changes = &engine.view.control().changes;
    changes.fetch_add(1, Ordering::SeqCst);
    wake(changes);
    WATCHES.store(false, Ordering::Relaxed);
    REPORTED.store(0, Ordering::Relaxed);
}

/// A class was registered.
pub(super) fn registered(engine: &Engine, kind: Kind) {
    periods::registered(engine, kind);
    let is_news = REPORTED.load(Ordering::Relaxed) & Active::of(kind).0 == 0;
    if is_news && !FOLLOWER.load(Ordering::Acquire).is_null() {
        report_active(engine);
    }
}

fn report_active(engine: &Engine) {
    if FOLLOWER.load(Ordering::Acquire).is_null() {
        return;
    }
    let _one_at_a_time = lock(&FOLLOWING);
    let active = active(engine);
    REPORTED.store(active.0, Ordering::Relaxed);
    apply(engine, active);
    let flags = &engine.view.control().host;
    match active.meets(Active::THREADS) {
        true => flags.fetch_and(!host::THREADS_UNKNOWN, Ordering::Relaxed),
        false => flags.fetch_or(host::THREADS_UNKNOWN, Ordering::Relaxed),
    };
}

/// Sets the weights of events that begin from here on. Those of weight 0 do not arrive, except for
/// stages, whose names are visible.
pub(super) fn observe(engine: &Engine, weights: Rates) {
    let _one_at_a_time = lock(&FOLLOWING);
    if NOW.generation.load(Ordering::Relaxed) != engine.generation() {
        return;
    }
    for (weight, now) in NOW.weights.iter().zip(weights) {
        weight.store(now, Ordering::Relaxed);
    }
    apply(engine, Active(REPORTED.load(Ordering::Relaxed)));
}

/// Sets the weights of events. Points of events of weight 1 no longer read the weight, unless the next
/// rule says so.
pub(super) fn clear_weights(engine: &Engine, weights: Rates) {
    let view = engine.view;
    if view.control().clear_weights(|group| weights[group] == 1) {
        view.controls().recompute(|class| engine.kind_of(class));
    }
}

/// Enables or disables points and the host's calls. The caller holds [`FOLLOWING`], so that the last
/// report is the present state.
fn apply(engine: &Engine, active: Active) {
    let follower = FOLLOWER.load(Ordering::Acquire);
    if follower.is_null() {
        return;
    }
    // SAFETY: stored by `follow`, of this type.
    let follower: Follower = unsafe { std::mem::transmute::<*mut (), Follower>(follower) };
    let weights: [u32; GROUPS] =
        (NOW.weights.each_ref()).map(|weight| weight.load(Ordering::Relaxed));
    let observed = active.weighing(&weights);
    // Points first: a call that arrives must be recorded.
    set_generations(engine, active, observed);
    follower(active, observed);
}

/// Disables the points of kinds that are not active, or not observed.
fn set_generations(engine: &Engine, active: Active, observed: Active) {
    if is_watched(engine) && NOW.generation.load(Ordering::Relaxed) == engine.generation() {
        store_generations(engine, active, observed);
    }
}

/// Whether a thread follows changes.
fn is_watched(engine: &Engine) -> bool {
    engine.view.control().host.load(Ordering::Relaxed) & host::FOLLOWS != 0
}

fn store_generations(engine: &Engine, active: Active, observed: Active) {
    let store = |word: &AtomicU32, is_on: bool| {
        let generation = if is_on { engine.generation() } else { 0 };
        word.store(generation, Ordering::Relaxed);
    };
    match active.meets(Active::MOMENTS) {
        true => NOW.waits.store(hot::ACTIVE, Ordering::Relaxed),
        false => store(&NOW.waits, observed.meets(Active::WAITS)),
    }
    store(&NOW.objects, active.meets(Active::WAITS));
    store(&NOW.statements, active.meets(Active::STATEMENTS));
    let transaction = Active::of(Kind::Transaction);
    store(&NOW.transactions, observed.meets(transaction));
    store(&NOW.memory, active.meets(Active::of(Kind::Memory)));
}

fn active(engine: &Engine) -> Active {
    let view = engine.view;
    let consumers = view.control().consumers.load(Ordering::SeqCst);
    if view.control().is_active() {
        return match consumers & GLOBAL {
            0 => Active::default(),
            _ => Active::MOMENTS,
        };
    }
    let mut active = match consumers & (GLOBAL | THREAD) == GLOBAL | THREAD {
        true => Active::THREADS,
        false => Active::default(),
    };
    let used = view.shared().classes_used.0.load(Ordering::Acquire) as usize;
    for (class, effective) in view.controls().effective.iter().take(used).enumerate() {
        let counts = effective.load(Ordering::Relaxed) != 0;
        if let Some(kind) = engine.kind_of(class).filter(|_| counts) {
            active = active.or(Active::of(kind));
        }
    }
    active
}

fn wait_for_changes(engine: &Arc<Engine>) {
    // A window that opens late closes late.
    system::expire_timers_in_time();
    let mut following = ChangeFollower::begin(engine, true);
    while engine.is_ours() && NOW.generation.load(Ordering::Relaxed) == engine.generation() {
        let changes = engine.view.control().changes.load(Ordering::SeqCst);
        let due = following.step(engine, clock::monotonic_ns());
        let timeout = due.map(|due| due.saturating_sub(clock::monotonic_ns()));
        if timeout != Some(0) {
            sleep(&engine.view.control().changes, changes, timeout);
        }
    }
    engine
        .view
        .control()
        .host
        .fetch_and(!host::FOLLOWS, Ordering::SeqCst);
}

/// The state of the thread that follows changes.
struct ChangeFollower {
    windows: Windows,
    /// When the exact window ends that was last read, 0 = there was none.
    exact_until: u64,
    /// The changes that were followed last.
    changes: Option<u32>,
}

impl ChangeFollower {
    fn begin(engine: &Engine, is_limited: bool) -> Self {
        let control = engine.view.control();
        control.host.fetch_or(host::FOLLOWS, Ordering::SeqCst);
        if control.needs_follower() {
            // Statements no longer check whether a thread opens windows.
            let controls = engine.view.controls();
            controls.recompute(|class| engine.kind_of(class));
        }
        Self {
            windows: Windows::new(engine, is_limited),
            exact_until: 0,
            changes: None,
        }
    }

    /// Follows changes, and does what is due. Returns when there will be more to do, if ever.
    fn step(&mut self, engine: &Engine, now: u64) -> Option<u64> {
        let control = engine.view.control();
        let exact_end = self.follow_exact_window(engine, now);
        let changes = control.changes.load(Ordering::SeqCst);
        let is_news = self.changes != Some(changes);
        if is_news {
            report_active(engine);
        }
        let due = self.windows.step(engine, now);
        if is_news {
            self.changes = Some(changes);
            control.followed.store(changes, Ordering::SeqCst);
        }
        due.into_iter().chain(exact_end).min()
    }

    /// Ends an exact window whose time is over, and returns when an open one ends. A reader that is killed
    /// leaves its window open, or has changed `exact_until` and nothing else.
    fn follow_exact_window(&mut self, engine: &Engine, now: u64) -> Option<u64> {
        let control = engine.view.control();
        let before = std::mem::replace(
            &mut self.exact_until,
            control.exact_until.load(Ordering::SeqCst),
        );
        // A time that is too far ahead is of another clock.
        let is_over = self.exact_until <= now || self.exact_until - now > MAX_EXACT_WINDOW_NS;
        let has_ended = is_over && control.end_exact_window(self.exact_until);
        if has_ended {
            self.exact_until = 0;
        }
        if has_ended || self.exact_until != before {
            let controls = engine.view.controls();
            controls.recompute(|class| engine.kind_of(class));
            control.changes.fetch_add(1, Ordering::SeqCst);
        }
        (self.exact_until != 0).then_some(self.exact_until)
    }
}

/// Windows that open and close at the times that their holder passes. For tests.
pub struct ManualWindows {
    engine: Arc<Engine>,
    following: ChangeFollower,
}

impl ManualWindows {
    /// Replaces the thread that follows changes; `None` if there is one, or Tare does not run.
    pub fn begin() -> Option<Self> {
        if !IS_COMPILED_IN {
            return None;
        }
        let (none, relaxed) = (std::ptr::null_mut(), Ordering::Relaxed);
        let nothing_more: Follower = |_, _| {};
        let _ =
            FOLLOWER.compare_exchange(none, nothing_more as *mut (), Ordering::Release, relaxed);
        let engine = {
            let _busy = hot::busy();
            engine(NOW.generation.load(relaxed)).map(|engine| Arc::clone(&engine))
        }?;
        if WATCHES.swap(true, relaxed) {
            return None;
        }
        let following = ChangeFollower::begin(&engine, false);
        Some(Self { engine, following })
    }

    /// Whether waits that begin now are observed.
    pub fn is_open(&self) -> bool {
        NOW.waits.load(Ordering::Relaxed) != 0
    }

    /// Does what is due at `now`, in nanoseconds. Returns when there will be more to do, if ever.
    pub fn at(&mut self, now: u64) -> Option<u64> {
        self.following.step(&self.engine, now)
    }
}

impl Drop for ManualWindows {
    fn drop(&mut self) {
        let control = self.engine.view.control();
        control.host.fetch_and(!host::FOLLOWS, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_windows_no_sampled_event_begins() {
        let observed = Active::ALL.weighing(&[0; GROUPS]);
        for kind in [
            Kind::Mutex,
            Kind::Idle,
            Kind::Socket,
            Kind::Stage,
            Kind::Transaction,
        ] {
            assert!(!observed.meets(Active::of(kind)), "{kind:?}");
        }
        for kind in [Kind::Statement, Kind::Memory, Kind::Error] {
            assert!(observed.meets(Active::of(kind)), "{kind:?}");
        }
        assert_eq!(Active::ALL.weighing(&[1, 4, 16, 16]), Active::ALL);
    }

    #[test]
    fn kinds_have_bits_of_their_own() {
        let both = Active::of(Kind::Mutex).or(Active::THREADS);
        assert!(both.meets(Active::of(Kind::Mutex)) && both.meets(Active::THREADS));
        assert!(!both.meets(Active::of(Kind::RwLock)));
        assert!(Active::ALL.meets(Active::of(Kind::Thread)));
    }
}
