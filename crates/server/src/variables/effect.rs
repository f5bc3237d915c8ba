//! Which variables have an effect, and which are only accepted.
//!
//! SET of any other variable is refused unless the value is the current one: to accept it would pretend
//! an effect.

/// Variables that have an effect, by name.
const EFFECTIVE: &[&str] = &[
    "autocommit",
    "connection_memory_limit",
    "cte_max_recursion_depth",
    "foreign_key_checks",
    "global_connection_memory_limit",
    "identity",
    "innodb_flush_log_at_trx_commit",
    "innodb_lock_wait_timeout",
    "innodb_monitor_disable",
    "innodb_monitor_enable",
    "innodb_monitor_reset",
    "innodb_monitor_reset_all",
    "last_insert_id",
    "long_query_time",
    "max_execution_time",
    "max_prepared_stmt_count",
    "net_read_timeout",
    "net_write_timeout",
    "performance_schema_max_digest_sample_age",
    "require_secure_transport",
    "sql_mode",
    "time_zone",
    "transaction_read_only",
    "wait_timeout",
];

/// Variables without effect that clients set when they connect or in a dump, and which clients do. SELECT
/// returns the set value, except of transaction_isolation, which is always SERIALIZABLE.
pub static ACCEPTED: &[(&str, &str)] = &[
    (
        "character_set_client",
        "SET NAMES: every client; texts are always UTF-8",
    ),
    ("character_set_connection", "SET NAMES"),
    ("character_set_database", "connectors, when they connect"),
    ("character_set_results", "SET NAMES; Connector/J sets NULL"),
    ("character_set_server", "connectors, when they connect"),
    ("collation_connection", "SET NAMES ... COLLATE"),
    ("collation_database", "dumps"),
    ("collation_server", "connectors, when they connect"),
    (
        "default_storage_engine",
        "Django and other frameworks; tables are SQLite's",
    ),
    (
        "group_concat_max_len",
        "frameworks and Percona's tools; GROUP_CONCAT is not cut",
    ),
    ("information_schema_stats_expiry", "mysqldump"),
    ("interactive_timeout", "mysql, and pools of connections"),
    (
        "lock_wait_timeout",
        "Percona's tools; innodb_lock_wait_timeout is what counts",
    ),
    (
        "performance_schema_show_processlist",
        "users who want SHOW PROCESSLIST without a lock; it takes none either way",
    ),
    (
        "sql_log_bin",
        "mysqldump of a server with GTIDs; there is no binary log either way",
    ),
    ("sql_notes", "dumps"),
    ("sql_safe_updates", "mysql --safe-updates"),
    (
        "sql_select_limit",
        "Connector/J's setMaxRows, mysql --safe-updates",
    ),
    (
        "transaction_isolation",
        "frameworks; every transaction is SERIALIZABLE, and the variable says so",
    ),
    ("unique_checks", "dumps"),
];

/// Whether SET may change a variable.
pub fn may_change(name: &str) -> bool {
    EFFECTIVE.binary_search(&name).is_ok()
        || ACCEPTED
            .binary_search_by(|(accepted, _)| accepted.cmp(&name))
            .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_mysql::variable::{Settable, find};

    #[test]
    fn the_lists_are_sorted_and_name_variables_that_can_be_set() {
        let accepted: Vec<&str> = ACCEPTED.iter().map(|(name, _)| *name).collect();
        assert!(EFFECTIVE.is_sorted() && accepted.is_sorted());
        for name in EFFECTIVE.iter().chain(&accepted) {
            let variable = find(name).unwrap_or_else(|| panic!("{name}"));
            assert_ne!(variable.settable, Settable::Fixed, "{name}");
            assert!(may_change(name), "{name}");
        }
        assert!(accepted.iter().all(|name| !EFFECTIVE.contains(name)));
    }
}
