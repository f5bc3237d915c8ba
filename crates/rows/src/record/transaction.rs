//! A row of events_transactions_*, and of their sums.

use super::event::{Event, HasEvent, HasStat, Stat};

/// A transaction.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// The common columns.
    pub event: Event,
    /// STATE.
    pub state: Option<&'static str>,
    /// TRX_ID.
    pub trx_id: Option<u64>,
    /// GTID.
    pub gtid: Option<String>,
    /// ACCESS_MODE.
    pub access_mode: Option<&'static str>,
    /// ISOLATION_LEVEL.
    pub isolation_level: Option<&'static str>,
    /// AUTOCOMMIT.
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
    /// Those that may write.
    pub read_write: Stat,
    /// Those that may not.
    pub read_only: Stat,
}

impl HasStat for Sums {
    fn stat(&self) -> &Stat {
        &self.all
    }
}
