//! The current time, and time zones.

use tare_mysql::date::Zone;

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("convert_tz", 3, 3, DateTime, |ctx| {
        opt(date(ctx, 0).and_then(|d| {
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
        let digits = digits(ctx);
        Ok(time::time_text_with(now(ctx).micros, digits).into())
    })
    .volatile(),
    renamed("current_timestamp", 0, 1, DateTime, "now").volatile(),
    renamed("curtime", 0, 1, Time, "current_time_").volatile(),
    own("from_unixtime", 1, 2, FromEpoch, |ctx| {
        opt(real(ctx, 0).and_then(|x| {
            let seconds = x.floor() as i64;
            // The last second of MySQL's 64-bit times, on 3001-01-18.
            if !(0..=32_536_771_199).contains(&seconds) {
                return None;
            }
            let micros = ((x - x.floor()) * 1e6).round() as i64;
            let at = ctx
                .session
                .zone()
                .local(DateTime::from_local(seconds, micros));
            if ctx.len() == 2 {
                text(ctx, 1).map(|f| time::format(at, &f))
            } else {
                Some(at.text())
            }
        }))
    }),
    renamed("localtime", 0, 1, DateTime, "now").volatile(),
    renamed("localtimestamp", 0, 1, DateTime, "now").volatile(),
    own("now", 0, 1, DateTime, |ctx| {
        let digits = digits(ctx);
        Ok(now(ctx).text_with(digits).into())
    })
    .volatile(),
    own("sysdate", 0, 1, DateTime, |ctx| {
        Ok(now(ctx).text_with(digits(ctx)).into())
    })
    .volatile(),
    own("unix_timestamp", 0, 1, Epoch, unix_timestamp).volatile(),
    own("utc_date", 0, 0, Date, |_ctx| {
        Ok(DateTime::from_local(time::now_utc().0, 0)
            .date_text()
            .into())
    })
    .stable(),
    own("utc_time", 0, 1, Time, |_ctx| {
        Ok(time::time_text(DateTime::from_local(time::now_utc().0, 0).micros).into())
    })
    .volatile(),
    own("utc_timestamp", 0, 1, DateTime, utc_timestamp).volatile(),
];

/// The fractional digits of the first argument, or 0.
fn digits(ctx: &Call<'_>) -> i64 {
    match ctx.len() {
        0 => 0,
        _ => int(ctx, 0).unwrap_or(0).clamp(0, 6),
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
    let micros = if ctx.is_empty() { 0 } else { micros };
    Ok(DateTime::from_local(seconds, micros).text().into())
}

/// Seconds since 1970, now or at a local time.
fn unix_timestamp(ctx: &Call<'_>) -> Answer {
    if ctx.is_empty() {
        return Ok(Value::Integer(time::now_utc().0));
    }
    opt(date(ctx, 0).map(|d| {
        let utc = ctx.session.zone().utc(d).total().div_euclid(1_000_000);
        match d.total().rem_euclid(1_000_000) {
            0 => Value::Integer(utc),
            micros => Value::Real(utc as f64 + micros as f64 / 1e6),
        }
    }))
}
