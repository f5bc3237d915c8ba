//! Functions of schema sys that only compute.

use std::sync::Arc;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use tare_mysql::error::SqlError;

use super::functions;
use crate::server::state::SessionState;
use crate::server::variables::VERSION;
use tare_functions::call::{Answer, opt, raise, real, text};

/// An option: the session's `@sys.NAME`, or sys_config's.
pub fn option(session: &SessionState, name: &str) -> Option<String> {
    match session.user_variables.get(&format!("sys.{name}")) {
        Value::Text(text) => Some(text),
        Value::Integer(n) => Some(n.to_string()),
        Value::Real(x) => Some(x.to_string()),
        _ => session.sys_config().get(name),
    }
}

fn number(session: &SessionState, name: &str, default: usize) -> usize {
    option(session, name)
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(default)
}

/// Gives a connection the functions.
pub fn register(db: &Connection, session: &Arc<SessionState>) -> Result<()> {
    pure(db, "tare_sys_format_bytes", 1, |ctx| {
        opt(real(ctx, 0).map(functions::format_bytes))
    })?;
    pure(db, "tare_sys_format_time", 1, |ctx| {
        // What a view says in the place of a time stays: `Still Waiting`.
        if let ValueRef::Text(text) = ctx.get_raw(0)
            && !text.first().is_some_and(|c| b"-+.0123456789 ".contains(c))
        {
            return Ok(Value::Text(String::from_utf8_lossy(text).into_owned()));
        }
        opt(real(ctx, 0).map(functions::format_time))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_format_statement", 1, move |ctx| {
        let limit = number(&s, "statement_truncate_len", 64);
        opt(text(ctx, 0).map(|t| functions::format_statement(&t, limit)))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_format_path", 1, move |ctx| {
        let names = [
            "datadir",
            "tmpdir",
            "basedir",
            "innodb_data_home_dir",
            "innodb_log_group_home_dir",
            "slave_load_tmpdir",
        ];
        let known: Vec<(&str, String)> = names
            .into_iter()
            .filter_map(|name| Some((name, s.text(name)?)))
            .collect();
        opt(text(ctx, 0).map(|path| functions::format_path(&path, &known)))
    })?;
    pure(db, "tare_sys_extract_schema_from_file_name", 1, |ctx| {
        opt(text(ctx, 0).and_then(|p| functions::schema_of_file(&p).map(str::to_owned)))
    })?;
    pure(db, "tare_sys_extract_table_from_file_name", 1, |ctx| {
        opt(text(ctx, 0).and_then(|p| functions::table_of_file(&p).map(str::to_owned)))
    })?;
    for (name, parameter) in [("list_add", "in_add_value"), ("list_drop", "in_drop_value")] {
        pure(db, &format!("tare_sys_{name}"), 2, move |ctx| {
            let Some(value) = text(ctx, 1) else {
                let message =
                    format!("Function sys.{name}: {parameter} input variable should not be NULL");
                return Err(raise(SqlError::signal("02200", 1138, message)));
            };
            let list = text(ctx, 0);
            if name == "list_add" {
                return Ok(functions::list_add(list.as_deref(), &value).into());
            }
            opt(list.map(|list| functions::list_drop(&list, &value)))
        })?;
    }
    pure(db, "tare_sys_quote_identifier", 1, |ctx| {
        opt(text(ctx, 0).map(|name| functions::quote_identifier(&name)))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_sys_get_config", 2, move |ctx| {
        let value = text(ctx, 0).and_then(|name| s.sys_config().get(&name));
        opt(value.or_else(|| text(ctx, 1)))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_tare_trx_limit", 0, move |_| {
        Ok(Value::Integer(
            number(&s, "ps_thread_trx_info.max_length", 65_535) as i64,
        ))
    })?;
    pure(db, "tare_sys_tare_no_consumer", 1, |ctx| {
        let name = text(ctx, 0).unwrap_or_default();
        let message =
            format!("Invalid argument error: {name} in function sys.ps_is_consumer_enabled.");
        Err(raise(SqlError::new(3047, message)))
    })?;
    for (name, timed) in [("enabled", false), ("timed", true)] {
        pure(
            db,
            &format!("tare_sys_ps_is_instrument_default_{name}"),
            1,
            move |ctx| {
                opt(text(ctx, 0).map(|name| {
                    let on = crate::sys::instruments::default_of(&name, timed);
                    if on { "YES" } else { "NO" }.to_owned()
                }))
            },
        )?;
    }
    for (i, name) in ["major", "minor", "patch"].into_iter().enumerate() {
        pure(db, &format!("tare_sys_version_{name}"), 0, move |_| {
            let number = VERSION
                .split(['.', '-'])
                .nth(i)
                .and_then(|n| n.parse().ok());
            Ok(Value::Integer(number.unwrap_or(0)))
        })?;
    }
    Ok(())
}

fn pure(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function(name, args, flags, move |ctx| f(ctx))
}

fn fresh(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    db.create_scalar_function(name, args, FunctionFlags::SQLITE_UTF8, move |ctx| f(ctx))
}
