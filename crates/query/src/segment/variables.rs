//! System variables on a segment.
//!
//! The evaluator has those that say how it reads and answers statements; the segment has
//! performance_schema's own. The segment does not have the other variables of the observed program: SELECT
//! returns NULL, SHOW VARIABLES leaves them out, SET is refused.

/// The evaluator's own, by name.
pub(super) const OWN: [&str; 16] = [
    "autocommit",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_filesystem",
    "character_set_results",
    "character_set_server",
    "character_set_system",
    "collation_connection",
    "collation_database",
    "collation_server",
    "lower_case_table_names",
    "sql_mode",
    "time_zone",
    "version",
    "version_comment",
];

/// Those that may be set: sql_mode, and those of SET NAMES, which scripts begin with (texts are always UTF-8).
const SETTABLE: [&str; 5] = [
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "sql_mode",
];

/// Whether the evaluator has a variable.
pub(super) fn is_own(name: &str) -> bool {
    OWN.contains(&name)
}

/// Whether the variable can be set.
pub(super) fn may_change(name: &str) -> bool {
    SETTABLE.contains(&name)
}

#[cfg(test)]
mod tests {
    use tare_mysql::variable::{Settable, find};

    use super::*;

    #[test]
    fn every_name_is_a_variable() {
        assert!(OWN.is_sorted());
        for name in OWN {
            assert!(find(name).is_some(), "{name}");
        }
        for name in SETTABLE {
            assert!(is_own(name), "{name}");
            assert_eq!(
                find(name).map(|v| v.settable),
                Some(Settable::Both),
                "{name}"
            );
        }
    }
}
