//! Dates and times out of texts and numbers, and sums of times.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use tare_mysql::date::{self as time, DateTime};

use super::{date, fresh, int, opt, pure, real, text};

/// Microseconds (or months) of a composite interval: `'1:30'` MINUTE_SECOND.
fn interval(unit: &str, value: &str) -> Option<i64> {
    let negative = value.trim_start().starts_with('-');
    let mut numbers: Vec<i64> = value
        .split(|c: char| !c.is_ascii_digit())
        .filter(|p| !p.is_empty())
        .map(|p| p.parse().unwrap_or(0))
        .collect();
    if unit.ends_with("MICROSECOND")
        && let Some(last) = value.rsplit(|c: char| !c.is_ascii_digit()).next()
        && let Some(n) = numbers.last_mut()
    {
        // Digits of a fraction: .5 is half a second.
        *n = format!("{last:0<6}").get(..6)?.parse().ok()?;
    }
    const DAY: i64 = 86_400_000_000;
    const HOUR: i64 = 3_600_000_000;
    const MINUTE: i64 = 60_000_000;
    const SECOND: i64 = 1_000_000;
    let parts: &[i64] = match unit {
        "SECOND_MICROSECOND" => &[SECOND, 1],
        "MINUTE_MICROSECOND" => &[MINUTE, SECOND, 1],
        "MINUTE_SECOND" => &[MINUTE, SECOND],
        "HOUR_MICROSECOND" => &[HOUR, MINUTE, SECOND, 1],
        "HOUR_SECOND" => &[HOUR, MINUTE, SECOND],
        "HOUR_MINUTE" => &[HOUR, MINUTE],
        "DAY_MICROSECOND" => &[DAY, HOUR, MINUTE, SECOND, 1],
        "DAY_SECOND" => &[DAY, HOUR, MINUTE, SECOND],
        "DAY_MINUTE" => &[DAY, HOUR, MINUTE],
        "DAY_HOUR" => &[DAY, HOUR],
        "YEAR_MONTH" => &[12, 1],
        _ => return None,
    };
    // Fewer numbers than parts are the last ones.
    let skip = parts.len().checked_sub(numbers.len())?;
    let mut sum = 0i64;
    for (n, part) in numbers.iter().zip(&parts[skip..]) {
        sum = sum.checked_add(n.checked_mul(*part)?)?;
    }
    Some(if negative { -sum } else { sum })
}

