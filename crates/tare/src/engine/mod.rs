//! The recording engine: one segment, and the threads attached to it.
//!
//! | state | what a point does |
//! |---|---|
//! | not compiled in (feature off) | nothing, there is no code |
//! | disabled (never started, or stopped) | one load, one branch |
//! | off (running, instrument off) | the above, the thread's slot, one byte of flags |
//! | on | as its flags say |

pub(crate) mod account;
pub(crate) mod bank;
pub mod clock;
pub(crate) mod digest_table;
pub(crate) mod digests;
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
mod slot;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use lock_api::{GuardNoSend, RawMutex as _};

use tare_layout::actor;
use tare_layout::bank::plane;
use tare_layout::class::EVENT_TYPES;
use tare_layout::control::{
    CONSUMERS, CONTENDED, DEFAULT_CONSUMERS, EVERY, THREAD, TIMERS, Timer, setup,
};
use tare_layout::fine::Buckets;
use tare_layout::header::{HEADER_BYTES, Header, LAYOUT_VERSION, LIVE, MAGIC, STOPPED};
use tare_layout::object::{self, DEFAULT_RULES, ObjectType, rule};
use tare_layout::pattern;
use tare_layout::shared::Lost;
use tare_layout::{Geometry, Kind, View};

use crate::class::{CLASSES, Class, NO_NUMBER};
use crate::config::{Config, LockTiming, Setting, StartError};
use crate::point::error;
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

/// Events of signal handlers that interrupted the above, to be counted when a segment is at hand.
static PENDING_LOST: AtomicU64 = AtomicU64::new(0);

/// `performance_schema_max_digest_sample_age`: MySQL's 60 seconds.
const DIGEST_SAMPLE_AGE: u64 = 60;

/// What went wrong before there was a segment to count it in.
static FAILED_STARTS: AtomicU64 = AtomicU64::new(0);

/// Whether the fork handler is installed.
static FORK_HANDLER: AtomicBool = AtomicBool::new(false);

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
    /// Files by class and path.
    pub files: Mutex<instances::Files>,
    /// Tables and programs by name.
    pub objects: Mutex<objects::Objects>,
    /// The file of the segment, if it is one.
    path: Option<PathBuf>,
    /// The process that it records; a child of fork has it mapped, too.
    pid: u32,
    mapping: Mapping,
}

