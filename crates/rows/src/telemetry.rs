//! The settings of MySQL's telemetry: setup_meters and setup_loggers.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

/// The number of meters in MySQL 9.7.4.
pub const METERS: usize = 11;
/// The number of loggers in MySQL 9.7.4.
pub const LOGGERS: usize = 3;

/// MySQL's variables that limit loggers, meters and metrics, and their defaults.
pub const SIZES: [(&str, usize); 3] = [
    ("performance_schema_max_logger_classes", 80),
    ("performance_schema_max_meter_classes", 30),
    ("performance_schema_max_metric_classes", 600),
];

/// The names of the options that set [`SIZES`], without `performance_schema_`.
pub fn size_options() -> impl Iterator<Item = &'static str> {
    SIZES
        .into_iter()
        .filter_map(|(name, _)| name.strip_prefix("performance_schema_"))
}

/// The settings of meters and loggers, in the order of their tables. A server stores them while it runs,
/// as MySQL does where its telemetry component is not installed.
#[derive(Debug)]
pub struct Telemetry {
    /// FREQUENCY of each meter.
    pub seconds: [AtomicU32; METERS],
    /// ENABLED of each meter.
    pub enabled: [AtomicBool; METERS],
    /// LEVEL of each logger: 0 is none.
    pub levels: [AtomicU8; LOGGERS],
    /// The limits of loggers, meters and metrics, by [`SIZES`].
    pub limits: [usize; SIZES.len()],
}

impl Telemetry {
    /// MySQL's defaults, with the requested sizes by name.
    pub fn with_sizes(requested: &[(String, String)]) -> Self {
        let limits = SIZES.map(|(name, default)| {
            let given = requested
                .iter()
                .rev()
                .find(|(option, _)| name.ends_with(option.as_str()));
            given.map_or(default, |(_, size)| size.parse().unwrap_or(default))
        });
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The limit of loggers.
    pub fn loggers(&self) -> usize {
        self.limits[0]
    }

    /// The limit of meters.
    pub fn meters(&self) -> usize {
        self.limits[1]
    }

    /// The limit of metrics.
    pub fn metrics(&self) -> usize {
        self.limits[2]
    }
}

impl Default for Telemetry {
    /// MySQL's defaults: every meter each ten seconds, logs from level info on.
    fn default() -> Self {
        Self {
            seconds: [const { AtomicU32::new(10) }; METERS],
            enabled: [const { AtomicBool::new(true) }; METERS],
            levels: [const { AtomicU8::new(3) }; LOGGERS],
            limits: SIZES.map(|(_, default)| default),
        }
    }
}
