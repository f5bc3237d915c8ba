//! Starting, stopping, and what happens when the host forks.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use tare_layout::shared::Lost;

use super::fill::consumers;
use super::local::Local;
use super::running::{ENGINE, NOW};
use super::state::Engine;
use super::{clock, hot, periods, running, settings};
use crate::config::{Config, StartError};
use crate::payload::IS_COMPILED_IN;

/// The last generation given; 16 bits are used, see [`Class`](crate::class::Class).
static LAST_GENERATION: AtomicU32 = AtomicU32::new(0);

/// Starts that failed before there was a segment to count them in.
static FAILED_STARTS: AtomicU64 = AtomicU64::new(0);

/// Whether the fork handler is installed.
static FORK_HANDLER: AtomicBool = AtomicBool::new(false);

/// Whether Tare continues in the child when a process with a single thread forks.
static FOLLOWS_FORKS: AtomicBool = AtomicBool::new(false);

/// Starts recording. Threads join at their next event.
///
/// # Errors
/// [`StartError`]; the host continues without Tare, and [`failed_starts`] counts it.
pub fn start(config: Config) -> Result<(), StartError> {
    if !IS_COMPILED_IN {
        return Err(StartError::NotCompiledIn);
    }
    if !cfg!(target_os = "linux") {
        return Err(StartError::NotLinux);
    }
    let _busy = hot::busy();
    let mut current = ENGINE.lock();
    if current.is_some() {
        return Err(StartError::Running);
    }
    let generation = next_generation();
    install_fork_handler();
    clock::calibrate();
    let created = consumers(&config.consumers).and_then(|bits| {
        Engine::create(config, bits, generation, Local::free, || running::record(0))
    });
    match created {
        Ok(engine) => {
            LAST_GENERATION.store(generation, Ordering::Relaxed);
            *current = Some(Arc::clone(&engine));
            running::record(generation);
            // Without the lock: a thread that creates a class may need it for an event.
            drop(current);
            engine.place_created();
            Ok(())
        }
        Err(error) => {
            FAILED_STARTS.fetch_add(1, Ordering::Relaxed);
            Err(error)
        }
    }
}

/// The generation of the next start. 16 bits, never 0: a class's number carries it.
fn next_generation() -> u32 {
    match (LAST_GENERATION.load(Ordering::Relaxed) + 1) & 0xffff {
        0 => 1,
        next => next,
    }
}

/// Stops recording. Threads release the segment when they end or when Tare starts again. When the last one
/// has, a segment in memory is gone, also for readers that are attached; one in a file remains, and so does
/// one of [many processes](Config::many_processes).
pub fn stop() {
    if !IS_COMPILED_IN {
        return;
    }
    let _busy = hot::busy();
    let mut current = ENGINE.lock();
    running::record(0);
    if let Some(engine) = current.take() {
        engine.end();
        settings::stopped(&engine);
    }
}

/// Whether Tare records.
#[inline]
pub fn is_running() -> bool {
    IS_COMPILED_IN && NOW.generation.load(Ordering::Relaxed) != 0
}

/// How often [`start`] failed in this process.
pub fn failed_starts() -> u64 {
    FAILED_STARTS.load(Ordering::Relaxed)
}

/// The segment's file descriptor, duplicated: the process itself can attach through it.
///
/// # Errors
/// When Tare does not run, when the host has closed the segment's own descriptor, or when no descriptor is
/// left.
pub fn descriptor() -> std::io::Result<OwnedFd> {
    if !IS_COMPILED_IN {
        let message = "built without the feature `instrument`";
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, message));
    }
    let _busy = hot::busy();
    match ENGINE.lock().as_ref() {
        Some(engine) => engine.mapping.descriptor().try_clone(),
        None => Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "Tare does not run in this process",
        )),
    }
}

/// The number of the segment's own descriptor, for a door that hides it from its host; -1 = Tare does not
/// run.
pub fn own_descriptor() -> std::ffi::c_int {
    let _busy = hot::busy();
    let engine = ENGINE.lock();
    engine
        .as_ref()
        .map_or(-1, |engine| engine.mapping.descriptor().number())
}

