//! What a statement is, once it has been read.

mod action;
mod command;
mod sql;

use std::time::Duration;

pub use self::action::{Action, Call, Change};
pub use self::command::Command;
pub use self::sql::{Sql, ViewColumn};

/// A statement, ready to be run by any session in the same database and schema generation.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What to do.
    pub action: Action,
    /// Number of `?`.
    pub params: usize,
    /// What it is counted as.
    pub command: Command,
    /// The schemas' generation it was made for.
    pub generation: u64,
    /// How long it may run: what its hint says.
    pub at_most: Option<Duration>,
}
