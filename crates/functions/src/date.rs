//! Dates and times taken apart.

use tare_mysql::date::argument::{DateMode, Parts};

use crate::interval::Instant;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("date", 1, 1, Date, |ctx| {
        opt(checked_parts(ctx, "date").map(|parts| parts.date_text()))
    }),
    renamed("day", 1, 1, Int, "dayofmonth"),
    own("dayname", 1, 1, Text, |ctx| {
        opt(checked_date(ctx, 0, "date").map(|d| time::day_name(d).to_owned()))
    }),
    own("dayofmonth", 1, 1, Int, |ctx| of_parts(ctx, |(_, _, d)| d)),
    own("dayofweek", 1, 1, Int, |ctx| {
        of_date(ctx, |d| (d.weekday() + 1) % 7 + 1)
    }),
    own("dayofyear", 1, 1, Int, |ctx| {
        of_date(ctx, |d| d.day_of_year())
    }),
    hidden("extract", 2, 2, Int, "tare_extract", extract),
    own("from_days", 1, 1, Date, |ctx| {
        let days = int(ctx, 0).filter(|n| (1..=LAST_DAY).contains(n));
        opt(days.map(|n| {
            // The year 0 has no 29th of February.
            let n = if n < 60 { n - 1 } else { n };
            let (y, m, d) = time::civil_from_days(n - 719_528);
            format!("{y:04}-{m:02}-{d:02}")
        }))
    }),
    own("hour", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 3_600_000_000)
    }),
    own("last_day", 1, 1, Date, |ctx| {
        let parts = date_parts(ctx, 0);
        if parts.is_none() {
            warn_of_moment(ctx, 0, "date");
        }
        let month = parts.map(|p| p.date).filter(|(_, month, _)| *month > 0);
        opt(month.map(|(y, m, _)| format!("{y:04}-{m:02}-{:02}", time::days_in_month(y, m))))
    }),
    own("microsecond", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u % 1_000_000)
    }),
    own("minute", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 60_000_000 % 60)
    }),
    own("month", 1, 1, Int, |ctx| of_parts(ctx, |(_, m, _)| m)),
    own("monthname", 1, 1, Text, |ctx| {
        opt(checked_date(ctx, 0, "date").map(|d| time::month_name(d).to_owned()))
    }),
    own("quarter", 1, 1, Int, |ctx| {
        of_parts(ctx, |(_, m, _)| (m + 2) / 3)
    }),
    own("second", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 1_000_000 % 60)
    }),
    own("time", 1, 1, Time, |ctx| {
        opt(checked_clock(ctx, 0).map(time::time_text))
    }),
    own("time_to_sec", 1, 1, Int, |ctx| {
        opt(checked_clock(ctx, 0).map(|u| u / 1_000_000))
    }),
    own("timestamp", 1, 2, DateTime, |ctx| {
        if ctx.len() == 1 {
            let digits = |parts: &Parts| if parts.micros % 1_000_000 == 0 { 0 } else { 6 };
            let parts = checked_parts(ctx, "datetime");
            return opt(parts.and_then(|parts| parts.text_with(digits(&parts))));
        }
        opt(date(ctx, 0).and_then(|d| {
            let by = clock(ctx, 1)?;
            Some(DateTime::from_total(d.total().checked_add(by)?, true).text())
        }))
    }),
    own("to_days", 1, 1, Int, |ctx| of_date(ctx, day_number)),
    own("to_seconds", 1, 1, Int, |ctx| {
        opt(date(ctx, 0).map(|d| day_number(d) * 86_400 + d.micros / 1_000_000))
    }),
    own("week", 1, 2, Int, week),
    own("weekday", 1, 1, Int, |ctx| of_date(ctx, |d| d.weekday())),
    own("weekofyear", 1, 1, Int, |ctx| {
        of_date(ctx, |d| time::week(d, 3))
    }),
    own("year", 1, 1, Unsigned, |ctx| match ctx.get_raw(0) {
        // As two digits.
        ValueRef::Integer(0) => Ok(Value::Integer(2000)),
        ValueRef::Real(x) if x.trunc() == 0.0 => Ok(Value::Integer(2000)),
        _ => of_parts(ctx, |(y, ..)| y),
    }),
    own("yearweek", 1, 2, Int, yearweek),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_datetime", 2, 2, |ctx| {
        let digits = int(ctx, 1).unwrap_or(0);
        opt(checked_parts(ctx, "datetime").and_then(|parts| parts.text_with(digits)))
    }),
    // A time, or a date and time, with so many digits behind the second: those of its type.
    helper("tare_fraction", 2, 2, |ctx| {
        let (Some(value), Some(digits)) = (text(ctx, 0), int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        Ok(Value::Text(with_fraction(
            &value,
            digits.clamp(0, 6) as usize,
        )))
    }),
    // A text that is read as a date whose month and day may be zero. The mode refuses the zero date.
    helper("tare_date_text", 1, 1, |ctx| {
        let is_refused =
            |parts: Parts| parts.is_zero() && !DateMode::of(&ctx.session.sql_mode()).allows(&parts);
        match date_parts(ctx, 0).is_some_and(is_refused) {
            true => Ok(Value::Null),
            false => ctx.argument(0),
        }
    }),
    // A text that is compared with a date, as a date and time: the zero date if it is none.
    helper("tare_text_moment", 2, 2, |ctx| {
        let Some(text) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let parts = allowed_parts(ctx).and_then(|parts| parts.text_with(6));
        if parts.is_none() {
            let kind = if int(ctx, 1) == Some(1) {
                "date"
            } else {
                "datetime"
            };
            ctx.session.truncated(kind, text.as_bytes());
        }
        let zero = || "0000-00-00 00:00:00.000000".to_owned();
        Ok(Value::Text(parts.unwrap_or_else(zero)))
    }),
    // The first day of a YEAR.
    helper("tare_year_start", 1, 1, |ctx| match ctx.get_raw(0) {
        ValueRef::Integer(year) => Ok(format!("{year:04}-01-01").into()),
        _ => ctx.argument(0),
    }),
    helper("tare_time", 2, 2, |ctx| {
        let digits = int(ctx, 1).unwrap_or(0);
        opt(checked_clock(ctx, 0).map(|u| time::time_text_with(time::rounded(u, digits), digits)))
    }),
];

