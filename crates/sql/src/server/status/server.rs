//! What the server as a whole counts, and all names of MySQL's.

use std::sync::atomic::Ordering::Relaxed;

use super::{Cells, Counter, named, value};
use crate::server::shared::Shared;
use crate::server::state::SessionState;

/// Names of what MySQL counts and this server does not have, with what a MySQL shows that does not
/// use it.
const ABSENT: &[(&str, &str)] = &[
    ("Acl_cache_items_count", "0"),
    ("Binlog_cache_disk_use", "0"),
    ("Binlog_cache_use", "0"),
    ("Binlog_stmt_cache_disk_use", "0"),
    ("Binlog_stmt_cache_use", "0"),
    ("Caching_sha2_password_rsa_public_key", ""),
    ("Connection_errors_peer_address", "0"),
    ("Connection_errors_select", "0"),
    ("Connection_errors_tcpwrap", "0"),
    ("Delayed_errors", "0"),
    ("Delayed_insert_threads", "0"),
    ("Delayed_writes", "0"),
    ("Handler_discover", "0"),
    ("Handler_mrr_init", "0"),
    ("Handler_prepare", "0"),
    ("Handler_read_first", "0"),
    ("Handler_read_last", "0"),
    ("Handler_read_next", "0"),
    ("Handler_read_prev", "0"),
    ("Handler_read_rnd", "0"),
    ("Innodb_buffer_pool_bytes_data", "0"),
    ("Innodb_buffer_pool_bytes_dirty", "0"),
    ("Innodb_buffer_pool_dump_status", ""),
    ("Innodb_buffer_pool_load_status", ""),
    ("Innodb_buffer_pool_pages_data", "0"),
    ("Innodb_buffer_pool_pages_dirty", "0"),
    ("Innodb_buffer_pool_pages_free", "0"),
    ("Innodb_buffer_pool_pages_misc", "0"),
    ("Innodb_buffer_pool_pages_total", "0"),
    ("Innodb_buffer_pool_read_ahead", "0"),
    ("Innodb_buffer_pool_read_ahead_evicted", "0"),
    ("Innodb_buffer_pool_read_ahead_rnd", "0"),
    ("Innodb_buffer_pool_resize_status", ""),
    ("Innodb_buffer_pool_wait_free", "0"),
    ("Innodb_data_pending_fsyncs", "0"),
    ("Innodb_data_pending_reads", "0"),
    ("Innodb_data_pending_writes", "0"),
    ("Innodb_dblwr_pages_written", "0"),
    ("Innodb_dblwr_writes", "0"),
    ("Innodb_log_waits", "0"),
    ("Innodb_os_log_pending_fsyncs", "0"),
    ("Innodb_os_log_pending_writes", "0"),
    ("Innodb_pages_created", "0"),
    ("Innodb_row_lock_current_waits", "0"),
    ("Innodb_truncated_status_writes", "0"),
    ("Innodb_undo_tablespaces_active", "0"),
    ("Innodb_undo_tablespaces_explicit", "0"),
    ("Innodb_undo_tablespaces_implicit", "0"),
    ("Innodb_undo_tablespaces_total", "0"),
    ("Key_blocks_not_flushed", "0"),
    ("Key_blocks_unused", "0"),
    ("Key_blocks_used", "0"),
    ("Key_read_requests", "0"),
    ("Key_reads", "0"),
    ("Key_write_requests", "0"),
    ("Key_writes", "0"),
    ("Locked_connects", "0"),
    ("Max_execution_time_set_failed", "0"),
    ("Not_flushed_delayed_rows", "0"),
    ("Ongoing_anonymous_transaction_count", "0"),
    ("Open_streams", "0"),
    ("Rsa_public_key", ""),
    ("Secondary_engine_execution_count", "0"),
    ("Select_full_join", "0"),
    ("Select_full_range_join", "0"),
    ("Select_range", "0"),
    ("Select_range_check", "0"),
    ("Slave_open_temp_tables", "0"),
    ("Slow_launch_threads", "0"),
    ("Sort_merge_passes", "0"),
    ("Sort_range", "0"),
    ("Ssl_accept_renegotiates", "0"),
    ("Ssl_accepts", "0"),
    ("Ssl_callback_cache_hits", "0"),
    ("Ssl_cipher", ""),
    ("Ssl_cipher_list", ""),
    ("Ssl_client_connects", "0"),
    ("Ssl_connect_renegotiates", "0"),
    ("Ssl_ctx_verify_depth", "0"),
    ("Ssl_ctx_verify_mode", "0"),
    ("Ssl_default_timeout", "0"),
    ("Ssl_finished_accepts", "0"),
    ("Ssl_finished_connects", "0"),
    ("Ssl_server_not_after", ""),
    ("Ssl_server_not_before", ""),
    ("Ssl_session_cache_hits", "0"),
    ("Ssl_session_cache_misses", "0"),
    ("Ssl_session_cache_mode", "NONE"),
    ("Ssl_session_cache_overflows", "0"),
    ("Ssl_session_cache_size", "0"),
    ("Ssl_session_cache_timeouts", "0"),
    ("Ssl_sessions_reused", "0"),
    ("Ssl_used_session_cache_entries", "0"),
    ("Ssl_verify_depth", "0"),
    ("Ssl_verify_mode", "0"),
    ("Ssl_version", ""),
    ("Table_open_cache_overflows", "0"),
    ("Tc_log_max_pages_used", "0"),
    ("Tc_log_page_size", "0"),
    ("Tc_log_page_waits", "0"),
];

