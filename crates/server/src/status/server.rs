//! SHOW STATUS of the server.

use std::sync::atomic::Ordering::Relaxed;

use tare_layout::slot::COMMANDS;
use tare_reader::Thread;

use super::{Cells, Counter, named, value};
use crate::observed::{AttachedProcess, age_seconds};
use crate::shared::Shared;
use crate::state::SessionState;
use tare_store::metrics::PAGE_BYTES;

/// Counters that need performance_schema's recording of tables.
const RECORDED: &[Counter] = &[
    Counter::CreatedTmpTables,
    Counter::HandlerExternalLock,
    Counter::HandlerReadFirst,
    Counter::HandlerReadKey,
    Counter::HandlerReadLast,
    Counter::HandlerReadNext,
    Counter::HandlerReadPrev,
    Counter::HandlerReadRndNext,
    Counter::OpenedTables,
    Counter::SelectFullJoin,
    Counter::SelectFullRangeJoin,
    Counter::SelectRange,
    Counter::SelectScan,
    Counter::SortRange,
    Counter::SortScan,
];

/// Counters of rows that are read, in tables and indexes.
const READS: [Counter; 6] = [
    Counter::HandlerReadFirst,
    Counter::HandlerReadKey,
    Counter::HandlerReadLast,
    Counter::HandlerReadNext,
    Counter::HandlerReadPrev,
    Counter::HandlerReadRndNext,
];

/// Counters of InnoDB that SQLite has, too: the name, and the metric's.
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

/// Variables of a session's connection. No connection is compressed.
fn of_session(session: Option<&SessionState>) -> [StatusVariable; 4] {
    let tls = session.and_then(|session| session.tls.get());
    let (version, cipher) = tls.map_or(("", ""), |tls| (tls.version, tls.cipher.as_str()));
    let list = tls.map_or_else(String::new, |_| ciphers());
    [
        ("Compression".into(), "OFF".into()),
        ("Ssl_cipher".into(), cipher.into()),
        ("Ssl_cipher_list".into(), list),
        ("Ssl_version".into(), version.into()),
    ]
}

/// The cipher suites that a client may choose from, by OpenSSL's names.
fn ciphers() -> String {
    let suites = rustls::crypto::ring::ALL_CIPHER_SUITES.iter();
    let names = suites.filter_map(|suite| suite.suite().as_str().map(crate::socket::cipher));
    names.collect::<Vec<_>>().join(":")
}

/// Counters of sessions that MySQL has only for the server.
const OF_SERVER: &[&str] = &[
    "Innodb_row_lock_time",
    "Table_locks_immediate",
    "Table_locks_waited",
];

/// A name and a value.
pub(super) type StatusVariable = (String, String);

/// Whether a counter of sessions is counted now.
fn is_counted(name: &str) -> bool {
    tare::is_running() || !RECORDED.iter().any(|counter| counter.name() == name)
}

impl Shared {
    /// SHOW GLOBAL STATUS; with a session, SHOW SESSION STATUS.
    pub fn status(&self, session: Option<&SessionState>) -> Vec<StatusVariable> {
        if let Some(attached) = self.attached_status(session) {
            return attached;
        }
        let total = self.registry.status();
        let own = session.and_then(|s| {
            let mut all = self.registry.status_by_session().into_iter();
            all.find(|(id, _)| *id == s.id).map(|(_, cells)| cells)
        });
        let mut status: Vec<StatusVariable> = named(own.as_ref().unwrap_or(&total))
            .zip(named(&total))
            .map(|((name, own), (_, total))| {
                let server = OF_SERVER.contains(&name.as_str());
                (name, if server { total } else { own }.to_string())
            })
            .collect();
        status.retain(|(name, _)| is_counted(name));
        if session.is_some() {
            status.extend(of_session(session));
        }
        status.extend(self.server_status(&total));
        status.extend(self.innodb_status());
        if self.config.series.has_9_7_status() {
            super::v9_7::rename(&mut status);
            if session.is_none() {
                // The server has no connection of its own.
                let own = of_session(None).into_iter();
                status.extend(own.filter(|(name, _)| name.starts_with("Ssl_")));
            }
            status.extend(self.status_of_9_7(session));
        }
        status
    }

    /// SHOW STATUS while the server is attached to a process: that process's state and variables, and none of
    /// the server's own counters. `None` if it is not attached.
    fn attached_status(&self, session: Option<&SessionState>) -> Option<Vec<StatusVariable>> {
        let state = self.observed.state()?;
        let mut status = Vec::from(of_session(session));
        let of_session = |(name, _): &StatusVariable| status.iter().any(|(own, _)| own == name);
        let mut variables = self.attached_variables(&state);
        variables.retain(|variable| !of_session(variable));
        status.extend(variables);
        let runs = if state.runs { "ON" } else { "OFF" };
        status.push((
            "Tare_attached_ends".into(),
            self.observed.end_count().to_string(),
        ));
        status.push(("Tare_attached_pid".into(), state.pid.to_string()));
        status.push(("Tare_attached_running".into(), runs.into()));
        Some(status)
    }

