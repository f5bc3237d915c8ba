//! The settings of MySQL's telemetry, as setup_meters and setup_loggers show them.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

/// How many meters MySQL 9.7.4 has.
pub const METERS: usize = 11;
/// How many loggers it has.
pub const LOGGERS: usize = 3;

/// MySQL's variables that limit loggers, meters and metrics, and their defaults.
pub const SIZES: [(&str, usize); 3] = [
    ("performance_schema_max_logger_classes", 80),
    ("performance_schema_max_meter_classes", 30),
    ("performance_schema_max_metric_classes", 600),
];

/// The options that set them, without `performance_schema_`.
pub fn size_options() -> impl Iterator<Item = &'static str> {
    SIZES
        .into_iter()
        .filter_map(|(name, _)| name.strip_prefix("performance_schema_"))
}

/// The settings of meters and loggers, in the order of their tables. A server keeps them while it runs,
/// as MySQL does where its telemetry component is not installed.
#[derive(Debug)]
pub struct Telemetry {
    /// FREQUENCY of each meter.
    pub seconds: [AtomicU32; METERS],
    /// ENABLED of each meter.
    pub enabled: [AtomicBool; METERS],
    /// LEVEL of each logger: 0 is none.
    pub levels: [AtomicU8; LOGGERS],
    /// How many loggers, meters and metrics are shown at most, by [`SIZES`].
    pub most: [usize; SIZES.len()],
}

impl Telemetry {
    /// MySQL's settings, where these sizes were asked for by name.
    pub fn sized(asked: &[(String, String)]) -> Self {
        let most = SIZES.map(|(name, default)| {
            let given = asked
                .iter()
                .rev()
                .find(|(of, _)| name.ends_with(of.as_str()));
            given.map_or(default, |(_, size)| size.parse().unwrap_or(default))
        });
        Self {
            most,
            ..Self::default()
        }
    }

    /// How many loggers may be shown.
    pub fn loggers(&self) -> usize {
        self.most[0]
    }

    /// How many meters may be shown.
    pub fn meters(&self) -> usize {
        self.most[1]
    }

    /// How many metrics may be shown.
    pub fn metrics(&self) -> usize {
        self.most[2]
    }
}

impl Default for Telemetry {
    /// MySQL's: every meter each ten seconds, logs from level info on.
    fn default() -> Self {
        Self {
            seconds: [const { AtomicU32::new(10) }; METERS],
            enabled: [const { AtomicBool::new(true) }; METERS],
            levels: [const { AtomicU8::new(3) }; LOGGERS],
            most: SIZES.map(|(_, default)| default),
        }
    }
}
