//! What the governor decided: a ring of lines, one for each decision.

/// Decisions that are kept.
pub const DECISIONS: usize = 256;

/// Cells of a decision's line. The number is stored last, and is 0 while the line is written.
pub mod at {
    /// Its number, from 1.
    pub const NUMBER: usize = 0;
    /// When, in nanoseconds since 1970.
    pub const UNIX_NS: usize = 1;
    /// Reason (bits 0-7) and group (bits 8-15).
    pub const WHAT: usize = 2;
    /// N before (bits 0-31) and from then on (bits 32-63).
    pub const RATES: usize = 3;
    /// The budget, in thousandths of a percent of the host's CPU time.
    pub const BUDGET: usize = 4;
    /// What the group cost just before, likewise.
    pub const SPENT: usize = 5;
    /// Events a second, observed or not.
    pub const EVENTS: usize = 6;
    /// What one costs, in picoseconds.
    pub const UNIT_PS: usize = 7;
}

/// Why N was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// More was spent than may be.
    Over = 1,
    /// More may be spent than was.
    Room = 2,
}

/// What they are called, by number.
pub const REASONS: [&str; 3] = ["", "over budget", "room in the budget"];
