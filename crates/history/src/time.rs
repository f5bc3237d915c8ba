//! Times as users write them.

use std::time::SystemTime;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::hour::micros;

/// Parses a time in UTC to milliseconds since 1970: `2026-11-22`, `2026-11-22 14:03`, `14:03` (the last
/// one), or `30m`, `2h`, `7d` ago.
///
/// # Errors
/// A message with the valid forms.
pub fn parse_time(text: &str, now: SystemTime) -> Result<i64, String> {
    let wrong = || {
        format!(
            "{text}: give a time of UTC such as '2026-11-22 14:03' or 14:03, or 30m, 2h or 7d ago"
        )
    };
    let text = text.trim().trim_end_matches('Z');
    let now = micros(now) / 1000;
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
    for (unit, seconds) in units {
        if let Some(Ok(number)) = text.strip_suffix(unit).map(str::parse::<u32>) {
            return Ok(now - i64::from(number) * seconds * 1000);
        }
    }
    let of = |time: DateTime| {
        let zoned = time.to_zoned(TimeZone::UTC).ok();
        zoned.map(|zoned| zoned.timestamp().as_millisecond())
    };
    // The parser of times also accepts a date with a time.
    if text.get(2..3) == Some(":")
        && let Ok(time) = text.parse::<Time>()
    {
        let now = Timestamp::from_millisecond(now).map_err(|_| wrong())?;
        let now = now.to_zoned(TimeZone::UTC).datetime();
        let today = now.date().to_datetime(time);
        let last = match today > now {
            true => today.checked_sub(1.day()).map_err(|_| wrong())?,
            false => today,
        };
        return of(last).ok_or_else(wrong);
    }
    let time = text.parse::<DateTime>();
    let time = time.or_else(|_| text.parse::<Date>().map(DateTime::from));
    time.ok().and_then(of).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn dates_times_of_day_and_ages_are_parsed() {
        // 2026-11-22 14:00:00
        let now = UNIX_EPOCH + Duration::from_secs(1_795_356_000);
        let at = |text: &str| parse_time(text, now).map(|at| (at - 1_795_356_000_000) / 1000);
        assert_eq!(at("30m"), Ok(-1800));
        assert_eq!(at("2026-11-22 14:03"), Ok(180));
        assert_eq!(at("2026-11-22T14:03:05Z"), Ok(185));
        assert_eq!(at("2026-11-22"), Ok(-14 * 3600));
        assert_eq!(at("13:59"), Ok(-60));
        assert_eq!(at("14:01:30"), Ok(90 - 86_400));
        for wrong in ["", "soon", "14", "25:00", "2026-13-01", "m"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
