//! A row of events_transactions_*, and of their sums.

use super::event::{Event, HasEvent, HasStat, Stat};

/// A transaction.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Transaction {
    /// The common columns.
    pub event: Event,
    pub state: Option<&'static str>,
    pub trx_id: Option<u64>,
    pub gtid: Option<String>,
    pub access_mode: Option<&'static str>,
    pub isolation_level: Option<&'static str>,
    pub autocommit: bool,
    /// NUMBER_OF_SAVEPOINTS.
    pub savepoints: Option<u64>,
    /// NUMBER_OF_ROLLBACK_TO_SAVEPOINT.
    pub rollbacks_to_savepoint: Option<u64>,
    /// NUMBER_OF_RELEASE_SAVEPOINT.
    pub releases: Option<u64>,
}

impl HasEvent for Transaction {
    fn event(&self) -> &Event {
        &self.event
    }
}

/// What summaries of transactions sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// All.
    pub all: Stat,
    /// READ WRITE transactions.
    pub read_write: Stat,
    /// READ ONLY transactions.
    pub read_only: Stat,
}

impl HasStat for Sums {
    fn stat(&self) -> &Stat {
        &self.all
    }
}
