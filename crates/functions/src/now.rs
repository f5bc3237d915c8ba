//! What time it is, here and elsewhere.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("convert_tz", 3, 3, DateTime, |ctx| {
        opt(date(ctx, 0).and_then(|d| {
            let seconds = d.total().div_euclid(1_000_000);
            let from = zone(&text(ctx, 1)?, seconds)?;
            let to = zone(&text(ctx, 2)?, seconds - from)?;
            Some(DateTime::from_total(d.total() + (to - from) * 1_000_000, true).text())
        }))
    }),
    renamed("curdate", 0, 0, Date, "current_date_").stable(),
    hidden("current_date", 0, 0, Date, "current_date_", |_ctx| {
        Ok(time::now_local(false).date_text().into())
    })
    .stable(),
    hidden("current_time", 0, 1, Time, "current_time_", |_ctx| {
        Ok(time::time_text(time::now_local(false).micros).into())
    })
    .volatile(),
    renamed("current_timestamp", 0, 1, DateTime, "now").volatile(),
    renamed("curtime", 0, 1, Time, "current_time_").volatile(),
    own("from_unixtime", 1, 2, FromEpoch, |ctx| {
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
    }),
    renamed("localtime", 0, 1, DateTime, "now").volatile(),
    renamed("localtimestamp", 0, 1, DateTime, "now").volatile(),
    own("now", 0, 1, DateTime, |ctx| {
        let digits = if ctx.len() == 1 {
            int(ctx, 0).unwrap_or(0)
        } else {
            0
        };
        Ok(time::now_local(digits > 0).text().into())
    })
    .volatile(),
    own("sysdate", 0, 1, DateTime, |ctx| {
        Ok(time::now_local(ctx.len() == 1).text().into())
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
        let local = d.total().div_euclid(1_000_000);
        let utc = local - time::utc_offset(local - time::utc_offset(local));
        match d.total().rem_euclid(1_000_000) {
            0 => Value::Integer(utc),
            micros => Value::Real(utc as f64 + micros as f64 / 1e6),
        }
    }))
}
