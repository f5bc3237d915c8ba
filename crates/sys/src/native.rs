//! Functions of schema sys that read no table. Those here ask the session; [`pure`] has the others.

mod pure;

use std::sync::Arc;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value;
use rusqlite::{Connection, Result};

use crate::config::SysConfig;
use crate::{format, names};
use tare_functions::call::{Answer, opt, text};

/// What these functions ask of the session that calls them.
pub trait Session: tare_functions::Session {
    /// The options of schema sys.
    fn sys_config(&self) -> &SysConfig;

    /// A system variable as text.
    fn system_text(&self, name: &str) -> Option<String>;

    /// Whether the server enables, or times, an instrument of this name when nobody has said anything.
    fn instrument_default(&self, name: &str, timed: bool) -> bool;
}

/// An option: the session's `@sys.NAME`, or sys_config's.
pub fn option(session: &dyn Session, name: &str) -> Option<String> {
    match session.user_variable(&format!("sys.{name}")) {
        Value::Text(text) => Some(text),
        Value::Integer(n) => Some(n.to_string()),
        Value::Real(x) => Some(x.to_string()),
        _ => session.sys_config().get(name),
    }
}

fn number(session: &dyn Session, name: &str, default: usize) -> usize {
    option(session, name)
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(default)
}

/// Gives a connection the functions.
pub fn register(db: &Connection, session: &Arc<dyn Session>) -> Result<()> {
    pure::register(db)?;
    let s = session.clone();
    fresh(db, "tare_sys_format_statement", 1, move |ctx| {
        let limit = number(&*s, "statement_truncate_len", 64);
        opt(text(ctx, 0).map(|t| format::format_statement(&t, limit)))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_format_path", 1, move |ctx| {
        let variables = [
            "datadir",
            "tmpdir",
            "basedir",
            "innodb_data_home_dir",
            "innodb_log_group_home_dir",
            "slave_load_tmpdir",
        ];
        let known: Vec<(&str, String)> = variables
            .into_iter()
            .filter_map(|name| Some((name, s.system_text(name)?)))
            .collect();
        opt(text(ctx, 0).map(|path| names::format_path(&path, &known)))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_sys_get_config", 2, move |ctx| {
        let value = text(ctx, 0).and_then(|name| s.sys_config().get(&name));
        opt(value.or_else(|| text(ctx, 1)))
    })?;
    let s = session.clone();
    fresh(db, "tare_sys_tare_trx_limit", 0, move |_| {
        Ok(Value::Integer(
            number(&*s, "ps_thread_trx_info.max_length", 65_535) as i64,
        ))
    })?;
    for (name, timed) in [("enabled", false), ("timed", true)] {
        let s = session.clone();
        pure::add(
            db,
            &format!("tare_sys_ps_is_instrument_default_{name}"),
            1,
            move |ctx| {
                opt(text(ctx, 0).map(|name| {
                    let on = s.instrument_default(&name, timed);
                    if on { "YES" } else { "NO" }.to_owned()
                }))
            },
        )?;
    }
    for (i, name) in ["major", "minor", "patch"].into_iter().enumerate() {
        let s = session.clone();
        pure::add(db, &format!("tare_sys_version_{name}"), 0, move |_| {
            let number = s
                .version()
                .split(['.', '-'])
                .nth(i)
                .and_then(|n| n.parse().ok());
            Ok(Value::Integer(number.unwrap_or(0)))
        })?;
    }
    Ok(())
}

fn fresh(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    db.create_scalar_function(name, args, FunctionFlags::SQLITE_UTF8, move |ctx| f(ctx))
}
