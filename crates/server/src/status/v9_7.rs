//! The names that MySQL 9.7 adds to the SHOW STATUS of 8.0.15, or renames in it.
//!
//! Features that this server lacks have their names here, with their constant values. What the server
//! does but does not count is left out: any number would be invented.

use std::sync::atomic::Ordering::Relaxed;

use super::server::StatusVariable;
use crate::certificate::TlsStatus;
use crate::shared::Shared;
use crate::state::SessionState;
use crate::tls_sessions::{MAX_SESSIONS, Sessions};
use tare_store::metrics::PAGE_BYTES;

/// Statements that this server does not have: they are refused before they are counted.
const REFUSED: &str = "alter_db alter_event alter_function alter_instance alter_library \
    alter_procedure alter_resource_group alter_server alter_tablespace alter_user_default_role \
    assign_to_keycache binlog change_repl_filter change_replication_source clone create_event \
    create_function create_library create_masking_policy create_procedure create_resource_group \
    create_role create_server create_spatial_reference_system create_trigger create_udf \
    drop_library drop_masking_policy drop_resource_group drop_role drop_server \
    drop_spatial_reference_system get_diagnostics grant_roles group_replication_start \
    group_replication_stop ha_close ha_open ha_read import install_component install_plugin load \
    lock_instance preload_keys purge purge_before_date repair replica_start replica_stop reset \
    resignal restart revoke_roles set_resource_group set_role show_create_library \
    show_create_masking_policy show_library_status show_parse_tree show_relaylog_events signal \
    stmt_fetch uninstall_component uninstall_plugin unlock_instance xa_commit xa_end xa_prepare \
    xa_recover xa_rollback xa_start";

/// Counters of statements that 9.7 renames: the old and the new name.
const RENAMED: [(&str, &str); 3] = [
    ("Com_show_master_status", "Com_show_binary_log_status"),
    ("Com_show_slave_hosts", "Com_show_replicas"),
    ("Com_show_slave_status", "Com_show_replica_status"),
];

/// Counters of what cannot happen here, with the reasons.
const NEVER: &[&str] = &[
    // Privileges are not cached, and the limits beyond which statements are only counted cannot be set.
    "Acl_cache_items_count",
    "Count_hit_query_past_connection_memory_status_limit",
    "Count_hit_query_past_global_connection_memory_status_limit",
    // There is no binary log, no replication, no XA and no second engine.
    "Binlog_cache_disk_use",
    "Binlog_cache_use",
    "Binlog_stmt_cache_disk_use",
    "Binlog_stmt_cache_use",
    "Handler_discover",
    "Handler_prepare",
    "Ongoing_anonymous_transaction_count",
    "Replica_open_temp_tables",
    "Secondary_engine_execution_count",
    "Slave_open_temp_tables",
    "Tc_log_max_pages_used",
    "Tc_log_page_size",
    "Tc_log_page_waits",
    // A peer's address comes with its connection; TCP wrappers are not used; the listener's poll has no
    // timeout, and its failure ends nothing.
    "Connection_errors_peer_address",
    "Connection_errors_select",
    "Connection_errors_tcpwrap",
    // Temporary tables are SQLite's: tmp_table_size does not limit them, and there is no TempTable.
    "Count_hit_tmp_table_size",
    "TempTable_count_hit_max_ram",
    // There is no INSERT DELAYED, no MyISAM and no stream.
    "Delayed_errors",
    "Delayed_insert_threads",
    "Delayed_writes",
    "Not_flushed_delayed_rows",
    "Key_blocks_not_flushed",
    "Key_blocks_unused",
    "Key_blocks_used",
    "Key_read_requests",
    "Key_reads",
    "Key_write_requests",
    "Key_writes",
    "Open_streams",
    // A foreign key refers to a key.
    "Deprecated_use_fk_on_non_standard_key_count",
    "Deprecated_use_fk_on_non_standard_key_last_timestamp",
    // SQLite's sorter returns rows, not positions. SQLite has neither multi-range read nor range checks.
    "Handler_mrr_init",
    "Handler_read_rnd",
    "Select_range_check",
    // SQLite reads no pages ahead, queues no requests and waits for no free page; its caches are not
    // resized while it runs; it has no doublewrite buffer, undo tablespaces or log buffer.
    "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_read_ahead_evicted",
    "Innodb_buffer_pool_read_ahead_rnd",
    "Innodb_buffer_pool_resize_status_code",
    "Innodb_buffer_pool_resize_status_progress",
    "Innodb_buffer_pool_wait_free",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_dblwr_pages_written",
    "Innodb_dblwr_writes",
    "Innodb_log_waits",
    "Innodb_os_log_pending_fsyncs",
    "Innodb_os_log_pending_writes",
    "Innodb_undo_tablespaces_active",
    "Innodb_undo_tablespaces_explicit",
    "Innodb_undo_tablespaces_implicit",
    "Innodb_undo_tablespaces_total",
    // The write-ahead log has no sequence numbers.
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_current_lsn",
    "Innodb_redo_log_flushed_to_disk_lsn",
    "Innodb_redo_log_uuid",
    // ANALYZE TABLE samples no pages; the system schemas are not stored; status is not truncated.
    "Innodb_sampled_pages_read",
    "Innodb_sampled_pages_skipped",
    "Innodb_system_rows_deleted",
    "Innodb_system_rows_inserted",
    "Innodb_system_rows_read",
    "Innodb_system_rows_updated",
    "Innodb_truncated_status_writes",
    // Time limits need no timer that could fail.
    "Max_execution_time_set_failed",
    // The server is no client, renegotiates nothing and requests no certificates of clients.
    "Ssl_accept_renegotiates",
    "Ssl_callback_cache_hits",
    "Ssl_client_connects",
    "Ssl_connect_renegotiates",
    "Ssl_ctx_verify_depth",
    "Ssl_ctx_verify_mode",
    "Ssl_finished_connects",
    // Cached TLS sessions have no time limit of their own.
    "Ssl_session_cache_timeouts",
    "Ssl_verify_depth",
    "Ssl_verify_mode",
    // Definitions stay as long as their database is open; there are no triggers.
    "Table_open_cache_overflows",
    "Table_open_cache_triggers_hits",
    "Table_open_cache_triggers_misses",
    "Table_open_cache_triggers_overflows",
    // MySQL's component option_tracker counts what uses these, and none of them is here.
    "option_tracker_usage:Binary Log",
    "option_tracker_usage:Hypergraph Optimizer",
    "option_tracker_usage:JSON Duality View",
    "option_tracker_usage:Replication Replica",
    "option_tracker_usage:Traditional Optimizer",
];

