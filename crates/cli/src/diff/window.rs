//! Windows of time on the command line.

use std::fmt;

use crate::history::parse_time;
use crate::observe::format::in_utc;
use crate::option_values::parse_duration;

/// The length of a window if none is given.
const DEFAULT_LENGTH_MS: i64 = 3_600_000;

/// A day.
pub const DAY_MS: i64 = 86_400_000;

/// A range of time in milliseconds since 1970. The end is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The start.
    pub from: i64,
    /// The end.
    pub to: i64,
}

impl Window {
    /// All time.
    pub const ALL: Self = Self {
        from: i64::MIN,
        to: i64::MAX,
    };

    /// Seconds from start to end.
    pub fn seconds(self) -> f64 {
        (self.to - self.from) as f64 / 1000.0
    }

    /// Whether a time is in it.
    pub fn contains(self, at: i64) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// The same window so many days earlier.
    pub fn days_earlier(self, days: i64) -> Self {
        Self {
            from: self.from - days * DAY_MS,
            to: self.to - days * DAY_MS,
        }
    }

    /// Whether both have a time in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// In the form that [`Start::parse`] takes, to the second.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}s", in_utc(self.from), (self.to - self.from) / 1000)
    }
}

/// A time and a length, as in `14:00/30m`; without a length it is an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// In milliseconds since 1970.
    pub at: i64,
    /// In milliseconds.
    pub length: i64,
}

impl Start {
    /// Parses it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (at, length) = match text.split_once('/') {
            Some((at, length)) => (at, i64::try_from(parse_duration(length)?.as_millis()).ok()),
            None => (text, Some(DEFAULT_LENGTH_MS)),
        };
        let at = parse_time(at)?;
        let length = length.filter(|length| at.checked_add(*length).is_some());
        let length = length.ok_or_else(|| format!("{text}: this ends too late"))?;
        Ok(Self { at, length })
    }

    /// The window that begins then.
    pub fn window(self) -> Window {
        Window {
            from: self.at,
            to: self.at + self.length,
        }
    }

    /// Equal lengths before and after the time, of what was recorded.
    pub fn around(self, recorded: Window) -> (Window, Window) {
        let length = (self.length)
            .min(self.at - recorded.from)
            .min(recorded.to - self.at)
            .max(0);
        let window = |from| Window {
            from,
            to: from + length,
        };
        (window(self.at - length), window(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_a_start_and_a_length() {
        let start = |text| Start::parse(text).expect("parsed");
        let hour = start("2026-11-22 14:00").window();
        assert_eq!(hour.seconds(), 3600.0);
        let half = start("2026-11-22 14:00/30m").window();
        assert_eq!((half.from, half.seconds()), (hour.from, 1800.0));
        assert!(half.overlaps(hour) && !half.overlaps(half.days_earlier(1)));
        for wrong in ["", "2026-11-22/", "2026-11-22/soon", "14:00/-1h", "soon/1h"] {
            assert!(Start::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn windows_around_a_time_are_equally_long_and_recorded() {
        let start = Start::parse("2026-11-22 14:00/1h").expect("parsed");
        let minutes = |from: i64, to: i64| Window {
            from: start.at + from * 60_000,
            to: start.at + to * 60_000,
        };
        for (recorded, length) in [((-90, 90), 60), ((-90, 20), 20), ((-5, 20), 5), ((1, 9), 0)] {
            let around = start.around(minutes(recorded.0, recorded.1));
            assert_eq!(around, (minutes(-length, 0), minutes(0, length)));
        }
    }
}
