//! Which variables have an effect, and which are only accepted.
//!
//! SET of any other variable is refused unless the value is the current one: to accept it would pretend
//! an effect.

use tare_mysql::variable::Scope;

/// Variables that have an effect, by name.
const EFFECTIVE: &[&str] = &[
    "autocommit",
    "connection_memory_limit",
    "cte_max_recursion_depth",
    "explain_format",
    "foreign_key_checks",
    "global_connection_memory_limit",
    "identity",
    "innodb_flush_log_at_trx_commit",
    "innodb_lock_wait_timeout",
    "innodb_monitor_disable",
    "innodb_monitor_enable",
    "innodb_monitor_reset",
    "innodb_monitor_reset_all",
    "interactive_timeout",
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

/// Variables that a session may set, because nothing here depends on them: what tunes MySQL's own optimizer,
/// engines, buffers, logs and replication, and what a client can only see if it requests the tracking of sessions
/// in its handshake. SELECT returns the set value. SET GLOBAL of them is refused: it would pretend to tune the
/// server.
pub static TUNING: &[&str] = &[
    "big_tables",
    "binlog_direct_non_transactional_updates",
    "binlog_format",
    "binlog_row_image",
    "binlog_rows_query_log_events",
    "binlog_transaction_compression",
    "binlog_transaction_compression_level_zstd",
    "bulk_insert_buffer_size",
    "connection_memory_chunk_size",
    "enable_secondary_engine_statistics",
    "eq_range_index_dive_limit",
    "group_replication_consistency",
    "gtid_next",
    "histogram_generation_max_mem_size",
    "immediate_server_version",
    "innodb_ddl_buffer_size",
    "innodb_ddl_threads",
    "innodb_ft_enable_stopword",
    "innodb_parallel_read_threads",
    "innodb_strict_mode",
    "join_buffer_size",
    "keep_files_on_create",
    "low_priority_updates",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_seeks_for_key",
    "min_examined_row_limit",
    "myisam_repair_threads",
    "myisam_sort_buffer_size",
    "myisam_stats_method",
    "net_retry_count",
    "old_alter_table",
    "optimizer_max_subgraph_pairs",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "optimizer_trace",
    "optimizer_trace_features",
    "optimizer_trace_limit",
    "optimizer_trace_max_mem_size",
    "optimizer_trace_offset",
    "original_commit_timestamp",
    "original_server_version",
    "parser_max_mem_size",
    "preload_buffer_size",
    "profiling",
    "profiling_history_size",
    "query_alloc_block_size",
    "query_prealloc_size",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "rbr_exec_mode",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "secondary_engine_cost_threshold",
    "select_into_buffer_size",
    "select_into_disk_sync",
    "select_into_disk_sync_delay",
    "session_track_gtids",
    "session_track_schema",
    "session_track_state_change",
    "session_track_system_variables",
    "session_track_transaction_info",
    "set_operations_buffer_size",
    "sort_buffer_size",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_log_off",
    "tmp_table_size",
    "transaction_alloc_block_size",
    "transaction_allow_batching",
    "transaction_prealloc_size",
    "updatable_views_with_limit",
    "use_secondary_engine",
    "windowing_use_high_precision",
    "xa_detach_on_prepare",
];

/// Variables of which MySQL 9.7 warns that it will remove them (1287), when they are set.
const DEPRECATED: [&str; 6] = [
    "binlog_format",
    "max_length_for_sort_data",
    "profiling",
    "profiling_history_size",
    "query_prealloc_size",
    "transaction_prealloc_size",
];

/// MySQL 9.7's warning of a variable that is set, with its number.
pub fn deprecation(name: &str) -> Option<(u16, String)> {
    let removed = "is deprecated and will be removed in a future release.";
    match name {
        "character_set_database" | "collation_database" => Some((
            1681,
            format!(
                "Updating '{name}' is deprecated. It will be made read-only in a future release."
            ),
        )),
        _ if DEPRECATED.contains(&name) => Some((1287, format!("'@@{name}' {removed}"))),
        _ => None,
    }
}

/// Whether SET may change a variable.
pub fn may_change(scope: Scope, name: &str) -> bool {
    scope == Scope::Session && TUNING.binary_search(&name).is_ok()
        || EFFECTIVE.binary_search(&name).is_ok()
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
        assert!(EFFECTIVE.is_sorted() && accepted.is_sorted() && TUNING.is_sorted());
        for name in EFFECTIVE.iter().chain(&accepted).chain(TUNING) {
            let variable = find(name).unwrap_or_else(|| panic!("{name}"));
            assert_ne!(variable.settable, Settable::Fixed, "{name}");
            assert!(may_change(Scope::Session, name), "{name}");
        }
        for name in TUNING {
            assert!(!may_change(Scope::Global, name), "{name}");
        }
        assert!(accepted.iter().all(|name| !EFFECTIVE.contains(name)));
    }
}
