//! The current time, and time zones.

use tare_mysql::date::Zone;

use crate::interval::fraction_digits;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("convert_tz", 3, 3, DateTime, |ctx| {
        opt(checked_date(ctx, 0, "datetime").and_then(|d| {
            let (from, to) = (Zone::find(&text(ctx, 1)?)?, Zone::find(&text(ctx, 2)?)?);
            Some(to.local(from.utc(d)).text())
        }))
    }),
    renamed("curdate", 0, 0, Date, "current_date_").stable(),
    hidden("current_date", 0, 0, Date, "current_date_", |ctx| {
        Ok(now(ctx).date_text().into())
    })
    .stable(),
    hidden("current_time", 0, 1, Time, "current_time_", |ctx| {
        let digits = digits(ctx, "curtime")?;
        Ok(time::time_text_with(now(ctx).micros, digits).into())
    })
    .volatile(),
    renamed("current_timestamp", 0, 1, DateTime, "now").volatile(),
    renamed("curtime", 0, 1, Time, "current_time_").volatile(),
    own("from_unixtime", 1, 2, FromEpoch, |ctx| {
        opt(real(ctx, 0).and_then(|x| {
            let seconds = x.floor() as i64;
            if !(0..=LAST_SECOND).contains(&seconds) {
                return None;
            }
            let micros = ((x - x.floor()) * 1e6).round() as i64;
            let at = ctx
                .session
                .zone()
                .local(DateTime::from_local(seconds, micros));
            if ctx.len() == 2 {
                text(ctx, 1).and_then(|f| time::format(&at.into(), &f))
            } else {
                Some(at.text_with(fraction_digits(ctx, 0)))
            }
        }))
    }),
    renamed("localtime", 0, 1, DateTime, "now").volatile(),
    renamed("localtimestamp", 0, 1, DateTime, "now").volatile(),
    own("now", 0, 1, DateTime, |ctx| {
        let digits = digits(ctx, "now")?;
        Ok(now(ctx).text_with(digits).into())
    })
    .volatile(),
    own("sysdate", 0, 1, DateTime, |ctx| {
        Ok(now(ctx).text_with(digits(ctx, "sysdate")?).into())
    })
    .volatile(),
    own("unix_timestamp", 0, 1, Epoch, unix_timestamp).volatile(),
    own("utc_date", 0, 0, Date, |_ctx| {
        Ok(DateTime::from_local(time::now_utc().0, 0)
            .date_text()
            .into())
    })
    .stable(),
    own("utc_time", 0, 1, Time, |ctx| {
        let (seconds, micros) = time::now_utc();
        let at = DateTime::from_local(seconds, micros);
        Ok(time::time_text_with(at.micros, digits(ctx, "utc_time")?).into())
    })
    .volatile(),
    own("utc_timestamp", 0, 1, DateTime, utc_timestamp).volatile(),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    // A time of the current day as a date and time, with so many digits behind the second.
    helper("tare_today", 2, 2, |ctx| {
        let (Some(micros), Some(digits)) = (clock(ctx, 0), int(ctx, 1)) else {
            return Ok(Value::Null);
        };
        let midnight = DateTime {
            micros: 0,
            ..now(ctx)
        };
        let at = midnight.total().checked_add(micros);
        opt(at.map(|total| DateTime::from_total(total, true).text_with(digits)))
    })
    .volatile(),
];

/// The last second of MySQL's 64-bit times, on 3001-01-18.
const LAST_SECOND: i64 = 32_536_771_199;

/// The fractional digits of the first argument, or 0; 1426 if they are too many.
fn digits(ctx: &Call<'_>, function: &str) -> rusqlite::Result<i64> {
    match ctx.len() {
        0 => Ok(0),
        _ => match int(ctx, 0).unwrap_or(0) {
            n @ 0..=6 => Ok(n),
            n => {
                let message =
                    format!("Too-big precision {n} specified for '{function}'. Maximum is 6.");
                Err(raise(SqlError::new(1426, message)))
            }
        },
    }
}

/// The current time in the session's time zone.
fn now(ctx: &Call<'_>) -> DateTime {
    let (seconds, micros) = time::now_utc();
    ctx.session
        .zone()
        .local(DateTime::from_local(seconds, micros))
}

fn utc_timestamp(ctx: &Call<'_>) -> Answer {
    let (seconds, micros) = time::now_utc();
    let at = DateTime::from_local(seconds, micros);
    Ok(at.text_with(digits(ctx, "utc_timestamp")?).into())
}

/// Seconds since 1970, now or at a local time; 0 for what is no time between 1970 and 3001.
fn unix_timestamp(ctx: &Call<'_>) -> Answer {
    if ctx.is_empty() {
        return Ok(Value::Integer(time::now_utc().0));
    }
    if matches!(ctx.get_raw(0), ValueRef::Null) {
        return Ok(Value::Null);
    }
    let utc = checked_date(ctx, 0, "datetime").map(|d| ctx.session.zone().utc(d).total());
    let utc = utc.filter(|utc| (0..=LAST_SECOND * 1_000_000 + 999_999).contains(utc));
    let total = utc.unwrap_or(0);
    Ok(match total % 1_000_000 {
        0 => Value::Integer(total / 1_000_000),
        micros => {
            let text = format!("{}.{micros:06}", total / 1_000_000);
            Value::Text(text.trim_end_matches('0').to_owned())
        }
    })
}
