//! Named locks: GET_LOCK and others.

use std::time::{Duration, Instant};

use rusqlite::Result;

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("get_lock", 2, 2, Int, |ctx| {
        let name = name(ctx)?;
        let Some(seconds) = real(ctx, 1) else {
            return Ok(Value::Null);
        };
        // A negative timeout is none.
        let end = (seconds >= 0.0)
            .then(|| Instant::now() + Duration::from_secs_f64(seconds.min(31_536_000.0)));
        loop {
            if ctx.session.try_lock(&name) {
                return Ok(Value::Integer(1));
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(Value::Integer(0));
            }
            if ctx.session.sleep(0.005).map_err(raise)? {
                return Err(fail("interrupted"));
            }
        }
    })
    .volatile(),
    own("is_free_lock", 1, 1, Int, |ctx| {
        Ok(Value::Integer(
            ctx.session.lock_owner(&name(ctx)?).is_none().into(),
        ))
    })
    .volatile(),
    own("is_used_lock", 1, 1, Unsigned, |ctx| {
        Ok(ctx
            .session
            .lock_owner(&name(ctx)?)
            .map_or(Value::Null, |id| Value::Integer(id as i64)))
    })
    .volatile(),
    own("release_all_locks", 0, 0, Unsigned, |ctx| {
        Ok(Value::Integer(ctx.session.unlock_all() as i64))
    })
    .volatile(),
    own("release_lock", 1, 1, Int, |ctx| {
        Ok(ctx
            .session
            .unlock(&name(ctx)?)
            .map_or(Value::Null, |yes| Value::Integer(yes.into())))
    })
    .volatile(),
];

fn name(ctx: &Call<'_>) -> Result<String> {
    match text(ctx, 0).map(|n| n.to_lowercase()) {
        Some(name) if !name.is_empty() && name.chars().count() <= 64 => Ok(name),
        other => Err(raise(SqlError::new(
            3057,
            format!(
                "Incorrect user-level lock name '{}'.",
                other.unwrap_or_default()
            ),
        ))),
    }
}