/// Texts about features that this server lacks or that are fixed.
const WORDS: &[(&str, &str)] = &[
    ("Caching_sha2_password_rsa_public_key", ""),
    ("Innodb_buffer_pool_dump_status", ""),
    ("Innodb_buffer_pool_load_status", ""),
    ("Innodb_buffer_pool_resize_status", ""),
    ("Innodb_redo_log_enabled", "ON"),
    ("Innodb_redo_log_read_only", "OFF"),
    ("Innodb_redo_log_resize_status", "OK"),
    ("Resource_group_supported", "OFF"),
    ("Rsa_public_key", ""),
    ("Telemetry_logs_supported", "OFF"),
    ("Telemetry_metrics_supported", "OFF"),
    ("Telemetry_traces_supported", "OFF"),
    ("Tls_library_version", "rustls"),
];

/// Variables of sessions only: no connection is compressed, and plans have no cost.
const OF_SESSIONS: &[(&str, &str)] = &[
    ("Compression_algorithm", ""),
    ("Compression_level", "0"),
    ("Last_query_cost", "0.000000"),
    ("Last_query_partial_plans", "0"),
];

/// The settings of new TLS connections: the name, and the system variable's.
const CURRENT_TLS: [(&str, &str); 9] = [
    ("Current_tls_ca", "ssl_ca"),
    ("Current_tls_capath", "ssl_capath"),
    ("Current_tls_cert", "ssl_cert"),
    ("Current_tls_cipher", "ssl_cipher"),
    ("Current_tls_ciphersuites", "tls_ciphersuites"),
    ("Current_tls_crl", "ssl_crl"),
    ("Current_tls_crlpath", "ssl_crlpath"),
    ("Current_tls_key", "ssl_key"),
    ("Current_tls_version", "tls_version"),
];

fn named(all: &[(&str, &str)]) -> impl Iterator<Item = StatusVariable> {
    let all = all.iter();
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}

/// Gives counters of statements the names of 9.7.
pub(super) fn rename(status: &mut [StatusVariable]) {
    for (name, _) in status {
        if let Some((_, new)) = RENAMED.iter().find(|(old, _)| old == name) {
            *name = (*new).to_owned();
        }
    }
}

