//! Locks that are the host's own: it says when it is about to take one, whether that can be seen to be
//! free, and when it lets it go. For hosts whose locks were there before Tare; others take
//! [`sync`](crate::sync)'s.
//!
//! A lock that is seen free is counted as taken at the first try, with a wait of zero and no clock. If
//! it has to be waited for after all, because another thread came first, that wait is not timed.

use std::sync::atomic::Ordering;

use tare_layout::control::effective;
use tare_layout::event::Operation;
use tare_layout::line::CONTENDED;
use tare_layout::sampling::WAIT;

use super::lock_wait::{LockWait, count, unmark_held};
use super::wait::{self, Start, Wait};
use crate::class::Class;
use crate::engine::hot::{self, attached, local_of_waits};
use crate::engine::local::{Local, is_event};
use crate::engine::running::{self, NOW, pinned};
use crate::engine::state::Engine;
use crate::lock::point::LockMode;
use crate::source::Source;

/// A lock, as the host knows it: the numbers of its class and of its instance (0 = it has none) in the
/// segment that records now. They are good until Tare is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLock {
    /// [`class_number`]
    pub class: u16,
    /// [`new_instance`], or 0.
    pub instance: u32,
    /// Whether its instance counts what did not have to wait, too, and who holds it: a line more to
    /// write, and with hundreds of locks more than a thread has places for.
    pub counts_all: bool,
}

/// The number of a class in the segment that records now, 0 = it has none.
pub fn class_number(class: &Class) -> u16 {
    hot::with_running(|engine| engine.number(class)).unwrap_or(0)
}

/// Whether a wait for a lock of a class, by its number, would be counted in some thread if it began now: not while the
/// class is off, nor outside of the windows of sampling.
#[inline]
pub fn is_observed(class: u16) -> bool {
    NOW.waits.load(Ordering::Relaxed) != 0
        && with(|engine| engine.is_active(class)).unwrap_or(false)
}

/// An instance of a class of kind Mutex, RwLock, SxLock or Cond, by the class's number; 0 = there is no room. It is
/// to be ended.
pub fn new_instance(class: u16, address: usize) -> u32 {
    match class {
        0 => 0,
        class => with(|engine| engine.new_instance(class, address)).unwrap_or(0),
    }
}

/// The index of an instance, which is less than [`MAX_INSTANCES`]: for a host that has no room for more.
pub fn index_of(instance: u32) -> usize {
    tare_layout::instance::index_of(instance)
}

/// Instances have indexes below this.
pub const MAX_INSTANCES: usize = 1 << tare_layout::instance::INDEX_BITS;

/// The instance that has an index now; 0 = none.
pub fn instance_at(index: usize) -> u32 {
    with(|engine| engine.instance_at(index)).unwrap_or(0)
}

/// With the engine that records now. What is done with it takes no lock: it may interrupt itself.
#[inline]
fn with<T>(work: impl FnOnce(&Engine) -> T) -> Option<T> {
    match pinned() {
        Some(engine) => Some(work(engine)),
        None => hot::with_running(work),
    }
}

/// No lock counts all of its acquisitions ([`HostLock::counts_all`]) as long as the engine records, and the host
/// has no other locks: then nobody is said to hold one, and a bank that changes hands need not be searched for it.
pub fn without_holders() {
    with(|engine| engine.without_holders.store(true, Ordering::Relaxed));
}

/// Counts a lock of a class, by its number, that the host gives no instance: `Performance_schema_%_instances_lost`.
pub fn instance_lost(class: u16) {
    with(|engine| engine.lose_instance(class));
}

/// Ends an instance.
pub fn end_instance(instance: u32) {
    with(|engine| engine.end_instance(instance));
}

/// A lock that is waited for; without [`Taking::end`] the wait is not counted.
#[must_use = "the wait is counted by `end`"]
#[derive(Debug)]
pub struct Taking {
    /// The thread, and what it stands for: see [`Local::weighed_key`].
    key: u64,
    wait: LockWait,
    /// As in [`HostLock`].
    counts_all: bool,
    operation: Operation,
    #[cfg(feature = "late")]
    seen_free: bool,
}

const fn mode(operation: Operation) -> LockMode {
    match operation {
        Operation::ReadLock | Operation::SharedLock | Operation::TryReadLock => LockMode::Shared,
        _ => LockMode::Exclusive,
    }
}

