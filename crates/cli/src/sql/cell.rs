//! A value of a result, out of the text that MySQL's protocol has for it.

use tare_mysql::wire::ColumnType;

use crate::output::Cell;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whole numbers.
    Whole,
    /// Binary numbers with a fraction.
    Real,
    /// Decimal numbers.
    Decimal,
    /// Anything else.
    Text,
}

impl Kind {
    /// By the number of a type, which two versions of mysql_common have enums of their own for.
    pub(super) fn of(code: u8) -> Self {
        use ColumnType as T;
        match T::try_from(code) {
            Ok(
                T::MYSQL_TYPE_TINY
                | T::MYSQL_TYPE_SHORT
                | T::MYSQL_TYPE_INT24
                | T::MYSQL_TYPE_LONG
                | T::MYSQL_TYPE_LONGLONG
                | T::MYSQL_TYPE_YEAR,
            ) => Self::Whole,
            Ok(T::MYSQL_TYPE_FLOAT | T::MYSQL_TYPE_DOUBLE) => Self::Real,
            Ok(T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL) => Self::Decimal,
            _ => Self::Text,
        }
    }
}

/// The value that a text stands for.
pub(super) fn of_text(text: String, kind: Kind) -> Cell {
    match kind {
        Kind::Whole => match (text.parse(), text.parse()) {
            (Ok(n), _) => Cell::Unsigned(n),
            (_, Ok(n)) => Cell::Signed(n),
            _ => Cell::Text(text),
        },
        Kind::Real => text.parse().map_or(Cell::Text(text), Cell::Real),
        Kind::Decimal => Cell::Decimal(text),
        Kind::Text => Cell::Text(text),
    }
}
