//! What is switched on at all, told to points, which then look no further, and to a host whose calls need not arrive
//! when nothing is.
//!
//! A host that patches its instrument points (the MySQL door) gives a function to [`follow`]. It is called with what
//! is [`Active`] at once, when a class is registered that makes more active, and, once [`watch`] has been
//! called, after each change that a reader makes. A change counts as followed when that function has returned, so
//! that a reader can wait for it.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tare_layout::Kind;
use tare_layout::control::{GLOBAL, THREAD, host};

use super::running::{self, NOW, engine};
use super::state::{Engine, lock};
use super::{hot, own_thread};

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

    /// Whether they have anything in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Called with what is active now.
pub type Follower = fn(Active);

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
    let nothing_more: Follower = |_| {};
    let (none, relaxed) = (std::ptr::null_mut(), Ordering::Relaxed);
    let follower = nothing_more as *mut ();
    // The host may follow by itself.
    let _ = FOLLOWER.compare_exchange(none, follower, Ordering::Release, relaxed);
    watch();
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
    let follower = FOLLOWER.load(Ordering::Acquire);
    if follower.is_null() {
        return;
    }
    // SAFETY: stored by `follow`, of this type.
    let follower: Follower = unsafe { std::mem::transmute::<*mut (), Follower>(follower) };
    let _one_at_a_time = lock(&FOLLOWING);
    let active = active(engine);
    TOLD.store(active.0, Ordering::Relaxed);
    // Points first: a call that arrives is to be recorded.
    point_to(engine, active);
    follower(active);
    let flags = &engine.view.control().host;
    match active.meets(Active::THREADS) {
        true => flags.fetch_and(!host::THREADS_UNKNOWN, Ordering::Relaxed),
        false => flags.fetch_or(host::THREADS_UNKNOWN, Ordering::Relaxed),
    };
}

/// Has points look no further where nothing is active. The caller has [`FOLLOWING`], so that what is told last holds.
fn point_to(engine: &Engine, active: Active) {
    let is_watched = engine.view.control().host.load(Ordering::Relaxed) & host::FOLLOWS != 0;
    if !is_watched || NOW.generation.load(Ordering::Relaxed) != engine.generation {
        return;
    }
    let tell = |word: &AtomicU32, of: Active| {
        let generation = if active.meets(of) {
            engine.generation
        } else {
            0
        };
        word.store(generation, Ordering::Relaxed);
    };
    tell(&NOW.waits, Active::WAITS);
    tell(&NOW.statements, Active::STATEMENTS);
    tell(&NOW.memory, Active::of(Kind::Memory));
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
    let control = engine.view.control();
    control.host.fetch_or(host::FOLLOWS, Ordering::SeqCst);
    while engine.is_ours() && NOW.generation.load(Ordering::Relaxed) == engine.generation {
        let changes = control.changes.load(Ordering::SeqCst);
        tell(engine);
        control.followed.store(changes, Ordering::SeqCst);
        sleep(&control.changes, changes);
    }
    control.host.fetch_and(!host::FOLLOWS, Ordering::SeqCst);
}

/// Sleeps while the word, which readers have mapped too, is `expected`. May wake for no reason.
fn sleep(word: &AtomicU32, expected: u32) {
    let no_timeout = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is valid for the call; an error means that the caller looks again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            expected,
            no_timeout,
        )
    };
}

/// Wakes whoever sleeps on the word.
fn wake(word: &AtomicU32) {
    // SAFETY: the kernel only uses the address as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_bits_of_their_own() {
        let both = Active::of(Kind::Mutex).or(Active::THREADS);
        assert!(both.meets(Active::of(Kind::Mutex)) && both.meets(Active::THREADS));
        assert!(!both.meets(Active::of(Kind::RwLock)));
        assert!(Active::ALL.meets(Active::of(Kind::Thread)));
    }
}
