//! Sums and differences of dates and times.

use sqlparser::ast::Expr;
use tare_dialect::near;
use tare_dialect::rewrite::{interval, negative_number};
use tare_mysql::date::argument::{MAX_TIME_NUMBER, Parts};

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("adddate", 2, 2, Moved, date_add),
    own("addtime", 2, 2, Same(0), |ctx| later(ctx, 1)),
    code("date_add", 2, 2, Moved, date_add),
    code("date_sub", 2, 2, Moved, date_sub),
    own("datediff", 2, 2, Int, |ctx| {
        let days = |i| checked_date(ctx, i, "date").map(|d| d.days);
        opt(days(0).zip(days(1)).map(|(a, b)| a - b))
    }),
    own("makedate", 2, 2, Date, |ctx| {
        opt(int(ctx, 0).zip(int(ctx, 1)).and_then(|(y, n)| {
            let y = match y {
                0..70 => 2000 + y,
                70..100 => 1900 + y,
                _ => y,
            };
            // Dates end with the year 9999.
            if !(0..=9999).contains(&y) || !(1..=9999 * 366).contains(&n) {
                return None;
            }
            let (y, m, d) = time::civil_from_days(time::days_from_civil(y, 1, 1) + n - 1);
            (y <= 9999).then(|| format!("{y:04}-{m:02}-{d:02}"))
        }))
    }),
    own("maketime", 3, 3, Time, |ctx| {
        let (Some(h), Some(m), Some(s)) = (int(ctx, 0), int(ctx, 1), real(ctx, 2)) else {
            return Ok(Value::Null);
        };
        if !(0..60).contains(&m) || !(0.0..60.0).contains(&s) {
            return Ok(Value::Null);
        }
        let micros = match h.unsigned_abs() {
            hours @ ..839 => {
                hours as i64 * 3_600_000_000 + m * 60_000_000 + (s * 1e6).round() as i64
            }
            _ => MAX_TIME_MICROS,
        };
        let micros = micros.min(MAX_TIME_MICROS);
        let digits = fraction_digits(ctx, 2);
        Ok(time::time_text_with(if h < 0 { -micros } else { micros }, digits).into())
    }),
    own("period_add", 2, 2, Int, |ctx| {
        let Some((p, n)) = int(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let months = period(p, "period_add")?.saturating_add(n);
        let of_year = months.rem_euclid(12) + 1;
        let year = months.div_euclid(12).saturating_mul(100);
        Ok(Value::Integer(year.saturating_add(of_year)))
    }),
    own("period_diff", 2, 2, Int, |ctx| {
        let Some((a, b)) = int(ctx, 0).zip(int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let (a, b) = (period(a, "period_diff")?, period(b, "period_diff")?);
        Ok(Value::Integer(a.saturating_sub(b)))
    }),
    own("sec_to_time", 1, 1, Time, |ctx| {
        opt(real(ctx, 0).map(|s| {
            let micros = ((s * 1e6).round() as i64).clamp(-MAX_TIME_MICROS, MAX_TIME_MICROS);
            time::time_text_with(micros, fraction_digits(ctx, 0))
        }))
    }),
    code("subdate", 2, 2, Moved, date_sub),
    own("subtime", 2, 2, Same(0), |ctx| later(ctx, -1)),
    own("timediff", 2, 2, Time, |ctx| {
        let difference = match (Instant::of(ctx, 0), Instant::of(ctx, 1)) {
            (Some(Instant::Moment(a)), Some(Instant::Moment(b))) => a.total() - b.total(),
            (Some(Instant::Time(a)), Some(Instant::Time(b))) => a - b,
            _ => return Ok(Value::Null),
        };
        Ok(time::time_text(difference.clamp(-MAX_TIME_MICROS, MAX_TIME_MICROS)).into())
    }),
    own("timestampadd", 3, 3, Text, |ctx| {
        match (text(ctx, 0), checked_date(ctx, 2, "datetime")) {
            (Some(unit), Some(d)) => opt(count(ctx, 1, &unit)
                .and_then(|n| d.add(n, &unit))
                .map(moved)),
            _ => Ok(Value::Null),
        }
    }),
    own("timestampdiff", 3, 3, Int, |ctx| {
        opt(text(ctx, 0).and_then(|unit| {
            checked_date(ctx, 1, "datetime")
                .zip(checked_date(ctx, 2, "datetime"))
                .and_then(|(a, b)| time::difference(unit.trim_start_matches("SQL_TSI_"), a, b))
        }))
    }),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_date_add", 3, 3, |ctx| {
        let unit = text(ctx, 2).unwrap_or_default();
        if let ValueRef::Text(t) = ctx.get_raw(0)
            && is_time(t)
            && matches!(
                &*unit,
                "MICROSECOND" | "SECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK"
            )
        {
            let moved = clock(ctx, 0)
                .zip(count(ctx, 1, &unit))
                .and_then(|(time, n)| {
                    let start = DateTime::from_total(time, true);
                    let moved = start.add(n, &unit)?.total();
                    (moved.abs() <= MAX_TIME_MICROS).then(|| time::time_text(moved))
                });
            return opt(moved);
        }
        match (checked_date(ctx, 0, "datetime"), count(ctx, 1, &unit)) {
            (Some(d), Some(n)) => match &*unit {
                "MICROSECOND" | "SECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK" | "MONTH"
                | "QUARTER" | "YEAR" => opt(d.add(n, &unit).map(moved)),
                _ => Err(fail(&format!("INTERVAL unit {unit} is not supported"))),
            },
            _ => Ok(Value::Null),
        }
    }),
    helper("tare_interval", 2, 2, |ctx| {
        opt(text(ctx, 0)
            .zip(text(ctx, 1))
            .and_then(|(unit, value)| amount(&unit, &value)))
    }),
];

