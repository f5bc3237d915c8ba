//! System variables: which there are, and the server's values of them.

mod check;
mod effect;
mod globals;
mod info;
mod list;
mod modes;
mod variable;

pub use self::check::checked;
pub use self::effect::{ACCEPTED, may_change};
pub use self::globals::Globals;
pub use self::list::VARIABLES;
pub use self::variable::{Settable, Variable};

/// What the server calls itself. Clients look at the number before they ask for anything, so it
/// is the MySQL whose tables and protocol are served.
pub const VERSION: &str = concat!("8.0.15-tare-", env!("CARGO_PKG_VERSION"));

/// A variable, by its name in lower case.
pub fn find(name: &str) -> Option<&'static Variable> {
    let at = VARIABLES.binary_search_by(|variable| variable.name.cmp(name));
    at.ok().map(|at| &VARIABLES[at])
}
