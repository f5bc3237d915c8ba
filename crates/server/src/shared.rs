//! The state that all sessions share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use super::accounts::Accounts;
use super::activity::Activity;
use super::certificate::TlsStatus;
use super::config::Config;
use super::host_cache::HostCache;
use super::keeper::Keeper;
use super::observed::Observed;
use super::registry::Registry;
use super::status::{self, Counter};
use super::variables::Globals;
use tare::sync::PlainMutex;
use tare_mysql::memory::TotalMemory;
use tare_reader::Segment;
use tare_rows::telemetry::Telemetry;
use tare_store::Databases;

/// Counters of SHOW STATUS.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections that failed to authenticate or broke off.
    pub aborted_connects: AtomicU64,
    /// Connections refused for max_connections.
    pub refused: AtomicU64,
    /// Sessions whose thread panicked; each is a bug.
    pub panics: AtomicU64,
    /// Sockets that could not be accepted.
    pub accept_errors: AtomicU64,
    /// Threads started to serve clients.
    pub threads_created: AtomicU64,
    /// Statements that are prepared now.
    pub prepared: Arc<AtomicU64>,
    /// FLUSH statements.
    pub flushes: AtomicU64,
    /// Connections that began TLS.
    pub tls_accepts: AtomicU64,
    /// Connections that finished the handshake of TLS.
    pub tls_finished: AtomicU64,
    /// Connections that resumed an earlier TLS session.
    pub tls_resumed: AtomicU64,
    /// Threads for clients that took longer to start than slow_launch_time.
    pub slow_launches: AtomicU64,
    /// The longest wait of a session for another one's lock, in milliseconds.
    pub longest_lock_wait: AtomicU64,
    /// Logins refused because the account is locked.
    pub locked_connects: AtomicU64,
    /// Sessions that currently wait for another one's lock.
    pub lock_waiting: AtomicU64,
    /// Reads of information_schema.processlist, and the time of the last one, in microseconds since 1970.
    pub processlist_reads: (AtomicU64, AtomicU64),
    /// The last FLUSH STATUS, in seconds since the start.
    pub flushed_status: AtomicU64,
    /// Performance Schema's counters of losses at the last FLUSH STATUS.
    pub flushed_losses: PlainMutex<FlushedLosses>,
}

/// Performance Schema's counters of losses at a FLUSH STATUS.
#[derive(Debug, Default)]
pub struct FlushedLosses {
    /// The segment that they are of: an attached process's is replaced by its successor's.
    pub of: Weak<Segment>,
    /// The counters, by name.
    pub losses: Arc<HashMap<String, u64>>,
}

/// The server's shared state.
#[derive(Debug)]
pub struct Shared {
    /// Its configuration.
    pub config: Config,
    /// The data directory.
    pub databases: Arc<Databases>,
    /// The process list.
    pub registry: Arc<Registry>,
    /// The thread that ends statements.
    pub keeper: Arc<Keeper>,
    /// System variables.
    pub globals: Arc<Globals>,
    /// The accounts.
    pub accounts: Accounts,
    /// TLS, if it is offered.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// The status variables of TLS.
    pub tls_status: Option<TlsStatus>,
    /// Counters of SHOW STATUS.
    pub counters: Counters,
    /// The memory of the sessions.
    pub memory: Arc<TotalMemory>,
    /// The hosts that connected by TCP.
    pub hosts: HostCache,
    /// The settings of setup_meters and setup_loggers.
    pub telemetry: Telemetry,
    /// When it was started.
    pub started: Instant,
    /// The segment that the system schemas read.
    pub observed: Arc<Observed>,
    /// Samples of active sessions.
    pub activity: Activity,
    /// Whether it is shutting down.
    pub stopping: AtomicBool,
    /// Requests a shutdown.
    pub stop: super::stop::Stop,
}

impl Shared {
    /// The text of COM_STATISTICS. If the server is attached to a process: the state of that process.
    pub fn statistics(&self) -> String {
        if let Some(state) = self.observed.state() {
            // Clients parse names and numbers.
            let (pid, runs) = (state.pid, u8::from(state.runs));
            return format!("Attached to process: {pid}  Running: {runs}");
        }
        let uptime = self.started.elapsed().as_secs() + 1;
        let counted = self.registry.status();
        let questions = status::value(&counted, Counter::Questions);
        format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  Flush tables: {}  Open tables: {}  Queries per second avg: {:.3}",
            self.registry.len(),
            status::value(&counted, Counter::SlowQueries),
            status::value(&counted, Counter::OpenedTables),
            self.counters.flushes.load(Ordering::Relaxed) + 1,
            self.databases.cached_table_count(),
            questions as f64 / uptime as f64
        )
    }

    /// Whether the server is being shut down.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
