//! The points of locks and condition variables.

use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::control::effective;
use tare_layout::event::Operation;
use tare_layout::sampling::WAIT;

use crate::class::Class;
use crate::engine::active::local_of_moments;
use crate::engine::hot::{self, attached, local_of_waits};
use crate::engine::local::{Local, is_event};
use crate::engine::running;
use crate::lock::point::{LockMode, Point, sealed};
use crate::payload::Payload;
use crate::point::lock_wait::{LockWait, count, unmark_held};
#[cfg(feature = "tokio")]
use crate::point::task::wait::{Subject, WaitFuture, count_at_once, wait_for};
use crate::point::wait::{self, Wait};
use crate::source::Source;

classes! {
    /// The class of mutexes created through lock_api without a class.
    static UNNAMED_MUTEX: Mutex = "wait/synch/mutex/tare/unnamed";
    /// The class of rwlocks created through lock_api without a class.
    static UNNAMED_RWLOCK: RwLock = "wait/synch/rwlock/tare/unnamed";
}

/// The instrument's part of a lock: its class, and its number in the segment that records now.
#[derive(Debug)]
pub struct LockPoint(Payload<NumberedClass>);

/// See [`LockPoint`].
#[derive(Debug)]
pub struct NumberedClass {
    class: &'static Class,
    /// Bits 48-63 generation, 32-47 class number, 0-31 instance id. Set at the first acquisition under
    /// each generation, so that a lock older than Tare's start gets a number, too.
    number: AtomicU64,
}

impl LockPoint {
    pub const fn new(class: &'static Class) -> Self {
        Self(Payload::of(NumberedClass {
            class,
            number: AtomicU64::new(0),
        }))
    }
}

impl NumberedClass {
    /// Takes the lock between two clock reads: it has to wait, or `lock_timing` is `every`.
    #[inline(never)]
    fn take_timed(
        &self,
        local: &Local,
        number: u64,
        bits: u8,
        mode: LockMode,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        self.take_timed_as(local, 1, number, bits, mode, None, quick, slow)
    }

    /// The same, for a wait that is recorded as an event.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn take_event(
        &self,
        local: &Local,
        number: u64,
        bits: u8,
        mode: LockMode,
        source: Source,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        let event_source = Some(source);
        self.take_timed_as(local, 1, number, bits, mode, event_source, quick, slow)
    }

    /// Takes the lock of a class that is sampled, or was.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn take_weighed(
        &self,
        local: &Local,
        number: u64,
        bits: u8,
        mode: LockMode,
        source: Source,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        let weight = running::weight(bits, WAIT);
        if weight == 0 {
            return quick() || slow();
        }
        if bits & effective::EVERY == 0 && quick() {
            count(local, (number >> 32) as u16, number as u32, mode, weight);
            return true;
        }
        let event_source = is_event(bits).then_some(source);
        self.take_timed_as(local, weight, number, bits, mode, event_source, quick, slow)
    }

    /// Takes the lock, and counts and times the wait. `event_source`: the place where the wait begins, if it
    /// is recorded as an event.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn take_timed_as(
        &self,
        local: &Local,
        weight: u16,
        number: u64,
        bits: u8,
        mode: LockMode,
        event_source: Option<Source>,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        let (class, id) = ((number >> 32) as u16, number as u32);
        let wait = LockWait::begin(
            local,
            class,
            id,
            bits,
            operation(self.class, mode),
            event_source,
        );
        let key = local.key;
        let at_once = quick();
        let (taken, local) = if at_once {
            (true, local)
        } else {
            let taken = slow();
            // During the wait Tare may have been stopped and started, and a signal handler may have
            // attached the thread again.
            match attached().filter(|local| local.key == key) {
                Some(local) => (taken, local),
                None => return taken,
            }
        };
        wait.end(local, weight, |_| !at_once, taken.then_some(mode));
        taken
    }

    /// Waits for the lock while no wait is counted. At the level `active` the thread keeps the wait.
    #[cold]
    #[inline(never)]
    fn take_uncounted(&self, mode: LockMode, slow: impl FnOnce() -> bool) -> bool {
        let Some(local) = local_of_moments() else {
            return slow();
        };
        let (number, key) = (self.number(local), local.key);
        let (class, instance) = ((number >> 32) as u16, number & 0xffff_ffff);
        let operation = operation(self.class, mode);
        let outer = local.begin_wait(class, self.class.kind(), operation, instance);
        let taken = slow();
        if let Some(outer) = outer
            && let Some(local) = attached().filter(|local| local.key == key)
        {
            local.set_wait(outer);
        }
        taken
    }

    #[inline(always)]
    fn number(&self, local: &Local) -> u64 {
        let number = self.number.load(Ordering::Relaxed);
        if number >> 48 == local.key >> 32 {
            number
        } else {
            self.number_slow(local, number)
        }
    }

    #[cold]
    #[inline(never)]
    fn number_slow(&self, local: &Local, before: u64) -> u64 {
        let class = local.number(self.class);
        let id = match class {
            crate::number::NO_NUMBER => 0,
            class => local
                .engine
                .new_instance(class, std::ptr::from_ref(self).addr()),
        };
        let number = local.key >> 32 << 48 | u64::from(class) << 32 | u64::from(id);
        // Two threads may set it at the same time: the first one's instance remains. The comparison is
        // with the value from before the search, or the second would replace the first's.
        match self
            .number
            .compare_exchange(before, number, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => number,
            Err(other) => {
                local.engine.end_instance(id);
                other
            }
        }
    }
}

