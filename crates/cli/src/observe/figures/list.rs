//! The list of figures, its units, and the thresholds of advice.

use tare_history::StatusFigure;

use super::readings::Readings;

pub const MIB: f64 = 1_048_576.0;

/// From these on, advice is given.
pub mod threshold {
    /// Pages read from disk per second, and their share of the requests.
    pub const DISK_READS_PER_S: f64 = 100.0;
    pub const DISK_READS_SHARE: f64 = 0.01;
    /// Free pages of the buffer pool: with more, its size does not matter.
    pub const FREE_PAGES_SHARE: f64 = 0.05;
    /// The checkpoint's age, of the log's capacity.
    pub const CHECKPOINT_SHARE: f64 = 0.75;
    pub const HISTORY_LIST: f64 = 100_000.0;
    /// Temporary tables on disk per second, and their share of all.
    pub const DISK_TABLES_PER_S: f64 = 1.0;
    pub const DISK_TABLES_SHARE: f64 = 0.1;
    /// Transactions per second that are too large for the cache of the binary log.
    pub const DISK_CACHES_PER_S: f64 = 1.0;
    /// Connections, of the most.
    pub const CONNECTIONS_SHARE: f64 = 0.8;
    /// For how long a session sleeps in a transaction.
    pub const IDLE_IN_TRANSACTION_S: u64 = 60;
    pub const LAG_S: u64 = 30;
}

/// The figures of a server, as they are added.
pub struct List<'a> {
    pub readings: &'a Readings<'a>,
    pub figures: Vec<StatusFigure>,
}

impl List<'_> {
    /// Adds a value, if the server has it.
    pub fn gauge(
        &mut self,
        (area, name): (&'static str, &'static str),
        value: Option<f64>,
        unit: &'static str,
        advice: Option<String>,
    ) {
        self.figures.extend(value.map(|value| StatusFigure {
            area,
            name,
            value,
            unit,
            per_s: None,
            advice,
        }));
    }

    /// Adds a total, if the server has it: the variable's by a divisor.
    pub fn total(
        &mut self,
        (area, name): (&'static str, &'static str),
        variable: &str,
        (unit, divisor): (&'static str, f64),
        advice: Option<String>,
    ) {
        let growth = self.readings.growth(variable);
        let value = self.readings.value(variable);
        self.figures.extend(value.map(|value| StatusFigure {
            area,
            name,
            value: value / divisor,
            unit,
            per_s: growth.map(|growth| growth / divisor),
            advice,
        }));
    }
}

pub fn in_mib(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / MIB)
}

/// A rate with the digits that it needs.
pub fn rate(per_s: f64) -> String {
    match per_s {
        x if x >= 10.0 => format!("{x:.0}"),
        x => format!("{x:.1}"),
    }
}
