//! What MySQL reads as a date or a time on its way into a column.

use super::argument::Parts;
use super::{DateTime, short};

/// Microseconds of a fraction's digits; the seventh decides how they are rounded.
fn micros(digits: &str) -> Option<i64> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let padded: String = digits.chars().chain("0000000".chars()).take(7).collect();
    Some((padded.parse::<i64>().ok()? + 5) / 10)
}

/// Two digits are a year from 1970 to 2069.
fn year(digits: &str) -> Option<i64> {
    let n: i64 = digits.parse().ok()?;
    Some(match digits.len() {
        1 | 2 if n < 70 => n + 2000,
        1 | 2 => n + 1900,
        3 | 4 => n,
        _ => return None,
    })
}

/// Year, month, day, hour, minute, second and microsecond that are on the clock.
fn checked(
    date: (i64, i64, i64),
    time: (i64, i64, i64),
    micros: i64,
    has_time: bool,
) -> Option<Parts> {
    let parts = Parts::of_clock(date, time, micros)?;
    Some(Parts { has_time, ..parts })
}

/// A date with or without a time that is in the calendar.
pub fn date_and_time(text: &str) -> Option<DateTime> {
    date_parts(text)?.moment()
}

/// A date with or without a time: `2020-1-6`, `2020/01/06 1:2:3.5`, `20200106`, `200106010203`. Its month and
/// day may be zero, and its day up to 31 in each month.
pub fn date_parts(text: &str) -> Option<Parts> {
    let text = short(text)?;
    let (main, fraction) = match text.rfind('.') {
        Some(at) if text[..at].contains(':') || text[..at].len() >= 12 => {
            (&text[..at], &text[at + 1..])
        }
        _ => (text, ""),
    };
    let fraction = micros(fraction)?;
    if main.bytes().all(|b| b.is_ascii_digit()) {
        return digits(main, fraction);
    }
    let mut parts = Vec::new();
    let mut rest = main;
    let mut has_time = false;
    while !rest.is_empty() {
        let end = rest.bytes().take_while(u8::is_ascii_digit).count();
        if end == 0 || parts.len() == 6 {
            return None;
        }
        parts.push(&rest[..end]);
        rest = &rest[end..];
        if parts.len() == 3 && !rest.is_empty() {
            // Between date and time: spaces, or a T.
            let trimmed = rest.trim_start_matches([' ', 'T']);
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
            has_time = true;
        } else if let Some(c) = rest.chars().next() {
            if !c.is_ascii_punctuation() {
                return None;
            }
            rest = &rest[c.len_utf8()..];
            if rest.is_empty() {
                return None;
            }
        }
    }
    let number = |i: usize| parts.get(i).map_or(Some(0), |p| p.parse::<i64>().ok());
    if parts.len() < 3 {
        return None;
    }
    let mut date = (year(parts[0])?, number(1)?, number(2)?);
    if date == (2000, 0, 0) && parts[0].len() <= 2 {
        date = (0, 0, 0);
    }
    checked(
        date,
        (number(3)?, number(4)?, number(5)?),
        fraction,
        has_time,
    )
}

/// A text that has only digits: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss. A number has no leading zeros.
fn digits(text: &str, fraction: i64) -> Option<Parts> {
    let padded = match text.len() {
        5 | 7 | 11 | 13 => format!("0{text}"),
        _ => text.to_owned(),
    };
    let years = match padded.len() {
        6 | 12 => 2,
        8 | 14 => 4,
        _ => return None,
    };
    let two = |i: usize| {
        padded
            .get(years + 2 * i..years + 2 * i + 2)
            .map_or(Some(0), |p| p.parse().ok())
    };
    let date = (year(&padded[..years])?, two(0)?, two(1)?);
    checked(
        date,
        (two(2)?, two(3)?, two(4)?),
        fraction,
        padded.len() > 8,
    )
}

/// A time in microseconds: `1:02:03.5`, `-25:00`, `2 10:00:00`, `10203`; of a date and time, its time.
pub fn time_of(text: &str) -> Option<i64> {
    let text = short(text)?;
    if let Some(datetime) = date_parts(text)
        && datetime.has_time
        && !text.starts_with('-')
        && text.len() >= 12
    {
        return Some(datetime.micros);
    }
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (main, fraction) = body.split_once('.').unwrap_or((body, ""));
    let fraction = micros(fraction)?;
    let (days, clock) = match main.split_once(' ') {
        Some((days, clock)) => (days.parse::<i64>().ok()?, clock.trim_start()),
        None => (0, main),
    };
    if days > 34 {
        return None;
    }
    let parts: Vec<&str> = clock.split(':').collect();
    if !parts
        .iter()
        .all(|p| !p.is_empty() && p.len() <= 7 && p.bytes().all(|b| b.is_ascii_digit()))
    {
        return None;
    }
    let numbers: Vec<i64> = parts.iter().filter_map(|p| p.parse().ok()).collect();
    let (hour, minute, second) = match numbers.as_slice() {
        [all] if main.contains(' ') => (*all, 0, 0),
        [all] => (all / 10_000, all / 100 % 100, all % 100),
        [h, m] => (*h, *m, 0),
        [h, m, s] => (*h, *m, *s),
        _ => return None,
    };
    if minute > 59 || second > 59 {
        return None;
    }
    let micros = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + fraction;
    Some(if negative { -micros } else { micros })
}

/// Compares two TIMEs. As texts, those with a sign or of 100 hours would be in a wrong order.
pub fn compare_times(a: &str, b: &str) -> std::cmp::Ordering {
    match (time_of(a), time_of(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_mysql_reads_them() {
        for (text, read) in [
            ("2020-02-29", Some("2020-02-29 00:00:00")),
            ("2020-02-30", None),
            ("20200105", Some("2020-01-05 00:00:00")),
            ("200105", Some("2020-01-05 00:00:00")),
            ("2020/01/06", Some("2020-01-06 00:00:00")),
            ("2020-1-7 1:2:3.5", Some("2020-01-07 01:02:03.500000")),
            ("20200105010203", Some("2020-01-05 01:02:03")),
            ("99-12-31T23:59:59", Some("1999-12-31 23:59:59")),
            ("2020-01-01 25:00:00", None),
            ("2020-01-01 00:00:00x", None),
            ("2020-01", None),
            ("", None),
            ("0", None),
            (
                &format!("2020-01-01 00:00:00.{}", "0".repeat(100)),
                Some("2020-01-01 00:00:00"),
            ),
            (&"1".repeat(60_000), None),
        ] {
            assert_eq!(
                date_and_time(text).map(|d| d.text()).as_deref(),
                read,
                "{text}"
            );
        }
    }

    #[test]
    fn times_are_read_as_mysql_reads_them() {
        for (text, seconds) in [
            ("10:20", Some(37_200)),
            ("-01:00:00", Some(-3_600)),
            ("838:59:59", Some(3_020_399)),
            ("123456", Some(45_296)),
            ("2 10:00", Some(208_800)),
            ("10:60:00", None),
            ("x", None),
            ("2020-01-01 10:00:00", Some(36_000)),
        ] {
            assert_eq!(time_of(text), seconds.map(|s| s * 1_000_000), "{text}");
        }
    }
}