/// The thread is about to take a lock that `is_free` can see to be free or not. Nothing is to be ended
/// where nothing comes back.
#[inline(always)]
pub fn take(
    lock: HostLock,
    operation: Operation,
    source: Source,
    is_free: impl FnOnce() -> bool,
) -> Option<Taking> {
    let local = local_of_waits()?;
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
) -> Option<Taking> {
    let every = bits & effective::EVERY != 0;
    let seen_free = (!every || cfg!(feature = "late")) && is_free();
    if !every && seen_free {
        let instance = if lock.counts_all { lock.instance } else { 0 };
        count(local, lock.class, instance, mode(operation), weight);
        return None;
    }
    let taking = match is_event(bits) {
        true => take_kept(local, key, lock, operation, bits, source),
        false => take_slow(local, key, weight, lock, operation, bits),
    };
    #[cfg(feature = "late")]
    let taking = taking.map(|taking| Taking {
        seen_free,
        ..taking
    });
    taking
}

/// The same for the way that almost every acquisition goes, in as few instructions as there can be: a lock
/// without an instance that counts, of a class that is off, or that is free. False: nothing was done, [`take`]
/// is to be asked.
#[inline(always)]
pub fn try_count_uncontended(class: u16, is_free: impl FnOnce() -> bool) -> bool {
    let Some(local) = attached() else {
        return false;
    };
    let bits = local.bits(class);
    const ASKED: u8 = effective::EVERY | effective::WEIGHED | effective::COUNT;
    if bits & ASKED != effective::COUNT {
        return bits & effective::COUNT == 0;
    }
    if !is_free() {
        return false;
    }
    let Some(line) = local.known_row(class) else {
        return false;
    };
    line.count();
    true
}

/// A lock that has to be waited for, and no table shows it.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn take_slow(
    local: &Local,
    key: u64,
    weight: u16,
    lock: HostLock,
    operation: Operation,
    bits: u8,
) -> Option<Taking> {
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

/// The same, and some table does.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn take_kept(
    local: &Local,
    key: u64,
    lock: HostLock,
    operation: Operation,
    bits: u8,
    source: Source,
) -> Option<Taking> {
    begin(local, key, lock, operation, bits, Some(source))
}

/// `source`: where the wait begins, of one that a table shows.
#[inline(always)]
fn begin(
    local: &Local,
    key: u64,
    lock: HostLock,
    operation: Operation,
    bits: u8,
    source: Option<Source>,
) -> Option<Taking> {
    let (class, instance) = (lock.class, lock.instance);
    Some(Taking {
        key,
        wait: LockWait::begin(local, class, instance, bits, operation, source),
        counts_all: lock.counts_all,
        operation,
        #[cfg(feature = "late")]
        seen_free: false,
    })
}

/// What took longer than this did wait: reading the clock twice and taking a free lock are a tenth of it.
#[cfg(feature = "late")]
fn is_long(ticks: u64) -> bool {
    const LATE_NS: u128 = 500;
    let per_second = crate::engine::clock::calibrate().ticks_per_second;
    u128::from(ticks) * 1_000_000_000 > u128::from(per_second) * LATE_NS
}

impl Taking {
    /// The wait is over: the lock was taken, or not.
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn end(self, taken: bool) {
        let Some(local) = attached() else { return };
        match local.key == self.key {
            true => self.end_as(local, taken, 1),
            false => self.end_weighed(local, taken),
        }
    }

    /// It stands for several. Or Tare has been stopped, or the thread's session changed, while it waited.
    #[inline(never)]
    fn end_weighed(self, local: &Local, taken: bool) {
        if let Some(weight) = local.weight_of(self.key) {
            self.end_as(local, taken, weight);
        }
    }

    #[inline(always)]
    fn end_as(self, local: &Local, taken: bool, weight: u16) {
        // With `every` nobody looked whether it was free.
        let contended = self.wait.bits & effective::EVERY == 0;
        #[cfg(feature = "late")]
        let is_contended = |ticks| contended || self.seen_free && is_long(ticks);
        #[cfg(not(feature = "late"))]
        let is_contended = |_| contended;
        let held = (taken && self.counts_all).then_some(mode(self.operation));
        self.wait.end(local, weight, is_contended, held);
    }
}

/// A lock with an instance is released.
#[inline]
pub fn released(instance: u32, operation: Operation) {
    if let Some(local) = attached().filter(|local| local.marked_locks.get() != 0) {
        unmark_held(local, instance, Some(mode(operation)));
    }
}

/// The same for a lock of which the host does not say how it was held.
#[inline]
pub fn released_somehow(instance: u32) {
    if let Some(local) = attached().filter(|local| local.marked_locks.get() != 0) {
        unmark_held(local, instance, None);
    }
}

/// Begins a wait on a condition, or whatever else has an instance of this class.
#[inline]
pub fn wait(class: &'static Class, instance: u32, operation: Operation, source: Source) -> Wait {
    wait::start_on::<true>(class, operation, Start::Now, source, |_| {
        (u64::from(instance), 0xff)
    })
}
