//! DATE_FORMAT of dates outside of the calendar.

use super::argument::Parts;
use super::format::{MONTHS, clock_part, expand, format, ordinal};

/// DATE_FORMAT of a date whose month or day may be zero. `None`: the pattern has a part that such a date has not.
pub fn format_parts(parts: &Parts, pattern: &str) -> Option<String> {
    if let Some(moment) = parts.moment() {
        return Some(format(moment, pattern));
    }
    let (year, month, day) = parts.date;
    let name = || MONTHS.get(usize::try_from(month - 1).ok()?);
    expand(pattern, |letter| {
        Some(match letter {
            'Y' => format!("{year:04}"),
            'y' => format!("{:02}", year % 100),
            'm' => format!("{month:02}"),
            'c' => month.to_string(),
            'M' => name()?.to_string(),
            'b' => name()?[..3].to_owned(),
            'd' => format!("{day:02}"),
            'e' => day.to_string(),
            'D' => ordinal(day),
            'a' | 'j' | 'U' | 'u' | 'V' | 'v' | 'W' | 'w' | 'X' | 'x' => return None,
            _ => clock_part(parts.micros, letter).unwrap_or_else(|| letter.to_string()),
        })
    })
}
