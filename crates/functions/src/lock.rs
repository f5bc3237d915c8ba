//! Named locks: GET_LOCK and others.

use std::time::Duration;

use rusqlite::Result;

use crate::prelude::*;

/// The longest name of a lock.
const MAX_NAME_CHARACTERS: usize = 64;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("get_lock", 2, 2, Int, |ctx| {
        let name = name(ctx)?;
        // In whole seconds; a negative number is no limit.
        let seconds = real(ctx, 1).unwrap_or(0.0).round();
        let timeout = (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(31_536_000.0)));
        let taken = ctx.session.take_lock(&name, timeout).map_err(raise)?;
        Ok(Value::Integer(taken.into()))
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
    let text = text(ctx, 0);
    match &text {
        Some(name) if name.chars().count() > MAX_NAME_CHARACTERS => Err(raise(SqlError::new(
            4163,
            format!(
                "User-level lock name '{name}' should not exceed {MAX_NAME_CHARACTERS} characters."
            ),
        ))),
        Some(name) if !name.is_empty() => Ok(name.to_lowercase()),
        _ => Err(raise(SqlError::new(
            3057,
            format!(
                "Incorrect user-level lock name '{}'. The name is empty, NULL, or can not be expressed in \
                 the current character-set.",
                text.as_deref().unwrap_or("NULL")
            ),
        ))),
    }
}
