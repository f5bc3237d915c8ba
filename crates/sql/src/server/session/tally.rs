//! What a statement has done, for those who count it.

/// What a statement has done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Rows sent to the client.
    pub sent: u64,
    /// Rows looked at.
    pub examined: u64,
    /// Rows changed.
    pub affected: u64,
    /// The first table was scanned from end to end.
    pub scanned: bool,
    /// Sorts.
    pub sorts: u64,
}
