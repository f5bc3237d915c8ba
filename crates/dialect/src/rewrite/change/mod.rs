//! UPDATE and DELETE: their tables and rows.

mod delete;
mod target;
mod update;

pub(super) use self::update::is_certain;

/// SQLite's condition that a value differs from a column's, byte by byte.
pub(super) fn differs(column: &str, value: &str) -> String {
    format!("{column} IS NOT ({value}) COLLATE BINARY")
}
