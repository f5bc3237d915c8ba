//! Dates and times as texts, and out of texts.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("date_format", 2, 2, Text, formatted),
    own("get_format", 2, 2, Text, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(kind, place)| {
            let place = place.to_uppercase();
            Some(
                match (kind.as_str(), place.as_str()) {
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
    own("time_format", 2, 2, Text, formatted),
];

/// A date or a time as a pattern says.
fn formatted(ctx: &Call<'_>) -> Answer {
    opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(t, f)| {
        let at = DateTime::parse(&t)
            .or_else(|| time::parse_time(&t).map(|u| DateTime::from_total(u, true)))?;
        Some(time::format(at, &f))
    }))
}

/// STR_TO_DATE: reads a text by a pattern.
fn parse(value: &str, pattern: &str) -> Option<String> {
    let mut rest = value;
    let (mut year, mut month, mut day) = (0i64, 0i64, 0i64);
    let (mut hour, mut minute, mut second, mut micros) = (0i64, 0i64, 0i64, 0i64);
    let (mut has_date, mut has_time, mut afternoon, mut fraction) = (false, false, None, false);
    let mut yearday = None;
    let number = |rest: &mut &str, most: usize| -> Option<i64> {
        let digits = rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        let n = rest.get(..digits)?.parse().ok()?;
        *rest = &rest[digits..];
        Some(n)
    };
    let word = |rest: &mut &str, names: &[&str], short: bool| -> Option<i64> {
        let lower = rest.to_lowercase();
        for (i, name) in names.iter().enumerate() {
            let name = name.to_lowercase();
            let name = if short { &name[..3] } else { &name };
            if lower.starts_with(name) {
                *rest = &rest[name.len()..];
                return Some(i as i64 + 1);
            }
        }
        None
    };
    let mut expanded = pattern
        .replace("%T", "%H:%i:%S")
        .replace("%r", "%h:%i:%S %p");
    expanded = expanded.replace("%s", "%S");
    let mut chars = expanded.chars();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if c != '%' {
            rest = rest.strip_prefix(c)?;
            continue;
        }
        match chars.next()? {
            'Y' => {
                year = number(&mut rest, 4)?;
                has_date = true;
            }
            'y' => {
                let n = number(&mut rest, 2)?;
                year = if n < 70 { 2000 + n } else { 1900 + n };
                has_date = true;
            }
            'm' | 'c' => {
                month = number(&mut rest, 2)?;
                has_date = true;
            }
            'd' | 'e' => {
                day = number(&mut rest, 2)?;
                has_date = true;
            }
            'D' => {
                day = number(&mut rest, 2)?;
                rest = rest.get(2..)?;
                has_date = true;
            }
            'j' => {
                yearday = Some(number(&mut rest, 3)?);
                has_date = true;
            }
            'M' => {
                month = word(&mut rest, &time::MONTHS, false)?;
                has_date = true;
            }
            'b' => {
                month = word(&mut rest, &time::MONTHS, true)?;
                has_date = true;
            }
            'W' => {
                word(&mut rest, &time::DAYS, false)?;
            }
            'a' => {
                word(&mut rest, &time::DAYS, true)?;
            }
            'H' | 'k' | 'h' | 'I' | 'l' => {
                hour = number(&mut rest, 2)?;
                has_time = true;
            }
            'i' => {
                minute = number(&mut rest, 2)?;
                has_time = true;
            }
            'S' => {
                second = number(&mut rest, 2)?;
                has_time = true;
            }
            'f' => {
                let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
                micros = format!("{:0<6}", rest.get(..digits)?).parse().ok()?;
                rest = &rest[digits..];
                has_time = true;
                fraction = true;
            }
            'p' => {
                let lower = rest.get(..2)?.to_lowercase();
                afternoon = Some(match lower.as_str() {
                    "am" => false,
                    "pm" => true,
                    _ => return None,
                });
                rest = &rest[2..];
            }
            '%' => rest = rest.strip_prefix('%')?,
            _ => return None,
        }
    }
    if let Some(pm) = afternoon {
        hour = hour % 12 + if pm { 12 } else { 0 };
    }
    if let Some(n) = yearday {
        (_, month, day) = time::civil_from_days(time::days_from_civil(year, 1, 1) + n - 1);
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if has_date && (!(1..=12).contains(&month) || day < 1 || day > time::days_in_month(year, month))
    {
        return None;
    }
    let clock = if fraction {
        format!("{hour:02}:{minute:02}:{second:02}.{micros:06}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    };
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match (has_date, has_time) {
        (true, true) => format!("{date} {clock}"),
        (true, false) => date,
        (false, _) => clock,
    })
}
