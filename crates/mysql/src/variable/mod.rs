//! System variables: their names, types, defaults and limits, and who may set them.
//!
//! A server has values of its own for them; [`of`] lists those of a series.

mod check;
mod flags;
mod list;
mod mariadb;
mod modes;
mod record;
mod v9_7;
mod words;

use std::sync::OnceLock;

pub use self::modes::warnings as mode_warnings;
pub use self::record::{Settable, Type, Variable};
use crate::series::Series;

/// Which value of a variable or a status counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The session's.
    Session,
    /// The server's.
    Global,
}

/// The variables that a series has, by name.
pub fn of(series: Series) -> &'static [&'static Variable] {
    static ALL: [OnceLock<Vec<&'static Variable>>; Series::ALL.len()] =
        [const { OnceLock::new() }; Series::ALL.len()];
    ALL[series as usize].get_or_init(|| {
        let (changed, removed): (&'static [Variable], &[&str]) = match series {
            Series::V8_0 => (&[], &[]),
            Series::V9_7 => (v9_7::CHANGED, v9_7::REMOVED),
            Series::Mariadb => (mariadb::CHANGED, mariadb::REMOVED),
        };
        let is_changed = |name| changed.binary_search_by(|v| v.name.cmp(name)).is_ok();
        let all = list::VARIABLES.iter();
        let unchanged = all.filter(|v| !removed.contains(&v.name) && !is_changed(v.name));
        let mut all: Vec<&Variable> = unchanged.chain(changed).collect();
        all.sort_by_key(|v| v.name);
        all
    })
}

/// A variable that a series has, by its name in lower case.
pub fn find_in(series: Series, name: &str) -> Option<&'static Variable> {
    let all = of(series);
    let at = all.binary_search_by(|variable| variable.name.cmp(name));
    at.ok().map(|at| all[at])
}

/// A variable by its name in lower case, as the newest MySQL has it that does.
pub fn find(name: &str) -> Option<&'static Variable> {
    let mut newest = [Series::V9_7, Series::V8_0].into_iter();
    newest.find_map(|series| find_in(series, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(v9_7::CHANGED.is_sorted_by(|a, b| a.name < b.name));
        assert!(v9_7::REMOVED.is_sorted());
        assert!(mariadb::CHANGED.is_sorted_by(|a, b| a.name < b.name));
        for series in Series::ALL {
            assert!(of(series).is_sorted_by(|a, b| a.name < b.name));
        }
        assert!(find("version").is_some());
        assert!(find("Version").is_none());
    }

    #[test]
    fn a_series_has_its_own_variables() {
        let has = |name| Series::ALL.map(|series| find_in(series, name).is_some());
        assert_eq!(has("have_ssl"), [true, false, true]);
        assert_eq!(has("connection_memory_limit"), [false, true, false]);
        assert_eq!(has("autocommit"), [true, true, true]);
        assert_eq!(has("performance_schema_error_size"), [true, true, false]);
        let workers = |series| find_in(series, "slave_parallel_workers").map(|v| v.default);
        assert_eq!(Series::ALL.map(workers), [Some("0"), Some("4"), Some("0")]);
        for name in v9_7::REMOVED {
            assert_eq!(has(name), [true, false, true], "{name}");
            assert!(find(name).is_some());
        }
    }
}
