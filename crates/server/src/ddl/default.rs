//! The defaults of columns: whether a column can have one, and its form.

use rusqlite::types::Value;
use tare_dialect::node;
use tare_dialect::rewrite::conversion_call;
use tare_mysql::date::argument::Parts;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::real::Real;
use tare_mysql::table::{ColumnDef, TableDef, literal};
use tare_mysql::types::{base_type, is_text, parts};
use tare_mysql::wire::value::format_real;
use tare_store::Error;

use crate::session::Session;

/// Checks the defaults of the columns that an old definition does not have, and stores them as their columns have them.
/// 1067 and 1101.
pub fn settle(session: &mut Session, def: &mut TableDef, old: Option<&TableDef>) -> Result<()> {
    for at in 0..def.columns.len() {
        let column = &def.columns[at];
        let is_old = old.is_some_and(|old| old.columns.contains(column));
        if is_old || column.default.is_none() {
            continue;
        }
        let default = settled(session, column)?;
        def.columns[at].default = default;
    }
    Ok(())
}

/// 1067.
fn invalid(column: &ColumnDef) -> SqlError {
    SqlError::new(1067, format!("Invalid default value for '{}'", column.name))
}

fn settled(session: &mut Session, column: &ColumnDef) -> Result<Option<String>> {
    if column.auto_increment {
        return Err(invalid(column));
    }
    let base = base_type(&column.column_type);
    if column.is_now() {
        return match matches!(base, "datetime" | "timestamp") {
            true => Ok(column.default.clone()),
            false => Err(invalid(column)),
        };
    }
    let default = column.default.clone().unwrap_or_default();
    // An expression is evaluated for each row.
    if default.starts_with('(') {
        return Ok(Some(default));
    }
    if base.ends_with("text") || base.ends_with("blob") || base == "json" {
        return without_default(session, column, &default);
    }
    if let Some(bits) = column.bits_default() {
        let width = parts(&column.column_type).numeric().map_or(1, |n| n.0);
        return match bits.checked_shr(width as u32).unwrap_or(0) {
            0 => Ok(Some(default)),
            _ => Err(invalid(column)),
        };
    }
    let Some(text) = default
        .starts_with('\'')
        .then(|| column.plain_default())
        .flatten()
    else {
        return Ok(Some(default));
    };
    if matches!(base, "date" | "datetime" | "timestamp")
        && let Some(text) = zero_date(session, column, &text)
    {
        return Ok(Some(literal(&text)));
    }
    let length = parts(&column.column_type).characters();
    if is_text(&column.column_type) && base != "enum" && base != "set" {
        let text = if base == "char" {
            text.trim_end_matches(' ')
        } else {
            &text
        };
        return match length.is_some_and(|most| text.chars().count() as u64 > most) {
            true => Err(invalid(column)),
            false => Ok(Some(literal(text))),
        };
    }
    if base.ends_with("binary") {
        return match length.is_some_and(|most| text.len() as u64 > most) {
            true => Err(invalid(column)),
            false => Ok(Some(default)),
        };
    }
    converted(session, column, &text)
}

/// 1101, or a warning of a default that is the type's own, without strict mode.
fn without_default(session: &Session, column: &ColumnDef, default: &str) -> Result<Option<String>> {
    let error = SqlError::new(
        1101,
        format!(
            "BLOB, TEXT, GEOMETRY or JSON column '{}' can't have a default value",
            column.name
        ),
    );
    if default != "''" || session.mode().strict {
        return Err(error);
    }
    session
        .state
        .warnings
        .add("Warning", error.code, error.message);
    Ok(None)
}

/// The default that is a date with a part that is zero, if the mode allows it.
fn zero_date(session: &Session, column: &ColumnDef, text: &str) -> Option<String> {
    let mut parts = match text.parse::<i64>() {
        Ok(0) => Parts::default(),
        _ => Parts::of_text(text)?,
    };
    let base = base_type(&column.column_type);
    if parts.moment().is_some() || base == "timestamp" && !parts.is_zero() {
        return None;
    }
    let sql_mode = session.state.text("sql_mode").unwrap_or_default();
    let refused_by = match parts.is_zero() {
        true => "NO_ZERO_DATE",
        false => "NO_ZERO_IN_DATE",
    };
    if sql_mode.split(',').any(|mode| mode == refused_by) {
        if session.mode().strict {
            return None;
        }
        let error = SqlError::out_of_range(&column.name);
        session
            .state
            .warnings
            .add("Warning", error.code, error.message);
        parts = Parts::default();
    }
    let seconds = parts.micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(match base {
        "date" => parts.date_text(),
        _ => format!("{} {hour:02}:{minute:02}:{second:02}", parts.date_text()),
    })
}

/// The value that the column would have.
fn converted(session: &mut Session, column: &ColumnDef, text: &str) -> Result<Option<String>> {
    // A TIMESTAMP's default is a text of the session's time zone: only its range is checked.
    let is_moment = base_type(&column.column_type) == "timestamp";
    let value = conversion_call(column, node::text(text), true);
    let sql = format!("SELECT {value}");
    let connection = session.connections.own()?;
    let converted = connection.db().query_row(&sql, [], |row| row.get(0));
    let value: Value = converted.map_err(|error| {
        let error = SqlError::from(Error::from(error));
        match error.code {
            1264..=1265 | 1292 | 1366 | 1406 => invalid(column),
            _ => error,
        }
    })?;
    Ok(Some(literal(&match value {
        _ if is_moment => text.to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Text(text) => text,
        // A DOUBLE(6,2) shows two digits of its default.
        Value::Real(x) => {
            match Real::of(&column.column_type).and_then(|r| Some((r, r.digits?.1))) {
                Some((real, scale)) => format_real(real.rounded(x), real.single, scale),
                None => text.to_owned(),
            }
        }
        _ => text.to_owned(),
    })))
}
