//! The host's own locks: the host reports when it is about to take one, whether it is free, and when it
//! releases it. For hosts whose locks existed before Tare; others use [`sync`](crate::sync)'s.
//!
//! A lock that is free at that moment is counted as taken at the first try, with a wait of zero and
//! without a clock read. If another thread takes it first after all, the wait is not timed.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use tare_layout::control::effective;
use tare_layout::event::Operation;
use tare_layout::line::CONTENDED;
use tare_layout::sampling::WAIT;

use super::lock_wait::{LockWait, count, unmark_held};
use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::active::local_of_moments;
use crate::engine::hot::{self, attached, local_of_waits};
use crate::engine::local::{Local, is_event};
use crate::engine::running::{self, NOW, pinned};
use crate::engine::state::Engine;
use crate::lock::point::LockMode;
use crate::payload::IS_COMPILED_IN;
use crate::source::Source;

/// A host's lock: the numbers of its class and of its instance (0 = none) in the segment that records
/// now. They are valid until Tare is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLock {
    /// [`class_number`]
    pub class: u16,
    /// [`new_instance`], or 0.
    pub instance: u32,
    /// Whether its instance also counts acquisitions that did not wait, and its holder. It costs one
    /// more line to write, and with hundreds of locks the thread's index overflows.
    pub counts_all: bool,
}

/// The number of a class in the segment that records now, 0 = none.
pub fn class_number(class: &Class) -> u16 {
    hot::with_running(|engine| engine.number(class)).unwrap_or(0)
}

/// Whether a wait for a lock of this class number would be counted in some thread if it began now.
/// False while the class is off, and outside of the windows of sampling.
#[inline]
pub fn is_observed(class: u16) -> bool {
    IS_COMPILED_IN
        && NOW.waits.load(Ordering::Relaxed) != 0
        && with(|engine| engine.is_active(class)).unwrap_or(false)
}

/// Creates an instance of a class of kind Mutex, RwLock, SxLock or Cond, by the class's number; 0 = the
/// table is full. Call [`end_instance`] for it.
pub fn new_instance(class: u16, address: usize) -> u32 {
    match class {
        0 => 0,
        class => with(|engine| engine.new_instance(class, address)).unwrap_or(0),
    }
}

/// The index of an instance, which is less than [`MAX_INSTANCES`]: for a host that stores only the
/// index.
pub fn index_of(instance: u32) -> usize {
    tare_layout::instance::index_of(instance)
}

/// Instances have indexes below this.
pub const MAX_INSTANCES: usize = 1 << tare_layout::instance::INDEX_BITS;

/// The instance that has an index now; 0 = none.
pub fn instance_at(index: usize) -> u32 {
    with(|engine| engine.instance_at(index)).unwrap_or(0)
}

/// Calls `work` with the engine that records now. `work` takes no lock, because a signal may interrupt
/// it and come back here.
#[inline]
fn with<T>(work: impl FnOnce(&Engine) -> T) -> Option<T> {
    match pinned() {
        Some(engine) => Some(work(engine)),
        None => hot::with_running(work),
    }
}

/// Declares that no lock counts all acquisitions ([`HostLock::counts_all`]) while this engine records,
/// and that the host has no other locks. Then no holder is recorded, and a bank that changes hands is
/// not searched for one.
pub fn declare_no_holders() {
    with(|engine| engine.without_holders.store(true, Ordering::Relaxed));
}

/// Counts a lock of this class number that gets no instance: `Performance_schema_%_instances_lost`.
pub fn count_lost_instance(class: u16) {
    with(|engine| engine.lose_instance(class));
}

/// Ends an instance.
pub fn end_instance(instance: u32) {
    with(|engine| engine.end_instance(instance));
}

/// A wait for a lock. Without [`PendingLock::end`] it is not counted.
#[must_use = "the wait is counted by `end`"]
#[derive(Debug)]
pub struct PendingLock {
    /// The thread and the weight: see [`Local::weighed_key`].
    key: u64,
    wait: LockWait,
    /// As in [`HostLock`].
    counts_all: bool,
    operation: Operation,
    #[cfg(feature = "late")]
    was_free: bool,
}

const fn mode(operation: Operation) -> LockMode {
    match operation {
        Operation::ReadLock | Operation::SharedLock | Operation::TryReadLock => LockMode::Shared,
        _ => LockMode::Exclusive,
    }
}

