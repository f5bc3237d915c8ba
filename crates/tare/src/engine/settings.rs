//! What is switched on at all, told to points, which then look no further, and to a host whose calls need not arrive
//! when nothing is.
//!
//! A host that patches its instrument points (the MySQL door) gives a function to [`follow`]. It is called with what
//! is [`Active`] at once, when a class is registered that makes more active, and, once [`watch`] has been
//! called, after each change that a reader makes, and when a window of sampling opens or closes. A change counts as
//! followed when that function has returned, so that a reader can wait for it.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tare_layout::Kind;
use tare_layout::control::{GLOBAL, THREAD, host};
use tare_layout::sampling::{GROUPS, STAGE, TRANSACTION, WAIT};

use super::running::{self, NOW, engine};
use super::state::{Engine, lock};
use super::windows::{Rates, Windows};
use super::{clock, hot, own_thread};

/// Kinds of which at least one instrument is counted, and whether it is asked what threads do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active(u32);

impl Active {
    /// What threads do: the columns `PROCESSLIST_...` of `threads`, kept while `global_instrumentation` and
    /// `thread_instrumentation` are on.
    pub const THREADS: Self = Self(1);
    /// Everything.
    pub const ALL: Self = Self(u32::MAX);
    /// What statements do, from the first byte to the last, and what threads do.
    const STATEMENTS: Self = (Self::THREADS)
        .or(Self::of(Kind::Statement))
        .or(Self::of(Kind::Stage))
        .or(Self::of(Kind::Transaction));
    /// All waits, idle times included.
    const WAITS: Self = Self(
        !(Self::STATEMENTS.0
            | Self::of(Kind::Memory).0
            | Self::of(Kind::Error).0
            | Self::of(Kind::Thread).0),
    );

