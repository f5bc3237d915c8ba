//! UPDATE and DELETE: their tables and the rows of them.

mod delete;
mod target;
mod update;

pub(super) use self::update::is_certain;

/// Whether a column's value is another one, byte by byte.
pub(super) fn differs(column: &str, value: &str) -> String {
    format!("{column} IS NOT ({value}) COLLATE BINARY")
}
