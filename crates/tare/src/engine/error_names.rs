//! The names that the host gives its errors.

use std::sync::Mutex;

use super::state::{Engine, lock};

/// The code of errors that the host does not have: they are counted together, in the row without a number.
pub const OTHER: u32 = 0;

/// Code, name and SQLSTATE of each error that the host has named.
static NAMES: Mutex<Vec<(u32, String, String)>> = Mutex::new(Vec::new());

/// Names an error, for every engine that starts from here on.
pub(crate) fn define(code: u32, name: &str, sqlstate: &str) {
    let mut names = lock(&NAMES);
    let entry = (code, name.to_owned(), sqlstate.to_owned());
    match names.iter_mut().find(|(named, ..)| *named == code) {
        Some(named) => *named = entry,
        None => names.push(entry),
    }
}

impl Engine {
    /// Registers every error that has been named.
    pub(super) fn register_error_names(&self) {
        for (code, name, sqlstate) in lock(&NAMES).iter() {
            self.error_class(*code, Some((name, sqlstate)));
        }
    }
}
