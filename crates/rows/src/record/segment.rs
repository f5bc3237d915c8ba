//! Rows of schema `tare` about a segment and its summaries.

use std::sync::Arc;

/// How often an instrument's events had to wait, and how long those took.
#[derive(Debug, Clone)]
pub struct Contention {
    /// The instrument.
    pub name: Arc<str>,
    /// Acquisitions or operations.
    pub count: u64,
    /// Acquisitions that waited.
    pub contended: u64,
    /// Time in all, ps.
    pub sum: u64,
    /// Longest, ps.
    pub max: u64,
    /// Median, 95th and 99th percentile of the timed ones, ps; `None` if none was timed.
    pub percentiles: Option<[u64; 3]>,
}

/// A bucket of an instrument's latency histogram.
#[derive(Debug, Clone)]
pub struct HistogramBucket {
    /// The instrument.
    pub name: Arc<str>,
    /// The bucket, from 0.
    pub number: u64,
    /// Its lower bound, ps.
    pub low: u64,
    /// Its upper bound, ps.
    pub high: u64,
    /// Events in it.
    pub count: u64,
    /// The share of all timed events in this and lower buckets.
    pub quantile: f64,
}

/// A segment.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are the columns'")]
pub struct SegmentInfo {
    pub pid: u64,
    pub path: String,
    pub program: String,
    pub layout_version: u64,
    pub state: &'static str,
    pub started_us: u64,
    pub uptime_s: Option<f64>,
    pub resident_bytes: Option<u64>,
    pub address_bytes: u64,
    pub bank_bytes: u64,
    pub memory_limit: u64,
    pub threads: u64,
    pub classes: u64,
    pub instances: u64,
    pub files: u64,
    pub accounts: u64,
    pub digests: u64,
    pub clock: &'static str,
    pub ticks_per_second: u64,
    pub lock_timing: &'static str,
    pub lost: [u64; tare_layout::shared::LOSSES],
}
