//! Times and growth for histories that tests write.

use std::time::{Duration, SystemTime};

use tare_history::{GrowthRow, SUMS};

/// 2026-11-22 14:00 in UTC, in seconds since 1970.
pub const START: u64 = 1_795_356_000;

/// So many seconds after the start.
pub fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(START + seconds)
}

/// Growth of a row, with its first sums.
pub fn grown(kind: &'static str, schema: Option<&str>, name: &str, sums: &[u64]) -> GrowthRow {
    let mut all = [None; SUMS];
    for (to, n) in all.iter_mut().zip(sums) {
        *to = Some(*n);
    }
    GrowthRow {
        kind,
        schema: schema.map(str::to_owned),
        name: name.to_owned(),
        sums: all,
        value: None,
    }
}
