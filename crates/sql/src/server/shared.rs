//! What all sessions share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::auth::Accounts;
use super::config::Config;
use super::registry::Registry;
use super::variables::Globals;
use crate::storage::Databases;

/// Counters of SHOW STATUS.
#[derive(Debug, Default)]
pub struct Counters {
    /// Statements.
    pub questions: AtomicU64,
    /// Connections that failed to authenticate or broke off.
    pub aborted_connects: AtomicU64,
    /// Connections refused for max_connections.
    pub refused: AtomicU64,
    /// Sessions whose thread panicked; each is a bug.
    pub panics: AtomicU64,
}

/// The server, as its sessions see it.
#[derive(Debug)]
pub struct Shared {
    /// How it was started.
    pub config: Config,
    /// The data directory.
    pub databases: Arc<Databases>,
    /// The process list.
    pub registry: Arc<Registry>,
    /// System variables.
    pub globals: Arc<Globals>,
    /// Who may connect.
    pub accounts: Accounts,
    /// SHOW STATUS.
    pub counters: Counters,
    /// When it was started.
    pub started: Instant,
    /// What the server records about itself.
    pub segment: Option<Arc<tare_reader::Segment>>,
    /// Set when it must stop.
    pub stopping: AtomicBool,
    /// Called to stop it.
    pub stop: super::listen::Stop,
}

impl Shared {
    /// COM_STATISTICS.
    pub fn statistics(&self) -> String {
        let uptime = self.started.elapsed().as_secs();
        let questions = self.counters.questions.load(Ordering::Relaxed);
        format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: 0  Opens: 0  Flush tables: 1  Open tables: 0  Queries per second avg: {:.3}",
            self.registry.len(),
            questions as f64 / uptime.max(1) as f64
        )
    }

    /// Whether the server is being shut down.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
