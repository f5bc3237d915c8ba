//! The recording engine: one segment, and the threads attached to it.
//!
//! | state | what a point does |
//! |---|---|
//! | not compiled in (feature off) | nothing, there is no code |
//! | disabled (never started, or stopped) | one load, one branch |
//! | off (running, instrument off) | the above, the thread's slot, one byte of flags |
//! | on | as its flags say |

pub(crate) mod account;
mod awake;
pub(crate) mod bank;
mod classes;
pub mod clock;
pub(crate) mod digest_table;
pub(crate) mod digests;
mod fill;
pub(crate) mod fine;
pub(crate) mod freelist;
pub(crate) mod history;
pub(crate) mod hot;
mod instance_rows;
pub(crate) mod instances;
pub(crate) mod local;
mod mapping;
mod merge;
mod metrics;
mod object_rows;
pub(crate) mod objects;
mod pending;
pub mod settings;
mod slot;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use lock_api::{GuardNoSend, RawMutex as _};

use tare_layout::actor;
use tare_layout::control::setup;
use tare_layout::fine::Buckets;
use tare_layout::header::STOPPED;
use tare_layout::shared::Lost;
use tare_layout::{Geometry, Region, View};

use crate::class::Class;
use crate::config::{Config, Setting, StartError};
use crate::number::NO_NUMBER;
use crate::sync::{Absent, PlainMutex, RawMutex};
use mapping::Mapping;

/// The generation that records now, 0 = none. The one word that a disabled point reads.
pub(crate) static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The last generation given; 16 bits are used, see [`Class`].
static LAST_GENERATION: AtomicU32 = AtomicU32::new(0);

/// The engine that records now. Held across a fork, so that the child finds it unlocked; hence a
/// lock that can be let go by hand. Whoever takes it is busy (see [`hot::busy`]), so that a signal
/// handler on the same thread does not wait for it.
static ENGINE: PlainMutex<Option<Arc<Engine>>> =
    PlainMutex::from_raw(<RawMutex<Absent>>::INIT, None);

/// See [`pin`].
static PINNED: AtomicPtr<Arc<Engine>> = AtomicPtr::new(std::ptr::null_mut());

/// Events of signal handlers that interrupted the above, to be counted when a segment is at hand.
static PENDING_LOST: AtomicU64 = AtomicU64::new(0);

/// What went wrong before there was a segment to count it in.
static FAILED_STARTS: AtomicU64 = AtomicU64::new(0);

/// Whether the fork handler is installed.
static FORK_HANDLER: AtomicBool = AtomicBool::new(false);

/// Whether Tare goes with the child when a process that has but one thread forks.
static FOLLOWS_FORKS: AtomicBool = AtomicBool::new(false);

/// One segment and what its writer knows about it.
pub(crate) struct Engine {
    /// Which start this is; never 0.
    pub generation: u32,
    /// Typed access. Valid as long as `mapping`, which this struct owns.
    pub view: View<'static>,
    /// Settings by pattern, for classes that are registered later.
    instruments: Vec<(String, Setting)>,
    /// Serialises registration of classes.
    registering: Mutex<()>,
    /// Serialises the making of digests.
    digesting: Mutex<digest_table::Making>,
    /// Finds the bucket of a statement's time.
    pub buckets: Buckets,
    /// Numbers of the error classes, by code.
    errors: Mutex<HashMap<u32, u16>>,
    /// Number of the class of errors that have none of their own.
    other_errors: AtomicU16,
    /// Which chunks of each history_long a thread holds.
    pub holders: [Box<[AtomicBool]>; 4],
    /// What threads keep, by slot: the present thread, or the last one.
    locals: Box<[AtomicPtr<local::Local>]>,
    /// Which rows are awake, by bank.
    awake: Box<[awake::Awake]>,
    /// The bank of memory that threads count outside of sessions.
    outside: OnceLock<bank::Outside>,
    /// Files by class and path.
    pub files: Mutex<instances::Files>,
    /// Tables and programs by name.
    pub objects: Mutex<objects::Objects>,
    /// The file of the segment, if it is one.
    path: Option<PathBuf>,
    /// The process that it records; a child of fork has it mapped, too.
    pid: AtomicU32,
    mapping: Mapping,
}

