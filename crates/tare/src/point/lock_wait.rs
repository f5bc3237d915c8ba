//! A wait for a lock: the counts of its class and its instance, and who holds the lock. The locks are
//! [`sync`](crate::sync)'s or the host's own.

use std::sync::atomic::Ordering;

use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{Operation, wait as at};
use tare_layout::line::{CONTENDED, COUNT, EXTRA, HISTOGRAM, Line};
use tare_layout::shared::Lost;

use super::wait;
use crate::engine::local::Local;
use crate::lock::point::LockMode;
use crate::source::Source;

/// Value of an instance row's HISTOGRAM cell, which is "held" there, after an exclusive acquisition.
/// Other values count this thread's read locks.
const HELD_EXCLUSIVE: u64 = 1 << 63;

/// A wait for a lock that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockWait {
    /// The number of the lock's class.
    pub class: u16,
    /// The lock's instance, 0 = none.
    pub instance: u32,
    /// Flags of the class when it began.
    pub bits: u8,
    /// When it began, 0 = not timed.
    pub start: u64,
    /// Event id, 0 = no event.
    pub event: u64,
}

impl LockWait {
    /// Begins a wait. `source`: the place where it begins, if it is recorded as an event.
    #[inline(always)]
    pub fn begin(
        local: &Local,
        class: u16,
        instance: u32,
        bits: u8,
        operation: Operation,
        source: Option<Source>,
    ) -> Self {
        local.edge.set(0);
        let start = match bits & effective::TIME != 0 {
            true => local.clock(bits, EventType::Wait),
            false => 0,
        };
        let id = u64::from(instance);
        let event = match source {
            Some(source) => wait::begin_event(local, start, class, operation, id, bits, source),
            None => 0,
        };
        Self {
            class,
            instance,
            bits,
            start,
            event,
        }
    }

    /// Ends the wait, which counts as `weight` waits. `is_contended` gets its ticks. `held`: how the
    /// thread now holds the lock, if its instance records that.
    #[inline(always)]
    pub fn end(
        self,
        local: &Local,
        weight: u16,
        is_contended: impl FnOnce(u64) -> bool,
        held: Option<LockMode>,
    ) {
        let Self {
            bits, start, event, ..
        } = self;
        let end = match bits & effective::TIME != 0 {
            true => local.clock(bits, EventType::Wait),
            false => 0,
        };
        let is_timed = local.is_timed(bits, start, end);
        let end = if is_timed { end } else { 0 };
        if event != 0 {
            wait::end_event(local, event, end, at::NO_BYTES, bits);
        }
        let ticks = match is_timed {
            true => local.elapsed(start, end),
            false => 0,
        };
        self.count(local, weight, (is_timed, ticks), is_contended(ticks), held);
    }

    /// Counts it, and its time if that is true.
    #[inline(always)]
    pub fn count(
        &self,
        local: &Local,
        weight: u16,
        (is_timed, ticks): (bool, u64),
        is_contended: bool,
        held: Option<LockMode>,
    ) {
        let (class, instance) = (self.class, self.instance);
        let waits = u64::from(weight);
        let contended = u64::from(is_contended) * waits;
        let timed = u64::from(is_timed) * waits;
        if let Some(line) = local.row(class, 0) {
            match is_timed {
                true => {
                    local.time_weighed(class, line, ticks, weight);
                    line.add(EXTRA, waits);
                }
                false => line.count_weighed(u32::from(weight)),
            }
            line.add(CONTENDED, contended);
        }
        if instance == 0 {
            return;
        }
        match local.instance_line(instance, 0) {
            Some(line) => {
                line.time_weighed(ticks, u32::from(weight));
                line.add(CONTENDED, contended);
                line.add(EXTRA, timed);
                if let Some(mode) = held {
                    mark_held(local, line, mode);
                }
            }
            None => {
                local.time_instance(instance, 0, ticks, u64::from(is_timed), weight);
                if let Some(line) = local.engine.shared_line(instance, 0) {
                    line.cells[CONTENDED].fetch_add(contended, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Counts `weight` waits of zero in a line of their class's row, and for an instance (0 = none) whose holder
/// is not recorded.
#[inline(always)]
pub(crate) fn count_unmarked(local: &Local, class: u16, line: usize, id: u32, weight: u16) {
    if let Some(line) = local.row(class, line) {
        line.count_weighed(u32::from(weight));
    }
    if id != 0 {
        match local.instance_line(id, 0) {
            Some(line) => line.count_weighed(u32::from(weight)),
            None => count_shared(local, id, weight),
        }
    }
}

/// Counts `weight` acquisitions at the first try: a wait of zero, without a clock read.
#[inline(always)]
pub(crate) fn count(local: &Local, class: u16, id: u32, mode: LockMode, weight: u16) {
    if let Some(line) = local.row(class, 0) {
        line.count_weighed(u32::from(weight));
    }
    if id != 0 {
        match local.instance_line(id, 0) {
            Some(line) => {
                line.count_weighed(u32::from(weight));
                mark_held(local, line, mode);
            }
            None => count_shared(local, id, weight),
        }
    }
}

#[cold]
fn count_shared(local: &Local, id: u32, weight: u16) {
    let n = u64::from(weight);
    match local.engine.shared_line(id, 0) {
        Some(line) => _ = line.cells[COUNT].fetch_add(n, Ordering::Relaxed),
        None => local.engine.lose(Lost::InstanceEvents, n),
    }
}

/// Marks a lock as held in the calling thread's row of its instance.
#[inline(always)]
fn mark_held(local: &Local, line: &Line, mode: LockMode) {
    let marked = &local.marked_locks;
    marked.set(marked.get().wrapping_add(1));
    match mode {
        LockMode::Exclusive => line.set(HISTOGRAM, HELD_EXCLUSIVE),
        LockMode::Shared => line.add(HISTOGRAM, 1),
    }
}

/// Removes a mark, even if the flags have changed. `mode` is `None` if the host does not report how the
/// lock was held. Only called while this thread has marks. If another thread holds the lock, its mark
/// remains.
#[inline(always)]
pub(crate) fn unmark_held(local: &Local, id: u32, mode: Option<LockMode>) {
    if let Some(line) = local.existing_instance_line(id) {
        let held = line.get(HISTOGRAM);
        if held != 0 {
            let left = match mode {
                Some(LockMode::Exclusive) => 0,
                Some(LockMode::Shared) => held - 1,
                None if held & HELD_EXCLUSIVE != 0 => 0,
                None => held - 1,
            };
            line.set(HISTOGRAM, left);
            let marked = &local.marked_locks;
            marked.set(marked.get().wrapping_sub(1));
        }
    }
}
