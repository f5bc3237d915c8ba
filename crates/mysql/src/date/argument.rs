//! What a function reads as a date or a time: texts with anything behind them, numbers, and dates of which a part
//! is zero.

use super::{DAY_US, DateTime, days_from_civil, days_in_month, rounded, short, time_text_with};

/// The longest TIME: 838:59:59.
pub const MAX_TIME_MICROS: i64 = (838 * 3600 + 59 * 60 + 59) * 1_000_000;

/// The same as a number, hhmmss. Larger numbers are dates and times.
pub const MAX_TIME_NUMBER: u64 = 8_385_959;

/// The day of 1970-01-01, as TO_DAYS counts.
const EPOCH_DAY: i64 = 719_528;

/// A date and time whose month and day may be zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// Year, month and day.
    pub date: (i64, i64, i64),
    /// Microseconds of the day.
    pub micros: i64,
    /// Whether there is a time of day.
    pub has_time: bool,
}

/// Which dates outside of the calendar a sql_mode allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DateMode {
    /// NO_ZERO_DATE is not set: `0000-00-00`.
    zero: bool,
    /// NO_ZERO_IN_DATE is not set: `2026-00-10`.
    zero_in_date: bool,
    /// ALLOW_INVALID_DATES: `2026-02-30`.
    invalid: bool,
}

impl DateMode {
    /// Out of the text of @@sql_mode.
    pub fn of(sql_mode: &str) -> Self {
        let has = |name: &str| sql_mode.split(',').any(|mode| mode == name);
        Self {
            zero: !has("NO_ZERO_DATE"),
            zero_in_date: !has("NO_ZERO_IN_DATE"),
            invalid: has("ALLOW_INVALID_DATES"),
        }
    }

    /// Whether the mode allows a date.
    pub fn allows(self, parts: &Parts) -> bool {
        let (_, month, day) = parts.date;
        match parts.is_in_calendar() {
            true => true,
            false if parts.is_zero() => self.zero,
            false if month == 0 || day == 0 => self.zero_in_date,
            false => self.invalid,
        }
    }
}

impl From<DateTime> for Parts {
    fn from(at: DateTime) -> Self {
        Self {
            date: at.civil(),
            micros: at.micros,
            has_time: at.has_time,
        }
    }
}

impl Parts {
    /// A day of the calendar, or one with a zero as its month or day, and a time of the clock.
    fn checked(date: (i64, i64, i64), clock: (i64, i64, i64), fraction: i64) -> Option<Self> {
        let parts = Self::of_clock(date, clock, fraction)?;
        let (_, month, day) = date;
        (month == 0 || day == 0 || parts.is_in_calendar()).then_some(parts)
    }

