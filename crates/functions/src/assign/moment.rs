//! DATE, DATETIME, TIMESTAMP, TIME and YEAR.

use std::borrow::Cow;
use std::cell::Cell;

use tare_mysql::date::argument::{DateMode, MAX_TIME_NUMBER, Parts, time_of_number, time_of_text};
use tare_mysql::date::read::{date_parts, time_of};

use super::{column, incorrect, is_strict, misfit, out_of_range, truncated};
use crate::prelude::*;

/// What a date column gets.
enum Converted {
    /// The column's text.
    Value(String),
    /// In strict mode an error. Otherwise the text of the value's part that is a date is stored.
    Part(String),
    /// In strict mode an error: no clock shows the time. Otherwise the text of the next time is stored.
    Skipped(String),
    /// In strict mode an error: the column cannot have the date. Otherwise the zero date is stored.
    OutOfRange,
    /// The same for a value that is no date.
    None,
}

impl Converted {
    /// The text of a value that has been read, completely or up to something else.
    fn of(value: &str, text_of: impl Fn(Parts) -> Option<String>) -> Self {
        match (date_parts(value), Parts::of_text(value)) {
            (Some(parts), _) => text_of(parts).map_or(Self::OutOfRange, Self::Value),
            (None, Some(part)) => text_of(part).map_or(Self::None, Self::Part),
            (None, None) => Self::None,
        }
    }

    fn store(self, ctx: &Call<'_>, kind: &str, zero: &str) -> Answer {
        let instead = match self {
            Self::Value(text) => return Ok(Value::Text(text)),
            Self::Part(ref text) | Self::Skipped(ref text) => text,
            Self::OutOfRange | Self::None => zero,
        };
        let instead = Value::Text(instead.to_owned());
        match self {
            _ if is_strict(ctx) => incorrect(ctx, 1292, kind, instead),
            Self::OutOfRange => out_of_range(ctx, instead),
            Self::Skipped(_) => {
                let message = format!(
                    "Invalid TIMESTAMP value in column '{}' at row 1",
                    column(ctx)
                );
                misfit(ctx, SqlError::new(1299, message), instead)
            }
            _ => truncated(ctx, instead),
        }
    }
}

/// The text of a date. The number 0 is the zero date.
fn date_text<'c>(ctx: &'c Call<'_>) -> Option<Cow<'c, str>> {
    match ctx.get_raw(0) {
        ValueRef::Integer(0) => Some("0000-00-00".into()),
        _ => text(ctx, 0),
    }
}

/// Converts to a date that the mode allows.
pub(super) fn to_date(ctx: &Call<'_>) -> Answer {
    let Some(value) = date_text(ctx) else {
        return Ok(Value::Null);
    };
    // The value is rounded to seconds first: the last half second of a day belongs to the next day.
    let text_of = |parts: Parts| {
        let text = allowed(ctx, &parts)?.text_with(0)?;
        Some(text[..10].to_owned())
    };
    Converted::of(&value, text_of).store(ctx, "date", "0000-00-00")
}

/// A date that the mode allows.
fn allowed<'a>(ctx: &Call<'_>, parts: &'a Parts) -> Option<&'a Parts> {
    let is_allowed = parts.is_in_calendar() || DateMode::of(&ctx.session.sql_mode()).allows(parts);
    is_allowed.then_some(parts)
}

/// The range of TIMESTAMP in UTC.
const TIMESTAMPS: [&str; 2] = ["1970-01-01 00:00:01", "2038-01-19 03:14:08"];

/// Converts to a date and time with so many fractional digits. If the last argument is 1, it becomes a
/// TIMESTAMP: the value is converted from the session's time zone to UTC; if it is 2, the value is in UTC.
pub(super) fn to_datetime(ctx: &Call<'_>) -> Answer {
    let Some(value) = date_text(ctx) else {
        return Ok(Value::Null);
    };
    let digits = int(ctx, 3).unwrap_or(0);
    let kind = int(ctx, 4).unwrap_or(0);
    let skipped = Cell::new(false);
    let text_of = |parts: Parts| match kind {
        0 => allowed(ctx, &parts)?.text_with(digits),
        _ if parts.is_zero() && parts.micros == 0 => allowed(ctx, &parts)?.text_with(digits),
        _ => {
            let moment = parts.moment()?;
            let moment = DateTime::from_total(time::rounded(moment.total(), digits), true);
            let zone = ctx.session.zone();
            let (moment, is_skipped) = match kind == 2 || zone.is_utc() {
                true => (moment, false),
                false => zone.utc_or_gap(moment),
            };
            skipped.set(is_skipped);
            let seconds = moment.text_with(0);
            let fits = TIMESTAMPS[0] <= seconds.as_str() && seconds.as_str() < TIMESTAMPS[1];
            fits.then(|| moment.text_with(digits))
        }
    };
    let zero = Parts::default().text_with(digits).unwrap_or_default();
    let converted = match Converted::of(&value, text_of) {
        Converted::Value(text) if skipped.get() => Converted::Skipped(text),
        converted => converted,
    };
    converted.store(ctx, "datetime", &zero)
}

/// Converts to a time, rounded to so many fractional digits.
pub(super) fn to_time(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let digits = int(ctx, 3).unwrap_or(0);
    // A number beyond the longest time is the time of a date and time, or out of range.
    let beyond = |n: i64| {
        let out_of_range = (MAX_TIME_MICROS + 1_000_000) * n.signum();
        time_of_number(n, 0).unwrap_or(out_of_range)
    };
    let micros = match ctx.get_raw(0) {
        ValueRef::Integer(n) if n.unsigned_abs() > MAX_TIME_NUMBER => beyond(n),
        ValueRef::Real(x) if x.abs() > MAX_TIME_NUMBER as f64 => beyond(x as i64),
        _ if value.trim().is_empty() => 0,
        _ => match time_of(&value) {
            Some(micros) => micros,
            None => {
                // Without strict mode the part that is a time is stored.
                let part = time_of_text(&value).map(|micros| time::rounded(micros, digits));
                let part = time::time_text_with(part.unwrap_or(0), digits);
                return match is_strict(ctx) {
                    true => incorrect(ctx, 1292, "time", Value::Text(part)),
                    false => truncated(ctx, Value::Text(part)),
                };
            }
        },
    };
    let rounded = time::rounded(micros, digits);
    if rounded.abs() > MAX_TIME_MICROS {
        let nearest = time::time_text_with(MAX_TIME_MICROS * rounded.signum(), digits);
        return match is_strict(ctx) {
            true => incorrect(ctx, 1292, "time", Value::Text(nearest)),
            false => out_of_range(ctx, Value::Text(nearest)),
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
