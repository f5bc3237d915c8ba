//! Statements on a segment, without a server.
//!
//! [`Evaluator`] has what a statement needs of a session: a default database, user variables,
//! warnings, the system variables that change how statements are read. The observed program is asked
//! nothing. What only a server can do is refused: databases and what is in them, locks, KILL.

mod context;
mod evaluator;
mod set;
mod variables;

pub use self::evaluator::{Evaluator, Outcome};
