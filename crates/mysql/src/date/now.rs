//! Now, in UTC and in the system's time zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::DateTime;

/// How far local time is from UTC at a moment, in seconds.
pub fn utc_offset(unix_seconds: i64) -> i64 {
    Timestamp::from_second(unix_seconds)
        .map_or(0, |at| TimeZone::system().to_offset(at).seconds().into())
}

/// Now, in seconds and microseconds since 1970, UTC.
pub fn now_utc() -> (i64, i64) {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    (since.as_secs() as i64, i64::from(since.subsec_micros()))
}

/// A moment, in seconds since 1970, in the system's time zone.
pub fn local(unix_seconds: i64) -> DateTime {
    DateTime::from_local(unix_seconds + utc_offset(unix_seconds), 0)
}

/// Now, local.
pub fn now_local(with_micros: bool) -> DateTime {
    let (seconds, micros) = now_utc();
    DateTime::from_local(
        seconds + utc_offset(seconds),
        if with_micros { micros } else { 0 },
    )
}
