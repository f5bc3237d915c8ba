//! The signature of a function.

use crate::error::Result;
use sqlparser::ast::Expr;

use super::call::SqlCall;

/// As many arguments as one likes.
pub const ANY: u8 = u8::MAX;

/// What a call's value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluation {
    /// Only its arguments.
    Immutable,
    /// Its arguments, and what stays while a statement runs.
    Stable,
    /// More than that: the next call may have another value, or an effect.
    Volatile,
    /// A group of rows.
    Aggregate,
}

/// The form of a call in SQLite.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// The same name: SQLite has the function, or it is registered.
    Itself,
    /// The function has another name in SQLite.
    Renamed(&'static str),
    /// An expression that code builds.
    Code(fn(SqlCall) -> Result<Expr>),
}

/// What a function returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnType {
    /// BIGINT.
    Int,
    /// BIGINT UNSIGNED.
    Unsigned,
    /// DOUBLE.
    Double,
    /// VARCHAR.
    Text,
    /// VARBINARY.
    Bytes,
    /// DATE.
    Date,
    /// DATETIME.
    DateTime,
    /// TIME.
    Time,
    /// JSON.
    Json,
    /// The type of an argument.
    Same(usize),
    /// What all arguments from this one on can become.
    Merged(usize),
    /// A date stays a date, unless hours or less are added; a text stays a text.
    Moved,
    /// The type of SUM, AVG.
    Sum,
    /// AVG: four more digits.
    Average,
    /// ROUND, TRUNCATE: as many digits as the second argument says.
    Rounded,
    /// FLOOR, CEIL.
    Integral,
    /// MOD.
    Remainder,
    /// DOUBLE with that many digits behind the point.
    Fixed(u8),
    /// VARCHAR, or bytes if the first argument is NULL.
    TextOf,
    /// ABS: the type of its argument, and a DOUBLE of NULL.
    Magnitude,
    /// UNIX_TIMESTAMP: with as many digits as its argument has.
    Epoch,
    /// FROM_UNIXTIME: a text, where a format is given.
    FromEpoch,
    /// STR_TO_DATE: what the format says.
    Formatted,
}

/// A function of MySQL's.
#[derive(Debug)]
pub struct Signature {
    /// Its name, in lower case.
    pub name: &'static str,
    /// How many arguments it takes at least.
    pub fewest: u8,
    /// How many arguments it takes at most.
    pub most: u8,
    /// What it returns.
    pub out: ReturnType,
    /// The form of a call in SQLite.
    pub form: Form,
    /// What its value depends on.
    pub evaluation: Evaluation,
}