/// What InnoDB counts and SQLite has, too: the name here, and the metric's.
const FROM_METRICS: &[(&str, &str)] = &[
    ("Innodb_buffer_pool_pages_flushed", "buffer_pages_written"),
    (
        "Innodb_buffer_pool_read_requests",
        "buffer_pool_read_requests",
    ),
    ("Innodb_buffer_pool_reads", "buffer_pool_reads"),
    (
        "Innodb_buffer_pool_write_requests",
        "buffer_pool_write_requests",
    ),
    ("Innodb_data_fsyncs", "os_data_fsyncs"),
    ("Innodb_data_read", "buffer_data_reads"),
    ("Innodb_data_reads", "os_data_reads"),
    ("Innodb_data_writes", "os_data_writes"),
    ("Innodb_data_written", "buffer_data_written"),
    ("Innodb_log_write_requests", "log_write_requests"),
    ("Innodb_log_writes", "log_writes"),
    ("Innodb_num_open_files", "file_num_open_files"),
    ("Innodb_os_log_fsyncs", "os_log_fsyncs"),
    ("Innodb_os_log_written", "os_log_bytes_written"),
    ("Innodb_pages_read", "buffer_pages_read"),
    ("Innodb_pages_written", "buffer_pages_written"),
];

/// What MySQL shows of a session alone, beside what sessions count.
const OF_SESSION: &[(&str, &str)] = &[
    ("Compression", "OFF"),
    ("Last_query_cost", "0.000000"),
    ("Last_query_partial_plans", "0"),
];

/// What MySQL tells of the server alone, of what sessions count here.
const OF_SERVER: &[&str] = &[
    "Innodb_row_lock_time",
    "Table_locks_immediate",
    "Table_locks_waited",
];

type Named = (String, String);

/// SQLite's default page size, which nothing here changes.
const SQLITE_PAGE: u64 = 4096;

impl Shared {
    /// SHOW GLOBAL STATUS; with a session, what it has counted itself in place of the server's.
    pub fn status(&self, session: Option<&SessionState>) -> Vec<Named> {
        let total = self.registry.status();
        let own = session.and_then(|s| {
            let mut all = self.registry.status_by_session().into_iter();
            all.find(|(id, _)| *id == s.id).map(|(_, cells)| cells)
        });
        let mut status: Vec<Named> = named(own.as_ref().unwrap_or(&total))
            .zip(named(&total))
            .map(|((name, own), (_, total))| {
                let server = OF_SERVER.contains(&name.as_str());
                (name, if server { total } else { own }.to_string())
            })
            .collect();
        let text = |list: &[(&str, &str)]| -> Vec<Named> {
            list.iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect()
        };
        status.extend(text(ABSENT));
        if session.is_some() {
            status.extend(text(OF_SESSION));
        }
        status.extend(self.server_status(&total));
        status.extend(self.innodb_status());
        status
    }