    /// The variables of an attached process: all of them if it is a server that may be asked, else what its
    /// segment and the system know.
    fn attached_variables(&self, process: &AttachedProcess) -> Vec<StatusVariable> {
        let query = || (self.config.attached_status.as_ref()?.0)(process.pid);
        if let Some(all) = process.runs.then(query).flatten() {
            return all;
        }
        let mut variables = Vec::new();
        if let Some(seconds) = age_seconds(process.pid).filter(|_| process.runs) {
            variables.push(("Uptime".to_owned(), seconds.to_string()));
        }
        let segment = self.observed.segment();
        let threads = segment.map_or_else(Vec::new, |s| tare_reader::threads(s.view()));
        let sessions = || threads.iter().filter(|thread| thread.processlist_id != 0);
        // A host that does not report what its threads do has other numbers.
        let is_running = |thread: &&Thread| {
            COMMANDS
                .get(thread.command)
                .is_some_and(|name| *name != "Sleep")
        };
        variables.push(("Threads_connected".into(), sessions().count().to_string()));
        variables.push((
            "Threads_running".into(),
            sessions().filter(is_running).count().to_string(),
        ));
        variables
    }

    /// The counters of a session that the tables status_by_* have.
    pub fn session_status(cells: &Cells) -> Vec<StatusVariable> {
        let own = named(cells).filter(|(name, _)| {
            !OF_SERVER.contains(&name.as_str())
                && is_counted(name)
                && (!name.starts_with("Com_") || name == "Com_stmt_reprepare")
        });
        own.map(|(name, n)| (name, n.to_string())).collect()
    }

    fn innodb_status(&self) -> Vec<StatusVariable> {
        let own = self.observed.segment();
        let metrics = own.map_or_else(Vec::new, |s| tare_reader::metrics::metrics(s.view()));
        let count = |(name, metric_name): &(&str, &str)| {
            let metric = metrics.iter().find(|m| m.name == *metric_name)?;
            Some(((*name).to_owned(), metric.ever.count.to_string()))
        };
        FROM_METRICS.iter().filter_map(count).collect()
    }

    fn server_status(&self, total: &Cells) -> Vec<StatusVariable> {
        let c = &self.counters;
        // Rounded up, because clients divide by it (mycli's \s).
        let uptime = self.started.elapsed().as_secs() + 1;
        let waits = value(total, Counter::TableLocksWaited);
        let running = self.registry.list();
        let running = running.iter().filter(|p| p.command != "Sleep").count();
        let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let (pages, cached) = tare_store::metrics::caches();
        let data = (cached / PAGE_BYTES).min(pages);
        let own: [(&str, u64); 33] = [
            ("Aborted_clients", self.registry.aborted()),
            ("Aborted_connects", c.aborted_connects.load(Relaxed)),
            ("Connection_errors_accept", c.accept_errors.load(Relaxed)),
            ("Connection_errors_internal", c.panics.load(Relaxed)),
            ("Connection_errors_max_connections", c.refused.load(Relaxed)),
            ("Connections", self.registry.total()),
            ("Created_tmp_files", tare_store::temporary_files()),
            ("Flush_commands", c.flushes.load(Relaxed) + 1),
            ("Innodb_buffer_pool_bytes_data", cached),
            ("Innodb_buffer_pool_pages_data", data),
            (
                "Innodb_buffer_pool_pages_dirty",
                self.databases.unwritten_pages(),
            ),
            ("Innodb_buffer_pool_pages_free", pages - data),
            ("Innodb_buffer_pool_pages_total", pages),
            ("Innodb_page_size", PAGE_BYTES),
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
            ("Innodb_rows_updated", value(total, Counter::HandlerUpdate)),
            ("Max_used_connections", self.registry.peak() as u64),
            ("Open_files", open as u64),
            (
                "Open_table_definitions",
                self.databases.cached_table_count() as u64,
            ),
            ("Open_tables", self.databases.cached_table_count() as u64),
            ("Opened_files", tare_store::opened_files()),
            ("Prepared_stmt_count", c.prepared.load(Relaxed)),
            ("Ssl_accepts", c.tls_accepts.load(Relaxed)),
            ("Ssl_finished_accepts", c.tls_finished.load(Relaxed)),
            // A thread ends with its connection, and thread_cache_size is always 0.
            ("Threads_cached", 0),
            ("Threads_connected", self.registry.len() as u64),
            ("Threads_created", c.threads_created.load(Relaxed)),
            ("Threads_running", running as u64),
            ("Uptime", uptime),
        ];
        let mut own: Vec<StatusVariable> = own
            .into_iter()
            .map(|(name, n)| (name.to_owned(), n.to_string()))
            .collect();
        if tare::is_running() {
            let read: u64 = READS.iter().map(|counter| value(total, *counter)).sum();
            own.push(("Innodb_rows_read".into(), read.to_string()));
        }
        let since = uptime.saturating_sub(c.flushed_status.load(Relaxed));
        own.push(("Uptime_since_flush_status".into(), since.to_string()));
        let peak = tare_rows::time::datetime(self.registry.peak_at());
        own.push(("Max_used_connections_time".into(), peak));
        own
    }
}