/// The parts of EXTRACT's composite units, as digits.
fn extract(unit: &str, d: Option<DateTime>, micros: i64) -> Option<i64> {
    let (h, m, s, us) = (
        micros / 3_600_000_000,
        micros / 60_000_000 % 60,
        micros / 1_000_000 % 60,
        micros % 1_000_000,
    );
    let day = |d: Option<DateTime>| d.map_or(0, |d| d.civil().2);
    Some(match unit {
        "YEAR_MONTH" => d.map(|d| d.civil().0 * 100 + d.civil().1)?,
        "DAY_HOUR" => day(d) * 100 + h,
        "DAY_MINUTE" => day(d) * 10_000 + h * 100 + m,
        "DAY_SECOND" => day(d) * 1_000_000 + h * 10_000 + m * 100 + s,
        "DAY_MICROSECOND" => (day(d) * 1_000_000 + h * 10_000 + m * 100 + s) * 1_000_000 + us,
        "HOUR_MINUTE" => h * 100 + m,
        "HOUR_SECOND" => h * 10_000 + m * 100 + s,
        "HOUR_MICROSECOND" => (h * 10_000 + m * 100 + s) * 1_000_000 + us,
        "MINUTE_SECOND" => m * 100 + s,
        "MINUTE_MICROSECOND" => (m * 100 + s) * 1_000_000 + us,
        "SECOND_MICROSECOND" => s * 1_000_000 + us,
        "YEAR" => d?.civil().0,
        "QUARTER" => (d?.civil().1 + 2) / 3,
        "MONTH" => d?.civil().1,
        "WEEK" => time::week(d?, 0),
        "DAY" => d?.civil().2,
        "HOUR" => h,
        "MINUTE" => m,
        "SECOND" => s,
        "MICROSECOND" => us,
        _ => return None,
    })
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

/// `+02:00` in seconds.
fn zone(name: &str, at: i64) -> Option<i64> {
    match name {
        "SYSTEM" => Some(time::utc_offset(at)),
        "UTC" | "GMT" => Some(0),
        _ => {
            let (sign, rest) = match name.split_at_checked(1)? {
                ("+", rest) => (1, rest),
                ("-", rest) => (-1, rest),
                _ => return None,
            };
            let (h, m) = rest.split_once(':')?;
            let (h, m): (i64, i64) = (h.parse().ok()?, m.parse().ok()?);
            (h <= 14 && m < 60).then_some(sign * (h * 3600 + m * 60))
        }
    }
}

fn period(n: i64) -> i64 {
    let (year, month) = (n / 100, n % 100);
    let year = match year {
        0..70 => 2000 + year,
        70..100 => 1900 + year,
        _ => year,
    };
    year * 12 + month - 1
}

pub(super) fn calendar(db: &Connection) -> Result<()> {
    pure(db, "tare_interval", 2, |ctx| {
        opt(text(ctx, 0)
            .zip(text(ctx, 1))
            .and_then(|(unit, value)| interval(&unit, &value)))
    })?;
    pure(db, "tare_extract", 2, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(unit, t)| {
            let d = DateTime::parse(&t);
            let micros = d.map(|d| d.micros).or_else(|| time::parse_time(&t))?;
            extract(&unit, d, micros)
        }))
    })?;
    pure(db, "str_to_date", 2, |ctx| {
        opt(text(ctx, 0)
            .zip(text(ctx, 1))
            .and_then(|(value, pattern)| parse(&value, &pattern)))
    })?;
    pure(db, "from_days", 1, |ctx| {
        opt(int(ctx, 0).map(|n| {
            let (y, m, d) = time::civil_from_days(n - 719_528);
            format!("{y:04}-{m:02}-{d:02}")
        }))
    })?;
    pure(db, "to_seconds", 1, |ctx| {
        opt(date(ctx, 0).map(|d| (d.days + 719_528) * 86_400 + d.micros / 1_000_000))
    })?;
    pure(db, "makedate", 2, |ctx| {
        opt(int(ctx, 0).zip(int(ctx, 1)).and_then(|(y, n)| {
            let y = match y {
                0..70 => 2000 + y,
                70..100 => 1900 + y,
                _ => y,
            };
            (n > 0).then(|| {
                let (y, m, d) = time::civil_from_days(time::days_from_civil(y, 1, 1) + n - 1);
                format!("{y:04}-{m:02}-{d:02}")
            })
        }))
    })?;
    pure(db, "maketime", 3, |ctx| {
        let (Some(h), Some(m), Some(s)) = (int(ctx, 0), int(ctx, 1), real(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if !(0..60).contains(&m) || !(0.0..60.0).contains(&s) {
            return Ok(Value::Null);
        }
        let micros = h.abs().min(838) * 3_600_000_000 + m * 60_000_000 + (s * 1e6) as i64;
        Ok(time::time_text(if h < 0 { -micros } else { micros }).into())
    })?;
    for (name, sign) in [("addtime", 1), ("subtime", -1)] {
        pure(db, name, 2, move |ctx| {
            opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(a, b)| {
                let by = sign * time::parse_time(&b)?;
                match DateTime::parse(&a).filter(|d| d.has_time || a.contains('-')) {
                    Some(d) => Some(DateTime::from_total(d.total().checked_add(by)?, true).text()),
                    None => Some(time::time_text(time::parse_time(&a)?.checked_add(by)?)),
                }
            }))
        })?;
    }
    pure(db, "period_add", 2, |ctx| {
        opt(int(ctx, 0).zip(int(ctx, 1)).map(|(p, n)| {
            let months = period(p).saturating_add(n);
            months.div_euclid(12) * 100 + months.rem_euclid(12) + 1
        }))
    })?;
    pure(db, "period_diff", 2, |ctx| {
        opt(int(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(a, b)| period(a) - period(b)))
    })?;
    for args in [1, 2] {
        pure(db, "timestamp", args, |ctx| {
            opt(date(ctx, 0).and_then(|d| {
                let by = if ctx.len() == 2 {
                    time::parse_time(&text(ctx, 1)?)?
                } else {
                    0
                };
                Some(DateTime::from_total(d.total().checked_add(by)?, true).text())
            }))
        })?;
    }
    pure(db, "convert_tz", 3, |ctx| {
        opt(date(ctx, 0).and_then(|d| {
            let seconds = d.total().div_euclid(1_000_000);
            let from = zone(&text(ctx, 1)?, seconds)?;
            let to = zone(&text(ctx, 2)?, seconds - from)?;
            Some(DateTime::from_total(d.total() + (to - from) * 1_000_000, true).text())
        }))
    })?;
    pure(db, "yearweek", 2, |ctx| {
        opt(date(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(d, mode)| year_week(d, mode)))
    })?;
    pure(db, "yearweek", 1, |ctx| {
        opt(date(ctx, 0).map(|d| year_week(d, 0)))
    })?;
    pure(db, "get_format", 2, |ctx| {
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
    })?;
    for args in [0, 1] {
        fresh(db, "utc_time", args, |_| {
            Ok(time::time_text(DateTime::from_local(time::now_utc().0, 0).micros).into())
        })?;
    }
    fresh(db, "utc_timestamp", 1, |_| {
        let (seconds, micros) = time::now_utc();
        Ok(DateTime::from_local(seconds, micros).text().into())
    })?;
    pure(db, "tare_interval_of", -1, |ctx| {
        if matches!(ctx.get_raw(0), ValueRef::Null) {
            return Ok(Value::Integer(-1));
        }
        let x = real(ctx, 0).unwrap_or(0.0);
        let below = (1..ctx.len())
            .take_while(|&i| real(ctx, i).is_none_or(|bound| bound <= x))
            .count();
        Ok(Value::Integer(below as i64))
    })
}

/// The year that a week belongs to, and the week.
fn year_week(d: DateTime, mode: i64) -> i64 {
    // With the 2-bit, weeks are counted from 1, and the first days may belong to the last year.
    let week = time::week(d, mode | 2);
    let (year, month, _) = d.civil();
    let year = match (month, week) {
        (1, 50..) => year - 1,
        (12, 1) => year + 1,
        _ => year,
    };
    year * 100 + week
}
