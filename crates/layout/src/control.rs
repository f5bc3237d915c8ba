//! The control page: what the setup tables say. Besides the baselines and `truncated` lines, the
//! only part of a segment that a reader may write.
//!
//! Whoever changes a setting stores it, then calls [`Controls::recompute`], which derives one
//! *effective* byte per instrument. A point reads that byte and nothing else to know what to do.

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

/// Bits of an effective byte, and of a thread's mask, which is and-ed to it.
pub mod effective {
    /// Count events.
    pub const COUNT: u8 = 1;
    /// Time them.
    pub const TIME: u8 = 2;
    /// Show them in events_*_current.
    pub const CURRENT: u8 = 4;
    /// Keep them in events_*_history.
    pub const HISTORY: u8 = 8;
    /// Keep them in events_*_history_long.
    pub const LONG: u8 = 16;
    /// Time lock acquisitions that need not wait, too (`lock_timing = every`).
    pub const EVERY: u8 = 32;
    /// Of a statement: something is to be sampled, and nobody opens windows yet.
    pub const SAMPLED: u8 = EVERY;
    /// The event type's timer is not the processor's counter, or of a statement: it is not the only clock.
    pub const OTHER_CLOCK: u8 = 64;
    /// Aggregate statements by digest.
    pub const DIGEST: u8 = 128;
    /// Of other events: their type is sampled, or was. What they weigh is to be asked.
    pub const WEIGHED: u8 = DIGEST;
}

/// Timers, as in `setup_timers` and `performance_timers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timer {
    /// The processor's time stamp counter, or clock_gettime where it cannot be trusted.
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

/// Consumers by bit: those of MySQL 8.0.15 in its order, then what came later.
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
    /// The host follows changes: who makes one bumps `changes`, wakes who sleeps on it, and may wait until
    /// `followed` is as far.
    pub const FOLLOWS: u32 = 1;
    /// No call arrives that says what threads do: their command, state and text are not known.
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

/// The fixed part of the control region.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Control {
    /// Bumped after each change, before recomputing.
    pub version: AtomicU64,
    /// Bits of [`CONSUMERS`].
    pub consumers: AtomicU32,
    /// [`CONTENDED`] or [`EVERY`].
    pub lock_timing: AtomicU32,
    /// [`Timer`] of each event type.
    pub timers: [AtomicU8; 8],
    /// Generation of the digest table, from 1; TRUNCATE begins a new one.
    pub digest_generation: AtomicU32,
    /// Bit of each [`crate::bank::baseline`] that readers have written: 0 spares reading it.
    pub baselines_used: AtomicU32,
    /// Bit 0: an instance row's `truncated` lines were written.
    pub instances_truncated: AtomicU32,
    /// Who truncates now: 0 = nobody, else a process id. Truncating is one at a time.
    pub truncating: AtomicU32,
    /// 1 = the processor's counter cannot be trusted: CYCLE, too, is read by clock_gettime.
    pub no_cycles: AtomicU32,
    /// Bit 0: an object row's `truncated` lines were written.
    pub objects_truncated: AtomicU32,
    /// Bytes that banks may touch, 0 = no limit.
    pub memory_limit: AtomicU64,
    /// Events that ended at or before these ticks are gone from the table: ring * 3 + [`table`].
    pub cleared: [AtomicU64; 12],
    /// Events without times that ended before so many truncations are gone, likewise.
    pub cleared_untimed: [AtomicU32; 12],
    /// Truncations of tables of events.
    pub truncations: AtomicU32,
    /// Rules of setup_actors ever used: none behind is.
    pub actors_used: AtomicU32,
    /// Bumped once a change has been recomputed: a futex, on which a host sleeps that follows ([`host::FOLLOWS`]).
    pub changes: AtomicU32,
    /// Bumped after each change of a rule for objects, before recomputing their masks.
    pub objects_version: AtomicU64,
    /// Ticks after which a digest's sample gives way to any newer one, 0 = never:
    /// `performance_schema_max_digest_sample_age`.
    pub digest_sample_age: AtomicU64,
    /// Which statement histograms were truncated: [`crate::fine::ALL`], [`crate::fine::DIGESTS`]. 0
    /// spares reading the baseline beside them.
    pub fine_truncated: AtomicU32,
    /// How much of `changes` the host has followed.
    pub followed: AtomicU32,
    /// Bits of [`host`].
    pub host: AtomicU32,
    /// Bumped after each change of what follows: whoever opens windows looks at it; 0 = nothing was ever sampled.
    pub sampling_version: AtomicU32,
    /// N of each group of [`crate::sampling`]: 1/N of all time is observed; 0 or 1 = all.
    pub sampling: [AtomicU32; GROUPS],
    /// Of a group that has a budget, whose N the governor sets: that in thousandths of a percent; otherwise 0.
    pub budgets: [AtomicU32; GROUPS],
    /// What windows are drawn from.
    pub sampling_seed: AtomicU64,
    /// Incremented by a reader that requests the row locks: a futex on which the host's thread sleeps ([`crate::row_lock`]).
    pub row_lock_requests: AtomicU32,
    /// Bit of each group of which an event may stand for several: its classes have [`effective::WEIGHED`]. Set with its
    /// rule, and taken back by who opens windows, once each event stands for itself.
    pub weighed: AtomicU32,
    /// Sizes that were asked to be 0, by [`sizes::bit`]: nothing of them is kept.
    pub nothing_of: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Control>() == 320);

