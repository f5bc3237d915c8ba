//! The settings of MySQL's telemetry, as setup_meters and setup_loggers show them.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

/// How many meters MySQL 9.7.4 has.
pub const METERS: usize = 11;
/// How many loggers it has.
pub const LOGGERS: usize = 3;

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
}

impl Default for Telemetry {
    /// MySQL's: every meter each ten seconds, logs from level info on.
    fn default() -> Self {
        Self {
            seconds: [const { AtomicU32::new(10) }; METERS],
            enabled: [const { AtomicBool::new(true) }; METERS],
            levels: [const { AtomicU8::new(3) }; LOGGERS],
        }
    }
}
