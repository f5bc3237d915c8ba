//! DATE_FORMAT, and the names of days and months.

use super::DateTime;
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

/// DATE_FORMAT.
pub fn format(at: DateTime, pattern: &str) -> String {
    let ((year, month, day), (hour, minute, second, micros)) = (at.civil(), at.clock());
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let half = if hour < 12 { "AM" } else { "PM" };
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(c) = chars.next() else { break };
        let piece = match c {
            'Y' => format!("{year:04}"),
            'y' => format!("{:02}", year % 100),
            'm' => format!("{month:02}"),
            'c' => month.to_string(),
            'M' => month_name(at).into(),
            'b' => month_name(at)[..3].into(),
            'd' => format!("{day:02}"),
            'e' => day.to_string(),
            'D' => format!(
                "{day}{}",
                match (day % 10, day) {
                    (_, 11..=13) => "th",
                    (1, _) => "st",
                    (2, _) => "nd",
                    (3, _) => "rd",
                    _ => "th",
                }
            ),
            'j' => format!("{:03}", at.day_of_year()),
            'H' => format!("{hour:02}"),
            'k' => hour.to_string(),
            'h' | 'I' => format!("{hour12:02}"),
            'l' => hour12.to_string(),
            'i' => format!("{minute:02}"),
            's' | 'S' => format!("{second:02}"),
            'f' => format!("{micros:06}"),
            'p' => half.into(),
            'r' => format!("{hour12:02}:{minute:02}:{second:02} {half}"),
            'T' => format!("{hour:02}:{minute:02}:{second:02}"),
            'W' => day_name(at).into(),
            'a' => day_name(at)[..3].into(),
            'w' => ((at.weekday() + 1) % 7).to_string(),
            'U' => format!("{:02}", week(at, 0)),
            'v' => format!("{:02}", week(at, 3)),
            'u' => format!("{:02}", week(at, 1)),
            'V' => format!("{:02}", week(at, 2)),
            'x' => format!("{:04}", week_and_year(at, 3).1),
            'X' => format!("{:04}", week_and_year(at, 2).1),
            other => other.to_string(),
        };
        out.push_str(&piece);
    }
    out
}

/// TIME_FORMAT: of a time, which may be negative or of more than a day. `None` if a part of the pattern is one of a
/// date.
pub fn format_time(micros: i64, pattern: &str) -> Option<String> {
    let (negative, u) = (micros < 0, micros.abs());
    let (hour, minute, second) = (u / 3_600_000_000, u / 60_000_000 % 60, u / 1_000_000 % 60);
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    let mut out = String::new();
    if negative {
        out.push('-');
    }
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(c) = chars.next() else { break };
        let piece = match c {
            'H' => format!("{hour:02}"),
            'k' => hour.to_string(),
            'h' | 'I' => format!("{hour12:02}"),
            'l' => hour12.to_string(),
            'i' => format!("{minute:02}"),
            's' | 'S' => format!("{second:02}"),
            'f' => format!("{:06}", u % 1_000_000),
            'p' => half.into(),
            'r' => format!("{hour12:02}:{minute:02}:{second:02} {half}"),
            'T' => format!("{hour:02}:{minute:02}:{second:02}"),
            'Y' => "0000".into(),
            'y' | 'm' | 'd' => "00".into(),
            'c' | 'e' => "0".into(),
            'a' | 'b' | 'D' | 'j' | 'M' | 'U' | 'u' | 'V' | 'v' | 'W' | 'w' | 'X' | 'x' => {
                return None;
            }
            other => other.to_string(),
        };
        out.push_str(&piece);
    }
    Some(out)
}