/// Begins to take a lock; `is_free` returns whether it is free now. If this returns `None`, there is
/// nothing to end.
#[inline(always)]
pub fn take(
    lock: HostLock,
    operation: Operation,
    source: Source,
    is_free: impl FnOnce() -> bool,
) -> Option<PendingLock> {
    take_in(local_of_waits()?, lock, operation, source, is_free)
}

#[inline(always)]
fn take_in(
    local: &Local,
    lock: HostLock,
    operation: Operation,
    source: Source,
    is_free: impl FnOnce() -> bool,
) -> Option<PendingLock> {
    let bits = local.bits(lock.class);
    if bits & effective::COUNT == 0 {
        return None;
    }
    match bits & effective::WEIGHED {
        0 => take_as(local, local.key, 1, lock, operation, bits, source, is_free),
        _ => {
            let weight = running::weight(bits, WAIT);
            if weight == 0 {
                return None;
            }
            let key = local.weighed_key(weight);
            take_as(local, key, weight, lock, operation, bits, source, is_free)
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn take_as(
    local: &Local,
    key: u64,
    weight: u16,
    lock: HostLock,
    operation: Operation,
    bits: u8,
    source: Source,
    is_free: impl FnOnce() -> bool,
) -> Option<PendingLock> {
    let every = bits & effective::EVERY != 0;
    let was_free = (!every || cfg!(feature = "late")) && is_free();
    if !every && was_free {
        let instance = if lock.counts_all { lock.instance } else { 0 };
        count(local, lock.class, instance, mode(operation), weight);
        return None;
    }
    let pending = match is_event(bits) {
        true => take_event(local, key, lock, operation, bits, source),
        false => take_slow(local, key, weight, lock, operation, bits),
    };
    #[cfg(feature = "late")]
    let pending = pending.map(|pending| PendingLock {
        was_free,
        ..pending
    });
    pending
}

/// The same for almost every acquisition, in as few instructions as possible: the lock has no instance
/// that counts, and its class is off or the lock is free. False: nothing was done; call [`take`].
#[inline(always)]
pub fn try_count_uncontended(class: u16, is_free: impl FnOnce() -> bool) -> bool {
    let Some(local) = attached() else {
        return false;
    };
    let bits = local.bits(class);
    const MASK: u8 = effective::EVERY | effective::WEIGHED | effective::COUNT;
    if bits & MASK != effective::COUNT {
        return bits & effective::COUNT == 0;
    }
    if !is_free() {
        return false;
    }
    let Some(line) = local.existing_row(class) else {
        return false;
    };
    line.count();
    true
}

/// Takes a lock that has to be waited for, without recording an event.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn take_slow(
    local: &Local,
    key: u64,
    weight: u16,
    lock: HostLock,
    operation: Operation,
    bits: u8,
) -> Option<PendingLock> {
    if bits & effective::TIME == 0 {
        local.edge.set(0);
        count(local, lock.class, lock.instance, mode(operation), weight);
        if bits & effective::EVERY == 0
            && let Some(line) = local.row(lock.class, 0)
        {
            line.add(CONTENDED, u64::from(weight));
        }
        return None;
    }
    begin(local, key, lock, operation, bits, None)
}

/// The same, for a wait that is recorded as an event.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn take_event(
    local: &Local,
    key: u64,
    lock: HostLock,
    operation: Operation,
    bits: u8,
    source: Source,
) -> Option<PendingLock> {
    begin(local, key, lock, operation, bits, Some(source))
}

/// `source`: the place where the wait begins, if it is recorded as an event.
#[inline(always)]
fn begin(
    local: &Local,
    key: u64,
    lock: HostLock,
    operation: Operation,
    bits: u8,
    source: Option<Source>,
) -> Option<PendingLock> {
    let (class, instance) = (lock.class, lock.instance);
    Some(PendingLock {
        key,
        wait: LockWait::begin(local, class, instance, bits, operation, source),
        counts_all: lock.counts_all,
        operation,
        #[cfg(feature = "late")]
        was_free: false,
    })
}

/// Whether the thread did wait: two clock reads and a free lock take a tenth of this time.
#[cfg(feature = "late")]
fn is_long(ticks: u64) -> bool {
    const LATE_NS: u128 = 500;
    let per_second = crate::engine::clock::calibrate().ticks_per_second;
    u128::from(ticks) * 1_000_000_000 > u128::from(per_second) * LATE_NS
}

impl PendingLock {
    /// Ends the wait. `taken`: whether the lock was taken.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn end(self, taken: bool) {
        let Some(local) = attached() else { return };
        match local.key == self.key {
            true => self.end_as(local, taken, 1),
            false => self.end_weighed(local, taken),
        }
    }

    /// Ends a wait that counts as several, or during which Tare was stopped or the thread's session
    /// changed.
    #[inline(never)]
    fn end_weighed(self, local: &Local, taken: bool) {
        if let Some(weight) = local.weight_of(self.key) {
            self.end_as(local, taken, weight);
        }
    }

    #[inline(always)]
    fn end_as(self, local: &Local, taken: bool, weight: u16) {
        // With `every` the host did not check whether it was free.
        let contended = self.wait.bits & effective::EVERY == 0;
        #[cfg(feature = "late")]
        let is_contended = |ticks| contended || self.was_free && is_long(ticks);
        #[cfg(not(feature = "late"))]
        let is_contended = |_| contended;
        let held = (taken && self.counts_all).then_some(mode(self.operation));
        self.wait.end(local, weight, is_contended, held);
    }
}