    /// What a session has counted, under the names that status_by_* have.
    pub fn session_status(cells: &Cells) -> Vec<Named> {
        let own = named(cells).filter(|(name, _)| {
            !OF_SERVER.contains(&name.as_str())
                && (!name.starts_with("Com_") || name == "Com_stmt_reprepare")
        });
        own.map(|(name, n)| (name, n.to_string())).collect()
    }

    fn innodb_status(&self) -> Vec<Named> {
        // Another program's segment says nothing of this server.
        let own = self
            .segment
            .as_ref()
            .filter(|_| self.config.attach.is_none());
        let metrics = own.map_or_else(Vec::new, |s| tare_reader::metrics::metrics(s.view()));
        let count = |name: &str| {
            let found = metrics.iter().find(|m| m.name == name);
            found.map_or(0, |m| m.ever.count)
        };
        let all = FROM_METRICS.iter();
        all.map(|(name, metric)| ((*name).to_owned(), count(metric).to_string()))
            .collect()
    }

    fn server_status(&self, total: &Cells) -> Vec<Named> {
        let c = &self.counters;
        // The second that runs counts: clients divide by it from the first on (mycli's \s).
        let uptime = self.started.elapsed().as_secs() + 1;
        let waits = value(total, Counter::TableLocksWaited);
        let running = self.registry.list();
        let running = running.iter().filter(|p| p.command != "Sleep").count();
        let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let read =
            value(total, Counter::HandlerReadKey) + value(total, Counter::HandlerReadRndNext);
        let own: [(&str, u64); 27] = [
            ("Aborted_clients", self.registry.aborted()),
            ("Aborted_connects", c.aborted_connects.load(Relaxed)),
            ("Connection_errors_accept", c.accept_errors.load(Relaxed)),
            ("Connection_errors_internal", c.panics.load(Relaxed)),
            ("Connection_errors_max_connections", c.refused.load(Relaxed)),
            ("Connections", self.registry.total()),
            ("Created_tmp_files", crate::storage::temporary_files()),
            ("Flush_commands", c.flushes.load(Relaxed) + 1),
            ("Innodb_page_size", SQLITE_PAGE),
            (
                "Innodb_row_lock_time_avg",
                value(total, Counter::LockTime) / waits.max(1),
            ),
            (
                "Innodb_row_lock_time_max",
                c.longest_lock_wait.load(Relaxed),
            ),
            ("Innodb_row_lock_waits", waits),
            ("Innodb_rows_deleted", value(total, Counter::HandlerDelete)),
            ("Innodb_rows_inserted", value(total, Counter::HandlerWrite)),
            ("Innodb_rows_read", read),
            ("Innodb_rows_updated", value(total, Counter::HandlerUpdate)),
            ("Max_used_connections", self.registry.peak() as u64),
            ("Open_files", open as u64),
            (
                "Open_table_definitions",
                self.databases.known_tables() as u64,
            ),
            ("Open_tables", self.databases.known_tables() as u64),
            ("Opened_files", crate::storage::opened_files()),
            ("Prepared_stmt_count", c.prepared.load(Relaxed)),
            ("Threads_cached", 0),
            ("Threads_connected", self.registry.len() as u64),
            ("Threads_created", c.threads_created.load(Relaxed)),
            ("Threads_running", running as u64),
            ("Uptime", uptime),
        ];
        let mut own: Vec<Named> = own
            .into_iter()
            .map(|(name, n)| (name.to_owned(), n.to_string()))
            .collect();
        let since = uptime.saturating_sub(c.flushed_status.load(Relaxed));
        own.push(("Uptime_since_flush_status".into(), since.to_string()));
        let peak = tare_rows::time::datetime(self.registry.peak_at());
        own.push(("Max_used_connections_time".into(), peak));
        let lost = c.attributes_lost.load(Relaxed);
        own.push((
            "Performance_schema_session_connect_attrs_lost".into(),
            lost.to_string(),
        ));
        own
    }
}