/// DATE_ADD, ADDDATE.
fn date_add(call: SqlCall) -> ExprResult {
    moved_by(call, |n| n)
}

/// DATE_SUB, SUBDATE.
fn date_sub(call: SqlCall) -> ExprResult {
    moved_by(call, negative_number)
}

/// DATE_ADD or DATE_SUB; a number is an INTERVAL of days.
fn moved_by(call: SqlCall, sign: fn(Expr) -> Expr) -> ExprResult {
    let [date, by] = plain(call)?;
    let (n, unit) = match by {
        Expr::Interval(by) => interval(by).ok_or_else(|| near("INTERVAL"))?,
        days => (days, "DAY".to_owned()),
    };
    let arguments = vec![date, sign(n), node::text(&unit)];
    Ok(node::call("tare_date_add", arguments))
}

/// Microseconds (or months) of a composite interval: `'1:30'` MINUTE_SECOND.
fn amount(unit: &str, value: &str) -> Option<i64> {
    if value.len() > time::MAX_TEXT_BYTES {
        return None;
    }
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
        // The digits are a fraction: .5 is half a second.
        *n = format!("{last:0<6}").get(..6)?.parse().ok()?;
    }
    const DAY_US: i64 = 86_400_000_000;
    const HOUR_US: i64 = 3_600_000_000;
    const MINUTE_US: i64 = 60_000_000;
    const SECOND_US: i64 = 1_000_000;
    let parts: &[i64] = match unit {
        "SECOND_MICROSECOND" => &[SECOND_US, 1],
        "MINUTE_MICROSECOND" => &[MINUTE_US, SECOND_US, 1],
        "MINUTE_SECOND" => &[MINUTE_US, SECOND_US],
        "HOUR_MICROSECOND" => &[HOUR_US, MINUTE_US, SECOND_US, 1],
        "HOUR_SECOND" => &[HOUR_US, MINUTE_US, SECOND_US],
        "HOUR_MINUTE" => &[HOUR_US, MINUTE_US],
        "DAY_MICROSECOND" => &[DAY_US, HOUR_US, MINUTE_US, SECOND_US, 1],
        "DAY_SECOND" => &[DAY_US, HOUR_US, MINUTE_US, SECOND_US],
        "DAY_MINUTE" => &[DAY_US, HOUR_US, MINUTE_US],
        "DAY_HOUR" => &[DAY_US, HOUR_US],
        "YEAR_MONTH" => &[12, 1],
        _ => return None,
    };
    // If there are fewer numbers than parts, they are the last parts.
    let skip = parts.len().checked_sub(numbers.len())?;
    let mut sum = 0i64;
    for (n, part) in numbers.iter().zip(&parts[skip..]) {
        sum = sum.checked_add(n.checked_mul(*part)?)?;
    }
    Some(if negative { -sum } else { sum })
}

