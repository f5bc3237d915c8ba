//! Metrics: counters that a host names itself, as InnoDB's are.
//!
//! A counter's total is the sum of one cell in each thread's row, and only grows: switching it off and
//! on and resetting it only move the *base* that is taken off. A value is one cell that all threads
//! store into, the last one wins. Whether a metric is gathered is one byte, that every point reads.

use crate::name::Name;
use crate::pattern;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use crate::view::View;

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Type {
    /// Counts events.
    Counter = 1,
    /// Shows what something is now.
    Value,
    /// Counts what the host counts anyhow.
    StatusCounter,
    /// The sum of a set of metrics.
    SetOwner,
    /// Belongs to a set owner.
    SetMember,
}

impl Type {
    /// From its number.
    pub const fn from_u32(number: u32) -> Option<Self> {
        Some(match number {
            1 => Type::Counter,
            2 => Type::Value,
            3 => Type::StatusCounter,
            4 => Type::SetOwner,
            5 => Type::SetMember,
            _ => return None,
        })
    }

    /// As INNODB_METRICS.TYPE shows it.
    pub const fn text(self) -> &'static str {
        match self {
            Type::Counter => "counter",
            Type::Value => "value",
            Type::StatusCounter => "status_counter",
            Type::SetOwner => "set_owner",
            Type::SetMember => "set_member",
        }
    }
}

/// What a metric is called. Published by [`Metric::kind`]: not zero means the rest is there.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Metric {
    /// [`Type`], 0 while the entry is free.
    pub kind: AtomicU32,
    _reserved: AtomicU32,
    /// Its name.
    pub name: Name<16>,
    /// What it belongs to: `dml`, `log`.
    pub subsystem: Name<8>,
    /// One sentence about it.
    pub documentation: Name<24>,
}

/// What a metric is at. Written by the host's threads and by readers: of two at once, the last wins.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct State {
    /// A value, as the bits of an i64.
    pub value: AtomicU64,
    /// Bits of [`seen`]: which of the four extremes are known.
    pub seen: AtomicU32,
    _reserved: AtomicU32,
    /// The largest value set.
    pub high: AtomicU64,
    /// The smallest value set.
    pub low: AtomicU64,
    /// The largest value set since the reset.
    pub high_reset: AtomicU64,
    /// The smallest value set since the reset.
    pub low_reset: AtomicU64,
    /// A counter's total when all of it was reset.
    pub base: AtomicU64,
    /// A counter's total when it was reset.
    pub base_reset: AtomicU64,
    /// Seconds since 1970: when it was switched on; 0 = never.
    pub enabled_s: AtomicU64,
    /// When it was switched off.
    pub disabled_s: AtomicU64,
    /// When it was reset.
    pub reset_s: AtomicU64,
}

/// Bits of [`State::seen`].
pub mod seen {
    /// `high` and `low` are values.
    pub const EVER: u32 = 1;
    /// `high_reset` and `low_reset` are values.
    pub const RESET: u32 = 2;
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Metric>() == 448 && size_of::<State>() == 128);

impl State {
    /// Stores a value and moves the extremes.
    pub fn set(&self, value: i64) {
        let bits = value as u64;
        self.value.store(bits, Ordering::Relaxed);
        let known = self.seen.load(Ordering::Relaxed);
        for (bit, high, low) in [
            (seen::EVER, &self.high, &self.low),
            (seen::RESET, &self.high_reset, &self.low_reset),
        ] {
            if known & bit == 0 || value > high.load(Ordering::Relaxed) as i64 {
                high.store(bits, Ordering::Relaxed);
            }
            if known & bit == 0 || value < low.load(Ordering::Relaxed) as i64 {
                low.store(bits, Ordering::Relaxed);
            }
        }
        if known & (seen::EVER | seen::RESET) != seen::EVER | seen::RESET {
            self.seen.store(seen::EVER | seen::RESET, Ordering::Relaxed);
        }
    }
}

/// What can be done to a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gather it.
    Enable,
    /// Do not.
    Disable,
    /// Begin its `_RESET` figures anew.
    Reset,
    /// Begin all of its figures anew, which only one that is disabled lets happen.
    ResetAll,
}

/// InnoDB's names of modules that are not called like their subsystem.
const MODULES: [(&str, &str); 8] = [
    ("buf_page", "buffer_page_io"),
    ("trx", "transaction"),
    ("compress", "compression"),
    ("file", "file_system"),
    ("ibuf_system", "change_buffer"),
    ("srv", "server"),
    ("adaptive_hash", "adaptive_hash_index"),
    ("latch", "sync"),
];

