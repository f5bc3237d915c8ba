//! One value of one row.

use std::borrow::Cow;

/// A column value. Text is borrowed from the row where the row owns it.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// SQL NULL.
    Null,
    /// An unsigned 64-bit value. SQLite has no such type, so an `i64` has its bits;
    /// the sender reads the column's type and converts it back.
    Unsigned(u64),
    /// A signed 64-bit value.
    Signed(i64),
    /// A floating-point value.
    Real(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// Bytes that may be no text.
    Bytes(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// A string cell that borrows.
    pub fn text(s: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(s))
    }

    /// A string cell that owns.
    pub fn owned(s: String) -> Self {
        Cell::Text(Cow::Owned(s))
    }

    /// MySQL's `enum('YES','NO')`.
    pub fn yes_no(yes: bool) -> Self {
        Cell::text(if yes { "YES" } else { "NO" })
    }

    /// NULL for `None`.
    pub fn opt<T: Into<Cell<'a>>>(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

impl From<u64> for Cell<'_> {
    fn from(v: u64) -> Self {
        Cell::Unsigned(v)
    }
}

impl From<u32> for Cell<'_> {
    fn from(v: u32) -> Self {
        Cell::Unsigned(v.into())
    }
}

impl From<i64> for Cell<'_> {
    fn from(v: i64) -> Self {
        Cell::Signed(v)
    }
}

impl From<f64> for Cell<'_> {
    fn from(v: f64) -> Self {
        Cell::Real(v)
    }
}

impl<'a> From<&'a [u8]> for Cell<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Cell::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(v: &'a str) -> Self {
        Cell::text(v)
    }
}

impl From<String> for Cell<'_> {
    fn from(v: String) -> Self {
        Cell::owned(v)
    }
}
