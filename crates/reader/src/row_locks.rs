//! Row locks: a server that can tell them is asked, and answers for one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use tare_layout::View;
use tare_layout::name::Name;
use tare_layout::row_lock::{self, SERVING};

use crate::attach::Segment;
use crate::classes::text;
use crate::error::WriteError;
use crate::mapping;

/// Whose a lock is.
#[derive(Clone, Debug)]
pub struct Party {
    /// The engine's name for the lock.
    pub id: Arc<str>,
    /// The transaction's number in its engine.
    pub transaction: u64,
    /// The thread, if it is known.
    pub thread: Option<u64>,
    /// The event that asked for it, if it is known.
    pub event: Option<u64>,
    /// The lock's address in the host.
    pub address: u64,
}

/// A lock that a transaction holds or wants.
#[derive(Clone, Debug)]
pub struct RowLock {
    /// The storage engine.
    pub engine: Arc<str>,
    /// Whose it is.
    pub of: Party,
    /// Schema, table, partition, subpartition and index.
    pub object: [Option<Arc<str>>; 5],
    /// Mode, type and status.
    pub lock: [Arc<str>; 3],
    /// The locked row's key, if it is known.
    pub data: Option<Arc<str>>,
}

/// Who waits for whom.
#[derive(Clone, Debug)]
pub struct RowLockWait {
    /// The storage engine.
    pub engine: Arc<str>,
    /// Who waits.
    pub requesting: Party,
    /// Who is waited for.
    pub blocking: Party,
}

/// What was told.
#[derive(Clone, Debug, Default)]
pub struct RowLocks {
    /// Locks.
    pub locks: Vec<RowLock>,
    /// Waits.
    pub waits: Vec<RowLockWait>,
}

/// How long an answer may take. A server tells for at most a second, and may be telling somebody else.
const PATIENCE: Duration = Duration::from_secs(10);

impl Segment {
    /// Asks the server for its row locks. Empty if it tells none, or has ended.
    ///
    /// # Errors
    /// [`WriteError`]: asking needs to write, and the server may not answer.
    pub fn row_locks(&self) -> Result<RowLocks, WriteError> {
        let board = self.view().row_lock_board();
        if board.state.load(Ordering::SeqCst) != SERVING || !self.is_live() {
            return Ok(RowLocks::default());
        }
        let asked = &self.writable()?.control().row_lock_requests;
        let ticket = asked.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        mapping::wake(asked);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let behind = ticket.wrapping_sub(board.answered.load(Ordering::Acquire));
            if behind.cast_signed() <= 0
                && let Some(told) = told(self.view())
            {
                return Ok(told);
            }
            if Instant::now() >= deadline {
                return Err(WriteError::Silent);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// What was told last; none while it is written.
pub fn told(view: View<'_>) -> Option<RowLocks> {
    let board = view.row_lock_board();
    let sequence = board.sequence.load(Ordering::Acquire);
    let locks = board.locks.load(Ordering::Relaxed) as usize;
    let waits = board.waits.load(Ordering::Relaxed) as usize;
    let told = RowLocks {
        locks: view.row_locks().iter().take(locks).map(lock).collect(),
        waits: view.row_lock_waits().iter().take(waits).map(wait).collect(),
    };
    // Pairs with the fence of who writes.
    fence(Ordering::Acquire);
    let is_whole = sequence & 1 == 0 && board.sequence.load(Ordering::Relaxed) == sequence;
    is_whole.then_some(told)
}

fn known(cell: &AtomicU64) -> Option<u64> {
    Some(cell.load(Ordering::Relaxed)).filter(|number| *number != 0)
}

fn shown<const WORDS: usize>(name: &Name<WORDS>) -> Arc<str> {
    text(name).into()
}

fn lock(entry: &row_lock::RowLock) -> RowLock {
    let some = |name| Some(shown(name)).filter(|text: &Arc<str>| !text.is_empty());
    RowLock {
        engine: shown(&entry.engine),
        of: Party {
            id: shown(&entry.id),
            transaction: entry.transaction.load(Ordering::Relaxed),
            thread: known(&entry.thread),
            event: known(&entry.event),
            address: entry.address.load(Ordering::Relaxed),
        },
        object: [
            &entry.schema,
            &entry.table,
            &entry.partition,
            &entry.subpartition,
            &entry.index,
        ]
        .map(some),
        lock: [&entry.mode, &entry.kind, &entry.status].map(shown),
        data: Some(shown(&entry.data)).filter(|text| !text.is_empty()),
    }
}

fn wait(entry: &row_lock::RowLockWait) -> RowLockWait {
    let party = |side: &row_lock::Side| Party {
        id: shown(&side.id),
        transaction: side.transaction.load(Ordering::Relaxed),
        thread: known(&side.thread),
        event: known(&side.event),
        address: side.address.load(Ordering::Relaxed),
    };
    RowLockWait {
        engine: shown(&entry.engine),
        requesting: party(&entry.requesting),
        blocking: party(&entry.blocking),
    }
}