/// The text of a time, or of a date and time, with so many digits behind the second.
pub(crate) fn with_fraction(value: &str, digits: usize) -> String {
    let (seconds, fraction) = value.split_once('.').unwrap_or((value, ""));
    let fraction = &fraction[..fraction.floor_char_boundary(digits)];
    let midnight = if seconds.contains(':') {
        ""
    } else {
        " 00:00:00"
    };
    match digits {
        0 => format!("{seconds}{midnight}"),
        _ => format!("{seconds}{midnight}.{fraction:0<digits$}"),
    }
}

/// [`allowed_parts`], with a warning if there are none.
fn checked_parts(ctx: &Call<'_>, kind: &str) -> Option<Parts> {
    let parts = allowed_parts(ctx);
    if parts.is_none() {
        warn_of_moment(ctx, 0, kind);
    }
    parts
}

/// The first argument as a date that @@sql_mode allows: its month and day may be zero.
fn allowed_parts(ctx: &Call<'_>) -> Option<Parts> {
    let read = match ctx.get_raw(0) {
        // With ALLOW_INVALID_DATES a text may be a day that its month has not.
        ValueRef::Text(t) => {
            let text = str::from_utf8(t).ok()?;
            Parts::of_text(text).or_else(|| time::read::date_parts(text))
        }
        _ => date_parts(ctx, 0),
    };
    let is_allowed = |parts: &Parts| {
        parts.is_in_calendar() || DateMode::of(&ctx.session.sql_mode()).allows(parts)
    };
    read.filter(is_allowed)
}

/// A number of a date.
fn of_date(ctx: &Call<'_>, f: fn(DateTime) -> i64) -> Answer {
    opt(checked_date(ctx, 0, "date").map(f))
}

/// A number of a date whose month and day may be zero.
fn of_parts(ctx: &Call<'_>, f: fn((i64, i64, i64)) -> i64) -> Answer {
    let parts = date_parts(ctx, 0);
    if parts.is_none() {
        warn_of_moment(ctx, 0, "date");
    }
    opt(parts.map(|p| f(p.date)))
}

/// The day of 9999-12-31, as TO_DAYS has it.
const LAST_DAY: i64 = 3_652_424;

