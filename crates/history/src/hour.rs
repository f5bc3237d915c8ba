//! An hour of UTC, by which files are divided.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Hours since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(i64);

impl Hour {
    /// The hour that contains a time.
    pub fn of(time: SystemTime) -> Self {
        Self(micros(time).div_euclid(3_600_000_000))
    }

    /// Parses the names of two directories: `2026-11-22` and `14`.
    pub fn parse(date: &str, hour: &str) -> Option<Self> {
        let start: DateTime = format!("{date}T{hour}:00:00").parse().ok()?;
        let second = start.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
        Some(Self(second.div_euclid(3600)))
    }

    /// The end of the hour.
    pub fn end(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs((self.0 + 1).max(0) as u64 * 3600)
    }

    /// Whether it overlaps the half-open range `from..to`, in milliseconds since 1970.
    pub fn touches(self, from: i64, to: i64) -> bool {
        self.0 * 3_600_000 < to && (self.0 + 1) * 3_600_000 > from
    }

    fn civil(self) -> DateTime {
        let start = Timestamp::from_second(self.0 * 3600).unwrap_or_default();
        start.to_zoned(TimeZone::UTC).datetime()
    }

    /// `2026-11-22`
    pub fn date(self) -> String {
        self.civil().date().to_string()
    }

    /// `14`
    pub fn number(self) -> String {
        format!("{:02}", self.civil().hour())
    }
}

/// `2026-11-22T14`
impl fmt::Display for Hour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.date(), self.number())
    }
}

/// Microseconds since 1970.
pub fn micros(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_micros() as i64,
        Err(before) => -(before.duration().as_micros() as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_formatted_and_parsed() {
        let at = UNIX_EPOCH + Duration::from_secs(1_795_356_000 + 59 * 60);
        let hour = Hour::of(at);
        assert_eq!(hour.to_string(), "2026-11-22T14");
        assert_eq!(Hour::parse(&hour.date(), &hour.number()), Some(hour));
        assert_eq!(Hour::of(hour.end()), Hour(hour.0 + 1));
        assert_eq!(Hour::parse("2026-13-01", "14"), None);
        assert_eq!(Hour::parse("2026-11-22", "24"), None);
    }
}
