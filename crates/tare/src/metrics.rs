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
//! A counter is added to in the thread's own row, without a lock; readers sum. A value belongs to nobody:
//! of two threads that set it at once, the last one wins.

pub use tare_layout::metric::Type;
#[cfg(feature = "instrument")]
use tare_layout::metric::{self, Action};

use crate::number::Number;

/// A metric. Declare them with [`metrics!`](crate::metrics); they are then all listed when Tare starts.
#[derive(Debug)]
pub struct Metric {
    name: &'static str,
    subsystem: &'static str,
    documentation: &'static str,
    kind: Type,
    enabled: bool,
    #[cfg_attr(not(feature = "instrument"), allow(dead_code))]
    pub(crate) number: Number,
}

impl Metric {
    /// A metric with a name of at most 128 bytes, in a subsystem of at most 64.
    pub const fn new(
        kind: Type,
        name: &'static str,
        subsystem: &'static str,
        documentation: &'static str,
    ) -> Self {
        assert!(
            !name.is_empty() && name.len() <= 128,
            "a metric's name has 1 to 128 bytes"
        );
        assert!(
            !subsystem.is_empty() && subsystem.len() <= 64,
            "a subsystem's name has 1 to 64 bytes"
        );
        Self {
            name,
            subsystem,
            documentation,
            kind,
            enabled: false,
            number: Number::none(),
        }
    }

    /// Gathers it from the start.
    pub const fn enabled(mut self) -> Self {
        self.enabled = true;
        self
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it belongs to.
    pub const fn subsystem(&self) -> &'static str {
        self.subsystem
    }

    /// One sentence about it.
    pub const fn documentation(&self) -> &'static str {
        self.documentation
    }

    /// What it is.
    pub const fn kind(&self) -> Type {
        self.kind
    }

    /// Whether it is gathered when nothing else is said.
    pub const fn enabled_by_default(&self) -> bool {
        self.enabled
    }

    /// Registers the metric in the segment that records now, if one does; else it happens when it is
    /// first used. For metrics that [`metrics!`](crate::metrics) did not declare.
    pub fn register(&self) {
        #[cfg(feature = "instrument")]
        crate::engine::register_metric(self);
    }

    /// Adds to a counter.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        #[cfg(feature = "instrument")]
        if let Some(local) = crate::engine::hot::local() {
            local.add_metric(self, n);
        }
        let _ = n;
    }

    /// Sets a value.
    #[inline]
    pub fn set(&self, value: i64) {
        #[cfg(feature = "instrument")]
        if let Some(local) = crate::engine::hot::local() {
            local.set_metric(self, value);
        }
        let _ = value;
    }

    /// Whether it is gathered now: asked before something is measured for it alone.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        #[cfg(feature = "instrument")]
        if let Some(local) = crate::engine::hot::local() {
            return local.gathers(self);
        }
        false
    }
}

/// Adds to a set: its owner, the number of times, and what one time gave.
pub fn add_to_set(owner: &Metric, times: &Metric, one: &Metric, n: u64) {
    owner.add(n);
    times.add(1);
    one.set(i64::try_from(n).unwrap_or(i64::MAX));
}

#[cfg(feature = "instrument")]
fn act(asked: &str, action: Action) -> (usize, usize) {
    let now_s = crate::engine::unix_ns() / 1_000_000_000;
    crate::engine::with_running(|engine| metric::act_on(engine.view, asked, action, now_s))
        .unwrap_or_default()
}

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident $action:ident $part:tt;)*) => {$(
        $(#[$doc])*
        ///
        /// `asked` is `all`, `module_SUBSYSTEM`, a name, or a pattern with `%`.
        pub fn $name(asked: &str) -> usize {
            #[cfg(feature = "instrument")]
            return act(asked, Action::$action).$part;
            #[cfg(not(feature = "instrument"))]
            {
                let _ = asked;
                0
            }
        }
    )*};
}

actions! {
    /// Gathers metrics from now on; how many are meant, 0 if Tare does not run.
    enable Enable 0;
    /// Gathers metrics no more; how many are meant.
    disable Disable 0;
    /// Begins the `_RESET` figures of metrics anew; how many are meant.
    reset Reset 0;
    /// Begins all figures of metrics anew that are disabled; how many were.
    reset_all ResetAll 1;
}

/// All metrics that [`metrics!`](crate::metrics) declared, in whatever crate.
#[linkme::distributed_slice]
pub static METRICS: [&'static Metric];

/// Declares metrics as statics and registers them: kind (a [`Type`]), name, subsystem, and `enabled`
/// for those that are gathered from the start. See [`metrics`](crate::metrics).
#[macro_export]
macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $vis:vis static $static:ident: $kind:ident = $name:literal,
        $subsystem:literal $(, $property:ident)*;)*) => {$(
        $(#[doc = $doc])*
        $vis static $static: $crate::metrics::Metric = $crate::metrics::Metric::new(
            $crate::metrics::Type::$kind,
            $name,
            $subsystem,
            $crate::__trim(concat!($($doc),*)),
        )$(.$property())*;
        const _: () = {
            #[$crate::__linkme::distributed_slice($crate::metrics::METRICS)]
            #[linkme(crate = $crate::__linkme)]
            static REGISTERED: &$crate::metrics::Metric = &$static;
        };
    )*};
}
