//! Functions of the session.

use std::sync::Arc;

use rusqlite::functions::Context;
use rusqlite::types::Value;
use rusqlite::{Connection, Result};

use super::{fail, fresh, hex, int, real, text};
use crate::server::state::SessionState;

pub(super) fn context(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    let with = |f: fn(&SessionState) -> Value| {
        let session = session.clone();
        move |_: &Context<'_>| Ok(f(&session))
    };
    fresh(
        db,
        "version",
        0,
        with(|_| crate::server::variables::VERSION.to_owned().into()),
    )?;
    fresh(
        db,
        "database",
        0,
        with(|s| s.database().map_or(Value::Null, Value::Text)),
    )?;
    fresh(db, "user", 0, with(|s| s.account().into()))?;
    fresh(db, "current_user", 0, with(|s| s.account().into()))?;
    fresh(db, "ps_current_thread_id", 0, |_| {
        Ok(match tare::thread::id() {
            0 => Value::Null,
            id => Value::Integer(id as i64),
        })
    })?;
    fresh(db, "current_role", 0, |_| Ok("NONE".to_owned().into()))?;
    fresh(
        db,
        "connection_id",
        0,
        with(|s| Value::Integer(s.id as i64)),
    )?;
    fresh(
        db,
        "last_insert_id",
        0,
        with(|s| Value::Integer(s.last_insert_id())),
    )?;
    fresh(db, "row_count", 0, with(|s| Value::Integer(s.row_count())))?;
    fresh(
        db,
        "found_rows",
        0,
        with(|s| Value::Integer(s.found_rows())),
    )?;
    let s = session.clone();
    fresh(db, "last_insert_id", 1, move |ctx| {
        let n = int(ctx, 0).unwrap_or(0);
        s.set_last_insert_id(n);
        Ok(Value::Integer(n))
    })?;
    let s = session.clone();
    fresh(db, "tare_variable", 2, move |ctx| {
        let (scope, name) = (
            text(ctx, 0).unwrap_or_default(),
            text(ctx, 1).unwrap_or_default(),
        );
        Ok(s.variable(&scope, &name))
    })?;
    let s = session.clone();
    fresh(db, "tare_user_variable", 1, move |ctx| {
        Ok(s.user_variables.get(&text(ctx, 0).unwrap_or_default()))
    })?;
    let s = session.clone();
    fresh(db, "tare_set_variable", 2, move |ctx| {
        let value: Value = ctx.get(1)?;
        s.user_variables
            .set(&text(ctx, 0).unwrap_or_default(), value.clone());
        Ok(value)
    })?;
    let s = session.clone();
    fresh(db, "tare_updated", 1, move |ctx| {
        s.count_updated();
        ctx.get(0)
    })?;
    let s = session.clone();
    fresh(db, "sleep", 1, move |ctx| {
        let Some(seconds) = real(ctx, 0).filter(|s| *s >= 0.0) else {
            return Err(fail("Incorrect arguments to sleep"));
        };
        Ok(Value::Integer(s.sleep(seconds).into()))
    })?;
    fresh(db, "uuid", 0, |_| {
        let mut b = [0u8; 16];
        super::random(&mut b)?;
        b[6] = b[6] & 0x0f | 0x40;
        b[8] = b[8] & 0x3f | 0x80;
        let h = hex(&b, false);
        Ok(format!(
            "{}-{}-{}-{}-{}",
            &h[..8],
            &h[8..12],
            &h[12..16],
            &h[16..20],
            &h[20..]
        )
        .into())
    })?;
    Ok(())
}
