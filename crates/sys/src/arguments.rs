//! Arguments of schema sys's functions, converted to their parameters.

use rusqlite::types::Value;
use sqlparser::ast::Expr;
use tare_dialect::{Mode, node};
use tare_functions::call::{Answer, Call, int, raise, real, text};
use tare_mysql::error::SqlError;
use tare_mysql::types::parts;

/// An argument converted to its parameter: one that does not fit is refused, or cut where the mode is not
/// strict.
pub(super) fn convert(name: &str, kind: &str, argument: Expr) -> Expr {
    let kind = parts(kind);
    let name = node::text(name);
    match (kind.base.as_str(), kind.characters()) {
        ("bigint", _) if kind.unsigned => {
            node::call("tare_sys_tare_unsigned", vec![argument, name])
        }
        ("varchar", Some(most)) => {
            let most = node::number(most as i64);
            node::call("tare_sys_tare_fits", vec![argument, name, most])
        }
        _ => argument,
    }
}

/// Reports an argument that does not fit: an error in strict mode, and otherwise a warning.
pub(super) fn report_misfit(ctx: &Call<'_>, error: SqlError) -> rusqlite::Result<()> {
    if Mode::of(&ctx.session.sql_mode()).strict {
        return Err(raise(error));
    }
    ctx.session.warn(error.code, &error.message);
    Ok(())
}

pub(super) fn tare_fits(ctx: &Call<'_>) -> Answer {
    let most = int(ctx, 2).and_then(|n| usize::try_from(n).ok());
    if let (Some(value), Some(most)) = (text(ctx, 0), most)
        && let Some((end, _)) = value.char_indices().nth(most)
    {
        let parameter = text(ctx, 1).unwrap_or_default();
        report_misfit(ctx, SqlError::data_too_long(&parameter))?;
        return Ok(Value::Text(value[..end].to_owned()));
    }
    ctx.argument(0)
}

pub(super) fn tare_unsigned(ctx: &Call<'_>) -> Answer {
    if real(ctx, 0).is_some_and(|number| number < 0.0) {
        let parameter = text(ctx, 1).unwrap_or_default();
        report_misfit(ctx, SqlError::out_of_range(&parameter))?;
        return Ok(Value::Integer(0));
    }
    ctx.argument(0)
}
