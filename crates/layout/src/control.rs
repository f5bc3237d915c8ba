//! The control page: the setup tables. Readers may write only this part of a segment, the baselines and
//! the `truncated` lines.
//!
//! A process that changes a setting stores it, then calls [`Controls::recompute`], which derives one
//! *effective* byte per instrument. A point reads only that byte to know what to do.

use crate::class::{EVENT_TYPES, EventType, Kind};
use crate::primitive::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::sampling::{GROUPS, MAX_RATE, Rule, group_of};
use crate::sizes;

/// Bits of a setup byte.
pub mod setup {
    /// `setup_instruments.ENABLED`
    pub const ENABLED: u8 = 1;
    /// `setup_instruments.TIMED`
    pub const TIMED: u8 = 2;
    /// `setup_threads.HISTORY`, of `thread/...` classes.
    pub const HISTORY: u8 = 4;
}

/// Bits of an effective byte, and of a thread's mask for it.
pub mod effective {
    /// Count events.
    pub const COUNT: u8 = 1;
    /// Time them.
    pub const TIME: u8 = 2;
    /// Show them in events_*_current.
    pub const CURRENT: u8 = 4;
    /// Store them in events_*_history.
    pub const HISTORY: u8 = 8;
    /// Store them in events_*_history_long.
    pub const LONG: u8 = 16;
    /// Also time lock acquisitions that do not wait (`lock_timing = every`).
    pub const EVERY: u8 = 32;
    /// For statements: something is to be sampled, and no thread opens windows yet.
    pub const SAMPLED: u8 = EVERY;
    /// The event type's timer is not the processor's counter. For statements: it is not the only clock.
    pub const OTHER_CLOCK: u8 = 64;
    /// Aggregate statements by digest.
    pub const DIGEST: u8 = 128;
    /// For other events: their type is sampled, or was. Points read their weight.
    pub const WEIGHED: u8 = DIGEST;
}

/// Timers, as in `setup_timers` and `performance_timers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timer {
    /// The processor's time stamp counter, or clock_gettime if the counter is not trusted.
    Cycle = 0,
    /// clock_gettime in nanoseconds.
    Nanosecond = 1,
    /// The same, cut to microseconds.
    Microsecond = 2,
    /// The same, cut to milliseconds.
    Millisecond = 3,
    /// CPU time of the thread.
    ThreadCpu = 4,
}

/// How many timers there are.
pub const TIMERS: usize = 5;
/// Their names, by number.
pub const TIMER_NAMES: [&str; TIMERS] = [
    "CYCLE",
    "NANOSECOND",
    "MICROSECOND",
    "MILLISECOND",
    "THREAD_CPU",
];

/// Consumers by bit: those of MySQL 8.0.15 in its order, then newer ones.
pub const CONSUMERS: [&str; 16] = [
    "events_stages_current",
    "events_stages_history",
    "events_stages_history_long",
    "events_statements_current",
    "events_statements_history",
    "events_statements_history_long",
    "events_transactions_current",
    "events_transactions_history",
    "events_transactions_history_long",
    "events_waits_current",
    "events_waits_history",
    "events_waits_history_long",
    "global_instrumentation",
    "thread_instrumentation",
    "statements_digest",
    "events_statements_cpu",
];

/// Bit of `global_instrumentation`.
pub const GLOBAL: u32 = 1 << 12;
/// Bit of `thread_instrumentation`.
pub const THREAD: u32 = 1 << 13;
/// Bit of `statements_digest`.
pub const DIGESTS: u32 = 1 << 14;
/// Bit of `events_statements_cpu`.
pub const CPU: u32 = 1 << 15;

/// MySQL 8.0's defaults: statements and transactions, current and history; global, thread, digest.
pub const DEFAULT_CONSUMERS: u32 = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | GLOBAL | THREAD | DIGESTS;

/// `lock_timing = contended`: only acquisitions that wait are timed.
pub const CONTENDED: u32 = 0;
/// `lock_timing = every`: all are, as in MySQL.
pub const EVERY: u32 = 1;

