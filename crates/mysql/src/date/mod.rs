//! Dates and times as MySQL computes with them. Text in, text out: `2026-11-21 08:09:10.500000`.
//!
//! The calendar is jiff's. In addition, MySQL has zero dates, the years 0 to 9999 and TIMEs of more than a
//! day, and parses more texts as dates.

pub mod argument;
mod civil;
mod clock;
mod format;
mod interval;
mod now;
pub mod read;
mod week;
mod zone;

pub use self::civil::{civil_from_days, days_from_civil, days_in_month};
pub use self::clock::{parse_time, rounded, time_text, time_text_with};
pub use self::format::{DAYS, MONTHS, day_name, format, format_time, month_name};
pub use self::interval::difference;
pub use self::now::{local, now_local, now_utc, utc_offset};
pub use self::week::{week, week_and_year};
pub use self::zone::Zone;

use self::clock::fraction;

/// A date and time, in microseconds and days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTime {
    /// Days since 1970-01-01.
    pub days: i64,
    /// Microseconds of the day.
    pub micros: i64,
    /// Whether the text had a time of day.
    pub has_time: bool,
}

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// The length of the longest text that is parsed; a longer one is no date or time.
pub const MAX_TEXT_BYTES: usize = 4096;

/// A text without the spaces around it; `None` where it is too long to be a date or a time.
fn short(text: &str) -> Option<&str> {
    (text.len() <= MAX_TEXT_BYTES).then(|| text.trim())
}

impl DateTime {
    /// Reads a date with or without a time. `None` for another text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = short(text)?;
        let (date, time) = match text.find([' ', 'T']) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let (year, month, day) =
            if date.bytes().all(|b| b.is_ascii_digit()) && (date.len() == 8 || date.len() == 14) {
                (
                    date[..4].parse().ok()?,
                    date[4..6].parse().ok()?,
                    date[6..8].parse().ok()?,
                )
            } else {
                let mut parts = date.split(['-', '/', '.']);
                let parsed: (i64, i64, i64) = (
                    parts.next()?.parse().ok()?,
                    parts.next()?.parse().ok()?,
                    parts.next()?.parse().ok()?,
                );
                if parts.next().is_some() {
                    return None;
                }
                parsed
            };
        if !(0..=9999).contains(&year)
            || !(1..=12).contains(&month)
            || day < 1
            || day > days_in_month(year, month)
        {
            return None;
        }
        let micros = match time {
            Some(time) => parse_time(time)?,
            None if date.len() == 14 => parse_time(&format!(
                "{}:{}:{}",
                &date[8..10],
                &date[10..12],
                &date[12..14]
            ))?,
            None => 0,
        };
        if !(0..DAY_US).contains(&micros) {
            return None;
        }
        Some(Self {
            days: days_from_civil(year, month, day),
            micros,
            has_time: time.is_some() || date.len() == 14,
        })
    }

    /// From seconds and microseconds since 1970 in local time.
    pub fn from_local(seconds: i64, micros: i64) -> Self {
        Self {
            days: seconds.div_euclid(86_400),
            micros: seconds.rem_euclid(86_400) * 1_000_000 + micros,
            has_time: true,
        }
    }

    /// Microseconds since 1970.
    pub fn total(&self) -> i64 {
        self.days * DAY_US + self.micros
    }

    /// From microseconds since 1970.
    pub fn from_total(total: i64, has_time: bool) -> Self {
        Self {
            days: total.div_euclid(DAY_US),
            micros: total.rem_euclid(DAY_US),
            has_time,
        }
    }

    /// Year, month, day.
    pub fn civil(&self) -> (i64, i64, i64) {
        civil_from_days(self.days)
    }

    /// Hour, minute, second, microsecond.
    pub fn clock(&self) -> (i64, i64, i64, i64) {
        let s = self.micros / 1_000_000;
        (s / 3600, s / 60 % 60, s % 60, self.micros % 1_000_000)
    }

    /// 0 is Monday.
    pub fn weekday(&self) -> i64 {
        (self.days + 3).rem_euclid(7)
    }

    /// 1 is the first of January.
    pub fn day_of_year(&self) -> i64 {
        self.days - days_from_civil(self.civil().0, 1, 1) + 1
    }

    /// `2026-11-21`.
    pub fn date_text(&self) -> String {
        let (y, m, d) = self.civil();
        format!("{y:04}-{m:02}-{d:02}")
    }

    /// `2026-11-21 08:09:10`, with the fraction if there is one.
    pub fn text(&self) -> String {
        let (h, m, s, u) = self.clock();
        let fraction = if u == 0 {
            String::new()
        } else {
            format!(".{u:06}")
        };
        format!("{} {h:02}:{m:02}:{s:02}{fraction}", self.date_text())
    }

    /// The text with a number of digits behind the second; more are cut off.
    pub fn text_with(&self, digits: i64) -> String {
        let seconds = Self {
            micros: self.micros - self.micros.rem_euclid(1_000_000),
            ..*self
        };
        seconds.text() + &fraction(self.micros, digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime {
        DateTime::parse(text).expect(text)
    }

    #[test]
    fn dates_convert_to_days_and_back() {
        for days in (-800_000..800_000).step_by(97) {
            let (y, m, d) = civil_from_days(days);
            assert_eq!(days_from_civil(y, m, d), days);
        }
        assert_eq!(at("2026-11-21").weekday(), 5);
        assert_eq!(DateTime::parse("2026-02-29"), None);
        assert_eq!(DateTime::parse("yesterday"), None);
    }

    #[test]
    fn intervals_are_added_to_dates() {
        assert_eq!(
            at("2024-01-31")
                .add(1.0, "MONTH")
                .expect("in range")
                .date_text(),
            "2024-02-29"
        );
        assert_eq!(
            at("2024-12-31 23:59:59")
                .add(1.0, "SECOND")
                .expect("in range")
                .text(),
            "2025-01-01 00:00:00"
        );
        assert_eq!(at("9999-12-31").add(1.0, "DAY"), None);
        assert_eq!(
            difference("MONTH", at("2024-01-31"), at("2024-02-29")),
            Some(0)
        );
        assert_eq!(
            difference("DAY", at("2024-03-01"), at("2024-02-28")),
            Some(-2)
        );
    }

    #[test]
    fn formats_follow_mysql() {
        let formatted =
            |text, pattern| format(&argument::Parts::of_text(text).expect(text), pattern);
        for (date, pattern, expected) in [
            (
                "2026-11-21 08:09:10",
                "%W, %D %M %Y %H:%i:%s %p",
                Some("Saturday, 21st November 2026 08:09:10 AM"),
            ),
            (
                "2026-11-21 08:09:10",
                "%j %U %e/%c %%",
                Some("325 46 21/11 %"),
            ),
            ("2026-00-10", "%Y-%m %D", Some("2026-00 10th")),
            ("2026-02-00", "%b", Some("Feb")),
            ("2026-00-10", "%M", None),
            ("2026-02-00", "%W", None),
        ] {
            assert_eq!(
                formatted(date, pattern).as_deref(),
                expected,
                "{date} {pattern}"
            );
        }
        assert_eq!(
            time_text(parse_time("-25:01:02.5").expect("a time")),
            "-25:01:02.500000"
        );
    }
}
