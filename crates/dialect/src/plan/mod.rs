//! The plan of a statement.

mod action;
mod command;
pub(crate) mod sql;

use std::time::Duration;

use crate::deprecation::Deprecated;

pub use self::action::{Action, Call, Change};
pub use self::command::Command;
pub use self::sql::{MissingDefault, ResultColumn, RowLocks, Sql};

/// A statement, ready to be run by any session in the same database and schema generation.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What to do.
    pub action: Action,
    /// Number of `?`.
    pub params: usize,
    /// What it is counted as.
    pub command: Command,
    /// The generation of the schemas that it is valid for.
    pub generation: u64,
    /// The time limit of its hint.
    pub at_most: Option<Duration>,
    /// What its text has that the series reads with a warning.
    pub deprecated: Vec<&'static Deprecated>,
}