    /// The same, and also a day that its month has not.
    pub(super) fn of_clock(
        date: (i64, i64, i64),
        clock: (i64, i64, i64),
        fraction: i64,
    ) -> Option<Self> {
        let ((year, month, day), (hour, minute, second)) = (date, clock);
        let fits = (0..=9999).contains(&year)
            && (0..=12).contains(&month)
            && (0..=31).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second);
        fits.then(|| Self {
            date,
            micros: ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction,
            has_time: false,
        })
    }

    /// Whether it is a day of the calendar.
    pub fn is_in_calendar(&self) -> bool {
        let (year, month, day) = self.date;
        month > 0 && (1..=days_in_month(year, month)).contains(&day)
    }

    /// The moment; `None` if it is not in the calendar.
    pub fn moment(&self) -> Option<DateTime> {
        let (year, month, day) = self.date;
        self.is_in_calendar().then(|| {
            let total = days_from_civil(year, month, day) * DAY_US + self.micros;
            DateTime::from_total(total, self.has_time)
        })
    }

    /// Whether it is 0000-00-00.
    pub fn is_zero(&self) -> bool {
        self.date == (0, 0, 0)
    }

    /// `2026-00-10`.
    pub fn date_text(&self) -> String {
        let (year, month, day) = self.date;
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `2026-00-10 08:09:10`, rounded to so many digits behind the second; `None` if the next day is no date.
    pub fn text_with(&self, digits: i64) -> Option<String> {
        if let Some(moment) = self.moment() {
            let rounded = DateTime::from_total(rounded(moment.total(), digits), true);
            return (rounded.civil().0 <= 9999).then(|| rounded.text_with(digits));
        }
        let time = rounded(self.micros, digits);
        let clock = time_text_with(time, digits);
        (time < DAY_US).then(|| format!("{} {clock}", self.date_text()))
    }

    /// Reads a number: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss.
    pub fn of_number(n: i64, fraction: i64) -> Option<Self> {
        const TIME: i64 = 1_000_000;
        let is_date = n <= 99_991_231;
        let n = match n {
            0 => 0,
            1..=691_231 => (n + 20_000_000) * TIME,
            700_000..=991_231 => (n + 19_000_000) * TIME,
            10_000_000..=99_991_231 => n * TIME,
            101_000_000..=691_231_235_959 => n + 20_000_000 * TIME,
            700_101_000_000..=991_231_235_959 => n + 19_000_000 * TIME,
            10_000_000_000_000..=99_991_231_235_959 => n,
            _ => return None,
        };
        let (date, clock) = (n / TIME, n % TIME);
        let split = |n: i64| (n / 10_000, n / 100 % 100, n % 100);
        // A number without a time has no fraction of a second.
        let has_time = n >= 10_000_000_000_000 && !is_date;
        let fraction = if has_time { fraction } else { 0 };
        // A number's day may be one that its month has not: MONTH(260230) is 2.
        let mut parts = Self::of_clock(split(date), split(clock), fraction)?;
        parts.has_time = has_time;
        Some(parts)
    }

    /// Microseconds since 1970, also of a date outside of the calendar: the day before the first of a month, or
    /// before the first month.
    pub fn total(&self) -> i64 {
        if let Some(moment) = self.moment() {
            return moment.total();
        }
        let (year, month, day) = self.date;
        let days = match (year, month) {
            // The zero date is the day 0.
            (0, 0) => -EPOCH_DAY,
            (_, 0) => days_from_civil(year, 1, 1) - 31 + day - 1,
            _ => days_from_civil(year, month, 1) + day - 1,
        };
        days * DAY_US + self.micros
    }

    /// Reads a text, up to what is no part of a date and time.
    pub fn of_text(text: &str) -> Option<Self> {
        let text = short(text)?;
        let bytes = text.as_bytes();
        let run = digits(bytes);
        if run == 0 {
            return None;
        }
        match bytes.get(run) {
            None | Some(b'.') => Self::of_digits(&text[..run], &text[run..]),
            Some(b'T') if run >= 6 => {
                let date = Self::of_digits(&text[..run], "")?;
                let clock = &text[run + 1..];
                let n = digits(clock.as_bytes());
                match clock.as_bytes().get(n) {
                    Some(b':') => Self::of_fields(&format!("{} {clock}", date.date_text())),
                    _ => Self::of_digits(&format!("{}{}", &text[..run], &clock[..n]), &clock[n..]),
                }
            }
            _ => Self::of_fields(text),
        }
    }

    /// Digits without separators: the first two or four are the year.
    fn of_digits(all: &str, rest: &str) -> Option<Self> {
        let years = match all.len() {
            4 | 8 | 14.. => 4,
            _ => 2,
        };
        let mut fields = [0; 6];
        let mut at = 0;
        let mut count = 0;
        for (i, field) in fields.iter_mut().enumerate() {
            let width = if i == 0 { years } else { 2 };
            let part = &all[at.min(all.len())..(at + width).min(all.len())];
            if part.is_empty() {
                break;
            }
            *field = part.parse().ok()?;
            at += width;
            count += 1;
        }
        let fraction = match rest.strip_prefix('.') {
            // What follows a point continues a date that is not complete.
            Some(_) if count < 6 => return Self::of_fields(&format!("{all}{rest}")),
            Some(rest) => micros(rest),
            None => 0,
        };
        Self::of_parts(fields, count, years, fraction)
    }

    /// Fields that punctuation, spaces or a T separate.
    fn of_fields(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (mut fields, mut count, mut at) = ([0; 6], 0, 0);
        let mut years = 2;
        while count < 6 {
            let run = digits(&bytes[at..]);
            if run == 0 {
                break;
            }
            if count == 0 {
                years = run;
            }
            if run > if count == 0 { 4 } else { 2 } {
                return None;
            }
            fields[count] = text[at..at + run].parse().ok()?;
            count += 1;
            at += run;
            let space = |b: &u8| b.is_ascii_whitespace() || *b == b'T';
            let separator = |b: &u8| match count {
                3 => space(b) || b.is_ascii_punctuation(),
                6 => false,
                _ => b.is_ascii_punctuation(),
            };
            let skip = bytes[at..].iter().take_while(|b| separator(b)).count();
            if skip == 0 {
                break;
            }
            at += skip;
        }
        let fraction = match text[at..].strip_prefix('.') {
            Some(rest) if count == 6 => micros(rest),
            _ => 0,
        };
        Self::of_parts(fields, count, years, fraction)
    }

    fn of_parts(fields: [i64; 6], count: usize, years: usize, fraction: i64) -> Option<Self> {
        if count < 3 {
            return None;
        }
        let [mut year, month, day, hour, minute, second] = fields;
        // 00-00-00 is the zero date.
        if years <= 2 && (year, month, day) != (0, 0, 0) {
            year += if year < 70 { 2000 } else { 1900 };
        }
        let mut parts = Self::checked((year, month, day), (hour, minute, second), fraction)?;
        parts.has_time = count > 3;
        Some(parts)
    }
}