/// The months of a period; 1210 if it is none.
fn period(n: i64, function: &str) -> rusqlite::Result<i64> {
    let (year, month) = (n / 100, n % 100);
    if n <= 0 || !(1..=12).contains(&month) {
        return Err(raise(SqlError::new(
            1210,
            format!("Incorrect arguments to {function}"),
        )));
    }
    let year = match year {
        0..70 => 2000 + year,
        70..100 => 1900 + year,
        _ => year,
    };
    Ok(year * 12 + month - 1)
}

/// Whether a text is a TIME: digits and a colon.
fn is_time(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (2..=3).contains(&digits) && text.get(digits) == Some(&b':') && text.len() <= 16
}

/// The number of units of an interval. Only seconds have a fraction.
fn count(ctx: &Call<'_>, i: usize, unit: &str) -> Option<f64> {
    match ctx.get_raw(i) {
        ValueRef::Real(x) if unit != "SECOND" => Some(x.round_ties_even()),
        _ => real(ctx, i),
    }
}

/// Digits behind the second that a number of seconds has.
pub(crate) fn fraction_digits(ctx: &Call<'_>, i: usize) -> i64 {
    match ctx.get_raw(i) {
        ValueRef::Text(t) => {
            let point = t.iter().position(|b| *b == b'.');
            point.map_or(0, |at| (t.len() - at - 1).min(6) as i64)
        }
        ValueRef::Real(_) => 6,
        _ => 0,
    }
}

/// A date and time, or a time.
pub(crate) enum Instant {
    Moment(Parts),
    Time(i64),
}

impl Instant {
    pub(crate) fn of(ctx: &Call<'_>, i: usize) -> Option<Self> {
        let is_date = match ctx.get_raw(i) {
            ValueRef::Text(t) | ValueRef::Blob(t) => {
                let digits = t
                    .trim_ascii_start()
                    .iter()
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let has_year = (1..=4).contains(&digits);
                has_year && t.trim_ascii_start().get(digits) == Some(&b'-') || digits >= 12
            }
            ValueRef::Integer(n) => n > MAX_TIME_NUMBER as i64,
            ValueRef::Real(x) => x >= MAX_TIME_NUMBER as f64 + 1.0,
            ValueRef::Null => return None,
        };
        match is_date {
            true => date_parts(ctx, i).map(Self::Moment),
            false => clock(ctx, i).map(Self::Time),
        }
    }
}

/// A date or a time plus or minus a time.
fn later(ctx: &Call<'_>, sign: i64) -> Answer {
    let (Some(start), Some(by)) = (Instant::of(ctx, 0), clock(ctx, 1)) else {
        return Ok(Value::Null);
    };
    let by = sign * by;
    opt(match start {
        Instant::Moment(parts) => parts.moment().and_then(|d| {
            let sum = DateTime::from_total(d.total() + by, true);
            (0..=9999).contains(&sum.civil().0).then(|| sum.text())
        }),
        Instant::Time(time) => {
            let sum = (time + by).clamp(-MAX_TIME_MICROS, MAX_TIME_MICROS);
            Some(time::time_text(sum))
        }
    })
}

/// The text of a date, with its time if it has one.
fn moved(d: DateTime) -> String {
    if d.has_time { d.text() } else { d.date_text() }
}