impl Engine {
    fn create(config: Config, generation: u32) -> Result<Arc<Self>, StartError> {
        let limits = config.limits.clamped();
        let geometry = Geometry::new(limits);
        let path = config
            .segment
            .clone()
            .or_else(|| std::env::var_os("TARE_SEGMENT").map(PathBuf::from));
        let consumers = fill::consumers(&config.consumers)?;
        let made = match &path {
            Some(path) => Mapping::file(path, geometry.total_bytes),
            None => Mapping::memory(geometry.total_bytes),
        };
        let mapping = made.map_err(|source| StartError::Segment {
            bytes: geometry.total_bytes,
            place: path.as_ref().map_or("memory".into(), |p| p.display().to_string()),
            source,
            advice: "lower the limits (threads, arena_lines), raise `ulimit -v`, or give another path",
        })?;
        // SAFETY: the mapping is page-aligned, of `total_bytes`, writable, and lives as long as the
        // engine that owns both; everybody who uses the view holds an Arc of the engine.
        let view = unsafe { View::new(mapping.base(), geometry) };
        let engine = Arc::new(Self {
            generation,
            view,
            instruments: config.instruments.clone(),
            registering: Mutex::new(()),
            digesting: Mutex::default(),
            buckets: Buckets::new(clock::calibrate().ticks_per_second),
            errors: Mutex::default(),
            other_errors: AtomicU16::new(NO_NUMBER),
            holders: std::array::from_fn(|_| {
                (0..geometry.shared_chunks)
                    .map(|_| AtomicBool::new(false))
                    .collect()
            }),
            locals: (0..limits.threads).map(|_| AtomicPtr::default()).collect(),
            awake: awake::Awake::all(geometry.region(Region::Banks).count),
            outside: OnceLock::new(),
            files: Mutex::default(),
            objects: Mutex::default(),
            path,
            pid: AtomicU32::new(std::process::id()),
            mapping,
        });
        engine.fill(consumers, &config);
        engine.place_all();
        engine.publish_header();
        Ok(engine)
    }

    /// INSTRUMENTED and HISTORY of a thread that serves this user from this host.
    pub fn actor(&self, user: &str, host: &str) -> (bool, bool) {
        let actors = self.view.actors();
        // Those behind were never used: looking at them would make their pages.
        let used = self.view.control().actors_used.load(Ordering::Acquire) as usize;
        actor::resolve(&actors[..used.min(actors.len())], user, host)
    }

    /// INSTRUMENTED and HISTORY of a new thread of this class.
    pub fn thread_class(&self, class: u16) -> (bool, bool) {
        let bits = self.view.controls().setup[usize::from(class)].load(Ordering::Relaxed);
        // A class that found no number has no row to be switched by.
        if class == NO_NUMBER {
            return (true, true);
        }
        (bits & setup::ENABLED != 0, bits & setup::HISTORY != 0)
    }

    /// Counts something that could not be recorded.
    #[cold]
    pub fn lose(&self, what: Lost, n: u64) {
        self.view.shared().lost[what as usize].fetch_add(n, Ordering::Relaxed);
    }

    /// Counts what signal handlers lost while there was no segment at hand.
    #[inline]
    fn count_pending(&self) {
        // Looked at first: a swap takes the line from the other threads that come and go.
        if PENDING_LOST.load(Ordering::Relaxed) != 0 {
            self.lose(Lost::SignalEvents, PENDING_LOST.swap(0, Ordering::Relaxed));
        }
    }

    /// Whether this is the process that it records, and no child of its.
    pub fn is_ours(&self) -> bool {
        self.pid.load(Ordering::Relaxed) == std::process::id()
    }

    fn end(&self) {
        self.view.header().state.store(STOPPED, Ordering::Release);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for local in &self.locals {
            // SAFETY: null or made by `make`; a thread that has one holds this engine.
            unsafe { local::Local::free(local.swap(std::ptr::null_mut(), Ordering::AcqRel)) };
        }
        if self.path.is_none() && self.is_ours() {
            self.mapping.discard();
        }
    }
}

