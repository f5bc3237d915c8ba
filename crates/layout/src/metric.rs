//! Metrics: counters that a host names itself, as InnoDB's are.
//!
//! A counter's total is the sum of one cell in each thread's row, and only grows: switching it off and
//! on and resetting it only move the *base* that is subtracted. A value is one cell that all threads
//! store into; the last one wins. One byte, which every point reads, enables a metric.

use crate::name::Name;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Type {
    /// Counts events.
    Counter = 1,
    /// The present value of something.
    Value,
    /// A count that the host has anyway.
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

    /// Its text in INNODB_METRICS.TYPE.
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

/// The description of a metric. [`Metric::kind`] publishes it: nonzero means that the rest is complete.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Metric {
    /// [`Type`], 0 while the entry is free.
    pub kind: AtomicU32,
    _reserved: AtomicU32,
    /// Its name.
    pub name: Name<16>,
    /// Its subsystem: `dml`, `log`.
    pub subsystem: Name<8>,
    /// One sentence that describes it.
    pub documentation: Name<24>,
}

/// The state of a metric. The host's threads and readers write it: of two at once, the last wins.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct State {
    /// A value, as the bits of an i64.
    pub value: AtomicU64,
    /// Bits of [`extremes`]: which of the four extremes are set.
    pub extremes: AtomicU32,
    _reserved: AtomicU32,
    /// The largest value set.
    pub high: AtomicU64,
    /// The smallest value set.
    pub low: AtomicU64,
    /// The largest value set since the reset.
    pub high_reset: AtomicU64,
    /// The smallest value set since the reset.
    pub low_reset: AtomicU64,
    /// A counter's total when the counter and its maximum and minimum were reset.
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

/// Bits of [`State::extremes`].
pub mod extremes {
    /// `high` and `low` are set.
    pub const EVER: u32 = 1;
    /// `high_reset` and `low_reset` are set.
    pub const RESET: u32 = 2;
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Metric>() == 448 && size_of::<State>() == 128);

impl State {
    /// Stores a value and updates the extremes.
    pub fn set(&self, value: i64) {
        let bits = value as u64;
        self.value.store(bits, Ordering::Relaxed);
        let valid = self.extremes.load(Ordering::Relaxed);
        for (bit, high, low) in [
            (extremes::EVER, &self.high, &self.low),
            (extremes::RESET, &self.high_reset, &self.low_reset),
        ] {
            if valid & bit == 0 || value > high.load(Ordering::Relaxed) as i64 {
                high.store(bits, Ordering::Relaxed);
            }
            if valid & bit == 0 || value < low.load(Ordering::Relaxed) as i64 {
                low.store(bits, Ordering::Relaxed);
            }
        }
        if valid & (extremes::EVER | extremes::RESET) != extremes::EVER | extremes::RESET {
            self.extremes
                .store(extremes::EVER | extremes::RESET, Ordering::Relaxed);
        }
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_extremes() {
        let state = State::default();
        for value in [5, -3, 9, 2] {
            state.set(value);
        }
        let at = |cell: &AtomicU64| cell.load(Ordering::Relaxed) as i64;
        assert_eq!(
            (at(&state.high), at(&state.low), at(&state.value)),
            (9, -3, 2)
        );
        state
            .extremes
            .fetch_and(!extremes::RESET, Ordering::Relaxed);
        state.set(4);
        assert_eq!((at(&state.high_reset), at(&state.low_reset)), (4, 4));
        assert_eq!((at(&state.high), at(&state.low)), (9, -3));
    }
}
