//! Parses the values of MySQL's text protocol.

use tare_mysql::wire::ColumnType;

use crate::output::Cell;

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Integers.
    Integer,
    /// Binary numbers with a fraction.
    Real,
    /// Decimal numbers.
    Decimal,
    /// Anything else.
    Text,
}

impl Kind {
    /// The kind of a protocol type, by its number: two versions of mysql_common each have an enum.
    pub(super) fn from_code(code: u8) -> Self {
        use ColumnType as T;
        match T::try_from(code) {
            Ok(
                T::MYSQL_TYPE_TINY
                | T::MYSQL_TYPE_SHORT
                | T::MYSQL_TYPE_INT24
                | T::MYSQL_TYPE_LONG
                | T::MYSQL_TYPE_LONGLONG
                | T::MYSQL_TYPE_YEAR,
            ) => Self::Integer,
            Ok(T::MYSQL_TYPE_FLOAT | T::MYSQL_TYPE_DOUBLE) => Self::Real,
            Ok(T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL) => Self::Decimal,
            _ => Self::Text,
        }
    }
}

/// Parses a value.
pub(super) fn parse(text: String, kind: Kind) -> Cell {
    match kind {
        Kind::Integer => match (text.parse(), text.parse()) {
            (Ok(n), _) => Cell::Unsigned(n),
            (_, Ok(n)) => Cell::Signed(n),
            _ => Cell::Text(text),
        },
        Kind::Real => text.parse().map_or(Cell::Text(text), Cell::Real),
        Kind::Decimal => Cell::Decimal(text),
        Kind::Text => Cell::Text(text),
    }
}
