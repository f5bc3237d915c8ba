//! Moments as MySQL prints them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// Counts days from 1 March of the year 0, so that the leap day is a year's last; an era is the
/// 146,097 days after which the calendar repeats.
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// `YYYY-MM-DD hh:mm:ss.ffffff` of microseconds since 1970; zero is MySQL's zero date.
pub fn timestamp(us: u64) -> String {
    if us == 0 {
        return "0000-00-00 00:00:00.000000".into();
    }
    let fraction = us % 1_000_000;
    format!("{}.{fraction:06}", seconds(us / 1_000_000))
}

fn seconds(s: u64) -> String {
    let (year, month, day) = civil((s / 86_400) as i64);
    let (hour, minute, second) = (s / 3600 % 24, s / 60 % 60, s % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
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
    seconds(at.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_print_as_in_mysql() {
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
