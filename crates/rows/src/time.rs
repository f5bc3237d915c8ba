//! Moments in UTC, as MySQL prints them. Where a statement reads a TIMESTAMP, crates/query converts it to the
//! session's time zone.

use std::time::{SystemTime, UNIX_EPOCH};

use tare_mysql::date::DateTime;

/// `YYYY-MM-DD hh:mm:ss.ffffff` of microseconds since 1970; zero is MySQL's zero date.
pub fn timestamp(us: u64) -> String {
    if us == 0 {
        return "0000-00-00 00:00:00.000000".into();
    }
    DateTime::from_total(us as i64, true).text_with(6)
}

/// The same without the fraction.
pub fn timestamp_of_seconds(us: u64) -> String {
    let mut text = timestamp(us);
    text.truncate("0000-00-00 00:00:00".len());
    text
}

/// `YYYY-MM-DD hh:mm:ss.ffffff` of a moment.
pub fn timestamp_of(at: SystemTime) -> String {
    timestamp(
        at.duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_micros() as u64),
    )
}

/// `YYYY-MM-DD hh:mm:ss` of a moment.
pub fn datetime(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    DateTime::from_local(since.as_secs() as i64, 0).text_with(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_as_in_mysql() {
        assert_eq!(timestamp(0), "0000-00-00 00:00:00.000000");
        assert_eq!(timestamp(1), "1970-01-01 00:00:00.000001");
        assert_eq!(timestamp(951_782_400_000_000), "2000-02-29 00:00:00.000000");
        assert_eq!(
            timestamp(1_763_711_601_123_456),
            "2025-11-21 07:53:21.123456"
        );
        assert_eq!(
            timestamp(4_107_542_399_000_000),
            "2100-02-28 23:59:59.000000"
        );
        assert_eq!(
            timestamp(4_107_542_400_000_000),
            "2100-03-01 00:00:00.000000"
        );
    }
}