impl Shared {
    /// The names that 9.7 adds.
    pub(super) fn status_of_9_7(&self, session: Option<&SessionState>) -> Vec<StatusVariable> {
        let number = |(name, n): (&str, u64)| (name.to_owned(), n.to_string());
        let refused = REFUSED.split_whitespace();
        let mut status: Vec<StatusVariable> = refused
            .map(|name| (format!("Com_{name}"), "0".to_owned()))
            .collect();
        status.extend(NEVER.iter().map(|name| number((name, 0))));
        status.extend(named(WORDS));
        if session.is_some() {
            status.extend(named(OF_SESSIONS));
        }
        status.extend(self.status_of_tls(session));
        let setting = |name| self.globals.get(name).unwrap_or_default();
        let current = CURRENT_TLS.iter();
        status.extend(current.map(|(name, of)| ((*name).to_owned(), setting(of))));
        let log = tare_store::log::snapshot();
        let bytes = log.lines.iter().map(|line| line.text.len() as u64).sum();
        let unwritten = self.databases.unwritten_pages() * PAGE_BYTES;
        let counters = &self.counters;
        let (reads, last) = &counters.processlist_reads;
        let own = [
            ("Deprecated_use_i_s_processlist_count", reads.load(Relaxed)),
            (
                "Deprecated_use_i_s_processlist_last_timestamp",
                last.load(Relaxed),
            ),
            ("Error_log_buffered_bytes", bytes),
            ("Error_log_buffered_events", log.lines.len() as u64),
            ("Error_log_expired_events", log.expired),
            (
                "Error_log_latest_write",
                log.lines.back().map_or(0, |line| line.logged_us),
            ),
            ("Global_connection_memory", self.memory.bytes()),
            ("Innodb_buffer_pool_bytes_dirty", unwritten),
            // Pages that are in the log and not yet in the database.
            ("Innodb_redo_log_logical_size", unwritten),
            ("Innodb_redo_log_physical_size", self.log_bytes()),
            (
                "Innodb_redo_log_capacity_resized",
                setting("innodb_redo_log_capacity").parse().unwrap_or(0),
            ),
            (
                "Innodb_row_lock_current_waits",
                counters.lock_waiting.load(Relaxed),
            ),
            ("Locked_connects", counters.locked_connects.load(Relaxed)),
            ("Slow_launch_threads", counters.slow_launches.load(Relaxed)),
        ];
        status.extend(own.map(number));
        status
    }

    /// The cache of TLS sessions, and the certificate's dates.
    fn status_of_tls(&self, session: Option<&SessionState>) -> Vec<StatusVariable> {
        let tls = self.tls_status.as_ref();
        let of = |count: fn(&Sessions) -> u64| tls.map_or(0, |tls| count(&tls.sessions));
        let own = session.and_then(|session| session.tls.get());
        let resumed = match session {
            Some(_) => own.map_or(0, |tls| u64::from(tls.is_resumed)),
            None => self.counters.tls_resumed.load(Relaxed),
        };
        let numbers = [
            ("Ssl_session_cache_hits", of(|s| s.hits.load(Relaxed))),
            ("Ssl_session_cache_misses", of(|s| s.misses.load(Relaxed))),
            (
                "Ssl_session_cache_overflows",
                of(|s| s.overflows.load(Relaxed)),
            ),
            ("Ssl_session_cache_size", of(|_| MAX_SESSIONS as u64)),
            ("Ssl_used_session_cache_entries", of(|s| s.len() as u64)),
            ("Ssl_sessions_reused", resumed),
        ];
        let numbers = numbers.map(|(name, n)| (name.to_owned(), n.to_string()));
        let mut status = Vec::from(numbers);
        let text = |of: fn(&TlsStatus) -> &String| tls.map(of).cloned().unwrap_or_default();
        let mode = if tls.is_some() { "SERVER" } else { "NONE" };
        status.push(("Ssl_session_cache_mode".into(), mode.into()));
        status.push(("Ssl_server_not_before".into(), text(|tls| &tls.not_before)));
        status.push(("Ssl_server_not_after".into(), text(|tls| &tls.not_after)));
        if session.is_some() {
            let name = own.map(|tls| tls.server_name.clone()).unwrap_or_default();
            status.push(("Tls_sni_server_name".into(), name));
        }
        status
    }

    /// Bytes of the databases' write-ahead logs.
    fn log_bytes(&self) -> u64 {
        let names = self.databases.names().into_iter();
        names.map(|name| self.databases.log_bytes(&name)).sum()
    }
}
