//! Row locks, which a server that supports it writes on request, for one moment.

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

/// A lock, and the transaction, thread and event that it belongs to.
#[derive(Clone, Debug)]
pub struct LockOwner {
    /// The engine's name for the lock.
    pub id: Arc<str>,
    /// The transaction's number in its engine.
    pub transaction: u64,
    /// The thread, if it is known.
    pub thread: Option<u64>,
    /// The event that requested it, if it is known.
    pub event: Option<u64>,
    /// The lock's address in the host.
    pub address: u64,
}

/// A lock that a transaction holds or wants.
#[derive(Clone, Debug)]
pub struct RowLock {
    /// The storage engine.
    pub engine: Arc<str>,
    /// Its owner.
    pub owner: LockOwner,
    /// Schema, table, partition, subpartition and index.
    pub object: [Option<Arc<str>>; 5],
    /// Mode, type and status.
    pub lock: [Arc<str>; 3],
    /// The locked row's key, if it is known.
    pub data: Option<Arc<str>>,
}

/// A wait of one lock for another.
#[derive(Clone, Debug)]
pub struct RowLockWait {
    /// The storage engine.
    pub engine: Arc<str>,
    /// The lock that waits.
    pub requesting: LockOwner,
    /// The lock that it waits for.
    pub blocking: LockOwner,
}

/// The server's row locks.
#[derive(Clone, Debug, Default)]
pub struct RowLocks {
    /// Locks.
    pub locks: Vec<RowLock>,
    /// Waits.
    pub waits: Vec<RowLockWait>,
}

/// How long an answer may take. A server writes for at most a second, and may be answering another reader.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

impl Segment {
    /// Whether the server writes its row locks on request.
    pub fn has_row_locks(&self) -> bool {
        let state = &self.view().row_lock_board().state;
        state.load(Ordering::SeqCst) == SERVING && self.is_live()
    }

    /// Requests the server's row locks. Empty if it does not support it, or has ended.
    ///
    /// # Errors
    /// [`WriteError`]: the request is written, and the server may not answer.
    pub fn row_locks(&self) -> Result<RowLocks, WriteError> {
        if !self.has_row_locks() {
            return Ok(RowLocks::default());
        }
        let board = self.view().row_lock_board();
        let requests = &self.writable()?.control().row_lock_requests;
        let ticket = requests.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        mapping::wake(requests);
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let behind = ticket.wrapping_sub(board.answered.load(Ordering::Acquire));
            if behind.cast_signed() <= 0
                && let Some(locks) = read_row_locks(self.view())
            {
                return Ok(locks);
            }
            if Instant::now() >= deadline {
                return Err(WriteError::Silent);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// The newest answer; `None` while the server writes it.
pub fn read_row_locks(view: View<'_>) -> Option<RowLocks> {
    let board = view.row_lock_board();
    let sequence = board.sequence.load(Ordering::Acquire);
    let locks = board.locks.load(Ordering::Relaxed) as usize;
    let waits = board.waits.load(Ordering::Relaxed) as usize;
    let row_locks = RowLocks {
        locks: view.row_locks().iter().take(locks).map(lock).collect(),
        waits: view.row_lock_waits().iter().take(waits).map(wait).collect(),
    };
    // Pairs with the writer's fence.
    fence(Ordering::Acquire);
    let is_consistent = sequence & 1 == 0 && board.sequence.load(Ordering::Relaxed) == sequence;
    is_consistent.then_some(row_locks)
}

fn nonzero(cell: &AtomicU64) -> Option<u64> {
    Some(cell.load(Ordering::Relaxed)).filter(|number| *number != 0)
}

fn name_text<const WORDS: usize>(name: &Name<WORDS>) -> Arc<str> {
    text(name).into()
}

fn lock(entry: &row_lock::RowLock) -> RowLock {
    let some = |name| Some(name_text(name)).filter(|text: &Arc<str>| !text.is_empty());
    RowLock {
        engine: name_text(&entry.engine),
        owner: LockOwner {
            id: name_text(&entry.id),
            transaction: entry.transaction.load(Ordering::Relaxed),
            thread: nonzero(&entry.thread),
            event: nonzero(&entry.event),
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
        lock: [&entry.mode, &entry.kind, &entry.status].map(name_text),
        data: Some(name_text(&entry.data)).filter(|text| !text.is_empty()),
    }
}

fn wait(entry: &row_lock::RowLockWait) -> RowLockWait {
    let owner = |entry: &row_lock::Side| LockOwner {
        id: name_text(&entry.id),
        transaction: entry.transaction.load(Ordering::Relaxed),
        thread: nonzero(&entry.thread),
        event: nonzero(&entry.event),
        address: entry.address.load(Ordering::Relaxed),
    };
    RowLockWait {
        engine: name_text(&entry.engine),
        requesting: owner(&entry.requesting),
        blocking: owner(&entry.blocking),
    }
}
