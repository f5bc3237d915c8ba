//! Metrics: a host's own counters and values, as INFORMATION_SCHEMA.INNODB_METRICS shows them.
//!
//! ```
//! tare::metrics! {
//!     /// Requests that were answered from the cache.
//!     static CACHE_HITS: Counter = "cache_hits", "cache", enabled;
//!     /// Bytes in the cache.
//!     static CACHE_BYTES: Value = "cache_bytes", "cache", enabled;
//!     /// Times that the cache was searched from end to end.
//!     static CACHE_SCANS: Counter = "cache_scans", "cache";
//! }
//! CACHE_HITS.add(1);
//! CACHE_BYTES.set(4096);
//! // Nobody has enabled it: nothing is counted.
//! CACHE_SCANS.add(1);
//! # if cfg!(feature = "instrument") {
//! # tare::start(tare::Config::default()).unwrap();
//! assert_eq!(tare::metrics::enable("module_cache"), 3);
//! # }
//! # tare::stop();
//! ```
//!
//! A counter is added to in the thread's own row, without a lock; readers sum the rows. A value has one
//! cell: of two threads that set it at once, the last one wins.

pub use tare_layout::metric::Type;

pub use crate::metric::{METRICS, Metric};
pub use crate::point::metric::{disable, enable, reset, reset_all};

/// Adds to a set: `n` to its owner and one to `times`, and sets `one` to `n`.
pub fn add_to_set(owner: &Metric, times: &Metric, one: &Metric, n: u64) {
    owner.add(n);
    times.add(1);
    one.set(i64::try_from(n).unwrap_or(i64::MAX));
}

/// Declares metrics as statics and registers them: kind (a [`Type`]), name, subsystem, and `enabled`
/// for those that are gathered from the start. See [`metrics`](mod@crate::metrics).
#[macro_export]
macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $vis:vis static $static:ident: $kind:ident = $name:literal,
        $subsystem:literal $(, $property:ident)*;)*) => {$(
        $(#[doc = $doc])*
        $vis static $static: $crate::metrics::Metric = $crate::metrics::Metric::new(
            $crate::metrics::Type::$kind,
            $name,
            $subsystem,
            $crate::class::__trim(concat!($($doc),*)),
        )$(.$property())*;
        const _: () = {
            #[$crate::class::__linkme::distributed_slice($crate::metrics::METRICS)]
            #[linkme(crate = $crate::class::__linkme)]
            static REGISTERED: &$crate::metrics::Metric = &$static;
        };
    )*};
}