    /// A kind.
    pub const fn of(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    /// Both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What of it is not in the other.
    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What of it is observed where events weigh so much: outside of windows no wait, stage or transaction is.
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

/// Called with what is active now, and with what of it is observed now, windows of sampling considered.
pub type Follower = fn(active: Active, observed: Active);

static FOLLOWER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// One call of the follower at a time, each with what holds then.
static FOLLOWING: Mutex<()> = Mutex::new(());
/// What the follower was told last.
static TOLD: AtomicU32 = AtomicU32::new(0);
static WATCHES: AtomicBool = AtomicBool::new(false);

/// Has `follower` told what is active: now and whenever that changes. Changes that readers make arrive once
/// [`watch`] has been called.
pub fn follow(follower: Follower) {
    FOLLOWER.store(follower as *mut (), Ordering::Release);
    hot::with(tell);
}

/// Starts the thread that waits for readers' changes, once. It takes no signals and sleeps in a futex; a child of
/// fork does not have it.
pub fn watch() {
    // Looked at first: each of a host's threads may come by.
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
    match running {
        Some(engine) => own_thread::start(c"tare-settings", move || wait_for_changes(&engine)),
        None => WATCHES.store(false, Ordering::Relaxed),
    }
}

/// Starts a thread that learns of settings that are changed, once, if Tare runs. Without it the points of what is off look at their
/// own flags each time. With it they read one word, as if Tare had not been started: those of waits while no wait is
/// counted, those of statements, stages and transactions while none of these is kept, and those of memory likewise.
/// For a process that declares its classes ([`classes!`](crate::classes)): the first event of another one registers it,
/// and is not seen while all of its kind is off.
pub fn watch_settings() {
    let nothing_more: Follower = |_, _| {};
    let (none, relaxed) = (std::ptr::null_mut(), Ordering::Relaxed);
    let follower = nothing_more as *mut ();
    // The host may follow by itself.
    let _ = FOLLOWER.compare_exchange(none, follower, Ordering::Release, relaxed);
    watch();
}

/// A statement begins, and something is to be sampled: the thread that opens windows is started, if it can be.
#[cold]
pub(crate) fn watch_for_windows() {
    watch_settings();
}

/// The engine has stopped: whoever waits for its changes shall see it.
pub(super) fn stopped(engine: &Engine) {
    {
        // Whoever was telling points that it records has done so now.
        let _one_at_a_time = lock(&FOLLOWING);
        running::record(0);
    }
    let changes = &engine.view.control().changes;
    changes.fetch_add(1, Ordering::SeqCst);
    wake(changes);
    WATCHES.store(false, Ordering::Relaxed);
    TOLD.store(0, Ordering::Relaxed);
}

/// A class was registered.
pub(super) fn registered(engine: &Engine, kind: Kind) {
    let is_news = TOLD.load(Ordering::Relaxed) & Active::of(kind).0 == 0;
    if is_news && !FOLLOWER.load(Ordering::Acquire).is_null() {
        tell(engine);
    }
}

fn tell(engine: &Engine) {
    if FOLLOWER.load(Ordering::Acquire).is_null() {
        return;
    }
    let _one_at_a_time = lock(&FOLLOWING);
    let active = active(engine);
    TOLD.store(active.0, Ordering::Relaxed);
    lead(engine, active);
    let flags = &engine.view.control().host;
    match active.meets(Active::THREADS) {
        true => flags.fetch_and(!host::THREADS_UNKNOWN, Ordering::Relaxed),
        false => flags.fetch_or(host::THREADS_UNKNOWN, Ordering::Relaxed),
    };
}

/// Events that begin from here on weigh so much; those that would weigh 0 do not arrive, but for stages, which are shown.
pub(super) fn observe(engine: &Engine, weights: Rates) {
    let _one_at_a_time = lock(&FOLLOWING);
    if NOW.generation.load(Ordering::Relaxed) != engine.generation {
        return;
    }
    for (weight, now) in NOW.weights.iter().zip(weights) {
        weight.store(now, Ordering::Relaxed);
    }
    lead(engine, Active(TOLD.load(Ordering::Relaxed)));
}

/// Events weigh so much now: those of which each stands for itself need not look, unless a rule that follows says so.
pub(super) fn weigh_no_more(engine: &Engine, weights: Rates) {
    let view = engine.view;
    if view.control().weigh_no_more(|group| weights[group] == 1) {
        view.controls().recompute(|class| engine.kind_of(class));
    }
}

/// Leads points and the host's calls to where they look no further, or back. The caller has [`FOLLOWING`], so that what
/// is told last holds.
fn lead(engine: &Engine, active: Active) {
    let follower = FOLLOWER.load(Ordering::Acquire);
    if follower.is_null() {
        return;
    }
    // SAFETY: stored by `follow`, of this type.
    let follower: Follower = unsafe { std::mem::transmute::<*mut (), Follower>(follower) };
    let weights: [u32; GROUPS] =
        (NOW.weights.each_ref()).map(|weight| weight.load(Ordering::Relaxed));
    let observed = active.weighing(&weights);
    // Points first: a call that arrives is to be recorded.
    point_to(engine, active, observed);
    follower(active, observed);
}

/// Has points look no further where nothing is active, or observed.
fn point_to(engine: &Engine, active: Active, observed: Active) {
    let is_watched = engine.view.control().host.load(Ordering::Relaxed) & host::FOLLOWS != 0;
    if !is_watched || NOW.generation.load(Ordering::Relaxed) != engine.generation {
        return;
    }
    let tell = |word: &AtomicU32, is_on: bool| {
        let generation = if is_on { engine.generation } else { 0 };
        word.store(generation, Ordering::Relaxed);
    };
    tell(&NOW.waits, observed.meets(Active::WAITS));
    tell(&NOW.objects, active.meets(Active::WAITS));
    tell(&NOW.statements, active.meets(Active::STATEMENTS));
    let transaction = Active::of(Kind::Transaction);
    tell(&NOW.transactions, observed.meets(transaction));
    tell(&NOW.memory, active.meets(Active::of(Kind::Memory)));
}

fn active(engine: &Engine) -> Active {
    let view = engine.view;
    let consumers = view.control().consumers.load(Ordering::SeqCst);
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
    // A window that opens late closes late; by default the system adds 50 µs to both.
    // SAFETY: the calling thread's own timers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut following = Following::begin(engine, true);
    while engine.is_ours() && NOW.generation.load(Ordering::Relaxed) == engine.generation {
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

/// What the thread does that follows changes.
struct Following {
    windows: Windows,
    /// The changes that were followed last.
    changes: Option<u32>,
}

impl Following {
    fn begin(engine: &Engine, is_limited: bool) -> Self {
        let control = engine.view.control();
        control.host.fetch_or(host::FOLLOWS, Ordering::SeqCst);
        if control.is_sampling() {
            // Statements need not look any more whether somebody opens windows.
            let controls = engine.view.controls();
            controls.recompute(|class| engine.kind_of(class));
        }
        Self {
            windows: Windows::new(engine, is_limited),
            changes: None,
        }
    }

    /// Follows what has changed, and does what is due; when there will be more to do, if ever.
    fn step(&mut self, engine: &Engine, now: u64) -> Option<u64> {
        let control = engine.view.control();
        let changes = control.changes.load(Ordering::SeqCst);
        let is_news = self.changes != Some(changes);
        if is_news {
            tell(engine);
        }
        let due = self.windows.step(engine, now);
        if is_news {
            self.changes = Some(changes);
            control.followed.store(changes, Ordering::SeqCst);
        }
        due
    }
}

/// Windows that open and close when their holder says what time it is. For tests.
pub struct ByHand {
    engine: Arc<Engine>,
    following: Following,
}

impl ByHand {
    /// Takes the place of the thread that follows changes; `None` if there is one, or Tare does not run.
    pub fn begin() -> Option<Self> {
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
        let following = Following::begin(&engine, false);
        Some(Self { engine, following })
    }

    /// Whether waits that begin now are observed.
    pub fn is_open(&self) -> bool {
        NOW.waits.load(Ordering::Relaxed) != 0
    }

    /// Does what is due at `now`, in nanoseconds; when there will be more to do, if ever.
    pub fn at(&mut self, now: u64) -> Option<u64> {
        self.following.step(&self.engine, now)
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        let control = self.engine.view.control();
        control.host.fetch_and(!host::FOLLOWS, Ordering::SeqCst);
    }
}

/// Sleeps while the word, which readers have mapped too, is `expected`, or for so many nanoseconds. May wake for no
/// reason.
pub(super) fn sleep(word: &AtomicU32, expected: u32, timeout_ns: Option<u64>) {
    let timeout = timeout_ns.map(|ns| libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time are valid for the call; an error means that the caller looks again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            expected,
            timeout,
        )
    };
}

/// Wakes whoever sleeps on the word.
pub(super) fn wake(word: &AtomicU32) {
    // SAFETY: the kernel only uses the address as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_windows_nothing_begins_that_rests() {
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
