//! Functions whose value their arguments alone tell.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use crate::{format, names};
use tare_functions::call::{Answer, opt, raise, real, text};
use tare_mysql::error::SqlError;

/// Gives a connection these functions.
pub(super) fn register(db: &Connection) -> Result<()> {
    add(db, "tare_sys_format_bytes", 1, |ctx| {
        opt(real(ctx, 0).map(format::format_bytes))
    })?;
    add(db, "tare_sys_format_time", 1, |ctx| {
        // What a view says in the place of a time stays: `Still Waiting`.
        if let ValueRef::Text(text) = ctx.get_raw(0)
            && !text.first().is_some_and(|c| b"-+.0123456789 ".contains(c))
        {
            return Ok(Value::Text(String::from_utf8_lossy(text).into_owned()));
        }
        opt(real(ctx, 0).map(format::format_time))
    })?;
    add(db, "tare_sys_extract_schema_from_file_name", 1, |ctx| {
        opt(text(ctx, 0).and_then(|p| names::schema_of_file(&p).map(str::to_owned)))
    })?;
    add(db, "tare_sys_extract_table_from_file_name", 1, |ctx| {
        opt(text(ctx, 0).and_then(|p| names::table_of_file(&p).map(str::to_owned)))
    })?;
    for (name, parameter) in [("list_add", "in_add_value"), ("list_drop", "in_drop_value")] {
        add(db, &format!("tare_sys_{name}"), 2, move |ctx| {
            let Some(value) = text(ctx, 1) else {
                let message =
                    format!("Function sys.{name}: {parameter} input variable should not be NULL");
                return Err(raise(SqlError::signal("02200", 1138, message)));
            };
            let list = text(ctx, 0);
            if name == "list_add" {
                return Ok(names::list_add(list.as_deref(), &value).into());
            }
            opt(list.map(|list| names::list_drop(&list, &value)))
        })?;
    }
    add(db, "tare_sys_quote_identifier", 1, |ctx| {
        opt(text(ctx, 0).map(|name| names::quote_identifier(&name)))
    })?;
    add(db, "tare_sys_tare_no_consumer", 1, |ctx| {
        let name = text(ctx, 0).unwrap_or_default();
        let message =
            format!("Invalid argument error: {name} in function sys.ps_is_consumer_enabled.");
        Err(raise(SqlError::new(3047, message)))
    })?;
    Ok(())
}

/// Adds a function that always gives the same for the same arguments.
pub(super) fn add(
    db: &Connection,
    name: &str,
    args: i32,
    f: impl Fn(&Context<'_>) -> Answer + Send + 'static,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function(name, args, flags, move |ctx| f(ctx))
}
