//! Statements on a segment, without a server.
//!
//! [`Evaluator`] has the state that a statement needs: a default database, user variables, warnings, the
//! system variables that change how statements are read. It sends no requests to the observed program, and
//! refuses what only a server can do: databases of users, locks, KILL.

mod context;
mod evaluator;
mod set;
mod variables;

pub use self::context::{Data, DigestFn};
pub use self::evaluator::{Evaluator, Outcome};
