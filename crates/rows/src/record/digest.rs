//! A row of events_statements_summary_by_digest.

use std::sync::Arc;

use super::event::{HasStat, Stat};
use super::statement::{HasSums, Sums};

/// The statements of one digest in one schema.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// SCHEMA_NAME.
    pub schema: Option<Arc<str>>,
    /// DIGEST; NULL in the row of digests beyond the limit.
    pub digest: Option<Arc<str>>,
    /// DIGEST_TEXT.
    pub text: Option<Arc<str>>,
    /// The sums.
    pub sums: Sums,
    /// FIRST_SEEN, microseconds since 1970.
    pub first_seen_us: u64,
    /// LAST_SEEN, microseconds since 1970.
    pub last_seen_us: u64,
    /// QUANTILE_95, QUANTILE_99, QUANTILE_999.
    pub quantiles: [u64; 3],
    /// QUERY_SAMPLE_TEXT.
    pub sample_text: Option<Arc<str>>,
    /// QUERY_SAMPLE_SEEN, microseconds since 1970.
    pub sample_at_us: u64,
    /// QUERY_SAMPLE_TIMER_WAIT.
    pub sample_timer_wait: u64,
}

impl HasStat for Digest {
    fn stat(&self) -> &Stat {
        &self.sums.stat
    }
}

impl HasSums for Digest {
    fn sums(&self) -> &Sums {
        &self.sums
    }
}
