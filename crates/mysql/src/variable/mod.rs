//! System variables: their names, types, defaults and limits, and who may set them.
//!
//! Whoever answers clients has values of its own for them; [`VARIABLES`] says what there is.

mod check;
mod list;
mod modes;
mod record;

pub use self::list::VARIABLES;
pub use self::record::{Settable, Type, Variable};

/// Which value of a variable or a status counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The session's.
    Session,
    /// The server's.
    Global,
}

/// A variable, by its name in lower case.
pub fn find(name: &str) -> Option<&'static Variable> {
    let at = VARIABLES.binary_search_by(|variable| variable.name.cmp(name));
    at.ok().map(|at| &VARIABLES[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(VARIABLES.is_sorted_by(|a, b| a.name < b.name));
        assert!(find("version").is_some());
        assert!(find("Version").is_none());
    }
}