/// Locks a mutex of ours; a panic elsewhere in the host is no reason to stop.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// An engine at hand: [`pin`]ned, or held by a count of its own.
pub(crate) enum Held {
    Pinned(&'static Arc<Engine>),
    Counted(Arc<Engine>),
}

impl std::ops::Deref for Held {
    type Target = Arc<Engine>;

    fn deref(&self) -> &Arc<Engine> {
        match self {
            Self::Pinned(engine) => engine,
            Self::Counted(engine) => engine,
        }
    }
}

/// Keeps the engine that records now for as long as the process lives, so that threads that come and go
/// find it without a lock and without counting that they hold it.
pub(crate) fn pin() {
    let _busy = hot::busy();
    if let Some(engine) = ENGINE.lock().as_ref() {
        let kept = Box::leak(Box::new(Arc::clone(engine)));
        PINNED.store(kept, Ordering::Release);
    }
}

/// The engine of this generation, unless it has been stopped meanwhile. The caller is busy.
pub(crate) fn engine(generation: u32) -> Option<Held> {
    // SAFETY: null, or leaked by `pin`.
    let pinned = unsafe { PINNED.load(Ordering::Acquire).as_ref() };
    let engine = match pinned.filter(|engine| engine.generation == generation) {
        Some(engine) => Held::Pinned(engine),
        None => Held::Counted(
            ENGINE
                .lock()
                .as_ref()
                .filter(|e| e.generation == generation)
                .cloned()?,
        ),
    };
    engine.count_pending();
    Some(engine)
}

/// Gives a class its number in the segment that records now.
pub(crate) fn register(class: &Class) {
    with(|engine| {
        engine.register(class);
    });
}

/// Gives a metric its number in the segment that records now.
pub(crate) fn register_metric(metric: &crate::metrics::Metric) {
    with(|engine| {
        engine.register_metric(metric);
    });
}

/// What is done with the engine that records now, if one does.
pub(crate) fn with_running<T>(work: impl FnOnce(&Engine) -> T) -> Option<T> {
    let mut done = None;
    with(|engine| done = Some(work(engine)));
    done
}

/// Now, in nanoseconds since 1970.
pub(crate) fn unix_ns() -> u64 {
    clock::unix_ns()
}

/// Does something with the engine that records now, if one does.
pub(crate) fn with(work: impl FnOnce(&Engine)) {
    let _busy = hot::busy();
    if let Some(local) = hot::attached() {
        local.engine.count_pending();
        work(&local.engine);
    } else if let Some(engine) = engine(GENERATION.load(Ordering::Relaxed)) {
        work(&engine);
    }
}

/// Counts an event of a signal handler that interrupted a busy thread.
#[cold]
pub(crate) fn lose_in_signal() {
    PENDING_LOST.fetch_add(1, Ordering::Relaxed);
}

/// Starts recording. Threads join at their next event.
///
/// # Errors
/// [`StartError`]; the host goes on without Tare, and [`failed_starts`] counts it.
pub fn start(config: Config) -> Result<(), StartError> {
    let _busy = hot::busy();
    let mut current = ENGINE.lock();
    if current.is_some() {
        return Err(StartError::Running);
    }
    // 16 bits, never 0: a class's number carries it.
    let generation = match (LAST_GENERATION.load(Ordering::Relaxed) + 1) & 0xffff {
        0 => 1,
        next => next,
    };
    install_fork_handler();
    clock::calibrate();
    match Engine::create(config, generation) {
        Ok(engine) => {
            LAST_GENERATION.store(generation, Ordering::Relaxed);
            *current = Some(engine);
            // Pairs with nothing: a point that sees the generation takes the lock above.
            GENERATION.store(generation, Ordering::Release);
            Ok(())
        }
        Err(error) => {
            FAILED_STARTS.fetch_add(1, Ordering::Relaxed);
            Err(error)
        }
    }
}

/// Stops recording. Threads let go of the segment when they end or when Tare starts again; when the
/// last one has, a segment in memory is gone, also for readers that are attached. One in a file
/// stays.
pub fn stop() {
    let _busy = hot::busy();
    let mut current = ENGINE.lock();
    GENERATION.store(0, Ordering::Release);
    if let Some(engine) = current.take() {
        engine.end();
        settings::stopped(&engine);
    }
}

/// Whether Tare records.
pub fn is_running() -> bool {
    GENERATION.load(Ordering::Relaxed) != 0
}

/// How often [`start`] failed in this process.
pub fn failed_starts() -> u64 {
    FAILED_STARTS.load(Ordering::Relaxed)
}

/// The segment's file descriptor, duplicated: the process itself can attach through it.
///
/// # Errors
/// When Tare does not run, or no descriptor is left.
pub fn descriptor() -> std::io::Result<OwnedFd> {
    let _busy = hot::busy();
    match ENGINE.lock().as_ref() {
        Some(engine) => engine.mapping.descriptor().try_clone(),
        None => Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "Tare does not run in this process",
        )),
    }
}

