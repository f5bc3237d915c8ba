//! The work of a statement, for its counters.

use super::tables::Work;

/// The work of a statement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Whether the warnings of the previous statement are gone.
    pub warns: bool,
    /// Rows sent to the client.
    pub sent: u64,
    /// Rows examined.
    pub examined: u64,
    /// Rows changed.
    pub affected: u64,
    /// Whether a table was scanned completely.
    pub scanned: bool,
    /// Sorts.
    pub sorts: u64,
    /// What it did to tables, if determined and `looked_up` is `None`.
    pub work: Option<Work>,
    /// The rows that it looked up in one table, if it did nothing else.
    pub looked_up: Option<u64>,
}