impl Control {
    /// Whether a size of [`sizes`] was asked to be 0.
    pub fn has_none_of(&self, size: usize) -> bool {
        self.nothing_of.load(Ordering::Relaxed) & sizes::bit(size) != 0
    }

    /// Takes back that events of these groups may stand for several, where their rules say that each stands for itself.
    /// Whether anything changed: then effective bytes are to be [recomputed](Controls::recompute). What began before
    /// keeps what it stands for.
    pub fn weigh_no_more(&self, groups: impl Fn(usize) -> bool) -> bool {
        let mut has_changed = false;
        for group in (0..GROUPS).filter(|group| groups(*group)) {
            let bit = 1 << group;
            let is_every = || self.rule(group) == Rule::Every;
            if !is_every() || self.weighed.fetch_and(!bit, Ordering::SeqCst) & bit == 0 {
                continue;
            }
            has_changed = true;
            // A rule that came meanwhile set a bit that is gone now.
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

    /// How a group is sampled.
    pub fn rule(&self, group: usize) -> Rule {
        match self.budgets[group].load(Ordering::SeqCst) {
            0 => Rule::one_in(self.sampling[group].load(Ordering::SeqCst)),
            budget => Rule::Budget(budget),
        }
    }

    /// Sets how a group is sampled. Effective bytes are to be [recomputed](Controls::recompute) then.
    pub fn set_rule(&self, group: usize, rule: Rule) {
        let (n, budget) = match rule {
            Rule::Every => (1, 0),
            Rule::OneIn(n) => (n.clamp(1, MAX_RATE), 0),
            Rule::Budget(budget) => (self.sampling[group].load(Ordering::SeqCst).max(1), budget),
        };
        self.budgets[group].store(budget, Ordering::SeqCst);
        self.set_rate(group, n);
    }

    /// Sets N of a group. Version 0 is none.
    pub fn set_rate(&self, group: usize, n: u32) {
        self.sampling[group].store(n, Ordering::SeqCst);
        // Behind the rule, which is looked at again by who takes the bit back.
        self.weighed.fetch_or(1 << group, Ordering::SeqCst);
        if self.sampling_version.fetch_add(1, Ordering::SeqCst) == u32::MAX {
            self.sampling_version.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The control region's parts together.
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
    /// Lock-free and convergent: a change that comes while we compute makes us compute again, so
    /// that the last one to finish has seen every change.
    pub fn recompute(&self, kinds: impl Fn(usize) -> Option<Kind>) {
        let mut version = self.control.version.fetch_add(1, Ordering::SeqCst) + 1;
        loop {
            for (class, cell) in self.effective.iter().enumerate() {
                let kind = kinds(class);
                let value = match kind {
                    Some(kind) => self.effective_of(class, kind),
                    None => self.effective_of_none(class),
                };
                if cell.load(Ordering::Relaxed) != value {
                    cell.store(value, Ordering::Relaxed);
                }
            }
            let now = self.control.version.load(Ordering::SeqCst);
            if now == version {
                return;
            }
            version = now;
        }
    }

    /// The effective byte of what is no class. Number 0 stands for all that found no number: their
    /// events are counted, as lost.
    fn effective_of_none(&self, class: usize) -> u8 {
        let global = self.control.consumers.load(Ordering::SeqCst) & GLOBAL != 0;
        u8::from(class == 0 && global) * effective::COUNT
    }

    /// The effective byte of one class under the present settings.
    pub fn effective_of(&self, class: usize, kind: Kind) -> u8 {
        let consumers = self.control.consumers.load(Ordering::SeqCst);
        let setup = self.setup[class].load(Ordering::SeqCst);
        if setup & setup::ENABLED == 0 || consumers & GLOBAL == 0 {
            return 0;
        }
        let nothing_of = self.control.nothing_of.load(Ordering::Relaxed);
        if nothing_of & sizes::of_events(kind) != 0 {
            return 0;
        }
        let is_kept = |size| nothing_of & sizes::bit(size) == 0;
        let Some(event_type) = kind.event_type() else {
            return effective::COUNT;
        };
        let mut bits = effective::COUNT;
        if setup & setup::TIMED != 0 {
            bits |= effective::TIME;
        }
        if consumers & THREAD != 0 {
            // Consumers of one event type stand side by side: current, history, history_long.
            let three = consumers >> first_consumer(event_type);
            let (history, long) = sizes::of_history(event_type);
            if three & 1 != 0 {
                bits |= effective::CURRENT;
                if three & 2 != 0 && is_kept(history) {
                    bits |= effective::HISTORY;
                }
                if three & 4 != 0 && is_kept(long) {
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
        let has_digests = is_kept(sizes::DIGESTS) && is_kept(sizes::DIGEST_LENGTH);
        if kind == Kind::Statement && consumers & DIGESTS != 0 && has_digests {
            bits |= effective::DIGEST;
        }
        let weighed = self.control.weighed.load(Ordering::SeqCst);
        if group_of(kind).is_some_and(|group| weighed & 1 << group != 0) {
            bits |= effective::WEIGHED;
        }
        let is_followed = self.control.host.load(Ordering::SeqCst) & host::FOLLOWS != 0;
        if kind == Kind::Statement && !is_followed && self.control.is_sampling() {
            bits |= effective::SAMPLED;
        }
        bits
    }
}

/// Whether statements read the CPU time of their thread: threads must be instrumented for that.
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

/// The mask of a thread: `threads.INSTRUMENTED` and `threads.HISTORY`. Without COUNT no point does anything; the
/// other bits then only remember HISTORY. Without the consumer `thread_instrumentation` ([`THREAD`]) all threads are
/// counted, and nothing of one of them is shown: CURRENT remembers INSTRUMENTED ([`is_instrumented`]).
pub const fn thread_mask(instrumented: bool, history: bool, consumers: u32) -> u8 {
    let kept = effective::HISTORY | effective::LONG;
    let counted = match (instrumented, consumers & THREAD == 0) {
        (true, _) => !kept,
        (false, true) => !kept & !effective::CURRENT,
        (false, false) => 0,
    };
    if history { counted | kept } else { counted }
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