/// Bits of [`Control::host`].
pub mod host {
    /// The host follows changes: the process that makes one increments `changes`, wakes the thread that
    /// sleeps on it, and may wait until `followed` has the same value.
    pub const FOLLOWS: u32 = 1;
    /// The host does not report the state of threads: their command, state and text are unknown.
    pub const THREADS_UNKNOWN: u32 = 2;
}

/// The three tables of events, for [`Control::cleared`].
pub mod table {
    /// events_*_current
    pub const CURRENT: usize = 0;
    /// events_*_history
    pub const HISTORY: usize = 1;
    /// events_*_history_long
    pub const LONG: usize = 2;
}

/// The longest exact window: ten minutes.
pub const MAX_EXACT_WINDOW_NS: u64 = 600_000_000_000;

/// The fixed part of the control region.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Control {
    /// Incremented after each change, before recomputing: before a thread does more or less than it did. A
    /// time that a thread stored under another version is not where its next event begins.
    pub version: AtomicU64,
    /// Bits of [`CONSUMERS`].
    pub consumers: AtomicU32,
    /// [`CONTENDED`] or [`EVERY`].
    pub lock_timing: AtomicU32,
    /// [`Timer`] of each event type.
    pub timers: [AtomicU8; 8],
    /// Generation of the digest table, from 1; TRUNCATE begins a new one.
    pub digest_generation: AtomicU32,
    /// Bit of each [`crate::bank::baseline`] that readers have written; others need not be read.
    pub baselines_used: AtomicU32,
    /// Bit 0: an instance row's `truncated` lines were written.
    pub instances_truncated: AtomicU32,
    /// The process id of the reader that truncates now, 0 = none. One at a time.
    pub truncating: AtomicU32,
    /// 1 = the processor's counter is not trusted: CYCLE is also read by clock_gettime.
    pub no_cycles: AtomicU32,
    /// Bit 0: an object row's `truncated` lines were written.
    pub objects_truncated: AtomicU32,
    /// Bytes that banks may touch, 0 = no limit.
    pub memory_limit: AtomicU64,
    /// Events that ended at or before these ticks are no longer in the table: ring * 3 + [`table`].
    pub cleared: [AtomicU64; 12],
    /// The same for events without times: those that ended before this number of truncations.
    pub cleared_untimed: [AtomicU32; 12],
    /// Truncations of tables of events.
    pub truncations: AtomicU32,
    /// Number of rules of setup_actors that were ever used; later ones are empty.
    pub actors_used: AtomicU32,
    /// Incremented once a change has been recomputed: a futex on which the host's thread sleeps
    /// ([`host::FOLLOWS`]).
    pub changes: AtomicU32,
    /// Incremented after each change of a rule for objects, before recomputing their masks.
    pub objects_version: AtomicU64,
    /// Ticks after which any newer statement replaces a digest's sample, 0 = never:
    /// `performance_schema_max_digest_sample_age`.
    pub digest_sample_age: AtomicU64,
    /// Which statement histograms were truncated: [`crate::fine::ALL`], [`crate::fine::DIGESTS`].
    /// Baselines of others need not be read.
    pub fine_truncated: AtomicU32,
    /// The value of `changes` that the host has followed.
    pub followed: AtomicU32,
    /// Bits of [`host`].
    pub host: AtomicU32,
    /// Incremented after each change of the following fields, for the thread that opens windows; 0 =
    /// nothing was ever sampled.
    pub sampling_version: AtomicU32,
    /// N of each group of [`crate::sampling`]: 1/N of all time is observed; 0 or 1 = all.
    pub sampling: [AtomicU32; GROUPS],
    /// Budget of each group in thousandths of a percent, for which the governor sets N; 0 = none.
    pub budgets: [AtomicU32; GROUPS],
    /// The seed for windows.
    pub sampling_seed: AtomicU64,
    /// Incremented by a reader that requests the row locks: a futex on which the host's thread sleeps
    /// ([`crate::row_lock`]).
    pub row_lock_requests: AtomicU32,
    /// Bit of each group whose events may stand for several: its classes have [`effective::WEIGHED`].
    /// Set with the rule, and cleared by the thread that opens windows, once each event stands for
    /// itself.
    pub weighed: AtomicU32,
    /// Sizes that were requested as 0, by [`sizes::bit`]: nothing of their kind is stored.
    pub nothing_of: AtomicU64,
    /// 1 = the level `active`: threads keep what they do now, and no event is counted but statements, in
    /// one row. The rules of `sampling` and `budgets` apply again when it ends.
    pub active: AtomicU32,
    /// The class of statements in whose row they are counted then, 0 = none; written by the host.
    pub active_class: AtomicU32,
    /// When the exact window ends that a reader opened, in nanoseconds of CLOCK_MONOTONIC; 0 = there is none.
    /// While there is one, every event is counted, whatever `active`, `sampling` and `budgets` are. Who
    /// changes it from 0 owns the window. The host ends one whose time is over.
    pub exact_until: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 320);