/// TO_DAYS. The year 0 has no 29th of February.
fn day_number(d: DateTime) -> i64 {
    let n = d.days + 719_528;
    if n < 60 { n + 1 } else { n }
}

/// A number of a time, which has no sign.
fn of_clock(ctx: &Call<'_>, f: fn(i64) -> i64) -> Answer {
    opt(checked_clock(ctx, 0).map(|u| f(u.abs())))
}

/// EXTRACT: a part of a date or a time, or the digits of several parts.
fn extract(ctx: &Call<'_>) -> Answer {
    let unit = text(ctx, 0).unwrap_or_default();
    // The numbers from 1 to 100 are no dates.
    let is_date = match ctx.get_raw(1) {
        ValueRef::Integer(n) => !(1..=100).contains(&n),
        ValueRef::Real(x) => x >= 0.0 && !(1.0..101.0).contains(&x),
        _ => true,
    };
    let parts = || date_parts(ctx, 1).filter(|_| is_date);
    let of_day = matches!(
        &*unit,
        "YEAR" | "QUARTER" | "MONTH" | "WEEK" | "DAY" | "YEAR_MONTH"
    );
    if of_day {
        let Some(parts) = parts() else {
            warn_of_moment(ctx, 1, "datetime");
            return Ok(Value::Null);
        };
        let (year, month, day) = parts.date;
        return Ok(match &*unit {
            "YEAR" => year.into(),
            "QUARTER" => ((month + 2) / 3).into(),
            "MONTH" => month.into(),
            "DAY" => day.into(),
            "YEAR_MONTH" => (year * 100 + month).into(),
            _ => return opt(parts.moment().map(|d| time::week(d, 0))),
        });
    }
    // An integer that is a date is one. A date and time has a day; of a time, the hours go on.
    let is_integer = matches!(ctx.get_raw(1), ValueRef::Integer(_));
    let instant = match is_integer.then(parts).flatten() {
        Some(parts) => Some(Instant::Moment(parts)),
        None => Instant::of(ctx, 1),
    };
    let (day, micros) = match instant {
        Some(Instant::Moment(at)) => (at.date.2, at.micros),
        Some(Instant::Time(micros)) => (0, micros),
        None => {
            warn_of_moment(ctx, 1, "time");
            return Ok(Value::Null);
        }
    };
    let sign = if micros < 0 { -1 } else { 1 };
    opt(clock_parts(&unit, day, micros.abs()).map(|n| n * sign))
}

/// The parts of a time, as digits.
fn clock_parts(unit: &str, day: i64, micros: i64) -> Option<i64> {
    let (h, m, s, us) = (
        micros / 3_600_000_000,
        micros / 60_000_000 % 60,
        micros / 1_000_000 % 60,
        micros % 1_000_000,
    );
    Some(match unit {
        "DAY_HOUR" => day * 100 + h,
        "DAY_MINUTE" => day * 10_000 + h * 100 + m,
        "DAY_SECOND" => day * 1_000_000 + h * 10_000 + m * 100 + s,
        "DAY_MICROSECOND" => (day * 1_000_000 + h * 10_000 + m * 100 + s) * 1_000_000 + us,
        "HOUR_MINUTE" => h * 100 + m,
        "HOUR_SECOND" => h * 10_000 + m * 100 + s,
        "HOUR_MICROSECOND" => (h * 10_000 + m * 100 + s) * 1_000_000 + us,
        "MINUTE_SECOND" => m * 100 + s,
        "MINUTE_MICROSECOND" => (m * 100 + s) * 1_000_000 + us,
        "SECOND_MICROSECOND" => s * 1_000_000 + us,
        "HOUR" => h,
        "MINUTE" => m,
        "SECOND" => s,
        "MICROSECOND" => us,
        _ => return None,
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

/// The mode of WEEK; NULL is 0.
fn mode(ctx: &Call<'_>) -> i64 {
    let mode = if ctx.len() == 1 { None } else { int(ctx, 1) };
    mode.filter(|n| *n as u32 != u32::MAX).unwrap_or(0) & 7
}

fn week(ctx: &Call<'_>) -> Answer {
    opt(checked_date(ctx, 0, "date").map(|d| time::week(d, mode(ctx))))
}

fn yearweek(ctx: &Call<'_>) -> Answer {
    opt(checked_date(ctx, 0, "date").map(|d| year_week(d, mode(ctx))))
}
