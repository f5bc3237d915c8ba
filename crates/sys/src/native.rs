//! The bodies of functions of schema sys that read no table.

use std::borrow::Cow;

use rusqlite::types::{Value, ValueRef};

use crate::arguments::report_misfit;
use crate::option::number;
use crate::{format, names};
use tare_functions::call::{Answer, Call, opt, raise, real, text};
use tare_mysql::error::SqlError;

/// Variables whose paths format_path replaces by their names.
const PATHS: [&str; 6] = [
    "datadir",
    "tmpdir",
    "basedir",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "slave_load_tmpdir",
];

pub(super) fn extract_schema_from_file_name(ctx: &Call<'_>) -> Answer {
    opt(text(ctx, 0).and_then(|p| names::schema_of_file(&p).map(str::to_owned)))
}

pub(super) fn extract_table_from_file_name(ctx: &Call<'_>) -> Answer {
    opt(text(ctx, 0).and_then(|p| names::table_of_file(&p).map(str::to_owned)))
}

pub(super) fn format_bytes(ctx: &Call<'_>) -> Answer {
    opt(real(ctx, 0).map(format::format_bytes))
}

pub(super) fn format_path(ctx: &Call<'_>) -> Answer {
    let path_of = |name| match ctx.session.variable("session", name) {
        Value::Text(path) => Some((name, path)),
        _ => None,
    };
    let paths: Vec<(&str, String)> = PATHS.into_iter().filter_map(path_of).collect();
    opt(text(ctx, 0).map(|path| names::format_path(&path, &paths)))
}

pub(super) fn format_statement(ctx: &Call<'_>) -> Answer {
    let limit = number(ctx.session, "statement_truncate_len", 64);
    opt(text(ctx, 0).map(|t| format::format_statement(&t, limit)))
}

pub(super) fn format_time(ctx: &Call<'_>) -> Answer {
    // A view may have a text in place of a time, such as `Still Waiting`.
    if let ValueRef::Text(text) = ctx.get_raw(0)
        && !text.first().is_some_and(|c| b"-+.0123456789 ".contains(c))
    {
        return Ok(Value::Text(String::from_utf8_lossy(text).into_owned()));
    }
    opt(real(ctx, 0).map(format::format_time))
}

pub(super) fn list_add(ctx: &Call<'_>) -> Answer {
    let value = list_value(ctx, "list_add", "in_add_value")?;
    Ok(names::list_add(list(ctx)?.as_deref(), &value).into())
}

pub(super) fn list_drop(ctx: &Call<'_>) -> Answer {
    let value = list_value(ctx, "list_drop", "in_drop_value")?;
    opt(list(ctx)?.map(|list| names::list_drop(&list, &value)))
}

/// A list: a TEXT of at most 65,535 bytes.
fn list<'c>(ctx: &'c Call<'_>) -> rusqlite::Result<Option<Cow<'c, str>>> {
    const MAX_BYTES: usize = 65_535;
    let Some(list) = text(ctx, 0).filter(|list| list.len() > MAX_BYTES) else {
        return Ok(text(ctx, 0));
    };
    report_misfit(ctx, SqlError::data_too_long("in_list"))?;
    Ok(Some(Cow::Owned(
        list[..list.floor_char_boundary(MAX_BYTES)].to_owned(),
    )))
}

/// A value of a list, which is not NULL.
fn list_value(ctx: &Call<'_>, function: &str, parameter: &str) -> rusqlite::Result<String> {
    text(ctx, 1).map(Into::into).ok_or_else(|| {
        let message =
            format!("Function sys.{function}: {parameter} input variable should not be NULL");
        raise(SqlError::signal("02200", 1138, message))
    })
}

pub(super) fn ps_is_instrument_default_enabled(ctx: &Call<'_>) -> Answer {
    instrument_default(ctx, false)
}

pub(super) fn ps_is_instrument_default_timed(ctx: &Call<'_>) -> Answer {
    instrument_default(ctx, true)
}

fn instrument_default(ctx: &Call<'_>, timed: bool) -> Answer {
    opt(text(ctx, 0).map(|name| {
        let on = ctx.session.instrument_default(&name, timed);
        if on { "YES" } else { "NO" }.to_owned()
    }))
}

pub(super) fn quote_identifier(ctx: &Call<'_>) -> Answer {
    opt(text(ctx, 0).map(|name| names::quote_identifier(&name)))
}

pub(super) fn sys_get_config(ctx: &Call<'_>) -> Answer {
    let value = text(ctx, 0).and_then(|name| ctx.session.sys_option(&name));
    opt(value.or_else(|| text(ctx, 1).map(Into::into)))
}

pub(super) fn tare_no_consumer(ctx: &Call<'_>) -> Answer {
    let name = text(ctx, 0).unwrap_or_default();
    let message = format!("Invalid argument error: {name} in function sys.ps_is_consumer_enabled.");
    Err(raise(SqlError::new(3047, message)))
}

pub(super) fn tare_trx_limit(ctx: &Call<'_>) -> Answer {
    let limit = number(ctx.session, "ps_thread_trx_info.max_length", 65_535);
    Ok(Value::Integer(limit as i64))
}

pub(super) fn version_major(ctx: &Call<'_>) -> Answer {
    version(ctx, 0)
}

pub(super) fn version_minor(ctx: &Call<'_>) -> Answer {
    version(ctx, 1)
}

pub(super) fn version_patch(ctx: &Call<'_>) -> Answer {
    version(ctx, 2)
}

fn version(ctx: &Call<'_>, part: usize) -> Answer {
    let mut parts = ctx.session.series().version().split(['.', '-']);
    let number = parts.nth(part).and_then(|n| n.parse().ok());
    Ok(Value::Integer(number.unwrap_or(0)))
}
