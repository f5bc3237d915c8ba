//! SHOW STATUS: the counters of sessions and of the server.
//!
//! A session counts in its own memory with plain adds, because no other thread writes there. A reader
//! adds up the live sessions and the sums of those that have ended. FLUSH STATUS and TRUNCATE store a
//! baseline instead of resetting counters, so that totals only grow.

mod server;
mod totals;
mod v9_7;

use std::sync::atomic::{AtomicU64, Ordering};

pub use self::totals::{Accounts, By};
use tare_dialect::plan::Command;

macro_rules! counters {
    ($($name:ident $text:literal)*) => {
        /// The counters of a session.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "they are MySQL's names")]
        pub enum Counter {
            $($name,)*
        }

        /// Their names, in order.
        const NAMES: &[&str] = &[$($text,)*];
    };
}

counters! {
    BytesReceived "Bytes_received"
    BytesSent "Bytes_sent"
    CreatedTmpTables "Created_tmp_tables"
    HandlerCommit "Handler_commit"
    HandlerDelete "Handler_delete"
    HandlerExternalLock "Handler_external_lock"
    HandlerReadFirst "Handler_read_first"
    HandlerReadKey "Handler_read_key"
    HandlerReadLast "Handler_read_last"
    HandlerReadNext "Handler_read_next"
    HandlerReadPrev "Handler_read_prev"
    HandlerReadRndNext "Handler_read_rnd_next"
    HandlerRollback "Handler_rollback"
    HandlerSavepoint "Handler_savepoint"
    HandlerSavepointRollback "Handler_savepoint_rollback"
    HandlerUpdate "Handler_update"
    HandlerWrite "Handler_write"
    MaxExecutionTimeExceeded "Max_execution_time_exceeded"
    MaxExecutionTimeSet "Max_execution_time_set"
    OpenedTables "Opened_tables"
    Queries "Queries"
    Questions "Questions"
    SelectFullJoin "Select_full_join"
    SelectFullRangeJoin "Select_full_range_join"
    SelectRange "Select_range"
    SelectScan "Select_scan"
    SlowQueries "Slow_queries"
    SortRange "Sort_range"
    SortRows "Sort_rows"
    SortScan "Sort_scan"
    StmtReprepare "Com_stmt_reprepare"
    TableOpenCacheHits "Table_open_cache_hits"
    TableOpenCacheMisses "Table_open_cache_misses"
    TableLocksImmediate "Table_locks_immediate"
    TableLocksWaited "Table_locks_waited"
    LockTime "Innodb_row_lock_time"
}

impl Counter {
    /// MySQL's name.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

const COUNTERS: usize = NAMES.len();
const STATEMENTS: usize = Command::ALL.len();
const CELLS: usize = COUNTERS + STATEMENTS + REQUESTS.len();

macro_rules! requests {
    ($($name:ident $text:literal)*) => {
        /// Commands of the protocol that are no statements, as MySQL counts them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "they are MySQL's names")]
        pub enum Request {
            $($name,)*
        }

        /// Their names, in order.
        const REQUESTS: &[&str] = &[$($text,)*];
    };
}

requests! {
    Admin "admin_commands"
    Close "stmt_close"
    Execute "stmt_execute"
    Prepare "stmt_prepare"
    Reset "stmt_reset"
    SendLongData "stmt_send_long_data"
}

/// A number for each counter.
pub type Cells = [u64; CELLS];

/// The counters of one session.
pub struct Status {
    cells: [AtomicU64; CELLS],
    /// The counters at the last FLUSH STATUS or TRUNCATE of status_by_thread.
    base: tare::sync::PlainMutex<Option<Box<Cells>>>,
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Status").finish_non_exhaustive()
    }
}

impl Default for Status {
    fn default() -> Self {
        Self {
            cells: [const { AtomicU64::new(0) }; CELLS],
            base: tare::sync::PlainMutex::new(None),
        }
    }
}

impl Status {
    /// Adds to a counter. Only the session itself may call it.
    #[inline]
    pub fn add(&self, counter: Counter, n: u64) {
        self.plus(counter as usize, n);
    }

    /// Counts a statement by its command. Only the session itself may call it.
    #[inline]
    pub fn command(&self, command: Command) {
        self.plus(COUNTERS + command as usize, 1);
    }

    /// Counts a command of the protocol. Only the session itself may call it.
    #[inline]
    pub fn request(&self, request: Request) {
        self.plus(COUNTERS + STATEMENTS + request as usize, 1);
    }

    /// Counts that a statement was prepared again. Only the session itself may call it.
    pub fn reprepared(&self) {
        self.add(Counter::StmtReprepare, 1);
        self.request(Request::Prepare);
    }

    /// Sets a counter that is counted elsewhere. Only the session itself may call it.
    #[inline]
    pub fn set(&self, counter: Counter, n: u64) {
        self.cells[counter as usize].store(n, Ordering::Relaxed);
    }

    #[inline]
    fn plus(&self, at: usize, n: u64) {
        // There is one writer, so that no add is lost.
        let cell = &self.cells[at];
        cell.store(cell.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// The counts since the session began.
    fn total(&self) -> Cells {
        std::array::from_fn(|i| self.cells[i].load(Ordering::Relaxed))
    }

    /// The counts since the last [`Status::flush`].
    pub fn now(&self) -> Cells {
        let base = self.base.lock();
        let mut cells = self.total();
        if let Some(base) = &*base {
            subtract(&mut cells, base);
        }
        cells
    }

    /// Makes the current counts the baseline of [`Status::now`].
    pub fn flush(&self) {
        let mut base = self.base.lock();
        *base = Some(Box::new(self.total()));
    }
}

fn add(to: &mut Cells, cells: &Cells) {
    for (to, n) in to.iter_mut().zip(cells) {
        *to += n;
    }
}

fn subtract(from: &mut Cells, cells: &Cells) {
    for (from, n) in from.iter_mut().zip(cells) {
        *from = from.saturating_sub(*n);
    }
}

/// The value of a counter.
pub fn value(cells: &Cells, counter: Counter) -> u64 {
    cells[counter as usize]
}

/// The names and values of all counters.
pub fn named(cells: &Cells) -> impl Iterator<Item = (String, u64)> + '_ {
    let own = NAMES.iter().map(|n| (*n).to_owned());
    let statements = Command::ALL.iter().map(|command| command.name());
    let commands = statements.chain(REQUESTS.iter().copied());
    own.chain(commands.map(|name| format!("Com_{name}")))
        .zip(cells.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_resets_the_session_and_not_the_total() {
        let status = Status::default();
        status.add(Counter::Questions, 3);
        status.command(Command::Select);
        status.flush();
        status.add(Counter::Questions, 2);
        assert_eq!(value(&status.now(), Counter::Questions), 2);
        assert_eq!(value(&status.total(), Counter::Questions), 5);
        let named: Vec<_> = named(&status.total()).filter(|(_, n)| *n > 0).collect();
        assert_eq!(named, [("Questions".into(), 5), ("Com_select".into(), 1)]);
    }
}
