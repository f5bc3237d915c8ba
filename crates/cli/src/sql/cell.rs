//! A value of a result, out of the text that MySQL's protocol has for it.

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
