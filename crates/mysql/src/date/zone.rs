//! Time zones: the system's, one by its distance from UTC, or one by its name in the system's database.

use std::fmt;

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::DateTime;

/// The largest distance from UTC, in minutes, to the west and to the east: MySQL's, from 8.0.19 on.
const FARTHEST: std::ops::RangeInclusive<i32> = -(13 * 60 + 59)..=14 * 60;

/// A time zone.
#[derive(Clone)]
pub struct Zone(TimeZone);

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Zone").field(&self.0.iana_name()).finish()
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::system()
    }
}

impl Zone {
    /// The system's.
    pub fn system() -> Self {
        Self(TimeZone::system())
    }

    /// The zone that `SET time_zone` names: SYSTEM, `+02:00` or a name of the system's database. `None` if it does
    /// not exist.
    pub fn find(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Some(Self::system());
        }
        if let Some(minutes) = minutes(name) {
            let seconds = minutes.filter(|m| FARTHEST.contains(m))? * 60;
            return Some(Self(TimeZone::fixed(Offset::from_seconds(seconds).ok()?)));
        }
        // A path in the system's database is no name.
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b"/_+-".contains(&b);
        if name.is_empty() || !name.bytes().all(is_name) {
            return None;
        }
        TimeZone::get(name).ok().map(Self)
    }

    /// Whether its times are UTC's, at any moment.
    pub fn is_utc(&self) -> bool {
        self.0.to_fixed_offset().is_ok_and(|o| o == Offset::UTC) || self.0 == TimeZone::UTC
    }

    /// How far its time is from UTC at a moment, in seconds.
    pub fn offset(&self, unix_seconds: i64) -> i64 {
        Timestamp::from_second(unix_seconds).map_or(0, |at| self.0.to_offset(at).seconds().into())
    }

    /// A moment of UTC, in this zone.
    pub fn local(&self, utc: DateTime) -> DateTime {
        let seconds = utc.total().div_euclid(1_000_000);
        DateTime::from_total(utc.total() + self.offset(seconds) * 1_000_000, true)
    }

    /// A moment of UTC in this zone, as text with as many digits; `None` if the text stays as it is. The zero
    /// date has no zone.
    pub fn local_text(&self, utc: &str) -> Option<String> {
        if self.is_utc() || utc.starts_with("0000") {
            return None;
        }
        let digits = utc.split_once('.').map_or(0, |(_, digits)| digits.len());
        Some(self.local(DateTime::parse(utc)?).text_with(digits as i64))
    }

    /// A time of this zone in UTC. If a clock shows it twice, the first one; if a clock skips it, the moment
    /// of the skip.
    pub fn utc(&self, local: DateTime) -> DateTime {
        self.utc_or_gap(local).0
    }

    /// The same, and whether a clock skips it.
    pub fn utc_or_gap(&self, local: DateTime) -> (DateTime, bool) {
        let (year, month, day) = local.civil();
        let (hour, minute, second, micros) = local.clock();
        let small = |n: i64| i8::try_from(n).ok();
        let at = (|| {
            civil::DateTime::new(
                year.try_into().ok()?,
                small(month)?,
                small(day)?,
                small(hour)?,
                small(minute)?,
                small(second)?,
                i32::try_from(micros * 1000).ok()?,
            )
            .ok()
        })();
        let Some(at) = at.map(|at| self.0.to_ambiguous_timestamp(at)) else {
            return (local, false);
        };
        if let AmbiguousOffset::Gap { after, .. } = at.offset() {
            // By the offset after the gap, the time is before it.
            let before = local.total().div_euclid(1_000_000) - i64::from(after.seconds());
            let gap = Timestamp::from_second(before).ok();
            let gap = gap.and_then(|before| self.0.following(before).next());
            return gap.map_or((local, true), |gap| {
                let total = gap.timestamp().as_microsecond() + micros;
                (DateTime::from_total(total, true), true)
            });
        }
        let utc = at.earlier();
        // No day of the calendar: a zero date stays one.
        let utc = utc.map_or(local, |utc| {
            DateTime::from_total(utc.as_microsecond(), true)
        });
        (utc, false)
    }
}

/// `+02:00` in minutes; `Some(None)` for what only begins like one.
#[allow(clippy::option_option, reason = "a name, a distance, or a wrong one")]
fn minutes(text: &str) -> Option<Option<i32>> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let number = |s: &str| {
        let digits = (1..=2).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| s.parse::<i32>().ok()).flatten()
    };
    let read = rest.split_once(':').and_then(|(h, m)| {
        let (h, m) = (number(h)?, number(m)?);
        (m < 60).then_some(sign * (h * 60 + m))
    });
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime {
        DateTime::parse(text).expect("a date")
    }

    #[test]
    fn zones_are_offsets_or_names() {
        let there = |name| Zone::find(name).is_some();
        for name in [
            "SYSTEM", "system", "+00:00", "-13:59", "+14:00", "+5:30", "UTC",
        ] {
            assert!(there(name), "{name}");
        }
        for name in [
            "",
            "nowhere",
            "+14:01",
            "-14:00",
            "+1",
            "+01:60",
            "../etc/passwd",
            "+01:0x",
        ] {
            assert!(!there(name), "{name}");
        }
        assert!(Zone::find("+00:00").is_some_and(|z| z.is_utc()));
        assert!(Zone::find("UTC").is_some_and(|z| z.is_utc()));
    }

    #[test]
    fn times_convert_to_a_zone_and_back() {
        // Berlin's rules, independent of the system's database of zones.
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("rules");
        let zone = Zone(berlin);
        assert!(!zone.is_utc());
        for (utc, local) in [
            ("2026-01-01 00:30:00.25", "2026-01-01 01:30:00.25"),
            ("2026-07-01 22:30:00", "2026-07-02 00:30:00"),
        ] {
            assert_eq!(zone.local(at(utc)).text(), at(local).text());
            assert_eq!(zone.utc(at(local)).text(), at(utc).text());
        }
        // The hour that comes twice, and the one that does not come.
        assert_eq!(
            zone.utc(at("2026-10-25 02:30:00")).text(),
            "2026-10-25 00:30:00"
        );
        assert_eq!(
            zone.utc_or_gap(at("2026-03-29 02:59:59.5")),
            (at("2026-03-29 01:00:00.5"), true)
        );
        for there in ["2026-03-29 01:59:59", "2026-03-29 03:00:00"] {
            assert!(!zone.utc_or_gap(at(there)).1, "{there}");
        }
        let east = Zone::find("+05:30").expect("a zone");
        assert_eq!(
            east.utc(at("2026-01-01 00:00:00")).text(),
            "2025-12-31 18:30:00"
        );
    }
}