/// How many digits a text begins with.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Microseconds of the digits that a text begins with, rounded.
fn micros(text: &str) -> i64 {
    let n = digits(text.as_bytes());
    let padded: String = text[..n].chars().chain("0000000".chars()).take(7).collect();
    (padded.parse::<i64>().unwrap_or(0) + 5) / 10
}

/// Reads a number as a time: hhmmss, or a date and time. `None` if it is none.
pub fn time_of_number(n: i64, fraction: i64) -> Option<i64> {
    let (sign, n) = (n.signum(), n.unsigned_abs());
    if n > MAX_TIME_NUMBER {
        let moment = Parts::of_number(i64::try_from(n).ok()?, fraction);
        return moment
            .filter(|_| n >= 10_000_000_000 && sign > 0)
            .map(|m| m.micros);
    }
    let n = n as i64;
    let (hour, minute, second) = (n / 10_000, n / 100 % 100, n % 100);
    if minute > 59 || second > 59 {
        return None;
    }
    let micros = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
    Some(if sign < 0 { -micros } else { micros })
}

/// Reads a text as a time, up to what is no part of one: `1:02:03.5`, `-25:00`, `2 10:00`, `10203`; of a date and
/// time, its time. A time beyond the longest one is the longest one.
pub fn time_of_text(text: &str) -> Option<i64> {
    let text = short(text)?;
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let bytes = body.as_bytes();
    let run = digits(bytes);
    if !negative
        && body.len() >= 12
        && let Some(moment) = Parts::of_text(body).filter(|m| m.has_time)
    {
        return Some(moment.micros);
    }
    // Neither a word nor a number with an exponent is a time.
    let has_exponent = matches!(bytes.get(run), Some(b'e' | b'E'));
    if run == 0 && bytes.first() != Some(&b'.') || has_exponent {
        return None;
    }
    let number = |text: &str| text.parse::<i64>().unwrap_or(i64::MAX / 1_000_000_000_000);
    let first = if run == 0 { 0 } else { number(&body[..run]) };
    let mut at = run;
    let mut days = 0;
    let spaces = bytes[at..]
        .iter()
        .take_while(|b| b.is_ascii_whitespace())
        .count();
    let has_days = spaces > 0 && bytes.get(at + spaces).is_some_and(u8::is_ascii_digit);
    let mut fields = Vec::new();
    match has_days {
        true => {
            days = first;
            at += spaces;
        }
        false => fields.push(first),
    }
    while fields.len() < 3 {
        if !fields.is_empty() {
            if bytes.get(at) != Some(&b':') || !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                break;
            }
            at += 1;
        }
        let run = digits(&bytes[at..]);
        if run == 0 {
            break;
        }
        fields.push(number(&body[at..at + run]));
        at += run;
    }
    let (hour, minute, second) = match fields.as_slice() {
        [all] if !has_days => (all / 10_000, all / 100 % 100, all % 100),
        [hour] => (*hour, 0, 0),
        [hour, minute] => (*hour, *minute, 0),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return None,
    };
    if minute > 59 || second > 59 {
        return None;
    }
    let fraction = body[at..].strip_prefix('.').map_or(0, micros);
    let hours = days.saturating_mul(24).saturating_add(hour).min(1 << 20);
    let total = ((hours * 60 + minute) * 60 + second) * 1_000_000 + fraction;
    let total = total.min(MAX_TIME_MICROS);
    Some(if negative { -total } else { total })
}
