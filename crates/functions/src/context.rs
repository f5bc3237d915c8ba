//! Functions of the session.

use crate::Counted;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("connection_id", 0, 0, Unsigned, |ctx| {
        let s = ctx.session;
        Ok(Value::Integer(s.id() as i64))
    })
    .stable(),
    own("current_role", 0, 0, Text, |_ctx| {
        Ok("NONE".to_owned().into())
    })
    .stable(),
    own("current_user", 0, 0, Text, |ctx| {
        Ok(account(ctx.session.current_account()))
    })
    .stable(),
    own("database", 0, 0, Text, |ctx| {
        let s = ctx.session;
        Ok(s.database().map_or(Value::Null, Value::Text))
    })
    .stable(),
    own("found_rows", 0, 0, Int, |ctx| {
        let s = ctx.session;
        Ok(Value::Integer(s.found_rows()))
    })
    .volatile(),
    own("icu_version", 0, 0, Text, |ctx| {
        Ok(ctx.session.series().icu_version().to_owned().into())
    })
    .stable(),
    own("last_insert_id", 0, 1, Unsigned, last_insert_id).volatile(),
    own("ps_current_thread_id", 0, 0, Unsigned, |ctx| {
        check_performance_schema_on(ctx, "ps_current_thread_id")?;
        Ok(match ctx.session.thread_id() {
            0 => Value::Null,
            id => Value::Integer(id as i64),
        })
    })
    .stable(),
    own("row_count", 0, 0, Int, |ctx| {
        let s = ctx.session;
        Ok(Value::Integer(s.row_count()))
    })
    .volatile(),
    renamed("schema", 0, 0, Text, "database").stable(),
    renamed("session_user", 0, 0, Text, "user").stable(),
    own("sleep", 1, 1, Int, |ctx| {
        let Some(seconds) = real(ctx, 0).filter(|s| *s >= 0.0) else {
            return Err(raise(SqlError::new(1210, "Incorrect arguments to sleep.")));
        };
        let is_interrupted = ctx.session.sleep(seconds).map_err(raise)?;
        Ok(Value::Integer(is_interrupted.into()))
    })
    .volatile(),
    renamed("system_user", 0, 0, Text, "user").stable(),
    own("user", 0, 0, Text, |ctx| Ok(account(ctx.session.account()))).stable(),
    own("version", 0, 0, Text, |ctx| {
        Ok(ctx.session.series().version().to_owned().into())
    })
    .stable(),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_variable", 2, 2, |ctx| {
        let (scope, name) = (
            text(ctx, 0).unwrap_or_default(),
            text(ctx, 1).unwrap_or_default(),
        );
        Ok(ctx.session.variable(&scope, &name))
    })
    .volatile(),
    helper("tare_user_variable", 1, 1, |ctx| {
        Ok(ctx.session.user_variable(&text(ctx, 0).unwrap_or_default()))
    })
    .volatile(),
    // Converts a time of the system's zone, which earlier versions stored, to UTC.
    helper("tare_system_utc", 1, 1, |ctx| {
        let Some(stored) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let fraction = stored.split_once('.').map_or(0, |(_, f)| f.len());
        Ok(match DateTime::parse(&stored) {
            Some(local) if !stored.starts_with("0000") => {
                let utc = time::Zone::system().utc(local);
                utc.text_with(fraction as i64).into()
            }
            _ => Value::Text(stored.into_owned()),
        })
    }),
    // A TIMESTAMP is stored in UTC, with so many fractional digits.
    helper("tare_local", 1, 1, |ctx| {
        let Some(stored) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let local = ctx.session.zone().local_text(&stored);
        Ok(Value::Text(local.unwrap_or_else(|| stored.into_owned())))
    }),
    // The third argument is whether the value is a number.
    helper("tare_set_variable", 3, 3, |ctx| {
        let is_number = int(ctx, 2) == Some(1);
        ctx.session
            .set_user_variable(&text(ctx, 0).unwrap_or_default(), ctx.get(1)?, is_number);
        ctx.argument(1)
    })
    .volatile(),
    // What PS_THREAD_ID is given: -1, which is no connection, for NULL.
    helper("tare_connection", 1, 1, |ctx| {
        check_performance_schema_on(ctx, "ps_thread_id")?;
        Ok(match ctx.get(0)? {
            Value::Null => Value::Integer(-1),
            id => id,
        })
    })
    .volatile(),
    helper("tare_deeper", 2, 2, deeper).volatile(),
    // The first value of ON DUPLICATE KEY UPDATE, whether the row changes, and its number of AUTO_INCREMENT.
    helper("tare_updated", 2, 3, |ctx| {
        let updated = (ctx.len() > 2).then(|| int(ctx, 2)).flatten();
        ctx.session.give_number_back(updated);
        ctx.session.count(Counted::Matched);
        if matches!(ctx.get::<Value>(1)?, Value::Integer(n) if n != 0) {
            ctx.session.count(Counted::Updated);
        }
        ctx.argument(0)
    })
    .volatile(),
    // Of a row that an UPDATE matches, whether it changes: only then it is written.
    helper("tare_changes", 1, 1, |ctx| Ok(changes(ctx)?.into())).volatile(),
    // The same, for a client to which unchanged rows count: they are written, too.
    helper("tare_matches", 1, 1, |ctx| {
        changes(ctx)?;
        Ok(Value::Integer(1))
    })
    .volatile(),
    // The value of a column with AUTO_INCREMENT; NULL takes the next number.
    helper("tare_auto_increment", 1, 1, |ctx| {
        let given = match ctx.get::<Value>(0)? {
            Value::Null => None,
            Value::Integer(given) => Some(given),
            _ => {
                ctx.session.count(Counted::GivenId);
                return ctx.argument(0);
            }
        };
        if given.is_some() {
            ctx.session.count(Counted::GivenId);
        }
        let number = ctx.session.auto_increment(given).map_err(raise)?;
        Ok(number.map_or(Value::Null, Value::Integer))
    })
    .volatile(),
    // Whether ON DUPLICATE KEY UPDATE changes a row, of a table with AUTO_INCREMENT.
    helper("tare_duplicate_changes", 1, 1, |ctx| {
        ctx.session.give_number_back(None);
        ctx.argument(0)
    })
    .volatile(),
];

