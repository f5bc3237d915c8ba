//! DATE_FORMAT, and the names of days and months.

use super::DateTime;
use super::argument::Parts;
use super::week::{week, week_and_year};

/// The months' names.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The days' names, from Monday on.
pub const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// DAYNAME.
pub fn day_name(at: DateTime) -> &'static str {
    DAYS[at.weekday() as usize]
}

/// MONTHNAME.
pub fn month_name(at: DateTime) -> &'static str {
    MONTHS[(at.civil().1 - 1) as usize]
}

/// DATE_FORMAT. `None` if the date has no part that the pattern has: a month that is zero has no name, and a date
/// outside of the calendar no day of the week.
pub fn format(at: &Parts, pattern: &str) -> Option<String> {
    expand(pattern, |letter| {
        clock_part(at.micros, letter).or_else(|| date_part(at, letter))
    })
}

/// TIME_FORMAT: of a time, which may be negative or of more than a day. `None` if a part of the pattern is one of a
/// date.
pub fn format_time(micros: i64, pattern: &str) -> Option<String> {
    let expanded = expand(pattern, |letter| {
        Some(match letter {
            'Y' => "0000".into(),
            'y' | 'm' | 'd' => "00".into(),
            'c' | 'e' => "0".into(),
            'a' | 'b' | 'D' | 'j' | 'M' | 'U' | 'u' | 'V' | 'v' | 'W' | 'w' | 'X' | 'x' => {
                return None;
            }
            _ => clock_part(micros.abs(), letter).unwrap_or_else(|| letter.to_string()),
        })
    })?;
    let sign = if micros < 0 { "-" } else { "" };
    Some(format!("{sign}{expanded}"))
}

/// Replaces each `%` and the letter behind it by the letter's part. `None`: a part is `None`.
fn expand(pattern: &str, part: impl Fn(char) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(letter) = chars.next() else { break };
        out.push_str(&part(letter)?);
    }
    Some(out)
}

/// The part of a time that a letter stands for, in microseconds from 0 on. `None`: it is no letter of a time.
fn clock_part(micros: i64, letter: char) -> Option<String> {
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    Some(match letter {
        'H' => format!("{hour:02}"),
        'k' => hour.to_string(),
        'h' | 'I' => format!("{hour12:02}"),
        'l' => hour12.to_string(),
        'i' => format!("{minute:02}"),
        's' | 'S' => format!("{second:02}"),
        'f' => format!("{:06}", micros % 1_000_000),
        'p' => half.into(),
        'r' => format!("{hour12:02}:{minute:02}:{second:02} {half}"),
        'T' => format!("{hour:02}:{minute:02}:{second:02}"),
        _ => return None,
    })
}

/// The part of a date that a letter stands for; another letter stands for itself. `None`: the date has no such part.
fn date_part(date: &Parts, letter: char) -> Option<String> {
    let (year, month, day) = date.date;
    let month_name = || MONTHS.get(usize::try_from(month - 1).ok()?);
    Some(match letter {
        'Y' => format!("{year:04}"),
        'y' => format!("{:02}", year % 100),
        'm' => format!("{month:02}"),
        'c' => month.to_string(),
        'M' => month_name()?.to_string(),
        'b' => month_name()?[..3].into(),
        'd' => format!("{day:02}"),
        'e' => day.to_string(),
        'D' => {
            let ending = match (day % 10, day) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{day}{ending}")
        }
        'j' => format!("{:03}", date.moment()?.day_of_year()),
        'W' => day_name(date.moment()?).into(),
        'a' => day_name(date.moment()?)[..3].into(),
        'w' => ((date.moment()?.weekday() + 1) % 7).to_string(),
        'U' => format!("{:02}", week(date.moment()?, 0)),
        'v' => format!("{:02}", week(date.moment()?, 3)),
        'u' => format!("{:02}", week(date.moment()?, 1)),
        'V' => format!("{:02}", week(date.moment()?, 2)),
        'x' => format!("{:04}", week_and_year(date.moment()?, 3).1),
        'X' => format!("{:04}", week_and_year(date.moment()?, 2).1),
        other => other.to_string(),
    })
}