impl Control {
    /// Announces a change of what threads do that needs no [recomputing](Controls::recompute).
    pub fn announce_change(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether a size of [`sizes`] was requested as 0.
    pub fn has_none_of(&self, size: usize) -> bool {
        self.nothing_of.load(Ordering::Relaxed) & sizes::bit(size) != 0
    }

    /// Clears the bits in `weighed` of these groups whose rules say that each event stands for itself.
    /// Returns whether any changed: then effective bytes must be [recomputed](Controls::recompute).
    /// Events that began before retain their weight.
    pub fn clear_weights(&self, groups: impl Fn(usize) -> bool) -> bool {
        let mut has_changed = false;
        for group in (0..GROUPS).filter(|group| groups(*group)) {
            let bit = 1 << group;
            let is_every = || self.rule(group) == Rule::Every;
            if !is_every() || self.weighed.fetch_and(!bit, Ordering::SeqCst) & bit == 0 {
                continue;
            }
            has_changed = true;
            // Another process set a rule in between, and with it the bit that is now cleared.
            if !is_every() {
                self.weighed.fetch_or(bit, Ordering::SeqCst);
            }
        }
        has_changed
    }

    /// Whether anything is sampled.
    pub fn is_sampling(&self) -> bool {
        let is_on = |cell: &AtomicU32, from| cell.load(Ordering::SeqCst) >= from;
        self.sampling.iter().any(|n| is_on(n, 2)) || self.budgets.iter().any(|b| is_on(b, 1))
    }

    /// Whether threads keep what they do now, and no event is counted.
    pub fn is_active(&self) -> bool {
        self.returns_to_active() && !self.has_exact_window()
    }

    /// Whether the level is `active`, also during an exact window.
    pub fn returns_to_active(&self) -> bool {
        self.active.load(Ordering::SeqCst) != 0
    }

    /// Whether an exact window is open.
    pub fn has_exact_window(&self) -> bool {
        self.exact_until.load(Ordering::SeqCst) != 0
    }

    /// Whether a thread of the host has to follow the time: to open windows of sampling, or to end an exact
    /// window.
    pub fn needs_follower(&self) -> bool {
        self.is_sampling() || self.returns_to_active()
    }

    /// Opens an exact window if there is none. Effective bytes must be [recomputed](Controls::recompute) then.
    pub fn open_exact_window(&self, until: u64) -> bool {
        let order = Ordering::SeqCst;
        let opened = self.exact_until.compare_exchange(0, until, order, order);
        if opened.is_ok() {
            self.change_sampling();
        }
        opened.is_ok()
    }

    /// Ends the exact window that ends at this time, if it is still open: the rules from before apply again.
    /// Effective bytes must be [recomputed](Controls::recompute) then.
    pub fn end_exact_window(&self, until: u64) -> bool {
        let order = Ordering::SeqCst;
        let ended =
            until != 0 && (self.exact_until.compare_exchange(until, 0, order, order)).is_ok();
        if ended {
            self.restore_weights();
            self.change_sampling();
        }
        ended
    }

    /// Sets the bits in `weighed` that were cleared while an exact window was open.
    fn restore_weights(&self) {
        for group in 0..GROUPS {
            let is_estimated = self.sampling[group].load(Ordering::SeqCst) > 1
                || self.budgets[group].load(Ordering::SeqCst) != 0;
            if is_estimated {
                self.weighed.fetch_or(1 << group, Ordering::SeqCst);
            }
        }
    }

    /// The sampling rule of a group.
    pub fn rule(&self, group: usize) -> Rule {
        if self.has_exact_window() {
            return Rule::Every;
        }
        if self.is_active() {
            return Rule::Active;
        }
        match self.budgets[group].load(Ordering::SeqCst) {
            0 => Rule::one_in(self.sampling[group].load(Ordering::SeqCst)),
            budget => Rule::Budget(budget),
        }
    }

    /// Sets the sampling rule of a group. [`Rule::Active`] is the level of all groups, and every other rule
    /// ends it: the groups then have their rules from before. Each rule ends an exact window. Effective bytes
    /// must be [recomputed](Controls::recompute) then.
    pub fn set_rule(&self, group: usize, rule: Rule) {
        self.end_exact_window(self.exact_until.load(Ordering::SeqCst));
        let is_active = u32::from(rule == Rule::Active);
        self.active.store(is_active, Ordering::SeqCst);
        let (n, budget) = match rule {
            Rule::Every => (1, 0),
            Rule::OneIn(n) => (n.clamp(1, MAX_RATE), 0),
            Rule::Budget(budget) => (self.sampling[group].load(Ordering::SeqCst).max(1), budget),
            Rule::Active => return self.change_sampling(),
        };
        self.budgets[group].store(budget, Ordering::SeqCst);
        self.set_rate(group, n);
    }

    /// Sets N of a group. Version 0 is skipped.
    pub fn set_rate(&self, group: usize, n: u32) {
        self.sampling[group].store(n, Ordering::SeqCst);
        // After the rule, which the thread that clears the bit reads again.
        self.weighed.fetch_or(1 << group, Ordering::SeqCst);
        self.change_sampling();
    }

    /// Notifies the thread that opens windows.
    fn change_sampling(&self) {
        if self.sampling_version.fetch_add(1, Ordering::SeqCst) == u32::MAX {
            self.sampling_version.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// All parts of the control region.
#[derive(Clone, Copy, Debug)]
pub struct Controls<'a> {
    /// The fixed part.
    pub control: &'a Control,
    /// [`setup`] bits, by class.
    pub setup: &'a [AtomicU8],
    /// [`effective`] bits, by class.
    pub effective: &'a [AtomicU8],
}

impl Controls<'_> {
    /// Derives every effective byte from the settings. `kinds` gives the kind of each class.
    ///
    /// Lock-free and convergent: a change during the computation makes it start again, so that the computation
    /// that finishes last includes every change.
    pub fn recompute(&self, kinds: impl Fn(usize) -> Option<Kind>) {
        let mut version = self.control.version.fetch_add(1, Ordering::SeqCst) + 1;
        let set = |class: usize, value: u8| {
            let cell = &self.effective[class];
            if cell.load(Ordering::Relaxed) != value {
                cell.store(value, Ordering::Relaxed);
            }
        };
        let active_class = self.control.active_class.load(Ordering::SeqCst) as usize;
        let active_class = active_class.min(self.effective.len() - 1);
        loop {
            let value = |class| match kinds(class) {
                Some(kind) => self.effective_of(class, kind),
                None => self.effective_of_none(class),
            };
            // Statements count in one class or in their own, and meanwhile in either, but never in none.
            let active = value(active_class);
            if active != 0 {
                set(active_class, active);
            }
            for class in (0..self.effective.len()).filter(|class| *class != active_class) {
                set(class, value(class));
            }
            set(active_class, active);
            let now = self.control.version.load(Ordering::SeqCst);
            if now == version {
                return;
            }
            version = now;
        }
    }

    /// The effective byte of a number without a class. Number 0 is for classes that got no number:
    /// their events are counted, as lost.
    fn effective_of_none(&self, class: usize) -> u8 {
        let global = self.control.consumers.load(Ordering::SeqCst) & GLOBAL != 0;
        u8::from(class == 0 && global && !self.control.is_active()) * effective::COUNT
    }

    /// The effective byte of one class under the present settings.
    pub fn effective_of(&self, class: usize, kind: Kind) -> u8 {
        let consumers = self.control.consumers.load(Ordering::SeqCst);
        let is_active_class = self.control.active_class.load(Ordering::SeqCst) as usize == class;
        let setup = match is_active_class {
            true => setup::ENABLED | setup::TIMED,
            false => self.setup[class].load(Ordering::SeqCst),
        };
        if setup & setup::ENABLED == 0 || consumers & GLOBAL == 0 {
            return 0;
        }
        if self.control.is_active() != is_active_class {
            return 0;
        }
        let nothing_of = self.control.nothing_of.load(Ordering::Relaxed);
        if nothing_of & sizes::of_events(kind) != 0 {
            return 0;
        }
        let is_stored = |size| nothing_of & sizes::bit(size) == 0;
        let Some(event_type) = kind.event_type() else {
            return effective::COUNT;
        };
        let mut bits = effective::COUNT;
        if setup & setup::TIMED != 0 {
            bits |= effective::TIME;
        }
        if consumers & THREAD != 0 {
            // Consumers of one event type are adjacent: current, history, history_long.
            let three = consumers >> first_consumer(event_type);
            let (history, long) = sizes::of_history(event_type);
            if three & 1 != 0 {
                bits |= effective::CURRENT;
                if three & 2 != 0 && is_stored(history) {
                    bits |= effective::HISTORY;
                }
                if three & 4 != 0 && is_stored(long) {
                    bits |= effective::LONG;
                }
            }
        }
        let is_lock = kind.is_lock() || kind == Kind::TableLock;
        if is_lock && self.control.lock_timing.load(Ordering::SeqCst) == EVERY {
            bits |= effective::EVERY;
        }
        if self.control.timers[event_type as usize].load(Ordering::SeqCst) != Timer::Cycle as u8
            || self.control.no_cycles.load(Ordering::Relaxed) != 0
            || kind == Kind::Statement && is_cpu_timed(consumers)
        {
            bits |= effective::OTHER_CLOCK;
        }
        let has_digests = is_stored(sizes::DIGESTS) && is_stored(sizes::DIGEST_LENGTH);
        if kind == Kind::Statement && consumers & DIGESTS != 0 && has_digests {
            bits |= effective::DIGEST;
        }
        let weighed = self.control.weighed.load(Ordering::SeqCst);
        if group_of(kind).is_some_and(|group| weighed & 1 << group != 0) {
            bits |= effective::WEIGHED;
        }
        let is_followed = self.control.host.load(Ordering::SeqCst) & host::FOLLOWS != 0;
        if kind == Kind::Statement && !is_followed && self.control.needs_follower() {
            bits |= effective::SAMPLED;
        }
        bits
    }
}

/// Whether statements read the CPU time of their thread: only if threads are instrumented.
pub const fn is_cpu_timed(consumers: u32) -> bool {
    consumers & (GLOBAL | THREAD | CPU) == GLOBAL | THREAD | CPU
}

/// The bit of an event type's `..._current`; history and history_long are the next two.
const fn first_consumer(event_type: EventType) -> u32 {
    match event_type {
        EventType::Stage => 0,
        EventType::Statement => 3,
        EventType::Transaction => 6,
        EventType::Wait | EventType::Idle => 9,
    }
}

const _: () = assert!(EVENT_TYPES <= 8);

/// The mask of a thread: `threads.INSTRUMENTED` and `threads.HISTORY`. Without COUNT no point does
/// anything; the other bits then only store HISTORY. Without the consumer `thread_instrumentation`
/// ([`THREAD`]) all threads are counted, and no thread has single events: CURRENT then stores
/// INSTRUMENTED ([`is_instrumented`]).
pub const fn thread_mask(instrumented: bool, history: bool, consumers: u32) -> u8 {
    let stored = effective::HISTORY | effective::LONG;
    let counted = match (instrumented, consumers & THREAD == 0) {
        (true, _) => !stored,
        (false, true) => !stored & !effective::CURRENT,
        (false, false) => 0,
    };
    if history { counted | stored } else { counted }
}

/// `threads.INSTRUMENTED` of a thread with this mask.
pub const fn is_instrumented(mask: u8) -> bool {
    mask & effective::CURRENT != 0
}

/// The same mask after a change of the consumers.
pub const fn mask_under(mask: u8, consumers: u32) -> u8 {
    thread_mask(
        is_instrumented(mask),
        mask & effective::HISTORY != 0,
        consumers,
    )
}
