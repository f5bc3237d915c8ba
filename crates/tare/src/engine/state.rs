//! One segment, and its writer's state.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use tare_layout::actor;
use tare_layout::control::setup;
use tare_layout::fine::Buckets;
use tare_layout::header::{LIVE, STOPPED};
use tare_layout::shared::Lost;
use tare_layout::sizes;
use tare_layout::slot::ring;
use tare_layout::{Geometry, Region, View};

use super::awake::Awake;
use super::bank::Outside;
use super::cells::Cells;
use super::clock;
use super::digest_table::Eviction;
use super::file_index::FileIndex;
use super::locals::Locals;
use super::mapping::Mapping;
use super::objects::{EndedObjects, Objects};
use super::source_index::Sources;
use super::tree::Tree;
use crate::config::{Config, Setting, StartError};
use crate::digest::Rules;
use crate::number::NO_NUMBER;

/// One segment and its writer's state.
pub(crate) struct Engine {
    /// See [`Self::generation`].
    generation: AtomicU32,
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
    /// The last number that is reserved for frequent classes.
    pub(super) last_frequent: usize,
    /// Numbers of the error classes, by code.
    pub(super) errors: Mutex<HashMap<u32, u16>>,
    /// Number of the class for errors without a class of their own.
    pub(super) other_errors: AtomicU16,
    /// Which chunks of the four history_long a thread holds.
    pub(super) holders: Cells,
    /// The locals of threads, by slot: of the present thread, or the last one.
    pub(super) locals: Locals,
    /// Which rows are awake, by bank.
    pub(super) awake: Box<[Awake]>,
    /// No instance row records who holds its lock.
    pub without_holders: AtomicBool,
    /// The bank in which threads count memory outside of sessions.
    pub(super) outside: OnceLock<Outside>,
    /// Files by class and path.
    pub(super) files: Mutex<FileIndex>,
    /// Tables and programs by name.
    pub objects: Mutex<Objects>,
    /// Dropped objects that events still name.
    pub ended: Mutex<EndedObjects>,
    /// Places in the host's source.
    pub(super) sources: Sources,
    /// What children of fork share with this process, if they record, too.
    pub(super) tree: Option<Tree>,
    /// See [`Self::process`].
    pub(super) process: AtomicU64,
    /// See [`Self::is_child`].
    pub(super) is_child: AtomicBool,
    /// The tree's lock did not come in time: this process goes on without Tare, and changes nothing that
    /// processes share.
    pub(super) gave_up: AtomicBool,
    /// The file of the segment, if it is one.
    path: Option<PathBuf>,
    /// The process that it records; a child of fork has it mapped, too.
    pub(super) pid: AtomicU32,
    pub(super) mapping: Mapping,
}

impl Engine {
    /// Creates a segment with these consumers on. `free_local` frees a thread's local. `end_recording` is called,
    /// in a signal handler, when a file gets no more space.
    pub fn create(
        config: Config,
        consumers: u32,
        generation: u32,
        free_local: unsafe fn(*mut ()),
        end_recording: fn(),
    ) -> Result<Arc<Self>, StartError> {
        let limits = config.limits.clamped();
        let geometry = Geometry::new(limits);
        let path = config
            .segment
            .clone()
            .or_else(|| std::env::var_os("TARE_SEGMENT").map(PathBuf::from));
        let mapped = match &path {
            Some(path) => Mapping::file(path, geometry.total_bytes, end_recording),
            None => Mapping::memory(geometry.total_bytes),
        };
        let failed = |source| StartError::Segment {
            bytes: geometry.total_bytes,
            place: path
                .as_ref()
                .map_or("memory".into(), |p| p.display().to_string()),
            source,
            advice: "lower the limits (threads, arena_lines), raise `ulimit -v` or `ulimit -f`, or give another path",
        };
        let mapping = mapped.map_err(failed)?;
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
            generation: AtomicU32::new(generation),
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
            last_frequent: config.frequent_classes.min(limits.classes - 1),
            errors: Mutex::default(),
            other_errors: AtomicU16::new(NO_NUMBER),
            holders: Cells::new(ring::RINGS * geometry.shared_chunks, config.many_processes)
                .map_err(failed)?,
            locals: Locals::new(limits.threads, free_local),
            awake: Awake::all(geometry.region(Region::Banks).count),
            without_holders: AtomicBool::new(false),
            outside: OnceLock::new(),
            files: Mutex::new(FileIndex::new(limits.files, config.many_processes).map_err(failed)?),
            objects: Mutex::default(),
            ended: Mutex::default(),
            sources: Sources::new(),
            tree: match config.many_processes {
                true => Some(Tree::new().map_err(failed)?),
                false => None,
            },
            process: AtomicU64::new(0),
            is_child: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
            path: path.clone(),
            pid: AtomicU32::new(std::process::id()),
            mapping,
        });
        engine.fill(consumers, &config);
        engine.place_all();
        engine.publish_header();
        engine.process();
        if engine.mapping.is_incomplete() {
            engine.end();
            // It may be no segment, and the next start would refuse to replace it.
            if let Some(path) = &path {
                let _ = std::fs::remove_file(path);
            }
            return Err(failed(std::io::Error::from_raw_os_error(libc::ENOSPC)));
        }
        Ok(engine)
    }

    /// The number of the start, and in a child of fork another one; never 0. What has a number of an earlier
    /// generation gets a new one when it is next used.
    #[inline(always)]
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// See [`Self::generation`].
    pub(super) fn set_generation(&self, generation: u32) {
        self.generation.store(generation, Ordering::Relaxed);
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

    /// Marks the segment as ended, unless other processes record.
    pub(super) fn end(&self) {
        self.mapping.end();
        if !self.leave_tree() {
            self.view.header().state.store(STOPPED, Ordering::Release);
        }
    }

    /// Whether the segment is marked as ended.
    pub(super) fn has_ended(&self) -> bool {
        self.view.header().state.load(Ordering::Acquire) == STOPPED
    }

    /// Undoes [`Self::end`].
    pub(super) fn begin_again(&self) {
        self.view.header().state.store(LIVE, Ordering::Release);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: a thread that has one holds this engine.
        unsafe { self.locals.free_all(self.slots_used()) };
        // Another process may record.
        let is_exclusive = self.tree.is_none() && self.is_ours();
        if self.path.is_none() && is_exclusive {
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
