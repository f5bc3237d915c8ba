//! Functions of dates and times.

use rusqlite::types::Value;
use rusqlite::{Connection, Result};
use tare_mysql::date::{self as time, DateTime};

use super::{date, fail, fresh, int, opt, pure, real, text};

type OfDate = (&'static str, fn(DateTime) -> i64);
type OfMicros = (&'static str, fn(i64) -> i64);

pub(super) fn dates(db: &Connection) -> Result<()> {
    for args in [0, 1] {
        fresh(db, "now", args, |ctx| {
            let digits = if ctx.len() == 1 {
                int(ctx, 0).unwrap_or(0)
            } else {
                0
            };
            Ok(time::now_local(digits > 0).text().into())
        })?;
        fresh(db, "sysdate", args, |ctx| {
            Ok(time::now_local(ctx.len() == 1).text().into())
        })?;
        fresh(db, "current_time_", args, |_| {
            Ok(time::time_text(time::now_local(false).micros).into())
        })?;
    }
    fresh(db, "current_date_", 0, |_| {
        Ok(time::now_local(false).date_text().into())
    })?;
    fresh(db, "utc_timestamp", 0, |_| {
        Ok(DateTime::from_local(time::now_utc().0, 0).text().into())
    })?;
    fresh(db, "utc_date", 0, |_| {
        Ok(DateTime::from_local(time::now_utc().0, 0)
            .date_text()
            .into())
    })?;
    fresh(db, "unix_timestamp", 0, |_| {
        Ok(Value::Integer(time::now_utc().0))
    })?;
    pure(db, "unix_timestamp", 1, |ctx| {
        opt(date(ctx, 0).map(|d| {
            let local = d.total().div_euclid(1_000_000);
            let utc = local - time::utc_offset(local - time::utc_offset(local));
            match d.total().rem_euclid(1_000_000) {
                0 => Value::Integer(utc),
                micros => Value::Real(utc as f64 + micros as f64 / 1e6),
            }
        }))
    })?;
    for args in [1, 2] {
        pure(db, "from_unixtime", args, |ctx| {
            opt(real(ctx, 0).and_then(|x| {
                let seconds = x.floor() as i64;
                if seconds < 0 {
                    return None;
                }
                let at = DateTime::from_local(
                    seconds + time::utc_offset(seconds),
                    ((x - x.floor()) * 1e6).round() as i64,
                );
                if ctx.len() == 2 {
                    text(ctx, 1).map(|f| time::format(at, &f))
                } else {
                    Some(at.text())
                }
            }))
        })?;
    }
    pure(
        db,
        "date",
        1,
        |ctx| opt(date(ctx, 0).map(|d| d.date_text())),
    )?;
    pure(db, "time", 1, |ctx| {
        opt(text(ctx, 0).and_then(|t| {
            DateTime::parse(&t)
                .filter(|d| d.has_time)
                .map(|d| d.micros)
                .or_else(|| time::parse_time(&t))
                .map(time::time_text)
        }))
    })?;
    pure(db, "tare_datetime", 2, |ctx| {
        let digits = int(ctx, 1).unwrap_or(0);
        opt(date(ctx, 0).map(|d| {
            DateTime::from_total(time::rounded(d.total(), digits), true).text_with(digits)
        }))
    })?;
    pure(db, "tare_time", 2, |ctx| {
        let digits = int(ctx, 1).unwrap_or(0);
        opt(text(ctx, 0).and_then(|t| {
            let micros = DateTime::parse(&t)
                .filter(|d| d.has_time)
                .map(|d| d.micros)
                .or_else(|| time::parse_time(&t))?;
            Some(time::time_text_with(time::rounded(micros, digits), digits))
        }))
    })?;
    let parts: [OfDate; 10] = [
        ("year", |d| d.civil().0),
        ("month", |d| d.civil().1),
        ("dayofmonth", |d| d.civil().2),
        ("dayofweek", |d| (d.weekday() + 1) % 7 + 1),
        ("weekday", |d| d.weekday()),
        ("dayofyear", |d| d.day_of_year()),
        ("quarter", |d| (d.civil().1 + 2) / 3),
        ("weekofyear", |d| time::week(d, 3)),
        ("week", |d| time::week(d, 0)),
        ("to_days", |d| d.days + 719_528),
    ];
    for (name, f) in parts {
        pure(db, name, 1, move |ctx| opt(date(ctx, 0).map(f)))?;
    }
    pure(db, "week", 2, |ctx| {
        opt(date(ctx, 0)
            .zip(int(ctx, 1))
            .map(|(d, mode)| time::week(d, mode)))
    })?;
    let clock: [OfMicros; 5] = [
        ("microsecond", |u| u % 1_000_000),
        ("hour", |u| u / 3_600_000_000),
        ("minute", |u| u / 60_000_000 % 60),
        ("second", |u| u / 1_000_000 % 60),
        ("time_to_sec", |u| u / 1_000_000),
    ];
    for (name, f) in clock {
        pure(db, name, 1, move |ctx| {
            opt(text(ctx, 0).and_then(|t| {
                DateTime::parse(&t)
                    .map(|d| d.micros)
                    .or_else(|| time::parse_time(&t))
                    .map(f)
            }))
        })?;
    }
    pure(db, "sec_to_time", 1, |ctx| {
        opt(real(ctx, 0).map(|s| time::time_text((s * 1e6) as i64)))
    })?;
    pure(db, "dayname", 1, |ctx| {
        opt(date(ctx, 0).map(|d| time::day_name(d).to_owned()))
    })?;
    pure(db, "monthname", 1, |ctx| {
        opt(date(ctx, 0).map(|d| time::month_name(d).to_owned()))
    })?;
    pure(db, "last_day", 1, |ctx| {
        opt(date(ctx, 0).map(|d| {
            let (y, m, _) = d.civil();
            format!("{y:04}-{m:02}-{:02}", time::days_in_month(y, m))
        }))
    })?;
    pure(db, "datediff", 2, |ctx| {
        opt(date(ctx, 0).zip(date(ctx, 1)).map(|(a, b)| a.days - b.days))
    })?;
    pure(db, "timediff", 2, |ctx| {
        opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(a, b)| {
            let total = |t: &str| {
                DateTime::parse(t)
                    .map(|d| d.total())
                    .or_else(|| time::parse_time(t))
            };
            Some(time::time_text(total(&a)? - total(&b)?))
        }))
    })?;
    pure(db, "timestampdiff", 3, |ctx| {
        opt(text(ctx, 0).and_then(|unit| {
            date(ctx, 1)
                .zip(date(ctx, 2))
                .and_then(|(a, b)| time::difference(unit.trim_start_matches("SQL_TSI_"), a, b))
        }))
    })?;
    let moved = |d: DateTime| if d.has_time { d.text() } else { d.date_text() };
    pure(db, "tare_date_add", 3, move |ctx| {
        match (date(ctx, 0), real(ctx, 1), text(ctx, 2)) {
            (Some(d), Some(n), Some(unit)) => match unit.as_str() {
                "MICROSECOND" | "SECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK" | "MONTH"
                | "QUARTER" | "YEAR" => opt(d.add(n, &unit).map(moved)),
                _ => Err(fail(&format!("INTERVAL unit {unit} is not supported"))),
            },
            _ => Ok(Value::Null),
        }
    })?;
    pure(db, "timestampadd", 3, move |ctx| {
        match (text(ctx, 0), real(ctx, 1), date(ctx, 2)) {
            (Some(unit), Some(n), Some(d)) => opt(d.add(n, &unit).map(moved)),
            _ => Ok(Value::Null),
        }
    })?;
    for name in ["date_format", "time_format"] {
        pure(db, name, 2, |ctx| {
            opt(text(ctx, 0).zip(text(ctx, 1)).and_then(|(t, f)| {
                let at = DateTime::parse(&t)
                    .or_else(|| time::parse_time(&t).map(|u| DateTime::from_total(u, true)))?;
                Some(time::format(at, &f))
            }))
        })?;
    }
    Ok(())
}
