//! Formats dates and times, and parses them.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("date_format", 2, 2, Text, formatted),
    own("get_format", 2, 2, Text, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(kind, place)| {
            // No location has a longer name.
            let place = place.get(..place.len().min(9))?.to_uppercase();
            Some(
                match (&*kind, &*place) {
                    ("DATE", "USA") => "%m.%d.%Y",
                    ("DATE", "JIS" | "ISO") => "%Y-%m-%d",
                    ("DATE", "EUR") => "%d.%m.%Y",
                    ("DATE", "INTERNAL") => "%Y%m%d",
                    ("DATETIME", "USA" | "EUR") => "%Y-%m-%d %H.%i.%s",
                    ("DATETIME", "JIS" | "ISO") => "%Y-%m-%d %H:%i:%s",
                    ("DATETIME", "INTERNAL") => "%Y%m%d%H%i%s",
                    ("TIME", "USA") => "%h:%i:%s %p",
                    ("TIME", "JIS" | "ISO") => "%H:%i:%s",
                    ("TIME", "EUR") => "%H.%i.%s",
                    ("TIME", "INTERNAL") => "%H%i%s",
                    _ => return None,
                }
                .to_owned(),
            )
        }))
    }),
    own("str_to_date", 2, 2, Formatted, |ctx| {
        opt(text(ctx, 0)
            .zip(text(ctx, 1))
            .and_then(|(value, pattern)| parse(&value, &pattern)))
    }),
    own("time_format", 2, 2, Text, |ctx| {
        let arguments = clock(ctx, 0)
            .zip(text(ctx, 1))
            .filter(|(_, f)| !f.is_empty());
        opt(arguments.and_then(|(micros, f)| time::format_time(micros, &f)))
    }),
];

/// A date in a format.
fn formatted(ctx: &Call<'_>) -> Answer {
    let parts = date_parts(ctx, 0);
    if parts.is_none() {
        warn_of_moment(ctx, 0, "datetime");
    }
    let arguments = parts.zip(text(ctx, 1)).filter(|(_, f)| !f.is_empty());
    opt(arguments.and_then(|(at, f)| time::format(&at, &f)))
}

/// STR_TO_DATE: parses a text by a format.
fn parse(value: &str, pattern: &str) -> Option<String> {
    let mut reading = Reading {
        rest: value,
        ..Reading::default()
    };
    reading.pattern(pattern)?;
    // What is behind the end of the text counts as zero.
    let has = |letters: &str| {
        let mut parts = pattern.split('%').skip(1);
        parts.any(|part| part.starts_with(|letter| letters.contains(letter)))
    };
    reading.has_date = has("YymcMbdeDj");
    reading.has_time = has("HkhIliSsfTrp");
    reading.text()
}

/// The parsed parts, and the rest of the text.
#[derive(Default)]
struct Reading<'t> {
    rest: &'t str,
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    /// %j.
    yearday: Option<i64>,
    /// The hour is one of twelve.
    has_half: bool,
    /// %p.
    afternoon: Option<bool>,
    has_date: bool,
    has_time: bool,
    has_micros: bool,
}

impl Reading<'_> {
    /// Parses by a format; `None` if the text does not match.
    fn pattern(&mut self, pattern: &str) -> Option<()> {
        let mut chars = pattern.chars();
        if pattern.is_empty() {
            return None;
        }
        while let Some(c) = chars.next() {
            // What a text lacks at its end is zero.
            if self.rest.trim_start().is_empty() {
                break;
            }
            if c.is_whitespace() {
                self.rest = self.rest.trim_start();
            } else if c == '%' {
                self.part(chars.next()?)?;
            } else {
                self.rest = self.rest.strip_prefix(c)?;
            }
        }
        Some(())
    }

    /// Parses the part of the letter after `%`; `None` if the text does not match.
    fn part(&mut self, letter: char) -> Option<()> {
        match letter {
            'Y' => self.year = self.number(4)?,
            'y' => {
                let n = self.number(2)?;
                self.year = if n < 70 { 2000 + n } else { 1900 + n };
            }
            'm' | 'c' => self.month = self.number(2)?,
            'M' => self.month = self.word(&time::MONTHS, false)?,
            'b' => self.month = self.word(&time::MONTHS, true)?,
            'd' | 'e' => self.day = self.number(2)?,
            'D' => {
                self.day = self.number(2)?;
                // 1st, 2nd, 3rd.
                self.rest = self.rest.get(2..)?;
            }
            'j' => self.yearday = Some(self.number(3)?),
            'W' => _ = self.word(&time::DAYS, false)?,
            'a' => _ = self.word(&time::DAYS, true)?,
            'H' | 'k' => self.hour = self.number(2)?,
            'h' | 'I' | 'l' => {
                self.hour = self.number(2)?;
                self.has_half = true;
            }
            'i' => self.minute = self.number(2)?,
            'S' | 's' => self.second = self.number(2)?,
            'f' => {
                let fraction = self.digits(6)?;
                self.micros = format!("{fraction:0<6}").parse().ok()?;
                self.has_micros = true;
            }
            'p' => {
                self.afternoon = Some(match self.rest.get(..2)?.to_lowercase().as_str() {
                    "am" => false,
                    "pm" => true,
                    _ => return None,
                });
                self.rest = &self.rest[2..];
            }
            'T' => return self.pattern("%H:%i:%S"),
            'r' => return self.pattern("%h:%i:%S %p"),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            _ => return None,
        }
        Some(())
    }

    /// At most so many digits.
    fn digits(&mut self, most: usize) -> Option<&str> {
        let digits = self.rest.bytes().take(most);
        let digits = digits.take_while(u8::is_ascii_digit).count();
        let (part, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        Some(part)
    }

    fn number(&mut self, most: usize) -> Option<i64> {
        self.digits(most)?.parse().ok()
    }

    /// The position of a name in a list, from 1; of its first three letters if `short`.
    fn word(&mut self, names: &[&str], short: bool) -> Option<i64> {
        for (i, name) in names.iter().enumerate() {
            let name = if short { &name[..3] } else { name };
            let part = self.rest.get(..name.len());
            if part.is_some_and(|part| part.eq_ignore_ascii_case(name)) {
                self.rest = &self.rest[name.len()..];
                return Some(i as i64 + 1);
            }
        }
        None
    }

    /// The date, the time or both; `None` if there is no such day or time.
    fn text(mut self) -> Option<String> {
        if self.has_half && !(1..=12).contains(&self.hour) {
            return None;
        }
        if let Some(afternoon) = self.afternoon {
            self.hour = self.hour % 12 + if afternoon { 12 } else { 0 };
        }
        if let Some(n) = self.yearday {
            let first = time::days_from_civil(self.year, 1, 1);
            (_, self.month, self.day) = time::civil_from_days(first + n - 1);
        }
        let (year, month, day) = (self.year, self.month, self.day);
        let (hour, minute, second) = (self.hour, self.minute, self.second);
        let is_time = hour <= 23 && minute <= 59 && second <= 59;
        let is_date =
            (1..=12).contains(&month) && (1..=time::days_in_month(year, month)).contains(&day);
        if !is_time || self.has_date && !is_date {
            return None;
        }
        let mut clock = format!("{hour:02}:{minute:02}:{second:02}");
        if self.has_micros {
            clock.push_str(&format!(".{:06}", self.micros));
        }
        let date = format!("{year:04}-{month:02}-{day:02}");
        Some(match (self.has_date, self.has_time) {
            (true, true) => format!("{date} {clock}"),
            (true, false) => date,
            (false, _) => clock,
        })
    }
}
