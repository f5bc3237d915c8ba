//! One segment, and its writer's state.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use tare_layout::actor;
use tare_layout::control::setup;
use tare_layout::fine::Buckets;
use tare_layout::header::STOPPED;
use tare_layout::shared::Lost;
use tare_layout::sizes;
use tare_layout::{Geometry, Region, View};

use super::awake::Awake;
use super::bank::Outside;
use super::clock;
use super::digest_table::Eviction;
use super::instances::Files;
use super::locals::Locals;
use super::mapping::Mapping;
use super::objects::{EndedObjects, Objects};
use super::source_index::Sources;
use crate::config::{Config, Setting, StartError};
use crate::digest::Rules;
use crate::number::NO_NUMBER;

/// One segment and its writer's state.
pub(crate) struct Engine {
    /// The number of the start; never 0.
    pub generation: u32,
    /// Typed access. Valid as long as `mapping`, which this struct owns.
    pub view: View<'static>,
    /// Settings by pattern, for classes that are registered later.
    pub(super) instruments: Vec<(String, Setting)>,
    /// Serialises registration of classes.
    pub(super) registering: Mutex<()>,
    /// Serialises the creation of digests.
    pub(super) digesting: Mutex<Eviction>,
    /// The form in which digests are written.
    pub(super) digest_rules: Rules,
    /// Bytes of a statement's text that are stored: the requested number, within the limit.
    pub sql_text_bytes: usize,
    /// How many statements can be nested.
    pub statement_depth: usize,
    /// Finds the bucket of a statement's time.
    pub buckets: Buckets,
    /// The next number for a frequent class; protected by `registering`.
    pub(super) next_frequent: AtomicUsize,
    /// The last number that is reserved for them.
    pub(super) last_frequent: usize,
    /// Numbers of the error classes, by code.
    pub(super) errors: Mutex<HashMap<u32, u16>>,
    /// Number of the class for errors without a class of their own.
    pub(super) other_errors: AtomicU16,
    /// Which chunks of each history_long a thread holds.
    pub holders: [Box<[AtomicBool]>; 4],
    /// The locals of threads, by slot: of the present thread, or the last one.
    pub(super) locals: Locals,
    /// Which rows are awake, by bank.
    pub(super) awake: Box<[Awake]>,
    /// No instance row records who holds its lock.
    pub without_holders: AtomicBool,
    /// The bank in which threads count memory outside of sessions.
    pub(super) outside: OnceLock<Outside>,
    /// Files by class and path.
    pub files: Mutex<Files>,
    /// Tables and programs by name.
    pub objects: Mutex<Objects>,
    /// Dropped objects that events still name.
    pub ended: Mutex<EndedObjects>,
    /// Places in the host's source.
    pub(super) sources: Sources,
    /// The file of the segment, if it is one.
    path: Option<PathBuf>,
    /// The process that it records; a child of fork has it mapped, too.
    pub(super) pid: AtomicU32,
    pub(super) mapping: Mapping,
}

impl Engine {
    /// Creates a segment with these consumers on. `free_local` frees a thread's local.
    pub fn create(
        config: Config,
        consumers: u32,
        generation: u32,
        free_local: unsafe fn(*mut ()),
    ) -> Result<Arc<Self>, StartError> {
        let limits = config.limits.clamped();
        let geometry = Geometry::new(limits);
        let path = config
            .segment
            .clone()
            .or_else(|| std::env::var_os("TARE_SEGMENT").map(PathBuf::from));
        let mapped = match &path {
            Some(path) => Mapping::file(path, geometry.total_bytes),
            None => Mapping::memory(geometry.total_bytes),
        };
        let mapping = mapped.map_err(|source| StartError::Segment {
            bytes: geometry.total_bytes,
            place: path.as_ref().map_or("memory".into(), |p| p.display().to_string()),
            source,
            advice: "lower the limits (threads, arena_lines), raise `ulimit -v` or `ulimit -f`, or give another path",
        })?;
        // SAFETY: the mapping is page-aligned, of `total_bytes`, writable, and lives as long as the
        // engine that owns both; each user of the view holds an Arc of the engine.
        let view = unsafe { View::new(mapping.base(), geometry) };
        let requested = |size| {
            let last = config
                .requested_sizes
                .iter()
                .rev()
                .find(|(of, _)| *of == size);
            last.map(|(_, number)| *number)
        };
        let sql_text_bytes = requested(sizes::SQL_TEXT_LENGTH).map_or(usize::MAX, |n| n as usize);
        let engine = Arc::new(Self {
            generation,
            view,
            instruments: config.instruments.clone(),
            registering: Mutex::new(()),
            digesting: Mutex::default(),
            digest_rules: Rules {
                retains_positions: config.digests_retain_positions,
            },
            sql_text_bytes: sql_text_bytes.min(limits.sql_text_bytes),
            statement_depth: sizes::statement_stack(requested(sizes::STATEMENT_STACK)),
            buckets: Buckets::new(clock::calibrate().ticks_per_second),
            next_frequent: AtomicUsize::new(1),
            last_frequent: config.frequent_classes.min(limits.classes - 1),
            errors: Mutex::default(),
            other_errors: AtomicU16::new(NO_NUMBER),
            holders: std::array::from_fn(|_| {
                (0..geometry.shared_chunks)
                    .map(|_| AtomicBool::new(false))
                    .collect()
            }),
            locals: Locals::new(limits.threads, free_local),
            awake: Awake::all(geometry.region(Region::Banks).count),
            without_holders: AtomicBool::new(false),
            outside: OnceLock::new(),
            files: Mutex::default(),
            objects: Mutex::default(),
            ended: Mutex::default(),
            sources: Sources::new(),
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
        // Later ones were never used: reading them would create their pages.
        let used = self.view.control().actors_used.load(Ordering::Acquire) as usize;
        actor::resolve(&actors[..used.min(actors.len())], user, host)
    }

    /// INSTRUMENTED and HISTORY of a new thread of this class.
    pub fn thread_class(&self, class: u16) -> (bool, bool) {
        let bits = self.view.controls().setup[usize::from(class)].load(Ordering::Relaxed);
        // A class without a number has no row in which it could be switched.
        if class == NO_NUMBER {
            return (true, true);
        }
        (bits & setup::ENABLED != 0, bits & setup::HISTORY != 0)
    }

    /// Counts events or objects that could not be recorded.
    #[cold]
    pub fn lose(&self, what: Lost, n: u64) {
        self.view.shared().lost[what as usize].fetch_add(n, Ordering::Relaxed);
    }

    /// Whether this is the process that it records, and not a child.
    pub fn is_ours(&self) -> bool {
        self.pid.load(Ordering::Relaxed) == std::process::id()
    }

    /// Marks the segment as ended.
    pub(super) fn end(&self) {
        self.view.header().state.store(STOPPED, Ordering::Release);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: a thread that has one holds this engine.
        unsafe { self.locals.free_all() };
        if self.path.is_none() && self.is_ours() {
            self.mapping.discard();
        }
    }
}

/// Locks one of our mutexes, also after a panic elsewhere in the host.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