/// Whether what was asked for means a metric: `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
/// Letters compare without case.
pub fn is_meant(asked: &str, name: &str, subsystem: &str) -> bool {
    if asked.eq_ignore_ascii_case("all") {
        return true;
    }
    let module = asked
        .get(..7)
        .filter(|start| start.eq_ignore_ascii_case("module_"))
        .and(asked.get(7..));
    if let Some(module) = module
        && !module.contains('%')
    {
        let known = MODULES
            .iter()
            .find(|(short, _)| short.eq_ignore_ascii_case(module));
        return subsystem.eq_ignore_ascii_case(known.map_or(module, |(_, long)| long))
            || asked.eq_ignore_ascii_case(name);
    }
    pattern::matches(asked, name)
}

/// How many numbers were given to metrics, number 0 (never one) included.
pub fn used(view: View<'_>) -> usize {
    let used = view.shared().metrics_used.0.load(Ordering::Acquire) as usize;
    used.min(view.geometry().limits.metrics)
}

/// What all threads have counted.
pub fn total(view: View<'_>, number: usize) -> u64 {
    let slots = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    (0..slots.min(view.geometry().limits.threads))
        .map(|slot| view.metric_row(slot)[number].load(Ordering::Relaxed))
        .fold(0, u64::wrapping_add)
}

/// Does something to one metric, at a time in seconds since 1970. False when it could not be done.
pub fn act(view: View<'_>, number: usize, action: Action, now_s: u64) -> bool {
    let (flag, state) = (&view.metric_flags()[number], view.metric_state(number));
    let on = flag.load(Ordering::Relaxed) != 0;
    match action {
        Action::Enable if !on => {
            state.enabled_s.store(now_s, Ordering::Relaxed);
            state.disabled_s.store(0, Ordering::Relaxed);
            flag.store(1, Ordering::Relaxed);
        }
        Action::Disable if on => {
            flag.store(0, Ordering::Relaxed);
            state.disabled_s.store(now_s, Ordering::Relaxed);
        }
        Action::Enable | Action::Disable => {}
        Action::Reset => {
            let total = total(view, number);
            state.base_reset.store(total, Ordering::Relaxed);
            state.seen.fetch_and(!seen::RESET, Ordering::Relaxed);
            state.reset_s.store(now_s, Ordering::Relaxed);
        }
        Action::ResetAll if on => return false,
        Action::ResetAll => {
            let total = total(view, number);
            state.base.store(total, Ordering::Relaxed);
            state.base_reset.store(total, Ordering::Relaxed);
            state.value.store(0, Ordering::Relaxed);
            state.seen.store(0, Ordering::Relaxed);
            for time in [&state.enabled_s, &state.disabled_s, &state.reset_s] {
                time.store(0, Ordering::Relaxed);
            }
        }
    }
    true
}

/// Does something to every metric that is meant; how many were, and how many of them let it.
pub fn act_on(view: View<'_>, asked: &str, action: Action, now_s: u64) -> (usize, usize) {
    let (mut meant, mut done) = (0, 0);
    let mut name = [0; Name::<16>::CAPACITY];
    let mut subsystem = [0; Name::<8>::CAPACITY];
    for number in 1..used(view) {
        let metric = view.metric(number);
        if metric.kind.load(Ordering::Acquire) == 0 {
            continue;
        }
        let texts = (
            core::str::from_utf8(metric.name.get(&mut name)),
            core::str::from_utf8(metric.subsystem.get(&mut subsystem)),
        );
        if let (Ok(name), Ok(subsystem)) = texts
            && is_meant(asked, name, subsystem)
        {
            meant += 1;
            done += usize::from(act(view, number, action, now_s));
        }
    }
    (meant, done)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn modules_names_and_patterns_mean_metrics() {
        for (asked, meant) in [
            ("all", true),
            ("ALL", true),
            ("module_dml", true),
            ("MODULE_DML", true),
            ("module_trx", false),
            ("dml_reads", true),
            ("DML_Reads", true),
            ("dml%", true),
            ("%reads", true),
            ("dml", false),
            ("", false),
            ("module_", false),
            ("modul\u{e9}_x", false),
        ] {
            assert_eq!(is_meant(asked, "dml_reads", "dml"), meant, "{asked}");
        }
        assert!(is_meant("module_trx", "trx_rollbacks", "transaction"));
        assert!(is_meant("module_cpu", "module_cpu", "other"));
    }

    #[test]
    fn values_keep_their_extremes() {
        let state = State::default();
        for value in [5, -3, 9, 2] {
            state.set(value);
        }
        let at = |cell: &AtomicU64| cell.load(Ordering::Relaxed) as i64;
        assert_eq!(
            (at(&state.high), at(&state.low), at(&state.value)),
            (9, -3, 2)
        );
        state.seen.fetch_and(!seen::RESET, Ordering::Relaxed);
        state.set(4);
        assert_eq!((at(&state.high_reset), at(&state.low_reset)), (4, 4));
        assert_eq!((at(&state.high), at(&state.low)), (9, -3));
    }
}