/// Whether from now on, when this process forks while it has a single thread, Tare continues in the
/// child, and the parent no longer records: for servers that put themselves into the background.
pub fn follow_forks(follow: bool) {
    if IS_COMPILED_IN && FOLLOWS_FORKS.load(Ordering::Relaxed) != follow {
        FOLLOWS_FORKS.store(follow, Ordering::Relaxed);
    }
}

/// Which of two processes records after a fork.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum AfterFork {
    Parent,
    Child,
    Both,
}

/// What the present fork does; written by the handler before it, under the lock of [`ENGINE`], and read by
/// the handlers after it.
static AFTER_FORK: AtomicU8 = AtomicU8::new(AfterFork::Parent as u8);

fn after_fork() -> AfterFork {
    match AFTER_FORK.load(Ordering::Relaxed) {
        after if after == AfterFork::Child as u8 => AfterFork::Child,
        after if after == AfterFork::Both as u8 => AfterFork::Both,
        _ => AfterFork::Parent,
    }
}

fn has_one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// In a child process Tare does not run: its threads would count into the parent's segment. If it
/// follows ([`follow_forks`]), it does not run in the parent instead. With [`Config::many_processes`] it runs
/// in both.
fn install_fork_handler() {
    if FORK_HANDLER.swap(true, Ordering::Relaxed) {
        return;
    }
    extern "C" fn before() {
        let follows = FOLLOWS_FORKS.load(Ordering::Relaxed);
        let (has_tree, gave_up) = match ENGINE.lock().as_ref() {
            Some(engine) => (
                engine.tree.is_some(),
                engine.gave_up.load(Ordering::Relaxed),
            ),
            None => (false, false),
        };
        // Not under the lock, which an allocation may take.
        let after = match !gave_up && (follows || has_tree) && has_one_thread() {
            true if has_tree => AfterFork::Both,
            true => AfterFork::Child,
            false => AfterFork::Parent,
        };
        let engine = ENGINE.lock();
        AFTER_FORK.store(after as u8, Ordering::Relaxed);
        if let Some(engine) = engine.as_ref().filter(|_| after == AfterFork::Child) {
            // The parent may have ended before the child stores its number. Until then the segment has
            // no process, and no reader takes the parent's end for a crash.
            engine.view.header().pid.store(0, Ordering::Relaxed);
        }
        std::mem::forget(engine);
    }
    extern "C" fn in_parent() {
        match after_fork() {
            AfterFork::Child => _ = let_go(),
            // SAFETY: locked by `before`, on this thread.
            _ => unsafe { ENGINE.force_unlock() },
        }
    }
    extern "C" fn in_child() {
        // SAFETY: no preconditions.
        let is_elsewhere = unsafe { libc::getppid() } == 0;
        if after_fork() == AfterFork::Parent || after_fork() == AfterFork::Both && is_elsewhere {
            if let Some(engine) = let_go() {
                engine.lose(Lost::Forks, 1);
            }
            return;
        }
        // SAFETY: `before` locked it, on the thread that this one is a copy of.
        unsafe { ENGINE.force_unlock() };
        if let Some(engine) = ENGINE.lock().as_ref() {
            let pid = std::process::id();
            engine.pid.store(pid, Ordering::Relaxed);
            if after_fork() == AfterFork::Both {
                let generation = next_generation();
                LAST_GENERATION.store(generation, Ordering::Relaxed);
                engine.begin_in_child(generation);
                hot::forget_in_child();
                running::forget_pending();
                running::record(generation);
                return periods::forget_in_child();
            }
            engine.view.header().pid.store(pid, Ordering::Relaxed);
            hot::renumber_in_child(u64::from(pid));
        }
    }
    // SAFETY: the handlers touch atomics, a thread-local without destructor and a futex lock, and list
    // a directory in the process that forks.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

/// Stops Tare in one of two processes that have its segment: the other continues. `before` took the
/// lock, on this thread or on the one of which it is a copy.
fn let_go() -> Option<&'static Engine> {
    running::record(0);
    hot::forget_in_child();
    // SAFETY: locked by `before`; the caller is one of the two other handlers.
    unsafe { ENGINE.force_unlock() };
    let engine = ENGINE.lock().take()?;
    engine.pid.store(0, Ordering::Relaxed);
    // The segment belongs to the other process: dropping the engine would discard its pages.
    // SAFETY: never dropped, so it lives as long as the process.
    Some(unsafe { &*Arc::into_raw(engine) })
}