impl Engine {
    fn create(config: Config, generation: u32) -> Result<Arc<Self>, StartError> {
        let limits = config.limits.clamped();
        let geometry = Geometry::new(limits);
        let path = config
            .segment
            .or_else(|| std::env::var_os("TARE_SEGMENT").map(PathBuf::from));
        let consumers = consumers(&config.consumers)?;
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
            instruments: config.instruments,
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
            files: Mutex::default(),
            objects: Mutex::default(),
            path,
            pid: std::process::id(),
            mapping,
        });
        engine.fill_control(consumers, config.lock_timing, config.memory_limit);
        if let Some(seconds) = config.digest_sample_age {
            engine.set_sample_age(seconds);
        }
        engine.fill_shared();
        for (kind, limit) in &config.class_limits {
            let cell = &engine.view.shared().class_limits[*kind as usize];
            cell.store(*limit as u64 + 1, Ordering::Relaxed);
        }
        engine.fill_actors();
        engine.fill_rules();
        for class in CLASSES {
            engine.register(class);
        }
        engine.place_errors();
        engine.place_metrics();
        engine.view.controls().recompute(|i| engine.kind_of(i));
        engine.publish_header();
        Ok(engine)
    }

    fn fill_control(&self, consumers: u32, lock_timing: LockTiming, memory_limit: u64) {
        let control = self.view.control();
        control.consumers.store(consumers, Ordering::Relaxed);
        let timing = if lock_timing == LockTiming::Every {
            EVERY
        } else {
            CONTENDED
        };
        control.lock_timing.store(timing, Ordering::Relaxed);
        for timer in &control.timers[..EVENT_TYPES] {
            timer.store(Timer::Cycle as u8, Ordering::Relaxed);
        }
        let no_cycles = !clock::calibrate().cycles;
        control
            .no_cycles
            .store(u32::from(no_cycles), Ordering::Relaxed);
        control.digest_generation.store(1, Ordering::Relaxed);
        // Without thread_instrumentation, sums by thread begin frozen at nothing.
        let frozen = u32::from(consumers & THREAD == 0) << plane::FROZEN;
        control
            .planes_used
            .store(1 << plane::BASE | frozen, Ordering::Relaxed);
        control.memory_limit.store(memory_limit, Ordering::Relaxed);
        self.set_sample_age(DIGEST_SAMPLE_AGE);
    }

    /// How many seconds a digest's sample stays whatever else runs; 0 = for good.
    fn set_sample_age(&self, seconds: u64) {
        let age = clock::calibrate().ticks_per_second.saturating_mul(seconds);
        let control = self.view.control();
        control.digest_sample_age.store(age, Ordering::Relaxed);
    }

    /// As in MySQL, everybody is instrumented until somebody says otherwise.
    fn fill_actors(&self) {
        if let Some(actor) = self.view.actors().first() {
            actor.write(|actor| {
                actor.host.set(actor::ANY);
                actor.user.set(actor::ANY);
                actor.role.set(actor::ANY);
                let flags = actor::USED | actor::ENABLED | actor::HISTORY;
                actor.flags.store(flags, Ordering::Relaxed);
            });
            let used = &self.view.control().actors_used;
            used.store(1, Ordering::Release);
        }
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

    fn fill_shared(&self) {
        let shared = self.view.shared();
        shared.next_thread_id.0.store(1, Ordering::Relaxed);
        // Number 0 of accounts stands for background threads, number 0 of names and classes for none.
        for used in [
            &shared.classes_used,
            &shared.accounts_used,
            &shared.users_used,
            &shared.hosts_used,
            &shared.schemas_used,
        ] {
            used.0.store(1, Ordering::Relaxed);
        }
        shared
            .digests_used
            .0
            .store(tare_layout::digest::state(1, 1), Ordering::Relaxed);
        self.view
            .account(0)
            .state
            .store(tare_layout::account::READY, Ordering::Release);
        self.view.digest(0).state.store(
            // Of incarnation 0, which no other digest is of.
            tare_layout::digest::state(0, tare_layout::digest::READY),
            Ordering::Release,
        );
    }

    /// setup_objects as MySQL has it at start.
    fn fill_rules(&self) {
        let types = ObjectType::ALL
            .iter()
            .filter(|kind| kind.ruled_as() == **kind);
        let rows = types.flat_map(|kind| DEFAULT_RULES.map(|(schema, on)| (*kind, schema, on)));
        for (i, (kind, schema, on)) in rows.enumerate() {
            let rule = self.view.object_rule(i);
            rule.kind.store(kind as u32, Ordering::Relaxed);
            let flags = if on { rule::ENABLED | rule::TIMED } else { 0 };
            rule.flags.store(flags, Ordering::Relaxed);
            rule.schema.set(schema);
            rule.name.set("%");
            rule.state.store(object::READY, Ordering::Release);
        }
    }

    fn publish_header(&self) {
        let header = self.view.header();
        let calibration = clock::calibrate();
        let geometry = self.view.geometry();
        header
            .layout_version
            .store(LAYOUT_VERSION, Ordering::Relaxed);
        header
            .header_bytes
            .store(size_of::<Header>() as u32, Ordering::Relaxed);
        header
            .total_bytes
            .store(geometry.total_bytes as u64, Ordering::Relaxed);
        header.state.store(LIVE, Ordering::Relaxed);
        header.pid.store(std::process::id(), Ordering::Relaxed);
        header
            .generation
            .store(u64::from(self.generation), Ordering::Relaxed);
        header
            .start_unix_ns
            .store(clock::unix_ns(), Ordering::Relaxed);
        header.start_ticks.store(clock::now(), Ordering::Relaxed);
        header
            .ticks_per_second
            .store(calibration.ticks_per_second, Ordering::Relaxed);
        header
            .ticks_are_cycles
            .store(u64::from(calibration.cycles), Ordering::Relaxed);
        const ALL: [Timer; TIMERS] = [
            Timer::Cycle,
            Timer::Nanosecond,
            Timer::Microsecond,
            Timer::Millisecond,
            Timer::ThreadCpu,
        ];
        for (place, timer) in header.timers.iter().zip(ALL) {
            let (frequency, resolution, overhead) = clock::facts(timer);
            place.frequency.store(frequency, Ordering::Relaxed);
            place.resolution.store(resolution, Ordering::Relaxed);
            place.overhead.store(overhead, Ordering::Relaxed);
        }
        for (place, limit) in header.limits.iter().zip(geometry.limits.to_array()) {
            place.store(limit, Ordering::Relaxed);
        }
        for (place, extent) in header.regions.iter().zip(geometry.regions) {
            place.offset.store(extent.offset as u64, Ordering::Relaxed);
            place.stride.store(extent.stride as u64, Ordering::Relaxed);
            place.count.store(extent.count as u64, Ordering::Relaxed);
        }
        header.program.set(&program());
        debug_assert!(size_of::<Header>() <= HEADER_BYTES);
        // Pairs with the reader's first load: who sees the magic sees the whole header.
        header.magic.store(MAGIC, Ordering::Release);
    }

    /// The kind of class `i`, if there is one.
    pub fn kind_of(&self, i: usize) -> Option<Kind> {
        Kind::from_u8(self.view.class(i).kind.load(Ordering::Acquire) as u8)
    }

    /// Gives a class its number, or [`NO_NUMBER`] when the limit is reached.
    #[cold]
    pub fn register(&self, class: &Class) -> u16 {
        let _one_at_a_time = lock(&self.registering);
        if let Some(number) = class.number(self.generation) {
            return number;
        }
        let number = self.place_class(class);
        class.set_number(self.generation, number);
        number
    }

    /// The number of the class of an error code; of one that finds no room, that of all others. `named`
    /// gives its name and SQLSTATE.
    pub fn error_class(&self, code: u32, named: Option<(&str, &str)>) -> u16 {
        let mut known = lock(&self.errors);
        if let Some(((name, state), number)) = named.zip(known.get(&code)) {
            let entry = self.view.class(usize::from(*number));
            if *number != self.other_errors.load(Ordering::Relaxed)
                && entry.documentation.is_empty()
            {
                entry.documentation.set(&format!("{name} {state}"));
            }
        }
        *known.entry(code).or_insert_with(|| {
            let _one_at_a_time = lock(&self.registering);
            let other = self.other_errors.load(Ordering::Relaxed);
            // As the others are now, who may have been switched since Tare began.
            let setup = self.view.controls().setup[usize::from(other)].load(Ordering::Relaxed);
            let documentation = named.map(|(name, state)| format!("{name} {state}"));
            let documentation = documentation.as_deref().unwrap_or_default();
            match self.place(
                &format!("error/{code}"),
                Kind::Error,
                documentation,
                0,
                0,
                setup,
            ) {
                NO_NUMBER => other,
                number => number,
            }
        })
    }

    /// The class of errors that have none of their own.
    fn place_errors(&self) {
        let enabled = pattern::resolve(self.settings(), "error").unwrap_or(Setting::On);
        let number = {
            let _one_at_a_time = lock(&self.registering);
            self.place("error/", Kind::Error, "", 0, 0, setup_of(enabled))
        };
        self.other_errors.store(number, Ordering::Relaxed);
        error::define_all(self);
    }

    fn settings(&self) -> impl Iterator<Item = (&str, Setting)> {
        self.instruments
            .iter()
            .map(|(pattern, setting)| (pattern.as_str(), *setting))
    }

    fn place_class(&self, class: &Class) -> u16 {
        let default = if class.enabled_by_default() {
            Setting::On
        } else {
            Setting::Off
        };
        // `%` is about events. A thread that begins uninstrumented records none, whatever is switched on
        // later: that is to be asked for by name.
        let of_thread = class.kind() == Kind::Thread;
        let settings = self
            .settings()
            .filter(|(pattern, _)| !of_thread || pattern.starts_with("thread"));
        let setting = pattern::resolve(settings, class.name()).unwrap_or(default);
        let (properties, volatility) = (class.properties(), class.volatility());
        let documentation = class.documentation();
        self.place(
            class.name(),
            class.kind(),
            documentation,
            properties,
            volatility,
            setup_of(setting),
        )
    }

    /// Whether one more class of a kind is within what the host allows of it.
    fn has_room_for(&self, kind: Kind, count: usize) -> bool {
        let limit = self.view.shared().class_limits[kind as usize].load(Ordering::Relaxed);
        let of_kind = || {
            (1..count)
                .filter(|i| self.kind_of(*i) == Some(kind))
                .count() as u64
        };
        limit == 0 || of_kind() + 1 < limit
    }

    fn place(
        &self,
        name: &str,
        kind: Kind,
        documentation: &str,
        properties: u32,
        volatility: u32,
        setup: u8,
    ) -> u16 {
        let used = &self.view.shared().classes_used.0;
        let count = used.load(Ordering::Relaxed) as usize;
        // Two statics of the same name (two crates that share an instrument) are one instrument.
        for i in 1..count {
            if self.view.class(i).name.is(name) {
                return i as u16;
            }
        }
        if count == self.view.geometry().limits.classes || !self.has_room_for(kind, count) {
            self.lose(Lost::Classes, 1);
            self.view.shared().classes_lost[kind as usize].fetch_add(1, Ordering::Relaxed);
            return NO_NUMBER;
        }
        let entry = self.view.class(count);
        entry.name.set(name);
        entry.documentation.set(documentation);
        entry.properties.store(properties, Ordering::Relaxed);
        entry.volatility.store(volatility, Ordering::Relaxed);
        let controls = self.view.controls();
        let setup = match kind {
            Kind::Thread => setup | tare_layout::control::setup::HISTORY,
            _ => setup,
        };
        controls.setup[count].store(setup, Ordering::Relaxed);
        // Last: from here on readers list it.
        entry.kind.store(kind as u32, Ordering::Release);
        used.store(count as u32 + 1, Ordering::Release);
        let effective = controls.effective_of(count, kind);
        controls.effective[count].store(effective, Ordering::Relaxed);
        count as u16
    }

    /// Counts something that could not be recorded.
    #[cold]
    pub fn lose(&self, what: Lost, n: u64) {
        self.view.shared().lost[what as usize].fetch_add(n, Ordering::Relaxed);
    }

    /// Whether this is the process that it records, and no child of its.
    pub fn is_ours(&self) -> bool {
        self.pid == std::process::id()
    }

    fn end(&self) {
        self.view.header().state.store(STOPPED, Ordering::Release);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.path.is_none() && self.is_ours() {
            self.mapping.discard();
        }
    }
}

