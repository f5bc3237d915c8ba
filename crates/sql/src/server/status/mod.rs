//! SHOW STATUS: what sessions and the server count.
//!
//! A session counts in memory of its own, with plain adds: nobody else writes there. Who asks adds
//! up the live sessions and what those that have ended left behind; FLUSH STATUS and TRUNCATE
//! remember what there was instead of setting anything back, so that totals only grow.

mod list;
mod server;
mod totals;

use std::sync::atomic::{AtomicU64, Ordering};

pub use self::totals::{Accounts, By};
use tare_dialect::plan::Command;

macro_rules! counters {
    ($($name:ident $text:literal)*) => {
        /// What a session counts.
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
    CreatedTmpDiskTables "Created_tmp_disk_tables"
    CreatedTmpTables "Created_tmp_tables"
    HandlerCommit "Handler_commit"
    HandlerDelete "Handler_delete"
    HandlerExternalLock "Handler_external_lock"
    HandlerReadKey "Handler_read_key"
    HandlerReadRndNext "Handler_read_rnd_next"
    HandlerRollback "Handler_rollback"
    HandlerSavepoint "Handler_savepoint"
    HandlerSavepointRollback "Handler_savepoint_rollback"
    HandlerUpdate "Handler_update"
    HandlerWrite "Handler_write"
    MaxExecutionTimeExceeded "Max_execution_time_exceeded"
    MaxExecutionTimeSet "Max_execution_time_set"
    OpenedTableDefinitions "Opened_table_definitions"
    OpenedTables "Opened_tables"
    Queries "Queries"
    Questions "Questions"
    SelectScan "Select_scan"
    SlowQueries "Slow_queries"
    SortRows "Sort_rows"
    SortScan "Sort_scan"
    StmtReprepare "Com_stmt_reprepare"
    TableOpenCacheHits "Table_open_cache_hits"
    TableOpenCacheMisses "Table_open_cache_misses"
    TableLocksImmediate "Table_locks_immediate"
    TableLocksWaited "Table_locks_waited"
    LockTime "Innodb_row_lock_time"
}

const COUNTERS: usize = NAMES.len();
const CELLS: usize = COUNTERS + list::COMMANDS.len();

/// A Com_ counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Com(u16);

impl Com {
    /// The counter of a command by the last part of its instrument's name; `None` for those that
    /// MySQL does not count.
    pub const fn of(command: &str) -> Option<Self> {
        let mut at = 0;
        while at < list::COMMANDS.len() {
            if same(list::COMMANDS[at].as_bytes(), command.as_bytes()) {
                return Some(Self((COUNTERS + at) as u16));
            }
            at += 1;
        }
        None
    }

    /// A statement's counter.
    pub fn of_statement(command: Command) -> Option<Self> {
        const ALL: [Option<Com>; Command::ALL.len()] = {
            let mut all = [None; Command::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = Com::of(Command::ALL[at].name());
                at += 1;
            }
            all
        };
        ALL[command as usize]
    }
}

/// What `==` does, in a constant.
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A number for each counter.
pub type Cells = [u64; CELLS];

/// What one session has counted.
pub struct Status {
    cells: [AtomicU64; CELLS],
    /// What there was at the last FLUSH STATUS or TRUNCATE of status_by_thread.
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
    /// Counts. Only the session itself may.
    #[inline]
    pub fn add(&self, counter: Counter, n: u64) {
        self.plus(counter as usize, n);
    }

    /// Counts a command. Only the session itself may.
    #[inline]
    pub fn command(&self, com: Option<Com>) {
        if let Some(Com(at)) = com {
            self.plus(usize::from(at), 1);
        }
    }

    /// Sets a counter that is counted elsewhere. Only the session itself may.
    #[inline]
    pub fn set(&self, counter: Counter, n: u64) {
        self.cells[counter as usize].store(n, Ordering::Relaxed);
    }

    #[inline]
    fn plus(&self, at: usize, n: u64) {
        // One writer: no other add can come in between.
        let cell = &self.cells[at];
        cell.store(cell.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// All that was counted.
    fn total(&self) -> Cells {
        std::array::from_fn(|i| self.cells[i].load(Ordering::Relaxed))
    }

    /// What was counted since the last [`Status::flush`].
    pub fn now(&self) -> Cells {
        let base = self.base.lock();
        let mut cells = self.total();
        if let Some(base) = &*base {
            subtract(&mut cells, base);
        }
        cells
    }

    /// Begins anew at zero, for who asks for the session.
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

/// One of the cells.
pub fn value(cells: &Cells, counter: Counter) -> u64 {
    cells[counter as usize]
}

/// Names and numbers of what sessions count; the commands only where they are asked for:
/// performance_schema's tables leave them to events_statements_summary_*.
pub fn named(cells: &Cells) -> impl Iterator<Item = (String, u64)> + '_ {
    let own = NAMES.iter().map(|n| (*n).to_owned());
    let commands = list::COMMANDS.iter().map(|c| format!("Com_{c}"));
    own.chain(commands).zip(cells.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_hides_what_was_and_keeps_the_total() {
        let status = Status::default();
        status.add(Counter::Questions, 3);
        status.command(Com::of("select"));
        status.flush();
        status.add(Counter::Questions, 2);
        assert_eq!(value(&status.now(), Counter::Questions), 2);
        assert_eq!(value(&status.total(), Counter::Questions), 5);
        let named: Vec<_> = named(&status.total()).filter(|(_, n)| *n > 0).collect();
        assert_eq!(named, [("Questions".into(), 5), ("Com_select".into(), 1)]);
    }

    #[test]
    fn every_command_of_the_servers_is_counted() {
        for command in [
            "select",
            "insert",
            "show_status",
            "set_option",
            "stmt_execute",
        ] {
            assert!(Com::of(command).is_some(), "{command}");
        }
        assert_eq!(Com::of("nonsense"), None);
    }
}
