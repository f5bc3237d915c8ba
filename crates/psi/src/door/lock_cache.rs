//! The records of metadata locks, and each thread's cache of them.

use engine::metadata::MetadataLock;
use engine::{LockDuration, LockStatus, LockType};

use super::exchange::catch_panic;

/// What the server stores for a metadata lock.
#[derive(Debug)]
pub(super) struct LockRecord {
    pub lock: MetadataLock,
    pub kind: LockType,
    pub duration: LockDuration,
    pub status: LockStatus,
    /// The server's key of the locked object.
    pub key: Box<[u8]>,
}

impl LockRecord {
    pub fn republish(&mut self) {
        catch_panic((), || {
            self.lock.republish(self.kind, self.duration, self.status)
        });
    }
}

/// Locks that a thread caches after the server has destroyed them. The next statement often locks the same
/// table, and then no name is copied and nothing is allocated.
pub(super) type LockCache = Vec<Box<LockRecord>>;

/// The number of locks in a thread's cache.
pub(super) const CACHED_LOCKS: usize = 8;
