//! Calls that SQLite is told of in other words.

use sqlparser::ast::Expr;
use tare_dialect::rewrite::raw;
use tare_mysql::Result;

/// SQLite's expression for a call; `None` leaves it as it is.
pub(crate) type Written = Result<Option<Expr>>;

/// The expression that a text is.
pub(crate) fn sql(text: impl AsRef<str>) -> Written {
    Ok(Some(raw(text.as_ref())))
}
