//! What the dialect knows of a function.

use sqlparser::ast::Expr;
use tare_mysql::error::Result;

use super::SqlCall;
use super::result::Out;

/// As many arguments as one likes.
pub const ANY: u8 = u8::MAX;

/// What a call's value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluation {
    /// Its arguments alone.
    Immutable,
    /// Its arguments, and what stays while a statement runs.
    Stable,
    /// More than that: the next call may give another value, or do something.
    Volatile,
    /// A group of rows.
    Aggregate,
}

/// How SQLite is told of a call.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// SQLite knows it by its name, or has been given it.
    Itself,
    /// It has another name there.
    Renamed(&'static str),
    /// An expression, in which `?` is the arguments.
    Template(&'static str),
    /// What only code can tell; `None` leaves the call as it is.
    Code(fn(&SqlCall<'_>) -> Result<Option<Expr>>),
}

/// A function of MySQL's.
#[derive(Debug)]
pub struct Signature {
    /// Its name, in lower case.
    pub name: &'static str,
    /// How many arguments it takes at least.
    pub fewest: u8,
    /// And at most.
    pub most: u8,
    /// What it returns.
    pub out: Out,
    /// How SQLite is told.
    pub form: Form,
    /// What its value depends on.
    pub evaluation: Evaluation,
}
