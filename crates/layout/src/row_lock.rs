//! Row locks of the host's storage engine, read on request: which transaction holds or waits for which
//! lock.
//!
//! A reader increments [`crate::control::Control::row_lock_requests`] and wakes the host's thread that
//! sleeps on it. That thread reads the locks from the engine, writes them here, and stores `answered`
//! last.

use crate::name::Name;
use crate::object::ObjectName;
use crate::primitive::{AtomicU32, AtomicU64};

/// Locks in one answer. A transaction that locks millions of rows would fill any space.
pub const ROW_LOCKS: usize = 4096;
/// Waits in one answer.
pub const ROW_LOCK_WAITS: usize = 4096;

/// [`Board::state`]: the host answers no requests.
pub const NOT_SERVING: u32 = 0;
/// [`Board::state`]: a thread of the host answers requests.
pub const SERVING: u32 = 1;

/// The state of the last answer.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Board {
    /// Odd while it is written.
    pub sequence: AtomicU32,
    /// [`NOT_SERVING`] or [`SERVING`].
    pub state: AtomicU32,
    /// The value of `row_lock_requests` that this answers; stored last.
    pub answered: AtomicU32,
    /// Locks in the answer.
    pub locks: AtomicU32,
    /// Waits in the answer.
    pub waits: AtomicU32,
}

/// An engine's name for a lock.
pub type LockId = Name<16>;

/// The locked row's key, cut where it is longer.
pub type LockData = Name<63>;

/// A lock that a transaction holds or wants.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct RowLock {
    /// The transaction's number in its engine.
    pub transaction: AtomicU64,
    /// The thread that requested it, 0 = unknown.
    pub thread: AtomicU64,
    /// The event that did, 0 = unknown.
    pub event: AtomicU64,
    /// The lock's address in the host.
    pub address: AtomicU64,
    /// The storage engine.
    pub engine: Name<4>,
    /// The engine's name for it.
    pub id: LockId,
    /// The locked table's schema, empty = none.
    pub schema: ObjectName,
    /// The locked table, empty = none.
    pub table: ObjectName,
    /// Its partition, empty = none.
    pub partition: ObjectName,
    /// Its subpartition, empty = none.
    pub subpartition: ObjectName,
    /// The locked index, empty = none.
    pub index: ObjectName,
    /// `X,REC_NOT_GAP` and the like.
    pub mode: Name<4>,
    /// `RECORD` or `TABLE`.
    pub kind: Name<4>,
    /// `GRANTED` or `WAITING`.
    pub status: Name<4>,
    /// The locked row's key, empty = unknown.
    pub data: LockData,
}

/// One side of a wait.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Side {
    /// As in [`RowLock`].
    pub transaction: AtomicU64,
    /// As in [`RowLock`].
    pub thread: AtomicU64,
    /// As in [`RowLock`].
    pub event: AtomicU64,
    /// As in [`RowLock`].
    pub address: AtomicU64,
    /// As in [`RowLock`].
    pub id: LockId,
}

/// A wait of one transaction for another.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct RowLockWait {
    /// The storage engine.
    pub engine: Name<4>,
    /// The transaction that waits.
    pub requesting: Side,
    /// The transaction that holds the lock.
    pub blocking: Side,
}
