//! Memory that an instrument counted.

/// The memory of one instrument.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Memory {
    pub count_alloc: u64,
    pub count_free: u64,
    pub bytes_alloc: u64,
    pub bytes_free: u64,
    pub low_count: i64,
    pub count: i64,
    pub high_count: i64,
    pub low_bytes: i64,
    pub bytes: i64,
    pub high_bytes: i64,
}