#[cfg(feature = "tokio")]
impl LockPoint {
    /// A future that takes the lock.
    #[track_caller]
    pub fn wait_for<F: Future>(&self, mode: LockMode, future: F) -> WaitFuture<F, &NumberedClass> {
        self.wait_as(self.operation(mode), future)
    }

    /// A future, as a wait of this operation.
    #[track_caller]
    pub fn wait_as<F: Future>(
        &self,
        operation: Operation,
        future: F,
    ) -> WaitFuture<F, &NumberedClass> {
        wait_for(self.0.as_ref(), operation, Source::here(), future)
    }

    fn operation(&self, mode: LockMode) -> Operation {
        let class = self.0.get().map(|point| point.class);
        class.map_or(Operation::Lock, |class| operation(class, mode))
    }

    /// Counts that the lock was taken without a wait.
    pub fn count_taken(&self, mode: LockMode) {
        self.count_taken_as(self.operation(mode));
    }

    /// The same for this operation.
    pub fn count_taken_as(&self, operation: Operation) {
        if let Some(point) = self.0.get() {
            count_at_once(&point, operation);
        }
    }
}

#[cfg(feature = "tokio")]
impl Subject for &NumberedClass {
    fn class(&self) -> &'static Class {
        self.class
    }

    fn numbers(&self, local: &Local) -> (u16, u32) {
        let number = self.number(local);
        ((number >> 32) as u16, number as u32)
    }
}

impl sealed::Sealed for LockPoint {}

impl Point for LockPoint {
    const MUTEX: Self = Self::new(&UNNAMED_MUTEX);
    const RWLOCK: Self = Self::new(&UNNAMED_RWLOCK);

    #[inline(always)]
    fn take(
        &self,
        mode: LockMode,
        source: Source,
        quick: impl Fn() -> bool,
        slow: impl FnOnce() -> bool,
    ) -> bool {
        let Some(point) = self.0.get() else {
            return quick() || slow();
        };
        let Some(local) = local_of_waits() else {
            return quick() || point.take_uncounted(mode, slow);
        };
        let number = point.number(local);
        let class = (number >> 32) as u16;
        let bits = local.bits(class);
        const MASK: u8 = effective::EVERY | effective::WEIGHED | effective::COUNT;
        if bits & MASK == effective::COUNT {
            if quick() {
                count(local, class, number as u32, mode, 1);
                return true;
            }
        } else if bits & effective::COUNT == 0 {
            return quick() || slow();
        } else if bits & effective::WEIGHED != 0 {
            return point.take_weighed(local, number, bits, mode, source, quick, slow);
        }
        if is_event(bits) {
            return point.take_event(local, number, bits, mode, source, quick, slow);
        }
        point.take_timed(local, number, bits, mode, quick, slow)
    }

    #[inline(always)]
    fn try_take(&self, mode: LockMode, quick: impl Fn() -> bool) -> bool {
        let taken = quick();
        if taken {
            self.retaken(mode);
        }
        taken
    }

    #[inline(always)]
    fn retaken(&self, mode: LockMode) {
        if let (Some(point), Some(local)) = (self.0.get(), local_of_waits()) {
            let number = point.number(local);
            let class = (number >> 32) as u16;
            let bits = local.bits(class);
            let weight = running::weight(bits, WAIT);
            if bits & effective::COUNT != 0 && weight != 0 {
                count(local, class, number as u32, mode, weight);
            }
        }
    }

    #[inline(always)]
    fn released(&self, mode: LockMode) {
        let Some(point) = self.0.get() else {
            return;
        };
        let Some(local) = attached().filter(|local| local.marked_locks.get() != 0) else {
            return;
        };
        let number = point.number.load(Ordering::Relaxed);
        if number >> 48 == local.key >> 32 {
            unmark_held(local, number as u32, Some(mode));
        }
    }
}

impl Drop for NumberedClass {
    fn drop(&mut self) {
        let number = *self.number.get_mut();
        if number as u32 != 0 {
            hot::with_engine((number >> 48) as u32, |engine| {
                engine.end_instance(number as u32);
            });
        }
    }
}

fn operation(class: &Class, mode: LockMode) -> Operation {
    match (class.kind(), mode) {
        (tare_layout::Kind::Mutex, _) => Operation::Lock,
        (tare_layout::Kind::SxLock, LockMode::Exclusive) => Operation::ExclusiveLock,
        (tare_layout::Kind::SxLock, LockMode::Shared) => Operation::SharedLock,
        (_, LockMode::Exclusive) => Operation::WriteLock,
        (_, LockMode::Shared) => Operation::ReadLock,
    }
}

/// The instrument's part of a condition variable.
#[derive(Debug)]
pub struct Cond {
    lock: LockPoint,
}

impl Cond {
    pub const fn new(class: &'static Class) -> Self {
        Self {
            lock: LockPoint::new(class),
        }
    }

    /// Begins a wait.
    #[track_caller]
    pub fn wait(&self, timed: bool) -> Wait {
        let source = Source::here();
        let operation = if timed {
            Operation::TimedWait
        } else {
            Operation::Wait
        };
        let Some(point) = self.lock.0.get() else {
            return Wait::NONE;
        };
        wait::start_on::<false>(point.class, operation, wait::Start::Now, source, |local| {
            (point.number(local) & 0xffff_ffff, 0xff)
        })
    }
}
