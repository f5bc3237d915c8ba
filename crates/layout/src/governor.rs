//! Decisions of the governor: a ring with one line for each.

/// Number of stored decisions.
pub const DECISIONS: usize = 256;

/// Cells of a decision's line. The number is stored last, and is 0 while the line is written.
pub mod at {
    /// Its number, from 1.
    pub const NUMBER: usize = 0;
    /// Its time, in nanoseconds since 1970.
    pub const UNIX_NS: usize = 1;
    /// Reason (bits 0-7) and group (bits 8-15).
    pub const WHAT: usize = 2;
    /// N before (bits 0-31) and from then on (bits 32-63).
    pub const RATES: usize = 3;
    /// The budget, in thousandths of a percent of the host's CPU time.
    pub const BUDGET: usize = 4;
    /// The group's cost just before, likewise.
    pub const SPENT: usize = 5;
    /// Events a second, observed or not.
    pub const EVENTS: usize = 6;
    /// The cost of one event, in picoseconds.
    pub const UNIT_PS: usize = 7;
}

/// Why N was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The cost was above the budget.
    Over = 1,
    /// The cost was below the budget.
    Headroom = 2,
}

/// Their texts, by number.
pub const REASONS: [&str; 3] = ["", "over budget", "room in the budget"];
