//! What is switched on at all, told to a host whose calls need not arrive when nothing is.
//!
//! A host that patches its instrument points (the MySQL door) gives a function to [`follow`]. It is called with what
//! is [`Active`] at once, when a class is registered that makes more active, and, once [`watch`] has been
//! called, after each change that a reader makes. A change counts as followed when that function has returned, so
//! that a reader can wait for it.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tare_layout::Kind;
use tare_layout::control::{GLOBAL, THREAD, host};

use super::hot;
use super::running::{GENERATION, engine};
use super::state::{Engine, lock};

/// Kinds of which at least one instrument is counted, and whether it is asked what threads do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active(u32);

impl Active {
    /// What threads do: the columns `PROCESSLIST_...` of `threads`, kept while `global_instrumentation` and
    /// `thread_instrumentation` are on.
    pub const THREADS: Self = Self(1);
    /// Everything.
    pub const ALL: Self = Self(u32::MAX);

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
        engine(GENERATION.load(Ordering::Relaxed)).map(|engine| Arc::clone(&engine))
    };
    if let Some(engine) = running {
        start("tare-settings", move || wait_for_changes(&engine));
    }
}

/// The engine has stopped: whoever waits for its changes shall see it.
pub(super) fn stopped(engine: &Engine) {
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
    follower(active);
    let flags = &engine.view.control().host;
    match active.meets(Active::THREADS) {
        true => flags.fetch_and(!host::THREADS_UNKNOWN, Ordering::Relaxed),
        false => flags.fetch_or(host::THREADS_UNKNOWN, Ordering::Relaxed),
    };
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
    while engine.is_ours() && GENERATION.load(Ordering::Relaxed) == engine.generation {
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

/// Runs `work` on a thread of its own that no signal of the host's comes to.
pub(super) fn start(name: &str, work: impl FnOnce() + Send + 'static) {
    const STACK: usize = 64 * 1024;
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are places for one; `all` is filled before it is used. A thread inherits the mask of the
    // one that makes it, which gets its own back.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    let builder = std::thread::Builder::new()
        .name(name.into())
        .stack_size(STACK);
    // Without it a setting that a reader changes takes effect in flags alone, as everywhere else.
    let _ = builder.spawn(work);
    // SAFETY: filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
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
