//! DATE, DATETIME, TIMESTAMP, TIME and YEAR.

use tare_mysql::date::read::{date_and_time, time_of};

use super::{incorrect, out_of_range, truncated};
use crate::prelude::*;

/// Converts to a date of the calendar.
pub(super) fn to_date(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    // The value is rounded to seconds first: the last half second of a day belongs to the next day.
    let rounded = date_and_time(&value).map(|d| {
        let micros = time::rounded(d.micros, 0);
        DateTime::from_total((d.days * 86_400_000_000) + micros, true)
    });
    match rounded.filter(|d| d.civil().0 <= 9999) {
        Some(moment) => Ok(Value::Text(moment.date_text())),
        None => incorrect(ctx, 1292, "date", Value::Text("0000-00-00".into())),
    }
}

/// The range of TIMESTAMP in UTC.
const TIMESTAMPS: [&str; 2] = ["1970-01-01 00:00:01", "2038-01-19 03:14:08"];

/// Converts to a date and time with so many fractional digits. If the last argument is 1, it becomes a
/// TIMESTAMP: the value is converted from the session's time zone to UTC; if it is 2, the value is in UTC.
pub(super) fn to_datetime(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let digits = int(ctx, 3).unwrap_or(0);
    let rounded = date_and_time(&value).map(|d| {
        let micros = time::rounded(d.micros, digits);
        DateTime::from_total((d.days * 86_400_000_000) + micros, true)
    });
    let kind = int(ctx, 4).unwrap_or(0);
    let rounded = match kind {
        1 => rounded.map(|d| {
            let zone = ctx.session.zone();
            if zone.is_utc() { d } else { zone.utc(d) }
        }),
        _ => rounded,
    };
    let fits = |d: &DateTime| {
        let text = d.text_with(0);
        let within = TIMESTAMPS[0] <= text.as_str() && text.as_str() < TIMESTAMPS[1];
        d.civil().0 <= 9999 && (within || kind == 0)
    };
    match rounded.filter(fits) {
        Some(moment) => Ok(Value::Text(moment.text_with(digits))),
        None => {
            let zero = match digits {
                0 => "0000-00-00 00:00:00".to_owned(),
                n => format!("0000-00-00 00:00:00.{}", "0".repeat(n as usize)),
            };
            incorrect(ctx, 1292, "datetime", Value::Text(zero))
        }
    }
}

/// Converts to a time, rounded to so many fractional digits.
pub(super) fn to_time(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let digits = int(ctx, 3).unwrap_or(0);
    let Some(micros) = time_of(&value) else {
        let zero = time::time_text_with(0, digits);
        return incorrect(ctx, 1292, "time", Value::Text(zero));
    };
    let rounded = time::rounded(micros, digits);
    if rounded.abs() > MAX_TIME_MICROS {
        let nearest = time::time_text_with(MAX_TIME_MICROS * rounded.signum(), digits);
        return match ctx.get_raw(0) {
            ValueRef::Text(_) => incorrect(ctx, 1292, "time", Value::Text(nearest)),
            _ => out_of_range(ctx, Value::Text(nearest)),
        };
    }
    Ok(Value::Text(time::time_text_with(rounded, digits)))
}

/// Converts to a year: 0, or 1901 to 2155. Two digits are a year from 1970 to 2069.
pub(super) fn to_year(ctx: &Call<'_>) -> Answer {
    let value = match ctx.get_raw(0) {
        ValueRef::Null => return Ok(Value::Null),
        ValueRef::Integer(n) => n,
        ValueRef::Real(x) => x.round_ties_even() as i64,
        _ => {
            let (d, is_number) =
                tare_mysql::decimal::Decimal::prefix(&bytes(ctx, 0).unwrap_or_default());
            if !is_number {
                return match d.is_zero() {
                    true => incorrect(ctx, 1366, "integer", Value::Integer(0)),
                    false => truncated(ctx, Value::Integer(0)),
                };
            }
            d.rounded(0).to_integer().map_or(i64::MAX, |n| n as i64)
        }
    };
    let is_text = matches!(ctx.get_raw(0), ValueRef::Text(_));
    let year = match value {
        0 if is_text => 2000,
        0 => 0,
        1..=69 => value + 2000,
        70..=99 => value + 1900,
        _ => value,
    };
    if year == 0 || (1901..=2155).contains(&year) {
        return Ok(Value::Integer(year));
    }
    out_of_range(ctx, Value::Integer(0))
}
