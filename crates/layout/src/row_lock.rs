//! Row locks, as the host's storage engine told them when a reader asked: who holds which, and who waits for whom.
//!
//! A reader bumps [`crate::control::Control::row_locks_asked`] and wakes who sleeps on it. A thread of the host's asks the
//! engine and writes what it says; `answered` follows last.

use crate::name::Name;
use crate::object::ObjectName;
use crate::primitive::{AtomicU32, AtomicU64};

/// Locks that are told. A transaction that locks millions of rows would fill any room.
pub const ROW_LOCKS: usize = 4096;
/// Waits that are told.
pub const ROW_LOCK_WAITS: usize = 4096;

/// [`Board::state`]: nobody tells row locks.
pub const SILENT: u32 = 0;
/// [`Board::state`]: who asks is answered.
pub const TELLS: u32 = 1;

/// What was told last, and when.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Board {
    /// Odd while it is written.
    pub sequence: AtomicU32,
    /// [`SILENT`] or [`TELLS`].
    pub state: AtomicU32,
    /// The value of `row_locks_asked` that this answers; stored last.
    pub answered: AtomicU32,
    /// Locks told.
    pub locks: AtomicU32,
    /// Waits told.
    pub waits: AtomicU32,
}

/// An engine's name for a lock.
pub type LockId = Name<16>;

/// What is locked: what is longer is cut.
pub type LockData = Name<63>;

/// A lock that a transaction holds or wants.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct RowLock {
    /// The transaction's number in its engine.
    pub transaction: AtomicU64,
    /// The thread that asked for it, 0 = not known.
    pub thread: AtomicU64,
    /// The event that did, 0 = not known.
    pub event: AtomicU64,
    /// The lock's address in the host.
    pub address: AtomicU64,
    /// The storage engine.
    pub engine: Name<4>,
    /// What the engine calls it.
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
    /// The locked row's key, empty = not known.
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

/// Who waits for whom.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct RowLockWait {
    /// The storage engine.
    pub engine: Name<4>,
    /// Who waits.
    pub requesting: Side,
    /// Who is waited for.
    pub blocking: Side,
}