/// Whether from now on, when this process forks while it has but one thread, Tare goes with the child, and the
/// parent does not record any more: for servers that put themselves into the background.
pub fn follow_forks(follow: bool) {
    FOLLOWS_FORKS.store(follow, Ordering::Relaxed);
}

/// Whether the fork that is under way takes Tare along.
fn child_takes_over() -> bool {
    // Asked between `before` and the end of the other two, one fork at a time.
    TAKES_OVER.load(Ordering::Relaxed)
}

/// What [`child_takes_over`] says; written under the lock of [`ENGINE`].
static TAKES_OVER: AtomicBool = AtomicBool::new(false);

fn has_one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// In a child process Tare does not run: its threads would count into the parent's segment. Unless it
/// follows ([`follow_forks`]): then it does not run in the parent.
fn install_fork_handler() {
    if FORK_HANDLER.swap(true, Ordering::Relaxed) {
        return;
    }
    extern "C" fn before() {
        let follows = FOLLOWS_FORKS.load(Ordering::Relaxed) && has_one_thread();
        std::mem::forget(ENGINE.lock());
        TAKES_OVER.store(follows, Ordering::Relaxed);
    }
    extern "C" fn in_parent() {
        match child_takes_over() {
            true => _ = let_go(),
            // SAFETY: locked by `before`, on this thread.
            false => unsafe { ENGINE.force_unlock(GuardNoSend::new()) },
        }
    }
    extern "C" fn in_child() {
        if !child_takes_over() {
            if let Some(engine) = let_go() {
                engine.lose(Lost::Forks, 1);
            }
            return;
        }
        // SAFETY: locked by `before`, on the thread that this one is a copy of.
        unsafe { ENGINE.force_unlock(GuardNoSend::new()) };
        if let Some(engine) = ENGINE.lock().as_ref() {
            let pid = std::process::id();
            engine.pid.store(pid, Ordering::Relaxed);
            engine.view.header().pid.store(pid, Ordering::Relaxed);
            hot::renumber_in_child(u64::from(pid));
        }
    }
    // SAFETY: the handlers touch atomics, a thread-local without destructor and a futex lock, and list a
    // directory in the process that forks.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

/// Tare does not run any more in this one of two processes that have its segment: the other has it. The lock
/// was taken by `before`, on this thread or the one that it is a copy of.
fn let_go() -> Option<&'static Engine> {
    GENERATION.store(0, Ordering::Relaxed);
    hot::forget_in_child();
    // SAFETY: locked by `before`; the caller's promise.
    unsafe { ENGINE.force_unlock(GuardNoSend::new()) };
    let engine = ENGINE.lock().take()?;
    engine.pid.store(0, Ordering::Relaxed);
    // The segment is the other's: dropping the engine would discard its pages.
    // SAFETY: never given back, so it lives as long as the process.
    Some(unsafe { &*Arc::into_raw(engine) })
}
