//! Rows of tables that are always empty.

use crate::catalog::{Cell, Column, Filter, Rows, SqlError, View, col, null};

/// There is no row of this type.
pub enum Nothing {}

fn never(row: &Nothing) -> Cell<'_> {
    match *row {}
}

/// A column that would never be NULL.
pub const fn always(
    name: &'static str,
    column_type: &'static str,
    doc: &'static str,
) -> Column<Nothing> {
    col(name, column_type, doc, never)
}

/// A column that could be NULL.
pub const fn maybe(
    name: &'static str,
    column_type: &'static str,
    doc: &'static str,
) -> Column<Nothing> {
    null(name, column_type, doc, never)
}

/// No rows.
pub fn nothing(_: &View, _: &Filter) -> Result<Rows<Nothing>, SqlError> {
    Ok(Box::new(std::iter::empty()))
}