/// Records that a lock with an instance is released.
#[inline]
pub fn released(instance: u32, operation: Operation) {
    if let Some(local) = attached().filter(|local| local.marked_locks.get() != 0) {
        unmark_held(local, instance, Some(mode(operation)));
    }
}

/// The same, if the host does not say how the lock was held.
#[inline]
pub fn released_in_any_mode(instance: u32) {
    if let Some(local) = attached().filter(|local| local.marked_locks.get() != 0) {
        unmark_held(local, instance, None);
    }
}

/// Takes a lock of which the host knows the class only: at once by `quick`, or by `slow`. Both return whether
/// they took it. `quick` is not called if the class is off, or if every acquisition is timed.
pub fn take_by_class(
    class: &'static Class,
    operation: Operation,
    source: Source,
    quick: impl FnOnce() -> bool,
    slow: impl FnOnce() -> bool,
) -> bool {
    if !IS_COMPILED_IN {
        return quick() || slow();
    }
    let Some(local) = local_of_waits() else {
        return quick() || take_uncounted(class, operation, slow);
    };
    let lock = HostLock {
        class: local.number(class),
        instance: 0,
        counts_all: false,
    };
    let at_once = Cell::new(false);
    let pending = take_in(local, lock, operation, source, || {
        at_once.set(quick());
        at_once.get()
    });
    let taken = at_once.get() || slow();
    if let Some(pending) = pending {
        pending.end(taken);
    }
    taken
}

/// Takes it while no wait is counted. At the level `active` the thread keeps the wait.
#[cold]
fn take_uncounted(class: &Class, operation: Operation, slow: impl FnOnce() -> bool) -> bool {
    let Some(local) = local_of_moments() else {
        return slow();
    };
    let key = local.key;
    let outer = local.begin_wait(local.number(class), class.kind(), operation, 0);
    let taken = slow();
    if let Some(outer) = outer
        && let Some(local) = attached().filter(|local| local.key == key)
    {
        local.set_wait(outer);
    }
    taken
}

/// Counts a lock of this class that was taken without a wait.
pub fn count_by_class(class: &Class) {
    let Some(local) = local_of_waits() else {
        return;
    };
    let number = local.number(class);
    let bits = local.bits(number);
    let weight = running::weight(bits, WAIT);
    if bits & effective::COUNT != 0 && weight != 0 {
        count(local, number, 0, LockMode::Exclusive, weight);
    }
}

/// The same for almost every acquisition, in as few instructions as possible: no wait of the class is counted
/// now, or the thread has counted one before. False: nothing was done; call [`count_by_class`].
#[inline(always)]
pub fn try_count_by_class(class: &Class) -> bool {
    let Some(local) = attached() else {
        return false;
    };
    let Some(number) = class.number.get((local.key >> 32) as u32) else {
        return false;
    };
    try_count_uncontended(number, || true) || NOW.waits.load(Ordering::Relaxed) == 0
}

/// Begins a wait on a condition, or on another instance of this class.
#[inline]
pub fn wait(class: &'static Class, instance: u32, operation: Operation, source: Source) -> Wait {
    wait::start_on::<true>(class, operation, Start::Now, source, |_| {
        (u64::from(instance), 0xff)
    })
}
