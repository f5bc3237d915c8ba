//! What a statement has done, for those who count it.

use super::tables::Work;

/// What a statement has done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Its warnings have begun: those of the statement before are gone.
    pub warns: bool,
    /// Rows sent to the client.
    pub sent: u64,
    /// Rows looked at.
    pub examined: u64,
    /// Rows changed.
    pub affected: u64,
    /// A table was scanned from end to end.
    pub scanned: bool,
    /// Sorts.
    pub sorts: u64,
    /// What it did to tables, where that is known and not the next.
    pub work: Option<Work>,
    /// The rows that it looked up in one table, where it did nothing else.
    pub looked_up: Option<u64>,
}
