//! Dates and times taken apart.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("date", 1, 1, Date, |ctx| {
        opt(date(ctx, 0).map(|d| d.date_text()))
    }),
    renamed("day", 1, 1, Int, "dayofmonth"),
    own("dayname", 1, 1, Text, |ctx| {
        opt(date(ctx, 0).map(|d| time::day_name(d).to_owned()))
    }),
    own("dayofmonth", 1, 1, Int, |ctx| of_date(ctx, |d| d.civil().2)),
    own("dayofweek", 1, 1, Int, |ctx| {
        of_date(ctx, |d| (d.weekday() + 1) % 7 + 1)
    }),
    own("dayofyear", 1, 1, Int, |ctx| {
        of_date(ctx, |d| d.day_of_year())
    }),
    hidden("extract", 2, 2, Int, "tare_extract", |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(unit, t)| {
            let d = DateTime::parse(&t);
            let micros = d.map(|d| d.micros).or_else(|| time::parse_time(&t))?;
            extract(&unit, d, micros)
        }))
    }),
    own("from_days", 1, 1, Date, |ctx| {
        opt(int(ctx, 0).map(|n| {
            let (y, m, d) = time::civil_from_days(n - 719_528);
            format!("{y:04}-{m:02}-{d:02}")
        }))
    }),
    own("hour", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 3_600_000_000)
    }),
    own("last_day", 1, 1, Date, |ctx| {
        opt(date(ctx, 0).map(|d| {
            let (y, m, _) = d.civil();
            format!("{y:04}-{m:02}-{:02}", time::days_in_month(y, m))
        }))
    }),
    own("microsecond", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u % 1_000_000)
    }),
    own("minute", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 60_000_000 % 60)
    }),
    own("month", 1, 1, Int, |ctx| of_date(ctx, |d| d.civil().1)),
    own("monthname", 1, 1, Text, |ctx| {
        opt(date(ctx, 0).map(|d| time::month_name(d).to_owned()))
    }),
    own("quarter", 1, 1, Int, |ctx| {
        of_date(ctx, |d| (d.civil().1 + 2) / 3)
    }),
    own("second", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 1_000_000 % 60)
    }),
    own("time", 1, 1, Time, |ctx| {
        opt(text(ctx, 0).and_then(|t| {
            DateTime::parse(&t)
                .filter(|d| d.has_time)
                .map(|d| d.micros)
                .or_else(|| time::parse_time(&t))
                .map(time::time_text)
        }))
    }),
    own("time_to_sec", 1, 1, Int, |ctx| {
        of_clock(ctx, |u| u / 1_000_000)
    }),
    own("timestamp", 1, 2, DateTime, |ctx| {
        opt(date(ctx, 0).and_then(|d| {
            let by = if ctx.len() == 2 {
                time::parse_time(&text(ctx, 1)?)?
            } else {
                0
            };
            Some(DateTime::from_total(d.total().checked_add(by)?, true).text())
        }))
    }),
    own("to_days", 1, 1, Int, |ctx| {
        of_date(ctx, |d| d.days + 719_528)
    }),
    own("to_seconds", 1, 1, Int, |ctx| {
        opt(date(ctx, 0).map(|d| (d.days + 719_528) * 86_400 + d.micros / 1_000_000))
    }),
    own("week", 1, 2, Int, week),
    own("weekday", 1, 1, Int, |ctx| of_date(ctx, |d| d.weekday())),
    own("weekofyear", 1, 1, Int, |ctx| {
        of_date(ctx, |d| time::week(d, 3))
    }),
    own("year", 1, 1, Unsigned, |ctx| of_date(ctx, |d| d.civil().0)),
    own("yearweek", 1, 2, Int, yearweek),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_datetime", 2, 2, |ctx| {
        let digits = int(ctx, 1).unwrap_or(0);
        opt(date(ctx, 0).map(|d| {
            DateTime::from_total(time::rounded(d.total(), digits), true).text_with(digits)
        }))
    }),
    helper("tare_time", 2, 2, |ctx| {
        let digits = int(ctx, 1).unwrap_or(0);
        opt(text(ctx, 0).and_then(|t| {
            let micros = DateTime::parse(&t)
                .filter(|d| d.has_time)
                .map(|d| d.micros)
                .or_else(|| time::parse_time(&t))?;
            Some(time::time_text_with(time::rounded(micros, digits), digits))
        }))
    }),
];

/// A number of a date.
fn of_date(ctx: &Call<'_>, f: fn(DateTime) -> i64) -> Answer {
    opt(date(ctx, 0).map(f))
}

/// A number of a time of day.
fn of_clock(ctx: &Call<'_>, f: fn(i64) -> i64) -> Answer {
    opt(text(ctx, 0).and_then(|t| {
        DateTime::parse(&t)
            .map(|d| d.micros)
            .or_else(|| time::parse_time(&t))
            .map(f)
    }))
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

fn week(ctx: &Call<'_>) -> Answer {
    let mode = if ctx.len() == 1 { Some(0) } else { int(ctx, 1) };
    opt(date(ctx, 0).zip(mode).map(|(d, mode)| time::week(d, mode)))
}

fn yearweek(ctx: &Call<'_>) -> Answer {
    let mode = if ctx.len() == 1 { Some(0) } else { int(ctx, 1) };
    opt(date(ctx, 0).zip(mode).map(|(d, mode)| year_week(d, mode)))
}