fn setup_of(setting: Setting) -> u8 {
    match setting {
        // MySQL shows TIMED = YES for most disabled instruments: enabling one then times it.
        Setting::Off => setup::TIMED,
        Setting::Counted => setup::ENABLED,
        Setting::On => setup::ENABLED | setup::TIMED,
    }
}

/// Bits of the consumers, from MySQL's defaults and what differs.
fn consumers(different: &[(String, bool)]) -> Result<u32, StartError> {
    let mut bits = DEFAULT_CONSUMERS;
    for (name, on) in different {
        let bit = CONSUMERS
            .iter()
            .position(|c| c.eq_ignore_ascii_case(name))
            .ok_or_else(|| StartError::Consumer(name.clone()))?;
        bits = if *on {
            bits | 1 << bit
        } else {
            bits & !(1 << bit)
        };
    }
    Ok(bits)
}

fn program() -> String {
    let path = std::env::current_exe().ok();
    path.and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()))
        .unwrap_or_default()
}

/// Locks a mutex of ours; a panic elsewhere in the host is no reason to stop.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The engine of this generation, unless it has been stopped meanwhile. The caller is busy.
pub(crate) fn engine(generation: u32) -> Option<Arc<Engine>> {
    let engine = ENGINE
        .lock()
        .as_ref()
        .filter(|e| e.generation == generation)
        .cloned()?;
    let pending = PENDING_LOST.swap(0, Ordering::Relaxed);
    if pending != 0 {
        engine.lose(Lost::SignalEvents, pending);
    }
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
    if let Some(engine) = engine(GENERATION.load(Ordering::Relaxed)) {
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

/// In a child process Tare does not run: its threads would count into the parent's segment.
fn install_fork_handler() {
    if FORK_HANDLER.swap(true, Ordering::Relaxed) {
        return;
    }
    extern "C" fn before() {
        std::mem::forget(ENGINE.lock());
    }
    extern "C" fn in_parent() {
        // SAFETY: locked by `before`, on this thread.
        unsafe { ENGINE.force_unlock(GuardNoSend::new()) };
    }
    extern "C" fn in_child() {
        GENERATION.store(0, Ordering::Relaxed);
        hot::forget_in_child();
        // SAFETY: locked by `before`, on the thread that this one is a copy of.
        unsafe { ENGINE.force_unlock(GuardNoSend::new()) };
        if let Some(engine) = ENGINE.lock().take() {
            engine.lose(Lost::Forks, 1);
            // The segment is the parent's: dropping the engine would discard its pages.
            std::mem::forget(engine);
        }
    }
    // SAFETY: the handlers touch atomics, a thread-local without destructor and a futex lock.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}
