//! The arguments of calls that become expressions of SQLite.

use sqlparser::ast::Expr;
use tare_dialect::error::Result;
use tare_dialect::function::SqlCall;
use tare_dialect::near;

/// SQLite's expression for a call.
pub(crate) type ExprResult = Result<Expr>;

/// A call's arguments; its record has their number.
pub(crate) fn plain<const N: usize>(call: SqlCall) -> Result<[Expr; N]> {
    let arguments = call.into_arguments();
    arguments.try_into().map_err(|_| near("*"))
}