/// Counts a row that an UPDATE matches. Returns whether it changes.
fn changes(ctx: &Call<'_>) -> rusqlite::Result<bool> {
    ctx.session.count(Counted::Matched);
    let changes = matches!(ctx.get::<Value>(0)?, Value::Integer(n) if n != 0);
    if changes {
        ctx.session.count(Counted::Changed);
    }
    Ok(changes)
}

/// `user@host`.
fn account((user, host): (String, String)) -> Value {
    Value::Text(format!("{user}@{host}"))
}

/// 1683, where Performance Schema is off, which a function is about.
fn check_performance_schema_on(ctx: &Call<'_>, function: &str) -> rusqlite::Result<()> {
    if ctx.session.variable("global", "performance_schema") != Value::Integer(0) {
        return Ok(());
    }
    let message = format!("'{function}': The Performance Schema is not enabled.");
    Err(raise(SqlError::new(1683, message)))
}

/// The number of recursions that led to a row of a recursive query, as a text. It is one more than the number of
/// the row's predecessor; rows of the first SELECT have 0. Too many recursions are the error 3636.
fn deeper(ctx: &Call<'_>) -> Answer {
    let before = text(ctx, 0).and_then(|steps| steps.parse::<u64>().ok());
    let steps = before.map_or(0, |steps| steps + 1);
    let limit = match ctx.session.variable("session", "cte_max_recursion_depth") {
        Value::Integer(limit) => limit as u64,
        _ => 1000,
    };
    // A row that may already exist is no step. Only new rows lead to further rows.
    let allowed = if int(ctx, 1) == Some(1) {
        limit + 1
    } else {
        limit
    };
    if steps < allowed {
        return Ok(Value::Text(steps.to_string()));
    }
    let after = limit + 1;
    Err(raise(SqlError::new(
        3636,
        format!(
            "Recursive query aborted after {after} iterations. Try increasing @@cte_max_recursion_depth to a larger value."
        ),
    )))
}

fn last_insert_id(ctx: &Call<'_>) -> Answer {
    if ctx.is_empty() {
        return Ok(Value::Integer(ctx.session.last_insert_id()));
    }
    let n = int(ctx, 0).unwrap_or(0);
    ctx.session.set_last_insert_id(n);
    ctx.session.count(Counted::LastId);
    Ok(Value::Integer(n))
}
